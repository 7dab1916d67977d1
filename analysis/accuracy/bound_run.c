/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/bound_run.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define U 0x1p-24

enum { FRACTION = 23, LEAST_EXPONENT = -149 };

/* --- fields ----------------------------------------------------------------------- */

static bool has_limits(const void *result)
{
    const struct bound_result *const r = result;
    return r->applies && r->outputs;
}

static bool is_other(const void *result)
{
    return !((const struct bound_result *)result)->applies;
}

static const char *kind(const void *result)
{
    return bound_kinds[((const struct bound_result *)result)->row->kind];
}

static const char *of(const void *result)
{
    return ((const struct bound_result *)result)->row->underflow ? "underflow" : "error";
}

static const char *source(const void *result)
{
    return ((const struct bound_result *)result)->row->source;
}

static void describe_verdict(char *text, size_t size, const void *result)
{
    const struct bound_result *const r = result;
    if (!r->applies) text_add(text, size, "no: %s", r->why);
    else if (r->violations)
        text_add(text, size, "%zu of %zu outputs are beyond, (%zu, %zu) the most",
                 r->violations, r->outputs, r->worst_at[0], r->worst_at[1]);
    else if (!r->outputs) text_add(text, size, "no output has a limit");
    else if (r->outputs < r->looked)
        text_add(text, size, "holds in %zu of %zu outputs that have a limit", r->outputs,
                 r->looked);
    else text_add(text, size, "holds in %zu outputs", r->outputs);
}

#define RESULT(member, key, unit, what)                                                  \
    RECORD_INNER(struct bound_result, member, key, unit, what)
#define LIMIT(member, key, unit, what)                                                   \
    RECORD_INNER_IF(struct bound_result, member, key, unit, what, has_limits)
#define MEDIAN(member, key, unit, what)                                                  \
    RECORD_MAYBE_IF(struct bound_result, member, key, unit, what, has_limits)
#define BY_SIZE "u |A||B|"

const struct record_field bound_fields[] = {
    /* clang-format off */
    RESULT(row, "bound", "", "its row in the table of bounds"),
    RECORD_TEXT_OF(kind, "kind", "\"rigorous\", \"probabilistic\" or \"estimate\""),
    RECORD_TEXT_OF(of, "of", "what it bounds: \"error\", or \"underflow\" (a part of the "
                             "error)"),
    RESULT(applies, "applies", "", "whether it applies to this GEMM"),
    RECORD_INNER_IF(struct bound_result, why, "why", "", "why it does not apply", is_other),
    MEDIAN(limit, "limit", BY_SIZE, "the median limit"),
    LIMIT(limit_most, "limit_max", BY_SIZE, "the largest limit"),
    MEDIAN(limit_ulp, "limit_ulp", "ulp", "the median limit"),
    LIMIT(observed, "observed", BY_SIZE, "the largest error"),
    LIMIT(ratio, "ratio", "", "the largest error / limit"),
    MEDIAN(tightness, "tightness", "", "the median of limit / error, over outputs with "
                                       "an error"),
    RESULT(outputs, "outputs", "", "outputs that have a limit"),
    RESULT(looked, "compared", "", "outputs that were checked"),
    RESULT(violations, "violations", "", "outputs with an error above their limit"),
    LIMIT(worst_at, "worst", "", "row and column of the output nearest to its limit"),
    LIMIT(worst_error, "worst_error", BY_SIZE, "the error of that output"),
    LIMIT(worst_limit, "worst_limit", BY_SIZE, "the limit of that output"),
    RECORD_SENTENCE(describe_verdict, "verdict", "whether the bound holds, as a sentence"),
    RECORD_TEXT_OF(source, "source", "source of the bound"),
    { 0 }
    /* clang-format on */
};

/* --- one output ------------------------------------------------------------------- */

/* Whether no sum of the output can overflow. */
static bool is_small(const struct bound_problem *x, size_t at)
{
    const struct bitcut_format *const c = x->plan->unit[0]->c, *const sums =
                                                                   x->plan->order
                                                                       .partial_format;
    const double alpha = fabs(value_of_float(x->result->alpha)),
                 size = x->result->magnitude[at] / fmin(1, alpha);
    const int emax =
        sums ? smaller_int(format_emax(c), format_emax(sums)) : format_emax(c);
    return size < ldexp(1, emax - 4) && !(sums && x->plan->equilibrate);
}

