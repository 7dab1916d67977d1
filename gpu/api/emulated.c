/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs on units that a device does not have. */
#include "emu/gemm.h"
#include "gpu/api/gpu.h"
#include "gpu/emulate/emulation.h"
#include "lib/base/size.h"
#include "lib/gemm/order.h"

const struct gpu_kernel gpu_emulated = { .name = "emulation",
                                         .what = "any recipe on any unit",
                                         .matrices = -1, /* any */
                                         .format = -1,
                                         .cluster_m = 1,
                                         .cluster_n = 1 };

static bool claims(const struct emulator *on, int multiplier)
{
    const struct gpu_module *module = on->module;
    char why[GPU_FAULT_MAX];
    return module->claim(on->device, multiplier, why) == 0;
}

/* Whether the FP32 values of all parts, and of all sums of an output at a time, have a
   size that fits. */
static bool fits(const struct bitcut_gemm *g, const struct gemm_plan *p)
{
    enum { PARTS = 4, SUMS = K_PARTS_KEPT_MAX + 2 * RECIPE_ACCUMULATORS_MAX };
    const size_t most = SIZE_MAX / PARTS - GPU_ALIGNMENT;
    const size_t k = divide_up(g->k, (size_t)p->k_step) * (size_t)p->k_step;
    size_t parts, sums;
    return k >= g->k && k <= UINT32_MAX &&
           size_multiply(&parts, g->m > g->n ? g->m : g->n, k) &&
           size_multiply(&parts, parts, SPLIT_PARTS_MAX * sizeof(uint32_t)) &&
           parts <= most && size_multiply(&sums, g->m, g->n) &&
           size_multiply(&sums, sums, SUMS * sizeof(uint32_t)) && sums <= most;
}

/* Check the matrices, as far as possible without their addresses. */
static enum bitcut_status check_matrices(const struct bitcut_gemm *gemm, struct fault *f)
{
    struct bitcut_gemm g = *gemm;
    g.count = 0;
    if (g.a.prepared || g.b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s accepts no prepared operands",
                         gpu_emulated.name);
    return gemm_check_matrices(&g, false, f);
}

static void matrix_settle(struct bitcut_matrix *x, size_t rows, size_t cols)
{
    x->format = matrix_format(x);
    x->ld = matrix_ld(x, rows, cols);
}

/* Settle what the plan and the matrices leave open in the GEMM. */
static void settle(struct bitcut_gemm *g, const struct gemm_plan *p)
{
    g->promote = p->promote;
    g->dropped_term = p->dropped_term;
    matrix_settle(&g->a, g->m, g->k);
    matrix_settle(&g->b, g->k, g->n);
    matrix_settle(&g->d, g->m, g->n);
    if (gemm_reads_c(g)) matrix_settle(&g->c, g->m, g->n);
}

enum bitcut_status gpu_work_emulate_plan(struct gpu_work *to, const struct gpu *g,
                                         const struct gpu_device *device,
                                         const struct bitcut_gemm *gemm,
                                         const struct gemm_plan *plan, struct fault *f)
{
    const struct emulator on = { .units = device->architecture->units,
                                 .architecture = device->architecture->bit,
                                 .multipliers = g->module->multipliers,
                                 .methods = g->module->methods,
                                 .claims = claims,
                                 .module = g->module,
                                 .device = device->number };
    struct gpu_work w = { .kernel = &gpu_emulated, .gemm = *gemm, .plan = *plan };
    enum bitcut_status status = check_matrices(gemm, f);
    if (status == BITCUT_OK && !fits(gemm, plan))
        status =
            fault_set(f, BITCUT_BAD_ARGUMENT, "the workspace exceeds the address space");
    if (status == BITCUT_OK) status = gpu_plan_takes_rounding(plan, f);
    if (status == BITCUT_OK) status = emulation_make(&w.emulation, gemm, plan, &on, f);
    if (status != BITCUT_OK) return status;
    settle(&w.gemm, plan);
    *to = w;
    return BITCUT_OK;
}

enum bitcut_status gpu_work_emulate(struct gpu_work *to, const struct gpu *g,
                                    const struct gpu_device *device,
                                    const struct bitcut_gemm *gemm, struct fault *f)
{
    struct gemm_plan plan;
    const enum bitcut_status status = gemm_plan_on_unit(&plan, gemm, f);
    return status == BITCUT_OK ? gpu_work_emulate_plan(to, g, device, gemm, &plan, f)
                               : status;
}

const char *gpu_work_method(const struct gpu_work *w, size_t index)
{
    if (index >= (size_t)w->plan.terms) return NULL;
    if (!gpu_work_emulates(w)) return "kernel";
    return chain_rule_of(w->emulation.method[w->plan.term[index].accumulator])->name;
}
