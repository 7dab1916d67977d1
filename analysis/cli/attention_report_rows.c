/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the sections of a report about one attention. */
#include "analysis/accuracy/attention_judge.h"
#include "analysis/cli/attention_report_answers.h"
#include "analysis/cli/gemm_report_rows.h"
#include "lib/base/size.h"
#include "lib/io/json_record.h"
#include "lib/io/json_value.h"
#include "lib/number/bits.h"

#include <math.h>

enum { BLOCKS_MAX = 64 };

static const char *name_of(const struct attention_result *r)
{
    return r->row ? r->row->name : "O";
}

/* --- what computed O -------------------------------------------------------------- */

/* Without what depends on time, and without what lines say. */
void attention_rows_explanation(json_t *to, const struct attention_answers *a)
{
    static const char *const left[] = { "hypothesis", "fields", "fault_effect", "same",
                                        "seconds" };
    json_t *const row = json_object();
    record_json(row, attention_explain_fields, &a->explanation);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) json_object_del(row, left[i]);
    json_array_append_new(to, row);
}

static json_t *value_of(const struct attention_answers *a, uint64_t encoding)
{
    return json_number(format_to_double(matrix_format(&a->taken.o), encoding));
}

void attention_rows_bits(json_t *to, const struct attention_answers *a)
{
    const struct bitcut_difference *const d = &a->bits;
    json_t *const row =
        json_pack("{s:s, s:o, s:o}", "row", a->row->name, "compared",
                  json_count(d->compared), "mismatches", json_count(d->differ));
    const bool any = d->differ;
    json_object_set_new(row, "head", any ? json_count(d->gemm) : json_null());
    json_object_set_new(row, "query", any ? json_count(d->row) : json_null());
    json_object_set_new(row, "column", any ? json_count(d->column) : json_null());
    json_object_set_new(row, "result", any ? value_of(a, d->given) : json_null());
    json_object_set_new(row, "emulator", any ? value_of(a, d->expected) : json_null());
    json_array_append_new(to, row);
}

/* --- errors ----------------------------------------------------------------------- */

/* Call `append` for O, and for the row if it has other bits. */
static void for_each(json_t *to, const struct attention_answers *a,
                     void (*append)(json_t *to, const struct attention_result *r))
{
    if (a->given) append(to, &a->own);
    if (!a->given || a->bits.differ) append(to, &a->model);
}

static void append_errors(json_t *to, const struct attention_result *r)
{
    static const char *const keys[] = { "correct",  "unlike", "max_ulp", "mean_ulp",
                                        "bias_ulp", "relres", NULL };
    json_t *const row = json_pack("{s:s, s:o, s:o, s:o}", "result", name_of(r), "outputs",
                                  json_count(r->errors.outputs), "error",
                                  json_number(r->measure.component), "norm",
                                  json_number(r->measure.norm));
    record_json_keys(row, attention_error_fields, &r->errors, keys);
    json_array_append_new(to, row);
}

void attention_rows_errors(json_t *to, const struct attention_answers *a)
{
    for_each(to, a, append_errors);
}

static void append_bins(json_t *to, const struct attention_result *r)
{
    gemm_report_histogram(to, name_of(r), r->bins);
}

void attention_rows_histogram(json_t *to, const struct attention_answers *a)
{
    for_each(to, a, append_bins);
}

void attention_rows_bounds(json_t *to, const struct attention_answers *a)
{
    for (int i = 0; i < ATTENTION_BOUNDS; i++) {
        json_t *const row = json_object();
        record_json(row, attention_bound_fields, &a->answer.bound[i]);
        json_array_append_new(to, row);
    }
}

void attention_rows_budget(json_t *to, const struct attention_answers *a)
{
    record_json_items(to, attention_budget_fields, &a->answer.budget, "parts");
}

/* --- where errors are ------------------------------------------------------------- */

/* What a position of an output is counted by. */
enum place { BY_QUERY, BY_HEAD, BY_COLUMN, PLACES };

static const char *const place_names[PLACES] = { "queries", "heads", "columns" };

static size_t position_of(const struct attention_answers *a, size_t i, enum place by)
{
    const size_t dim = a->taken.value_dim, per = a->x.queries * dim;
    switch (by) {
    case BY_QUERY: return a->x.query[i % per / dim];
    case BY_HEAD: return a->x.head[i / per];
    default: return i % dim;
    }
}

