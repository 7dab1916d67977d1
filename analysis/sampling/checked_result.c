/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/checked_result.h"

#include "analysis/accuracy/metric_element.h"
#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERDICT(member, key, unit, what)                                                 \
    RECORD_MEMBER(struct tolerance_given, verdict.member, #member, key, unit, what)
#define ACCEPTED(at, key)                                                                \
    RECORD_INNER(struct tolerance_given, accepted[at], "accepted." key, "",              \
                 "whether the test accepts D")

static bool is_of_batch(const void *given)
{
    return ((const struct tolerance_given *)given)->of_batch;
}

static const struct record_field given_gemm[] = {
    RECORD_INNER(struct tolerance_given, verdict.gemm, "gemm", "",
                 "GEMM of the batch with the largest error"),
    { 0 }
};

const struct record_field given_fields[] = {
    /* clang-format off */
    VERDICT(component, "componentwise", "u", "the largest |D - C| / |A||B|"),
    VERDICT(with_underflow, "with_underflow", "u",
            "the same, less the underflow: may be negative"),
    VERDICT(norm, "normwise", "u", "||D - C|| / (||A|| ||B||), Frobenius norms"),
    VERDICT(relres, "relres", "", "||D - C|| / ||C||"),
    VERDICT(zeros_accepted, "zeros", "",
            "whether a D of zeros is accepted as well; then these limits test nothing"),
    VERDICT(worst_at, "worst", "", "row and column of the output with the largest error"),
    VERDICT(above, "above", "", "outputs above the componentwise limit, if it is known"),
    VERDICT(beyond, "beyond", "", "outputs above the bound"),
    VERDICT(wrong, "wrong", "",
            "outputs that are NaN or infinite where C is finite, or finite where it is not"),
    ACCEPTED(CRITERION_BOUND, "bound"),
    ACCEPTED(CRITERION_OBSERVED, "limit"),
    ACCEPTED(CRITERION_NORM, "norm"),
    RECORD_MEMBER(struct tolerance_given, verdict.accepted, "accepted", "accepted.both", "",
                  "whether D is within all known limits"),
    ACCEPTED(CRITERION_ALLCLOSE, "allclose"),
    ACCEPTED(CRITERION_TORCH, "torch"),
    ACCEPTED(CRITERION_NUMPY, "numpy"),
    RECORD_INNER(struct tolerance_given, bins, "ulp_histogram", "",
                 "outputs by distance from the exact result, in steps of the format of D"),
    VERDICT(worst, "", "", "the row and the column of that output"),
    VERDICT(gemm, "", "", "the GEMM of that output"),
    RECORD_TOGETHER(is_of_batch, given_gemm, "", "GEMM of a batch"),
    { 0 }
    /* clang-format on */
};

/* The smallest of the known componentwise limits, absolute. */
static double limit_at(const struct bitcut_tolerances *t, const struct sample_run *r, size_t i)
{
    const double size = r->x.magnitude[i] * unit_of_result(&r->x),
                 by_size = t->limit * size,
                 by_rest = t->with_underflow * size + r->allowance[i];
    return t->known && by_size < by_rest ? by_size : by_rest;
}

/* Errors of every output, and the number above limits. */
static void count_errors(struct bitcut_tolerance_verdict *to, const struct sample_run *r,
                         const struct bitcut_tolerances *t)
{
    const struct comparison *const x = &r->x;
    to->component = 0;
    to->worst = 0;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = metric_unrounded(x, i), u = unrounded_at(x, i);
        if (u > to->component) to->component = u, to->worst = i;
        to->wrong += isinf(error);
        to->above += error > limit_at(t, r, i);
        to->beyond +=
            error > t->bound * unit_of_result(x) * x->magnitude[i] + r->allowance[i];
    }
    to->worst_at[0] = to->worst / x->n;
    to->worst_at[1] = to->worst % x->n;
}

static void judge_given(struct tolerance_given *to, const struct sample_run *r,
                        const struct bitcut_tolerances *t)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    struct bitcut_tolerance_verdict *const v = &to->verdict;
    *to = (struct tolerance_given){ .verdict = {
                                        .size = sizeof *v,
                                        .with_underflow = sample_run_rest(r),
                                        .norm = normwise_unrounded(&r->x),
                                        .relres = metrics[METRIC_RELRES].value(&r->x, 1),
                                    } };
    count_errors(v, r, t);
    ulp_histogram(to->bins, &r->x);
    criteria_run(to->accepted, r, t);
    /* Without a limit an infinite error is not above it. */
    for (int i = 0; i < CRITERIA && v->wrong; i++) to->accepted[i] = false;
    v->accepted = to->accepted[CRITERION_BOTH];
    hostfp_leave(&mode);
}

