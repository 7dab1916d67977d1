/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/advise_try.h"

#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/gemm_data.h"
#include "lib/base/size.h"
#include "lib/number/equilibrate.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

enum {
    PRODUCTS = 1 << 20, /* of A and B in the first sample */
    CHECKS = 4          /* factor for the second sample */
};

/* --- samples ---------------------------------------------------------------------- */

static enum bitcut_status draw(struct norm_sample *to, const struct advise_problem *q,
                               size_t i, int times, const struct advise_samples *s,
                               struct fault *f)
{
    const struct matrix *const a = &q->a[i], *const b = &q->b[i];
    size_t rows, cols;
    gemm_data_block(&rows, &cols, a->rows, b->cols, a->cols, (double)PRODUCTS * times);
    if (times > 1 && rows * cols < GEMM_DATA_OUTPUTS_MIN * (size_t)times) {
        rows *= 2;
        cols *= 2;
    }
    return norm_sample_draw(to, a, b, rows, cols, q->metric->even, q->seed + (times > 1),
                            s->threads, s->progress, f);
}

static uint32_t largest_of(const struct matrix *x, uint32_t elsewhere)
{
    uint32_t largest = elsewhere;
    for (size_t i = 0; i < x->rows * x->cols; i++)
        largest = equilibrate_larger(largest, x->at[i]);
    return largest;
}

static void clear_one(struct advise_sample *s)
{
    norm_sample_clear(&s->first);
    norm_sample_clear(&s->second);
    free(s->d);
    *s = (struct advise_sample){ .d = NULL };
}

static enum bitcut_status draw_one(struct advise_sample *to,
                                   const struct advise_problem *q, size_t i,
                                   const struct advise_samples *all, struct fault *f)
{
    const struct matrix *const a = &q->a[i], *const b = &q->b[i];
    struct advise_sample s = { .metric = q->metric,
                               .largest = { largest_of(a, q->largest[0]),
                                            largest_of(b, q->largest[1]) },
                               .outputs = (double)a->rows * (double)b->cols };
    enum bitcut_status status = draw(&s.first, q, i, 1, all, f);
    if (status != BITCUT_OK) return status;
    status = draw(&s.second, q, i, CHECKS, all, f);
    if (status == BITCUT_OK) {
        const size_t first = s.first.a.rows * s.first.b.cols,
                     second = s.second.a.rows * s.second.b.cols;
        s.d = memory_allocate(first > second ? first : second, sizeof *s.d);
        if (!s.d)
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for results");
    }
    if (status == BITCUT_OK) *to = s;
    else clear_one(&s);
    return status;
}

enum bitcut_status advise_samples_draw(struct advise_samples *to,
                                       const struct advise_problem *q, int threads,
                                       const struct progress *progress, struct fault *f)
{
    struct advise_samples s = { .threads = threads, .progress = progress };
    enum bitcut_status status = BITCUT_OK;
    s.of = memory_allocate(q->pairs, sizeof *s.of);
    if (!s.of) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for samples");
    for (; s.count < q->pairs && status == BITCUT_OK; s.count += status == BITCUT_OK)
        status = draw_one(&s.of[s.count], q, s.count, &s, f);
    if (status == BITCUT_OK) *to = s;
    else advise_samples_clear(&s);
    return status;
}

void advise_samples_clear(struct advise_samples *s)
{
    for (size_t i = 0; i < s->count; i++) clear_one(&s->of[i]);
    free(s->of);
    *s = (struct advise_samples){ .of = NULL };
}

/* --- one trial -------------------------------------------------------------------- */

/* Whether no part overflows, in any row or column, including those outside the sample. */
static bool parts_fit(const struct advise_trial *t, const struct advise_sample *s)
{
    return gemm_equilibrates(&t->gemm) ||
           (equilibrate_spares(&t->plan.split_a, s->largest[0]) &&
            equilibrate_spares(&t->plan.split_b, s->largest[1]));
}

static enum bitcut_status run(struct norm_sample_error *to, const struct advise_trial *t,
                              const struct advise_sample *s, const struct norm_sample *w,
                              const struct advise_samples *all, struct fault *f)
{
    const struct gemm_options options = { .threads = all->threads,
                                          .progress = all->progress };
    struct bitcut_gemm g = t->gemm;
    struct hostfp mode;
    gemm_set_dense(&g, s->d, w->a.rows, w->b.cols, w->a.cols, w->a.at, w->b.at, NULL);
    const enum bitcut_status status = gemm_run(&g, &options, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    *to = s->metric->find(w, s->d, s->outputs);
    hostfp_leave(&mode);
    if (!parts_fit(t, s)) to->value = to->high = (double)INFINITY;
    return BITCUT_OK;
}

enum bitcut_status advise_try(struct advise_trial *t, const struct advise_samples *s,
                              struct fault *f)
{
    struct bitcut_advice *const to = &t->advice;
    to->checked = to->bound = (double)NAN;
    to->error = to->high = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct norm_sample_error one;
        const enum bitcut_status status = run(&one, t, &s->of[i], &s->of[i].first, s, f);
        if (status != BITCUT_OK) return status;
        to->error = larger_double(to->error, one.value);
        to->high = larger_double(to->high, one.high);
    }
    return BITCUT_OK;
}

/* The worst-case error, in *to; NaN: unknown. */
static enum bitcut_status find_bound(double *to, const struct advise_trial *t,
                                     const struct norm_sample_metric *metric,
                                     const struct norm_sample *w,
                                     const struct advise_samples *all, struct fault *f)
{
    const struct bound_row *const row = &bounds[BOUND_ALIGNED];
    const struct comparison *const x = &w->judge.comparison;
    struct bound_problem problem;
    char why[BOUND_WHY_MAX];
    *to = (double)NAN;
    enum bitcut_status status =
        bound_problem_make(&problem, &t->gemm, &t->plan, x, true, f);
    if (status != BITCUT_OK || !row->applies(why, &problem)) return status;
    double *const limit = memory_allocate(x->m * x->n, sizeof *limit);
    if (!limit) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for limits");
    status = bound_limits(limit, NULL, row, &problem, all->threads, all->progress, f);
    if (status == BITCUT_OK) {
        struct hostfp mode;
        hostfp_enter(&mode);
        *to = metric->limit(w, limit);
        hostfp_leave(&mode);
    }
    free(limit);
    return status;
}

/* For one product; *to has the earlier ones. */
static enum bitcut_status check(struct advise_trial *t, const struct advise_sample *s,
                                const struct advise_samples *all, struct fault *f)
{
    struct bitcut_advice *const to = &t->advice;
    struct norm_sample_error second;
    double bound;
    enum bitcut_status status = run(&second, t, s, &s->second, all, f);
    if (status != BITCUT_OK) return status;
    status = find_bound(&bound, t, s->metric, &s->second, all, f);
    to->checked = larger_double(to->checked, second.value);
    to->high = larger_double(to->high, second.value);
    to->bound = isnan(bound) ? bound : larger_double(to->bound, bound);
    return status;
}

enum bitcut_status advise_check(struct advise_trial *t, const struct advise_samples *s,
                                struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    t->advice.checked = t->advice.bound = 0;
    for (size_t i = 0; i < s->count && status == BITCUT_OK; i++)
        status = check(t, &s->of[i], s, f);
    return status;
}
