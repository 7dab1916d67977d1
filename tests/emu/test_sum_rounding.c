/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounding of sums by a rule that is not the unit's (sum_rounding): its results are
   compared with an independent definition in test_gemm.c.  Here: stochastic sums have no
   bias, their bits depend on nothing but what is documented, and which rules are
   refused. */
#include "emu/fast/simd.h"
#include "lib/number/bits.h"
#include "tests/emu/gemm_problem.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { M = 40, N = 36, K = 200 };

static uint32_t a[M * K], b[K * N];

/* D by a rule on a unit. */
static void run(uint32_t *d, const char *unit, const char *rule, int seed, size_t m,
                size_t n, int threads, const struct simd_level *level)
{
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find("plain"), unit_find(unit, NULL));
    struct fault f;
    g.sum_rounding = bitcut_rounding_find(rule);
    g.round_seed = seed;
    gemm_set_dense(&g, d, m, n, K, a, b, NULL);
    g.b.ld = N;
    ck_assert_int_eq(
        gemm_run(&g, &(struct gemm_options){ .threads = threads, .simd = level }, &f),
        BITCUT_OK);
}

/* Positive numbers of bf16 and f16 with few bits, so that products are exact in both and
   every sum loses bits in the same direction if it is truncated. */
static void fill(uint32_t *x, size_t count, uint64_t *rng)
{
    for (size_t i = 0; i < count; i++)
        x[i] = bits_of_float((float)test_between(rng, 1, 15) / 16);
}

static void fill_both(void)
{
    uint64_t rng = test_seed();
    fill(a, M * K, &rng);
    fill(b, K * N, &rng);
}

static double exact(size_t i, size_t j)
{
    double sum = 0;
    for (size_t p = 0; p < K; p++)
        sum += (double)float_of_bits(a[i * K + p]) * (double)float_of_bits(b[p * N + j]);
    return sum;
}

/* --- statistics ------------------------------------------------------------------- */

/* The mean of the errors of all outputs over some seeds, in standard deviations of this
   mean as it is estimated from the errors. */
static double bias_of(const char *unit, const char *rule)
{
    static uint32_t d[M * N];
    const int seeds = test_cases(8, 64);
    double sum = 0, squares = 0;
    for (int seed = 0; seed < seeds; seed++) {
        run(d, unit, rule, seed, M, N, 1, NULL);
        for (size_t at = 0; at < M * N; at++) {
            const double error = (double)float_of_bits(d[at]) - exact(at / N, at % N);
            sum += error;
            squares += error * error;
        }
    }
    const double count = (double)seeds * M * N, mean = sum / count;
    return mean / sqrt((squares / count - mean * mean) / count);
}

static const char *const units_tried[] = { "fma/bf16", "mul-add/bf16",
                                           "cdna1/mfma.16x16x8.f32.bf16",
                                           "neon/bfmmla.m2n2k4.f32.bf16" };

/* Without random bits of its own for every addition, a sum that is not increased once
   would not be increased for the same term again. */
START_TEST(no_bias)
{
    fill_both();
    for (size_t i = 0; i < 2; i++) {
        const double random = bias_of(units_tried[i], "sr"),
                     cut = bias_of(units_tried[i], "rz");
        ck_assert_msg(fabs(random) < 5, "%s: mean error is %g sigma", units_tried[i],
                      random);
        ck_assert_msg(cut < -100, "%s: rz has only %g sigma", units_tried[i], cut);
    }
}
END_TEST

/* A sum of ones in bf16 stops at 256 if it is rounded to nearest.  The mean of many
   stochastic sums of 600 ones is 600. */
START_TEST(ones_do_not_stop)
{
    enum { LONG = 600 };
    static uint32_t ones[LONG * N], row[LONG], d[M * N];
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find("plain"), unit_find("fma/bf16", NULL));
    struct fault f;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < LONG * N; i++) ones[i] = ONE;
    for (size_t i = 0; i < LONG; i++) row[i] = ONE;
    const int seeds = test_cases(200, 2000);
    for (int seed = 0; seed < seeds; seed++) {
        g.sum_rounding = bitcut_rounding_find("sr");
        g.round_seed = seed;
        gemm_set_dense(&g, d, 1, N, LONG, row, ones, NULL);
        ck_assert_int_eq(gemm_run(&g, &(struct gemm_options){ .threads = 1 }, &f),
                         BITCUT_OK);
        for (size_t j = 0; j < N; j++) {
            const double v = (double)float_of_bits(d[j]);
            sum += v, squares += v * v;
        }
    }
    const double count = (double)seeds * N, mean = sum / count,
                 sigma = sqrt((squares / count - mean * mean) / count);
    ck_assert_msg(sigma > 0 && fabs(mean - LONG) < 5 * sigma, "%g +- %g", mean, sigma);
}
END_TEST

