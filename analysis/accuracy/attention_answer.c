/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/attention_answer.h"

#include "analysis/accuracy/attention_judge.h"
#include "analysis/accuracy/short_result.h"
#include "emu/attention/attention_plan.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>

enum bitcut_status attention_describe(struct attention_answer *to,
                                      const struct bitcut_attention *attention,
                                      struct fault *f)
{
    struct bitcut_attention a;
    struct attention_plan plan;
    enum bitcut_status status = attention_take(&a, attention, f);
    if (status == BITCUT_OK) status = attention_plan_make(&plan, &a, f);
    if (status != BITCUT_OK) return status;
    const bool varied = (a.vary && *a.vary) || a.unit_qk || a.unit_pv;
    *to = (struct attention_answer){
        .row = plan.row.name,
        .evidence = varied ? "none: the row was changed" : plan.row.evidence,
        .unit_qk = plan.row.unit_qk,
        .unit_pv = plan.row.unit_pv,
        .heads = a.heads,
        .kv_heads = a.kv_heads,
        .queries = a.queries,
        .keys = a.keys,
        .head_dim = a.head_dim,
        .value_dim = a.value_dim,
        .window_left = a.window_left,
        .window_right = a.window_right,
        .scale = value_of_float(a.scale),
        .format = matrix_format(&a.q),
        .format_o = matrix_format(&a.o),
        .seconds = (double)NAN,
    };
    attention_plan_write(to->line, &plan);
    return BITCUT_OK;
}

/* --- keys ------------------------------------------------------------------------- */

static bool is_judged(const void *x)
{
    return ((const struct attention_answer *)x)->judged;
}
static bool is_verified(const void *x)
{
    return ((const struct attention_answer *)x)->verified;
}
static bool is_bounded(const void *x)
{
    return ((const struct attention_answer *)x)->bounded;
}
static bool is_budgeted(const void *x)
{
    return ((const struct attention_answer *)x)->budgeted;
}
static bool is_budgeted_one(const void *x)
{
    return ((const struct attention_answer *)x)->budgeted_one;
}
static bool differs(const void *x)
{
    return ((const struct attention_answer *)x)->found.differ;
}
static bool has_left(const void *x)
{
    return ((const struct attention_answer *)x)->window_left >= 0;
}
static bool has_right(const void *x)
{
    return ((const struct attention_answer *)x)->window_right >= 0;
}

static const void *bound_at(const void *x, size_t i, void *room)
{
    (void)room;
    return i < ATTENTION_BOUNDS ? &((const struct attention_answer *)x)->bound[i] : NULL;
}

#define OF(member, key, unit, what)                                                      \
    RECORD_INNER(struct attention_answer, member, key, unit, what)

/* clang-format off */
static const struct record_field first_fields[] = {
    OF(found.gemm, "head", "", "head"),
    RECORD_PAIR(struct attention_answer, found.row, "at", "", "query and column"),
    OF(given, "file", "", "value in the file"),
    OF(expected, "emulator", "", "value of the emulator"),
    { 0 }
};

static const struct record_field verify_fields[] = {
    OF(found.compared, "compared", "", "outputs compared"),
    OF(found.differ, "mismatches", "", "outputs that differ"),
    RECORD_TOGETHER(differs, first_fields, "first", "the first of them"),
    { 0 }
};

static const struct record_field judge_fields[] = {
    RECORD_STRUCT(struct attention_answer, errors, attention_error_fields, "errors", "distance from the exact result"),
    { 0 }
};

static const struct record_field bounds_fields[] = {
    RECORD_ITEMS(bound_at, attention_bound_fields, "bounds", "bounds, compared with the errors of O"),
    { 0 }
};

static const struct record_field budget_fields[] = {
    RECORD_STRUCT(struct attention_answer, budget, attention_budget_fields, "budget", "the error budget of many outputs"),
    { 0 }
};

static const struct record_field one_fields[] = {
    RECORD_STRUCT(struct attention_answer, one, attention_output_fields, "output", "the error budget of one output"),
    { 0 }
};

