/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_verdict.h"

#include "analysis/accuracy/short_result.h"
#include "analysis/sampling/c_function.h"
#include "analysis/sampling/python_lines.h"
#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/io/json_value.h"

#include <math.h>
#include <string.h>

enum { REASON_ROOM = 1200 };

/* A verdict; NaN: there is no number. */
struct outcome {
    enum report_outcome outcome;
    double error, limit;
    char reason[REASON_ROOM];
};

#define REASON(...) text_add(to->reason, REASON_ROOM, __VA_ARGS__)

/* --- with a result ---------------------------------------------------------------- */

static bool tried(const struct gemm_answers *a, enum gemm_problem problem)
{
    return a->of[problem].tried;
}

/* The number of outputs, of all GEMMs of a batch. */
static size_t outputs_of(const struct gemm_answers *a)
{
    return a->limits.m * a->limits.n * (a->batch.count ? a->batch.count : 1);
}

/* The errors of D and their limits. */
static void print_errors(struct outcome *to, const struct gemm_answers *a)
{
    const struct bitcut_tolerances *const t = &a->tolerance.limits;
    const struct bitcut_tolerance_verdict *const v = &a->given.verdict;
    const char *const rest = t->known ? "" : " beyond underflow";
    to->error = t->known ? v->component : v->with_underflow;
    to->limit = t->known ? t->limit : t->with_underflow;
    REASON("largest error%s %.3g u |A||B| (limit %.3g) at output (%zu, %zu)", rest, to->error,
           to->limit, v->worst_at[0], v->worst_at[1]);
    if (a->batch.count) REASON(" of GEMM %zu of %zu", v->gemm, a->batch.count);
    if (v->above) REASON(", %zu of %zu outputs exceed it", v->above, outputs_of(a));
    REASON("; normwise error %.3g u ||A|| ||B|| (limit %.3g%s); u = 2^-24", v->norm,
           t->norm_known ? t->norm_limit : t->norm_with_underflow,
           t->norm_known ? "" : " plus the norm of the underflow");
    if (result_is_short(a->d.format))
        REASON(", before D is rounded to %s", result_name(a->d.format));
    if (gemm_is_extended(&a->s.gemm))
        REASON("; |A||B| includes factors, bias and beta C, with their absolute values");
    if (v->accepted && v->zeros_accepted)
        REASON("; a D of zeros is accepted as well, so these inputs test nothing");
}

/* By the limits for a test and by the rigorous bounds. */
static void judge_errors(struct outcome *to, const struct gemm_answers *a)
{
    const bool limited = isfinite(a->tolerance.limits.with_underflow),
               accepted = a->given.verdict.accepted;
    const struct bound_result *const broken =
        gemm_answer_to(a, ASK_BOUND) ? bound_broken(a->bound) : NULL;
    const size_t wrong = a->given.verdict.wrong;
    to->outcome = !accepted || broken || (!limited && wrong) ? REPORT_REJECTED
                  : limited                                  ? REPORT_ACCEPTED
                                                             : REPORT_NOT_JUDGED;
    if (wrong)
        REASON("%zu of %zu outputs are NaN or infinite where the exact result is finite, "
               "or finite where it is not; ",
               wrong, outputs_of(a));
    if (limited) print_errors(to, a);
    else
        REASON("no limit is known: correct kernels can give NaN or infinities here, or "
               "any error");
    if (broken) REASON("; the rigorous bound \"%s\" is violated", broken->row->name);
}

static void print_compared(struct outcome *to, const struct gemm_answers *a)
{
    if (!a->chosen) return;
    REASON(". Reference: the exact product; limits are those of ");
    if (gemm_answer_to(a, ASK_GEMM))
        gemm_describe_what_ran(to->reason, REASON_ROOM, &a->model);
    else REASON("%s on %s", a->s.gemm.recipe->name, a->s.gemm.unit->name);
    if (*a->note) REASON("; D is %s", a->note);
    REASON(".");
}

static void judge_result(struct outcome *to, const struct gemm_answers *a)
{
    const struct gemm_asked *const asked = &a->of[ASK_TOLERANCE];
    if (gemm_answers_misshapen(a)) {
        to->outcome = REPORT_REJECTED;
        REASON("D is %zu x %zu, but A B is %zu x %zu%s.", a->d.rows, a->d.cols, a->s.a.rows,
               a->s.b.cols,
               a->d.rows == a->s.b.cols && a->d.cols == a->s.a.rows
                   ? ": it looks transposed; write it by rows (NumPy: D.T)"
                   : "");
    } else if (gemm_answer_to(a, ASK_TOLERANCE) && tried(a, ASK_BOUND)) {
        judge_errors(to, a);
        print_compared(to, a);
    } else if (asked->tried && asked->status > EXIT_FOUND) {
        to->outcome = REPORT_NOT_JUDGED;
        REASON("%s.", asked->why.text);
    } else {
        REASON("the report is not finished.");
    }
}

