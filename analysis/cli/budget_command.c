/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/budget_command.h"

#include "lib/io/json_value.h"
#include "lib/number/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rows ------------------------------------------------------------------------- */

static const char *part_name(int part)
{
    return part < BUDGET_PARTS ? budget_rows[part].name : "error";
}

static json_t *statistics_json(const struct budget_statistics *s)
{
    return json_pack("{s:o, s:o, s:o}", "mean", json_number(s->mean), "rms",
                     json_number(s->rms), "max", json_number(s->most));
}

/* [i, j] of an output, or null. */
static json_t *place_json(size_t at, const struct budget_summary *b, size_t n)
{
    if (at == b->total) return json_null();
    return json_pack("[o, o]", json_count(at / n), json_count(at % n));
}

static json_t *event_json(const struct budget_event *e)
{
    if (!e->what) return json_null();
    return json_pack("{s:s, s:i, s:o}", "what", e->what, "term", e->term, "instructions",
                     json_count(e->at));
}

static json_t *summary_json(const struct budget_summary *b, size_t n)
{
    json_t *parts = json_array();
    for (int i = 0; i <= BUDGET_PARTS; i++) {
        if (!budget_lists(i, b->is_f64, b->part[i][BUDGET_U].most)) continue;
        json_array_append_new(parts,
                              json_pack("{s:s, s:o, s:o}", "name", part_name(i), "u",
                                        statistics_json(&b->part[i][BUDGET_U]), "ulp",
                                        statistics_json(&b->part[i][BUDGET_ULP])));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total", json_count(b->total),
                     "outputs", json_count(b->outputs), "without_sum",
                     json_count(b->without), "first_without", place_json(b->first, b, n),
                     "event", event_json(&b->event), "worst", place_json(b->worst, b, n),
                     "parts", parts);
}

static json_t *output_json(const struct budget_place *p)
{
    const struct budget_output *const b = &p->budget;
    json_t *parts = json_array();
    for (int n = 0; n < BUDGET_PARTS && !b->event.what; n++) {
        if (!budget_lists(n, b->is_f64, b->part[n])) continue;
        json_array_append_new(
            parts, json_pack("{s:s, s:o, s:s}", "name", budget_rows[n].name, "value",
                             json_number(b->part[n]), "exact", b->exact[n]));
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "i", json_count(p->i), "j",
        json_count(p->j), "d", json_number(b->is_f64 ? b->d64 : value_of_float(b->d)),
        "value", b->event.what ? json_null() : json_number(b->value), "error",
        b->event.what ? json_null() : json_number(b->error), "size", json_number(b->size),
        "event", event_json(&b->event), "parts", parts);
}

/* The part of its error that is not the emulator's. */
static json_t *worst_json(const struct budget_place *p)
{
    const struct budget_output *const b = &p->budget;
    const int bits = b->is_f64 ? 64 : 32;
    const double given = b->is_f64 ? p->given64 : value_of_float(p->given),
                 d = b->is_f64 ? b->d64 : value_of_float(b->d);
    json_t *const one = output_json(p);
    json_object_update_new(
        one,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "given", json_number(given),
                  "given_encoding",
                  json_encoding(b->is_f64 ? bits_of_double(given) : p->given, bits),
                  "d_encoding", json_encoding(b->is_f64 ? bits_of_double(d) : b->d, bits),
                  "u", json_number(p->u), "unexplained", json_number(given - d), "same",
                  (int)budget_place_is_same(p)));
    return one;
}

void budget_json(json_t *row, const struct budget_answer *a)
{
    const struct budget_problem *const q = a->problem;
    if (q->all) json_object_set_new(row, "budget", summary_json(&a->all, q->n));
    if (q->one) json_object_set_new(row, "at", output_json(&a->one));
    if (!q->worst) return;
    json_t *const list = json_array();
    for (size_t i = 0; i < a->worst_count; i++)
        json_array_append_new(list, worst_json(&a->worst[i]));
    json_object_set_new(row, "worst", list);
}

/* --- computing -------------------------------------------------------------------- */

/* Read "3,5".  Returns false if it has another form, or the output does not exist. */
static bool parse_at(size_t *i, size_t *j, const char *text, size_t m, size_t n)
{
    char *end;
    const size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits] != ',') return false;
    const char *rest = text + digits + 1;
    if (!*rest || rest[strspn(rest, "0123456789")]) return false;
    *i = (size_t)strtoull(text, &end, 10);
    *j = (size_t)strtoull(rest, &end, 10);
    return *i < m && *j < n;
}

int budget_check_sizes(const struct budget_options *o, bool is_batch, size_t m, size_t n)
{
    struct fault f;
    size_t i, j;
    if (budget_is_asked(o) && is_batch)
        return complain("--budget, --at, --worst",
                        "require --index, one GEMM of the batch");
    if (!o->at || parse_at(&i, &j, o->at, m, n)) return EXIT_GOOD;
    fault_set(&f, BITCUT_BAD_ARGUMENT,
              "expected I,J with a row below %zu and a column below %zu, found \"%.40s\"",
              m, n, o->at);
    return fail("--at", &f);
}

int budget_check(const struct budget_options *o, const struct setup *s)
{
    return budget_check_sizes(o, s->is_batch, s->a.rows, s->b.cols);
}

struct budget_problem budget_problem_of(const struct budget_options *o,
                                        const struct bitcut_gemm *g, size_t m, size_t n)
{
    struct budget_problem q = {
        .gemm = g, .m = m, .n = n, .all = o->all, .worst = o->worst, .one = o->at != NULL
    };
    if (q.one) parse_at(&q.i, &q.j, o->at, m, n);
    return q;
}

int budget_run(struct budget_answer *to, const struct budget_problem *q,
               const struct context *x)
{
    const struct gemm_options options = context_options(x);
    const char *option;
    struct fault f;
    char name[20];
    if (budget_find(to, q, &options, &option, &f) == BITCUT_OK) return EXIT_GOOD;
    snprintf(name, sizeof name, "--%s", option);
    return fail(name, &f);
}

int budget_ask(struct budget_answer *to, struct budget_problem *q,
               const struct budget_options *o, const struct setup *s,
               const struct gemm_data *data, const struct matrix *d,
               const struct context *x)
{
    *q = budget_problem_of(o, &s->gemm, d->rows, d->cols);
    q->plan = &s->plan;
    q->data = data;
    q->d = d;
    if (!q->all && !q->one && !q->worst) {
        *to = (struct budget_answer){ .problem = q };
        return EXIT_GOOD;
    }
    struct gemm_data own = *data;
    struct fault f;
    if (gemm_data_take_extra(&own, &s->gemm, 0, x->threads, &f) != BITCUT_OK)
        return fail("--budget", &f);
    q->data = &own;
    const int status = budget_run(to, q, x);
    q->data = data;
    gemm_data_clear_extra(&own);
    return status;
}
