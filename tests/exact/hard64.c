/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/exact/hard64.h"

#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

/* --- random numbers ----------------------------------------------------------------- */

static int below(uint64_t *s, int n) { return (int)(test_bits(s) % (uint64_t)n); }

static int random_sign(uint64_t *s) { return below(s, 2) ? 1 : -1; }

/* Uniform in [-1, 1]. */
static double uniform(uint64_t *s)
{
    return (double)((int64_t)test_bits(s) >> 10) * 0x1p-53;
}

/* The same times a power of two between 2^low and 2^high. */
static double spread(uint64_t *s, int low, int high)
{
    const double x = uniform(s);
    return ldexp(x, test_between(s, low, high));
}

/* A random sign and significand, with a magnitude in [2^(exponent-1), 2^exponent). */
static double scaled(uint64_t *s, int exponent)
{
    int found;
    const double x = frexp(uniform(s), &found);
    return ldexp(x == 0 ? 0.5 : x, exponent);
}

/* --- families of elements ----------------------------------------------------------- */

static double element_uniform(uint64_t *s) { return uniform(s); }
static double element_wide(uint64_t *s) { return spread(s, -40, 40); }
static double element_wider(uint64_t *s) { return spread(s, -330, 330); }
static double element_widest(uint64_t *s) { return spread(s, -500, 500); }

static double element_pattern(uint64_t *s)
{
    const uint64_t x = test_bits(s);
    return double_of_bits((x >> 52 & 0x7ff) == 0x7ff ? x ^ 1ull << 62 : x);
}

static double element_tiny(uint64_t *s) { return spread(s, -545, -530); }
static double element_tiny_low(uint64_t *s) { return spread(s, -500, -480); }

static double element_subnormal(uint64_t *s)
{
    return below(s, 2) ? spread(s, -3, 60)
                       : double_of_bits(test_bits(s) & ~(0x7ffull << 52));
}

static double element_huge(uint64_t *s) { return spread(s, 510, 513); }
static double element_integer(uint64_t *s)
{
    return (double)test_between(s, -0xfffff, 0xfffff);
}

/* Integers of 50 bits: sums are exact in two parts. */
static double element_long(uint64_t *s) { return (double)((int64_t)test_bits(s) >> 14); }

static double element_zero(uint64_t *s)
{
    static const double some[] = { 0, -0.0, 0, -0.0, -0.0, 1, -1, 0x1p-1074 };
    return some[below(s, 8)];
}

static double element_minus_zero(uint64_t *s)
{
    if (below(s, 2)) return -0.0;
    return below(s, 60) ? 1 : 0;
}

static double element_special(uint64_t *s)
{
    static const uint64_t some[] = { 0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff0000000000000,
                                     0x7ff8000000000000,
                                     0xfff8123456789abc,
                                     0x7ff0000000000001,
                                     0,
                                     0x8000000000000000 };
    return below(s, 60) ? uniform(s) : double_of_bits(some[below(s, 8)]);
}

/* --- families of dot products ------------------------------------------------------- */

/* The terms of one element as they are made. */
struct hard64_dot {
    double *a, *b; /* of length k */
    size_t k, used;
};

static void put(struct hard64_dot *d, double a, double b)
{
    ck_assert_uint_lt(d->used, d->k);
    d->a[d->used] = a;
    d->b[d->used++] = b;
}

/* significand * 2^exponent as two factors; |significand| < 2^53, exponent >= -2148. */
static void put_value(struct hard64_dot *d, uint64_t *s, int64_t significand,
                      int exponent)
{
    const int low = exponent - 970 > -1074 ? exponent - 970 : -1074;
    const int high = exponent + 1074 < 970 ? exponent + 1074 : 970;
    const int first = exponent > -900 ? exponent / 2 + test_between(s, -20, 20)
                                      : test_between(s, low, high);
    put(d, ldexp((double)significand, first), ldexp(1, exponent - first));
}

/* A positive, zero or negative unit of a place up to `most` below 2^exponent. */
static void put_beside(struct hard64_dot *d, uint64_t *s, int exponent, int most)
{
    const int sign = test_between(s, -1, 1), place = exponent - test_between(s, 1, most);
    put_value(d, s, sign, place < -2148 ? -2148 : place);
}

/* Pairs of terms that cancel, up to 2^exponent, until all terms are used. */
static void put_cancelling(struct hard64_dot *d, uint64_t *s, int exponent)
{
    while (d->used + 2 <= d->k) {
        const int e = test_between(s, exponent - 40, exponent);
        const double a = scaled(s, e / 2), b = scaled(s, e - e / 2);
        put(d, a, b);
        put(d, -a, b);
    }
    while (d->used < d->k) put(d, 0, 0);
}

