/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/judge.h"

#include "emu/gemm.h"
#include "lib/base/clock.h"
#include "lib/base/threads.h"
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
                                    const struct gemm_options *o, struct fault *f)
{
    return exact(x, own32(x), own64(x), counts, 0, o, f);
}

static enum bitcut_status mpfr(struct comparison *x, struct exact_counts *counts,
                               const struct gemm_options *o, struct fault *f)
{
    return exact(x, own32(x), own64(x), counts, 1u << LAYER_MPFR, o, f);
}

static enum bitcut_status fp32(struct comparison *x, struct exact_counts *counts,
                               const struct gemm_options *o, struct fault *f)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", f32));
    const struct gemm_options options = { .threads = o->threads,
                                          .progress = o->progress,
                                          .offload = o->offload };
    gemm_set_dense(&g, own32(x), x->m, x->n, x->k, x->a, x->b, x->c);
    g.alpha = x->alpha;
    g.beta = x->beta;
    enum bitcut_status status = exact(x, NULL, NULL, NULL, 0, o, f);
    if (status == BITCUT_OK) status = gemm_run(&g, &options, f);
    *counts = (struct exact_counts){ 0 };
    const size_t count = status == BITCUT_OK ? x->m * x->n : 0;
#pragma omp parallel for schedule(static) num_threads(threads_for(o->threads, count))
    for (size_t i = 0; i < count; i++)
        own64(x)[i] = bitcut_format_convert(&formats[FORMAT_F64], &roundings[ROUND_RN],
                                            f32, x->reference32[i]);
    return status;
}

const struct reference references[] = {
    { "exact", "the exact result, correctly rounded, with certified fast stages", true,
      by_layers },
    { "mpfr", "the same, by MPFR alone", true, mpfr },
    { "fp32", "an FP32 multiply-add loop with k ascending, as in LE-GEMM's comparison",
      false, fp32 },
    { 0 }
};

enum bitcut_status judge_init(struct judge *j, const struct reference *reference,
                              const struct matrix *a, const struct matrix *b,
                              const struct exact_update *update,
                              const struct gemm_options *options, struct fault *f)
{
    static const struct exact_update product = { .alpha = F32_ONE };
    const struct exact_update *u = update ? update : &product;
    const double start = seconds_now();
    size_t count;
    struct judge x = { .comparison = { .m = a->rows,
                                       .n = b->cols,
                                       .k = a->cols,
                                       .a = a->at,
                                       .b = b->at,
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
    const enum bitcut_status status =
        count ? reference->compute(&x.comparison, &x.counts, options, f) : BITCUT_OK;
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
    double *limit = memory_allocate(x->m * x->n, sizeof *limit);
    if (!limit) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    enum bitcut_status status = error_bound_fp32(limit, x, options, f);
    if (status == BITCUT_OK) status = error_bound_recipe(e, g, x, options->threads, f);
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
    free((double *)(uintptr_t)j->comparison.limit);
    clear_extra(&j->comparison);
}
