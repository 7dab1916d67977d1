/* SPDX-License-Identifier: BSD-3-Clause */
/* Ill-conditioned dot products: the condition number, measured exactly with MPFR. */
#include "tests/test.h"

#include "lib/input/gendot.h"
#include "lib/number/format.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

static double value(uint32_t x) { return format_to_double(&formats[FORMAT_F32], x); }

static struct gendot drawn(size_t k, double condition, uint64_t seed)
{
    struct gendot g;
    struct fault f;
    if (gendot_init(&g, k, condition, seed, 4, &f)) ck_abort_msg("%s", f.text);
    return g;
}

/* *condition = |x|^T |y| / x^T y, every sum exact before the one rounding of each. */
static double condition_of(const uint32_t *x, const uint32_t *y, size_t k)
{
    mpfr_t product, sum, size;
    mpfr_inits2(700, product, sum, size, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(size, 1);
    for (size_t i = 0; i < k; i++) {
        mpfr_set_d(product, value(x[i]), MPFR_RNDN);
        mpfr_mul_d(product, product, value(y[i]), MPFR_RNDN);
        mpfr_add(sum, sum, product, MPFR_RNDN);
        mpfr_abs(product, product, MPFR_RNDN);
        mpfr_add(size, size, product, MPFR_RNDN);
    }
    mpfr_div(size, size, sum, MPFR_RNDN);
    const double condition = mpfr_get_d(size, MPFR_RNDN);
    mpfr_clears(product, sum, size, (mpfr_ptr)NULL);
    return condition;
}

/* The condition is right to 1 %, and the vectors' elements are below 2^50. */
static void check_vectors(double condition, size_t k)
{
    struct gendot g = drawn(k, condition, test_seed());
    uint32_t *y = calloc(k, sizeof *y);
    for (size_t j = 0; j < 20; j++) {
        gendot_column(y, 1, &g, test_seed(), 1, j);
        const double got = condition_of(g.x, y, k);
        if (!(fabs(got / condition - 1) <= 0.01))
            ck_abort_msg("k = %zu, y %zu: condition %g, want %g", k, j, got, condition);
        for (size_t i = 0; i < k; i++)
            if (!(fabs(value(g.x[i])) < 0x1p50 && fabs(value(y[i])) < 0x1p50))
                ck_abort_msg("k = %zu, condition %g: element %zu of y %zu: %a %a", k,
                             condition, i, j, value(g.x[i]), value(y[i]));
    }
    free(y);
    gendot_clear(&g);
}

/* clang-format off */
/* Condition numbers and the smallest k for each. */
static const struct {
    double condition;
    size_t shortest;
} wanted[] = {
    { 2, 2 },     { 3, 2 },     { 100, 2 },  { 1e5, 2 },  { 1e8, 3 },
    { 1e10, 3 },  { 1e12, 5 },  { 1e15, 5 }, { 1e20, 7 }, { 1e25, 9 },
    { 1e30f, 11 }
};
/* clang-format on */
enum { WANTED = sizeof wanted / sizeof wanted[0] };

START_TEST(conditions_are_right)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    for (int c = 0; c < WANTED; c++) {
        for (size_t k = wanted[c].shortest; k < 20; k++)
            check_vectors(wanted[c].condition, k);
        check_vectors(wanted[c].condition, 257);
        check_vectors(wanted[c].condition, test_cases(2000, 20000));
    }
    hostfp_leave(&saved);
}
END_TEST

START_TEST(short_vectors_are_refused)
{
    for (int c = 0; c < WANTED; c++)
        for (size_t k = 0; k < wanted[c].shortest; k++) {
            struct gendot g = { .k = 99 };
            struct fault f;
            ck_assert_int_eq(gendot_init(&g, k, wanted[c].condition, 1, 4, &f),
                             BITCUT_BAD_ARGUMENT);
            ck_assert_uint_eq(g.k, 99);
        }
}
END_TEST

/* y may be a column of a matrix, and a column does not depend on those before it. */
START_TEST(columns_stand_alone)
{
    enum { K = 30, N = 7 };
    struct gendot g = drawn(K, 1e12, 3);
    uint32_t matrix[K * N], y[K];
    for (size_t j = N; j-- > 0;) gendot_column(matrix + j, N, &g, 3, 1, j);
    for (size_t j = 0; j < N; j++) {
        gendot_column(y, 1, &g, 3, 1, j);
        for (size_t i = 0; i < K; i++)
            if (matrix[i * N + j] != y[i])
                ck_abort_msg("(%zu, %zu): 0x%08" PRIx32 " and 0x%08" PRIx32, i, j,
                             matrix[i * N + j], y[i]);
    }
    gendot_clear(&g);
}
END_TEST

/* The largest of x is that of the first step: it is anywhere with equal probability, so
   that chi-square is within 6 standard deviations of its mean. */
START_TEST(the_order_of_steps_is_random)
{
    enum { K = 20, SEEDS = 2000 };
    double count[K] = { 0 }, chi_square = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct gendot g = drawn(K, 1e15, seed);
        size_t largest = 0;
        for (size_t i = 1; i < K; i++)
            if (fabs(value(g.x[i])) > fabs(value(g.x[largest]))) largest = i;
        count[largest]++;
        gendot_clear(&g);
    }
    for (int i = 0; i < K; i++) {
        const double expected = SEEDS / K, difference = count[i] - expected;
        chi_square += difference * difference / expected;
    }
    ck_assert_msg(chi_square <= K - 1 + 6 * sqrt(2.0 * (K - 1)), "%g", chi_square);
}
END_TEST

TEST_MAIN("gendot", conditions_are_right, short_vectors_are_refused, columns_stand_alone,
          the_order_of_steps_is_random)
