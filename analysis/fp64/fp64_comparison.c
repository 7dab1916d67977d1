/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/fp64_comparison.h"

#include "analysis/fp64/scheme_bound.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

static bool make(struct fp64_comparison *c, const struct bitcut_gemm *g, int threads)
{
    if (!dense_make(&c->matrices, g, threads)) return false;
    c->plain = memory_allocate(g->m * g->n, sizeof *c->plain);
    c->limit = memory_allocate(g->m * g->n, sizeof *c->limit);
    return c->plain && c->limit;
}

/* The error of FP64 multiply-adds on the same data. */
static enum bitcut_status measure_plain(struct fp64_comparison *c,
                                        const struct bitcut_gemm *g,
                                        const struct gemm_options *options,
                                        struct fault *f)
{
    struct bitcut_gemm plain = *g;
    double values[METRICS];
    plain.scheme = bitcut_scheme_find("fp64");
    plain.unit = unit_find("fma/f64", &formats[FORMAT_F64]);
    plain.parts = BITCUT_UNSET;
    plain.order.slices = 0;
    plain.d = (struct bitcut_matrix){ .to = c->plain, .format = &formats[FORMAT_F64] };
    const enum bitcut_status status = fp64_gemm_run(NULL, &plain, options, f);
    if (status != BITCUT_OK) return status;
    c->judge.comparison.d64 = c->plain;
    metrics_find(values, &c->judge.comparison, 1u << METRIC_BACKWARD_MAX,
                 options->threads);
    c->judge.comparison.d64 = c->matrices.d;
    c->dgemm = values[METRIC_BACKWARD_MAX];
    return BITCUT_OK;
}

enum bitcut_status fp64_comparison_init(struct fp64_comparison *c,
                                        const struct bitcut_gemm *g,
                                        const struct reference *reference,
                                        const struct gemm_options *options,
                                        struct fault *f)
{
    *c = (struct fp64_comparison){ .reference = reference, .gemm = *g };
    if (!make(c, g, options->threads))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    enum bitcut_status status =
        dense_judge(&c->judge, &c->matrices, g, reference, options, f);
    c->judged = status == BITCUT_OK;
    if (status == BITCUT_OK) status = judge64_grade(&c->judge, options, f);
    if (status == BITCUT_OK) status = measure_plain(c, g, options, f);
    return status;
}

void fp64_comparison_clear(struct fp64_comparison *c)
{
    if (c->judged) judge_clear(&c->judge);
    dense_clear(&c->matrices);
    free(c->plain);
    free(c->limit);
}

struct fp64_job fp64_comparison_job(const struct fp64_comparison *c,
                                    const struct fp64_answer *of,
                                    const struct gemm_options *options)
{
    struct bitcut_gemm g = c->gemm;
    g.scheme = of->scheme;
    g.unit = of->unit;
    struct fp64_job job = fp64_job_of(&g, &of->by, options);
    dense_set_job(&job, &c->matrices);
    return job;
}

/* What D is of its bounds. */
static void compare_bounds(struct fp64_answer *to, const struct comparison *x,
                           const double *limit)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    to->bound_most = to->share = 0;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = fabs(metric_error(x, i));
        const double bound = limit[i] / x->magnitude[i] * 0x1p53;
        if (x->magnitude[i] > 0 && !(bound <= to->bound_most)) to->bound_most = bound;
        if (error > 0 && !(error / limit[i] <= to->share)) to->share = error / limit[i];
    }
    hostfp_leave(&saved);
}

enum bitcut_status fp64_comparison_measure(struct fp64_answer *to,
                                           struct fp64_comparison *c,
                                           const struct gemm_options *options,
                                           struct fault *f)
{
    const struct comparison *const x = &c->judge.comparison;
    const struct fp64_job job = fp64_comparison_job(c, to, options);
    enum bitcut_status status = BITCUT_OK;
    if (to->by.slices > 1) /* each slice of k has other scales */
        for (size_t i = 0; i < x->m * x->n; i++) c->limit[i] = INFINITY;
    else status = scheme_bound(c->limit, &job, x->magnitude, f);
    if (status != BITCUT_OK) return status;
    metrics_run(to->value, x);
    ulp_histogram(to->bins, x);
    compare_bounds(to, x, c->limit);
    to->dgemm = c->dgemm;
    to->reference = c->reference;
    to->judged = true;
    return BITCUT_OK;
}
