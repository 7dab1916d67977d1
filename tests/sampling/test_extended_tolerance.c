/* SPDX-License-Identifier: BSD-3-Clause */
/* Tolerances of GEMMs with biases, factors and steps: samples have the same outputs, right
   results are accepted, and faults of these parts are rejected. */
#include "analysis/sampling/checked_result.h"
#include "analysis/sampling/power.h"
#include "analysis/sampling/quantization_error.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/sampling/drawn_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 24, DEPTH = 296, BLOCK = 64, BLOCKS = 5 };

/* Values of all lines; a run takes some of them. */
struct values {
    uint32_t bias[SIZE], line_a[SIZE], line_b[SIZE], block_a[SIZE * BLOCKS],
        block_b[BLOCKS * SIZE];
};

static void fill(uint32_t *x, size_t count, double low, double high, uint64_t *rng)
{
    for (size_t i = 0; i < count; i++)
        x[i] = bits_of_float((float)(low + (high - low) *
                                               ldexp((double)(test_bits(rng) >> 11), -53)));
}

static void values_fill(struct values *v, uint64_t *rng)
{
    fill(v->bias, SIZE, -4, 4, rng);
    fill(v->line_a, SIZE, 0.5, 2, rng);
    fill(v->line_b, SIZE, 0.5, 2, rng);
    fill(v->block_a, SIZE * BLOCKS, 0.5, 2, rng);
    fill(v->block_b, BLOCKS * SIZE, 0.5, 2, rng);
}

/* The kinds of GEMMs of this test. */
enum kind { SHORT_BIAS, ROW_SCALES, BLOCK_SCALES, SATURATED, KINDS };

static struct bitcut_gemm gemm_of_kind(enum kind kind, const struct values *v)
{
    struct bitcut_gemm g = gemm_named("plain", "h100");
    g.m = g.n = SIZE, g.k = DEPTH;
    if (kind == SHORT_BIAS) {
        g.bias.at = v->bias;
        g.alpha = bits_of_float(1.25f);
        g.d.format = &formats[FORMAT_BF16];
    }
    if (kind == ROW_SCALES) {
        g.scale_a = (struct bitcut_scales){ { .at = v->line_a }, 1, 0 };
        g.scale_b = (struct bitcut_scales){ { .at = v->line_b }, 1, 0 };
    }
    if (kind == BLOCK_SCALES) {
        g.scale_a = (struct bitcut_scales){ { .at = v->block_a }, 1, BLOCK };
        g.scale_b = (struct bitcut_scales){ { .at = v->block_b }, 0, BLOCK };
        g.scaling = BITCUT_SCALING_PROMOTED;
        g.promote = 4;
    }
    if (kind == SATURATED) {
        g.scale_a = (struct bitcut_scales){ { .at = v->line_a }, 0, 0 };
        g.scale_d = bits_of_float(28);
        g.epilogue[0] = BITCUT_STEP_SCALES_C;
        g.epilogue[1] = BITCUT_STEP_SCALE_D;
        g.epilogue[2] = BITCUT_STEP_SATURATE;
        g.d.format = &formats[FORMAT_E4M3];
    }
    return g;
}

/* A family with the bias and factors of lines that are drawn for each run. */
struct extended_family {
    struct family family;
    struct gemm_data extra;
};

static enum bitcut_status extended_make(struct gemm_data *to, const void *context,
                                        size_t rows, size_t cols, uint64_t run,
                                        struct fault *f)
{
    const struct extended_family *const x = context;
    const enum bitcut_status status =
        family_make(to, &x->family, rows, cols, run, f);
    return status == BITCUT_OK ? gemm_data_draw_extra(to, &x->extra, rows, cols,
                                                      x->family.seed, run, f)
                               : status;
}

static struct tolerance_problem pose(struct extended_family *x,
                                     const struct bitcut_gemm *g, uint64_t seed)
{
    *x = (struct extended_family){ .family = { "urand(-1,1)", DEPTH, seed } };
    x->extra.a.rows = x->extra.b.cols = SIZE, x->extra.a.cols = DEPTH;
    ck_assert_int_eq(gemm_data_take_extra(&x->extra, g, 0, 1, NULL), BITCUT_OK);
    struct tolerance_problem q = question_of(g, &x->family, SIZE);
    q.source = (struct run_source){ .make = extended_make, .context = x };
    return q;
}

