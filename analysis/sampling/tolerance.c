/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/tolerance.h"

#include "analysis/accuracy/metric_element.h"
#include "analysis/accuracy/short_result.h"
#include "analysis/sampling/arrangement.h"
#include "analysis/sampling/order_set.h"
#include "analysis/sampling/sampling.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

#define WIDER                                                                            \
    0.9 /* rtol is at most so large that limits become narrower by this factor */
#define MARGIN 1.25 /* factor above the errors of chosen orders */
#define FEW    8    /* effective products of an output, by sample_run.terms */
#define FEWER  4    /* effective elements of a norm, by sample_run.lead */
/* Possible underflow relative to a limit, for a heavy and for a light tail. */
#define RARE   1e-4
#define LITTLE 0.05

enum {
    PRODUCTS = 1 << 20, /* of a run, in each order                                   */
    STEPS = 5,          /* values of rtol, from 0 to the whole limit */
    SAMPLE = 64         /* outputs of a run whose sizes are stored */
};

/* An output: |A||B| and |C|. */
struct extent_of_output {
    double size, value;
};

/* Measures: |D - C| / |A||B|; the same less what underflows; both in norms. */
enum measure { BY_SIZE, BY_REST, BY_NORM, BY_NORM_REST, MEASURES };

/* The kinds of results: D of the drawn run, in the GEMM's own order or in all orders; D
   with k in its own order or in all chosen orders; zeros. */
enum whose { DRAWN, DRAWN_ALL, ARRANGED, ARRANGED_ALL, ZEROS, WHOSE };

/* The result of one run: measures of the D with the largest errors. */
struct run_report {
    double error[WHOSE][MEASURES];
    double reach[STEPS]; /* the largest |A||B| - t |C|, t = 0, 1/4, ... 1             */
    double least_share;  /* the smallest |C| / |A||B| */
    double least_value;  /* the smallest |C| that is not 0 */
    double lost, allowance; /* the largest allowance, in u |A||B| and absolute       */
    double any;             /* the largest possible underflow, in the same units */
    double terms, lead, bound; /* of the sample_run                                  */
    bool bounded;
    size_t over[BITCUT_DECADES], wrong;
    struct extent_of_output output[SAMPLE];
};

/* --- one run ---------------------------------------------------------------------- */

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

/* The data that all runs share. */
struct study_of_runs {
    const struct tolerance_problem *q;
    struct run_report *r;
    struct bitcut_order order[ORDERS_MAX];
    size_t orders, rows, cols;
    bool arranged[ARRANGEMENTS]; /* arrangements in addition to the drawn order */
    bool whole; /* each run has all rows and columns of the same matrices */
    struct bound_apriori bound, own_bound; /* own_bound: in the GEMM's own order */
};

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

