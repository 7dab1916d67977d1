/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/replay_paste.h"

#include "analysis/cli/paste_search.h"
#include "analysis/evidence/paste_product.h"
#include "lib/base/text.h"
#include "lib/io/stream.h"

#include <stdlib.h>

bool replay_paste_is(const char *path)
{
    char *bytes;
    size_t size;
    if (stream_read_file(&bytes, &size, path, PASTE_BYTES_MAX, NULL) != BITCUT_OK)
        return false;
    const bool is = paste_is(bytes, size);
    free(bytes);
    return is;
}

/* --- rows ------------------------------------------------------------------------- */

enum { ROW_TEXT_MAX = 120 };

static void describe_row(char text[ROW_TEXT_MAX], const struct paste_row *row)
{
    *text = 0;
    text_add(text, ROW_TEXT_MAX, "%s", row->unit->name);
    if (row->operands)
        text_add(text, ROW_TEXT_MAX, ", operands rounded by %s", row->operands->name);
}

static json_t *row_json(const struct paste_row *row)
{
    char text[ROW_TEXT_MAX];
    describe_row(text, row);
    return json_string(text);
}

static json_t *survivors_json(const struct paste_product *p)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < p->trials; i++)
        if (paste_survives(p, &p->trial[i]))
            json_array_append_new(list, row_json(&p->trial[i].row));
    return list;
}

/* The row that gives most groups if no row gives all; NULL: there is none, or none is
   needed. */
static const struct paste_trial *nearest(const struct paste_product *p)
{
    const struct paste_trial *best = NULL;
    for (size_t i = 0; i < p->trials && p->groups && !p->survivors; i++)
        if (!best || p->trial[i].agreeing > best->agreeing) best = &p->trial[i];
    return best;
}

static json_t *order_json(const struct paste_product *p)
{
    return p->order.lanes == 1
               ? json_null()
               : json_sprintf("%d lanes of %d k", p->order.lanes, p->order.each);
}

/* --- other lines ------------------------------------------------------------------ */

/* The first row that survives, or NULL. */
static const struct paste_row *survivor(const struct paste_product *p)
{
    for (size_t i = 0; i < p->trials; i++)
        if (paste_survives(p, &p->trial[i])) return &p->trial[i].row;
    return NULL;
}

/* What gives a line that does not decide which rows survive, or that no row gives, as a
   text; NULL: nothing that was tried. */
static enum bitcut_status explain_line(json_t **what, const struct paste_product *p,
                                       const struct paste_line *x, struct context *c,
                                       struct fault *f)
{
    static struct statistic_answer r;
    const struct paste_row *const row = survivor(p);
    enum bitcut_status status = BITCUT_OK;
    int place = BIAS_PLACES;
    *what = NULL;
    if (x->op == PASTE_LINEAR && row && paste_is_short(x))
        status = paste_bias_place(&place, x, row, p->order, f);
    if (place < BIAS_PLACES) *what = json_string(paste_bias_places[place]);
    if (!paste_search_takes(x)) return status;
    status = paste_search(&r, x, row ? row->unit : NULL, c->threads, &c->progress, f);
    if (status == BITCUT_OK && r.found) *what = json_string(r.name);
    return status;
}

/* The results of all products. */
struct total {
    size_t lines, missing, given, unknown;
};

static enum bitcut_status others_json(json_t **to, struct total *t,
                                      const struct paste_product *p, struct context *c,
                                      struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *to = json_array();
    for (size_t i = 0; i < p->lines && status == BITCUT_OK; i++) {
        const struct paste_line *const x = p->line[i];
        json_t *what;
        if (!x->ran || (paste_decides(x) && p->survivors)) continue;
        status = explain_line(&what, p, x, c, f);
        if (status != BITCUT_OK) break;
        t->given += what != NULL;
        t->unknown += !what;
        json_array_append_new(*to,
                              json_pack("{s:I, s:s, s:o, s:o}", "line",
                                        (json_int_t)x->number, "operation",
                                        paste_operations[x->op].name, "sizes",
                                        json_sprintf("%zux%zux%zu", x->m, x->n, x->k),
                                        "gives", what ? what : json_null()));
    }
    return status;
}

static enum bitcut_status emit_product(struct context *x, struct total *t,
                                       const struct paste_product *p, struct fault *f)
{
    const struct paste_trial *const near = nearest(p);
    json_t *others;
    const enum bitcut_status status = others_json(&others, t, p, x, f);
    if (status != BITCUT_OK) return json_decref(others), status;
    t->lines += p->lines;
    t->missing += p->missing;
    t->given += p->survivors ? p->decides : 0;
    emit_row(&x->emitter,
             json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:o, s:o}", "product",
                       p->name, "lines", (json_int_t)p->decides, "missing",
                       (json_int_t)p->missing, "rows", (json_int_t)p->trials, "survivors",
                       (json_int_t)p->survivors, "order", order_json(p), "nearest",
                       near ? row_json(&near->row) : json_null(), "agreeing",
                       (json_int_t)(near ? near->agreeing : p->survivors ? p->groups : 0),
                       "groups", (json_int_t)p->groups, "units", survivors_json(p),
                       "others", others));
    return BITCUT_OK;
}

/* --- the paste -------------------------------------------------------------------- */

static void emit_device(struct context *x, const struct paste *p, const struct total *t)
{
    emit_ending(&x->emitter,
                json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "device",
                          p->device, "name", p->name, "architecture", p->arch, "machine",
                          p->machine, "torch", p->torch, "runtime", p->runtime, "lines",
                          (json_int_t)t->lines, "missing", (json_int_t)t->missing, "given",
                          (json_int_t)t->given, "unknown", (json_int_t)t->unknown));
}

static int report(struct context *x, const struct paste *paste, const char *path)
{
    struct paste_product *p;
    struct total t = { 0 };
    struct fault f;
    size_t count;
    enum bitcut_status status =
        paste_products(&p, &count, paste, x->threads, &x->progress, &f);
    if (status != BITCUT_OK) return fail(path, &f);
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        status = emit_product(x, &t, &p[i], &f);
    free(p);
    if (status != BITCUT_OK) return fail(path, &f);
    emit_device(x, paste, &t);
    return t.unknown ? EXIT_FOUND : EXIT_GOOD;
}

int replay_paste(struct context *x, const char *path)
{
    struct paste paste;
    struct fault f;
    char *bytes;
    size_t size;
    if (stream_read_file(&bytes, &size, path, PASTE_BYTES_MAX, &f) != BITCUT_OK)
        return fail(path, &f);
    const enum bitcut_status status = paste_read(&paste, bytes, size, &f);
    free(bytes);
    if (status != BITCUT_OK) return fail(path, &f);
    const int result = report(x, &paste, path);
    paste_clear(&paste);
    return result;
}
