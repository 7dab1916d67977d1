/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/tolerance_text.h"

#include "analysis/accuracy/short_result.h"
#include "analysis/sampling/c_function.h"
#include "analysis/sampling/python_lines.h"
#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"

#include <math.h>
#include <string.h>

/* --- fields ----------------------------------------------------------------------- */

/* Limits with underflow. */
static bool always(const void *limits) { return limits; }

static const char *reference(const void *limits)
{
    return ((const struct bitcut_tolerances *)limits)->two ? "kernel" : "exact";
}

#define LIMIT(member, key, unit, what)                                                   \
    RECORD_FIELD(struct bitcut_tolerances, member, key, unit, what)
#define SAME(member, key, unit, what)                                                    \
    RECORD_INNER(struct bitcut_tolerances, member, key, unit, what)
#define BY_SIZE "u |A||B|"
#define BY_NORM "u ||A|| ||B||"

const struct record_field tolerance_fields[] = {
    /* clang-format off */
    LIMIT(any_order, "any_order", "", "whether k may be in any order"),
    RECORD_TEXT_OF(reference, "reference",
                   "the reference: \"exact\", or \"kernel\", another correct result"),
    LIMIT(two, "", "", "whether the reference is another correct result"),
    LIMIT(runs, "runs", "", "runs in which limits were observed"),
    LIMIT(outputs, "outputs", "", "outputs of each run"),
    LIMIT(orders, "orders", "", "random orders of k in each run"),
    LIMIT(arrangements, "arrangements", "", "chosen orders of k in each run"),
    LIMIT(false_alarm, "false_alarm", "", "share of correct results that may exceed a "
                                          "limit"),
    LIMIT(bound, "componentwise.bound", BY_SIZE, "worst-case bound of |D - C|"),
    LIMIT(limit, "componentwise.limit", BY_SIZE, "limit of |D - C| for a test"),
    LIMIT(max, "componentwise.max", BY_SIZE, "the largest of all runs"),
    LIMIT(known, "componentwise.known", "", "whether `limit` has the requested probability"),
    SAME(bound, "with_underflow.bound", BY_SIZE, "worst-case bound of |D - C| less the "
                                                 "underflow"),
    LIMIT(with_underflow, "with_underflow.limit", BY_SIZE,
          "limit of |D - C| less the underflow, for a test"),
    LIMIT(with_underflow_max, "with_underflow.max", BY_SIZE, "the largest of all runs"),
    RECORD_FUNCTION(always, "with_underflow.known", "true"),
    LIMIT(zeros, "zeros", "", "runs in which a D of zeros is within all known limits"),
    LIMIT(norm_bound, "normwise.bound", BY_NORM, "worst-case bound of ||D - C||"),
    LIMIT(norm_limit, "normwise.limit", BY_NORM, "limit of ||D - C|| for a test"),
    LIMIT(norm_max, "normwise.max", BY_NORM, "the largest of all runs"),
    LIMIT(norm_known, "normwise.known", "", "whether `limit` has the requested probability"),
    SAME(bound, "norm_with_underflow.bound", BY_NORM,
         "worst-case bound of ||D - C|| less the norm of the underflow"),
    LIMIT(norm_with_underflow, "norm_with_underflow.limit", BY_NORM,
          "limit of ||D - C|| less the norm of the underflow, for a test"),
    LIMIT(norm_with_underflow_max, "norm_with_underflow.max", BY_NORM,
          "the largest of all runs"),
    RECORD_FUNCTION(always, "norm_with_underflow.known", "true"),
    LIMIT(underflow, "underflow", BY_SIZE, "the largest underflow in the runs"),
    LIMIT(underflow_absolute, "underflow_absolute", "of D", "the same in the units of D"),
    RECORD_FUNCTION(tolerance_closes, "allclose.exists", "whether allclose() is useful"),
    LIMIT(rtol, "allclose.rtol", "", "|D - C| <= atol + rtol |C|, by the observed limit"),
    LIMIT(atol, "allclose.atol", "of D", "atol of that limit"),
    LIMIT(slack, "allclose.slack", "", "width relative to the limit, at nine of ten "
                                       "outputs"),
    RECORD_FUNCTION(tolerance_bound_closes, "allclose_bound.exists",
                    "whether allclose() is useful"),
    LIMIT(bound_rtol, "allclose_bound.rtol", "", "|D - C| <= atol + rtol |C|, by the bound"),
    LIMIT(bound_atol, "allclose_bound.atol", "of D", "atol of that limit"),
    SAME(slack, "allclose_bound.slack", "", "width relative to the limit, at nine of ten "
                                            "outputs"),
    RECORD_FUNCTION(tolerance_closes_alone, "relative.exists",
                    "whether rtol without atol is useful"),
    LIMIT(rtol_alone, "relative.rtol", "", "rtol with atol = 0, by the observed limit"),
    LIMIT(bound_rtol_alone, "relative.bound", "", "rtol with atol = 0, by the bound"),
    LIMIT(rtol_slack, "relative.slack", "", "width relative to the limit, at nine of ten "
                                            "outputs"),
    LIMIT(over, "cancelling", "", "shares of outputs with |A||B| above 10^i |C|"),
    LIMIT(cancelling, "", "", "the share with |A||B| above 10 |C|"),
    LIMIT(wrong, "wrong", "", "outputs of correct runs that are NaN or infinite where C "
                              "is finite"),
    { 0 }
    /* clang-format on */
};