static enum bitcut_status run_one(void *context, size_t number, struct fault *f)
{
    const struct study_of_runs *const s = context;
    struct run_report *const r = &s->r[number];
    struct sample_run run;
    struct hostfp mode;
    *r = (struct run_report){ 0 };
    for (int i = 0; i < WHOSE; i++)
        r->error[i][BY_REST] = r->error[i][BY_NORM_REST] = -INFINITY;
    enum bitcut_status status =
        sample_run_prepare(&run, &s->q->source, s->q->gemm, &s->bound, s->rows, s->cols,
                           number, f);
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

/* --- limits ----------------------------------------------------------------------- */

/* The reports, space for a number of each, and the probability with which one of them may
   exceed a limit. */
struct reports {
    const struct run_report *r;
    size_t count;
    size_t arranged, arranged_all; /* the first of these reports have k in its own order,
                                      in chosen orders */
    double *scratch, each, step; /* step: a rounding of the unit, in u, or 0 */
    double u;                    /* the unit roundoff */
};

static struct tail tail_of(const struct reports *x,
                           double (*number)(const struct run_report *, int), int which)
{
    struct tail t;
    for (size_t i = 0; i < x->count; i++) x->scratch[i] = number(&x->r[i], which);
    tail_fit(&t, x->scratch, x->count);
    return t;
}

static struct tail tail_of_errors(const struct reports *x, enum whose whose,
                                  enum measure measure)
{
    const size_t count = whose == ARRANGED       ? x->arranged
                         : whose == ARRANGED_ALL ? x->arranged_all
                                                 : x->count;
    struct tail t;
    for (size_t i = 0; i < count; i++) x->scratch[i] = x->r[i].error[whose][measure];
    tail_fit(&t, x->scratch, count);
    return t;
}

static double any_of(const struct run_report *r, int which)
{
    (void)which;
    return r->any;
}

static double reach_of(const struct run_report *r, int step) { return r->reach[step]; }

/* Shares are bounded from below. */
static double lack_of(const struct run_report *r, int which)
{
    (void)which;
    return -r->least_share;
}

/* A limit of a measure, in u. */
struct limit {
    double observed, most;
    bool known;
};

/* The limit for chosen orders, in l; a single run has no tail. */
static void add_arranged(struct limit *l, const struct reports *x, enum whose whose,
                         enum measure measure, double each)
{
    if (!(whose == ARRANGED ? x->arranged : x->arranged_all)) return;
    const struct tail t = tail_of_errors(x, whose, measure);
    const double most = t.x[t.count - 1];
    if (t.count > 1) l->observed = larger_double(l->observed, tail_limit(&t, each));
    l->observed = larger_double(l->observed, MARGIN * most);
    l->most = larger_double(l->most, most);
    l->known = l->known && tail_is_light(&t);
}

/* From the errors in the GEMM's own order, or in all orders. */
static struct limit limit_in(const struct reports *x, bool all, enum measure measure,
                             double each)
{
    const struct tail t = tail_of_errors(x, all ? DRAWN_ALL : DRAWN, measure);
    struct limit l = { .observed = tail_limit(&t, each),
                       .most = t.x[t.count - 1],
                       .known = tail_is_light(&t) };
    add_arranged(&l, x, all ? ARRANGED_ALL : ARRANGED, measure, each);
    l.observed = larger_double(
        l.observed, (l.known ? 1 : 2) * l.most + (measure <= BY_REST ? x->step : 0));
    return l;
}

/* A limit for all orders is at least the limit for the GEMM's own order on the same
   outputs: more kernels are correct, not fewer.  The formula alone does not ensure it:
   the largest errors over several orders lie closer together.  Whether it is known
   depends on the runs in all orders. */
static struct limit limit_of(const struct reports *x, enum measure measure, double each,
                             double bound)
{
    const struct limit own = limit_in(x, false, measure, each);
    struct limit l = limit_in(x, true, measure, each);
    l.observed = larger_double(l.observed, own.observed);
    l.known = l.known && own.known;
    if (!(l.observed < bound)) l.observed = bound;
    return l;
}

/* Whether underflow does not matter, or is the same in every run.  Otherwise it may occur
   in a few outputs of a few runs, so that no present run has it; outputs with small
   |A||B| are as rare. */
static bool underflow_is_little(const struct reports *x, double limit, bool whole)
{
    const struct tail t = tail_of(x, any_of, 0);
    const double most = t.x[t.count - 1];
    return whole || most <= RARE * limit || (tail_is_light(&t) && most <= LITTLE * limit);
}

/* The limit of an error less the underflow.  If no probability is known, it is the bound.
 */
static struct limit limit_of_rest(const struct reports *x, enum measure measure,
                                            double bound, bool known)
{
    struct limit l = limit_of(x, measure, x->each, bound);
    if (!l.known || !known) l.observed = bound;
    l.observed = larger_double(0, l.observed);
    l.known = true;
    return l;
}

static bool zeros_pass(const struct bitcut_tolerances *t, const struct run_report *r)
{
    const double *const error = r->error[ZEROS];
    return !(t->known && error[BY_SIZE] > t->limit) &&
           !(error[BY_REST] > t->with_underflow) &&
           !(t->norm_known && error[BY_NORM] > t->norm_limit) &&
           !(error[BY_NORM_REST] > t->norm_with_underflow);
}

/* The largest width of the limit `reach` + t |C| relative to |A||B| at nine of ten
   outputs. */
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

/* An infinite limit stays infinite. */
static double times(double limit, double x) { return isinf(limit) ? limit : limit * x; }

/* The value of rtol with the smallest width. */
static void find_allclose(struct bitcut_tolerances *to, const struct reports *x,
                          double *room, double bound, double observed)
{
    to->slack = INFINITY;
    for (int step = 0; step < STEPS; step++) {
        const struct tail t = tail_of(x, reach_of, step);
        const double reach =
                         tail_is_light(&t) ? tail_limit(&t, x->each / 2) : (double)INFINITY,
                     share = (double)step / (STEPS - 1),
                     slack = slack_of(x, room, reach, share);
        if (!(slack < WIDER * to->slack)) continue;
        to->slack = slack;
        to->rtol = times(observed, x->u * share);
        to->atol = times(observed, x->u * reach);
        to->bound_rtol = times(bound, x->u * share);
        to->bound_atol = times(bound, x->u * reach) + to->underflow_absolute;
    }
}

static void find_relative(struct bitcut_tolerances *to, const struct reports *x,
                          double *room, double bound, double observed)
{
    const struct tail t = tail_of(x, lack_of, 0);
    const double share = tail_is_light(&t) ? -tail_limit(&t, x->each / 2) : 0;
    to->rtol_slack = share > 0 ? slack_of(x, room, 0, 1 / share) : (double)INFINITY;
    to->rtol_alone = share > 0 ? observed * x->u / share : (double)INFINITY;
    to->bound_rtol_alone =
        share > 0 ? (bound + to->underflow) * x->u / share : (double)INFINITY;
}

/* Set to->bound to the bound of a unit, unless some run had none. */
static void count_sizes(struct bitcut_tolerances *to, const struct reports *x, double bound)
{
    const double outputs = (double)x->count * (double)to->outputs;
    to->bound = bound;
    for (size_t i = 0; i < x->count; i++) {
        to->underflow = larger_double(to->underflow, x->r[i].lost);
        to->underflow_absolute = larger_double(to->underflow_absolute, x->r[i].allowance);
        if (!x->r[i].bounded || x->r[i].wrong) to->bound = INFINITY;
        to->wrong += x->r[i].wrong;
        for (int d = 0; d < BITCUT_DECADES; d++)
            to->over[d] += (double)x->r[i].over[d] / outputs;
    }
    to->cancelling = to->over[1];
}

static void double_all(struct bitcut_tolerances *t)
{
    double *const limit[] = { &t->bound, &t->limit, &t->with_underflow, &t->norm_bound,
                              &t->norm_limit, &t->norm_with_underflow, &t->rtol,
                              &t->atol, &t->bound_rtol, &t->bound_atol, &t->rtol_alone,
                              &t->bound_rtol_alone, &t->underflow, &t->underflow_absolute };
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) *limit[i] *= 2;
}

