/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_prune.h"

#include "analysis/fit/fit_rounding.h"
#include "lib/base/size.h"

#include <stdlib.h>

/* One row, alone in box `one`, its output, and the box that is being restricted. */
struct run {
    const struct space *space;
    const struct observed *observed;
    const struct bitcut_unit *row;
    const struct box *one;
    struct box *box;
    struct unit_trace trace;
};

static void only(struct run *r, int field) { r->box->set[field] &= r->one->set[field]; }

static void at_least(struct run *r, int field, int64_t least)
{
    box_at_least(r->box, r->space, field, least);
}

static void at_most(struct run *r, int field, int64_t most)
{
    box_at_most(r->box, r->space, field, most);
}

/* --- operands --------------------------------------------------------------------- */

/* The rows that read the operands as this one does. */
static void cut_readings(struct run *r)
{
    const struct space *s = r->space;
    const uint8_t *alias = r->observed->alias;
    const int own = observed_reading(s, r->row), via = own / FLUSHES;
    bool flushes[FLUSHES];
    if (r->observed->c_subnormal) only(r, FIELD_FLUSH_INPUTS);
    for (int f = 0; f < FLUSHES; f++) {
        flushes[f] = f == own % FLUSHES || !r->observed->c_subnormal;
        flushes[f] &= alias[FLUSHES * via + f] == alias[own];
        if (!flushes[f]) r->box->set[FIELD_FLUSH_INPUTS] &= ~(UINT64_C(1) << f);
    }
    for (int v = 0; v < s->count[FIELD_VIA]; v++)
        for (int f = 0; f < FLUSHES; f++)
            if (flushes[f] && alias[FLUSHES * v + f] != alias[own])
                r->box->set[FIELD_VIA] &= ~(UINT64_C(1) << v);
}

/* --- terms ------------------------------------------------------------------------ */

/* No exponent of a term is near these. */
enum { LOWEST = -(1 << 28), HIGHEST = 1 << 28 };

/* The exponents of some terms of an aligned sum. */
struct extent {
    int exponent;       /* the largest exponent by which a nonzero term is aligned, */
    int other;          /* and the same with the row's `normalise` inverted */
    int last;           /* the exponent of the lowest bit of any term */
    int terms;          /* number of nonzero terms */
    bool lost_negative; /* bits of a negative term were cut */
};

static const struct extent nothing = { LOWEST, LOWEST, HIGHEST, 0, false };

static int trailing_zeros(bitcut_uint128 x)
{
    return (uint64_t)x ? __builtin_ctzll((uint64_t)x)
                       : 64 + __builtin_ctzll((uint64_t)(x >> 64));
}

