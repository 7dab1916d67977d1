/* SPDX-License-Identifier: BSD-3-Clause */
/* Advice: samples that represent all outputs, the cost of products, and the search. */
#include "analysis/sampling/advise.h"
#include "analysis/sampling/cost.h"
#include "emu/rate.h"
#include "lib/base/table.h"
#include "lib/input/source.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct matrix family(const char *input, enum input_role role, size_t rows,
                            size_t cols, uint64_t seed)
{
    struct matrix x;
    struct input in;
    ck_assert_int_eq(input_parse(&in, input, NULL), BITCUT_OK);
    ck_assert_int_eq(source_generate(&x, &in, role, rows, cols, seed, 1, NULL),
                     BITCUT_OK);
    return x;
}

/* A with rows of norms far apart: some carry nearly all of it. */
static void spread_rows(struct matrix *a)
{
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++) {
            uint32_t *const x = &a->at[i * a->cols + j];
            *x = bits_of_float(float_of_bits(*x) * (float)exp2((double)(i % 17) - 12));
        }
}

static uint32_t *run(const struct bitcut_gemm *g, const struct matrix *a,
                     const struct matrix *b)
{
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm own = *g;
    uint32_t *d = malloc(a->rows * b->cols * sizeof *d);
    ck_assert(d != NULL);
    gemm_set_dense(&own, d, a->rows, b->cols, a->cols, a->at, b->at, NULL);
    ck_assert_int_eq(gemm_run(&own, &options, NULL), BITCUT_OK);
    return d;
}

/* What metric `at` is of all outputs. */
static double of_all(const struct bitcut_gemm *g, const struct matrix *a,
                     const struct matrix *b, int at)
{
    struct judge j;
    double values[METRICS];
    uint32_t *d = run(g, a, b);
    ck_assert_int_eq(judge_init(&j, &references[0], a, b, NULL,
                                &(struct gemm_options){ .threads = 1 }, NULL),
                     BITCUT_OK);
    j.comparison.d = d;
    metrics_run(values, &j.comparison);
    judge_clear(&j);
    free(d);
    return values[at];
}

static struct norm_sample_error of_sample(const struct norm_sample_metric *metric,
                                          const struct bitcut_gemm *g,
                                          const struct matrix *a, const struct matrix *b,
                                          size_t rows, size_t cols, uint64_t seed)
{
    struct norm_sample w;
    struct hostfp mode;
    ck_assert_int_eq(
        norm_sample_draw(&w, &(struct gemm_data){ .a = *a, .b = *b }, NULL, rows, cols, metric->even, seed, 1, NULL, NULL),
        BITCUT_OK);
    uint32_t *d = run(g, &w.data.a, &w.data.b);
    hostfp_enter(&mode);
    const struct norm_sample_error e =
        metric->find(&w, d, (double)a->rows * (double)b->cols);
    hostfp_leave(&mode);
    free(d);
    norm_sample_clear(&w);
    return e;
}

static const int positions[] = { METRIC_RELRES, METRIC_BACKWARD_MAX };

static struct bitcut_gemm halves(void)
{
    return gemm_of(&recipes[RECIPE_LEGEMM], unit_find("a100", &formats[FORMAT_F16]));
}

