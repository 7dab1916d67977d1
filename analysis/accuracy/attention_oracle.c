/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/attention_oracle.h"

#include "lib/base/status.h"
#include "lib/number/mpfr_value.h"
#include "lib/number/round.h"

#include <math.h>
#include <stdlib.h>

/* Bits that hold any score: a sum of up to 2^30 products of FP32 values, and its
   differences; and products with the scale, and sums of V minus a multiple of half the
   last place of a format. */
enum { SCORE_BITS = 640, EXACT_BITS = 720, FIRST_BITS = 192, LAST_BITS = 3072 };

struct scored {
    mpfr_srcptr score;
    size_t key;
};

struct attention_oracle {
    struct attention_oracle_query x;
    struct mpfr_state found;
    mpfr_t *score, *weight; /* [key]; scores are exact                                 */
    struct scored *order;   /* keys by score, ascending                                */
    mpfr_t most, total, sum, term;
    mpfr_prec_t precision; /* of the weights                                           */
};

static void make_scores(struct attention_oracle *o)
{
    const struct attention_oracle_query *const x = &o->x;
    mpfr_t a, b;
    mpfr_inits2(53, a, b, (mpfr_ptr)0);
    for (size_t j = 0; j < x->keys; j++) {
        mpfr_init2(o->score[j], SCORE_BITS);
        mpfr_set_zero(o->score[j], 1);
        for (size_t p = 0; p < x->dim; p++) {
            mpfr_set_d(a, x->q[p], MPFR_RNDN);
            mpfr_set_d(b, x->k[p * x->k_stride + j], MPFR_RNDN);
            mpfr_fma(o->score[j], a, b, o->score[j], MPFR_RNDN);
        }
        if (!j || mpfr_greater_p(o->score[j], o->most))
            mpfr_set(o->most, o->score[j], MPFR_RNDN);
    }
    mpfr_clears(a, b, (mpfr_ptr)0);
}

/* Weights exp(scale (score - most)), or powers of 2, with `precision` bits, and their
   sum.  Exponents are exact before they are rounded. */
static void make_weights(struct attention_oracle *o, mpfr_prec_t precision)
{
    mpfr_t t;
    o->precision = precision;
    mpfr_init2(t, EXACT_BITS);
    mpfr_set_prec(o->total, precision);
    mpfr_set_zero(o->total, 1);
    for (size_t j = 0; j < o->x.keys; j++) {
        mpfr_set_prec(o->weight[j], precision);
        mpfr_sub(t, o->score[j], o->most, MPFR_RNDN);
        mpfr_mul_d(t, t, o->x.scale, MPFR_RNDN);
        (o->x.base2 ? mpfr_exp2 : mpfr_exp)(o->weight[j], t, MPFR_RNDN);
        mpfr_add(o->total, o->total, o->weight[j], MPFR_RNDN);
    }
    mpfr_clear(t);
}

struct attention_oracle *attention_oracle_open(const struct attention_oracle_query *x)
{
    struct attention_oracle *const o = memory_allocate(1, sizeof *o);
    if (!o) return NULL;
    o->x = *x;
    o->score = memory_allocate(x->keys, sizeof *o->score);
    o->weight = memory_allocate(x->keys, sizeof *o->weight);
    o->order = memory_allocate(x->keys, sizeof *o->order);
    if (!o->score || !o->weight || !o->order) {
        free(o->score);
        free(o->weight);
        free(o->order);
        free(o);
        return NULL;
    }
    o->found = mpfr_state_enter();
    mpfr_inits2(SCORE_BITS, o->most, o->total, o->sum, o->term, (mpfr_ptr)0);
    make_scores(o);
    for (size_t j = 0; j < x->keys; j++) mpfr_init2(o->weight[j], FIRST_BITS);
    make_weights(o, FIRST_BITS);
    return o;
}

void attention_oracle_close(struct attention_oracle *o)
{
    for (size_t j = 0; j < o->x.keys; j++)
        mpfr_clears(o->score[j], o->weight[j], (mpfr_ptr)0);
    mpfr_clears(o->most, o->total, o->sum, o->term, (mpfr_ptr)0);
    free(o->score);
    free(o->weight);
    free(o->order);
    mpfr_state_leave(o->found);
    free(o);
}

/* --- rounding
 * --------------------------------------------------------------------------- */

/* x rounded to nearest even of a format. */
static uint64_t encode(mpfr_srcptr x, const struct bitcut_format *format)
{
    enum { BITS = 64 };
    mpfr_t y;
    if (mpfr_zero_p(x)) return format_zero(format, false);
    mpfr_init2(y, BITS);
    const int ternary = mpfr_set(y, x, MPFR_RNDZ);
    const long exponent = (long)mpfr_get_exp(y) - BITS;
    mpfr_mul_2si(y, y, -exponent, MPFR_RNDN);
    mpfr_abs(y, y, MPFR_RNDN);
    const struct unrounded value = { .significand = mpfr_get_uj(y, MPFR_RNDN),
                                     .exponent = (int32_t)exponent,
                                     .negative = mpfr_signbit(x),
                                     .sticky = ternary != 0 };
    mpfr_clear(y);
    return round_pack(format, &roundings[ROUND_RN], value);
}