static int leading_bit(bitcut_uint128 x)
{
    const uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

/* The alignment exponent of the term if `normalise` is inverted. */
static int other_exponent(const struct run *r, const struct trace_term *t)
{
    if (t->source != TRACE_PRODUCT) return t->exponent;
    if (!r->row->normalise) return t->value.exponent + leading_bit(t->value.significand);
    return t->value.exponent + unit_operand_format(r->row, r->row->a)->fraction_bits +
           unit_operand_format(r->row, r->row->b)->fraction_bits;
}

static void extend(struct extent *e, const struct run *r, const struct trace_term *t,
                   int unit)
{
    if (t->source == TRACE_SUM) { /* a group counts even if it is zero */
        e->exponent = larger_int(e->exponent, t->exponent);
        e->other = larger_int(e->other, t->exponent);
    }
    if (t->value.significand == 0) return;
    const int last = t->value.exponent + trailing_zeros(t->value.significand);
    e->exponent = larger_int(e->exponent, t->exponent);
    e->other = larger_int(e->other, other_exponent(r, t));
    e->last = smaller_int(e->last, last);
    e->lost_negative |= last < unit && t->value.negative;
    e->terms++;
}

static struct extent extent_of(const struct run *r, const struct trace_sum *sum)
{
    struct extent e = nothing;
    for (int i = sum->first; i < sum->first + sum->terms; i++)
        extend(&e, r, &r->trace.term[i], sum->value.exponent);
    return e;
}

/* --- sums ------------------------------------------------------------------------- */

/* The smallest number of bits below `exponent` with which a sum of `terms` terms, each
   cut there together with a few of their sums, is within 2^slack units of its last bit of
   another such sum. */
static int bits_within(const struct trace_sum *sum, int slack, int exponent, int terms)
{
    enum { SUMS = 5 };
    const int twice = 2 * (terms + SUMS);
    if (slack < 0) return HIGHEST;
    return exponent + leading_bit((bitcut_uint128)twice) + 1 - sum->value.exponent -
           slack;
}

/* A sum cut at one exponent: restrict to rows that retain enough bits of all terms for
   the same sum, or a sum near enough; or to rows that cut the same bits of the same
   terms. */
static void cut_aligned(struct run *r, const struct trace_step *step,
                        const struct trace_sum *sum, int slack)
{
    (void)step;
    if (!sum->at_exponent) return;
    const struct extent e = extent_of(r, sum);
    const int align_min = r->row->align_min, most = larger_int(e.exponent, e.other);
    const int highest = larger_int(sum->exponent, most);
    if (e.terms == 0) return;
    const int bits =
        smaller_int(highest - e.last, bits_within(sum, slack, highest, e.terms));
    if (r->row->fraction >= bits) {
        at_most(r, FIELD_ALIGN_MIN, highest);
        at_least(r, FIELD_FRACTION, bits);
        return;
    }
    const bool differ = e.exponent != e.other;
    only(r, FIELD_FRACTION);
    if (e.lost_negative) only(r, FIELD_FLOOR);
    if (differ && align_min < most) only(r, FIELD_NORMALISE);
    if (align_min > e.exponent || (differ && align_min >= most)) only(r, FIELD_ALIGN_MIN);
    else at_most(r, FIELD_ALIGN_MIN, e.exponent);
}

/* The products of a two-stage step, which are in one or two sums. */
static struct extent extent_of_products(bool *differ, const struct run *r,
                                        const struct trace_step *step)
{
    struct extent all = nothing;
    *differ = false;
    for (int i = step->first_sum; i < step->first_sum + step->sums; i++) {
        const struct trace_sum *sum = &r->trace.sum[i];
        if (!sum->terms || r->trace.term[sum->first].source != TRACE_PRODUCT) continue;
        const struct extent e = extent_of(r, sum);
        *differ |= e.exponent != e.other;
        all.exponent = larger_int(all.exponent, larger_int(e.exponent, e.other));
        all.last = smaller_int(all.last, e.last);
        all.terms += e.terms;
        all.lost_negative |= e.lost_negative;
    }
    return all;
}

/* Restrict to rows whose sum of products retains all of its bits when c joins, or enough
   of them. */
static void cut_sum_fraction(struct run *r, const struct trace_sum *sum,
                             const struct trace_term *products, int slack)
{
    if (products->value.significand == 0) return;
    const int exact = r->row->fraction + sum->exponent - products->exponent -
                      trailing_zeros(products->value.significand);
    const int least = smaller_int(exact, bits_within(sum, slack, sum->exponent, 1));
    if (r->row->sum_fraction >= least) at_least(r, FIELD_SUM_FRACTION, least);
    else only(r, FIELD_SUM_FRACTION);
}

/* The same for two stages.  Rows that are near enough retain enough bits at both stages,
   since sum_fraction is not below fraction. */
static void cut_two_stage(struct run *r, const struct trace_step *step,
                          const struct trace_sum *sum, int slack)
{
    bool differ;
    const struct extent p = extent_of_products(&differ, r, step);
    const struct trace_term *products = &r->trace.term[sum->first], *c = products + 1;
    const int exponent = larger_int(p.exponent, c->exponent);
    const int c_last = c->value.significand
                           ? c->value.exponent + trailing_zeros(c->value.significand)
                           : HIGHEST;
    const int exact = larger_int(p.exponent - p.last, exponent - c_last);
    const int near = bits_within(sum, slack, exponent, p.terms);
    const bool all_kept =
        r->row->fraction >= exact && r->row->sum_fraction >= exponent - p.last;
    if (r->row->fraction >= near && !(all_kept && exact < near)) {
        at_least(r, FIELD_FRACTION, near);
        return;
    }
    if (all_kept) {
        at_least(r, FIELD_FRACTION, exact);
        at_least(r, FIELD_SUM_FRACTION, exponent - p.last);
        return;
    }
    only(r, FIELD_FRACTION);
    only(r, FIELD_PARITY);
    if (p.lost_negative) only(r, FIELD_FLOOR);
    if (differ) only(r, FIELD_NORMALISE);
    cut_sum_fraction(r, sum, products, slack);
}

/* Partial sums: restrict to rows that cut no bits, or hardly any; or the same number of
   bits. */
static void cut_serial(struct run *r, const struct trace_step *step,
                       const struct trace_sum *last, int slack)
{
    int most = 0, top = LOWEST, terms = 0;
    bool cut = false;
    only(r, FIELD_CARRIER);
    if (r->row->carrier) slack = -1; /* of sums before they are rounded to it */
    for (int i = step->first_sum; i < step->first_sum + step->sums - 1; i++) {
        const struct trace_sum *sum = &r->trace.sum[i];
        if (sum->value.significand == 0) continue;
        const int leading = leading_bit(sum->value.significand);
        most = larger_int(most, leading + 1 - trailing_zeros(sum->value.significand));
        top = larger_int(top, leading + sum->value.exponent);
        cut |= sum->inexact;
        terms++;
    }
    if (!cut && r->row->keep >= most) at_least(r, FIELD_KEEP, most);
    else {
        const int near = bits_within(last, slack, top + 2, terms);
        if (r->row->keep >= near) at_least(r, FIELD_KEEP, near);
        else only(r, FIELD_KEEP);
    }
}

/* Anything else: restrict to rows with the same fields. */
static void cut_unknown(struct run *r, const struct trace_step *step,
                        const struct trace_sum *last, int slack)
{
    (void)step, (void)last, (void)slack;
    for (int f = 0; f < FIELD_COUNT; f++)
        if (fields[f].reads > 0 && field_used(&fields[f], r->row)) only(r, f);
}

/* Restrict to rows with the same sum of a step, or a sum near enough, for the summations
   with known properties. */
static const struct rule {
    const struct summation *summation;
    void (*cut)(struct run *r, const struct trace_step *step,
                const struct trace_sum *last, int slack);
} rules[] = {
    { &sum_fused, cut_aligned },
    { &sum_grouped, cut_aligned },
    { &sum_two_stage, cut_two_stage },
    { &sum_serial, cut_serial },
    { NULL, cut_unknown },
};

static const struct rule *rule_of(const struct bitcut_unit *u)
{
    const struct rule *rule = rules;
    while (rule->summation && rule->summation != u->summation) rule++;
    return rule;
}

/* --- results of steps ------------------------------------------------------------- */

/* Whether any of the terms from `first` on is not -0. */
static bool any_not_negative_zero(const struct run *r, int first, int end, bool sums)
{
    for (int i = first; i < end; i++) {
        const struct trace_term *t = &r->trace.term[i];
        if (t->source == TRACE_SUM && !sums) continue;
        if (t->value.significand || !t->value.negative) return true;
    }
    return false;
}

/* A sum that is zero before it is rounded: the rules agree except for a sum of -0.  Where
   each sum is rounded, products are rounded as well, and no rule applies to them. */
static void cut_zero(struct run *r, const struct trace_step *step,
                     const struct trace_sum *sum)
{
    const bool each = r->row->summation->rounds_each;
    const int first = each ? sum->first : r->trace.sum[step->first_sum].first;
    if (each && sum->terms == 1) return;
    if (any_not_negative_zero(r, first, sum->first + sum->terms, each)) return;
    if (r->row->zero == ZERO_IEEE) only(r, FIELD_ZERO);
    else at_most(r, FIELD_ZERO, ZERO_SUM_POSITIVE);
}

/* Whether the last sum is floored to `keep` bits before it is rounded. */
static bool keeps(const struct run *r)
{
    return r->row->summation->reads & READS_KEEP_MIN;
}

/* Whether rows of the box differ in the number of bits of a sum that they retain. */
static bool bits_open(const struct run *r)
{
    const int bits = keeps(r) ? FIELD_SUM_FRACTION : FIELD_KEEP;
    return r->box->set[FIELD_FRACTION] != r->one->set[FIELD_FRACTION] ||
           r->box->set[bits] != r->one->set[bits];
}

/* One rounded sum.  `wrong`: the required result, which the row does not give.  Returns
   the slack of rounding_cut(). */
static int cut_rounded(struct run *r, const struct trace_step *step,
                       const struct trace_sum *sum, const uint64_t *wrong)
{
    if (sum->value.significand == 0) {
        cut_zero(r, step, sum);
        return -1;
    }
    const bool carried = sum->cut && !keeps(r);
    const struct rounded_sum rounded = {
        .space = r->space,
        .row = r->row,
        .one = r->one,
        .value = carried ? sum->kept : sum->value,
        .inexact = !carried && sum->inexact,
        .kept = keeps(r),
        .keeps_sign = r->row->summation->rounds_each && sum->terms == 1,
        .c = wrong && r->row->c_last ? &r->trace.c : NULL,
        .d = wrong ? *wrong : sum->d,
        .wrong = wrong != NULL,
    };
    return rounding_cut(r->box, &rounded, bits_open(r));
}

static bool is_special(const struct trace_sum *sum)
{
    return sum->special.nan || sum->special.positive || sum->special.negative;
}

/* One step.  `wrong`: as above, for the last step; otherwise NULL. */
static void cut_step(struct run *r, const struct trace_step *step, const uint64_t *wrong)
{
    const struct trace_sum *sums = &r->trace.sum[step->first_sum];
    const struct trace_sum *last = &sums[step->sums - 1];
    int slack = -1;
    for (const struct trace_sum *sum = sums; sum <= last; sum++)
        if (sum->rounded && !is_special(sum))
            slack = cut_rounded(r, step, sum, sum == last ? wrong : NULL);
    if (!is_special(last) || r->row->summation->rounds_each)
        rule_of(r->row)->cut(r, step, last, slack);
}

/* --- outputs ---------------------------------------------------------------------- */

/* The output d is a NaN. */
static void cut_nan(struct run *r, uint64_t d)
{
    const int right = space_find(r->space, FIELD_NAN, (int64_t)r->observed->d);
    only(r, FIELD_NAN_RULE);
    if (r->row->nan_rule != NAN_FIXED || d == r->observed->d) only(r, FIELD_NAN);
    else if (right >= 0) r->box->set[FIELD_NAN] &= ~(UINT64_C(1) << right);
}

static uint64_t trace_row(struct run *r)
{
    const struct observed *o = r->observed;
    const int reading = observed_reading(r->space, r->row);
    return unit_trace(&r->trace, r->row, observed_a(o, reading), observed_b(o, reading),
                      o->c);
}

static void cut_traced(struct run *r)
{
    const struct observed *const o = r->observed;
    const struct bitcut_unit *const row = r->row;
    const uint64_t d = trace_row(r);
    /* An infinite C may turn infinities into NaNs, which have no order. */
    const bool ordered = !row->c_last || format_decode(row->c, o->c).kind < NUMBER_INF;
    cut_readings(r);
    for (int i = 0; i < r->trace.steps; i++) {
        const bool wrong = i == r->trace.steps - 1 && ordered && d != o->d;
        cut_step(r, &r->trace.step[i], wrong ? &o->d : NULL);
    }
    if (format_decode(row->c, d).kind == NUMBER_NAN) cut_nan(r, d);
}

bool prune(struct box *box, const struct space *s, const struct observed *o,
           const struct bitcut_unit *row, const struct box *one)
{
    struct run *const r = malloc(sizeof *r); /* not initialised: the trace is large */
    if (!r) {
        *box = *one;
        return false;
    }
    r->space = s;
    r->observed = o;
    r->row = row;
    r->one = one;
    r->box = box;
    if (o->nan && row->nan_rule == NAN_FIXED) cut_nan(r, row->nan);
    else cut_traced(r);
    free(r);
    return true;
}
