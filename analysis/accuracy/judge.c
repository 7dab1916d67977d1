/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/judge.h"

#include "emu/gemm.h"
#include "lib/base/clock.h"
#include "lib/base/threads.h"
#include "lib/gemm/sparsity.h"
#include "lib/number/fma.h"

#include <stdlib.h>

/* The arrays of a comparison are owned by the judge; these are its writable pointers. */
static uint32_t *own32(const struct comparison *x)
{
    return (uint32_t *)(uintptr_t)x->reference32;
}
static uint64_t *own64(const struct comparison *x)
{
    return (uint64_t *)(uintptr_t)x->reference64;
}
static double *own_size(const struct comparison *x)
{
    return (double *)(uintptr_t)x->magnitude;
}
static double *own_norms(const struct comparison *x)
{
    return (double *)(uintptr_t)x->row_norm;
}

/* The exact result by the selected stages (0: all except mpfr), for the outputs that are
   not NULL. */
static enum bitcut_status exact(struct comparison *x, uint32_t *c32, uint64_t *c64,
                                struct exact_counts *counts, unsigned layers,
                                const struct gemm_options *o, struct fault *f)
{
    const struct exact_update update = { x->alpha, x->beta, x->c };
    const struct exact_options options = { .layers = layers,
                                           .threads = o->threads,
                                           .progress = o->progress,
                                           .update = &update,
                                           .sums = offload_sums(o->offload) };
    return exact_gemm(c32, c64, own_size(x), counts, &options, x->m, x->n, x->k, x->a,
                      x->b, f);
}

static enum bitcut_status by_layers(struct comparison *x, struct exact_counts *counts,
                                    unsigned layers, const struct gemm_options *o,
                                    struct fault *f)
{
    return exact(x, own32(x), own64(x), counts, layers, o, f);
}

static enum bitcut_status fp32(struct comparison *x, struct exact_counts *counts,
                               unsigned layers, const struct gemm_options *o,
                               struct fault *f)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", f32));
    const struct gemm_options options = { .threads = o->threads,
                                          .progress = o->progress,
                                          .offload = o->offload };
    gemm_set_dense(&g, own32(x), x->m, x->n, x->k, x->a, x->b, x->c);
    g.alpha = x->alpha;
    g.beta = x->beta;
    enum bitcut_status status = exact(x, NULL, NULL, NULL, layers, o, f);
    if (status == BITCUT_OK) status = gemm_run(&g, &options, f);
    *counts = (struct exact_counts){ 0 };
    const size_t count = status == BITCUT_OK ? x->m * x->n : 0;
    const int team = threads_for_work(o->threads, count, 10);
    (void)team;
#pragma omp parallel for schedule(static) num_threads(team)
    for (size_t i = 0; i < count; i++)
        own64(x)[i] = bitcut_format_convert(&formats[FORMAT_F64], &roundings[ROUND_RN],
                                            f32, x->reference32[i]);
    return status;
}

const struct reference references[] = {
    { "exact", "the exact result, correctly rounded, with certified fast stages", true, 0,
      by_layers },
    { "mpfr", "the same, by MPFR alone", true, 1u << LAYER_MPFR, by_layers },
    { "fp32", "an FP32 multiply-add loop with k ascending, as in LE-GEMM's comparison",
      false, 0, fp32 },
    { 0 }
};

/* --- a 2:4 sparse A --- */

/* What is computed of some rows: outputs from row `first` on. */
struct by_rows {
    enum bitcut_status (*run)(struct comparison *rows, size_t first,
                              const struct by_rows *all, struct fault *f);
    const struct reference *reference;
    struct exact_counts *counts;
    double *limit;
    const struct gemm_options *options;
};

/* Rows from `first` on, which have the same kept elements, as a comparison of their own:
   A has the kept elements alone, B their k.  False: no memory, and there is nothing to
   free. */
static bool rows_take(struct comparison *to, const struct comparison *x, size_t first,
                      size_t rows)
{
    const size_t kept = x->k / 2, from = first * x->n;
    uint32_t *const a = memory_allocate(rows, kept * sizeof *a),
                    *const b = memory_allocate(kept, x->n * sizeof *b);
    for (size_t p = 0; a && b && p < kept; p++) {
        const size_t k = kept_k(x->kept + first * kept, p);
        memcpy(b + p * x->n, x->b + k * x->n, x->n * sizeof *b);
        for (size_t i = 0; i < rows; i++) a[i * kept + p] = x->a[(first + i) * x->k + k];
    }
    *to = *x;
    to->m = rows, to->k = kept;
    to->a = a, to->b = b, to->kept = NULL;
    to->reference32 += from, to->reference64 += from, to->magnitude += from;
    to->row_norm += first;
    if (to->c) to->c += from;
    if (a && b) return true;
    free(a);
    free(b);
    return false;
}

