/* SPDX-License-Identifier: BSD-3-Clause */
/* Budgets of attention: of many outputs, of one, and their keys and sentences. */
#include "analysis/accuracy/attention_budget.h"
#include "analysis/accuracy/short_result.h"
#include "lib/base/progress.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>

/* --- computing -------------------------------------------------------------------- */

/* An attention with its plan and operands. */
struct prepared {
    struct attention_plan plan;
    struct attention_operands x;
    struct attention_budget_work work;
};

static enum bitcut_status prepare(struct prepared *p,
                                  const struct bitcut_attention *attention, int threads,
                                  struct fault *f)
{
    struct bitcut_attention a;
    enum bitcut_status status = attention_take(&a, attention, f);
    if (status == BITCUT_OK) status = attention_check_matrices(&a, f);
    if (status == BITCUT_OK && threads < 0)
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    if (status == BITCUT_OK) status = attention_plan_make(&p->plan, &a, f);
    if (status == BITCUT_OK && p->plan.pv_plan.integer)
        status = fault_set(f, BITCUT_UNSUPPORTED,
                           "a unit of integers for P V has no error budget");
    if (status != BITCUT_OK) return status;
    p->work = (struct attention_budget_work){ &p->plan, &p->x };
    if (attention_operands_make(&p->x, &p->plan, 0, threads) == BITCUT_OK)
        return BITCUT_OK;
    return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the operands");
}

/* The queries and the columns of each that are computed, spread evenly. */
struct sample {
    struct spread_evenly queries, columns;
};

static struct sample sample_of(const struct bitcut_attention *a, size_t samples)
{
    enum { LEAST = 16, FEW = 4 };
    const double outputs =
        samples ? (double)samples
                : larger_double(LEAST, 0x1p20 / larger_double(1, (double)a->keys));
    struct sample s;
    s.columns = spread_evenly(a->value_dim, larger_double(1, outputs / FEW));
    s.queries = spread_evenly(a->heads * a->queries,
                              ceil(outputs / larger_double(1, (double)s.columns.count)));
    return s;
}

/* Query i of the sample: somewhere in the i-th of equal intervals, by the golden ratio,
   so that a mask does not meet its period. */
static size_t query_at(const struct spread_evenly *s, size_t i)
{
    const double ratio = 0.61803398874989485 * (double)i;
    return (size_t)(((double)i + ratio - floor(ratio)) * s->stride);
}

/* u of the format of O times the mean of |V|. */
static double unit_of(const struct attention_output_budget *x, double u)
{
    return x->size > 0 ? x->size * u : 1;
}

static void take_statistic(struct budget_statistics *to, double x)
{
    to->mean += x;
    to->rms += x * x;
    to->most = larger_double(to->most, fabs(x));
}

static void take_output(struct attention_budget *to,
                        const struct attention_output_budget *x, double u)
{
    to->outputs++;
    if (x->event) {
        if (!to->without++) to->event = x->event;
        return;
    }
    const double error = fabs(x->error) / unit_of(x, u);
    if (error > to->part[ATTENTION_PARTS].most)
        to->head = x->head, to->row = x->row, to->column = x->column;
    for (int p = 0; p < ATTENTION_PARTS; p++)
        take_statistic(&to->part[p], x->part[p] / unit_of(x, u));
    take_statistic(&to->part[ATTENTION_PARTS], x->error / unit_of(x, u));
}

static void finish(struct attention_budget *to)
{
    const double count = (double)(to->outputs - to->without);
    for (int p = 0; p <= ATTENTION_PARTS; p++) {
        struct budget_statistics *const s = &to->part[p];
        s->mean /= count;
        s->rms = sqrt(s->rms / count);
        if (count == 0) s->most = (double)NAN;
    }
}

static enum bitcut_status run_sample(struct attention_budget *to,
                                     const struct prepared *p, const struct sample *s,
                                     size_t *column, struct attention_output_budget *out,
                                     const struct progress *progress, struct fault *f)
{
    const struct bitcut_attention *const a = &p->plan.a;
    const double u = result_unit(matrix_format(&a->o));
    for (size_t i = 0; i < s->columns.count; i++)
        column[i] = spread_place(&s->columns, i);
    for (size_t i = 0; i < s->queries.count && !progress_stopped(progress); i++) {
        const size_t at = smaller(query_at(&s->queries, i), a->heads * a->queries - 1);
        const enum bitcut_status status =
            attention_budget_query(out, &p->work, at / a->queries, at % a->queries,
                                   column, s->columns.count, false, f);
        if (status != BITCUT_OK) return status;
        for (size_t c = 0; c < s->columns.count; c++) take_output(to, &out[c], u);
        progress_report(progress, i + 1, s->queries.count);
    }
    return progress_end(BITCUT_OK, progress, f);
}

