/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits for numbers beyond a sample. */
#include "analysis/sampling/sampling.h"
#include "lib/number/rand.h"
#include "tests/test.h"

#include <math.h>

static bool near(double x, double want) { return fabs(x - want) <= 1e-12 * fabs(want); }

/* 1 to 4 in another order: the threshold is 2, the mean excess 1.5. */
START_TEST(by_hand)
{
    double x[] = { 4, 1, 3, 2 };
    struct tail t;
    tail_fit(&t, x, 4);
    ck_assert(t.count == 4 && t.above == 2 && t.threshold == 2 && t.excess == 1.5);
    ck_assert(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 4 && t.x == x);
    /* 3 / (5 p) = 100: its root is 10 */
    ck_assert(near(tail_limit(&t, 0.006), 2 + 2 * 1.5 * 9));
    ck_assert(near(tail_guess(&t, 0.006), 2 + 1.5 * log(100)));
    ck_assert(tail_limit(&t, 0.9) == 2);
    ck_assert(tail_guess(&t, 0.5) == 2 && tail_guess(&t, 0.8) == 1);
    ck_assert(tail_guess(&t, 0.999) == 1);
}
END_TEST

START_TEST(without_a_tail)
{
    double one[] = { 7 }, large[] = { 1, 2, INFINITY }, same[] = { 5, 5, 5, 5 };
    struct tail t;
    tail_fit(&t, one, 0);
    ck_assert(isinf(tail_limit(&t, 0.1)) && isinf(tail_guess(&t, 0.1)));
    tail_fit(&t, one, 1);
    ck_assert(isinf(tail_limit(&t, 0.1)) && isinf(tail_guess(&t, 0.1)));
    tail_fit(&t, large, 3);
    ck_assert(isinf(tail_limit(&t, 0.1)));
    tail_fit(&t, same, 4);
    ck_assert(tail_limit(&t, 1e-9) == 5 && tail_guess(&t, 1e-9) == 5);
}
END_TEST

/* The largest of `of` exponential numbers, or of magnitudes of normal ones. */
static double draw(struct rng *r, int of, bool normal)
{
    double most = 0;
    for (int i = 0; i < of; i++) {
        const double u = rand_open(rng_bits(r)), v = rand_open(rng_bits(r)), e = -log(u),
                     x = normal ? fabs(sqrt(2 * e) * cos(2 * acos(-1.0) * v)) : e;
        most = x > most ? x : most;
    }
    return most;
}

/* How often one more number is above the limit, of so many samples. */
static double exceeded(struct rng *r, double p, int of, bool normal, int samples)
{
    enum { COUNT = 20 };
    double x[COUNT];
    struct tail t;
    int above = 0;
    for (int s = 0; s < samples; s++) {
        for (int i = 0; i < COUNT; i++) x[i] = draw(r, of, normal);
        tail_fit(&t, x, COUNT);
        above += draw(r, of, normal) > tail_limit(&t, p);
    }
    return (double)above / samples;
}

/* Exponential numbers are above as often as p says; the largest of several normal ones
   less often, though not ten times. */
START_TEST(as_often_as_stated)
{
    const int samples = test_cases(50000, 1000000);
    struct rng r = rng_start(test_seed(), 12);
    for (double p = 0.01; p <= 0.1; p *= 3) {
        const double error = 4 * sqrt(p / samples),
                     exact = exceeded(&r, p, 1, false, samples),
                     largest = exceeded(&r, p, 16, true, samples);
        ck_assert_msg(fabs(exact - p) <= error, "%g: %g of exponential numbers", p,
                      exact);
        ck_assert_msg(largest <= p + error && largest >= p / 10,
                      "%g: %g of the largest of normal numbers", p, largest);
    }
}
END_TEST

/* Of Pareto numbers, whose tail falls with 1/x, most samples are seen to be heavy; of
   exponential and normal ones few. */
START_TEST(heavy_tails)
{
    enum { COUNT = 100, SAMPLES = 400 };
    struct rng r = rng_start(test_seed(), 13);
    int light[3] = { 0 };
    for (int s = 0; s < SAMPLES; s++)
        for (int kind = 0; kind < 3; kind++) {
            double x[COUNT];
            struct tail t;
            for (int i = 0; i < COUNT; i++)
                x[i] = kind ? draw(&r, 16, kind == 2) : exp(draw(&r, 1, false));
            tail_fit(&t, x, COUNT);
            light[kind] += tail_is_light(&t);
        }
    ck_assert_msg(light[0] < SAMPLES / 10 && light[1] > SAMPLES * 0.92 &&
                      light[2] > SAMPLES * 0.97,
                  "%d, %d, %d of %d are light", light[0], light[1], light[2], SAMPLES);
}
END_TEST

TEST_MAIN("tail", by_hand, heavy_tails, without_a_tail, as_often_as_stated)