/* Run for all of x, or for each run of rows with the same kept elements. */
static enum bitcut_status run_by_rows(struct comparison *x, const struct by_rows *all,
                                      struct fault *f)
{
    const struct progress *const progress = all->options->progress,
                                 quiet = { .stop = progress ? progress->stop : NULL };
    struct gemm_options options = *all->options;
    struct by_rows of_rows = *all;
    enum bitcut_status status = BITCUT_OK;
    if (!x->kept) return all->run(x, 0, all, f);
    options.progress = &quiet;
    of_rows.options = &options;
    for (size_t first = 0, end; first < x->m && status == BITCUT_OK; first = end) {
        struct comparison rows;
        for (end = first + 1; end < x->m && kept_alike(x->kept, end, x->k / 2);) end++;
        if (!rows_take(&rows, x, first, end - first))
            return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
        status = all->run(&rows, first, &of_rows, f);
        progress_report(progress, end, x->m);
        free((uint32_t *)(uintptr_t)rows.a);
        free((uint32_t *)(uintptr_t)rows.b);
    }
    return status;
}

static enum bitcut_status reference_of_rows(struct comparison *rows, size_t first,
                                            const struct by_rows *all, struct fault *f)
{
    struct exact_counts counts;
    (void)first;
    const enum bitcut_status status =
        all->reference->compute(rows, &counts, all->reference->layers, all->options, f);
    for (int t = 0; t < EXACT_TARGETS && status == BITCUT_OK; t++) {
        all->counts->unsettled[t] += counts.unsettled[t];
        for (int layer = 0; layer < LAYERS; layer++)
            all->counts->settled[t][layer] += counts.settled[t][layer];
    }
    return status;
}

static enum bitcut_status limits_of_rows(struct comparison *rows, size_t first,
                                         const struct by_rows *all, struct fault *f)
{
    return error_bound_fp32(all->limit + first * rows->n, rows, all->options, f);
}

enum bitcut_status judge_init(struct judge *j, const struct reference *reference,
                              const struct matrix *a, const struct matrix *b,
                              const struct exact_update *update,
                              const struct gemm_options *options, struct fault *f)
{
    static const struct exact_update product = { .alpha = F32_ONE };
    const struct exact_update *u = update ? update : &product;
    const double start = seconds_now();
    size_t count;
    struct judge x = { .reference = reference,
                       .comparison = { .m = a->rows,
                                       .n = b->cols,
                                       .k = a->cols,
                                       .a = a->at,
                                       .b = b->at,
                                       .kept = a->kept,
                                       .alpha = u->alpha,
                                       .beta = u->beta,
                                       .c = u->c } };
    const bool fits = size_multiply(&count, a->rows, b->cols);
    const size_t lines = fits && count ? a->rows + b->cols : 0;
    if (!fits || !(x.comparison.reference32 = memory_allocate(count, sizeof(uint32_t))) ||
        !(x.comparison.reference64 = memory_allocate(count, sizeof(uint64_t))) ||
        !(x.comparison.magnitude = memory_allocate(count, sizeof(double))) ||
        !(x.comparison.row_norm = memory_allocate(lines, sizeof(double)))) {
        judge_clear(&x);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    }
    x.comparison.col_norm = x.comparison.row_norm + (count ? a->rows : 0);
    if (count)
        line_norms(own_norms(&x.comparison), own_norms(&x.comparison) + a->rows,
                   &x.comparison, options->threads);
    const struct by_rows all = { .run = reference_of_rows,
                                 .reference = reference,
                                 .counts = &x.counts,
                                 .options = options };
    const enum bitcut_status status =
        count ? run_by_rows(&x.comparison, &all, f) : BITCUT_OK;
    if (status != BITCUT_OK) {
        judge_clear(&x);
        return status;
    }
    x.seconds = seconds_now() - start;
    *j = x;
    return BITCUT_OK;
}

enum bitcut_status judge_grade(struct judge *j, struct error_bound *e,
                               const struct bitcut_gemm *g,
                               const struct gemm_options *options, struct fault *f)
{
    struct comparison *const x = &j->comparison;
    struct bitcut_gemm own = *g;
    double *limit = memory_allocate(x->m * x->n, sizeof *limit);
    if (!limit) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    own.sparsity = BITCUT_DENSE; /* A has its zeros here */
    const struct by_rows all = { .run = limits_of_rows,
                                 .limit = limit,
                                 .options = options };
    enum bitcut_status status = run_by_rows(x, &all, f);
    if (status == BITCUT_OK) status = error_bound_recipe(e, &own, x, options->threads, f);
    if (status != BITCUT_OK) {
        free(limit);
        return status;
    }
    x->limit = limit;
    x->parts = e->parts;
    return BITCUT_OK;
}

static void clear_extra(struct comparison *x)
{
    struct epilogue_values *const extra = (void *)(uintptr_t)x->extra;
    if (extra) epilogue_clear(extra);
    free(extra);
    free((double *)(uintptr_t)x->product);
    if (x->multiplied_a != x->a) free((uint32_t *)(uintptr_t)x->multiplied_a);
    if (x->multiplied_b != x->b) free((uint32_t *)(uintptr_t)x->multiplied_b);
}

void judge_clear(struct judge *j)
{
    free(own32(&j->comparison));
    free(own64(&j->comparison));
    free(own_size(&j->comparison));
    free(own_norms(&j->comparison));
    free((double *)(uintptr_t)j->comparison.low64);
    free((double *)(uintptr_t)j->comparison.limit);
    clear_extra(&j->comparison);
    free(j->shifted_a);
    free(j->shifted_b);
    *j = (struct judge){ .reference = NULL };
}