/* The mean of V by the weights. */
static void set_mean(struct attention_oracle *o, size_t column)
{
    mpfr_set_prec(o->sum, o->precision);
    mpfr_set_zero(o->sum, 1);
    mpfr_set_prec(o->term, o->precision);
    for (size_t j = 0; j < o->x.keys; j++) {
        mpfr_mul_d(o->term, o->weight[j], o->x.v[j * o->x.value_dim + column], MPFR_RNDN);
        mpfr_add(o->sum, o->sum, o->term, MPFR_RNDN);
    }
    mpfr_div(o->sum, o->sum, o->total, MPFR_RNDN);
}

/* Compute the output and a bound on its error, and round both ends.

   The relative error of a weight is at most (|t| + 2) 2^-p, where |t| is the exponent;
   weights below 2^-4096 become 0, which is below 2^(-1000-p) of the sum.  So the sums of
   at most 2^30 weights, and of weights times V, have errors below 2^(32-p) of the sum of
   the magnitudes; that of weights times V is at most max |v| times the sum of the
   weights.  The quotient has an error below 2^(36-p) max |v|. */
static bool round_both(uint64_t *encoding, struct attention_oracle *o, size_t column,
                       const struct bitcut_format *format)
{
    mpfr_t low, high, error;
    set_mean(o, column);
    mpfr_inits2(o->precision, low, high, error, (mpfr_ptr)0);
    mpfr_set_d(error, o->x.v_max[column], MPFR_RNDU);
    mpfr_mul_2si(error, error, 36 - (long)o->precision, MPFR_RNDU);
    mpfr_sub(low, o->sum, error, MPFR_RNDD);
    mpfr_add(high, o->sum, error, MPFR_RNDU);
    *encoding = encode(low, format);
    const bool decided = *encoding == encode(high, format);
    mpfr_clears(low, high, error, (mpfr_ptr)0);
    return decided;
}

/* --- exact values
 * ----------------------------------------------------------------------- */

static int by_score(const void *a, const void *b)
{
    return mpfr_cmp(((const struct scored *)a)->score, ((const struct scored *)b)->score);
}

/* The multiple of half the last place of the format that is nearest to the output. */
static void candidate_of(mpfr_ptr to, const struct attention_oracle *o,
                         const struct bitcut_format *format)
{
    long last = format_least_exponent(format) - 1;
    if (mpfr_regular_p(o->sum)) {
        const long own = mpfr_get_exp(o->sum) - 1 - format->fraction_bits - 1;
        if (own > last) last = own;
    }
    mpfr_mul_2si(to, o->sum, -last, MPFR_RNDN);
    mpfr_rint(to, to, MPFR_RNDN);
    mpfr_mul_2si(to, to, last, MPFR_RNDN);
}

/* Whether the output is exactly m.  Exponentials of different rational numbers are
   linearly independent over the rationals, so it is m only if for the keys of each score
   the sum of V - m is 0. */
static bool is_exactly(struct attention_oracle *o, size_t column, mpfr_srcptr m)
{
    bool equal = true;
    mpfr_set_prec(o->term, EXACT_BITS);
    for (size_t j = 0; j < o->x.keys; j++)
        o->order[j] = (struct scored){ o->score[j], j };
    qsort(o->order, o->x.keys, sizeof *o->order, by_score);
    mpfr_set_zero(o->term, 1);
    for (size_t i = 0; i < o->x.keys && equal; i++) {
        const size_t j = o->order[i].key;
        mpfr_add_d(o->term, o->term, o->x.v[j * o->x.value_dim + column], MPFR_RNDN);
        mpfr_sub(o->term, o->term, m, MPFR_RNDN);
        const bool last =
            i + 1 == o->x.keys || !mpfr_equal_p(o->score[j], o->order[i + 1].score);
        if (last) equal = mpfr_zero_p(o->term);
    }
    return equal;
}

uint64_t attention_oracle_output(bool *exact, double *value, struct attention_oracle *o,
                                 size_t column, const struct bitcut_format *format)
{
    uint64_t encoding;
    mpfr_t m;
    *exact = false;
    if (o->precision != FIRST_BITS) make_weights(o, FIRST_BITS);
    const bool decided = round_both(&encoding, o, column, format);
    *value = mpfr_get_d(o->sum, MPFR_RNDN);
    if (decided) return encoding;
    mpfr_init2(m, EXACT_BITS);
    candidate_of(m, o, format);
    *exact = is_exactly(o, column, m);
    if (*exact) encoding = encode(m, format), *value = mpfr_get_d(m, MPFR_RNDN);
    mpfr_clear(m);
    for (mpfr_prec_t p = 2 * FIRST_BITS; !*exact && p <= LAST_BITS; p *= 2) {
        make_weights(o, p);
        if (round_both(&encoding, o, column, format)) return encoding;
    }
    return encoding;
}

void attention_oracle_mean(mpfr_ptr to, double *size, struct attention_oracle *o,
                           size_t column)
{
    const double total = mpfr_get_d(o->total, MPFR_RNDN);
    double sum = 0;
    if (o->precision != FIRST_BITS) make_weights(o, FIRST_BITS);
    set_mean(o, column);
    mpfr_set_prec(to, o->precision);
    mpfr_set(to, o->sum, MPFR_RNDN);
    for (size_t j = 0; j < o->x.keys; j++)
        sum += mpfr_get_d(o->weight[j], MPFR_RNDN) *
               fabs(o->x.v[j * o->x.value_dim + column]);
    *size = sum / total;
}
