/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/tolerance/given.h"

#include "lib/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* The least of the componentwise limits that are known, absolute. */
static double limit_at(const struct tolerance *t, const struct sample_run *r, size_t i)
{
    const double size = r->x.magnitude[i] * 0x1p-24, by_size = t->component.observed * size,
                 by_rest = t->rest.observed * size + r->allowance[i];
    return t->component.known && by_size < by_rest ? by_size : by_rest;
}

/* Errors of every output, and how many are above limits. */
static void count_errors(struct tolerance_given *to, const struct sample_run *r,
                         const struct tolerance *t)
{
    const struct comparison *const x = &r->x;
    to->component = 0;
    to->worst = 0;
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = fabs(metric_error(x, i)), u = backward_at(x, i);
        if (u > to->component) to->component = u, to->worst = i;
        to->wrong += isinf(error);
        to->above += error > limit_at(t, r, i);
        to->beyond +=
            error > t->component.bound * 0x1p-24 * x->magnitude[i] + r->allowance[i];
    }
}

static void judge_given(struct tolerance_given *to, const struct sample_run *r,
                        const struct tolerance *t)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    *to = (struct tolerance_given){
        .rest = sample_run_rest(r),
        .norm = metrics[METRIC_NORMWISE].value(&r->x, 1),
        .relative = metrics[METRIC_RELRES].value(&r->x, 1),
    };
    count_errors(to, r, t);
    ulp_histogram(to->bins, &r->x);
    criteria_run(to->accepted, r, t);
    /* Where there is no limit an infinite error is not above it. */
    for (int i = 0; i < CRITERIA && to->wrong; i++) to->accepted[i] = false;
    hostfp_leave(&mode);
}

/* Whether zeros would be accepted. */
static enum bitcut_status judge_zeros(struct tolerance_given *to, struct sample_run *r,
                                      const struct tolerance *t, struct fault *f)
{
    bool accepted[CRITERIA];
    struct hostfp mode;
    r->d = calloc(r->x.m * r->x.n, sizeof *r->d);
    if (!r->d) return fault_set(f, BITCUT_NO_MEMORY, "out of memory for the limits of D");
    r->x.d = r->d;
    hostfp_enter(&mode);
    criteria_run(accepted, r, t);
    hostfp_leave(&mode);
    to->zeros = accepted[CRITERION_BOTH];
    return BITCUT_OK;
}

enum bitcut_status tolerance_judge(struct tolerance_given *to, const struct tolerance *t,
                                   const struct tolerance_question *q,
                                   const struct gemm_data *data, const uint32_t *d,
                                   int threads, const struct progress *progress,
                                   struct fault *f)
{
    const struct exact_update update = { q->gemm->alpha, q->gemm->beta, data->c.at };
    const struct gemm_options options = { .threads = threads, .progress = progress };
    struct sample_run r = { .allowance = memory_allocate(q->m * q->n, sizeof(double)) };
    enum bitcut_status status =
        r.allowance
            ? judge_init(&r.j, &references[0], &data->a, &data->b, &update, &options, f)
            : fault_set(f, BITCUT_NO_MEMORY, "out of memory for the limits of D");
    if (status == BITCUT_OK) status = sample_run_allow(&r, q->gemm, &t->bound, f);
    if (status == BITCUT_OK) {
        r.x = r.j.comparison;
        r.x.d = d;
        judge_given(to, &r, t);
        status = judge_zeros(to, &r, t, f);
    }
    sample_run_clear(&r);
    return status;
}
