/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/tolerance_run.h"

#include "analysis/accuracy/metric_element.h"
#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

enum { PRODUCTS = 1 << 20 }; /* of a run, in each order */

/* The measures of D in FP32, the largest over all orders.  What a D that is rounded to a
   short format shows of its error (metric_unrounded()) is never larger. */
static void take_errors(struct run_report *r, enum whose whose,
                        const struct sample_run *run)
{
    const struct comparison *const x = &run->x;
    double *const error = r->error[whose];
    error[BY_SIZE] =
        larger_double(error[BY_SIZE], metrics[METRIC_BACKWARD_MAX].value(x, 1));
    error[BY_REST] = larger_double(error[BY_REST], sample_run_rest(run));
    error[BY_NORM] = larger_double(error[BY_NORM], metrics[METRIC_NORMWISE].value(x, 1));
    error[BY_NORM_REST] = larger_double(error[BY_NORM_REST], sample_run_norm_rest(run));
    if (whose == DRAWN_ALL || whose == ARRANGED_ALL)
        r->wrong += (size_t)metrics[METRIC_WRONG].value(x, 1);
}

static double value_at(const struct comparison *x, size_t i)
{
    return fabs(double_of_bits(x->reference64[i]));
}

/* The quantities that do not depend on D.  Outputs that are not finite are left out. */
static void take_sizes(struct run_report *r, const struct sample_run *run)
{
    const struct comparison *const x = &run->x;
    const size_t count = x->m * x->n;
    r->least_share = r->least_value = INFINITY;
    r->bounded = run->bounded;
    r->any = run->any;
    r->terms = run->terms;
    r->lead = run->lead;
    r->bound = run->bound;
    for (size_t i = 0; i < count; i++) {
        const double size = x->magnitude[i], value = value_at(x, i);
        double most = 1;
        if (!isfinite(size) || !isfinite(value)) continue;
        for (int t = 0; t < STEPS; t++)
            r->reach[t] = larger_double(r->reach[t], size - t * value / (STEPS - 1));
        r->allowance = larger_double(r->allowance, run->allowance[i]);
        if (size == 0) continue;
        r->lost = larger_double(r->lost, run->allowance[i] / size / unit_of_result(x));
        if (value < r->least_share * size) r->least_share = value / size;
        if (value > 0 && value < r->least_value) r->least_value = value;
        for (int d = 0; d < BITCUT_DECADES; d++, most *= 10)
            r->over[d] += size > most * value;
    }
    for (size_t s = 0; s < SAMPLE; s++) {
        const size_t i = s * count / SAMPLE;
        r->output[s] = (struct extent_of_output){ x->magnitude[i], value_at(x, i) };
    }
}

/* The measures of D in the GEMM's own order, as they are without other orders. */
static void take_own_errors(struct run_report *r, enum whose whose,
                            const struct sample_run *run)
{
    struct sample_run own = *run;
    if (own.own_allowance) own.allowance = own.own_allowance;
    take_errors(r, whose, &own);
}

/* The allowance of a run in the GEMM's own order. */
static enum bitcut_status allow_own(struct sample_run *run, const struct study_of_runs *s,
                                    struct fault *f)
{
    const size_t count = run->x.m * run->x.n;
    if (!s->q->any_order || s->q->gemm->scheme) return BITCUT_OK;
    run->own_allowance = calloc(count, sizeof *run->own_allowance);
    if (!run->own_allowance)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    return run->bounded ? bound_rest(run->own_allowance, &s->own_bound, s->q->gemm,
                                     &run->j.comparison, f)
                        : BITCUT_OK;
}

/* D in the first `orders` orders, with the matrices of the run.  The first order counts
   as `own` as well. */
static enum bitcut_status try_orders(struct run_report *r, enum whose own, enum whose all,
                                     const struct study_of_runs *s, size_t orders,
                                     struct sample_run *run, struct fault *f)
{
    struct bitcut_gemm g = *s->q->gemm;
    for (size_t o = 0; o < orders; o++) {
        g.order = s->order[o];
        const enum bitcut_status status = sample_run_unrounded(run, &g, f);
        if (status != BITCUT_OK) return status;
        if (!o && own != all) take_own_errors(r, own, run);
        take_errors(r, all, run);
    }
    return BITCUT_OK;
}

/* The matrices of a run: those of an FP32 GEMM, or of an FP64 GEMM. */
struct matrices {
    struct gemm_data data;
    struct dense dense;
};

static void matrices_clear(struct matrices *x)
{
    gemm_data_clear(&x->data);
    dense_clear(&x->dense);
}

/* Set `to` to `from` with k in a chosen order. */
static enum bitcut_status arrange_matrices(struct matrices *to,
                                           const struct matrices *from, bool is_f64,
                                           size_t k, enum arrangement which,
                                           struct fault *f)
{
    size_t *const at = memory_allocate(k, sizeof *at);
    enum bitcut_status status =
        !at      ? fault_set(f, BITCUT_NO_MEMORY, "not enough memory for an order of k")
        : is_f64 ? arrange64(at, &from->dense, which, f)
                 : arrange(at, &from->data, which, f);
    if (status == BITCUT_OK)
        status = is_f64 ? dense_order(&to->dense, &from->dense, at, f)
                        : gemm_data_order(&to->data, &from->data, at, f);
    free(at);
    return status;
}

