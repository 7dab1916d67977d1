/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_parts.h"

#include "emu/sum.h"
#include "lib/base/size.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <stdlib.h>

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
    const uint8_t *kept; /* of a sparse row, or NULL */
};

/* The position of element k among those that are split: random bits depend on it.  An
   element that is not kept is +-0, which needs no bits. */
static size_t position_of(const struct operand *o, size_t k)
{
    const size_t first = k / 4 * 2;
    if (!o->kept) return k;
    return first + (kept_k(o->kept, first) != k);
}

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

/* The value of x at a stage, as far as its parts are finite; 0 if x is not.  It is a
   multiple of the last place of x, so that 64 bits hold it. */
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
    if (!format_is_finite(&formats[FORMAT_F32], x)) exact.significand = 0;
    if (stage <= STAGE_GIVEN || !exact.significand) return exact;
    for (int i = 0; i < split.parts && stage != STAGE_REAL; i++) {
        format[i] = widened(split.part[i].format, stage);
        split.part[i].format = &format[i];
    }
    split_apply_at(part, &split, equilibrate_scale(x, o->exponent), position_of(o, k));
    for (int i = 0; i < split.parts; i++)
        if (!split.part[i].copy)
            term[count++] = part_term(o, i, stage, split.part[i].format, part[i]);
    const struct unrounded sum = wide_sum(term, count);
    assert(!sum.sticky);
    return unrounded_term(sum);
}

/* An element times its factor, exactly. */
static struct term exact_element(const struct operand *o, uint32_t x, uint32_t factor,
                                 size_t k)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const struct number y = format_decode(f32, factor);
    struct term t = element_value(o, STAGE_EXACT, x, k);
    if (factor == F32_ONE) return t;
    t.significand *= y.kind == NUMBER_FINITE ? y.significand : 0;
    t.exponent += y.exponent - f32->fraction_bits;
    t.negative ^= y.negative;
    return t;
}

/* An element at a stage: significand 2^exponent. */
struct value {
    uint64_t significand;
    int32_t exponent;
    bool negative;
};

struct budget_values {
    int exponent; /* exponent of equilibration: values are 2^exponent times the element */
    bool multiplied;             /* whether elements were multiplied by their factors */
    struct line_factors weights; /* other factors of the line, except those of steps */
    size_t k;
    struct value at[]; /* [stage][k] */
};

static struct value value_of(struct term t)
{
    return (struct value){ (uint64_t)t.significand, t.exponent, t.negative };
}

/* The elements that are split. */
static void fill_values(struct budget_values *to, struct operand *o, uint32_t *given,
                        const struct line_factors *factors, const uint32_t *line)
{
    const size_t k = to->k;
    for (size_t i = 0; i < k; i++)
        given[i] =
            to->multiplied ? f32_multiply(line[i], line_factor(factors, i)) : line[i];
    o->exponent = to->exponent = line_exponent(o->plan, o->split, given, k);
    for (size_t i = 0; i < k; i++)
        to->at[i] = value_of(exact_element(
            o, line[i], to->multiplied ? line_factor(factors, i) : F32_ONE, i));
    for (size_t i = k; i < STAGES * k; i++)
        to->at[i] = value_of(element_value(o, (enum stage)(i / k), given[i % k], i % k));
}

struct budget_values *budget_values_make(const struct gemm_plan *plan,
                                         enum bitcut_operand operand,
                                         const uint32_t *line, size_t k,
                                         const struct line_factors *factors,
                                         const uint8_t *kept)
{
    struct budget_values *const to =
        memory_allocate(k * sizeof to->at[0] + sizeof *to, STAGES);
    uint32_t *const given = memory_allocate(k, sizeof *given);
    struct operand o = { plan, operand,
                         operand == BITCUT_A ? &plan->split_a : &plan->split_b, 0, kept };
    struct hostfp saved;
    if (!to || !given) {
        free(to);
        free(given);
        return NULL;
    }
    to->k = k;
    to->multiplied = factors && factors->at && plan->scaling == BITCUT_SCALING_OPERAND;
    to->weights = (struct line_factors){ .at = NULL };
    if (factors && plan->scaling != BITCUT_SCALING_OPERAND &&
        plan->scaling != BITCUT_SCALING_EPILOGUE)
        to->weights = *factors;
    hostfp_enter(&saved);
    fill_values(to, &o, given, factors, line);
    hostfp_leave(&saved);
    free(given);
    return to;
}

/* The first k after `from` at which a weight changes. */
static size_t weights_end(const struct budget_values *x, size_t from)
{
    const size_t depth = x->weights.at ? x->weights.depth : 0;
    return depth ? smaller(x->k, (from / depth + 1) * depth) : x->k;
}

/* The sum of products [from, end) of a stage. */
static void sum_products(mpz_t to, const struct budget_values *a,
                         const struct budget_values *b, size_t stage, size_t from,
                         size_t end)
{
    struct wide sum;
    wide_clear(&sum, -1200, 700);
    for (size_t p = stage * a->k + from; p < stage * a->k + end; p++)
        wide_add_term(
            &sum,
            (struct term){ (bitcut_uint128)a->at[p].significand * b->at[p].significand,
                           a->at[p].exponent + b->at[p].exponent,
                           a->at[p].negative != b->at[p].negative },
            false);
    dyadic_set_wide(to, &sum);
}

static void sum_stage(mpz_t to, const struct budget_values *a,
                      const struct budget_values *b, size_t stage)
{
    mpz_t block;
    mpz_init(block);
    mpz_set_ui(to, 0);
    for (size_t from = 0, end; from < a->k; from = end) {
        end = smaller(weights_end(a, from), weights_end(b, from));
        sum_products(block, a, b, stage, from, end);
        if (a->weights.at) dyadic_multiply(block, line_factor(&a->weights, from));
        if (b->weights.at) dyadic_multiply(block, line_factor(&b->weights, from));
        mpz_add(to, to, block);
    }
    mpz_clear(block);
}

void budget_stage_sums(mpz_t to[STAGES], const struct budget_values *a,
                       const struct budget_values *b)
{
    for (size_t stage = 0; stage < STAGES; stage++)
        if (stage != STAGE_GIVEN || a->multiplied || b->multiplied)
            sum_stage(to[stage], a, b, stage);
        else mpz_set(to[stage], to[STAGE_EXACT]);
}

int budget_values_exponent(const struct budget_values *x) { return x->exponent; }
