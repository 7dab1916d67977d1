/* SPDX-License-Identifier: BSD-3-Clause */
/* The judge of binary64 GEMMs. */
#include "analysis/accuracy/fp64_bound.h"
#include "analysis/accuracy/judge.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/exact/exact64.h"
#include "lib/number/bits.h"

#include <stdlib.h>

/* Arrays of a comparison before they are read-only. */
struct arrays {
    double *high, *low, *magnitude, *row_norm;
    uint64_t *encoding;
};

/* False if there is not enough memory. */
static bool arrays_init(struct arrays *x, size_t count, size_t lines)
{
    x->high = memory_allocate(count, sizeof *x->high);
    x->low = memory_allocate(count, sizeof *x->low);
    x->magnitude = memory_allocate(count, sizeof *x->magnitude);
    x->row_norm = memory_allocate(lines, sizeof *x->row_norm);
    x->encoding = memory_allocate(count, sizeof *x->encoding);
    return x->high && x->low && x->magnitude && x->row_norm && x->encoding;
}

static void arrays_clear(struct arrays *x)
{
    free(x->high);
    free(x->low);
    free(x->magnitude);
    free(x->row_norm);
    free(x->encoding);
}

static struct comparison comparison_of(const struct matrices64 *g, const struct arrays *x)
{
    return (struct comparison){ .m = g->m,
                                .n = g->n,
                                .k = g->k,
                                .is_f64 = true,
                                .a64 = g->a,
                                .b64 = g->b,
                                .c64 = g->c,
                                .d64 = g->d,
                                .alpha64 = g->alpha,
                                .beta64 = g->beta,
                                .reference64 = x->encoding,
                                .low64 = x->low,
                                .magnitude = x->magnitude,
                                .row_norm = x->row_norm,
                                .col_norm = x->row_norm + (g->n ? g->m : 0) };
}

static enum bitcut_status compute(const struct arrays *x, struct exact_counts *counts,
                                  unsigned layers, const struct matrices64 *g,
                                  const struct gemm_options *o, struct fault *f)
{
    const struct exact64_update update = { g->alpha, g->beta, g->c };
    const struct exact_options options = { .layers = layers,
                                           .threads = o->threads,
                                           .progress = o->progress };
    return exact64_gemm(x->high, x->low, x->magnitude, counts, &options, &update, g->m,
                        g->n, g->k, g->a, g->b, f);
}

enum bitcut_status judge64_init(struct judge *j, const struct reference *reference,
                                const struct matrices64 *g,
                                const struct gemm_options *options, struct fault *f)
{
    const double start = seconds_now();
    struct arrays x;
    size_t count;
    struct judge to = { .reference = reference };
    if (!reference->exact)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "the reference %s has no binary64 form; use exact or mpfr",
                         reference->name);
    const bool fits = size_multiply(&count, g->m, g->n);
    if (!fits)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    if (!arrays_init(&x, count, count ? g->m + g->n : 0)) {
        arrays_clear(&x);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    }
    const enum bitcut_status status =
        compute(&x, &to.counts, reference->layers, g, options, f);
    if (status != BITCUT_OK) {
        arrays_clear(&x);
        return status;
    }
    for (size_t i = 0; i < count; i++) x.encoding[i] = bits_of_double(x.high[i]);
    free(x.high);
    to.comparison = comparison_of(g, &x);
    if (count)
        line_norms(x.row_norm, x.row_norm + g->m, &to.comparison, options->threads);
    to.seconds = seconds_now() - start;
    *j = to;
    return BITCUT_OK;
}

enum bitcut_status judge64_grade(struct judge *j, const struct gemm_options *options,
                                 struct fault *f)
{
    struct comparison *const x = &j->comparison;
    double *const limit = memory_allocate(x->m * x->n, sizeof *limit);
    if (!limit) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    const enum bitcut_status status =
        error_bound_fp64(limit, x, options->threads, options->progress, f);
    if (status != BITCUT_OK) {
        free(limit);
        return status;
    }
    free((double *)(uintptr_t)x->limit);
    x->limit = limit;
    x->parts = 0;
    return BITCUT_OK;
}
