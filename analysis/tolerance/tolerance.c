#include "analysis/tolerance/tolerance.h"

#include "analysis/error/runs.h"
#include "analysis/error/tail.h"
#include "analysis/tolerance/order_set.h"
#include "lib/bits.h"
#include "lib/hostfp.h"
#include "lib/size.h"

#include <math.h>
#include <stdlib.h>

#define U     0x1p-24
#define WIDER 0.9 /* rtol is no larger than makes limits narrower by this */

enum {
    PRODUCTS = 1 << 20, /* of a run, all orders together                             */
    STEPS = 5,          /* of rtol, from 0 to the whole limit                        */
    SAMPLE = 64         /* outputs of a run whose sizes are kept                     */
};

/* An output: |A||B| and |C|. */
struct extent_of_output {
    double size, value;
};

/* What one run tells. */
struct run_report {
    double component, norm;
    double reach[STEPS]; /* the largest |A||B| - t |C|, t = 0, 1/4, ... 1             */
    double least_share;  /* the least |C| / |A||B|                                   */
    double lost, allowance; /* the largest allowance, in u |A||B| and absolute       */
    bool bounded;
    size_t over[CONDITION_DECADES], wrong;
    struct extent_of_output output[SAMPLE];
};

/* --- one run ---------------------------------------------------------------------- */

/* The measures of D, of any order the largest. */
static void take_errors(struct run_report *r, const struct sample_run *run)
{
    const struct comparison *const x = &run->x;
    r->norm = larger_double(r->norm, metrics[METRIC_NORMWISE].value(x, 1));
    r->wrong += (size_t)metrics[METRIC_WRONG].value(x, 1);
    r->component = larger_double(r->component, metrics[METRIC_BACKWARD_MAX].value(x, 1));
}

static double value_at(const struct comparison *x, size_t i)
{
    return fabs(double_of_bits(x->reference64[i]));
}

/* What does not depend on D.  Outputs that are not finite have no part in it. */
static void take_sizes(struct run_report *r, const struct sample_run *run)
{
    const struct comparison *const x = &run->x;
    const size_t count = x->m * x->n;
    r->least_share = INFINITY;
    r->bounded = run->bounded;
    for (size_t i = 0; i < count; i++) {
        const double size = x->magnitude[i], value = value_at(x, i);
        double most = 1;
        if (!isfinite(size) || !isfinite(value)) continue;
        for (int t = 0; t < STEPS; t++)
            r->reach[t] = larger_double(r->reach[t], size - t * value / (STEPS - 1));
        r->allowance = larger_double(r->allowance, run->allowance[i]);
        if (size == 0) continue;
        r->lost = larger_double(r->lost, run->allowance[i] / size / U);
        if (value < r->least_share * size) r->least_share = value / size;
        for (int d = 0; d < CONDITION_DECADES; d++, most *= 10)
            r->over[d] += size > most * value;
    }
    for (size_t s = 0; s < SAMPLE; s++) {
        const size_t i = s * count / SAMPLE;
        r->output[s] = (struct extent_of_output){ x->magnitude[i], value_at(x, i) };
    }
}

/* What all runs share. */
struct study_of_runs {
    const struct tolerance_question *q;
    struct run_report *r;
    struct bitcut_order order[ORDERS_MOST];
    size_t orders, rows, cols;
    struct bound_apriori bound;
};