/* The rounding of D, and of D2, for allclose(): half an ulp of a value x is at most u
   |x|, and half a subnormal number below the normal numbers, where rtol alone does not
   hold; |x| is at most |C| plus the limit.  Values that may overflow have no limit. */
static void widen_allclose(struct bitcut_tolerances *t, const struct reports *x,
                           const struct bitcut_format *format)
{
    double *const limit[][2] = { { &t->rtol, &t->atol },
                                 { &t->bound_rtol, &t->bound_atol },
                                 { &t->rtol_alone, NULL },
                                 { &t->bound_rtol_alone, NULL } };
    if (!result_is_short(format)) return;
    const double u = result_unit(format), times = t->two ? 2 : 1,
                 least = times * ldexp(0.5, format_least_exponent(format));
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        *limit[i][0] = (*limit[i][0] + times * u) * (1 + 2 * times * u);
        if (limit[i][1]) *limit[i][1] = (*limit[i][1] + least) * (1 + 2 * times * u);
    }
    for (size_t i = 0; i < x->count; i++)
        if (x->r[i].least_value < ldexp(1, format_emin(format)))
            t->rtol_alone = t->bound_rtol_alone = t->rtol_slack = INFINITY;
}

/* Norms with few effective elements vary as these elements do: their tail is in no sample
   of runs. */
