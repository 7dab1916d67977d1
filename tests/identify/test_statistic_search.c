/* SPDX-License-Identifier: BSD-3-Clause */
/* The search by statistics finds GEMMs whose statistics were computed here. */
#include "analysis/identify/statistic_search.h"
#include "emu/gemm.h"
#include "lib/input/torch_draws.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GEMMs with no change, with other operands, with another order, and with both; words of
   the answer; and the hypotheses after which it is there at the latest. */
/* clang-format off */
static const struct {
    const char *gemm, *words;
    size_t tried;
} gemms[] = {
    { "ootomo@hopper/mma.m16n8k8.f32.f16", "ootomo on", 600 },
    { "plain@hopper/mma.m16n8k8.f32.tf32,high=rz", "plain on hopper/mma.m16n8k8.f32.tf32, but its high parts are rounded by rz", 14000 },
    { "fp32@fma/f32,slices=2,tile=16", "fp32 on fma/f32, but k is cut into slices of 16", 16000 },
    { "plain@cdna3/mfma.16x16x8.f32.xf32,high=rz,slices=2,tile=16", "plain on", 100000 },
};
/* clang-format on */

static void exact_of(uint32_t *exact, const struct matrix *a, const struct matrix *b)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < b->cols; j++) {
            double sum = 0;
            for (size_t k = 0; k < a->cols; k++)
                sum += (double)float_of_bits(a->at[i * a->cols + k]) *
                       (double)float_of_bits(b->at[k * b->cols + j]);
            exact[i * b->cols + j] = bits_of_float((float)sum);
        }
}

/* Publish the rms of a GEMM of these operands. */
static void publish(struct statistic_problem *p, const char *line)
{
    struct bitcut_gemm g;
    struct gemm_plan plan;
    struct fault f;
    char why[BITCUT_TEXT_MAX], text[40];
    double value[STATISTICS];
    const size_t count = p->a.rows * p->b.cols;
    const struct gemm_options options = { .threads = 1 };
    uint32_t *const d = malloc(2 * count * sizeof *d);
    bitcut_gemm_init(&g, sizeof g);
    ck_assert_msg(bitcut_gemm_read(&g, line, why) == BITCUT_OK, "%s", why);
    ck_assert(gemm_plan_on_unit(&plan, &g, &f) == BITCUT_OK);
    gemm_set_dense(&g, d, p->a.rows, p->b.cols, p->a.cols, p->a.at, p->b.at, NULL);
    ck_assert(gemm_run_plan(&g, &plan, &options, &f) == BITCUT_OK);
    exact_of(d + count, &p->a, &p->b);
    statistics_of(value, &(struct statistic_data){ d, d + count, count });
    snprintf(text, sizeof text, "%.17g", value[STATISTIC_RMS]);
    ck_assert(published_read(&p->published[STATISTIC_RMS], text));
    free(d);
}

START_TEST(gemms_are_found)
{
    uint64_t state = test_seed();
    enum { GEMMS = sizeof gemms / sizeof *gemms, MORE = 3 };
    for (size_t t = 0; t < GEMMS + (test_whole() ? MORE : 0); t += (size_t)test_step(3)) {
        const size_t i = t < GEMMS ? t : GEMMS - 1; /* the last finds most mistakes */
        struct statistic_problem p = { .effort = 1 };
        static struct statistic_answer r;
        struct fault f;
        const uint64_t seed = test_bits(&state) >> 32;
        ck_assert(torch_draws(&p.a, &p.b, "A 16x32, B 32x16", seed, &f) == BITCUT_OK);
        publish(&p, gemms[i].gemm);
        ck_assert(statistic_search(&r, &p, &f) == BITCUT_OK);
        ck_assert_msg(r.found && r.results == 1 && strstr(r.name, gemms[i].words),
                      "seed %d, %s: found %d, %s", (int)seed, gemms[i].gemm, r.found,
                      r.name);
        ck_assert_msg(r.tried <= gemms[i].tried, "%s: %zu tried", gemms[i].gemm, r.tried);
        matrix_clear(&p.a);
        matrix_clear(&p.b);
    }
}
END_TEST

/* Different D are told apart, although the first output of all is 0. */
START_TEST(results_are_counted)
{
    struct statistic_problem p = { .effort = 1, .recipe = bitcut_recipe_find("plain") };
    static struct statistic_answer r;
    struct fault f;
    ck_assert(torch_draws(&p.a, &p.b, "A 6x16, B 16x6", 1, &f) == BITCUT_OK);
    memset(p.a.at, 0, p.a.cols * sizeof *p.a.at);
    ck_assert(published_read(&p.published[STATISTIC_LARGEST], "9"));
    ck_assert(statistic_search(&r, &p, &f) == BITCUT_OK);
    ck_assert(r.found && r.gives > r.results && r.results > 1);
    matrix_clear(&p.a);
    matrix_clear(&p.b);
}
END_TEST

START_TEST(work_is_limited)
{
    struct statistic_problem p = { .effort = 1e-4 };
    static struct statistic_answer r;
    struct fault f;
    ck_assert(torch_draws(&p.a, &p.b, "A 6x16, B 16x6", 1, &f) == BITCUT_OK);
    ck_assert(published_read(&p.published[STATISTIC_RMS], "12345"));
    ck_assert(statistic_search(&r, &p, &f) == BITCUT_OK);
    ck_assert(!r.found && !r.complete && r.tried > 0 && r.tried < 20 && r.named);
    matrix_clear(&p.a);
    matrix_clear(&p.b);
}
END_TEST

START_TEST(problems_are_refused)
{
    static struct statistic_answer r;
    struct statistic_problem p = { .effort = 1 };
    struct fault f;
    ck_assert(statistic_search(&r, &p, &f) == BITCUT_BAD_ARGUMENT);
    ck_assert(published_read(&p.published[STATISTIC_MAX], "1"));
    ck_assert(statistic_search(&r, &p, &f) == BITCUT_BAD_ARGUMENT);
}
END_TEST

TEST_MAIN("statistic_search", gemms_are_found, results_are_counted,
          work_is_limited, problems_are_refused)
