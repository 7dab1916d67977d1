/* SPDX-License-Identifier: BSD-3-Clause */
/* Epilogues as texts, operands that are missing, amax, and the exact result of a GEMM with
   factors, a bias and steps.  tests/emu/test_gemm.c compares their bits. */
#include "lib/base/table.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { M = 5, N = 7, K = 40, COUNT = 2 };

static uint32_t f32(double x) { return bits_of_float((float)x); }

/* --- texts ------------------------------------------------------------------------- */

START_TEST(rows_round_trip)
{
    for (const struct epilogue *row = epilogues; row->name; row++) {
        unsigned char step[BITCUT_EPILOGUE_MAX];
        char text[EPILOGUE_TEXT_MAX];
        ck_assert_msg(epilogue_read(step, row->name), "%s", row->name);
        epilogue_write(text, step);
        ck_assert_str_eq(text, row->name);
    }
}
END_TEST

START_TEST(lists_round_trip)
{
    uint64_t rng = test_seed();
    for (int i = 0; i < test_cases(2000, 200000); i++) {
        unsigned char step[BITCUT_EPILOGUE_MAX] = { 0 }, back[BITCUT_EPILOGUE_MAX];
        char text[EPILOGUE_TEXT_MAX];
        const int count = test_between(&rng, 1, BITCUT_EPILOGUE_MAX - 1);
        for (int s = 0; s < count; s++)
            step[s] = (unsigned char)test_between(&rng, 1, BITCUT_STEP_AMAX);
        epilogue_write(text, step);
        ck_assert_msg(strlen(text) < EPILOGUE_TEXT_MAX - 1, "%s", text);
        ck_assert_msg(epilogue_read(back, text), "%s", text);
        ck_assert_mem_eq(step, back, sizeof step);
    }
}
END_TEST

START_TEST(bad_texts)
{
    static const char *const bad[] = {
        "", "+", "round+", "+round", "round++bias", "rounds", "roun", "end", "Round",
        "round+round+round+round+round+round+round+round+round+round+round+round+round+"
        "round+round+round",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unsigned char step[BITCUT_EPILOGUE_MAX] = { BITCUT_STEP_RELU };
        ck_assert_msg(!epilogue_read(step, bad[i]), "%s", bad[i]);
        ck_assert_int_eq(step[0], BITCUT_STEP_RELU);
    }
}
END_TEST

/* --- a GEMM ------------------------------------------------------------------------ */

static struct {
    uint32_t a[COUNT * M * K], b[K * N], c[M * N], d[COUNT * M * N], bias[N],
        factor_a[M * 2], factor_b[2 * N], amax[COUNT];
} data;

static void data_draw(uint64_t *rng)
{
    uint32_t *const at = data.a;
    for (size_t i = 0; i < sizeof data / sizeof *at; i++)
        at[i] = f32(ldexp((double)test_between(rng, -4095, 4095), -10));
}

/* Factors of 1 x 32 and of 32 x 1, at promotions. */
static struct bitcut_gemm gemm_make(void)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("fp32");
    g.unit = bitcut_unit_find("fma/f32", NULL);
    g.count = COUNT;
    g.m = M, g.n = N, g.k = K;
    g.a = (struct bitcut_matrix){ .at = data.a, .stride = M * K };
    g.b.at = data.b;
    g.c.at = data.c;
    g.d = (struct bitcut_matrix){ .to = data.d, .stride = M * N };
    return g;
}