/* --- sentences -------------------------------------------------------------------- */

/* The reference of D. */
static const char *other(const struct bitcut_tolerances *t)
{
    return t->two ? "D2" : "C";
}

/* u as a power of two. */
static const char *unit(const struct tolerance_answer *a)
{
    return a->fp64 ? "2^-53" : "2^-24";
}

/* Some correct results are not finite: there is no limit. */
static bool describe_wrong(char *text, size_t size, const struct bitcut_tolerances *t)
{
    if (t->wrong)
        text_add(text, size,
                 "none: %zu outputs of correct kernels are NaN or infinite, as parts "
                 "overflow",
                 t->wrong);
    return t->wrong;
}

/* Each run with families has a seed of its own. */
static void describe_data(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    gemm_describe_matrices(text, size, &a->gemm);
    if (a->shuffled) text_add(text, size, "; in each run k in another order");
    else
        text_add(text, size, ", of seeds from %llu on", (unsigned long long)a->gemm.seed);
}

/* What |A||B| and ||A|| ||B|| mean for a GEMM with steps. */
static void describe_magnitudes(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    if (gemm_is_extended(a->gemm.gemm))
        text_add(text, size,
                 "|A||B| includes factors, bias and beta C, with their "
                 "absolute values; ||A|| ||B|| is the norm of these sums");
}

/* The number of outputs and runs from which a number comes. */
static void describe_runs(char *text, size_t size, const struct bitcut_tolerances *t,
                          bool outputs)
{
    if (outputs) text_add(text, size, "%zu outputs in ", t->outputs * t->runs);
    text_add(text, size, "%zu runs", t->runs);
    if (t->orders > 1)
        text_add(text, size, " in %zu orders of k", t->orders + t->arrangements);
}

/* How often a correct result exceeds the limit. */
static void describe_alarm(char *text, size_t size, const struct tolerance_answer *a)
{
    text_add(text, size, "at most one correct result in %.0f exceeds it%s",
             1 / a->found->limits.false_alarm,
             a->shuffled ? " if k is in a random order" : "");
}

/* A limit with underflow; it equals the worst-case bound if the runs give no other. */
static void describe_rest(char *text, size_t size, const struct bitcut_tolerances *t)
{
    text_add(text, size, "|D - %s| <= %.3g u |A||B| + what underflows", other(t),
             t->with_underflow);
    if (t->with_underflow >= t->bound) text_add(text, size, " (the worst-case bound)");
}

void tolerance_describe_component(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    const struct bitcut_tolerances *const t = &a->found->limits;
    if (describe_wrong(text, size, t)) return;
    if (t->known) {
        text_add(text, size, "|D - %s| <= %.3g u |A||B|, u = %s; ", other(t), t->limit,
                 unit(a));
        if (t->underflow > t->limit) {
            text_add(text, size, "and ");
            describe_rest(text, size, t);
            text_add(text, size, "; ");
        }
    } else {
        describe_rest(text, size, t);
        text_add(text, size, ", u = %s; ", unit(a));
    }
    describe_alarm(text, size, a);
    if (t->zeros) /* a test that accepts zeros finds nothing */
        text_add(text, size,
                 "; a D of zeros passes all limits in %zu of %zu runs: no test finds "
                 "faults there",
                 t->zeros, t->runs);
}

