/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of a report on a D in FP64, and the assertion that repeats it. */
#include "analysis/cli/gemm_report_fp64_answers.h"
#include "lib/base/text.h"

#include <math.h>

enum { REASON_ROOM = 1200, NAME_MAX_LENGTH = 80 };

struct fp64_outcome {
    enum report_outcome outcome;
    double error, limit;
    char reason[REASON_ROOM];
};

#define REASON(...) text_add(to->reason, REASON_ROOM, __VA_ARGS__)

/* An error above this is larger than 2^-10 |A||B|: such a D is wrong, whatever computed
   it. */
#define WRONG_ERROR 0x1p43

/* The number of outputs whose error exceeds the limit, or is no number. */
static size_t count_above(const struct fp64_answers *a)
{
    size_t above = 0;
    for (size_t i = 0; i < a->given.m * a->given.n; i++)
        above += !(a->outputs.error[i] <= fp64_answers_limit(a, i));
    return above;
}

/* The error nearest to its limit, and the error of multiply-adds. */
static void print_errors(struct fp64_outcome *to, const struct fp64_answers *a)
{
    const size_t worst = fp64_answers_worst(a), n = a->given.n, above = count_above(a);
    to->error = a->outputs.error[worst];
    to->limit = fp64_answers_limit(a, worst);
    if (isfinite(to->limit))
        REASON("error %.3g u |A||B| (limit %.3g) at output (%zu, %zu), the %s its limit",
               to->error, to->limit, worst / n, worst % n,
               above ? "farthest above" : "nearest to");
    else
        REASON(
            "largest error %.3g u |A||B| at output (%zu, %zu), whose bound is not known",
            to->error, worst / n, worst % n);
    if (above) REASON(", %zu of %zu outputs exceed theirs", above, a->given.m * n);
    REASON("; FP64 multiply-adds on the same data have at most %.3g u |A||B|; u = 2^-53",
           a->given.dgemm);
}

static void print_wrong(struct fp64_outcome *to, const struct fp64_answers *a)
{
    const double wrong = a->given.value[METRIC_WRONG];
    if (wrong > 0)
        REASON(
            "%.0f of %zu outputs are NaN or infinite where the exact result is finite, "
            "or finite where it is not; ",
            wrong, a->given.m * a->given.n);
}

/* D as that of DGEMM, whose order of k is not known. */
static void judge_dgemm(struct fp64_outcome *to, const struct fp64_answers *a)
{
    const bool wrong = a->given.value[METRIC_WRONG] > 0,
               limited = isfinite(a->given.value[METRIC_BACKWARD_LIMIT]),
               within = a->given.value[METRIC_GRADE_WORST] <= 1;
    to->outcome = wrong      ? REPORT_REJECTED
                  : !limited ? REPORT_NOT_JUDGED
                  : within   ? REPORT_ACCEPTED
                             : REPORT_REJECTED;
    print_wrong(to, a);
    if (limited) print_errors(to, a);
    else REASON("no limit is known: correct kernels can give NaN or infinities here");
    REASON(
        ". Reference: the exact product; limits are those of an FP64 GEMM in any order "
        "of k.");
    if (to->outcome == REPORT_REJECTED && a->has_explanation && !fp64_answers_told(a) &&
        scheme_match_is_whole(&a->explanation.match)) {
        REASON(" D has the bits of ");
        scheme_match_name(to->reason, REASON_ROOM, &a->explanation.match);
        REASON("; with --scheme and --unit it is judged by the bound of the scheme.");
    }
}

/* How many outputs have other bits than the scheme. */
static void print_bits(struct fp64_outcome *to, const struct fp64_answers *a)
{
    const struct bitcut_difference *const x = &a->bits.difference;
    char name[NAME_MAX_LENGTH] = "";
    fp64_answers_name(name, sizeof name, a);
    if (x->differ)
        REASON("; %zu of %zu outputs have other bits than %s", x->differ, x->compared,
               name);
    else REASON("; all %zu outputs have the bits of %s", x->compared, name);
}

