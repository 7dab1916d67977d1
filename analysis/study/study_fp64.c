/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by schemes: errors of every scheme for several numbers of parts, on the same
   matrices, next to the error of FP64 multiply-adds. */
#include "analysis/fp64/fp64_comparison.h"
#include "analysis/fp64/scheme_budget.h"
#include "analysis/study/compare.h"
#include "analysis/study/fp64_claims.h"
#include "analysis/study/study.h"
#include "lib/base/size.h"
#include "lib/input/input.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <stdlib.h>

/* Input families of A and B; both are the same. */
static const char *const inputs64[] = { "urand(0,1)", "urand(-1,1)", "phi(0.5)",
                                        "phi(1)",     "phi(2)",      "phi(4)",
                                        "graded(20)", "opposite(20)" };

enum { INPUTS = sizeof inputs64 / sizeof *inputs64, SIZES_MAX = 5 };

/* The sizes of a scale: k, the rows of A and columns of B, and how many of the inputs. */
static const struct {
    struct {
        size_t k, lines;
        int inputs;
    } size[SIZES_MAX];
    int sizes, seeds;
} runs[] = {
    [STUDY_SMALL] = { { { 64, 16, INPUTS },
                        { 256, 16, INPUTS },
                        { 4096, 4, 1 },
                        { 1 << 18, 1, 1 } },
                      4,
                      8 },
    [STUDY_PAPER] = { { { 256, 64, INPUTS },
                        { 1024, 64, INPUTS },
                        { 4096, 32, INPUTS },
                        { 16384, 16, INPUTS },
                        { 1 << 18, 1, 1 } },
                      5,
                      4 },
};

/* The schemes, each with a range of parts, up to k_most.  Sums of cublasdx and
   cublas-fixed fit s32 only up to k = 14563, for 9 parts, and GEMMul8 takes k up to 2^17;
   ozimmu shows how the digits of slices become shorter. */
static const struct {
    const char *scheme, *unit;
    int least, most;
    size_t k_most;
} sweeps[] = {
    { "fp64", "fma/f64", 1, 1, SIZE_MAX },
    { "ozimmu", "h100", 7, 11, SIZE_MAX },
    { "ozimmu-ef", "h100", 6, 12, 1 << 17 },
    { "ozimmu-rn", "h100", 7, 11, 1 << 17 },
    { "ozimmu-h", "h100", 7, 11, 1 << 17 },
    { "cublasdx", "h100", 7, 7, 1 << 13 },
    { "cublas-fixed", "h100", 7, 8, 1 << 13 },
    { "gemmul8", "h100", 13, 19, 1 << 17 },
    { "gemmul8-fast", "h100", 13, 19, 1 << 17 },
    { "slices-f16", "h100", 11, 11, 1 << 17 },
    { "slices-e4m3", "hopper/wgmma.m64n8k32.f32.e4m3", 14, 14, 1 << 17 },
};

enum { SWEEPS = sizeof sweeps / sizeof *sweeps };

/* --- points ----------------------------------------------------------------------- */

/* A point: one input, k and seed. */
struct at {
    int input, size, round;
};

static struct at at_of(enum study_scale scale, size_t at)
{
    const size_t seeds = (size_t)runs[scale].seeds;
    struct at to = { .round = (int)(at % seeds) };
    for (at /= seeds; at >= (size_t)runs[scale].size[to.size].inputs; to.size++)
        at -= (size_t)runs[scale].size[to.size].inputs;
    to.input = (int)at;
    return to;
}

static size_t fp64_points(const struct study *study, enum study_scale scale)
{
    int count = 0;
    (void)study;
    for (int i = 0; i < runs[scale].sizes; i++) count += runs[scale].size[i].inputs;
    return (size_t)(count * runs[scale].seeds);
}

static uint64_t fp64_work(const struct study *study, enum study_scale scale, size_t at)
{
    const int size = at_of(scale, at).size;
    const uint64_t lines = runs[scale].size[size].lines;
    (void)study;
    return lines * lines * runs[scale].size[size].k;
}

/* A point in progress. */
struct trial {
    struct study_point *point;
    struct at at;
    struct gemm_options options;
    struct bitcut_gemm gemm;
    struct fp64_comparison comparison;
    double *a, *b;
};

static void trial_clear(struct trial *t)
{
    fp64_comparison_clear(&t->comparison);
    free(t->a);
    free(t->b);
}