/* Whether a D of zeros would be accepted. */
static enum bitcut_status judge_zeros(struct tolerance_given *to, struct sample_run *r,
                                      const struct bitcut_tolerances *t, struct fault *f)
{
    bool accepted[CRITERIA];
    struct hostfp mode;
    const size_t count = r->x.m * r->x.n;
    double *zeros64 = NULL;
    if (r->x.is_f64) zeros64 = calloc(count, sizeof *zeros64);
    else r->d = calloc(count, sizeof *r->d);
    if (r->x.is_f64 ? !zeros64 : !r->d)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits of D");
    r->x.d = r->d;
    r->x.d64 = zeros64;
    hostfp_enter(&mode);
    criteria_run(accepted, r, t);
    hostfp_leave(&mode);
    free(zeros64);
    to->verdict.zeros_accepted = accepted[CRITERION_BOTH];
    return BITCUT_OK;
}

enum bitcut_status tolerance_judge(struct tolerance_given *to,
                                   const struct bitcut_tolerances *t,
                                   const struct tolerance_problem *q,
                                   const struct gemm_data *data, const uint32_t *d,
                                   int threads, const struct progress *progress,
                                   struct fault *f)
{
    const struct gemm_options options = { .threads = threads, .progress = progress };
    struct bound_apriori bound;
    struct sample_run r = { .allowance = memory_allocate(q->m * q->n, sizeof(double)) };
    enum bitcut_status status =
        r.allowance
            ? gemm_data_judge(&r.j, data, q->gemm, &options, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits of D");
    if (status == BITCUT_OK)
        status = bound_apriori(&bound, q->gemm, q->k, q->any_order, f);
    if (status == BITCUT_OK) status = sample_run_allow(&r, q->gemm, &bound, f);
    if (status == BITCUT_OK) {
        r.x = r.j.comparison;
        r.x.d = d;
        r.x.format = q->gemm->d.format;
        judge_given(to, &r, t);
        status = judge_zeros(to, &r, t, f);
    }
    sample_run_clear(&r);
    return status;
}

enum bitcut_status tolerance_judge64(struct tolerance_given *to,
                                     const struct bitcut_tolerances *t,
                                     const struct bitcut_gemm *g, int threads,
                                     const struct progress *progress, struct fault *f)
{
    const struct gemm_options options = { .threads = threads, .progress = progress };
    struct sample_run r = { .allowance = calloc(g->m, g->n * sizeof(double)) };
    enum bitcut_status status =
        dense_make(&r.dense, g, threads) && r.allowance
            ? dense_judge(&r.j, &r.dense, g, &references[0], &options, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits of D");
    if (status == BITCUT_OK) {
        r.x = r.j.comparison;
        judge_given(to, &r, t);
        status = judge_zeros(to, &r, t, f);
    }
    sample_run_clear(&r);
    return status;
}

/* Add the verdict on GEMM i. */
static void add_given(struct tolerance_given *all, const struct tolerance_given *one,
                      size_t i, bool first)
{
    struct bitcut_tolerance_verdict *const v = &all->verdict;
    const struct bitcut_tolerance_verdict *const x = &one->verdict;
    if (first) {
        *all = *one;
        v->gemm = i;
        return;
    }
    if (x->component > v->component) {
        v->component = x->component;
        v->worst = x->worst;
        memcpy(v->worst_at, x->worst_at, sizeof v->worst_at);
        v->gemm = i;
    }
    v->with_underflow = larger_double(v->with_underflow, x->with_underflow);
    v->norm = larger_double(v->norm, x->norm);
    v->relres = larger_double(v->relres, x->relres);
    v->accepted &= x->accepted;
    v->zeros_accepted &= x->zeros_accepted;
    v->above += x->above;
    v->beyond += x->beyond;
    v->wrong += x->wrong;
    for (int c = 0; c < CRITERIA; c++) all->accepted[c] &= one->accepted[c];
    for (int b = 0; b < HISTOGRAM_BINS; b++) all->bins[b] += one->bins[b];
}

enum bitcut_status tolerance_judge_batch(struct tolerance_given *to,
                                         const struct bitcut_tolerances *t,
                                         const struct tolerance_problem *q, int threads,
                                         const struct progress *progress, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    bool first = true;
    for (size_t i = 0; i < q->batch->count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm g = gemm_nth(q->batch, i);
        struct tolerance_problem one = *q;
        struct tolerance_given given;
        struct gemm_data data;
        struct matrix d = { 0 };
        one.batch = NULL;
        one.m = g.m;
        if (!g.m || !g.n) continue;
        status = gemm_data_take(&data, &g, 0, threads, f);
        if (status != BITCUT_OK) break;
        status = view_matrix(&d, &g.d, 0, g.m, g.n, threads)
                     ? tolerance_judge(&given, t, &one, &data, d.at, threads, progress, f)
                     : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for D");
        if (status == BITCUT_OK) add_given(to, &given, i, first);
        first = false;
        matrix_clear(&d);
        gemm_data_clear(&data);
    }
    to->of_batch = true;
    return status;
}
