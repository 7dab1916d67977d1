/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_parts.h"

#include "emu/parts.h"
#include "emu/sum.h"
#include "lib/base/size.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>
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

static const struct bitcut_split *split_of(const struct budget_line *o)
{
    return o->operand == BITCUT_A ? &o->plan->split_a : &o->plan->split_b;
}

/* The position of element k among those that are split: random bits depend on it.  An
   element that is not kept is +-0, which needs no bits. */
static size_t position_of(const struct budget_line *o, size_t k)
{
    const size_t first = k / 4 * 2;
    if (!o->kept) return k;
    return first + (kept_k(o->kept, first) != k);
}

/* The number for a part, as read by its unit from STAGE_SMALL on. */
static struct term part_term(const struct budget_line *o, int part, enum stage stage,
                             const struct bitcut_format *f, uint64_t encoding)
{
    const struct bitcut_unit *u = gemm_plan_reader(o->plan, o->operand, part);
    const struct bitcut_format *const own = split_of(o)->part[part].format;
    struct number x = format_decode(f, encoding);
    if (u && stage >= STAGE_SMALL && unit_flushes_operands(u) &&
        format_is_subnormal(own, x))
        x = format_decode(f, 0);
    struct term t = number_term(f, x);
    t.exponent -= split_of(o)->part[part].level * split_of(o)->scale;
    return t;
}

/* The value of x at a stage, as far as its parts are finite; 0 if x is not.  It is a
   multiple of the last place of x, so that 64 bits hold it. */
