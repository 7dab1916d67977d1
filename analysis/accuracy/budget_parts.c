/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_parts.h"

#include "emu/sum.h"
#include "lib/number/equilibrate.h"
#include "lib/number/hostfp.h"

#include <assert.h>

/* A format with an extended exponent range: above, and from STAGE_PARTS on below. */
static struct bitcut_format widened(const struct bitcut_format *f, enum stage stage)
{
    struct bitcut_format wide = *f;
    wide.exponent_bits = 11;
    wide.pad = 0;
    wide.bits = 1 + wide.exponent_bits + wide.fraction_bits;
    wide.has_sign = true;
    wide.special = SPECIAL_IEEE;
    wide.nan = (((uint64_t)1 << 12) - 1) << (f->fraction_bits - 1);
    if (stage == STAGE_PARTS) wide.bias = 1023;
    return wide;
}

/* One operand of a plan: how its elements are split at each stage. */
struct operand {
    const struct gemm_plan *plan;
    enum bitcut_operand which;
    const struct bitcut_split *split;
    int exponent; /* exponent by which its row or column is equilibrated */
};

static int line_exponent(const struct gemm_plan *p, const struct bitcut_split *split,
                         const uint32_t *line, size_t k)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < k; i++) largest = equilibrate_larger(largest, line[i]);
    return p->equilibrate ? equilibrate_exponent(split, largest) : 0;
}

/* The number for a part, as read by its unit from STAGE_SMALL on. */
static struct term part_term(const struct operand *o, int part, enum stage stage,
                             const struct bitcut_format *f, uint64_t encoding)
{
    const struct bitcut_unit *u = gemm_plan_reader(o->plan, o->which, part);
    const struct bitcut_format *const own = o->split->part[part].format;
    struct number x = format_decode(f, encoding);
    if (u && stage >= STAGE_SMALL && unit_flushes_operands(u) &&
        format_is_subnormal(own, x))
        x = format_decode(f, 0);
    struct term t = number_term(f, x);
    t.exponent -= o->split->part[part].level * o->split->scale;
    return t;
}

/* The value of x at a stage, as far as its parts are finite.  It is a multiple of the
   last place of x, so that 64 bits hold it. */
static struct term element_value(const struct operand *o, enum stage stage, uint32_t x,
                                 size_t k)
{
    struct bitcut_split split = *o->split;
    struct bitcut_format format[SPLIT_PARTS_MAX];
    struct term term[SPLIT_PARTS_MAX];
    uint64_t part[SPLIT_PARTS_MAX];
    int count = 0;
    struct term exact =
        number_term(&formats[FORMAT_F32], format_decode(&formats[FORMAT_F32], x));
    exact.exponent += o->exponent;
    if (stage == STAGE_EXACT) return exact;
    for (int i = 0; i < split.parts && stage != STAGE_REAL; i++) {
        format[i] = widened(split.part[i].format, stage);
        split.part[i].format = &format[i];
    }
    split_apply_at(part, &split, equilibrate_scale(x, o->exponent), k);
    for (int i = 0; i < split.parts; i++)
        if (!split.part[i].copy)
            term[count++] = part_term(o, i, stage, split.part[i].format, part[i]);
    const struct unrounded sum = wide_sum(term, count);
    assert(!sum.sticky);
    return unrounded_term(sum);
}

/* An element at a stage: significand 2^exponent. */
struct value {
    uint64_t significand;
    int32_t exponent;
    bool negative;
};

struct budget_values {
    int exponent; /* exponent of equilibration: values are 2^exponent times the element */
    size_t k;
    struct value at[]; /* [stage][k] */
};

struct budget_values *budget_values_make(const struct gemm_plan *plan,
                                         enum bitcut_operand operand,
                                         const uint32_t *line, size_t k)
{
    struct budget_values *const to =
        memory_allocate(k * sizeof to->at[0] + sizeof *to, STAGES);
    const struct bitcut_split *const split =
        operand == BITCUT_A ? &plan->split_a : &plan->split_b;
    const struct operand o = { plan, operand, split,
                               line_exponent(plan, split, line, k) };
    struct hostfp saved;
    if (!to) return NULL;
    to->exponent = o.exponent;
    to->k = k;
    hostfp_enter(&saved);
    for (size_t i = 0; i < STAGES * k; i++) {
        const struct term t = element_value(&o, (enum stage)(i / k), line[i % k], i % k);
        to->at[i] = (struct value){ (uint64_t)t.significand, t.exponent, t.negative };
    }
    hostfp_leave(&saved);
    return to;
}

void budget_stage_sums(mpz_t to[STAGES], const struct budget_values *a,
                       const struct budget_values *b)
{
    for (size_t stage = 0; stage < STAGES; stage++) {
        struct wide sum;
        wide_clear(&sum, -1200, 700);
        for (size_t p = stage * a->k; p < (stage + 1) * a->k; p++)
            wide_add_term(&sum,
                          (struct term){ (bitcut_uint128)a->at[p].significand *
                                             b->at[p].significand,
                                         a->at[p].exponent + b->at[p].exponent,
                                         a->at[p].negative != b->at[p].negative },
                          false);
        dyadic_set_wide(to[stage], &sum);
    }
}

int budget_values_exponent(const struct budget_values *x) { return x->exponent; }
