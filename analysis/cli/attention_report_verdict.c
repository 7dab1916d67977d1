/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of a report about one attention, sentences about it, and the assertion that
   repeats it. */
#include "analysis/accuracy/short_result.h"
#include "analysis/cli/attention_report_answers.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <string.h>

enum { REASON_ROOM = 1600, LINE_ROOM = 1 << 12 };

/* A verdict; NaN: there is no number. */
struct outcome {
    enum report_outcome outcome;
    double error, limit;
    char reason[REASON_ROOM];
};

#define REASON(...) text_add(to->reason, REASON_ROOM, __VA_ARGS__)

/* --- why -------------------------------------------------------------------------- */

static const char *fault_of(const struct attention_answers *a)
{
    return a->has_explanation ? a->explanation.answer.fault : NULL;
}

static const struct attention_bound_result *
broken_bound(const struct attention_answers *a)
{
    for (int i = 0; i < ATTENTION_BOUNDS && a->answer.bounded; i++)
        if (a->answer.bound[i].violations) return &a->answer.bound[i];
    return NULL;
}

/* The largest error, or the norm if it alone is beyond its limit. */
static void print_errors(struct outcome *to, const struct attention_answers *a)
{
    const struct bitcut_attention_tolerances *const t = &a->test.limits;
    const struct bitcut_attention_verdict *const v = &a->test.verdict;
    const bool by_norm = v->component <= t->limit && !(v->norm <= t->norm_limit);
    to->error = by_norm ? v->norm : v->component;
    to->limit = by_norm ? t->norm_limit : t->limit;
    REASON("largest error %.3g u |V| (limit %.3g) at head %zu, query %zu, column %zu",
           v->component, t->limit, v->head, v->row, v->column);
    if (v->above) REASON(", %zu of %zu outputs exceed the limit", v->above, a->x.outputs);
    REASON("; norm of the errors %.3g u ||V|| (limit %.3g); u = 2^%d", v->norm,
           t->norm_limit, result_unit_exponent(a->test.format_o));
    if (attention_answers_accepts(a) && v->zeros_accepted)
        REASON("; an O of zeros is accepted as well, so these inputs test nothing");
}

/* The row of the limits, and why it is the one. */
static void print_row(struct outcome *to, const struct attention_answers *a)
{
    REASON(". Reference: exact attention; limits are those of %s%s%s%s, ", a->row->name,
           *a->vary ? " with " : "", a->vary, a->any_tiles ? " in any tiles" : "");
    switch (a->choice) {
    case ROW_TOLD: REASON("as given"); break;
    case ROW_FOUND:
        REASON("%s", fault_of(a)                   ? "which computed O, with a fault"
                     : a->explanation.answer.found ? "which computed O"
                                                   : "which computed all other outputs");
        break;
    case ROW_STANDARD:
        REASON("the standard algorithm for %s, because no algorithm gives O; --row names "
               "another one",
               matrix_format(&a->taken.q)->name);
        break;
    }
    if (a->x.outputs < a->x.total)
        REASON("; %zu of %zu outputs were compared", a->x.outputs, a->x.total);
    REASON(".");
}

/* What is wrong with O apart from the size of its errors. */
static void print_wrong(struct outcome *to, const struct attention_answers *a)
{
    if (fault_of(a)) REASON("%s: %s; ", fault_of(a), a->explanation.fault->what);
    if (a->wrong)
        REASON("%zu of %zu outputs are infinite or NaN where exact attention and %s are "
               "not, or the reverse; ",
               a->wrong, a->x.outputs, a->row->name);
}

/* --- the verdict ------------------------------------------------------------------ */

static void judge_output(struct outcome *to, const struct attention_answers *a)
{
    const struct bitcut_attention_verdict *const v = &a->test.verdict;
    const struct attention_bound_result *const broken = broken_bound(a);
    to->outcome = !attention_answers_accepts(a) || broken || fault_of(a) ? REPORT_REJECTED
                  : v->numbers                                           ? REPORT_ACCEPTED
                               : REPORT_NOT_JUDGED;
    print_wrong(to, a);
    if (v->numbers) print_errors(to, a);
    else REASON("no output of exact attention that was compared is a number");
    if (broken)
        REASON("; the rigorous bound \"%s\" of %s is exceeded in %zu outputs",
               broken->row->name, a->row->name, broken->violations);
    print_row(to, a);
}

static void judge_matrices(struct outcome *to, const struct attention_answers *a)
{
    const struct attention_result *const r = &a->model;
    to->outcome = r->measure.numbers ? REPORT_MEASURED : REPORT_NOT_MEASURED;
    to->error = r->measure.component;
    to->limit = a->test.limits.limit;
    if (r->measure.numbers)
        REASON("largest error %.3g u |V| and relative error %.3g of %s, computed by the "
               "emulator; a test of a kernel should accept %.3g u |V|; u = 2^%d",
               to->error, r->errors.relres, a->row->name, to->limit,
               result_unit_exponent(a->test.format_o));
    else REASON("no output of exact attention is a number");
    if (a->x.outputs < a->x.total)
        REASON("; %zu of %zu outputs were compared", a->x.outputs, a->x.total);
    REASON(".");
}

