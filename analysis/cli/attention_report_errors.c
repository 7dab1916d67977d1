/* SPDX-License-Identifier: BSD-3-Clause */
/* O, the row's result, and every other algorithm's, beside exact attention. */
#include "analysis/accuracy/attention_judge.h"
#include "analysis/accuracy/short_result.h"
#include "analysis/cli/attention_report_answers.h"
#include "emu/attention/attention_plan.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

/* --- errors ----------------------------------------------------------------------- */

double attention_answers_u(const struct attention_answers *a)
{
    return result_unit(matrix_format(&a->taken.o));
}

double attention_answers_error(const struct attention_answers *a,
                               const struct attention_result *r, size_t i)
{
    const struct bitcut_format *const format = matrix_format(&a->taken.o);
    const double o = format_to_double(format,
                                      encoding_get(r->o, format_bytes(format), i)),
                 want = a->x.exact[i], size = a->x.size[i];
    if (!isfinite(o) || !isfinite(want)) return attention_same(o, want) ? 0 : (double)NAN;
    const double error = fabs(o - want);
    return error == 0 ? 0 : size > 0 ? error / size / attention_answers_u(a) : INFINITY;
}

/* The bin of an output, by its distance from the exact result in the format of O. */
static int bin_of(const struct bitcut_format *format, uint64_t o, uint64_t want)
{
    const double x = format_to_double(format, o), y = format_to_double(format, want);
    if (!isfinite(x) || !isfinite(y))
        return attention_same(x, y) ? 0 : HISTOGRAM_BINS - 1;
    const int64_t p = format_along_line(format, o), q = format_along_line(format, want);
    const uint64_t steps = p > q ? (uint64_t)p - (uint64_t)q : (uint64_t)q - (uint64_t)p;
    const int bin = steps ? 64 - __builtin_clzll(steps) : 0;
    return bin < HISTOGRAM_BINS ? bin : HISTOGRAM_BINS - 1;
}

struct attention_pair attention_result_pair(const struct attention_answers *a,
                                            struct bitcut_matrix *o, const void *at)
{
    const struct attention_excerpt *const x = &a->x;
    *o = (struct bitcut_matrix){ .at = at,
                                 .format = a->taken.o.format,
                                 .stride = x->queries * a->taken.value_dim };
    return (struct attention_pair){ .o = o,
                                    .exact = x->exact,
                                    .size = x->size,
                                    .heads = x->heads,
                                    .queries = x->queries,
                                    .value_dim = a->taken.value_dim };
}

void attention_result_measure(struct attention_result *r,
                              const struct attention_answers *a)
{
    const struct attention_excerpt *const x = &a->x;
    const struct bitcut_format *const format = matrix_format(&a->taken.o);
    const int bytes = format_bytes(format);
    const struct attention_compared compared = { .format = format,
                                                 .o = r->o,
                                                 .rounded = x->rounded,
                                                 .exact = x->exact,
                                                 .heads = x->heads,
                                                 .queries = x->queries,
                                                 .value_dim = a->taken.value_dim };
    struct bitcut_matrix o;
    const struct attention_pair pair = attention_result_pair(a, &o, r->o);
    attention_errors(&r->errors, &compared);
    r->errors.head = x->head[r->errors.head];
    r->errors.row = x->query[r->errors.row];
    r->measure = attention_measure(&pair, 0, false);
    for (size_t i = 0; i < x->outputs; i++)
        r->bins[bin_of(format, encoding_get(r->o, bytes, i),
                       encoding_get(x->rounded, bytes, i))]++;
}

static enum bitcut_status take_own(struct attention_answers *a, struct fault *f)
{
    const struct attention_excerpt *const x = &a->x;
    if (!a->given) return BITCUT_OK;
    a->own.o =
        memory_allocate(x->outputs, (size_t)format_bytes(matrix_format(&a->taken.o)));
    if (!a->own.o) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for O");
    attention_outputs(a->own.o, &x->a, x->query, x->queries);
    attention_result_measure(&a->own, a);
    return BITCUT_OK;
}

/* Whether one of two numbers is infinite or NaN, and the other is not the same. */
static bool is_unlike(double x, double y)
{
    return (!isfinite(x) || !isfinite(y)) && !attention_same(x, y);
}

/* Compare the bits of O and of the row. */
static void compare(struct attention_answers *a)
{
    const struct attention_excerpt *const x = &a->x;
    const struct bitcut_format *const format = matrix_format(&a->taken.o);
    const int bytes = format_bytes(format);
    const size_t dim = a->taken.value_dim, per = x->queries * dim;
    struct bitcut_difference *const to = &a->bits;
    *to = (struct bitcut_difference){ .compared = x->outputs };
    for (size_t i = 0; i < x->outputs; i++) {
        const uint64_t own = encoding_get(a->own.o, bytes, i),
                       row = encoding_get(a->model.o, bytes, i),
                       exact = encoding_get(x->rounded, bytes, i);
        const double o = format_to_double(format, own);
        a->wrong += is_unlike(o, format_to_double(format, exact)) &&
                    is_unlike(o, format_to_double(format, row));
        if (own == row || to->differ++) continue;
        to->gemm = x->head[i / per];
        to->row = x->query[i % per / dim];
        to->column = i % dim;
        to->given = own;
        to->expected = row;
    }
    a->has_bits = true;
}