static bool norms_are_broad(const struct reports *x, bool whole)
{
    for (size_t i = 0; i < x->count && !whole; i++)
        if (x->r[i].lead < FEWER) return false;
    return true;
}

/* One rounding more than in any run: if few products of an output are effective, errors
   come in such steps, and a step that occurs in fewer than one of the runs is not visible
   in a tail. */
static double step_of(const struct reports *x, const struct bitcut_gemm *g)
{
    const struct bitcut_unit *const u = g->unit;
    double least = INFINITY;
    for (size_t i = 0; i < x->count; i++)
        if (x->r[i].terms < least) least = x->r[i].terms;
    if (g->scheme) return least > FEW ? 0 : 1;
    return least > FEW ? 0
                       : ldexp(round_is_nearest(&u->rounding) ? 1 : 2,
                               23 - u->result->fraction_bits);
}

/* Of a GEMM with a start or steps, norms are relative to the norm of all magnitudes
   |A||B|: if |D - C| <= l |A||B| + r for each output, ||D - C|| <= l || |A||B| || +
   ||r||. So the componentwise limits are normwise limits, with r, what underflows, and
   without; they are taken where runs give none, as where factors let few outputs
   dominate, and where they are smaller.  No more correct results are rejected by them,
   because the first inequality is tested, too. */
static void take_component(struct bitcut_tolerances *to)
{
    if (to->known && (!to->norm_known || to->limit < to->norm_limit)) {
        to->norm_limit = to->limit;
        to->norm_known = true;
    }
    if (to->with_underflow < to->norm_with_underflow)
        to->norm_with_underflow = to->with_underflow;
}

/* Everything that is computed from the reports; `room` has SAMPLE numbers for each. */
static void conclude(struct bitcut_tolerances *to, const struct reports *x, double *room,
                     double unit_bound, double sums, bool whole, bool extended)
{
    count_sizes(to, x, unit_bound);
    const double bound = to->bound, all = bound + to->underflow;
    const bool broad = norms_are_broad(x, whole);
    const struct limit component = limit_of(x, BY_SIZE, x->each, all),
                       rest = limit_of_rest(x, BY_REST, bound, true),
                       norm = limit_of(x, BY_NORM, x->each, all),
                       norm_rest = limit_of_rest(x, BY_NORM_REST, bound, broad);
    to->limit = component.observed;
    to->max = component.most;
    to->known = component.known && underflow_is_little(x, component.observed, whole);
    to->with_underflow = rest.observed;
    to->with_underflow_max = rest.most;
    to->norm_bound = all;
    to->norm_limit = norm.observed;
    to->norm_max = norm.most;
    to->norm_known = norm.known && (whole || (to->known && broad));
    to->norm_with_underflow = norm_rest.observed;
    to->norm_with_underflow_max = norm_rest.most;
    if (extended) take_component(to);
    const double half = limit_of(x, BY_SIZE, x->each / 2, all).observed,
                 observed = to->known ? half + sums : (double)INFINITY;
    find_allclose(to, x, room, bound + sums, observed);
    find_relative(to, x, room, bound + sums, observed);
}

bool tolerance_needs_rest(const struct bitcut_tolerances *t)
{
    return !t->known || t->underflow > t->limit;
}

void limit_text(char text[REAL_TEXT_MAX], double x) { real_text(text, x * 1.0051, 3); }

