/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_precision.h"

#include "lib/number/wide.h"

/* The last result of a row's steps is D, or with c_last some P that gives D when C is
   added to it, rounded to nearest.  Unless it overflowed, P is a value of the result
   format; where sums are floored to `keep` bits, it has keep + 1 bits.  All such P lie
   around D - C: if there is one with that many bits, one of the two nearest to D - C is
   such a P. */

/* An output and its values. */
struct target {
    const struct bitcut_format *format;
    struct term c; /* 0 unless it is added */
    uint64_t d;
    struct unrounded p; /* D - C */
};

static struct term number_term(const struct bitcut_format *f, uint64_t encoding,
                               bool negate)
{
    const struct number x = format_decode(f, encoding);
    return (struct term){ x.significand, x.exponent - f->fraction_bits,
                          x.negative != negate };
}

/* Whether the value is finite and too small to be near overflow. */
static bool is_moderate(const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    return x.kind < NUMBER_INF && x.exponent < format_emax(f) - 2;
}

/* Returns false if the output gives no information. */
static bool target_of(struct target *t, const struct space *s, const struct observed *o,
                      bool c_last)
{
    const struct bitcut_format *f = s->base.c;
    if (!is_moderate(f, o->d) || (c_last && !is_moderate(f, o->c))) return false;
    /* A flushed C is not the value that is added, and any P = -C gives a zero. */
    if (c_last && (o->c_subnormal || format_decode(f, o->d).kind == NUMBER_ZERO))
        return false;
    const struct term none = { 0 };
    const struct term terms[2] = { number_term(f, o->d, false),
                                   c_last ? number_term(f, o->c, true) : none };
    t->format = f;
    t->c = c_last ? number_term(f, o->c, false) : none;
    t->d = o->d;
    t->p = wide_sum(terms, 2);
    return t->p.significand != 0;
}

/* Whether a step's result of this value gives the output. */
static bool gives(const struct target *t, struct term p)
{
    const struct term terms[2] = { p, t->c };
    const struct unrounded sum = wide_sum(terms, 2);
    return sum.significand && round_pack(t->format, &roundings[ROUND_RN], sum) == t->d;
}

/* Whether a value with `bits` significant bits gives the output. */
static bool any_of_bits(const struct target *t, int bits)
{
    const int drop =
        64 - bits; /* the highest bit of p is the 64th or a lower one: move it up */
    const int up = __builtin_clzll(t->p.significand);
    const uint64_t significand = t->p.significand << up;
    for (uint64_t step = 0; step < 2; step++) {
        const struct term p = { (bitcut_uint128)((significand >> drop) + step) << drop,
                                t->p.exponent - up, t->p.negative };
        if (gives(t, p)) return true;
    }
    return false;
}

/* Whether a value of the result format gives the output. */
static bool any_of_format(const struct target *t, const struct bitcut_format *result)
{
    static const int directions[] = { ROUND_RD, ROUND_RU };
    for (int i = 0; i < 2; i++) {
        const uint64_t p = round_pack(result, &roundings[directions[i]], t->p);
        if (format_decode(result, p).kind < NUMBER_INF &&
            gives(t, number_term(result, p, false)))
            return true;
    }
    return false;
}

/* The number of outputs that a value of each field cannot give. */
struct votes {
    size_t results[SPACE_VALUES_MAX], keeps[SPACE_VALUES_MAX];
};

static void vote(struct votes *v, const struct space *s, const struct target *t)
{
    for (int i = 0; i < s->count[FIELD_RESULT]; i++)
        v->results[i] += !any_of_format(t, &formats[s->value[FIELD_RESULT][i]]);
    for (int i = 0; i < s->count[FIELD_KEEP]; i++) {
        if (any_of_bits(t, (int)s->value[FIELD_KEEP][i] + 1))
            return; /* larger values give it as well */
        v->keeps[i]++;
    }
}

static uint64_t at_most(const size_t *votes, int count, size_t most)
{
    uint64_t set = 0;
    for (int i = 0; i < count; i++) set |= (uint64_t)(votes[i] <= most) << i;
    return set;
}

struct precision precision_of(const struct space *s, const struct observed *outputs,
                              size_t count, bool c_last, size_t misses)
{
    struct votes v = { { 0 }, { 0 } };
    for (size_t i = 0; i < count; i++) {
        struct target t;
        if (target_of(&t, s, &outputs[i], c_last)) vote(&v, s, &t);
    }
    return (struct precision){ at_most(v.results, s->count[FIELD_RESULT], misses),
                               at_most(v.keeps, s->count[FIELD_KEEP], misses) };
}

void precision_cut(struct box *box, const struct space *s,
                   const struct precision precision[2])
{
    const int64_t sum = s->value[FIELD_SUM][box_lowest(box, FIELD_SUM)];
    const int64_t c_last = s->value[FIELD_C_LAST][box_lowest(box, FIELD_C_LAST)];
    box->set[FIELD_RESULT] &= precision[c_last].results;
    if (summations[sum]->reads & READS_KEEP_MIN)
        box->set[FIELD_KEEP] &= precision[c_last].keeps;
}