/* --- with matrices only ----------------------------------------------------------- */

static void print_advice(struct outcome *to, const struct gemm_answers *a)
{
    const struct advise_trial *const best = advise_best(&a->advice);
    if (!best) {
        to->outcome = REPORT_NOT_MEASURED;
        REASON("no recipe is supported there.");
        return;
    }
    to->outcome = REPORT_MEASURED;
    to->error = best->advice.error;
    to->limit = a->want;
    REASON("relative error %.3g (limit %.3g) of %s on %s, %s.", to->error, to->limit,
           best->gemm.recipe->name, best->target,
           a->advice.choice ? "the cheapest that reaches it"
                            : "the most accurate; no recipe reaches the limit");
}

static void judge_matrices(struct outcome *to, const struct gemm_answers *a)
{
    const struct gemm_asked *const asked = &a->of[ASK_ADVISE];
    if (gemm_answer_to(a, ASK_ADVISE)) {
        print_advice(to, a);
    } else if (asked->tried && asked->status > EXIT_FOUND) {
        to->outcome = REPORT_NOT_MEASURED;
        REASON("%s.", asked->why.text);
    } else {
        REASON("the report is not finished.");
    }
}

/* --- the banner ------------------------------------------------------------------- */

void gemm_report_judge(struct result_report *r, const struct gemm_answers *a)
{
    struct outcome to = { .outcome = REPORT_NOT_FINISHED, .error = NAN, .limit = NAN };
    if (a->o->d) judge_result(&to, a);
    else judge_matrices(&to, a);
    result_report_banner(r, to.outcome, to.reason, to.error, to.limit);
}

/* --- the assertion ---------------------------------------------------------------- */

/* Why there is no function for a GEMM with a bias, factors, a start or other steps. */
static const char *no_function(const struct gemm_answers *a)
{
    return a->limits.quantized ? "the limits are those of operands that were quantized"
           : tolerance_needs_rest(&a->tolerance.limits) || !a->tolerance.limits.norm_known
               ? "the limits have a term for underflow, which depends on the data"
               : "its steps have no expression in Python; use bitcut tolerance";
}

/* Whether the function has these factors as an argument; a single one is a number in its
   text. */
static bool takes_factors(const struct bitcut_scales *x, const struct bitcut_gemm *g)
{
    return matrix_is_given(&x->at) &&
           (x->lines || x->depth || g->scaling != BITCUT_SCALING_EPILOGUE);
}

static json_t *python_function(const struct python_library *l,
                               const struct gemm_answers *a)
{
    char line[PYTHON_LINES][PYTHON_LINE_MAX];
    const struct bitcut_gemm *const g = &a->s.gemm;
    const int count = python_lines(line, l, &a->tolerance, &a->limits, true);
    json_t *const lines = json_array();
    if (!count && gemm_is_extended(g) && isfinite(a->tolerance.limits.with_underflow))
        json_array_append_new(lines, json_sprintf("# none: %s", no_function(a)));
    if (!count) return lines;
    json_array_append_new(lines, json_sprintf("%s", l->import));
    json_array_append_new(lines, json_string(""));
    json_array_append_new(
        lines,
        json_sprintf("def assert_gemm(A, B, %s%s%s%sD):", gemm_reads_c(g) ? "C, " : "",
                     gemm_has_bias(g) ? "bias, " : "",
                     takes_factors(&g->scale_a, g) ? "scale_a, " : "",
                     takes_factors(&g->scale_b, g) ? "scale_b, " : ""));
    for (int i = 0; i < count - tolerance_closes(&a->tolerance.limits); i++)
        json_array_append_new(lines, json_sprintf("    %s", line[i]));
    return lines;
}

static json_t *lines_of_c(const struct gemm_answers *a)
{
    char line[C_LINES][C_LINE_MAX];
    json_t *const lines = json_array();
    if (gemm_is_extended(&a->s.gemm)) {
        json_array_append_new(lines,
                              json_string("/* none: the function of C has A, B, C, "
                                          "alpha and beta alone */"));
        return lines;
    }
    const int count = c_function(line, &a->tolerance, &a->limits);
    for (int i = 0; i < count; i++) json_array_append_new(lines, json_string(line[i]));
    return lines;
}

void gemm_report_code(struct result_report *r, const struct gemm_answers *a)
{
    for (const struct python_library *l = python_libraries; l->name; l++) {
        char title[40];
        snprintf(title, sizeof title, "Python (%s)", l->what);
        result_report_code(r, title, "python", python_function(l, a));
    }
    result_report_code(r, "C", "c", lines_of_c(a));
}