static enum bitcut_status take_excerpt(struct attention_answers *a, struct fault *f)
{
    const struct context *const x = a->context;
    if (a->has_excerpt) return BITCUT_OK;
    attention_excerpt_clear(&a->x);
    const enum bitcut_status status =
        attention_excerpt_make(&a->x, &a->taken, a->given, ATTENTION_EXCERPT_PRODUCTS,
                               x->threads, &x->progress, f);
    a->has_excerpt = status == BITCUT_OK;
    return status;
}

/* The row's result. */
static enum bitcut_status run_model(struct attention_answers *a, struct fault *f)
{
    const struct context *const x = a->context;
    enum bitcut_status status =
        attention_excerpt_plan(&a->by, a->line, &a->x, a->row, a->vary, f);
    if (status == BITCUT_OK)
        status = attention_excerpt_run(&a->model.o, &a->x, &a->by, x->threads,
                                       &x->progress, f);
    if (status != BITCUT_OK) return status;
    a->model.row = a->row;
    attention_result_measure(&a->model, a);
    return BITCUT_OK;
}

enum bitcut_status attention_ask_errors(struct attention_answers *a, struct fault *f)
{
    if (a->has_errors) return BITCUT_OK;
    enum bitcut_status status = attention_ask_row(a, f);
    if (status == BITCUT_OK) status = take_excerpt(a, f);
    if (status == BITCUT_OK) status = take_own(a, f);
    if (status == BITCUT_OK) status = run_model(a, f);
    if (status != BITCUT_OK) return status;
    const struct bitcut_attention own = attention_answers_by_row(a);
    status = attention_describe(&a->answer, &own, f);
    a->answer.judged = true;
    a->answer.errors = attention_answers_result(a)->errors;
    if (a->given) compare(a);
    a->has_errors = status == BITCUT_OK;
    return status;
}

const struct attention_result *attention_answers_result(const struct attention_answers *a)
{
    return a->given ? &a->own : &a->model;
}

/* --- which algorithm -------------------------------------------------------------- */

static bool is_before(const struct attention_result *x, const struct attention_result *y)
{
    if (!x->errors.outputs || !y->errors.outputs) return x->errors.outputs;
    return x->errors.unlike != y->errors.unlike ? x->errors.unlike < y->errors.unlike
                                                : x->errors.relres < y->errors.relres;
}

/* The result of a row, without its outputs. */
static enum bitcut_status run_other(struct attention_result *to,
                                    const struct attention_answers *a,
                                    const struct bitcut_attention_row *row,
                                    struct fault *f)
{
    const struct context *const x = a->context;
    struct bitcut_attention by;
    struct attention_plan plan;
    char line[BITCUT_ATTENTION_MAX];
    *to = (struct attention_result){ .row = row };
    enum bitcut_status status = attention_excerpt_plan(&by, line, &a->x, row, NULL, f);
    if (status == BITCUT_OK) status = attention_plan_make(&plan, &by, f);
    if (status == BITCUT_BAD_ARGUMENT) {
        text_add(to->why, sizeof to->why, "%s", f->text);
        return BITCUT_OK;
    }
    if (status != BITCUT_OK) return status;
    to->of_q = plan.qk.unit->a;
    to->of_p = plan.pv.unit->a;
    status = attention_excerpt_run(&to->o, &a->x, &by, x->threads, &x->progress, f);
    if (status != BITCUT_OK) return status;
    attention_result_measure(to, a);
    free(to->o);
    to->o = NULL;
    return BITCUT_OK;
}

enum bitcut_status attention_ask_rows(struct attention_answers *a, struct fault *f)
{
    if (a->has_rows) return BITCUT_OK;
    enum bitcut_status status = attention_ask_errors(a, f);
    a->others = 0;
    for (const struct bitcut_attention_row *row = attention_rows;
         row->name && a->others < ATTENTION_ROWS_MAX && status == BITCUT_OK; row++) {
        struct attention_result now;
        size_t at = a->others;
        status = run_other(&now, a, row, f);
        while (at && is_before(&now, &a->other[at - 1])) {
            a->other[at] = a->other[at - 1];
            at--;
        }
        a->other[at] = now;
        a->others++;
    }
    a->has_rows = status == BITCUT_OK;
    return status;
}

const struct attention_result *attention_answers_best(const struct attention_answers *a,
                                                      bool is_short)
{
    for (size_t i = 0; i < a->others; i++) {
        const struct attention_result *const r = &a->other[i];
        if (r->errors.outputs && (r->of_q->bits < 16 || r->of_p->bits < 16) == is_short)
            return r;
    }
    return NULL;
}