const struct record_field attention_fields[] = {
    OF(row, "row", "", "algorithm"),
    OF(evidence, "evidence", "", "evidence for the row, unless it was changed"),
    OF(unit_qk, "unit_qk", "", "unit of Q K^T"),
    OF(unit_pv, "unit_pv", "", "unit of P V"),
    OF(line, "fields", "", "all fields of the algorithm, as --vary takes them"),
    OF(heads, "heads", "", "heads of Q and O"),
    OF(kv_heads, "kv_heads", "", "heads of K and V"),
    OF(queries, "queries", "", "queries"),
    OF(keys, "keys", "", "keys"),
    OF(head_dim, "head_dim", "", "columns of Q and K"),
    OF(value_dim, "value_dim", "", "columns of V and O"),
    RECORD_INNER_IF(struct attention_answer, window_left, "window_left", "", "keys before its own that a query sees; null: all", has_left),
    RECORD_INNER_IF(struct attention_answer, window_right, "window_right", "", "keys after its own that a query sees; null: all", has_right),
    OF(scale, "scale", "", "factor of the scores"),
    OF(format, "format", "", "format of Q and K"),
    OF(format_o, "format_o", "", "format of O"),
    OF(input, "input", "", "family of Q, K and V; null: files"),
    RECORD_MAYBE(struct attention_answer, seconds, "seconds", "s", "time of the emulator; null: O is from a file"),
    RECORD_TOGETHER(is_judged, judge_fields, "", "errors of O"),
    RECORD_TOGETHER(is_verified, verify_fields, "", "comparison of O with the row"),
    RECORD_TOGETHER(is_bounded, bounds_fields, "", "error bounds"),
    RECORD_TOGETHER(is_budgeted, budget_fields, "", "error budget"),
    RECORD_TOGETHER(is_budgeted_one, one_fields, "", "error budget of one output"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

static void describe_what(char *text, size_t size, const void *x)
{
    const struct attention_answer *const a = x;
    text_add(text, size,
             "%zu quer%s and %zu key%s, %zu head%s of dimension %zu, %s, by %s on %s",
             a->queries, a->queries == 1 ? "y" : "ies", a->keys, a->keys == 1 ? "" : "s",
             a->heads, a->heads == 1 ? "" : "s", a->head_dim, a->format->name, a->row,
             a->unit_qk);
}

static void describe_evidence(char *text, size_t size, const void *x)
{
    text_add(text, size, "%s", ((const struct attention_answer *)x)->evidence);
}

static void describe_error(char *text, size_t size, const void *x)
{
    const struct attention_answer *const a = x;
    const struct bitcut_attention_errors *const e = &a->errors;
    if (!a->judged) return;
    text_add(text, size,
             "at most %.3g ulp from the exact result, %.3g ulp in the mean (bias %+.2g); "
             "%zu of %zu outputs are the exact result, rounded to %s",
             e->max_ulp, e->mean_ulp, e->bias_ulp, e->correct, e->outputs,
             a->format_o->name);
    if (e->unlike)
        text_add(text, size,
                 "; %zu are infinite or NaN and not the Inf or NaN of the exact result, "
                 "or the reverse",
                 e->unlike);
}

static void describe_largest(char *text, size_t size, const void *x)
{
    const struct attention_answer *const a = x;
    const struct bitcut_attention_errors *const e = &a->errors;
    if (!a->judged) return;
    text_add(text, size,
             "head %zu, query %zu, column %zu; relative to the largest output, the error "
             "is at "
             "most %.3g u",
             e->head, e->row, e->column, e->max_u);
}

static void describe_bounds(char *text, size_t size, const void *x)
{
    const struct attention_answer *const a = x;
    for (int i = 0; i < ATTENTION_BOUNDS && a->bounded; i++)
        attention_bound_describe(text, size, &a->bound[i]);
}

static void describe_budget(char *text, size_t size, const void *x)
{
    const struct attention_answer *const a = x;
    if (a->budgeted) attention_budget_describe(text, size, &a->budget);
}

static void describe_one(char *text, size_t size, const void *x)
{
    const struct attention_answer *const a = x;
    if (a->budgeted_one)
        attention_output_describe(text, size, &a->one, result_unit(a->format_o));
}

static void describe_verdict(char *text, size_t size, const void *x)
{
    const struct attention_answer *const a = x;
    const struct bitcut_difference *const d = &a->found;
    if (!a->verified) return;
    if (!d->differ) {
        text_add(text, size, "all %zu outputs are those of %s, bit for bit", d->compared,
                 a->row);
        return;
    }
    text_add(
        text, size,
        "%zu of %zu outputs differ from %s; the first, head %zu, query %zu, column %zu, "
        "is %.9g, not %.9g",
        d->differ, d->compared, a->row, d->gemm, d->row, d->column, a->given,
        a->expected);
}

const struct record_line attention_lines[] = {
    { LABEL_VERDICT, describe_verdict, RECORD_ALWAYS, NULL },
    { "attention", describe_what, RECORD_ALWAYS, NULL },
    { "evidence", describe_evidence, RECORD_ALWAYS, NULL },
    { "error", describe_error, RECORD_ALWAYS, NULL },
    { "largest", describe_largest, RECORD_ALWAYS, NULL },
    { "bounds", describe_bounds, RECORD_ALWAYS, NULL },
    { "error budget", describe_budget, RECORD_ALWAYS, NULL },
    { "one output", describe_one, RECORD_ALWAYS, NULL },
    { 0 }
};