/* What |D - C| stands for in the limits, if D is rounded to a short format. */
static void describe_result(char *text, size_t size, const void *answer)
{
    gemm_describe_result(text, size, answer);
    if (*text)
        text_add(text, size,
                 "; limits are for the sum before this rounding: |D - C| is counted from "
                 "half an ulp of D on");
}

static void describe_norm(char *text, size_t size, const void *answer)
{
    const struct bitcut_tolerances *const t =
        &((const struct tolerance_answer *)answer)->found->limits;
    if (describe_wrong(text, size, t)) return;
    text_add(
        text, size,
        "||D - %s|| <= %.3g u ||A|| ||B||%s, Frobenius norms; it finds small errors in "
        "all outputs",
        other(t), t->norm_known ? t->norm_limit : t->norm_with_underflow,
        t->norm_known ? "" : " + the norm of what underflows");
}

/* What correct kernels had in the runs. */
void tolerance_describe_typical(char *text, size_t size, const void *answer)
{
    const struct bitcut_tolerances *const t =
        &((const struct tolerance_answer *)answer)->found->limits;
    if (t->wrong) return;
    text_add(text, size, "up to %.3g u |A||B|, the largest of ", t->max);
    describe_runs(text, size, t, true);
    if (t->norm_known)
        text_add(text, size, "; normwise up to %.3g u ||A|| ||B||", t->norm_max);
}

void tolerance_describe_worst_case(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    const struct bitcut_tolerances *const t = &a->found->limits;
    if (isinf(t->bound)) {
        text_add(text, size,
                 a->fp64 ? "none for some outputs: a line has no finite scale, the unit "
                           "rounds sums of parts, k is cut, or integers may exceed the "
                           "product of the moduli"
                         : "none: elements may overflow, or k is too long");
        return;
    }
    text_add(text, size, "%.3g u |A||B|", t->bound);
    if (a->fp64) {
        text_add(text, size,
                 ", the largest bound of the outputs in the runs; most faults stay below "
                 "it: not for a test");
        return;
    }
    if (t->underflow > t->bound / 128)
        text_add(text, size, " and what underflows, up to %.3g u |A||B| in these runs",
                 t->underflow);
    text_add(
        text, size,
        "; an error above it proves a fault, but most faults stay below it: not for a "
        "test");
}

/* The largest power of ten by which |A||B| exceeds |C| in this share of outputs, and the
   share. */
static void describe_cancelling(char *text, size_t size,
                                const struct bitcut_tolerances *t)
{
    double above = 1, share = t->over[0], power = 10;
    for (int d = 1; d < BITCUT_DECADES; d++, power *= 10)
        if (t->over[d] >= 0.01) above = power, share = t->over[d];
    text_add(text, size, "|A||B| is above %g |C| in %.2g %% of outputs", above,
             100 * share);
}

static void describe_allclose(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    const struct bitcut_tolerances *const t = &a->found->limits;
    if (describe_wrong(text, size, t)) return;
    if (!t->known) {
        text_add(text, size,
                 "none of a known probability, as it has no part for what "
                 "underflows");
        return;
    }
    if (tolerance_closes(t))
        text_add(
            text, size,
            "rtol=%.3g, atol=%.3g; up to %.2g times as wide as the limit in 90 %% of the "
            "outputs; ",
            t->rtol, t->atol, t->slack);
    else
        text_add(
            text, size,
            "no useful rtol and atol: any pair that accepts every correct kernel is %.2g "
            "times as wide as the limit in 10 %% of the outputs; ",
            t->slack);
    if (result_is_short(a->gemm.gemm->d.format))
        text_add(text, size, "the rounding of D is included; ");
    if (tolerance_closes_alone(t)) {
        text_add(text, size, "rtol=%.3g alone suffices, as terms do not cancel",
                 t->rtol_alone);
    } else {
        text_add(text, size, "rtol alone fails, as terms cancel: ");
        describe_cancelling(text, size, t);
    }
}