static enum bitcut_status fill(double **to, const struct trial *t, enum input_role role,
                               size_t rows, size_t cols, struct fault *f)
{
    struct input in;
    const enum bitcut_status status = input_parse(&in, inputs64[t->at.input], f);
    if (status != BITCUT_OK) return status;
    *to = memory_allocate(rows, cols * sizeof **to);
    if (!*to) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for A and B");
    return input_fill_f64(*to, rows, cols, &in, role, t->point->seed, t->point->threads,
                          f);
}

static enum bitcut_status trial_init(struct trial *t, struct study_point *p,
                                     struct fault *f)
{
    const struct at at = at_of(p->scale, p->at);
    const size_t k = runs[p->scale].size[at.size].k,
                 n = runs[p->scale].size[at.size].lines;
    *t = (struct trial){ .point = p,
                         .at = at,
                         .options = { .threads = p->threads, .progress = p->progress } };
    enum bitcut_status status = fill(&t->a, t, INPUT_A, n, k, f);
    if (status == BITCUT_OK) status = fill(&t->b, t, INPUT_B, k, n, f);
    if (status != BITCUT_OK) return status;
    bitcut_gemm_init(&t->gemm, sizeof t->gemm);
    t->gemm.m = t->gemm.n = n;
    t->gemm.k = k;
    t->gemm.order.slices = 1;
    t->gemm.a = (struct bitcut_matrix){ .at = t->a, .format = &formats[FORMAT_F64] };
    t->gemm.b = (struct bitcut_matrix){ .at = t->b, .format = &formats[FORMAT_F64] };
    status = fp64_comparison_init(&t->comparison, &t->gemm,
                                  table_find(TABLE(references), "exact"), &t->options, f);
    t->gemm.d = (struct bitcut_matrix){ .to = t->comparison.matrices.d,
                                        .format = &formats[FORMAT_F64] };
    return status;
}

/* --- rows ------------------------------------------------------------------------- */

/* Digits and additions of a scheme by slices; null for other schemes. */
static enum bitcut_status add_widths(json_t *row, const struct fp64_job *job,
                                     struct fault *f)
{
    int width[2];
    if (!job->scheme->cut) return BITCUT_OK;
    const enum bitcut_status status = fp64_widths(width, job, f);
    if (status != BITCUT_OK) return status;
    json_object_set_new(row, "digit_bits", json_integer(width[0]));
    json_object_set_new(row, "additions", json_count(fp64_additions(job, width)));
    return BITCUT_OK;
}

/* Whether the unit gives all sums of products of slices of the first output exactly, by
   the budget of its error. */
static enum bitcut_status add_exact(json_t *row, const struct trial *t,
                                    const struct fp64_choice *by, struct fault *f)
{
    struct bitcut_gemm first = t->gemm;
    struct scheme_budgets *budgets;
    struct budget_output b;
    first.m = first.n = 1;
    first.b.ld = t->gemm.n;
    enum bitcut_status status = scheme_budgets_make(&budgets, &first, by, &t->options, f);
    if (status != BITCUT_OK) return status;
    status = scheme_budget_at(&b, budgets, 0, 0, f);
    scheme_budgets_free(budgets);
    if (status != BITCUT_OK) return status;
    if (!b.event.what)
        json_object_set_new(
            row, "exact",
            json_boolean(b.part[BUDGET_UNIT] == 0 && b.part[BUDGET_OVERFLOW] == 0));
    budget_clear(&b);
    return BITCUT_OK;
}

static json_t *row_of(const struct trial *t, const struct fp64_answer *a)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:i, s:n, s:n, s:n, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, s:n}",
                     "input", inputs64[t->at.input], "scheme", a->scheme->name, "unit",
                     a->unit->name, "k", (json_int_t)a->k, "round", t->at.round, "parts",
                     a->by.parts, "products", a->products, "digit_bits", "additions",
                     "exact", "error", json_number(a->value[METRIC_BACKWARD_MAX]),
                     "error_per_k",
                     json_number(a->value[METRIC_BACKWARD_MAX] / (double)a->k), "dgemm",
                     json_number(a->dgemm), "bound", json_number(a->bound_most), "share",
                     json_number(a->share), "max_error",
                     json_number(a->value[METRIC_MAX_ERROR]), "needed");
}

