/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/exact/hard.h"

#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- random numbers ----------------------------------------------------------------- */

static int below(uint64_t *state, int n) { return (int)(test_bits(state) % (uint64_t)n); }

static int random_sign(uint64_t *state) { return below(state, 2) ? 1 : -1; }

/* Uniform in [-1, 1], with 24 significant bits. */
static float uniform(uint64_t *state)
{
    return (float)((double)((int64_t)test_bits(state) >> 11) * 0x1p-52);
}

/* The same times a power of two between 2^low and 2^high. */
static uint32_t spread(uint64_t *state, int low, int high)
{
    const float x = uniform(state);
    return bits_of_float(ldexpf(x, test_between(state, low, high)));
}

/* A random sign and significand, with a magnitude in [2^(exponent-1), 2^exponent). */
static float scaled(uint64_t *state, int exponent)
{
    int found;
    const float x = frexpf(uniform(state), &found);
    return ldexpf(x == 0 ? 0.5f : x, exponent);
}

/* --- families of elements ----------------------------------------------------------- */

static uint32_t element_uniform(uint64_t *s) { return bits_of_float(uniform(s)); }

static uint32_t element_wide(uint64_t *s) { return spread(s, -40, 40); }

static uint32_t element_pattern(uint64_t *s)
{
    const uint32_t x = (uint32_t)test_bits(s);
    return (x >> 23 & 0xff) == 0xff ? x ^ 1u << 30 : x;
}

static uint32_t element_tiny(uint64_t *s) { return spread(s, -77, -70); }

static uint32_t element_subnormal(uint64_t *s)
{
    return below(s, 2) ? spread(s, -3, 60) : (uint32_t)test_bits(s) & 0x807fffff;
}

static uint32_t element_huge(uint64_t *s) { return spread(s, 62, 65); }

static uint32_t element_integer(uint64_t *s)
{
    return bits_of_float((float)test_between(s, -0xfffff, 0xfffff));
}

static uint32_t element_half(uint64_t *s)
{
    const float x = (float)test_between(s, -2047, 2047);
    return bits_of_float(ldexpf(x, test_between(s, -24, 5)));
}

static uint32_t element_zero(uint64_t *s)
{
    static const uint32_t some[] = { 0,          0x80000000, 0,          0x80000000,
                                     0x80000000, 0x3f800000, 0xbf800000, 1 };
    return some[below(s, 8)];
}

static uint32_t element_minus_zero(uint64_t *s)
{
    if (below(s, 2)) return 0x80000000;
    return below(s, 60) ? 0x3f800000 : 0;
}

static uint32_t element_special(uint64_t *s)
{
    static const uint32_t some[] = { 0x7f800000, 0xff800000, 0x7f800000, 0x7fc00000,
                                     0xffc12345, 0x7f800001, 0,          0x80000000 };
    return below(s, 60) ? bits_of_float(uniform(s)) : some[below(s, 8)];
}

/* --- families of dot products ------------------------------------------------------- */

/* The terms of one element as they are made. */
struct hard_dot {
    uint32_t *a, *b; /* of length k */
    size_t k, used;
};

static void put(struct hard_dot *d, uint32_t a, uint32_t b)
{
    ck_assert_uint_lt(d->used, d->k);
    d->a[d->used] = a;
    d->b[d->used++] = b;
}

/* significand * 2^exponent as two factors; |significand| < 2^24, exponent >= -298. */
static void put_value(struct hard_dot *d, uint64_t *s, int significand, int exponent)
{
    const int low = exponent - 127 > -149 ? exponent - 127 : -149;
    const int high = exponent + 149 < 104 ? exponent + 149 : 104;
    const int first = test_between(s, low, high);
    put(d, bits_of_float(ldexpf((float)significand, first)),
        bits_of_float(ldexpf(1, exponent - first)));
}

/* A positive, zero or negative unit of a place up to `most` below 2^exponent. */
static void put_beside(struct hard_dot *d, uint64_t *s, int exponent, int most)
{
    const int sign = test_between(s, -1, 1), place = exponent - test_between(s, 1, most);
    put_value(d, s, sign, place < -298 ? -298 : place);
}

/* Pairs of terms that cancel, up to 2^exponent, until all terms are used. */
static void put_cancelling(struct hard_dot *d, uint64_t *s, int exponent)
{
    while (d->used + 2 <= d->k) {
        const int e = test_between(s, exponent - 40, exponent);
        const uint32_t a = bits_of_float(scaled(s, e / 2)), b = bits_of_float(scaled(s, e - e / 2));
        put(d, a, b);
        put(d, a ^ 0x80000000, b);
    }
    while (d->used < d->k) put(d, 0, 0);
}

static void shuffle(struct hard_dot *d, uint64_t *s)
{
    for (size_t i = d->k; i > 1; i--) {
        const size_t j = test_bits(s) % i;
        const uint32_t a = d->a[i - 1], b = d->b[i - 1];
        d->a[i - 1] = d->a[j];
        d->b[i - 1] = d->b[j];
        d->a[j] = a;
        d->b[j] = b;
    }
}

/* A number of `bits` significant bits, the last one of weight 2^exponent, in pieces. */
static void put_number(struct hard_dot *d, uint64_t *s, int bits, int exponent, int sign)
{
    for (int from = 0; from < bits; from += 24) {
        const int width = bits - from < 24 ? bits - from : 24;
        int piece = test_between(s, 0, (1 << width) - 1);
        if (from + width == bits) piece |= 1 << (width - 1);
        put_value(d, s, sign * piece, exponent + from);
    }
}