static void shuffle(struct hard64_dot *d, uint64_t *s)
{
    for (size_t i = d->k; i > 1; i--) {
        const size_t j = test_bits(s) % i;
        const double a = d->a[i - 1], b = d->b[i - 1];
        d->a[i - 1] = d->a[j];
        d->b[i - 1] = d->b[j];
        d->a[j] = a;
        d->b[j] = b;
    }
}

/* A number of `bits` significant bits, the last one of weight 2^exponent, in pieces. */
static void put_number(struct hard64_dot *d, uint64_t *s, int bits, int exponent,
                       int sign)
{
    for (int from = 0; from < bits; from += 53) {
        const int width = bits - from < 53 ? bits - from : 53;
        int64_t piece = (int64_t)(test_bits(s) >> (64 - width));
        if (from + width == bits) piece |= (int64_t)1 << (width - 1);
        put_value(d, s, sign * piece, exponent + from);
    }
}

/* Half a unit more than a number, and perhaps a little more or less. */
static void put_tie(struct hard64_dot *d, uint64_t *s, int bits, int exponent, int most)
{
    const int sign = random_sign(s), half = exponent - 1;
    put_number(d, s, bits, exponent, sign);
    put_value(d, s, random_sign(s), half);
    put_beside(d, s, half, most);
    put_cancelling(d, s, test_between(s, half - 30, half + 100));
    shuffle(d, s);
}

static void dot_tie(struct hard64_dot *d, uint64_t *s)
{
    put_tie(d, s, 53, test_between(s, -200, 60), below(s, 2) ? 80 : 1000);
}

/* The same for the rounding of the remainder. */
static void dot_tie_low(struct hard64_dot *d, uint64_t *s)
{
    put_tie(d, s, test_between(s, 104, 110), test_between(s, -200, 60),
            below(s, 2) ? 80 : 1000);
}

static void dot_tie_subnormal(struct hard64_dot *d, uint64_t *s)
{
    put_tie(d, s, test_between(s, 1, 60), -1074, 1000);
}

static void dot_tie_largest(struct hard64_dot *d, uint64_t *s)
{
    const int sign = random_sign(s);
    put_value(d, s, sign * (((int64_t)1 << 53) - 1), 971);
    put_value(d, s, sign, 970);
    put_beside(d, s, 970, 2000);
    put_cancelling(d, s, test_between(s, 600, 1900));
    shuffle(d, s);
}

static void dot_tie_least(struct hard64_dot *d, uint64_t *s)
{
    put_value(d, s, random_sign(s), -1075);
    put_beside(d, s, -1075, 1000);
    put_cancelling(d, s, test_between(s, -1200, -1000));
    shuffle(d, s);
}

static void dot_cancel(struct hard64_dot *d, uint64_t *s)
{
    const int sign = random_sign(s), exponent = test_between(s, -300, 0);
    if (below(s, 2)) put_number(d, s, 53, exponent, sign);
    put_cancelling(d, s, test_between(s, -60, 60));
    shuffle(d, s);
}

/* Two large terms that cancel, and terms far below them, whose lowest bits underflow when
   the row and the column are multiplied by one power of two. */
static void dot_far(struct hard64_dot *d, uint64_t *s)
{
    const int a = test_between(s, 300, 900), below_a = test_between(s, 300, 1500);
    const int b = test_between(s, -300, 100),
              below_b = test_between(s, 0, 1500 - below_a);
    const bool powers = below(s, 2);
    const double large = scaled(s, a), other = ldexp(1, b);
    put(d, large, other);
    put(d, -large, other);
    while (d->used < d->k)
        put(d, scaled(s, a - below_a),
            powers ? ldexp(1, b - below_b) : scaled(s, b - below_b));
    shuffle(d, s);
}

/* Ogita, Rump and Oishi 2005, Algorithm 6.1: the first half of the terms have exponents
   up to that of the condition number, the second half bring the sum down to 1. */
static void dot_ill(struct hard64_dot *d, uint64_t *s)
{
    const int bits = test_between(s, 0, 140), half = (int)(d->k / 2),
              rest = (int)d->k - half;
    mpfr_t sum, x, y;
    mpfr_init2(sum, 1000);
    mpfr_init2(x, 53);
    mpfr_init2(y, 53);
    mpfr_set_zero(sum, 1);
    for (int i = -half; i < rest; i++) {
        int e = test_between(s, 0, bits / 2);
        if (i == -half) e = bits / 2 + 1;
        if (i >= 0) e = bits / 2 - bits / 2 * i / (rest - 1);
        const double a = scaled(s, e);
        mpfr_set_d(x, a, MPFR_RNDN);
        mpfr_set_d(y, scaled(s, e), MPFR_RNDN);
        if (i >= 0) {
            mpfr_sub(y, y, sum, MPFR_RNDN);
            mpfr_div(y, y, x, MPFR_RNDN);
        }
        mpfr_fma(sum, x, y, sum, MPFR_RNDN);
        put(d, a, mpfr_get_d(y, MPFR_RNDN));
    }
    mpfr_clears(sum, x, y, (mpfr_ptr)0);
    shuffle(d, s);
}