static enum bitcut_status run_one(void *context, size_t number, struct fault *f)
{
    const struct study_of_runs *const s = context;
    struct run_report *const r = &s->r[number];
    struct bitcut_gemm g = *s->q->gemm;
    struct sample_run run;
    struct hostfp mode;
    *r = (struct run_report){ 0 };
    g.order = s->order[0];
    enum bitcut_status status =
        sample_run_make(&run, &s->q->source, &g, &s->bound, s->rows, s->cols, number, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    take_sizes(r, &run);
    for (size_t o = 0; o < s->orders && status == BITCUT_OK; o++) {
        g.order = s->order[o];
        if (o) status = sample_run_compute(&run, &g, f);
        if (status == BITCUT_OK) take_errors(r, &run);
    }
    hostfp_leave(&mode);
    sample_run_clear(&run);
    return status;
}

/* --- limits ----------------------------------------------------------------------- */

/* The reports, room for a number of each, and the probability that one of them may be
   above a limit. */
struct reports {
    const struct run_report *r;
    size_t count;
    double *scratch, each;
};

static struct tail tail_of(const struct reports *x,
                           double (*number)(const struct run_report *, int), int which)
{
    struct tail t;
    for (size_t i = 0; i < x->count; i++) x->scratch[i] = number(&x->r[i], which);
    tail_fit(&t, x->scratch, x->count);
    return t;
}

static double component_of(const struct run_report *r, int which)
{
    (void)which;
    return r->component;
}

static double norm_of(const struct run_report *r, int which)
{
    (void)which;
    return r->norm;
}

static double reach_of(const struct run_report *r, int step) { return r->reach[step]; }

/* Shares are looked at from below. */
static double lack_of(const struct run_report *r, int which)
{
    (void)which;
    return -r->least_share;
}

static struct tolerance_limit limit_of_tail(const struct tail *t, double each,
                                            double bound)
{
    const double limit = tail_limit(t, each);
    return (struct tolerance_limit){ .bound = bound,
                                     .observed = limit < bound ? limit : bound,
                                     .most = t->x[t->count - 1] };
}

/* How wide the limit `reach` + t |C| is beside |A||B| at nine of ten outputs, at most. */
static double slack_of(const struct reports *x, double *room, double reach, double t)
{
    struct tail all;
    size_t count = 0;
    for (size_t i = 0; i < x->count; i++)
        for (size_t s = 0; s < SAMPLE; s++) {
            const struct extent_of_output *const o = &x->r[i].output[s];
            if (isfinite(o->size) && isfinite(o->value) && o->size > 0)
                room[count++] = (reach + t * o->value) / o->size;
        }
    if (!count) return INFINITY;
    tail_fit(&all, room, count);
    return all.x[count * 9 / 10];
}

/* What is without limit stays so. */
static double times(double limit, double x) { return isinf(limit) ? limit : limit * x; }

/* The step of rtol that makes limits the least wide. */
static void find_allclose(struct tolerance *to, const struct reports *x, double *room,
                          const double limit[2])
{
    to->slack = INFINITY;
    for (int step = 0; step < STEPS; step++) {
        const struct tail t = tail_of(x, reach_of, step);
        const double reach = tail_limit(&t, x->each / 2),
                     share = (double)step / (STEPS - 1),
                     slack = slack_of(x, room, reach, share);
        if (!(slack < WIDER * to->slack)) continue;
        to->slack = slack;
        for (int i = 0; i < 2; i++)
            to->allclose[i] = (struct allclose){ .rtol = times(limit[i], U * share),
                                                 .atol = times(limit[i], U * reach) +
                                                         (i ? 0 : to->allowance) };
    }
}

static void find_relative(struct tolerance *to, const struct reports *x, double *room,
                          const double limit[2])
{
    const struct tail t = tail_of(x, lack_of, 0);
    const double share = -tail_limit(&t, x->each / 2);
    to->rtol_slack = share > 0 ? slack_of(x, room, 0, 1 / share) : (double)INFINITY;
    for (int i = 0; i < 2; i++)
        to->rtol[i] =
            share > 0 ? (limit[i] + (i ? 0 : to->lost)) * U / share : (double)INFINITY;
}

static void count_sizes(struct tolerance *to, const struct reports *x)
{
    const double outputs = (double)x->count * (double)to->rows * (double)to->cols;
    for (size_t i = 0; i < x->count; i++) {
        to->lost = larger_double(to->lost, x->r[i].lost);
        to->allowance = larger_double(to->allowance, x->r[i].allowance);
        if (!x->r[i].bounded || x->r[i].wrong) to->bound.relative = INFINITY;
        to->wrong += x->r[i].wrong;
        for (int d = 0; d < CONDITION_DECADES; d++)
            to->cancelling[d] += (double)x->r[i].over[d] / outputs;
    }
}

static void double_all(struct tolerance *t)
{
    struct tolerance_limit *const limit[] = { &t->component, &t->norm };
    for (int i = 0; i < 2; i++) {
        limit[i]->bound *= 2;
        limit[i]->observed *= 2;
        t->allclose[i].rtol *= 2;
        t->allclose[i].atol *= 2;
        t->rtol[i] *= 2;
    }
    t->lost *= 2;
    t->allowance *= 2;
}

/* All that the reports say; `room` has SAMPLE numbers for each. */
static void conclude(struct tolerance *to, const struct reports *x, double *room)
{
    count_sizes(to, x);
    const double bound = to->bound.relative, all = bound + to->lost, sums = to->sums;
    struct tail t = tail_of(x, component_of, 0);
    to->component = limit_of_tail(&t, x->each, all);
    to->component.bound = bound;
    const double half = tail_limit(&t, x->each / 2);
    const double limit[2] = { bound + sums, (half < all ? half : all) + sums };
    t = tail_of(x, norm_of, 0);
    to->norm = limit_of_tail(&t, x->each, all);
    find_allclose(to, x, room, limit);
    find_relative(to, x, room, limit);
}

/* What all runs share, and room for their reports and the numbers of these. */
static enum bitcut_status prepare(struct study_of_runs *s, double **room,
                                  const struct tolerance_question *q, struct fault *f)
{
    *s = (struct study_of_runs){ .q = q, .orders = 1, .order = { q->gemm->order } };
    const enum bitcut_status status =
        bound_apriori(&s->bound, q->gemm, q->k, q->any_order, f);
    if (status != BITCUT_OK) return status;
    if (q->any_order) s->orders = order_set(s->order, q->gemm);
    gemm_data_block(&s->rows, &s->cols, q->m, q->n, q->k,
                    (double)PRODUCTS / (double)s->orders);
    s->r = memory_allocate(q->runs, sizeof *s->r);
    *room = memory_allocate(q->runs, (SAMPLE + 1) * sizeof **room);
    if (s->r && *room) return BITCUT_OK;
    free(s->r);
    free(*room);
    return fault_set(f, BITCUT_NO_MEMORY, "out of memory for the runs");
}

enum bitcut_status tolerance_find(struct tolerance *to,
                                  const struct tolerance_question *q, int threads,
                                  const struct progress *progress, struct fault *f)
{
    struct study_of_runs s;
    struct hostfp mode;
    double *room;
    enum bitcut_status status = prepare(&s, &room, q, f);
    if (status != BITCUT_OK) return status;
    status = runs_do(q->runs, run_one, &s, threads, progress, f);
    if (status == BITCUT_OK) {
        hostfp_enter(&mode);
        const double blocks =
            (double)q->m * (double)q->n / ((double)s.rows * (double)s.cols);
        const struct reports x = { s.r, q->runs, room, q->alarm / blocks };
        *to = (struct tolerance){ .runs = q->runs,
                                  .rows = s.rows,
                                  .cols = s.cols,
                                  .orders = s.orders,
                                  .bound = s.bound,
                                  .sums = 2 * (double)q->k * 0x1p-29 };
        conclude(to, &x, room + q->runs);
        if (q->two) double_all(to);
        hostfp_leave(&mode);
    }
    free(s.r);
    free(room);
    return status;
}
