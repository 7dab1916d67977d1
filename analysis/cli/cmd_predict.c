/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut predict: what a library will compute for a GEMM, before it runs. */
#include "analysis/cli/library_option.h"
#include "analysis/cli/row_value.h"
#include "analysis/predict/row_sweep.h"
#include "lib/gemm/plan.h"
#include "lib/io/json_record.h"
#include "lib/number/fma.h"

#include <stdio.h>
#include <string.h>

struct predict_options {
    struct library_options library;
    const char *sweep;
    size_t m, n, k, count;
    uint32_t alpha, beta;
    bool bias, verbose;
};

static const struct predict_options defaults = { .alpha = F32_ONE, .count = 1 };

static const struct option_row options[] = {
    LIBRARY_OPTIONS(predict),
    { "m", "rows of A and D", OPTION(predict, m, COUNT, "M") },
    { "n", "columns of B and D", OPTION(predict, n, COUNT, "N") },
    { "k", "columns of A, rows of B", OPTION(predict, k, COUNT, "K") },
    { "count", "number of GEMMs of a batch (default 1)",
      OPTION(predict, count, COUNT, "N") },
    { "alpha", "factor of A B (default 1)", OPTION(predict, alpha, F32, "X") },
    { "beta", "factor of C (default 0)", OPTION(predict, beta, F32, "X") },
    { "bias", "a bias for each column of D is added", OPTION(predict, bias, FLAG, NULL) },
    { "sweep",
      "a range m=FIRST..LAST instead of -m: for which m the computation of a row changes",
      OPTION(predict, sweep, TEXT, "RANGE") },
    VERBOSE_OPTION(predict),
    { 0 }
};

/* --- the call --------------------------------------------------------------------- */

/* A range of m, such as m=1..512. */
static int take_sweep(size_t range[2], const char *text)
{
    int length = 0;
    if (sscanf(text, "m=%zu..%zu%n", &range[0], &range[1], &length) != 2 ||
        text[length] || strspn(text + 2, "0123456789.") != strlen(text + 2))
        return complain("--sweep", "must be a range of rows, such as m=1..512");
    if (!range[0] || range[1] < range[0] || range[1] - range[0] >= SWEEP_ROWS_MAX)
        return complain("--sweep", "must have 1 to 16384 numbers of rows, in order");
    return EXIT_GOOD;
}

static int take_sizes(struct bitcut_gemm *g, const struct predict_options *o)
{
    if (o->sweep && o->m) return complain("--sweep", "cannot be combined with -m");
    if ((!o->m && !o->sweep) || !o->n || !o->k)
        return complain("-m, -n, -k", "are required, 1 or more");
    if (!o->count) return complain("--count", "must be 1 or more");
    if (o->sweep && o->count > 1)
        return complain("--sweep", "cannot be combined with --count");
    g->count = o->count, g->m = o->m, g->n = o->n, g->k = o->k;
    g->a.stride = g->m * g->k, g->b.stride = g->k * g->n, g->d.stride = g->m * g->n;
    return EXIT_GOOD;
}

static int take(struct prediction *p, struct bitcut_gemm *g,
                const struct predict_options *o)
{
    static const uint32_t any_bias;
    *g = gemm_of(NULL, NULL);
    if (o->bias) g->bias.at = &any_bias;
    g->alpha = o->alpha;
    g->beta = o->beta;
    const int status = library_choose(p, g, &o->library);
    return status == EXIT_GOOD ? take_sizes(g, o) : status;
}

/* --- the answers ------------------------------------------------------------------ */

static int predict_one(struct context *x, const struct bitcut_gemm *g,
                       struct prediction *p)
{
    struct fault f;
    if (predict_find(p, g, &f) != BITCUT_OK) return fail_about("predict", &f);
    json_t *const row = json_object();
    record_json(row, predict_fields, p);
    emit_answer(&x->emitter, row, predict_lines, p);
    return EXIT_GOOD;
}

static const struct emit_column columns[] = { { "rows", "m", 0, NULL },
                                              { "changed", "changed outputs", 0, NULL },
                                              { "difference", "u |A||B|", 2, NULL },
                                              { "gemm", "computation", 0, NULL },
                                              { 0 } };

static int predict_range(struct context *x, const struct bitcut_gemm *g,
                         const struct prediction *p)
{
    const struct predict_options *const o = x->own;
    struct row_sweep s = { .ranges = 0 };
    size_t range[2];
    struct fault f;
    int status = take_sweep(range, o->sweep);
    if (status == EXIT_GOOD && row_sweep_find(&s, p, g, range[0], range[1], x->seed,
                                              &x->progress, &f) != BITCUT_OK)
        status = fail("predict", &f);
    x->emitter.columns = columns;
    x->emitter.table = true;
    for (size_t i = 0; status == EXIT_GOOD && i < s.ranges; i++) {
        json_t *const row = json_object();
        record_json(row, sweep_range_fields, &s.range[i]);
        emit_row(&x->emitter, row);
    }
    if (status == EXIT_GOOD) emit_summary(&x->emitter, row_sweep_lines, &s);
    row_sweep_clear(&s);
    return status;
}

static int run(struct context *x)
{
    const struct predict_options *const o = x->own;
    struct prediction p = { .parts = 0 };
    struct bitcut_gemm g;
    x->emitter.verbose = o->verbose;
    int status = take(&p, &g, o);
    if (status == EXIT_GOOD)
        status = o->sweep ? predict_range(x, &g, &p) : predict_one(x, &g, &p);
    prediction_clear(&p);
    return status;
}

const struct command command_predict = {
    .name = "predict",
    .what = "Predict what a library will compute for a GEMM, before it runs",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .task = TASK_CHOOSE,
    .examples = {
        { "What OpenBLAS computes on a processor with AVX-512",
          "bitcut predict --library openblas-0.3.21 --chip skylakex -m 64 -n 64 -k 1000" },
        { "Find the numbers of rows at which a layer's result changes",
          "bitcut predict --library openblas-0.3.21 --chip skylakex --layout NT "
          "--sweep m=1..64 -n 64 -k 1000" },
    },
};
