/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/emulate/emulation.h"

#include "emu/job.h"

/* Find the unit of all terms of an accumulator. */
static enum bitcut_status find_unit(const struct bitcut_unit **unit,
                                    const struct gemm_plan *plan, int accumulator,
                                    struct fault *f)
{
    *unit = NULL;
    for (int t = 0; t < plan->terms; t++) {
        if (plan->term[t].accumulator != accumulator) continue;
        if (*unit && *unit != plan->unit[t])
            return fault_set(f, BITCUT_UNSUPPORTED,
                             "one accumulator sums products of %.80s and %.80s; devices "
                             "do not emulate this",
                             (*unit)->name, plan->unit[t]->name);
        *unit = plan->unit[t];
    }
    return BITCUT_OK;
}

static enum bitcut_status add_accumulator(struct gpu_emulation *e,
                                          const struct gemm_plan *plan, int accumulator,
                                          const struct emulator *on, struct fault *f)
{
    const struct bitcut_unit *u;
    int multiplier;
    struct unit_rule *const rule = &e->rule[accumulator];
    const enum bitcut_status status = find_unit(&u, plan, accumulator, f);
    if (status != BITCUT_OK) return status;
    if (!unit_rule_make(rule, u))
        return fault_set(f, BITCUT_UNSUPPORTED, "devices do not emulate %s", u->name);
    e->method[accumulator] = chain_method_choose(&multiplier, rule, on);
    return BITCUT_OK;
}

enum bitcut_status emulation_make(struct gpu_emulation *to, const struct bitcut_gemm *g,
                                  const struct gemm_plan *plan, const struct emulator *on,
                                  struct fault *f)
{
    const struct schedule s = schedule_make(plan, g->unit, 0);
    struct gpu_emulation e = { .nan = s.nan,
                               .zeroed = s.zeroed_from,
                               .k_step = plan->k_step,
                               .promotes = s.promotes };
    if (split_is_fixed(&plan->split_a) || split_is_fixed(&plan->split_b))
        return fault_set(f, BITCUT_UNSUPPORTED, "devices do not emulate integer parts");
    split_rule_make(&e.a, &plan->split_a);
    split_rule_make(&e.b, &plan->split_b);
    for (int i = 0; i < plan->accumulators; i++) {
        const enum bitcut_status status = add_accumulator(&e, plan, i, on, f);
        if (status != BITCUT_OK) return status;
    }
    *to = e;
    return BITCUT_OK;
}