/* --- what the bits depend on ------------------------------------------------------ */

START_TEST(same_bits)
{
    static uint32_t one[M * N], other[M * N], small[5 * 3];
    fill_both();
    for (size_t i = 0; i < sizeof units_tried / sizeof *units_tried; i++) {
        run(one, units_tried[i], "sr", 7, M, N, 1, NULL);
        for (int threads = 2; threads <= 3; threads++) {
            run(other, units_tried[i], "sr", 7, M, N, threads, NULL);
            ck_assert_mem_eq(one, other, sizeof one);
        }
        for (const struct simd_level *l = simd_levels; l->name; l++) {
            if (!l->supported()) continue;
            run(other, units_tried[i], "sr", 7, M, N, 1, l);
            ck_assert_mem_eq(one, other, sizeof one);
        }
        run(small, units_tried[i], "sr", 7, 5, 3, 1, NULL);
        for (size_t at = 0; at < 15; at++)
            ck_assert_uint_eq(small[at], one[at / 3 * N + at % 3]);
    }
}
END_TEST

/* Rows and columns with the same elements, and other seeds, have other bits. */
START_TEST(other_bits)
{
    static uint32_t one[M * N], other[M * N];
    size_t differ = 0, of_rows = 0, of_columns = 0;
    fill_both();
    for (size_t i = 1; i < M; i++) memcpy(a + i * K, a, K * sizeof *a);
    for (size_t p = 0; p < K; p++)
        for (size_t j = 1; j < N; j++) b[p * N + j] = b[p * N];
    run(one, "fma/bf16", "sr", 7, M, N, 1, NULL);
    run(other, "fma/bf16", "sr", 8, M, N, 1, NULL);
    for (size_t at = 0; at < M * N; at++) {
        differ += one[at] != other[at];
        of_rows += one[at] != one[at % N];
        of_columns += one[at] != one[at / N * N];
    }
    ck_assert_uint_gt(differ, M * N / 2);
    ck_assert_uint_gt(of_rows, M * N / 2);
    ck_assert_uint_gt(of_columns, M * N / 2);
}
END_TEST

/* The unit's own rule changes nothing. */
START_TEST(own_rule)
{
    static const char *const pairs[][2] = { { "fma/f32", "rn" },
                                            { "mul-add/f16", "rn" },
                                            { "hopper/mma.m16n8k16.f32.f16", "rz" },
                                            { "cdna3/mfma.32x32x8.f32.f16", "rn" } };
    static uint32_t with[M * N], without[M * N];
    fill_both();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct bitcut_gemm g = gemm_of(bitcut_recipe_find(i ? "plain" : "fp32"),
                                       unit_find(pairs[i][0], NULL));
        struct fault f;
        const struct gemm_options o = { .threads = 1 };
        gemm_set_dense(&g, without, M, N, K, a, b, NULL);
        ck_assert_int_eq(gemm_run(&g, &o, &f), BITCUT_OK);
        g.sum_rounding = bitcut_rounding_find(pairs[i][1]);
        g.d.to = with;
        ck_assert_int_eq(gemm_run(&g, &o, &f), BITCUT_OK);
        ck_assert_mem_eq(with, without, sizeof with);
    }
}
END_TEST

/* --- which rules ------------------------------------------------------------------ */

START_TEST(rules)
{
    int taken = 0, refused = 0;
    for (const struct bitcut_rounding *r = roundings; r->name; r++) {
        struct bitcut_gemm g =
            gemm_of(bitcut_recipe_find("plain"), unit_find("fma/bf16", NULL));
        struct gemm_plan plan;
        struct fault f;
        g.sum_rounding = r;
        if (gemm_plan_on_unit(&plan, &g, &f) == BITCUT_OK) taken++;
        else {
            refused++;
            ck_assert_ptr_ne(strstr(f.text, "sums cannot be rounded by rule"), NULL);
            ck_assert_ptr_ne(strstr(f.text, r->name), NULL);
        }
    }
    ck_assert_int_eq(taken, 7);
    ck_assert_int_gt(refused, 4);
}
END_TEST

TEST_MAIN("sum_rounding", no_bias, ones_do_not_stop, same_bits, other_bits, own_rule,
          rules)
