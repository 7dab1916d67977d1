/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/bound_check.h"

#include "analysis/accuracy/bound_run.h"
#include "analysis/fp64/dense.h"
#include "emu/gemm_sentence.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* --- fields ----------------------------------------------------------------------- */

static bool has_limits(const void *x) { return ((const struct bound_check *)x)->outputs; }

static const char *kind(const void *x)
{
    (void)x;
    return bound_kinds[BOUND_RIGOROUS];
}

static const char *source(const void *x)
{
    return scheme_bound_source(((const struct bound_check *)x)->scheme);
}

static void describe_verdict(char *text, size_t size, const void *answer)
{
    const struct bound_check *const r = answer;
    if (r->violations)
        text_add(text, size, "%zu of %zu outputs are beyond, (%zu, %zu) the most",
                 r->violations, r->outputs, r->worst_at[0], r->worst_at[1]);
    else if (!r->outputs) text_add(text, size, "no output has a limit");
    else if (r->outputs < r->compared)
        text_add(text, size, "holds in %zu of %zu outputs that have a limit", r->outputs,
                 r->compared);
    else text_add(text, size, "holds in %zu outputs", r->outputs);
}

#define BY_SIZE "u |A||B|"
#define OF(member, key, unit, what)                                                      \
    RECORD_INNER(struct bound_check, member, key, unit, what)
#define LIMIT(member, key, unit, what)                                                   \
    RECORD_INNER_IF(struct bound_check, member, key, unit, what, has_limits)
/* clang-format off */
const struct record_field bound_check_fields[] = {
    OF(scheme, "scheme", "", "the scheme"),
    OF(input_a, "input_a", "", "file or family of A"),
    OF(input_b, "input_b", "", "file or family of B"),
    RECORD_TEXT_OF(kind, "kind", "\"rigorous\": no D of the scheme exceeds the bound"),
    RECORD_MAYBE_IF(struct bound_check, limit, "limit", BY_SIZE, "the median limit", has_limits),
    LIMIT(limit_max, "limit_max", BY_SIZE, "the largest limit"),
    LIMIT(observed, "observed", BY_SIZE, "the largest error"),
    LIMIT(ratio, "ratio", "", "the largest error / limit"),
    RECORD_MAYBE_IF(struct bound_check, tightness, "tightness", "", "the median of limit / error, over outputs with an error", has_limits),
    OF(outputs, "outputs", "", "outputs that have a limit"),
    OF(compared, "compared", "", "outputs that were checked"),
    OF(violations, "violations", "", "outputs with an error above their limit"),
    LIMIT(worst_at, "worst", "", "row and column of the output nearest to its limit"),
    LIMIT(worst_error, "worst_error", BY_SIZE, "the error of that output"),
    LIMIT(worst_limit, "worst_limit", BY_SIZE, "the limit of that output"),
    LIMIT(terms.parts, "terms.parts", BY_SIZE, "its term of products and bits that no part has"),
    LIMIT(terms.additions, "terms.additions", BY_SIZE, "its term of FP64 additions, or of the reconstruction"),
    LIMIT(terms.update, "terms.update", BY_SIZE, "its term of alpha, beta C and the last rounding"),
    RECORD_SENTENCE(describe_verdict, "verdict", "whether the bound holds, as a sentence"),
    RECORD_TEXT_OF(source, "source", "source of the formula"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

bool bound_checks_broken(const struct bound_checks *x)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->check[i].violations) return true;
    return false;
}

static void describe_all(char *text, size_t size, const void *answer)
{
    const struct bound_checks *const x = answer;
    size_t outputs = 0, violations = 0;
    for (size_t i = 0; i < x->count; i++)
        outputs += x->check[i].outputs, violations += x->check[i].violations;
    if (!outputs) text_add(text, size, "no output has a bound");
    else if (violations)
        text_add(text, size,
                 "%zu of %zu outputs exceed the bound: this scheme on this unit did not "
                 "compute D",
                 violations, outputs);
    else
        text_add(text, size,
                 "all %zu outputs that have a bound are within it (%zu pair%s of "
                 "matrices)",
                 outputs, x->count, x->count == 1 ? "" : "s");
}

