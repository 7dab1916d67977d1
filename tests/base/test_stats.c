/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics compared with counts of smaller and larger numbers. */
#include "lib/base/stats.h"
#include "lib/number/rand.h"
#include "tests/test.h"

#include <math.h>

enum { COUNT_MAX = 65, CASES = 400 };

/* Of few values, so that many are equal, and infinite ones. */
static double draw(struct rng *rng)
{
    const uint64_t n = rand_below(rng_bits(rng), 12);
    return n == 0 ? (double)INFINITY : n == 1 ? -(double)INFINITY : (double)n / 4;
}

START_TEST(medians)
{
    struct rng rng = rng_start(1, 0);
    ck_assert(isnan(doubles_median(NULL, 0)));
    for (size_t i = 0; i < CASES; i++) {
        double x[COUNT_MAX], copy[COUNT_MAX];
        const size_t count = 1 + i % COUNT_MAX;
        size_t below = 0, equal = 0;
        for (size_t j = 0; j < count; j++) x[j] = copy[j] = draw(&rng);
        const double median = doubles_median(x, count);
        for (size_t j = 0; j < count; j++)
            below += copy[j] < median, equal += copy[j] == median;
        ck_assert(below <= count / 2 && count / 2 < below + equal);
        doubles_sort(copy, count);
        for (size_t j = 1; j < count; j++) ck_assert(copy[j - 1] <= copy[j]);
        ck_assert(copy[count / 2] == median);
    }
}
END_TEST

START_TEST(finite_ones)
{
    double x[] = { (double)INFINITY, 2, (double)NAN, 1, -(double)INFINITY, 3 };
    ck_assert_uint_eq(doubles_finite(x, sizeof x / sizeof *x), 3);
    ck_assert(x[0] == 2 && x[1] == 1 && x[2] == 3);
}
END_TEST

TEST_MAIN("stats", medians, finite_ones)