enum bitcut_status attention_budget_find(struct attention_budget *to,
                                         const struct bitcut_attention *attention,
                                         size_t samples, int threads,
                                         const struct progress *progress, struct fault *f)
{
    struct prepared p;
    enum bitcut_status status = prepare(&p, attention, threads, f);
    if (status != BITCUT_OK) return status;
    const struct bitcut_attention *const a = &p.plan.a;
    const struct sample s = sample_of(a, samples);
    size_t *const column = memory_allocate(s.columns.count, sizeof *column);
    struct attention_output_budget *const out =
        memory_allocate(s.columns.count, sizeof *out);
    *to = (struct attention_budget){ .total = a->heads * a->queries * a->value_dim };
    status = column && out ? run_sample(to, &p, &s, column, out, progress, f)
                           : fault_set(f, BITCUT_NO_MEMORY,
                                       "not enough memory for the budget of attention");
    finish(to);
    free(column);
    free(out);
    attention_operands_clear(&p.x);
    return status;
}

enum bitcut_status attention_budget_at(struct attention_output_budget *to,
                                       const struct bitcut_attention *attention,
                                       const size_t at[3], struct fault *f)
{
    struct prepared p;
    enum bitcut_status status = prepare(&p, attention, 1, f);
    if (status != BITCUT_OK) return status;
    const struct bitcut_attention *const a = &p.plan.a;
    *to = (struct attention_output_budget){ .event = NULL };
    status = at[0] < a->heads && at[1] < a->queries && at[2] < a->value_dim
                 ? attention_budget_query(to, &p.work, at[0], at[1], &at[2], 1, true, f)
                 : fault_set(f, BITCUT_BAD_ARGUMENT,
                             "the head, query or column is beyond the sizes of O");
    if (status != BITCUT_OK) attention_output_clear(to);
    attention_operands_clear(&p.x);
    return status;
}

/* --- calls ------------------------------------------------------------------------ */

enum bitcut_status bitcut_attention_budget(struct bitcut_part *parts, size_t count,
                                           const struct bitcut_attention *attention,
                                           size_t samples, int threads, char *why)
{
    struct attention_budget b;
    struct fault f;
    if (count && !parts)
        return fault_write(
            why,
            fault_set(&f, BITCUT_BAD_ARGUMENT, "the array of parts must not be NULL"),
            &f);
    const enum bitcut_status status =
        attention_budget_find(&b, attention, samples, threads, progress_of_thread(), &f);
    for (size_t p = 0; p < count && status == BITCUT_OK; p++) {
        const double nan = (double)NAN;
        parts[p] =
            p <= ATTENTION_PARTS
                ? (struct bitcut_part){ b.part[p].mean, b.part[p].rms, b.part[p].most }
                : (struct bitcut_part){ nan, nan, nan };
    }
    return fault_write(why, status, &f);
}

const char *bitcut_attention_part(size_t p)
{
    return p < ATTENTION_PARTS    ? attention_parts[p].name
           : p == ATTENTION_PARTS ? "error"
                                  : NULL;
}

/* --- keys ------------------------------------------------------------------------- */

/* A part of the budget of many outputs, and of one. */
struct attention_part_line {
    const char *name;
    struct budget_statistics u;
};
struct attention_output_part {
    const char *name, *exact;
    double value;
};

static const void *part_at(const void *budget, size_t i, void *room)
{
    struct attention_part_line *const to = room;
    if (i > ATTENTION_PARTS) return NULL;
    to->name = bitcut_attention_part(i);
    to->u = ((const struct attention_budget *)budget)->part[i];
    return to;
}

static const void *output_part_at(const void *budget, size_t i, void *room)
{
    const struct attention_output_budget *const b = budget;
    struct attention_output_part *const to = room;
    if (i >= ATTENTION_PARTS || b->event) return NULL;
    to->name = attention_parts[i].name;
    to->exact = b->exact[i];
    to->value = b->part[i];
    return to;
}

static bool has_parts(const void *x)
{
    return !((const struct attention_output_budget *)x)->event;
}
static bool has_any(const void *x)
{
    const struct attention_budget *const b = x;
    return b->outputs > b->without;
}

#define PART(member, key, unit, what)                                                    \
    RECORD_INNER(struct attention_part_line, member, key, unit, what)
#define ITS(member, key, unit, what)                                                     \
    RECORD_INNER(struct attention_output_part, member, key, unit, what)
#define ALL(member, key, unit, what)                                                     \
    RECORD_INNER(struct attention_budget, member, key, unit, what)
#define ONE(member, key, unit, what)                                                     \
    RECORD_INNER(struct attention_output_budget, member, key, unit, what)
#define ONE_IF(member, key, unit, what)                                                  \
    RECORD_INNER_IF(struct attention_output_budget, member, key, unit, what, has_parts)