/* Whether D is accepted, with its errors and their limits. */
void tolerance_describe_given(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    const struct bitcut_tolerances *const t = &a->found->limits;
    if (!a->given) return;
    const struct bitcut_tolerance_verdict *const v = &a->given->verdict;
    const bool limited = isfinite(t->with_underflow);
    text_add(text, size, "%s",
             !v->accepted ? "REJECTED"
             : limited    ? "ACCEPTED"
                          : "not judged: there is no limit");
    if (v->wrong)
        text_add(text, size, "; %zu outputs are NaN or infinite where C is not",
                 v->wrong);
    if (limited)
        text_add(text, size,
                 "; largest error%s %.3g u |A||B| (limit %.3g) at output (%zu, %zu)%s",
                 t->known ? "" : " beyond underflow",
                 t->known ? v->component : v->with_underflow,
                 t->known ? t->limit : t->with_underflow, v->worst_at[0], v->worst_at[1],
                 a->given->of_batch ? " of" : "");
    if (limited && a->given->of_batch) text_add(text, size, " GEMM %zu", v->gemm);
    if (limited && v->above)
        text_add(text, size, ", %zu of %zu outputs exceed it", v->above,
                 (a->problem->batch
                      ? gemm_first_row(a->problem->batch, a->problem->batch->count)
                      : a->problem->m) *
                     a->problem->n);
    if (limited)
        text_add(text, size, "; normwise %.3g (limit %.3g)%s", v->norm,
                 t->norm_known ? t->norm_limit : t->norm_with_underflow,
                 t->norm_known ? "" : " plus the norm of what underflows");
}

/* What the verdict does not say. */
static void describe_note(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    if (!a->given) return;
    const struct bitcut_tolerance_verdict *const v = &a->given->verdict;
    if (v->zeros_accepted)
        text_add(text, size,
                 "a D of zeros is accepted as well, so these inputs test nothing");
    else if (v->beyond)
        text_add(text, size, "%zu output%s the worst-case bound", v->beyond,
                 v->beyond == 1 ? " exceeds" : "s exceed");
    else if (v->accepted)
        text_add(text, size, "bitcut verify compares the bits, which may still differ");
}

/* The error of the operands, apart from that of the kernel. */
static void describe_quantization(char *text, size_t size, const void *answer)
{
    const struct quantization_error *const q =
        ((const struct tolerance_answer *)answer)->quantization;
    if (!q) return;
    text_add(text, size,
             "%.3g of ||C0||, C0 the exact result of the original matrices; up to %.3g "
             "|A0||B0|, at output (%zu, %zu)",
             q->relres, q->component, q->worst_at[0], q->worst_at[1]);
    if (q->has_d)
        text_add(text, size,
                 "; ||D - C0|| is %.3g ||C0||, and the error of the kernel is %.3g ||C0||",
                 q->d_relres, q->d_own);
}

/* --- power ------------------------------------------------------------------------ */

/* The number of faults that are rejected always, sometimes, never. */
enum { ALWAYS, SOMETIMES, NEVER, OFTEN };

static int often(const struct power_row *r)
{
    const size_t rejected = r->rejected[CRITERION_BOTH];
    return rejected == r->runs ? ALWAYS : rejected ? SOMETIMES : NEVER;
}

static bool counts(const struct power_row *r) { return !r->correct && r->runs; }

static void describe_names(char *text, size_t size, const struct power *p, int which)
{
    bool first = true;
    for (const struct power_row *r = p->row; r < p->row + p->rows; r++) {
        if (!counts(r) || often(r) != which) continue;
        text_add(text, size, "%s%s", first ? " (" : ", ", r->name);
        if (which == SOMETIMES)
            text_add(text, size, " %zu of %zu", r->rejected[CRITERION_BOTH], r->runs);
        first = false;
    }
    text_add(text, size, "%s", first ? "" : ")");
}

static void describe_power(char *text, size_t size, const void *answer)
{
    const struct power *const p = ((const struct tolerance_answer *)answer)->power;
    size_t faults = 0, number_of[OFTEN] = { 0 }, rejected = 0, correct = 0;
    if (!p) return;
    for (const struct power_row *r = p->row; r < p->row + p->rows; r++) {
        if (counts(r)) faults++, number_of[often(r)]++;
        else rejected += r->rejected[CRITERION_BOTH], correct += r->runs;
    }
    text_add(text, size, "both reject %zu of %zu faults in every run, %zu in some",
             number_of[ALWAYS], faults, number_of[SOMETIMES]);
    describe_names(text, size, p, SOMETIMES);
    text_add(text, size, ", %zu in none", number_of[NEVER]);
    describe_names(text, size, p, NEVER);
    if (number_of[NEVER]) text_add(text, size, ", whose errors are within limits");
    text_add(text, size, "; and %zu of %zu correct results", rejected, correct);
}

