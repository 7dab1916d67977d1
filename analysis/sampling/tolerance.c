/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/tolerance_run.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
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
    enum bitcut_status status = tolerance_runs_make(&s, q, f);
    if (status != BITCUT_OK) return status;
    double *const room = memory_allocate(q->runs, (SAMPLE + 1) * sizeof *room);
    status = room ? runs_do(q->runs, tolerance_run, &s, threads, progress, f)
                  : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the runs");
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