/* A number of the sign with a magnitude in [2^exponent, 2^(exponent+1)), times 1. */
static double put_alone(struct hard64_dot *d, uint64_t *s, int sign, int exponent)
{
    const double x = sign * fabs(scaled(s, exponent + 1));
    put(d, x, 1);
    return x;
}

/* A sum in three parts whose third part loses the same amount at almost every addition:
   the first three terms are its parts, and each of the next terms is just below half an
   ulp of the third one.  Together they are about a quarter of an ulp of the remainder,
   which the last term determines when the second part is gone.  So a bound that is less
   than a third of the worst case of such sums proves wrong remainders. */
static void dot_one_sided(struct hard64_dot *d, uint64_t *s)
{
    const int sign = random_sign(s), terms = (int)d->k - 5;
    int last;
    put_alone(d, s, random_sign(s), 100);
    const double middle = put_alone(d, s, random_sign(s), 40);
    put(d, sign * 0x1p-20, 1);
    for (int i = 0; i < terms; i++) put(d, sign * 0x1.fcp-74, 1);
    put(d, -middle, 1);
    frexp(terms, &last);
    put_alone(d, s, random_sign(s), last - 20);
}

/* --- the table ---------------------------------------------------------------------- */

const struct hard64_family hard64_families[] = {
    /* clang-format off */
    { "uniform",         "in [-1, 1]",                    .element = element_uniform },
    { "wide",            "over 80 binades",               .element = element_wide },
    { "wider",           "over 660 binades",              .element = element_wider },
    { "widest",          "over 1000 binades",             .element = element_widest },
    { "pattern",         "any finite encodings",          .element = element_pattern },
    { "tiny",            "products near 2^-1074",         .element = element_tiny },
    { "tiny remainder",  "remainders near 2^-1074",       .element = element_tiny_low },
    { "subnormal",       "subnormals times larger ones",  .element = element_subnormal },
    { "huge",            "sums near 2^1024",              .element = element_huge },
    { "integer",         "of 20 bits",                    .element = element_integer },
    { "long integer",    "of 50 bits",                    .element = element_long },
    { "zero",            "exact zeros of both signs",     .element = element_zero },
    { "negative zero",   "mostly -0 and 1",               .element = element_minus_zero },
    { "special",         "with NaNs and infinities",      .element = element_special },
    { "tie",             "on a tie or beside it",         .dot = dot_tie },
    { "tie of low",      "the same of the remainder",     .dot = dot_tie_low },
    { "subnormal tie",   "the same below 2^-1014",        .dot = dot_tie_subnormal },
    { "largest",         "by the tie below 2^1024",       .dot = dot_tie_largest },
    { "least",           "by the tie at 2^-1075",         .dot = dot_tie_least },
    { "cancelling",      "far below the terms, or zero",  .dot = dot_cancel },
    { "far",             "below terms that cancel",       .dot = dot_far },
    { "ill-conditioned", "condition numbers to 2^140",    .dot = dot_ill },
    { "one-sided",       "with errors of one sign",       .dot = dot_one_sided },
    { 0 }
    /* clang-format on */
};

const struct hard64_family *hard64_find(const char *name)
{
    const struct hard64_family *f = hard64_families;
    while (f->name && strcmp(f->name, name) != 0) f++;
    ck_assert_ptr_nonnull(f->name);
    return f;
}

/* Dot product i becomes row i of a and column i of b, as far as there are such. */
static void fill_dots(double *a, double *b, const struct hard64_family *family, size_t m,
                      size_t n, size_t k, uint64_t *state)
{
    double *terms = calloc(2 * k + 1, sizeof *terms);
    ck_assert_ptr_nonnull(terms);
    for (size_t i = 0; i < m || i < n; i++) {
        struct hard64_dot d = { .a = terms, .b = terms + k, .k = k };
        family->dot(&d, state);
        for (size_t p = 0; i < m && p < k; p++) a[i * k + p] = d.a[p];
        for (size_t p = 0; i < n && p < k; p++) b[p * n + i] = d.b[p];
    }
    free(terms);
}

void hard64_fill(double *a, double *b, const struct hard64_family *family, size_t m,
                 size_t n, size_t k, uint64_t *state)
{
    if (family->dot) {
        fill_dots(a, b, family, m, n, k, state);
        return;
    }
    for (size_t i = 0; i < m * k; i++) a[i] = family->element(state);
    for (size_t i = 0; i < k * n; i++) b[i] = family->element(state);
}