/* Whether a limit of an output is meaningful for its D. */
static bool is_limited(const struct bound_problem *x, size_t at, double limit)
{
    const bool finite =
        f32_is_finite(x->result->d[at]) && f32_is_finite(x->result->reference32[at]);
    if (!isfinite(limit) || !f32_is_finite(x->result->reference32[at])) return false;
    if (x->result->extra) return true; /* its limit says so */
    return is_small(x, at) ||
           (finite && x->plan->recipe->zeroed == RECIPE_ZEROES_NOTHING);
}

/* The distance of FP32 values at the exact one. */
static double ulp_at(double x)
{
    int exponent;
    if (x == 0) return ldexp(1, LEAST_EXPONENT);
    frexp(x, &exponent);
    return ldexp(1, larger_int(exponent - 1 - FRACTION, LEAST_EXPONENT));
}

/* --- many ------------------------------------------------------------------------- */

/* Values collected for medians. */
struct tally {
    double *limit, *ulps, *tightness;
    size_t limits, erring;
};

static bool tally_init(struct tally *t, size_t count)
{
    *t = (struct tally){ .limit = memory_allocate(count, 3 * sizeof *t->limit) };
    if (!t->limit) return false;
    t->ulps = t->limit + count;
    t->tightness = t->ulps + count;
    return true;
}

static void take(struct bound_result *to, struct tally *t, const struct bound_problem *x,
                 size_t at, double limit, double error)
{
    const double exact = double_of_bits(x->result->reference64[at]),
                 unit = U * x->result->magnitude[at],
                 ratio = error == 0 ? 0 : error / limit;
    to->outputs++;
    to->violations += error > limit + 0x1p-52 * fabs(exact);
    if (to->worst == x->result->m * x->result->n || ratio > to->ratio) {
        to->worst = at;
        to->worst_at[0] = at / x->result->n;
        to->worst_at[1] = at % x->result->n;
        to->ratio = ratio;
        to->worst_error = unit > 0 ? error / unit : 0;
        to->worst_limit = unit > 0 ? limit / unit : 0;
    }
    if (unit == 0) return;
    to->limit_most = larger_double(to->limit_most, limit / unit);
    to->observed = larger_double(to->observed, error / unit);
    t->limit[t->limits] = limit / unit;
    t->ulps[t->limits++] = limit / ulp_at(exact);
    if (error > 0) t->tightness[t->erring++] = limit / error;
}

static void settle(struct bound_result *to, struct tally *t)
{
    to->limit = doubles_median(t->limit, t->limits);
    to->limit_ulp = doubles_median(t->ulps, t->limits);
    to->tightness = doubles_median(t->tightness, t->erring);
    free(t->limit);
}

static struct bound_result result_of(const struct bound_row *row,
                                     const struct bound_problem *x)
{
    struct bound_result r = { .row = row,
                              .worst = x->result->m * x->result->n,
                              .format = x->result->format };
    r.applies = bound_applies(r.why, row, x);
    return r;
}

static enum bitcut_status no_memory(struct fault *f)
{
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bounds");
}

enum bitcut_status bound_run_row(struct bound_result *to, const struct bound_row *row,
                                 const struct bound_problem *x, int threads,
                                 const struct progress *progress, struct fault *f)
{
    const size_t count = x->result->m * x->result->n;
    struct tally t;
    struct hostfp mode;
    *to = result_of(row, x);
    if (!to->applies) return BITCUT_OK;
    double *const limit = memory_allocate(count, sizeof *limit);
    if (!limit || !tally_init(&t, count)) {
        free(limit);
        return no_memory(f);
    }
    const enum bitcut_status status =
        bound_limits(limit, NULL, row, x, threads, progress, f);
    hostfp_enter(&mode);
    to->looked = count;
    for (size_t at = 0; at < count && status == BITCUT_OK; at++)
        if (is_limited(x, at, limit[at]))
            take(to, &t, x, at, limit[at], metric_unrounded(x->result, at));
    settle(to, &t);
    hostfp_leave(&mode);
    free(limit);
    return status;
}