/* The largest errors of blocks of positions, and the root of their mean square. */
static void append_places(json_t *to, const struct attention_answers *a,
                          const struct attention_result *r, enum place by)
{
    const size_t all = by == BY_QUERY  ? a->taken.queries
                       : by == BY_HEAD ? a->taken.heads
                                       : a->taken.value_dim,
                 each = divide_up(all, BLOCKS_MAX);
    double most[BLOCKS_MAX] = { 0 }, squares[BLOCKS_MAX] = { 0 };
    size_t count[BLOCKS_MAX] = { 0 };
    for (size_t i = 0; i < a->x.outputs; i++) {
        const size_t at = position_of(a, i, by) / each;
        const double e = attention_answers_error(a, r, i);
        count[at]++;
        squares[at] += e * e;
        if (!(e <= most[at])) most[at] = e;
    }
    for (size_t b = 0; b * each < all; b++)
        if (count[b])
            json_array_append_new(
                to, json_pack("{s:s, s:o, s:s, s:o, s:o}", "by", place_names[by], "index",
                              json_count(b * each), "result", name_of(r), "error",
                              json_number(most[b]), "rms",
                              json_number(sqrt(squares[b] / (double)count[b]))));
}

void attention_rows_places(json_t *to, const struct attention_answers *a)
{
    for (int by = 0; by < PLACES; by++) {
        if (a->given) append_places(to, a, &a->own, (enum place)by);
        if (!a->given || a->bits.differ) append_places(to, a, &a->model, (enum place)by);
    }
}

/* The row's error at an output, by its parts, and what of the error of O they leave. */
static void add_parts(json_t *row, const struct attention_answers *a, size_t i)
{
    const struct attention_output_budget *const b = &a->worst[i];
    const double unit = b->size * attention_answers_u(a);
    const bool known = !b->event && unit > 0;
    for (int p = 0; p < ATTENTION_PARTS; p++)
        json_object_set_new(row, attention_parts[p].name,
                            known ? json_number(b->part[p] / unit) : json_null());
    if (!a->given) return;
    const struct bitcut_format *const format = matrix_format(&a->taken.o);
    const double own = format_to_double(
        format, encoding_get(a->own.o, format_bytes(format), a->worst_at[i]));
    json_object_set_new(row, "unexplained",
                        known && isfinite(own) ? json_number((own - b->o) / unit)
                                               : json_null());
}

void attention_rows_worst(json_t *to, const struct attention_answers *a)
{
    const struct attention_result *const r = attention_answers_result(a);
    const struct bitcut_format *const format = matrix_format(&a->taken.o);
    for (size_t i = 0; i < a->worst_count; i++) {
        const size_t at = a->worst_at[i];
        const double unit = a->x.size[at] * attention_answers_u(a);
        json_t *const row =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "head",
                      json_count(position_of(a, at, BY_HEAD)), "query",
                      json_count(position_of(a, at, BY_QUERY)), "column",
                      json_count(position_of(a, at, BY_COLUMN)), "exact",
                      json_number(a->x.exact[at]), "result",
                      value_of(a, encoding_get(r->o, format_bytes(format), at)), "error",
                      json_number(attention_answers_error(a, r, at)));
        json_object_set_new(row, "limit",
                            a->has_limits ? json_number(a->test.limits.limit)
                                          : json_null());
        if (a->bound)
            json_object_set_new(
                row, "bound", unit > 0 ? json_number(a->bound[at] / unit) : json_null());
        add_parts(row, a, i);
        json_array_append_new(to, row);
    }
}

/* --- algorithms and tests --------------------------------------------------------- */

static void append_algorithm(json_t *to, const struct attention_result *r)
{
    const bool known = r->errors.outputs;
    json_t *const row = json_pack("{s:s}", "algorithm", name_of(r));
    json_object_set_new(row, "q_format",
                        r->of_q ? json_string(r->of_q->name) : json_null());
    json_object_set_new(row, "p_format",
                        r->of_p ? json_string(r->of_p->name) : json_null());
    json_object_set_new(row, "relres",
                        known ? json_number(r->errors.relres) : json_null());
    json_object_set_new(row, "error",
                        known ? json_number(r->measure.component) : json_null());
    json_object_set_new(row, "norm", known ? json_number(r->measure.norm) : json_null());
    json_object_set_new(row, "max_ulp",
                        known ? json_number(r->errors.max_ulp) : json_null());
    json_object_set_new(row, "unlike",
                        known ? json_count(r->errors.unlike) : json_null());
    json_object_set_new(row, "why", *r->why ? json_text(r->why) : json_null());
    json_array_append_new(to, row);
}

void attention_rows_algorithms(json_t *to, const struct attention_answers *a)
{
    if (a->given) append_algorithm(to, &a->own);
    for (size_t i = 0; i < a->others; i++) append_algorithm(to, &a->other[i]);
}

void attention_rows_power(json_t *to, const struct attention_answers *a)
{
    record_json_items(to, attention_test_fields, &a->test, "power");
}