enum { SLACK_MAX = 8 }; /* with larger factors, limits for allclose() are not useful */

bool tolerance_bound_closes(const void *limits)
{
    const struct bitcut_tolerances *const t = limits;
    return t->slack <= SLACK_MAX && isfinite(t->bound_atol);
}

bool tolerance_closes(const void *limits)
{
    const struct bitcut_tolerances *const t = limits;
    return t->slack <= SLACK_MAX && isfinite(t->atol);
}

bool tolerance_closes_alone(const void *limits)
{
    return ((const struct bitcut_tolerances *)limits)->rtol_slack <= SLACK_MAX;
}

/* The data that all runs share, and space for their reports and numbers. */
static enum bitcut_status prepare(struct study_of_runs *s, double **room,
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
    *room = memory_allocate(q->runs, (SAMPLE + 1) * sizeof **room);
    if (s->r && *room && s->orders) return BITCUT_OK;
    free(s->r);
    free(*room);
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the runs");
}

/* The worst-case bound in u |A||B|, other than what underflows: that of any matrices; of
   a scheme, the largest of the runs, which is not known for k in slices.  Multiply-adds
   have k u in any order. */
static double bound_of_runs(const struct study_of_runs *s)
{
    const struct bitcut_scheme *const scheme = s->q->gemm->scheme;
    double most = 0;
    if (!scheme) return s->bound.relative;
    if (s->orders > 1 && scheme->part != &formats[FORMAT_F64]) return INFINITY;
    for (size_t i = 0; i < s->q->runs; i++) most = larger_double(most, s->r[i].bound);
    return most;
}

enum bitcut_status tolerance_find(struct tolerance *to, const struct tolerance_problem *q,
                                  int threads, const struct progress *progress,
                                  struct fault *f)
{
    struct study_of_runs s;
    struct hostfp mode;
    double *room;
    enum bitcut_status status = prepare(&s, &room, q, f);
    if (status != BITCUT_OK) return status;
    status = runs_do(q->runs, run_one, &s, threads, progress, f);
    if (status == BITCUT_OK) {
        hostfp_enter(&mode);
        const double all = (double)(q->batch ? gemm_first_row(q->batch, q->batch->count)
                                             : q->m) *
                           (double)q->n,
                     blocks = all / ((double)s.rows * (double)s.cols);
        struct reports x = { .r = s.r,
                             .count = q->runs,
                             .arranged = !s.arranged[AS_IS] ? 0
                                         : s.whole          ? 1
                                                            : q->runs,
                             .arranged_all = !s.arranged[AS_IS] && !q->any_order ? 0
                                             : s.whole                           ? 1
                                                       : q->runs,
                             .scratch = room,
                             .each = q->alarm / blocks,
                             .u = q->gemm->scheme ? 0x1p-53 : 0x1p-24 };
        struct bitcut_tolerances *const t = &to->limits;
        *to = (struct tolerance){
            .limits = { .size = sizeof *t,
                        .any_order = q->any_order,
                        .two = q->two,
                        .false_alarm = q->alarm,
                        .runs = q->runs,
                        .outputs = s.rows * s.cols,
                        .orders = s.orders,
                        .arrangements = s.arranged[AS_IS] + 3 * q->any_order },
            .bound = s.bound,
            .sums = q->gemm->scheme ? 1 : 2 * (double)q->k * 0x1p-29
        };
        x.step = step_of(&x, q->gemm);
        conclude(t, &x, room + q->runs, bound_of_runs(&s), to->sums, s.whole,
                 gemm_is_extended(q->gemm));
        if (q->two) double_all(t);
        widen_allclose(t, &x, q->gemm->d.format);
        for (size_t i = 0; i < q->runs; i++) t->zeros += zeros_pass(t, &s.r[i]);
        hostfp_leave(&mode);
    }
    free(s.r);
    free(room);
    return status;
}