/* One scheme with one number of parts: its row. */
static enum bitcut_status run_one(json_t **row, struct trial *t, bool budget,
                                  struct fault *f)
{
    enum { BUDGET_K_MAX = 1 << 12 };
    struct fp64_choice by;
    enum bitcut_status status = fp64_gemm_run(&by, &t->gemm, &t->options, f);
    if (status != BITCUT_OK) return status;
    struct fp64_answer a = fp64_answer_of(&t->gemm, &by);
    status = fp64_comparison_measure(&a, &t->comparison, &t->options, f);
    if (status != BITCUT_OK) return status;
    const struct fp64_job job = fp64_comparison_job(&t->comparison, &a, &t->options);
    *row = row_of(t, &a);
    status = add_widths(*row, &job, f);
    if (status == BITCUT_OK && budget && a.scheme->cut && a.k <= BUDGET_K_MAX)
        status = add_exact(*row, t, &by, f);
    if (status != BITCUT_OK) json_decref(*row);
    return status;
}

/* The fewest parts of the sweep with a max_error of at most `plain`; 0: none. */
static int needed_of(const json_t *rows, double plain)
{
    int needed = 0;
    for (size_t i = 0; i < json_array_size(rows) && !needed; i++)
        if (row_number(json_array_get(rows, i), "max_error") <= plain)
            needed = (int)row_number(json_array_get(rows, i), "parts");
    return needed;
}

/* All numbers of parts of a scheme.  *plain is the max_error of multiply-adds, which are
   the first scheme. */
static enum bitcut_status run_sweep(double *plain, struct trial *t, int sweep,
                                    struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    json_t *rows = json_array(), *row;
    t->gemm.scheme = bitcut_scheme_find(sweeps[sweep].scheme);
    t->gemm.unit = fp64_unit_find(t->gemm.scheme, sweeps[sweep].unit);
    for (int parts = sweeps[sweep].least; parts <= sweeps[sweep].most; parts++) {
        t->gemm.parts = parts;
        status = run_one(&row, t, parts == sweeps[sweep].most, f);
        if (status != BITCUT_OK) break;
        json_array_append_new(rows, row);
    }
    if (status == BITCUT_OK && !sweep)
        *plain = row_number(json_array_get(rows, 0), "max_error");
    const int needed = status == BITCUT_OK ? needed_of(rows, *plain) : 0;
    for (size_t i = 0; i < json_array_size(rows) && status == BITCUT_OK; i++) {
        row = json_array_get(rows, i);
        if (needed) json_object_set_new(row, "needed", json_integer(needed));
        study_row(t->point, json_incref(row));
    }
    json_decref(rows);
    return status;
}

/* One input, k and seed: every scheme. */
static enum bitcut_status run_fp64(const struct study *study, struct study_point *p,
                                   struct fault *f)
{
    struct trial t;
    double plain = 0;
    enum bitcut_status status = trial_init(&t, p, f);
    (void)study;
    for (int i = 0; i < SWEEPS && status == BITCUT_OK; i++)
        if (t.gemm.k <= sweeps[i].k_most) status = run_sweep(&plain, &t, i, f);
    trial_clear(&t);
    return status;
}

const struct study study_fp64 = {
    /* clang-format off */
    .name = "fp64",
    .chapter = CHAPTER_FP64,
    .what = "FP64 GEMMs by slices and residues: errors, bounds and numbers of products",
    .title = "FP64 GEMMs on units for short numbers",
    .text = "Every scheme of bitcut list schemes, for several numbers of parts, on the "
            "same A and B: the largest error of an output (error) and the largest bound, "
            "in u |A||B| with u = 2^-53, next to the error of FP64 multiply-adds on the "
            "same data (dgemm). max_error is the largest relative error, and needed the "
            "fewest parts with a max_error of at most that of multiply-adds (null: none "
            "that was tried). products counts the products of parts for one product A B, "
            "additions the FP64 additions of an output. phi are the matrices of the "
            "papers on these schemes; graded and opposite have exponents of 20 binades "
            "in a row, and in opposite large elements of A meet small ones of B.",
    .plot = { .x = "products",
              .y = "error",
              .series = "scheme",
              .panels = "input",
              .spread = "round",
              .where = "k=256",
              .x_label = "products of parts",
              .y_label = "largest error, u |A||B|",
              .y_log = true,
              .sees = "Each further slice lowers the error by 7 or 8 bits and each "
                      "further modulus by 4, until FP64 additions round; the wider the "
                      "exponents, the more products are necessary." },
    .claims = fp64_claims, .points = fp64_points, .work = fp64_work, .run = run_fp64,
    /* clang-format on */
};