static void refused(const struct bitcut_gemm *g, const char *words)
{
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_int_eq(bitcut_gemm(NULL, g, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(why, words) != NULL, "%s", why);
}

/* Operands that the step "round" does not read, each alone. */
START_TEST(idle_operands)
{
    const struct {
        size_t at, size;
        const void *value;
        const char *words;
    } all[] = {
#define IDLE(field, value, words)                                                                  \
    { offsetof(struct bitcut_gemm, field), sizeof(value), &(value), words }
        IDLE(alpha, (const uint32_t){ 0 }, "has alpha"),
        IDLE(beta, (const uint32_t){ 1 }, "has beta"),
        IDLE(scale_d, (const uint32_t){ 0 }, "has a scale of D"),
        IDLE(clamp_low, (const uint32_t){ 0 }, "has limits of a clamp"),
        IDLE(clamp_high, (const uint32_t){ 0 }, "has limits of a clamp"),
        IDLE(bias, (const struct bitcut_matrix){ .at = data.bias }, "has a bias"),
        IDLE(scale_a, (const struct bitcut_scales){ .at.at = data.factor_a }, "has factors of A"),
        IDLE(scale_b, (const struct bitcut_scales){ .at.at = data.factor_b }, "has factors of B"),
        IDLE(amax, (uint32_t *const){ data.amax }, "has a place for amax"),
#undef IDLE
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct bitcut_gemm g = gemm_make();
        ck_assert(epilogue_read(g.epilogue, "round"));
        ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
        memcpy((char *)&g + all[i].at, all[i].value, all[i].size);
        refused(&g, all[i].words);
    }
}
END_TEST

START_TEST(missing_operands)
{
    struct bitcut_gemm g = gemm_make();
    const struct {
        const char *steps, *words;
    } needs[] = {
        { "bias", "a bias" },           { "scales", "factors of A or B" },
        { "scale-a", "factors of A" },  { "scale-b", "factors of B" },
        { "scales-c", "factors of A" }, { "amax", "a place for amax" },
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        ck_assert(epilogue_read(g.epilogue, needs[i].steps));
        refused(&g, needs[i].words);
    }
    g = gemm_make();
    g.start = BITCUT_START_BIAS;
    refused(&g, "a bias");
    g.start = (enum bitcut_start)99;
    refused(&g, "unknown value");
    g = gemm_make();
    g.scaling = BITCUT_SCALING_PROMOTED;
    refused(&g, "factors of A or B");
    g.scale_a = (struct bitcut_scales){ { .at = data.factor_a }, 1, 0 };
    refused(&g, "promote");
    g.scaling = BITCUT_SCALING_UNIT;
    refused(&g, "no block scales");
    g.scaling = BITCUT_SCALING_EPILOGUE;
    g.scale_a.depth = 32;
    refused(&g, "cannot be applied in the epilogue");
    g = gemm_make();
    memset(g.epilogue, BITCUT_STEP_RELU, sizeof g.epilogue);
    refused(&g, "no end");
    g = gemm_make();
    g.epilogue[0] = 99;
    refused(&g, "unknown step");
}
END_TEST

static uint32_t largest(const uint32_t *d)
{
    uint32_t most = 0;
    for (int i = 0; i < M * N; i++)
        if ((d[i] & 0x7fffffff) > most) most = d[i] & 0x7fffffff;
    return most;
}

START_TEST(amax_of_each)
{
    uint64_t rng = test_seed() + 1;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct bitcut_gemm g = gemm_make();
        data_draw(&rng);
        g.amax = data.amax;
        ck_assert(epilogue_read(g.epilogue, "alpha+amax"));
        ck_assert_int_eq(bitcut_gemm(NULL, &g, threads, NULL), BITCUT_OK);
        for (int i = 0; i < COUNT; i++)
            ck_assert_uint_eq(data.amax[i], largest(data.d + i * M * N));
        data.amax[0] = 12345; /* a comparison leaves it */
        struct bitcut_difference found = { .size = sizeof found };
        ck_assert_int_eq(bitcut_gemm_verify(&found, NULL, &g, threads, NULL), BITCUT_OK);
        ck_assert_uint_eq(found.compared, COUNT * M * N);
        ck_assert_uint_eq(found.differ, 0);
        ck_assert_uint_eq(data.amax[0], 12345);
    }
}
END_TEST

/* The exact value of output (i, j) of GEMM p, in long double. */
static long double exact(const struct bitcut_gemm *g, size_t p, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += (long double)value_of_float(data.a[p * M * K + i * K + k]) *
               value_of_float(data.b[k * N + j]) *
               value_of_float(data.factor_a[i * 2 + k / 32]) *
               value_of_float(data.factor_b[k / 32 * N + j]);
    sum = sum * value_of_float(g->alpha) +
          (long double)value_of_float(g->beta) * value_of_float(data.c[i * N + j]) +
          value_of_float(data.bias[j]);
    return sum > 0 ? sum : 0;
}

START_TEST(errors_of_extended)
{
    uint64_t rng = test_seed() + 2;
    size_t relres = 0;
    while (strcmp(bitcut_metric_name(relres), "relres") != 0) relres++;
    for (int i = 0; i < test_cases(20, 500); i++) {
        struct bitcut_gemm g = gemm_make();
        data_draw(&rng);
        g.scaling = BITCUT_SCALING_PROMOTED_TURNS;
        g.scale_a = (struct bitcut_scales){ { .at = data.factor_a }, 1, 32 };
        g.scale_b = (struct bitcut_scales){ { .at = data.factor_b }, 1, 32 };
        g.alpha = f32(0.7), g.beta = f32(-1.3);
        g.bias.at = data.bias;
        ck_assert(epilogue_read(g.epilogue, "alpha+c-apart+bias+relu"));
        ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
        for (size_t p = 0; p < COUNT; p++) {
            double values[32];
            long double error = 0, norm = 0;
            ck_assert_int_eq(bitcut_gemm_judge(values, 32, &g, p, 1, NULL), BITCUT_OK);
            for (size_t at = 0; at < M * N; at++) {
                const long double x = exact(&g, p, at / N, at % N),
                                  e = value_of_float(data.d[p * M * N + at]) - x;
                error += e * e;
                norm += x * x;
            }
            const double want = (double)sqrtl(error / norm);
            ck_assert_msg(fabs(values[relres] - want) <= 1e-9 * want + 1e-15,
                          "%g, not %g", values[relres], want);
        }
    }
}
END_TEST

TEST_MAIN("epilogue", rows_round_trip, lists_round_trip, bad_texts, idle_operands, missing_operands,
          amax_of_each, errors_of_extended)