/* clang-format off */
const struct record_field attention_part_fields[] = {
    PART(name, "name", "", "part; the last one, error, is their sum"),
    RECORD_MAYBE(struct attention_part_line, u.mean, "mean", "u", "mean of the part, with its sign"),
    RECORD_MAYBE(struct attention_part_line, u.rms, "rms", "u", "root of the mean square"),
    RECORD_MAYBE(struct attention_part_line, u.most, "max", "u", "largest magnitude"),
    { 0 }
};

const struct record_field attention_output_part_fields[] = {
    ITS(name, "name", "", "part"),
    ITS(value, "value", "", "the part, rounded to binary64"),
    ITS(exact, "exact", "", "the part as m*2^e"),
    { 0 }
};

static const struct record_field worst_fields[] = {
    ALL(head, "head", "", "head"),
    RECORD_PAIR(struct attention_budget, row, "at", "", "query and column"),
    { 0 }
};

const struct record_field attention_budget_fields[] = {
    ALL(total, "total", "", "outputs of O"),
    ALL(outputs, "outputs", "", "outputs computed, spread evenly over the queries and the columns"),
    ALL(without, "without", "", "of these, outputs without parts, because something is infinite or NaN"),
    ALL(event, "event", "", "the reason of the first of them"),
    RECORD_TOGETHER(has_any, worst_fields, "worst", "the output with the largest error"),
    RECORD_ITEMS(part_at, attention_part_fields, "parts", "the parts, in u of the format of O times the mean of |V| by the exact weights"),
    { 0 }
};

const struct record_field attention_output_fields[] = {
    ONE(head, "head", "", "head"),
    RECORD_PAIR(struct attention_output_budget, row, "at", "", "query and column"),
    ONE(o, "o", "", "O"),
    ONE(event, "event", "", "why there are no parts"),
    ONE_IF(value, "exact", "", "exact attention, rounded to binary64"),
    ONE_IF(exact_value, "exact_text", "", "exact attention with 192 bits, as m*2^e"),
    ONE_IF(error, "error", "", "O less exact attention"),
    ONE_IF(exact_error, "error_text", "", "the error as m*2^e: the sum of the parts"),
    ONE_IF(size, "size", "", "mean of |V| by the exact weights"),
    RECORD_ITEMS(output_part_at, attention_output_part_fields, "parts", "the parts"),
    { 0 }
};
/* clang-format on */

/* --- sentences -------------------------------------------------------------------- */

/* Parts in the order of their magnitudes, without zeros. */
static void describe_parts(char *text, size_t size, const double part[ATTENTION_PARTS])
{
    bool said[ATTENTION_PARTS] = { false };
    for (int n = 0; n < ATTENTION_PARTS; n++) {
        int most = ATTENTION_PARTS;
        for (int i = 0; i < ATTENTION_PARTS; i++)
            if (!said[i] && fabs(part[i]) > 0 &&
                (most == ATTENTION_PARTS || fabs(part[i]) > fabs(part[most])))
                most = i;
        if (most == ATTENTION_PARTS) return;
        said[most] = true;
        text_add(text, size, "%s%s %.3g", n ? ", " : "", attention_parts[most].name,
                 part[most]);
    }
}

void attention_budget_describe(char *text, size_t size, const struct attention_budget *b)
{
    const struct budget_statistics *const all = &b->part[ATTENTION_PARTS];
    double rms[ATTENTION_PARTS];
    if (!b->outputs) return;
    if (b->without == b->outputs) {
        text_add(text, size, "all %zu outputs have none: %s", b->outputs, b->event);
        return;
    }
    for (int i = 0; i < ATTENTION_PARTS; i++) rms[i] = b->part[i].rms;
    describe_parts(text, size, rms);
    text_add(text, size, "%s%.3g u |V| in all (RMS; mean %.3g, most %.3g)",
             *text ? "; " : "", all->rms, all->mean, all->most);
    if (b->outputs < b->total)
        text_add(text, size, ", of %zu of %zu outputs", b->outputs, b->total);
    if (b->without) text_add(text, size, "; %zu have none: %s", b->without, b->event);
}

void attention_output_describe(char *text, size_t size,
                               const struct attention_output_budget *b, double u)
{
    double part[ATTENTION_PARTS];
    text_add(text, size, "head %zu, query %zu, column %zu ", b->head, b->row, b->column);
    if (b->event) {
        text_add(text, size, "has no budget: %s", b->event);
        return;
    }
    for (int i = 0; i < ATTENTION_PARTS; i++) part[i] = b->part[i] / unit_of(b, u);
    text_add(text, size, "errs by %.3g u |V|: ", b->error / unit_of(b, u));
    describe_parts(text, size, part);
    if (b->error == 0) text_add(text, size, "it is exact");
}
