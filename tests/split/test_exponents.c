/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of a matrix by their exponent, and the bits of them that splits retain. */
#include "analysis/split/exponents.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { ROWS = 37, COLS = 61, VALUES = ROWS * COLS };

/* Anything: zeros of both signs, subnormal numbers, infinities and NaN among it. */
static struct matrix drawn(uint64_t *rng)
{
    static const uint32_t special[] = { 0,          0x80000000, 1,          0x807fffff,
                                        0x7f800000, 0xff800000, 0x7f800001, 0x00800000 };
    struct matrix x;
    ck_assert_int_eq(matrix_init(&x, ROWS, COLS, NULL), BITCUT_OK);
    for (int i = 0; i < VALUES; i++) {
        const uint64_t bits = test_bits(rng);
        const uint32_t near = (uint32_t)(107 + bits % 40) << 23 | (bits >> 41);
        x.at[i] = i % 9 == 0   ? special[bits % 8]
                  : i % 3 == 0 ? (uint32_t)bits
                               : (near ^ (uint32_t)(bits & 0x80000000));
    }
    return x;
}

static int exponent(uint32_t x) { return (int)(x >> 23 & 0xff) - 127; }

START_TEST(sorted)
{
    uint64_t rng = test_seed();
    struct matrix x = drawn(&rng);
    struct exponents e;
    int least = 1000, most = -1000, low, high;
    size_t zeros = 0, infinite = 0, nan = 0;
    ck_assert_int_eq(exponents_sort(&e, &x, NULL), BITCUT_OK);
    for (int i = 0; i < VALUES; i++) {
        const uint32_t m = x.at[i] & 0x7fffffff;
        zeros += m == 0;
        infinite += m == 0x7f800000;
        nan += m > 0x7f800000;
        if (m == 0 || m >= 0x7f800000) continue;
        size_t found = 0, there = 0;
        const int at = exponent(m);
        for (size_t j = 0; j < exponents_count(&e, at); j++)
            found += e.at[e.from[at - EXPONENT_MIN] + j] == x.at[i];
        for (int j = 0; j < VALUES; j++) there += x.at[j] == x.at[i];
        ck_assert_uint_eq(found, there);
        if (at < least) least = at;
        if (at > most) most = at;
    }
    ck_assert(e.values == VALUES && e.zeros == zeros && e.infinite == infinite);
    ck_assert(e.nan == nan && e.from[EXPONENTS] == VALUES - zeros - infinite - nan);
    ck_assert(exponents_range(&low, &high, &e) && low == least && high == most);
    exponents_clear(&e);
    memset(x.at, 0, VALUES * sizeof *x.at);
    ck_assert_int_eq(exponents_sort(&e, &x, NULL), BITCUT_OK);
    ck_assert(!exponents_range(&low, &high, &e) && e.zeros == VALUES);
    exponents_clear(&e);
    matrix_clear(&x);
}
END_TEST

/* What is counted of an exponent is what single values describe; and of all together. */
START_TEST(measured)
{
    uint64_t rng = test_seed();
    struct matrix x = drawn(&rng);
    struct exponents of;
    struct hostfp mode;
    ck_assert_int_eq(exponents_sort(&of, &x, NULL), BITCUT_OK);
    for (const struct bitcut_split *s = splits; s->name; s++) {
        struct retention all = { .count = 0 };
        double all_bits = 0, all_ulps = 0, finite = 0;
        for (int e = EXPONENT_MIN; e <= EXPONENT_MAX; e++) {
            struct retention r;
            double sum = 0, most = 0;
            bool finite_here = false;
            const size_t count = exponents_count(&of, e);
            ck_assert_int_eq(exponents_measure(&r, &of, e, 0, s, false, 1, NULL, NULL),
                             BITCUT_OK);
            ck_assert_uint_eq(r.count, count);
            for (size_t i = 0; i < count; i++) {
                const uint32_t value = of.at[of.from[e - EXPONENT_MIN] + i];
                int bits;
                double ulps;
                if (!retention_of(&bits, &ulps, s, value)) continue;
                sum += bits;
                all_ulps += ulps;
                finite++;
                finite_here = true;
                most = fmax(most, ulps);
            }
            const bool same = finite_here ? r.max_ulp == most : isnan(r.max_ulp);
            ck_assert_msg(!count || (r.bits == sum / (double)count && same),
                          "%s, exponent %d: %g bits of %g, max %a of %a", s->name, e,
                          r.bits, sum / (double)count, r.max_ulp, most);
            all_bits += sum;
            hostfp_enter(&mode);
            retention_add(&all, &r);
            hostfp_leave(&mode);
        }
        ck_assert_uint_eq(all.count, of.from[EXPONENTS]);
        ck_assert(fabs(all.bits - all_bits / (double)all.count) < 1e-12);
        ck_assert_msg(fabs(all.mean_ulp * finite - all_ulps) <= 1e-9 * all_ulps,
                      "%s: mean of %g ulps, not %g", s->name, all.mean_ulp,
                      all_ulps / finite);
    }
    exponents_clear(&of);
    matrix_clear(&x);
}
END_TEST

/* A sample is spread over all, and says of how many it is one. */
START_TEST(sampled)
{
    struct matrix x;
    struct exponents of;
    struct retention r;
    ck_assert_int_eq(matrix_init(&x, 1, 1000, NULL), BITCUT_OK);
    for (uint32_t i = 0; i < 1000; i++) x.at[i] = 0x3f800000 | (i < 500) << 9;
    ck_assert_int_eq(exponents_sort(&of, &x, NULL), BITCUT_OK);
    ck_assert_int_eq(
        exponents_measure(&r, &of, 0, 10, &splits[SPLIT_HALF], false, 1, NULL, NULL),
        BITCUT_OK);
    ck_assert(r.count == 1000 && r.exact == 0.5);
    exponents_clear(&of);
    matrix_clear(&x);
}
END_TEST

TEST_MAIN("exponents", sorted, measured, sampled)