/* --- rows that simulate the emulator ---------------------------------------------- */

enum { CHUNK = 64 };

static struct spread_evenly sample_of(const struct bound_problem *x, size_t samples)
{
    return spread_evenly(x->result->m * x->result->n,
                         samples ? (double)samples
                                 : 0x1p20 / larger_double(1, (double)x->result->k));
}

static enum bitcut_status watch(struct bound_watched *to, const struct bound_problem *x,
                                const struct spread_evenly *s, size_t from, size_t end,
                                int threads, const struct progress *progress)
{
    enum bitcut_status worst = BITCUT_OK;
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, end - from))
    for (size_t i = from; i < end; i++) {
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status =
            bound_watch(&to[i - from], x, spread_place(s, i), NULL);
        if (status == BITCUT_OK) continue;
#pragma omp atomic write
        worst = status;
    }
    return worst;
}

/* The results of these rows for outputs `from` to `end` of the sample. */
static void take_watched(struct bound_result results[BOUNDS], struct tally t[BOUNDS],
                         const struct bound_problem *x, const struct spread_evenly *s,
                         size_t from, size_t end, const struct bound_watched *watched)
{
    for (int r = 0; r < BOUNDS; r++)
        for (size_t i = from; i < end && bounds[r].watched && results[r].applies; i++) {
            const struct bound_watched *const w = &watched[i - from];
            const double limit =
                w->budget.event.what ? (double)NAN : bounds[r].watched(w);
            const double error =
                bounds[r].underflow ? w->budget.part[BUDGET_UNDERFLOW] : w->budget.error;
            results[r].looked++;
            if (isfinite(limit))
                take(&results[r], &t[r], x, spread_place(s, i), limit, fabs(error));
        }
}

static enum bitcut_status run_watched(struct bound_result results[BOUNDS],
                                      struct tally t[BOUNDS],
                                      const struct bound_problem *x,
                                      const struct spread_evenly *s, int threads,
                                      const struct progress *progress)
{
    struct bound_watched *const watched = memory_allocate(CHUNK, sizeof *watched);
    enum bitcut_status status = watched ? BITCUT_OK : BITCUT_NO_MEMORY;
    for (size_t from = 0; from < s->count && status == BITCUT_OK; from += CHUNK) {
        const size_t end = smaller(from + CHUNK, s->count);
        status = watch(watched, x, s, from, end, threads, progress);
        if (progress_stopped(progress)) status = BITCUT_UNSUPPORTED;
        if (status == BITCUT_OK) take_watched(results, t, x, s, from, end, watched);
        progress_report(progress, end, s->count);
    }
    free(watched);
    return status;
}

static enum bitcut_status run_all_watched(struct bound_result results[BOUNDS],
                                          const struct bound_problem *x, size_t samples,
                                          int threads, const struct progress *progress,
                                          struct fault *f)
{
    const struct spread_evenly s = sample_of(x, samples);
    struct tally t[BOUNDS] = { { .limit = NULL } };
    struct hostfp mode;
    enum bitcut_status status = BITCUT_OK;
    bool any = false;
    for (int r = 0; r < BOUNDS; r++) any |= bounds[r].watched && results[r].applies;
    if (!any) return BITCUT_OK;
    for (int r = 0; r < BOUNDS; r++)
        if (bounds[r].watched && !tally_init(&t[r], s.count)) status = BITCUT_NO_MEMORY;
    hostfp_enter(&mode);
    if (status == BITCUT_OK) status = run_watched(results, t, x, &s, threads, progress);
    for (int r = 0; r < BOUNDS; r++)
        if (bounds[r].watched) settle(&results[r], &t[r]);
    hostfp_leave(&mode);
    if (status == BITCUT_NO_MEMORY) no_memory(f);
    if (status == BITCUT_UNSUPPORTED) fault_set(f, status, "stopped");
    return status;
}

