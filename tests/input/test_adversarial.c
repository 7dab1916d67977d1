/* SPDX-License-Identifier: BSD-3-Clause */
/* Families for FP64: exponents, signs and significands are what their lines say. */
#include "lib/number/bits.h"
#include "tests/input/input_matrix.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 7, N = 6, K = 200 };

struct pair {
    double a[M * K], b[K * N];
};

static void fill(struct pair *to, const char *a, const char *b, uint64_t seed)
{
    const struct input of_a = input_parsed(a), of_b = input_parsed(b);
    struct fault f;
    ck_assert_int_eq(input_fill_f64(to->a, M, K, &of_a, INPUT_A, seed, 1, &f), BITCUT_OK);
    ck_assert_int_eq(input_fill_f64(to->b, K, N, &of_b, INPUT_B, seed, 1, &f), BITCUT_OK);
}

/* Exponents of row i of A. */
static void exponents_of_row(int *least, int *most, const struct pair *x, size_t i)
{
    *least = INT32_MAX, *most = INT32_MIN;
    for (size_t k = 0; k < K; k++) {
        const int e = ilogb(x->a[i * K + k]);
        if (e < *least) *least = e;
        if (e > *most) *most = e;
    }
}

START_TEST(opposite_products_have_one_size)
{
    static struct pair x;
    fill(&x, "opposite(60)", "opposite(60)", test_seed());
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < K; k++) {
                const double product = fabs(x.a[i * K + k] * x.b[k * N + j]);
                ck_assert_msg(product >= 1 && product < 4, "product %a", product);
            }
    for (size_t i = 0; i < M; i++) {
        int least, most;
        exponents_of_row(&least, &most, &x, i);
        ck_assert_msg(least >= -30 && most <= 30 && most - least > 50,
                      "row %zu: exponents %d to %d", i, least, most);
    }
}
END_TEST

/* The exponent belongs to k: all rows have the same, and B has it too. */
START_TEST(graded_exponents_belong_to_k)
{
    static struct pair x;
    int least, most;
    fill(&x, "graded(40)", "graded(40)", test_seed());
    for (size_t k = 0; k < K; k++) {
        const int e = ilogb(x.a[k]);
        ck_assert_int_ge(e, -40);
        ck_assert_int_le(e, 0);
        for (size_t i = 1; i < M; i++) ck_assert_int_eq(ilogb(x.a[i * K + k]), e);
        for (size_t j = 0; j < N; j++) ck_assert_int_eq(ilogb(x.b[k * N + j]), e);
    }
    exponents_of_row(&least, &most, &x, 0);
    ck_assert_int_gt(most - least, 30);
}
END_TEST

START_TEST(lines_have_their_own_scale)
{
    static struct pair x;
    bool differ = false;
    fill(&x, "line_scaled(-30,30)", "line_scaled(11,11)", test_seed());
    int least, most, first = 0;
    for (size_t i = 0; i < M; i++) {
        exponents_of_row(&least, &most, &x, i);
        ck_assert_int_le(most, 29);
        ck_assert_int_ge(most, -32); /* one of 200 elements is above 1/4 */
        if (!i) first = most;
        else differ |= abs(most - first) > 2;
    }
    ck_assert(differ);
    for (size_t p = 0; p < K * N; p++) ck_assert(fabs(x.b[p]) < 2048);
}
END_TEST

START_TEST(all_bits_of_fractions_are_set)
{
    static struct pair x;
    fill(&x, "all_ones(-2,2)", "all_ones(0,0)", test_seed());
    for (size_t p = 0; p < M * K; p++) {
        ck_assert_uint_eq(bits_of_double(x.a[p]) << 12, UINT64_MAX << 12);
        ck_assert(x.a[p] >= 0.25 && x.a[p] < 8);
    }
    for (size_t p = 0; p < K * N; p++) ck_assert(x.b[p] == 0x1.fffffffffffffp0);
}
END_TEST

/* 0x7e, then 0x7f, up to 53 bits. */
START_TEST(digits_are_the_largest)
{
    static struct pair x;
    fill(&x, "max_digits(8)", "max_digits(16)", test_seed());
    ck_assert_msg(x.a[3] == ldexp(0x7e7f7f7f7f7f7cp0, -54), "%a", x.a[3]);
    ck_assert_msg(x.b[3] == ldexp(0x7ffe7fff7fff7c00p0, -62), "%a", x.b[3]);
}
END_TEST

START_TEST(pairs_cancel)
{
    static struct pair x;
    fill(&x, "cancelling(30)", "cancelling(30)", test_seed());
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < K; k += 2) {
                const double first = x.a[i * K + k] * x.b[k * N + j],
                             sum = fma(x.a[i * K + k + 1], x.b[(k + 1) * N + j], first);
                ck_assert_msg(sum != 0 && fabs(sum) <= fabs(first) * 0x1.01p-30,
                              "%a of %a is left", sum, first);
            }
}
END_TEST

START_TEST(ends_of_the_range_are_there)
{
    static struct pair x;
    size_t subnormal = 0, normal = 0, nan = 0, infinite = 0, zero = 0;
    fill(&x, "near_subnormal(104)", "specials(4)", test_seed());
    for (size_t p = 0; p < M * K; p++) {
        ck_assert(x.a[p] != 0 && fabs(x.a[p]) < 0x1p-969);
        subnormal += fabs(x.a[p]) < 0x1p-1022;
        normal += fabs(x.a[p]) >= 0x1p-1022;
    }
    for (size_t p = 0; p < K * N; p++) {
        nan += isnan(x.b[p]) != 0;
        infinite += isinf(x.b[p]) != 0;
        zero += x.b[p] == 0;
    }
    ck_assert(subnormal > M * K / 3 && normal > M * K / 3);
    ck_assert(nan > 20 && infinite > 40 && zero > 40 && nan + infinite + zero < 500);
}
END_TEST

TEST_MAIN("adversarial", opposite_products_have_one_size, graded_exponents_belong_to_k,
          lines_have_their_own_scale, all_bits_of_fractions_are_set, digits_are_the_largest,
          pairs_cancel,
          ends_of_the_range_are_there)