void attention_report_judge(struct result_report *r, const struct attention_answers *a)
{
    struct outcome outcome = { .outcome = REPORT_NOT_FINISHED,
                               .error = NAN,
                               .limit = NAN },
                   *const to = &outcome;
    if (a->has_limits) (a->given ? judge_output : judge_matrices)(to, a);
    else if (a->why.status != BITCUT_OK) {
        to->outcome = a->given ? REPORT_NOT_JUDGED : REPORT_NOT_MEASURED;
        REASON("%s.", a->why.text);
    } else REASON("the report is not finished.");
    result_report_banner(r, to->outcome, to->reason, to->error, to->limit);
}

/* --- sentences -------------------------------------------------------------------- */

void attention_report_bits(char *text, size_t size, const void *answer)
{
    const struct attention_answers *const a = answer;
    const struct bitcut_difference *const d = &a->bits;
    const struct bitcut_format *const format = matrix_format(&a->taken.o);
    if (!a->has_bits) return;
    if (!d->differ) {
        text_add(text, size, "all %zu outputs%s have the bits of %s", d->compared,
                 a->x.outputs < a->x.total ? " that were compared" : "", a->row->name);
        return;
    }
    text_add(text, size,
             "%zu of %zu outputs differ from %s; the first, head %zu, query %zu, column "
             "%zu, is %.9g, not %.9g",
             d->differ, d->compared, a->row->name, d->gemm, d->row, d->column,
             format_to_double(format, d->given), format_to_double(format, d->expected));
}

void attention_report_worst(char *text, size_t size, const void *answer)
{
    enum { SHOWN = 3 };
    const struct attention_answers *const a = answer;
    const struct attention_result *const r = attention_answers_result(a);
    const struct bitcut_format *const format = matrix_format(&a->taken.o);
    const size_t dim = a->taken.value_dim, per = a->x.queries * dim;
    for (size_t i = 0; a->has_worst && i < a->worst_count && i < SHOWN; i++) {
        const size_t at = a->worst_at[i];
        const double e = attention_answers_error(a, r, at);
        text_add(text, size, "%shead %zu, query %zu, column %zu: %.5g, exact %.5g",
                 i ? "; " : "", a->x.head[at / per], a->x.query[at % per / dim], at % dim,
                 format_to_double(format, encoding_get(r->o, format_bytes(format), at)),
                 a->x.exact[at]);
        if (!isnan(e)) text_add(text, size, ", error %.3g u |V|", e);
    }
}

/* The relative error of an algorithm compared with the result of the page. */
static void describe_row(char *text, size_t size, const struct attention_answers *a,
                         const struct attention_result *r, const char *what)
{
    const double own = attention_answers_result(a)->errors.relres, its = r->errors.relres;
    text_add(text, size, "%s is the most accurate %s: relative error %.3g", r->row->name,
             what, its);
    if (!a->given || !(own >= 0) || !(its > 0)) return;
    text_add(text, size, "; that of O is %.3g, ", own);
    if (own > 1.05 * its) text_add(text, size, "%.3g times as large", own / its);
    else if (its > 1.05 * own) text_add(text, size, "%.3g times smaller", its / own);
    else text_add(text, size, "the same within 5 %%");
}

void attention_report_best(char *text, size_t size, const void *answer)
{
    const struct attention_answers *const a = answer;
    const struct attention_result *const r = attention_answers_best(a, false);
    if (r) describe_row(text, size, a, r, "algorithm here");
}

void attention_report_short(char *text, size_t size, const void *answer)
{
    const struct attention_answers *const a = answer;
    const struct attention_result *const r = attention_answers_best(a, true);
    if (r) describe_row(text, size, a, r, "with operands of 8 bits");
}

/* --- the assertion ---------------------------------------------------------------- */

/* The arguments of bitcut.testing.assert_attention_close() beyond the arrays. */
static void print_arguments(char *text, const struct attention_answers *a)
{
    const struct attention_setup_options *const o = a->o;
    text_add(text, LINE_ROOM, "row=\"%s\"", a->row->name);
    if (*a->vary) text_add(text, LINE_ROOM, ", vary=\"%s\"", a->vary);
    if (o->causal) text_add(text, LINE_ROOM, ", causal=True");
    if (o->window_left >= 0)
        text_add(text, LINE_ROOM, ", window_left=%d", o->window_left);
    if (o->window_right >= 0)
        text_add(text, LINE_ROOM, ", window_right=%d", o->window_right);
    if (o->scale) text_add(text, LINE_ROOM, ", scale=%.9g", value_of_float(o->scale));
    if (o->format) text_add(text, LINE_ROOM, ", format=\"%s\"", o->format);
    if (o->format_o) text_add(text, LINE_ROOM, ", format_o=\"%s\"", o->format_o);
    text_add(text, LINE_ROOM, ", any_tiles=%s", a->any_tiles ? "True" : "False");
}

void attention_report_code(struct result_report *r, const struct attention_answers *a)
{
    char line[LINE_ROOM] = "";
    json_t *const lines = json_array();
    print_arguments(line, a);
    json_array_append_new(lines, json_string("import bitcut.testing"));
    json_array_append_new(lines, json_string(""));
    json_array_append_new(lines, json_string("def assert_attention(O, Q, K, V):"));
    json_array_append_new(
        lines, json_string("    \"\"\"No error exceeds those of correct kernels on these "
                           "Q, K and V.\"\"\""));
    json_array_append_new(lines,
                          json_string("    bitcut.testing.assert_attention_close("));
    json_array_append_new(lines, json_sprintf("        O, Q, K, V, %s)", line));
    result_report_code(r, "Python", "python", lines);
}