/* A sample that is all outputs has the metric itself. */
START_TEST(all_outputs)
{
    struct matrix a = family("nrand", INPUT_A, 20, 30, 3);
    struct matrix b = family("urand(0,1)", INPUT_B, 30, 10, 4);
    const struct bitcut_gemm g = halves();
    for (int i = 0; norm_sample_metrics[i].name; i++) {
        ck_assert_str_eq(norm_sample_metrics[i].name, metrics[positions[i]].name);
        const double want = of_all(&g, &a, &b, positions[i]);
        const struct norm_sample_error e =
            of_sample(&norm_sample_metrics[i], &g, &a, &b, 100, 10, 1);
        ck_assert_msg(fabs(e.value - want) <= 1e-12 * want && e.high == e.value,
                      "%s: %.17g, want %.17g", norm_sample_metrics[i].name, e.value,
                      want);
    }
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

/* Samples of rows of all sizes: `high` is above what all outputs have, nearly always, and
   in relres not far above; the mean of samples is near it. */
START_TEST(samples_tell_all)
{
    struct matrix a = family("nrand", INPUT_A, 300, 40, 3);
    struct matrix b = family("nrand", INPUT_B, 40, 200, 4);
    const struct bitcut_gemm g = halves();
    const int seeds = test_cases(40, 400);
    spread_rows(&a);
    for (int i = 0; norm_sample_metrics[i].name; i++) {
        const double want = of_all(&g, &a, &b, positions[i]);
        int below = 0;
        double sum = 0;
        for (int s = 0; s < seeds; s++) {
            const struct norm_sample_error e = of_sample(
                &norm_sample_metrics[i], &g, &a, &b, 40, 30, test_seed() + (uint64_t)s);
            below += want > e.high;
            sum += e.value;
            ck_assert(e.value <= e.high && e.high < 4 * want);
        }
        ck_assert_msg(below <= 1 + seeds / 12, "%s: %d of %d are below %g",
                      norm_sample_metrics[i].name, below, seeds, want);
        if (!norm_sample_metrics[i].even)
            ck_assert_msg(fabs(sum / seeds / want - 1) < 0.1, "mean %g, want %g",
                          sum / seeds, want);
    }
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

/* Lines that carry most are there for certain, each line once; zeros are not drawn. */
START_TEST(lines_drawn)
{
    struct matrix a = family("urand(1,2)", INPUT_A, 64, 8, 3);
    struct matrix b = family("urand(1,2)", INPUT_B, 8, 50, 4);
    struct norm_sample w;
    for (size_t j = 0; j < 8; j++) a.at[5 * 8 + j] = 0x4b000000, a.at[9 * 8 + j] = 0;
    ck_assert_int_eq(
        norm_sample_draw(&w, &(struct gemm_data){ .a = a, .b = b }, NULL, 10, 7, false, test_seed(), 1, NULL, NULL),
        BITCUT_OK);
    ck_assert(w.data.a.rows == 10 && w.data.b.cols == 7 && !w.all);
    size_t certain = 0;
    double rows = 0;
    for (size_t i = 0; i < w.data.a.rows; i++) {
        if (w.of_row[i] == 1) certain++, ck_assert(w.data.a.at[i * 8] == 0x4b000000);
        ck_assert(w.data.a.at[i * 8] != 0);
        rows += w.of_row[i];
        for (size_t j = 0; j < i; j++)
            ck_assert(memcmp(&w.data.a.at[i * 8], &w.data.a.at[j * 8], 8 * sizeof *w.data.a.at) != 0);
    }
    ck_assert(certain == 1 && rows > 40 && rows < 90);
    norm_sample_clear(&w);
    memset(a.at, 0, 64 * 8 * sizeof *a.at);
    ck_assert_int_eq(norm_sample_draw(&w, &(struct gemm_data){ .a = a, .b = b }, NULL, 10, 7, false, 1, 1, NULL, NULL),
                     BITCUT_OK);
    ck_assert(w.data.a.rows == 10);
    norm_sample_clear(&w);
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

static double cost(const char *recipe, const char *target)
{
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find(recipe), NULL);
    struct gemm_plan plan;
    const struct bitcut_format *parts =
        g.recipe->split ? g.recipe->split->part[0].format : &formats[FORMAT_F16];
    g.unit = unit_find(target, parts);
    ck_assert(g.unit != NULL);
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
    return plan_cost(&plan, target);
}

/* Who makes the units of the chip's architecture. */
static const char *vendor_of(const struct chip *c)
{
    const size_t n = strlen(c->architecture);
    const struct bitcut_unit *u = units;
    while (strncmp(u->name, c->architecture, n) != 0 || u->name[n] != '/') u++;
    return unit_vendor(u);
}

START_TEST(costs)
{
    ck_assert(cost("ootomo", "v100") == 3 && cost("ootomo", "mi210") == 3);
    ck_assert(cost("tf32x3", "a100") == 6 && cost("fp32", "a100") == 16);
    ck_assert(cost("fp32", "mi210") == 4 && cost("bf16x9", "mi100") == 18);
    ck_assert(cost("half-fp8", "h100") == 2 && cost("plain", "t4") == 1);
    ck_assert(cost("half-int8", "h100") == 2 && cost("half-int8", "a100") == 2);
    ck_assert(cost("fp32", "a2") == 4 && cost("fp32", "a800") == 16);
    ck_assert(cost("tf32x3", "a2") == 6 && cost("fp32", "rtx5090") == 2);
    ck_assert(cost("fp32", "rtx3060") == 2 && cost("fp32", "a10") == 4);
    ck_assert(cost("fp32", "l40") == 2 && cost("half-fp8", "rtx4090") == 2); /* by bytes */
    ck_assert(rate_tflops_of("rtx4090") > 165 && rate_tflops_of("rtx4080") == 0);
    ck_assert(rate_tflops_of("a40") > 149 && rate_tflops_of("a2") == 0);
    ck_assert(cost("fp32", "b200") == 30 && cost("tf32x3", "mi300") == 6);
    ck_assert(cost("tf32x3", "hopper/mma.m16n8k8.f32.tf32") == 6);
    int gpus = 0;
    for (const struct chip *c = chips; c->name; c++) {
        const char *const vendor = vendor_of(c);
        if (strcmp(vendor, "NVIDIA") != 0 && strcmp(vendor, "AMD") != 0) continue;
        ck_assert(table_find(TABLE(rates), c->architecture) != NULL ||
                  !strcmp(c->architecture, "rdna35")); /* none is known */
        ck_assert(!c->rates || table_find(TABLE(rates), c->rates) != NULL);
        ck_assert(c->rates || !c->ratios);
        gpus++;
    }
    ck_assert_int_gt(gpus, 14); /* rates of processors are not known */
    for (const struct rate_row *r = rates; r->name; r++)
        ck_assert_msg(r->source && *r->source, "%s has no source", r->name);
}
END_TEST

/* Ask for A B at those targets; the choice, or NULL. */
static const struct advise_trial *ask(struct advise *found, struct matrix *a,
                                      struct matrix *b, double want,
                                      const char *const *target, size_t targets)
{
    const struct gemm_data of = { .a = *a, .b = *b };
    const struct advise_problem q = { .of = &of,
                                      .pairs = 1,
                                      .metric = &norm_sample_metrics[0],
                                      .want = want,
                                      .target = target,
                                      .targets = targets,
                                      .seed = 1 };
    ck_assert_int_eq(advise_find(found, &q, 1, NULL, NULL), BITCUT_OK);
    return found->choice;
}

/* The choice reaches what is wanted on all outputs and is the fastest of those whose rates
   are known; at no target a recipe of fewer products does, and
   lines are equilibrated only where nothing of as many products does without. */
static void check_choice(const char *input, size_t m, size_t n, size_t k, double want)
{
    static const char *const target[] = { "a100", "mi210" };
    struct matrix a = family(input, INPUT_A, m, k, 3),
                  b = family(input, INPUT_B, k, n, 4);
    struct advise found;
    const struct advise_trial *t = ask(&found, &a, &b, want, target, 2);
    ck_assert_msg(t && t->advice.reaches, "%s: nothing has %g", input, want);
    ck_assert(of_all(&t->gemm, &a, &b, METRIC_RELRES) <= want);
    ck_assert_uint_eq(found.bests, 2);
    for (size_t p = 0; p < 2; p++) {
        const struct advise_trial *best = found.best[p];
        ck_assert(best->target == target[p] && best->advice.reaches &&
                  best->tflops <= t->tflops);
        ck_assert_msg(of_all(&best->gemm, &a, &b, METRIC_RELRES) <= want, "%s on %s: %s",
                      input, target[p], best->gemm.recipe->name);
        for (size_t i = 0; i < found.trials; i++) {
            const struct advise_trial *other = &found.trial[i];
            if (other->target != target[p]) continue;
            ck_assert(other->advice.cost <= best->advice.cost);
            const bool cheaper = other->advice.cost < best->advice.cost ||
                                 (best->gemm.equilibrate && !other->gemm.equilibrate);
            ck_assert(!cheaper || !other->advice.reaches);
            if (cheaper && i % 3 == 0)
                ck_assert(!(of_all(&other->gemm, &a, &b, METRIC_RELRES) <= 0.9 * want));
        }
    }
    advise_clear(&found);
    matrix_clear(&a);
    matrix_clear(&b);
}

START_TEST(choices)
{
    check_choice("urand(-1,1)", 40, 30, 64, 1e-6);
    check_choice("urand(-1,1)", 200, 100, 100, 1e-6);
    check_choice("urand(-1,1)", 60, 60, 60, 1e-2);
    check_choice("exp_rand(-60,60)", 60, 50, 40, 1e-6);
    check_choice("exp_rand(-30,-20)", 60, 50, 40, 1e-6);
}
END_TEST

START_TEST(nothing_reaches)
{
    static const char *const target[] = { "v100" };
    struct matrix a = family("urand(-1,1)", INPUT_A, 30, 40, 3);
    struct matrix b = family("urand(-1,1)", INPUT_B, 40, 20, 4);
    struct advise found;
    ck_assert(!ask(&found, &a, &b, 1e-12, target, 1));
    const struct advise_trial *best = advise_best(&found);
    ck_assert(best && best == found.best[0]);
    ck_assert(!best->advice.reaches && !isnan(best->advice.checked));
    for (size_t i = 0; i < found.trials; i++)
        ck_assert(found.trial[i].advice.error >= best->advice.error);
    advise_clear(&found);
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

/* The call finds the same, of a transposed A in f16 as well, and says what runs. */
START_TEST(called)
{
    enum { M = 20, N = 30, K = 50 };
    struct matrix a = family("urand(-1,1)", INPUT_A, K, M, 3);
    struct matrix b = family("urand(-1,1)", INPUT_B, K, N, 4);
    uint16_t half[K * M];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_gemm g, found;
    struct bitcut_advice advice = { .size = sizeof advice };
    const struct bitcut_advice_options o = { .size = sizeof o, .want = 1e-6 };
    for (int i = 0; i < K * M; i++)
        half[i] = (uint16_t)bitcut_format_convert(
            &formats[FORMAT_F16], &roundings[ROUND_RN], &formats[FORMAT_F32], a.at[i]);
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&found, sizeof found);
    g.m = M, g.n = N, g.k = K;
    g.a.at = half, g.b.at = b.at, g.d.to = d;
    g.a.format = &formats[FORMAT_F16];
    g.a.layout = BITCUT_COLUMN_MAJOR;
    ck_assert_msg(bitcut_advise(&advice, &found, &g, &o, 2, why) == BITCUT_OK, "%s", why);
    ck_assert(advice.reaches && advice.outputs == M * N && advice.error <= 1e-6);
    ck_assert_msg(bitcut_gemm(NULL, &found, 1, why) == BITCUT_OK, "%s", why);
    double relres;
    ck_assert_int_eq(bitcut_gemm_judge(&relres, 1, &found, 0, 1, why), BITCUT_OK);
    ck_assert_msg(fabs(relres - advice.error) <= 1e-12, "%g, said %g", relres,
                  advice.error);
    g.recipe = &recipes[RECIPE_BF16X9];
    g.unit = unit_find("h100", &formats[FORMAT_BF16]);
    ck_assert_int_eq(bitcut_advise(&advice, &found, &g, &o, 1, why), BITCUT_OK);
    ck_assert(found.recipe == g.recipe && found.unit == g.unit && advice.tried == 1);
    g.unit = unit_find("v100", &formats[FORMAT_F16]);
    ck_assert_int_eq(bitcut_advise(&advice, &found, &g, &o, 1, why), BITCUT_BAD_ARGUMENT);
    g.k = 0;
    ck_assert_int_eq(bitcut_advise(&advice, &found, &g, &o, 1, why), BITCUT_BAD_ARGUMENT);
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

enum { PRODUCTS_MAX = 4 };

/* Of several products, in any order, the choice is the same and reaches what is wanted in
   each; so it does of values elsewhere that its parts must hold. */
static void check_several(const int *exponent, size_t count, int elsewhere, uint64_t seed)
{
    static const char *const target[] = { "h100" };
    struct gemm_data of[PRODUCTS_MAX] = { { .bias_rows = false } }, turned[PRODUCTS_MAX];
    struct advise_problem q = { .of = of,
                                .pairs = count,
                                .metric = &norm_sample_metrics[0],
                                .want = 1e-6,
                                .target = target,
                                .targets = 1,
                                .seed = 1 };
    struct advise found, other;
    char input[40];
    for (size_t i = 0; i < count; i++) {
        snprintf(input, sizeof input, "exp_rand(%d,%d)", exponent[i], exponent[i] + 3);
        of[i].a = family(input, INPUT_A, 12, 30, seed + i);
        of[i].b = family("urand(-1,1)", INPUT_B, 30, 10, seed + 9 + i);
        turned[count - 1 - i] = of[i];
    }
    if (elsewhere) q.largest[0] = (uint32_t)(elsewhere + 127) << 23;
    ck_assert_int_eq(advise_find(&found, &q, 1, NULL, NULL), BITCUT_OK);
    q.of = turned;
    ck_assert_int_eq(advise_find(&other, &q, 1, NULL, NULL), BITCUT_OK);
    const struct advise_trial *const t = found.choice;
    ck_assert(t && other.choice && t - found.trial == other.choice - other.trial);
    ck_assert(!memcmp(&t->gemm, &other.choice->gemm, sizeof t->gemm));
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(of_all(&t->gemm, &of[i].a, &of[i].b, METRIC_RELRES) <= q.want,
                      "%s at 2^%d does not do for 2^%d", t->gemm.recipe->name,
                      t->plan.split_a.scale, exponent[i]);
    if (elsewhere > 15)
        ck_assert(gemm_equilibrates(&t->gemm) ||
                  t->gemm.unit->a->exponent_bits == 8);
    for (size_t i = 0; i < count; i++) gemm_data_clear(&of[i]);
    advise_clear(&found);
    advise_clear(&other);
}

START_TEST(several_products)
{
    static const int exponent[][PRODUCTS_MAX] = {
        { 20, 20, 20, 0 }, { 0, 0, 0, 0 }, { 0, -20, 0, 12 }, { 14, 17, -3, 2 }
    };
    for (size_t i = 0; i < sizeof exponent / sizeof exponent[0]; i++)
        for (size_t count = 1; count <= PRODUCTS_MAX; count++)
            check_several(exponent[i], count, i == 1 && count % 2 ? 21 : 0,
                          test_seed() + i);
}
END_TEST

/* The GEMM that is found has the groups and the positions of the caller's. */
START_TEST(groups_and_sparsity)
{
    struct matrix a = family("urand(-1,1)", INPUT_A, 12, 64, 3),
                  b = family("urand(-1,1)", INPUT_B, 64, 9, 4);
    const int32_t ends[] = { 5, 12 };
    uint8_t positions[12 * 32];
    struct bitcut_gemm g, found;
    for (size_t i = 0; i < sizeof positions; i++) positions[i] = i % 2 ? 3 : 1;
    for (size_t i = 0; i < 12 * 64; i += 2) a.at[i] = 0;
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&found, sizeof found);
    g.m = 12, g.n = 9, g.k = 64, g.count = 2, g.a.at = a.at, g.b.at = b.at;
    g.offsets = ends;
    g.sparsity = BITCUT_SPARSE_A;
    g.positions = (struct bitcut_matrix){ .at = positions, .format = &formats[FORMAT_U8] };
    ck_assert_int_eq(bitcut_advise(NULL, &found, &g, NULL, 1, NULL), BITCUT_OK);
    ck_assert(found.offsets == ends && !found.offsets_of_k && found.count == 2);
    ck_assert(found.sparsity == BITCUT_SPARSE_A && found.positions.at == positions);
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

/* Products of files of different formats run on no unit of integers. */
START_TEST(formats_of_several)
{
    static const char *const target[] = { "a100" };
    struct gemm_data of[2] = { { .bias_rows = false } };
    struct advise_problem q = { .of = of,
                                .pairs = 2,
                                .metric = &norm_sample_metrics[0],
                                .want = 1e-6,
                                .target = target,
                                .targets = 1,
                                .seed = 1 };
    for (int i = 0; i < 2; i++) {
        of[i].a = family("urand(0,1)", INPUT_A, 12, 32, 3);
        of[i].b = family("urand(0,1)", INPUT_B, 32, 9, 4);
        for (size_t at = 0; at < 12 * 32; at++) of[i].a.at[at] = bits_of_float((float)(at % 7));
        for (size_t at = 0; at < 32 * 9; at++) of[i].b.at[at] = bits_of_float((float)(at % 5));
        of[i].a.format = of[i].b.format = &formats[FORMAT_S8];
    }
    for (int same = 1; same >= 0; same--) {
        struct advise found;
        if (!same) of[1].b.format = NULL;
        ck_assert_int_eq(advise_find(&found, &q, 1, NULL, NULL), BITCUT_OK);
        ck_assert(found.choice && found.choice->plan.integer == same);
        advise_clear(&found);
    }
    gemm_data_clear(&of[0]);
    gemm_data_clear(&of[1]);
}
END_TEST

/* Structs of the version before quantizers; and what fits not together. */
START_TEST(older_sizes)
{
    struct matrix a = family("urand(-1,1)", INPUT_A, 12, 64, 3),
                  b = family("urand(-1,1)", INPUT_B, 64, 9, 4);
    struct bitcut_gemm g;
    struct bitcut_advice advice = { .size = sizeof advice }, old;
    struct bitcut_advice_options o = { .size = sizeof o, .want = 0.2 };
    char why[BITCUT_TEXT_MAX] = "";
    bitcut_gemm_init(&g, sizeof g);
    g.unit = unit_find("hopper/mma.m16n8k32.f32.e4m3", NULL);
    g.m = 12, g.n = 9, g.k = 64, g.a.at = a.at, g.b.at = b.at;
    o.quantize_a = o.quantize_b = bitcut_quantizer_find("fp8-rows");
    struct bitcut_gemm found;
    bitcut_gemm_init(&found, sizeof found);
    ck_assert_msg(bitcut_advise(&advice, &found, &g, &o, 1, why) == BITCUT_OK, "%s", why);
    ck_assert(advice.quantize_a == o.quantize_a && advice.quantize_b == o.quantize_b);
    ck_assert(advice.quantization > 0.01 && advice.quantization < 0.1);
    ck_assert(isnan(advice.rounding) && isnan(advice.bound));
    ck_assert(!found.scale_a.at.at && found.a.at == a.at && found.alpha == g.alpha);
    memset(&old, 0x5a, sizeof old);
    old.size = offsetof(struct bitcut_advice, quantize_a);
    o.size = offsetof(struct bitcut_advice_options, quantize_a);
    ck_assert_int_eq(bitcut_advise(&old, NULL, &g, &o, 1, why), BITCUT_OK);
    ck_assert_uint_eq(old.size, offsetof(struct bitcut_advice, quantize_a));
    ck_assert_uint_eq((uintptr_t)old.quantize_a & 0xff, 0x5a);
    o.size--;
    ck_assert_int_eq(bitcut_advise(&old, NULL, &g, &o, 1, why), BITCUT_BAD_ARGUMENT);
    o.size = sizeof o;
    o.chip = "h100";
    ck_assert_int_eq(bitcut_advise(&advice, NULL, &g, &o, 1, why), BITCUT_BAD_ARGUMENT);
    g.unit = NULL;
    ck_assert_int_eq(bitcut_advise(&advice, &found, &g, &o, 1, why), BITCUT_OK);
    ck_assert(!strncmp(found.unit->name, "hopper/", 7));
    o.chip = "hopper";
    ck_assert_int_eq(bitcut_advise(&advice, NULL, &g, &o, 1, why), BITCUT_BAD_ARGUMENT);
    g.unit = unit_find("hopper/mma.m16n8k32.f32.e4m3", NULL);
    o.quantizers = true;
    ck_assert_int_eq(bitcut_advise(&advice, NULL, &g, &o, 1, why), BITCUT_BAD_ARGUMENT);
    o = (struct bitcut_advice_options){ .size = sizeof o, .want = 0.2 };
    g.d.format = &formats[FORMAT_S8];
    ck_assert_int_eq(bitcut_advise(&advice, NULL, &g, &o, 1, why), BITCUT_BAD_ARGUMENT);
    g.d.format = &formats[FORMAT_F16];
    ck_assert_int_eq(bitcut_advise(&advice, NULL, &g, &o, 1, why), BITCUT_OK);
    ck_assert(advice.rounding > 0x1p-14 && advice.rounding < 0x1p-11);
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

TEST_MAIN("advise", all_outputs, samples_tell_all, lines_drawn, costs, choices,
          nothing_reaches, called, several_products, groups_and_sparsity,
          formats_of_several, older_sizes)