static struct term element_value(const struct budget_line *o, enum stage stage,
                                 uint32_t x, size_t k)
{
    struct bitcut_split split = *split_of(o);
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

/* The element that is split. */
static uint32_t given_element(const struct budget_line *o, size_t k)
{
    return o->multiplied ? f32_multiply(o->at[k], line_factor(&o->factors, k)) : o->at[k];
}

/* --- lines ------------------------------------------------------------------------ */

static struct budget_line line_with_factors(const struct gemm_plan *plan,
                                            enum bitcut_operand operand,
                                            const struct line_factors *factors)
{
    const enum bitcut_scaling scaling = plan->scaling;
    struct budget_line o = { .plan = plan, .operand = operand };
    o.multiplied = factors && factors->at && scaling == BITCUT_SCALING_OPERAND;
    if (o.multiplied) o.factors = *factors;
    if (factors && scaling != BITCUT_SCALING_OPERAND &&
        scaling != BITCUT_SCALING_EPILOGUE)
        o.weights = *factors;
    return o;
}

struct budget_line budget_line_of(const struct gemm_plan *plan,
                                  enum bitcut_operand operand, const uint32_t *at,
                                  size_t k, const struct line_factors *factors,
                                  const uint8_t *kept)
{
    struct budget_line o = line_with_factors(plan, operand, factors);
    struct hostfp saved;
    uint32_t largest = 0;
    o.at = at;
    o.k = k;
    o.kept = kept;
    hostfp_enter(&saved);
    for (size_t i = 0; i < k; i++)
        largest = equilibrate_larger(largest, given_element(&o, i));
    hostfp_leave(&saved);
    if (plan->equilibrate) o.exponent = equilibrate_exponent(split_of(&o), largest);
    frexp(value_of_float(largest), &o.top);
    o.top += o.exponent;
    return o;
}

/* --- values ----------------------------------------------------------------------- */

/* An element at a stage: significand 2^exponent. */
struct value {
    uint64_t significand;
    int32_t exponent;
    bool negative;
};

struct budget_values {
    const struct budget_line *line;
    size_t from, count, most;
    bool changed[STAGES]; /* whether any value differs from the stage before */
    struct value at[];    /* [stage][most] */
};

/* Equal values have equal members. */
static struct value value_of(uint64_t significand, int exponent, bool negative)
{
    if (!significand) return (struct value){ 0, 0, false };
    const int zeros = __builtin_ctzll(significand);
    return (struct value){ significand >> zeros, exponent + zeros, negative };
}

/* x 2^exponent; 0 if x is not finite. */
static struct value value_of_double(double x, int exponent)
{
    enum { BIAS = 1023, FRACTION = 52 };
    const uint64_t bits = bits_of_double(x), field = bits >> FRACTION & 0x7ff,
                   size = (bits & ((UINT64_C(1) << FRACTION) - 1)) |
                          (uint64_t)(field != 0) << FRACTION;
    return value_of(field == 0x7ff ? 0 : size,
                    (int)(field + (field == 0)) - BIAS - FRACTION + exponent, bits >> 63);
}

static bool same_value(struct value x, struct value y)
{
    return x.significand == y.significand && x.exponent == y.exponent &&
           x.negative == y.negative;
}

struct budget_values *budget_values_new(size_t most)
{
    struct budget_values *const to =
        memory_allocate(most * sizeof to->at[0] + sizeof *to, STAGES);
    if (to) to->most = most;
    return to;
}

/* Formats whose normal numbers are the same at every stage. */
struct usual {
    int parts;
    double unit[SPLIT_PARTS_MAX]; /* 2^-(level scale); 0 for copies */
    double least[SPLIT_PARTS_MAX], most[SPLIT_PARTS_MAX]; /* normal magnitudes, except
                                                             the largest */
};

static struct usual usual_of(const struct bitcut_split *s)
{
    struct usual u = { .parts = s->parts };
    for (int i = 0; i < s->parts; i++) {
        const struct split_part *const part = &s->part[i];
        u.unit[i] = part->copy ? 0 : double_scaled(1, -part->level * s->scale);
        u.least[i] = double_scaled(1, format_emin(part->format));
        u.most[i] = format_largest_value(part->format);
    }
    return u;
}

/* The sum of the parts of x.  It is exact, because the parts are multiples of the last
   place of x.  True: it is the same at STAGE_PARTS, STAGE_SMALL and STAGE_REAL, because
   every part lies between the smallest normal number and the largest number, or is zero
   because the parts before it add up to x.  A part that is the smallest normal number may
   have been rounded to it from below. */
static bool usual_value(double *sum, const struct usual *u,
                        double *const part[SPLIT_PARTS_MAX], size_t i, double x)
{
    bool all = true;
    *sum = 0;
    for (int p = 0; p < u->parts; p++) {
        const double size = fabs(part[p][i]);
        if (u->unit[p] == 0) continue;
        all &= (size > u->least[p] && size < u->most[p]) || (size == 0 && *sum == x);
        *sum += u->unit[p] * part[p][i];
    }
    return all;
}

/* Buffers for the parts of elements. */
struct part_buffer {
    uint32_t *given; /* [count] */
    double *part[SPLIT_PARTS_MAX];
};

static bool buffer_make(struct part_buffer *b, size_t count)
{
    b->part[0] = memory_allocate(count + 1, (SPLIT_PARTS_MAX + 1) * sizeof(double));
    for (int i = 1; b->part[0] && i < SPLIT_PARTS_MAX; i++)
        b->part[i] = b->part[i - 1] + count;
    b->given =
        b->part[0] ? (uint32_t *)(void *)(b->part[0] + SPLIT_PARTS_MAX * count) : NULL;
    return b->part[0];
}

/* Set element i at a stage. */
static void set(struct budget_values *to, int stage, size_t i, struct value x)
{
    to->at[(size_t)stage * to->most + i] = x;
    if (stage > STAGE_EXACT)
        to->changed[stage] |= !same_value(x, to->at[(size_t)(stage - 1) * to->most + i]);
}

/* The stages of the parts of element i. */
static void fill_stages(struct budget_values *to, uint32_t given, size_t i)
{
    for (int s = STAGE_PARTS; s < STAGES; s++) {
        const struct term t = element_value(to->line, (enum stage)s, given, to->from + i);
        set(to, s, i, value_of((uint64_t)t.significand, t.exponent, t.negative));
    }
}

/* The same where the parts are known. */
static void fill_usual(struct budget_values *to, const struct part_buffer *b)
{
    const struct usual u = usual_of(split_of(to->line));
    const int exponent = to->line->exponent;
    for (size_t i = 0; i < to->count; i++) {
        double sum;
        const uint32_t x =
            exponent ? equilibrate_scale(b->given[i], exponent) : b->given[i];
        const bool usual = usual_value(&sum, &u, b->part, i, value_of_float(x));
        const struct value v = value_of_double(sum, 0);
        for (int s = STAGE_PARTS; s < STAGES && usual; s++) set(to, s, i, v);
        if (!usual) fill_stages(to, b->given[i], i);
    }
}

/* The elements, each times its factor, exactly, and the elements that are split. */
static void fill_given(struct budget_values *to, struct part_buffer *b)
{
    const struct budget_line *const o = to->line;
    for (size_t i = 0; i < to->count; i++) {
        const uint32_t x = o->at[to->from + i],
                       factor = line_factor(&o->factors, to->from + i);
        const double exact = value_of_float(x) * value_of_float(factor);
        b->given[i] = given_element(o, to->from + i);
        set(to, STAGE_EXACT, i, value_of_double(exact, o->exponent));
        set(to, STAGE_GIVEN, i,
            value_of_double(value_of_float(b->given[i]), o->exponent));
    }
}

/* Make the parts of the elements by vector instructions.  False: they are not those of
   the splits, which depend on the position, or there is no memory. */
static bool make_parts(struct budget_values *to, const struct part_buffer *b)
{
    const struct bitcut_split *const s = split_of(to->line);
    const int exponent = to->line->exponent;
    if (split_is_stochastic(s) || split_is_fixed(s)) return false;
    if (!exponent) return parts_values(b->part, s, b->given, 1, to->count);
    uint32_t *const scaled = memory_allocate(to->count, sizeof *scaled);
    if (!scaled) return false;
    for (size_t i = 0; i < to->count; i++)
        scaled[i] = equilibrate_scale(b->given[i], exponent);
    const bool made = parts_values(b->part, s, scaled, 1, to->count);
    free(scaled);
    return made;
}

bool budget_values_fill(struct budget_values *to, const struct budget_line *line,
                        size_t from, size_t count)
{
    struct part_buffer b;
    struct hostfp saved;
    assert(count <= to->most);
    if (!buffer_make(&b, count)) return false;
    to->line = line;
    to->from = from;
    to->count = count;
    for (int s = 0; s < STAGES; s++) to->changed[s] = false;
    hostfp_enter(&saved);
    fill_given(to, &b);
    if (make_parts(to, &b)) fill_usual(to, &b);
    else
        for (size_t i = 0; i < count; i++) fill_stages(to, b.given[i], i);
    hostfp_leave(&saved);
    free(b.part[0]);
    return true;
}

/* --- sums ------------------------------------------------------------------------- */

/* The first k after `from` at which a weight changes. */
static size_t weights_end(const struct budget_line *x, size_t from, size_t end)
{
    const size_t depth = x->weights.at ? x->weights.depth : 0;
    return depth ? smaller(end, (from / depth + 1) * depth) : end;
}

/* Add the products [from, end) of a stage. */
static void add_products(struct dyadic_sum *to, int unit, const struct budget_values *a,
                         const struct budget_values *b, size_t stage, size_t from,
                         size_t end)
{
    enum { SOME = 256 }; /* terms below 2^DYADIC_SUM_BITS */
    const struct value *const x = a->at + stage * a->most, *const y =
                                                               b->at + stage * b->most;
    for (size_t first = from - a->from; first < end - a->from; first += SOME) {
        dyadic_near near, sum = 0;
        for (size_t p = first; p < smaller(end - a->from, first + SOME); p++) {
            const struct term product = { (bitcut_uint128)x[p].significand *
                                              y[p].significand,
                                          x[p].exponent + y[p].exponent,
                                          x[p].negative != y[p].negative };
            if (dyadic_sum_fits(&near, unit, product)) sum += near;
            else dyadic_sum_add(to, unit, product, false);
        }
        dyadic_sum_add_near(to, unit, sum);
    }
}

/* Add products with one weight at each stage. */
static void add_block(struct budget_stages *to, const struct budget_values *a,
                      const struct budget_values *b, size_t from, size_t end)
{
    struct dyadic_sum block;
    for (int s = 0; s < STAGES; s++) {
        if (s == STAGE_EXACT || a->changed[s] || b->changed[s]) {
            dyadic_sum_zero(&block);
            add_products(&block, to->unit, a, b, (size_t)s, from, end);
            if (a->line->weights.at)
                dyadic_sum_multiply(&block, to->unit,
                                    line_factor(&a->line->weights, from));
            if (b->line->weights.at)
                dyadic_sum_multiply(&block, to->unit,
                                    line_factor(&b->line->weights, from));
        }
        dyadic_sum_add_sum(&to->sum[s], to->unit, &block, false);
    }
}

void budget_stages_add(struct budget_stages *to, const struct budget_values *a,
                       const struct budget_values *b)
{
    const size_t last = a->from + a->count;
    assert(a->from == b->from && a->count == b->count);
    for (size_t from = a->from, end; from < last; from = end) {
        end = smaller(weights_end(a->line, from, last), weights_end(b->line, from, last));
        add_block(to, a, b, from, end);
    }
}

void budget_stages_start(struct budget_stages *to, const struct budget_line *a,
                         const struct budget_line *b)
{
    int log2_k;
    frexp((double)a->k, &log2_k);
    to->exponents = a->exponent + b->exponent;
    to->unit = dyadic_sum_unit(a->top + b->top + log2_k);
    for (int s = 0; s < STAGES; s++) dyadic_sum_zero(&to->sum[s]);
}

bool budget_stages_find(struct budget_stages *to, const struct budget_line *a,
                        const struct budget_line *b)
{
    enum { BLOCK = 2048 };
    struct budget_values *const of_a = budget_values_new(BLOCK), *const of_b =
                                                                     budget_values_new(
                                                                         BLOCK);
    bool enough = of_a && of_b;
    budget_stages_start(to, a, b);
    for (size_t from = 0; from < a->k && enough; from += BLOCK) {
        const size_t count = smaller(BLOCK, a->k - from);
        enough = budget_values_fill(of_a, a, from, count) &&
                 budget_values_fill(of_b, b, from, count);
        if (enough) budget_stages_add(to, of_a, of_b);
    }
    free(of_a);
    free(of_b);
    return enough;
}