/* The test by a library, a line each, without the line for allclose(). */
static void describe_python(char *text, size_t size, const struct tolerance_answer *a,
                            int library)
{
    char line[PYTHON_LINES][PYTHON_LINE_MAX];
    if (a->problem->batch) return; /* the lines are those of one GEMM */
    const int count = python_lines(line, &python_libraries[library], a->found, a->problem,
                                   true),
              close = tolerance_closes(&a->found->limits);
    for (int i = 0; i < count - close; i++)
        text_add(text, size, "%s%s", i ? "\n" : "", line[i]);
}

static void describe_numpy(char *text, size_t size, const void *answer)
{
    describe_python(text, size, answer, 0);
}

/* The test of an FP64 GEMM is that of NumPy, after a line. */
static void describe_torch64(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    char line[PYTHON_LINES][PYTHON_LINE_MAX];
    if (python_lines(line, &python_libraries[1], a->found, a->problem, true))
        text_add(text, size, "%s\n# and the lines of NumPy", line[0]);
}

static void describe_torch(char *text, size_t size, const void *answer)
{
    describe_python(text, size, answer, 1);
}

/* The test as a function in C. */
static void describe_c(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    char line[C_LINES][C_LINE_MAX];
    const int count = a->problem->two ? 0 : c_function(line, a->found, a->problem);
    for (int i = 0; i < count; i++) text_add(text, size, "%s%s", i ? "\n" : "", line[i]);
}

/* Sentences about an FP64 GEMM. */
static void describe_scheme(char *text, size_t size, const void *answer)
{
    fp64_describe_scheme(text, size, ((const struct tolerance_answer *)answer)->fp64);
}

static void describe_scheme_parts(char *text, size_t size, const void *answer)
{
    fp64_describe_parts(text, size, ((const struct tolerance_answer *)answer)->fp64);
}

static void describe_scheme_data(char *text, size_t size, const void *answer)
{
    const struct tolerance_answer *const a = answer;
    fp64_describe_matrices(text, size, a->fp64);
    if (a->shuffled) text_add(text, size, "; in each run k in another order");
    else
        text_add(text, size, ", of seeds from %llu on",
                 (unsigned long long)a->fp64->seed);
}

const struct record_line tolerance_scheme_lines[] = {
    /* clang-format off */
    { "scheme",        describe_scheme,        RECORD_ALWAYS, NULL },
    { "parts",         describe_scheme_parts,  RECORD_ALWAYS, NULL },
    { "matrices",      describe_scheme_data,   RECORD_ALWAYS, NULL },
    { "componentwise", tolerance_describe_component, RECORD_ALWAYS, NULL },
    { "normwise",      describe_norm,          RECORD_ALWAYS, NULL },
    { "allclose",      describe_allclose,      RECORD_ALWAYS, NULL },
    VERDICT_LINES(tolerance_describe_given, tolerance_describe_typical, tolerance_describe_worst_case),
    { "note",          describe_note,          RECORD_ALWAYS, NULL },
    { "NumPy",         describe_numpy,         RECORD_CODE,   NULL },
    { "PyTorch",       describe_torch64,       RECORD_CODE,   NULL },
    { "C",             describe_c,             RECORD_CODE,   NULL },
    { 0 }
    /* clang-format on */
};

const struct record_line tolerance_lines[] = {
    /* clang-format off */
    { "recipe",        gemm_describe_what_ran, RECORD_ALWAYS, NULL },
    { "parts",         gemm_describe_parts,    RECORD_ALWAYS, NULL },
    { "epilogue",      gemm_describe_epilogue, RECORD_ALWAYS, NULL },
    { "matrices",      describe_data,          RECORD_ALWAYS, NULL },
    { "result",        describe_result,        RECORD_ALWAYS, NULL },
    { "magnitudes",    describe_magnitudes,    RECORD_ALWAYS, NULL },
    { "componentwise", tolerance_describe_component,     RECORD_ALWAYS, NULL },
    { "normwise",      describe_norm,          RECORD_ALWAYS, NULL },
    { "allclose",      describe_allclose,      RECORD_ALWAYS, NULL },
    VERDICT_LINES(tolerance_describe_given, tolerance_describe_typical, tolerance_describe_worst_case),
    { "note",          describe_note,          RECORD_ALWAYS, NULL },
    { "quantization",  describe_quantization,  RECORD_ALWAYS, NULL },
    { "power",         describe_power,         RECORD_ALWAYS, NULL },
    { "NumPy",         describe_numpy,         RECORD_CODE,   NULL },
    { "PyTorch",       describe_torch,         RECORD_CODE,   NULL },
    { 0 }
    /* clang-format on */
};