static void describe_nearest(char *text, size_t size, const void *answer)
{
    const struct bound_checks *const x = answer;
    const struct bound_check *most = NULL;
    for (size_t i = 0; i < x->count; i++)
        if (x->check[i].outputs && (!most || x->check[i].ratio > most->ratio))
            most = &x->check[i];
    if (!most) return;
    text_add(
        text, size,
        "output (%zu, %zu) of A %s, B %s is nearest: %.3g of %.3g u |A||B|, u = "
        "2^-53; terms of its bound: parts %.3g, FP64 additions %.3g, alpha and beta C "
        "%.3g",
        most->worst_at[0], most->worst_at[1], most->input_a, most->input_b,
        most->worst_error, most->worst_limit, most->terms.parts, most->terms.additions,
        most->terms.update);
}

static void describe_source(char *text, size_t size, const void *answer)
{
    const struct bound_checks *const x = answer;
    if (x->count) text_add(text, size, "%s", scheme_bound_source(x->check[0].scheme));
}

const struct record_line bound_checks_lines[] = {
    { LABEL_VERDICT, describe_all, RECORD_ALWAYS, NULL },
    { LABEL_WORST, describe_nearest, RECORD_ALWAYS, NULL },
    { "source", describe_source, RECORD_ALWAYS, NULL },
    { 0 }
};

/* --- comparing -------------------------------------------------------------------- */

/* Count output i; limits and quotients go to the arrays, and their numbers to counts. */
static void take(struct bound_check *to, double *limits, double *quotients,
                 size_t *erring, const struct comparison *x,
                 const struct scheme_terms *terms, size_t i)
{
    const double limit = terms->parts + terms->additions + terms->update,
                 error = fabs(metric_error(x, i)), unit = 0x1p-53 * x->magnitude[i],
                 ratio = error == 0 ? 0 : error / limit;
    if (!isfinite(limit) || !(unit > 0)) return;
    const bool first = !to->outputs;
    limits[to->outputs++] = limit / unit;
    to->violations += error > limit;
    to->limit_max = larger_double(to->limit_max, limit / unit);
    to->observed = larger_double(to->observed, error / unit);
    if (error > 0) quotients[(*erring)++] = limit / error;
    if (!first && !(ratio > to->ratio)) return;
    to->ratio = ratio;
    to->worst_at[0] = i / x->n, to->worst_at[1] = i % x->n;
    to->worst_error = error / unit;
    to->worst_limit = limit / unit;
    to->terms = (struct scheme_terms){ terms->parts / unit, terms->additions / unit,
                                       terms->update / unit };
}

static enum bitcut_status compare(struct bound_check *to, const struct comparison *x,
                                  const struct fp64_job *job, struct fault *f)
{
    const size_t count = x->m * x->n;
    struct scheme_terms *const terms = memory_allocate(count, sizeof *terms);
    double *const limits = memory_allocate(count, 2 * sizeof *limits);
    size_t erring = 0;
    struct hostfp saved;
    enum bitcut_status status =
        terms && limits ? scheme_bound_terms(terms, job, x->magnitude, f)
                        : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for bounds");
    hostfp_enter(&saved);
    to->compared = count;
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        take(to, limits, limits + count, &erring, x, &terms[i], i);
    if (status == BITCUT_OK) {
        to->limit = doubles_median(limits, to->outputs);
        to->tightness = doubles_median(limits + count, erring);
    }
    hostfp_leave(&saved);
    free(terms);
    free(limits);
    return status;
}

enum bitcut_status bound_check_find(struct bound_check *to, const struct bitcut_gemm *g,
                                    const struct fp64_choice *by,
                                    const struct gemm_options *options, struct fault *f)
{
    struct fp64_job job = fp64_job_of(g, by, options);
    struct dense x;
    struct judge j;
    *to = (struct bound_check){ .scheme = g->scheme };
    if (by->slices > 1)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "there is no bound for k in slices, which have scales of their "
                         "own");
    enum bitcut_status status =
        dense_make(&x, g, options->threads)
            ? dense_judge(&j, &x, g, &references[0], options, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    if (status == BITCUT_OK) {
        dense_set_job(&job, &x);
        status = compare(to, &j.comparison, &job, f);
        judge_clear(&j);
    }
    dense_clear(&x);
    return status;
}