enum bitcut_status bound_run(struct bound_result results[BOUNDS],
                             const struct bound_problem *x, size_t samples, int threads,
                             const struct progress *progress, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    assert(!bounds[BOUNDS].name);
    for (int r = 0; r < BOUNDS && status == BITCUT_OK; r++)
        if (bounds[r].watched) results[r] = result_of(&bounds[r], x);
        else status = bound_run_row(&results[r], &bounds[r], x, threads, progress, f);
    return status == BITCUT_OK
               ? run_all_watched(results, x, samples, threads, progress, f)
               : status;
}

enum bitcut_status bound_find(struct bound_result results[BOUNDS],
                              const struct bound_request *q,
                              const struct gemm_options *options, struct fault *f)
{
    struct bound_problem problem;
    struct judge j;
    enum bitcut_status status = gemm_data_judge(&j, q->data, q->gemm, options, f);
    if (status != BITCUT_OK) return status;
    j.comparison.d = q->d;
    status = bound_problem_make(&problem, q->gemm, q->plan, &j.comparison, q->given, f);
    if (status == BITCUT_OK)
        status = bound_run(results, &problem, q->samples, options->threads,
                           options->progress, f);
    judge_clear(&j);
    return status;
}

const struct bound_result *bound_broken(const struct bound_result results[BOUNDS])
{
    for (int i = 0; i < BOUNDS; i++)
        if (bounds[i].kind == BOUND_RIGOROUS && results[i].violations) return &results[i];
    return NULL;
}

void describe_bound(char *text, size_t size, const struct bound_result *r)
{
    if (!r->applies || !r->outputs) return;
    text_add(text, size,
             "output (%zu, %zu) is nearest to its bound, %.3g of %.3g u |A||B|; ",
             r->worst_at[0], r->worst_at[1], r->worst_error, r->worst_limit);
    if (result_is_short(r->format))
        text_add(text, size, "before the rounding to %s, u = 2^-24; ",
                 result_name(r->format));
    if (r->violations)
        text_add(text, size, "%zu of %zu outputs exceed their bounds", r->violations,
                 r->outputs);
    else text_add(text, size, "all %zu outputs are within their bounds", r->outputs);
    if (r->outputs < r->looked)
        text_add(text, size, ", %zu have none", r->looked - r->outputs);
}

/* The bound of that kind with the largest ratio of an error to its limit; NULL: no bound
   of that kind has outputs. */
static const struct bound_result *nearest_bound(const struct bound_result results[BOUNDS],
                                                bool rigorous)
{
    const struct bound_result *nearest = NULL;
    for (const struct bound_result *r = results; r < results + BOUNDS; r++)
        if (has_limits(r) && !r->row->underflow &&
            (r->row->kind == BOUND_RIGOROUS) == rigorous &&
            (!nearest || r->ratio > nearest->ratio))
            nearest = r;
    return nearest;
}

static void describe_all(char *text, size_t size, const void *results)
{
    const struct bound_result *const broken = bound_broken(results), *const nearest =
                                                                         nearest_bound(
                                                                             results,
                                                                             true);
    if (broken)
        text_add(
            text, size,
            "the error exceeds the rigorous bound %s in %zu of %zu outputs: this recipe "
            "on this unit did not compute D",
            broken->row->name, broken->violations, broken->outputs);
    else if (nearest) text_add(text, size, "the error is within every rigorous bound");
    else text_add(text, size, "no output has a rigorous bound");
}

static void describe_expected(char *text, size_t size, const void *results)
{
    const struct bound_result *const r = nearest_bound(results, false);
    if (r)
        text_add(text, size, "up to %.3g u |A||B| (%s: %s), the error is %.3g",
                 r->worst_limit, r->row->name, kind(r), r->worst_error);
}

static void describe_nearest(char *text, size_t size, const void *results)
{
    const struct bound_result *const r = nearest_bound(results, true);
    if (!r) return;
    describe_bound(text, size, r);
    text_add(text, size, " (%s, the nearest)", r->row->name);
}

const struct record_line bound_lines[] = {
    VERDICT_LINES(describe_all, describe_expected, describe_nearest), { 0 }
};

void bound_describe_broken(char *text, size_t size, const void *results)
{
    const struct bound_result *const broken = bound_broken(results);
    if (!broken) return;
    text_add(text, size, "NO: the rigorous bound \"%s\" is broken: ", broken->row->name);
    describe_verdict(text, size, broken);
}