/* --- samples ----------------------------------------------------------------------- */

static int compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The exact outputs and magnitudes of a problem, ascending. */
static void outputs_of(double *to, const struct gemm_data *p, const struct bitcut_gemm *g)
{
    const struct gemm_options one = { .threads = 1 };
    struct judge j;
    const size_t count = p->a.rows * p->b.cols;
    ck_assert_int_eq(gemm_data_judge(&j, p, g, &one, NULL), BITCUT_OK);
    for (size_t i = 0; i < count; i++) {
        to[i] = double_of_bits(j.comparison.reference64[i]);
        to[count + i] = j.comparison.magnitude[i];
    }
    qsort(to, count, sizeof *to, compare);
    qsort(to + count, count, sizeof *to, compare);
    judge_clear(&j);
}

/* Rows, columns and products in another order: the outputs are the same ones. */
START_TEST(samples_have_the_same_outputs)
{
    static double want[2 * SIZE * SIZE], got[2 * SIZE * SIZE];
    uint64_t rng = test_seed();
    for (int i = 0; i < test_cases(40, 400); i++) {
        struct values v;
        struct gemm_data all, some, ordered;
        size_t at[DEPTH];
        values_fill(&v, &rng);
        struct bitcut_gemm g = gemm_of_kind(i % KINDS, &v);
        if (i % 3 == 0 && i % KINDS == BLOCK_SCALES) g.scale_b.depth = BLOCK / 2;
        if (i % 5 == 0 && g.bias.at) g.bias_rows = true;
        const struct family x = { "urand(-1,1)", DEPTH, test_bits(&rng) };
        uint32_t finer[2 * BLOCKS * SIZE];
        fill(finer, 2 * BLOCKS * SIZE, 0.5, 2, &rng);
        if (g.scale_b.depth == BLOCK / 2) g.scale_b.at.at = finer;
        family_make(&all, &x, SIZE, SIZE, 0, NULL);
        ck_assert_int_eq(gemm_data_take_extra(&all, &g, 0, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(gemm_data_shuffle(&some, &all, SIZE, SIZE, test_bits(&rng), 1,
                                           false, NULL),
                         BITCUT_OK);
        for (size_t p = 0; p < DEPTH; p++) at[p] = DEPTH - 1 - p;
        ck_assert_int_eq(gemm_data_order(&ordered, &all, at, NULL), BITCUT_OK);
        ck_assert_mem_ne(some.a.at, all.a.at, SIZE * DEPTH * sizeof(uint32_t));
        ck_assert_mem_ne(ordered.a.at, all.a.at, SIZE * DEPTH * sizeof(uint32_t));
        outputs_of(want, &all, &g);
        for (int which = 0; which < 2; which++) {
            outputs_of(got, which ? &ordered : &some, &g);
            for (size_t p = 0; p < 2 * SIZE * SIZE; p++)
                ck_assert_msg(fabs(got[p] - want[p]) <= 1e-11 * (1 + fabs(want[p])),
                              "kind %d, %s, number %zu: %g, not %g", i % KINDS,
                              which ? "ordered" : "shuffled", p, got[p], want[p]);
        }
        gemm_data_clear(&all);
        gemm_data_clear(&some);
        gemm_data_clear(&ordered);
    }
}
END_TEST

/* --- limits ------------------------------------------------------------------------ */

/* The emulator's D is accepted where runs have all outputs; limits for any order are not
   narrower, and the bound holds. */
START_TEST(right_results_are_accepted)
{
    static uint32_t d[SIZE * SIZE];
    uint64_t rng = test_seed() + 1;
    for (int i = 0; i < test_cases(4 * KINDS, 20 * KINDS); i++) {
        struct values v;
        struct gemm_data all;
        struct tolerance_given given;
        values_fill(&v, &rng);
        const struct bitcut_gemm g = gemm_of_kind(i % KINDS, &v);
        const struct family x = { "urand(-1,1)", DEPTH, test_bits(&rng) };
        family_make(&all, &x, SIZE, SIZE, 0, NULL);
        ck_assert_int_eq(gemm_data_take_extra(&all, &g, 0, 1, NULL), BITCUT_OK);
        const struct shuffled_source source = { &all, test_bits(&rng), NULL };
        struct tolerance_problem q = question_of(&g, &x, SIZE);
        q.source = shuffled_runs(&source);
        q.runs = 12;
        const struct bitcut_tolerances own = found(&q, 0).limits;
        ck_assert_int_eq(gemm_data_run(d, &all, &g, NULL), BITCUT_OK);
        ck_assert_int_eq(tolerance_judge(&given, &own, &q, &all, d, 1, NULL, NULL),
                         BITCUT_OK);
        ck_assert_msg(given.verdict.accepted && !given.verdict.beyond &&
                          given.verdict.component <= own.max * (1 + 1e-9),
                      "kind %d: accepted %d, %zu beyond, %.17g u, largest %.17g u, limit %g",
                      i % KINDS, given.verdict.accepted, given.verdict.beyond,
                      given.verdict.component, own.max, own.limit);
        ck_assert(own.max <= own.bound + own.underflow && isfinite(own.bound));
        q.any_order = true;
        const struct bitcut_tolerances any = found(&q, 0).limits;
        ck_assert(any.limit >= own.limit && any.with_underflow >= own.with_underflow &&
                  any.norm_limit >= own.norm_limit && any.bound >= own.bound &&
                  any.max >= own.max);
        gemm_data_clear(&all);
    }
}
END_TEST

/* --- power ------------------------------------------------------------------------- */

/* Faults that are rejected in nine of ten runs. */
static const struct {
    enum kind kind;
    const char *name;
} rejected[] = {
    { SHORT_BIAS, "bias lost" },         { SHORT_BIAS, "bias of neighbour" },
    { SHORT_BIAS, "alpha applied twice" }, { ROW_SCALES, "scale truncated" },
    { ROW_SCALES, "scale of neighbour" }, { ROW_SCALES, "scale applied twice" },
    { BLOCK_SCALES, "scale truncated" }, { BLOCK_SCALES, "scale of neighbour" },
    { BLOCK_SCALES, "scale applied twice" }, { BLOCK_SCALES, "stale padding" },
    { SATURATED, "saturated at 240" },   { SATURATED, "scale applied twice" },
    { SATURATED, "stale padding" },      { ROW_SCALES, "one output zero" },
};

enum { REJECTED = sizeof rejected / sizeof *rejected };

static void power_check(const struct power *p, enum kind kind)
{
    bool met[REJECTED] = { false };
    for (size_t r = 0; r < p->rows; r++) {
        const struct power_row *const row = &p->row[r];
        const size_t count = row->rejected[CRITERION_BOTH];
        ck_assert_msg(!row->correct ||
                          (row->runs && !count && !row->rejected[CRITERION_BOUND]),
                      "kind %d, %s: %zu of %zu rejected", kind, row->name, count, row->runs);
        for (size_t i = 0; i < REJECTED; i++) {
            if (rejected[i].kind != kind || strcmp(rejected[i].name, row->name) != 0)
                continue;
            met[i] = true;
            ck_assert_msg(row->runs && count * 10 >= row->runs * 9,
                          "kind %d, %s: %zu of %zu rejected", kind, row->name, count,
                          row->runs);
        }
    }
    for (size_t i = 0; i < REJECTED; i++)
        ck_assert_msg(rejected[i].kind != kind || met[i], "no fault %s", rejected[i].name);
}

START_TEST(faults_are_rejected)
{
    uint64_t rng = test_seed() + 2;
    const size_t runs = (size_t)test_cases(12, 200);
    for (int kind = 0; kind < KINDS; kind++) {
        struct values v;
        struct extended_family x;
        struct power p;
        values_fill(&v, &rng);
        const struct bitcut_gemm g = gemm_of_kind(kind, &v);
        const struct tolerance_problem q = pose(&x, &g, test_bits(&rng));
        const struct tolerance t = found(&q, 0);
        ck_assert_int_eq(power_measure(&p, &q, &t, runs, 1, 0, NULL, NULL), BITCUT_OK);
        power_check(&p, kind);
        power_clear(&p);
        gemm_data_clear_extra(&x.extra);
    }
}
END_TEST

/* --- quantized operands ------------------------------------------------------------ */

/* Originals that are the operands times their factors have no error, and D is as far from
   them as from C; originals that are 1/64 larger have 1/65 of ||C0||, apart from D's. */
START_TEST(quantization_is_apart)
{
    static uint32_t d[SIZE * SIZE];
    uint64_t rng = test_seed() + 3;
    for (int i = 0; i < test_cases(8, 80); i++) {
        struct values v;
        struct gemm_data all;
        struct matrix original, none = { 0 };
        struct quantization_error e;
        const struct gemm_options one = { .threads = 1 };
        const double by = i / 2 % 2 ? 1 + 0x1p-6 : 1;
        values_fill(&v, &rng);
        for (int l = 0; l < SIZE; l++) /* products with 8 bits of factors are exact */
            v.line_a[l] &= 0xffff0000, v.line_b[l] &= 0xffff0000;
        for (int l = 0; l < SIZE * BLOCKS; l++)
            v.block_a[l] &= 0xffff0000, v.block_b[l] &= 0xffff0000;
        const struct bitcut_gemm g = gemm_of_kind(i % 2 ? BLOCK_SCALES : ROW_SCALES, &v);
        const struct family x = { "urand(-1,1)", DEPTH, test_bits(&rng) };
        family_make(&all, &x, SIZE, SIZE, 0, NULL);
        for (size_t p = 0; p < SIZE * DEPTH; p++)
            all.a.at[p] &= 0xffff8000, all.b.at[p] &= 0xffff8000;
        ck_assert_int_eq(gemm_data_take_extra(&all, &g, 0, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(gemm_data_run(d, &all, &g, NULL), BITCUT_OK);
        ck_assert_int_eq(matrix_init(&original, SIZE, DEPTH, NULL), BITCUT_OK);
        for (size_t p = 0; p < SIZE * DEPTH; p++) {
            const size_t line = p / DEPTH,
                         at = i % 2 ? line * BLOCKS + p % DEPTH / BLOCK : line;
            original.at[p] = bits_of_float(
                (float)(value_of_float(all.a.at[p]) * by *
                        value_of_float(i % 2 ? v.block_a[at] : v.line_a[at])));
        }
        ck_assert_int_eq(
            quantization_find(&e, &g, &all, &original, &none, d, &one, NULL), BITCUT_OK);
        ck_assert_msg(fabs(e.relres - (1 - 1 / by)) < 2e-7, "case %d: %g", i, e.relres);
        ck_assert(e.component <= 1 - 1 / by + 2e-7 && e.worst_at[0] < SIZE);
        ck_assert(e.has_d && e.d_own > 0 && e.d_own < 1e-2);
        if (by == 1) ck_assert(fabs(e.d_relres - e.d_own) < 1e-6);
        else ck_assert(e.d_relres > e.relres - e.d_own);
        matrix_clear(&original);
        gemm_data_clear(&all);
    }
}
END_TEST

/* A GEMM without steps has no faults of steps. */
START_TEST(plain_has_no_faults_of_steps)
{
    const struct bitcut_gemm g = gemm_named("plain", "h100");
    const struct family x = { "urand(-1,1)", 100, test_seed() };
    const struct tolerance_problem q = question_of(&g, &x, 16);
    const struct tolerance t = found(&q, 0);
    struct power p;
    ck_assert_int_eq(power_measure(&p, &q, &t, 3, 1, 0, NULL, NULL), BITCUT_OK);
    for (size_t r = 0; r < p.rows; r++)
        ck_assert((strcmp(p.row[r].name, "stale padding") != 0 &&
                   strncmp(p.row[r].name, "scale ", 6) != 0) ||
                  p.row[r].runs == 0);
    power_clear(&p);
}
END_TEST

TEST_MAIN("extended tolerance", samples_have_the_same_outputs, right_results_are_accepted,
          faults_are_rejected, quantization_is_apart, plain_has_no_faults_of_steps)