/* With k in one of the chosen orders; `from` has it in its own. */
static enum bitcut_status try_arrangement(struct run_report *r,
                                          const struct study_of_runs *s,
                                          struct sample_run *run,
                                          const struct matrices *from,
                                          enum arrangement which, struct fault *f)
{
    const struct matrices drawn = { run->data, run->dense };
    struct matrices to = { .data = { .depth_a = 0 } };
    enum bitcut_status status =
        arrange_matrices(&to, from, run->x.is_f64, s->q->k, which, f);
    if (status != BITCUT_OK) return status;
    run->data = to.data;
    run->dense = to.dense;
    if (run->x.is_f64) run->x.d64 = to.dense.d;
    status = try_orders(r, which == AS_IS ? ARRANGED : ARRANGED_ALL, ARRANGED_ALL, s,
                        s->whole ? s->orders : 1, run, f);
    run->data = drawn.data;
    run->dense = drawn.dense;
    if (run->x.is_f64) run->x.d64 = drawn.dense.d;
    matrices_clear(&to);
    return status;
}

/* The matrices of a run with k in its own order. */
static enum bitcut_status make_own(struct matrices *to, const struct study_of_runs *s,
                                   size_t number, struct fault *f)
{
    const struct run_source *const source = &s->q->source;
    if (source->as_is64)
        return source->as_is64(&to->dense, source->context, s->rows, s->cols, number, f);
    return source->as_is(&to->data, source->context, s->rows, s->cols, number, f);
}

/* With k in every chosen order: for whole matrices the results are the same in every run.
 */
static enum bitcut_status try_arranged(struct run_report *r,
                                       const struct study_of_runs *s,
                                       struct sample_run *run, size_t number,
                                       struct fault *f)
{
    const bool shuffled = runs_are_shuffled(&s->q->source);
    const struct matrices drawn = { run->data, run->dense };
    struct matrices own = { .data = { .depth_a = 0 } };
    enum bitcut_status status = BITCUT_OK;
    if (s->whole && number) return BITCUT_OK;
    if (shuffled) status = make_own(&own, s, number, f);
    for (int i = 0; i < ARRANGEMENTS && status == BITCUT_OK; i++)
        if (s->arranged[i])
            status = try_arrangement(r, s, run, shuffled ? &own : &drawn, i, f);
    matrices_clear(&own);
    return status;
}

/* Last, since limits for two results include twice the underflow. */
static void try_zeros(struct run_report *r, struct sample_run *run, bool two)
{
    for (size_t i = 0; i < run->x.m * run->x.n; i++) {
        if (run->x.is_f64) run->dense.d[i] = 0;
        else run->d[i] = 0;
        if (two) run->allowance[i] *= 2;
    }
    take_errors(r, ZEROS, run);
}

enum bitcut_status tolerance_run(void *context, size_t number, struct fault *f)
{
    const struct study_of_runs *const s = context;
    struct run_report *const r = &s->r[number];
    struct sample_run run;
    struct hostfp mode;
    *r = (struct run_report){ 0 };
    for (int i = 0; i < WHOSE; i++)
        r->error[i][BY_REST] = r->error[i][BY_NORM_REST] = -INFINITY;
    enum bitcut_status status = sample_run_prepare(
        &run, &s->q->source, s->q->gemm, &s->bound, s->rows, s->cols, number, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    run.x.format = NULL;
    take_sizes(r, &run);
    status = allow_own(&run, s, f);
    if (status == BITCUT_OK)
        status = try_orders(r, DRAWN, DRAWN_ALL, s, s->orders, &run, f);
    if (status == BITCUT_OK) status = try_arranged(r, s, &run, number, f);
    try_zeros(r, &run, s->q->two);
    hostfp_leave(&mode);
    sample_run_clear(&run);
    return status;
}

enum bitcut_status tolerance_runs_make(struct study_of_runs *s,
                                       const struct tolerance_problem *q, struct fault *f)
{
    const struct bitcut_scheme *const scheme = q->gemm->scheme;
    *s = (struct study_of_runs){ .q = q, .orders = 1, .order = { q->gemm->order } };
    enum bitcut_status status =
        scheme ? BITCUT_OK : bound_apriori(&s->bound, q->gemm, q->k, q->any_order, f);
    if (status == BITCUT_OK && !scheme)
        status = bound_apriori(&s->own_bound, q->gemm, q->k, false, f);
    if (status != BITCUT_OK) return status;
    if (q->any_order) s->orders = order_set(s->order, q->gemm, q->k);
    for (int i = 0; i < ARRANGEMENTS; i++)
        s->arranged[i] = i == AS_IS ? runs_are_shuffled(&q->source) : q->any_order;
    gemm_data_block(&s->rows, &s->cols, q->m, q->n, q->k, PRODUCTS);
    if (scheme && !fp64_samples_lines(scheme)) s->rows = q->m, s->cols = q->n;
    const bool one = !q->batch || q->batch->count == 1;
    s->whole = one && runs_are_shuffled(&q->source) && s->rows == q->m && s->cols == q->n;
    s->r = memory_allocate(q->runs, sizeof *s->r);
    if (s->r && s->orders) return BITCUT_OK;
    free(s->r);
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the runs");
}