/* Half a unit more than a number, and perhaps a little more or less. */
static void put_tie(struct hard_dot *d, uint64_t *s, int bits, int exponent)
{
    const int sign = random_sign(s), half = exponent - 1;
    put_number(d, s, bits, exponent, sign);
    put_value(d, s, sign, half);
    put_beside(d, s, half, 200);
    put_cancelling(d, s, test_between(s, half - 30, half + 60));
    shuffle(d, s);
}

static void dot_tie32(struct hard_dot *d, uint64_t *s)
{
    if (below(s, 4)) put_tie(d, s, 24, test_between(s, -148, 60));
    else put_tie(d, s, test_between(s, 1, 23), -149);
}

static void dot_tie64(struct hard_dot *d, uint64_t *s)
{
    put_tie(d, s, 53, test_between(s, -200, 60));
}

static void dot_tie_largest(struct hard_dot *d, uint64_t *s)
{
    const int sign = random_sign(s);
    put_value(d, s, sign * 0xffffff, 104);
    put_value(d, s, sign, 103);
    put_beside(d, s, 103, 300);
    put_cancelling(d, s, test_between(s, 60, 250));
    shuffle(d, s);
}

static void dot_tie_least(struct hard_dot *d, uint64_t *s)
{
    put_value(d, s, random_sign(s), -150);
    put_beside(d, s, -150, 148);
    put_cancelling(d, s, test_between(s, -200, -100));
    shuffle(d, s);
}

static void dot_cancel(struct hard_dot *d, uint64_t *s)
{
    const int sign = random_sign(s), exponent = test_between(s, -149, 0);
    if (below(s, 2)) put_number(d, s, 24, exponent, sign);
    put_cancelling(d, s, test_between(s, -60, 60));
    shuffle(d, s);
}

/* Ogita, Rump and Oishi 2005, Algorithm 6.1: the first half of the terms have exponents
   up to that of the condition number, the second half bring the sum down to 1. */
static void dot_ill(struct hard_dot *d, uint64_t *s)
{
    const int bits = test_between(s, 0, 100), half = (int)(d->k / 2), rest = (int)d->k - half;
    mpfr_t sum, t;
    mpfr_inits2(600, sum, t, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    for (int i = -half; i < rest; i++) {
        int e = test_between(s, 0, bits / 2);
        if (i == -half) e = bits / 2 + 1;
        if (i >= 0) e = bits / 2 - bits / 2 * i / (rest - 1);
        const float x = scaled(s, e);
        float y = scaled(s, e);
        if (i >= 0) {
            mpfr_d_sub(t, (double)y, sum, MPFR_RNDN);
            mpfr_div_d(t, t, (double)x, MPFR_RNDN);
            y = mpfr_get_flt(t, MPFR_RNDN);
        }
        mpfr_set_d(t, (double)x * (double)y, MPFR_RNDN);
        mpfr_add(sum, sum, t, MPFR_RNDN);
        put(d, bits_of_float(x), bits_of_float(y));
    }
    mpfr_clears(sum, t, (mpfr_ptr)0);
    shuffle(d, s);
}

/* --- the table ---------------------------------------------------------------------- */

const struct hard_family hard_families[] = {
    /* clang-format off */
    { "uniform",         "in [-1, 1]",                   .element = element_uniform },
    { "wide",            "over 80 binades",              .element = element_wide },
    { "pattern",         "any finite encodings",         .element = element_pattern },
    { "tiny",            "products near 2^-149",         .element = element_tiny },
    { "subnormal",       "subnormals times larger ones", .element = element_subnormal },
    { "huge",            "sums near 2^128",              .element = element_huge },
    { "integer",         "of 20 bits",                   .element = element_integer },
    { "half",            "values of f16",                .element = element_half },
    { "zero",            "exact zeros of both signs",    .element = element_zero },
    { "negative zero",   "mostly -0 and 1",              .element = element_minus_zero },
    { "special",         "with NaNs and infinities",     .element = element_special },
    { "tie in f32",      "on a tie or beside it",        .dot = dot_tie32 },
    { "tie in f64",      "on a tie or beside it",        .dot = dot_tie64 },
    { "largest",         "by the tie below 2^128",       .dot = dot_tie_largest },
    { "least",           "by the tie at 2^-150",         .dot = dot_tie_least },
    { "cancelling",      "far below the terms, or zero", .dot = dot_cancel },
    { "ill-conditioned", "condition numbers to 2^100",   .dot = dot_ill },
    { 0 }
    /* clang-format on */
};

const struct hard_family *hard_find(const char *name)
{
    const struct hard_family *f = hard_families;
    while (f->name && strcmp(f->name, name) != 0) f++;
    ck_assert_ptr_nonnull(f->name);
    return f;
}

/* Dot product i becomes row i of a and column i of b, as far as there are such. */
static void fill_dots(uint32_t *a, uint32_t *b, const struct hard_family *family,
                      size_t m, size_t n, size_t k, uint64_t *state)
{
    uint32_t *terms = calloc(2 * k + 1, sizeof *terms);
    ck_assert_ptr_nonnull(terms);
    for (size_t i = 0; i < m || i < n; i++) {
        struct hard_dot d = { .a = terms, .b = terms + k, .k = k };
        family->dot(&d, state);
        for (size_t p = 0; i < m && p < k; p++) a[i * k + p] = d.a[p];
        for (size_t p = 0; i < n && p < k; p++) b[p * n + i] = d.b[p];
    }
    free(terms);
}

void hard_fill(uint32_t *a, uint32_t *b, const struct hard_family *family, size_t m,
               size_t n, size_t k, uint64_t *state)
{
    if (family->dot) {
        fill_dots(a, b, family, m, n, k, state);
        return;
    }
    for (size_t i = 0; i < m * k; i++) a[i] = family->element(state);
    for (size_t i = 0; i < k * n; i++) b[i] = family->element(state);
}