/* D as that of a scheme: the limit is the scheme's bound. */
static void judge_scheme(struct fp64_outcome *to, const struct fp64_answers *a)
{
    const bool known = isfinite(a->given.bound_most), same = !a->bits.difference.differ,
               wrong = a->given.value[METRIC_WRONG] > 0,
               useless = a->given.value[METRIC_BACKWARD_MAX] > WRONG_ERROR;
    to->outcome = wrong || useless || (known && !(a->given.share <= 1)) ? REPORT_REJECTED
                  : known || same                                       ? REPORT_ACCEPTED
                                  : REPORT_NOT_JUDGED;
    print_wrong(to, a);
    print_errors(to, a);
    print_bits(to, a);
    if (useless)
        REASON("; %s wrong on these data: an error is %.3g of |A||B|",
               same ? "the scheme is" : "D is",
               a->given.value[METRIC_BACKWARD_MAX] * 0x1p-53);
    else if (!(a->given.value[METRIC_GRADE] >= 3))
        REASON(
            "; D is less accurate than an FP64 GEMM: an error is %.3g times the largest "
            "that multiply-adds may have",
            a->given.value[METRIC_GRADE_WORST]);
    REASON(". Reference: the exact product; limits are the bounds of the scheme on these "
           "data.");
}

void fp64_report_judge(struct result_report *r, const struct fp64_answers *a)
{
    struct fp64_outcome outcome = { .outcome = REPORT_NOT_FINISHED,
                                    .error = NAN,
                                    .limit = NAN },
                        *const to = &outcome;
    if (a->has_errors && fp64_answers_as_dgemm(a)) judge_dgemm(to, a);
    else if (a->has_errors && a->has_bits) judge_scheme(to, a);
    else if (a->why.status != BITCUT_OK) {
        to->outcome = REPORT_NOT_JUDGED;
        REASON("%s.", a->why.text);
    } else REASON("the report is not finished.");
    result_report_banner(r, to->outcome, to->reason, to->error, to->limit);
}

/* --- the assertion ---------------------------------------------------------------- */

/* The arguments of a GEMM beyond A and B, in Python. */
static void print_arguments(char *text, size_t size, const struct fp64_answers *a)
{
    const struct bitcut_gemm *const g = &a->s.gemm;
    if (gemm_reads_c(g)) text_add(text, size, ", c=C");
    if (g->alpha_f64 != 1) text_add(text, size, ", alpha=%.17g", g->alpha_f64);
    if (gemm_reads_c(g) && g->beta_f64 != 1)
        text_add(text, size, ", beta=%.17g", g->beta_f64);
}

static void append_function(struct result_report *r, const char *title, const char *doc,
                            const char *const line[3], const struct fp64_answers *a)
{
    json_t *const lines = json_array();
    json_array_append_new(lines, json_string("import bitcut"));
    json_array_append_new(lines, json_string(""));
    json_array_append_new(lines, json_sprintf("def assert_gemm(A, B, %sD):",
                                              gemm_reads_c(&a->s.gemm) ? "C, " : ""));
    json_array_append_new(lines, json_sprintf("    \"\"\"%s\"\"\"", doc));
    for (int i = 0; i < 3 && line[i]; i++)
        json_array_append_new(lines, json_sprintf("    %s", line[i]));
    result_report_code(r, title, "python", lines);
}

/* By errors.  Grades are judged anew for other data; a bound is that of these data. */
static void append_errors(struct result_report *r, const struct fp64_answers *a)
{
    char call[REASON_ROOM] = "m = bitcut.judge(D, A, B", test[REASON_ROOM] = "";
    const bool as_dgemm = fp64_answers_as_dgemm(a);
    print_arguments(call, sizeof call, a);
    text_add(call, sizeof call, ")");
    if (as_dgemm) text_add(test, sizeof test, "assert m.grade == 3, m.grade_worst");
    else
        text_add(test, sizeof test, "assert m.backward_max <= %.3g, m.backward_max",
                 a->given.bound_most * (1 + 0x1p-7));
    if (!as_dgemm && !isfinite(a->given.bound_most)) return;
    append_function(
        r, "Python, by errors",
        as_dgemm ? "No error exceeds that of FP64 multiply-adds in any order of k."
                 : "No error exceeds the scheme's bound on the data of the report, "
                   "in u |A||B|.",
        (const char *const[]){ call, "assert m.wrong == 0", test }, a);
}

/* By bits. */
static void append_bits(struct result_report *r, const struct fp64_answers *a)
{
    const struct bitcut_gemm *const g = &a->s.gemm;
    char call[REASON_ROOM] = "found = bitcut.verify(D, A, B";
    if (g->order.slices > 1) return; /* Python has no slices of k for schemes */
    print_arguments(call, sizeof call, a);
    text_add(call, sizeof call, ", scheme=\"%s\", unit=\"%s\", parts=%d)",
             g->scheme->name, g->unit->name, a->s.parts);
    append_function(r, "Python, bit for bit", "Every bit is that of the scheme.",
                    (const char *const[]){ call, "assert found, found", NULL }, a);
}

void fp64_report_code(struct result_report *r, const struct fp64_answers *a)
{
    if (!fp64_answers_as_dgemm(a)) append_bits(r, a);
    append_errors(r, a);
}
