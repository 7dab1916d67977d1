/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/replay_paste.h"

#include "analysis/cli/paste_search.h"
#include "analysis/evidence/paste_mutant.h"
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

/* --- texts ------------------------------------------------------------------------ */

enum { TEXT_MAX = 400 };

static void describe_row(char text[TEXT_MAX], const struct paste_row *row)
{
    *text = 0;
    text_add(text, TEXT_MAX, "%s", row->unit->name);
    if (row->operands)
        text_add(text, TEXT_MAX, ", operands rounded by %s", row->operands->name);
}

/* Append a text to a list; both become NULL if memory runs out, and so does their row. */
static void add_text(json_t **list, json_t *text)
{
    if (!json_array_append_new(*list, text)) return;
    json_decref(*list);
    *list = NULL;
}

static json_t *row_json(const struct paste_row *row)
{
    char text[TEXT_MAX];
    describe_row(text, row);
    return json_string(text);
}

static void describe_line(char *text, size_t size, const struct paste_line *x)
{
    text_add(text, size, "line %zu: %s %zux%zux%zu, D %s", x->number,
             paste_operations[x->op].name, x->m, x->n, x->k, x->d->name);
}

/* --- rows that survive ------------------------------------------------------------ */

/* The rows of a product that survive, and how many of them differ in a field. */
struct survivors {
    const struct paste_trial *first; /* NULL: none */
    size_t count, distinct;
    json_t *names;
};

static struct survivors survivors_of(const struct paste_product *p)
{
    struct survivors s = { .names = json_array() };
    for (size_t i = 0; i < p->trials; i++) {
        const struct paste_trial *const t = &p->trial[i];
        if (!paste_survives(p, t)) continue;
        if (!s.first) s.first = t;
        s.count++;
        s.distinct += t->first == i;
        add_text(&s.names, row_json(&t->row));
    }
    return s;
}

/* The row that gives the most groups. */
static const struct paste_trial *nearest(const struct paste_product *p)
{
    const struct paste_trial *best = NULL;
    for (size_t i = 0; i < p->trials && p->groups; i++)
        if (!best || p->trial[i].agreeing > best->agreeing) best = &p->trial[i];
    return best;
}

static void describe_order(char text[TEXT_MAX], const struct paste_trial *t)
{
    const char *join = "; some lines have slices of ";
    for (unsigned length = 1; length <= t->slices; length *= 2)
        if (t->slices & length) {
            text_add(text, TEXT_MAX, "%s%u", join, length);
            join = " or ";
        }
    if (t->slices) text_add(text, TEXT_MAX, " k");
    if (t->filled) text_add(text, TEXT_MAX, "; k is filled up with zeros to a tile");
    if (t->lanes.lanes > 1)
        text_add(text, TEXT_MAX, "; k in %d lanes of %d", t->lanes.lanes, t->lanes.each);
}

static void describe_survivors(char text[TEXT_MAX], const struct survivors *s)
{
    describe_row(text, &s->first->row);
    if (s->count > 1)
        text_add(text, TEXT_MAX,
                 s->distinct > 1 ? " and %zu more, which these lines do not distinguish"
                                 : " and %zu more, which compute the same",
                 s->count - 1);
    describe_order(text, s->first);
}

static void describe_verdict(char text[TEXT_MAX], const struct survivors *s,
                             const struct paste_mutants *m, const struct paste_product *p)
{
    const struct paste_trial *const near = nearest(p);
    if (!p->decides) snprintf(text, TEXT_MAX, "not run on this device");
    else if (s->first) describe_survivors(text, s);
    else if (!near) snprintf(text, TEXT_MAX, "new: the table has no row for it");
    else if (m->count) {
        *text = 0;
        text_add(text, TEXT_MAX, "new: no row gives all, but %s does%s", m->text[0],
                 m->count > 1 ? ", and other rows one step from a row" : "");
    } else {
        snprintf(text, TEXT_MAX, "new: no row gives all; %zu of %zu groups are given by ",
                 near->agreeing, p->groups);
        char name[TEXT_MAX];
        describe_row(name, &near->row);
        text_add(text, TEXT_MAX, "%s", name);
    }
}

/* --- rows of the answer ----------------------------------------------------------- */

/* The lines of a paste, by what is said of them. */
struct total {
    size_t lines, missing, given, unknown, recorded;
};

static json_t *mutants_json(const struct paste_mutants *m)
{
    json_t *list = json_array();
    for (size_t i = 0; i < m->count; i++) add_text(&list, json_string(m->text[i]));
    return list;
}

static void emit_product(struct context *x, struct total *t,
                         const struct paste_product *p, const struct survivors *s,
                         const struct paste_mutants *m)
{
    char verdict[TEXT_MAX];
    const struct paste_trial *const near = nearest(p);
    describe_verdict(verdict, s, m, p);
    t->lines += p->lines;
    t->missing += p->missing;
    *(s->first ? &t->given : &t->unknown) += p->decides;
    emit_row(&x->emitter,
             json_pack("{s:s, s:n, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o}",
                       "product", p->name, "line", "lines", (json_int_t)p->decides,
                       "missing", (json_int_t)p->missing, "refuted",
                       (json_int_t)(p->trials - s->count), "survivors",
                       (json_int_t)s->count, "distinct", (json_int_t)s->distinct,
                       "agreeing", (json_int_t)(near ? near->agreeing : 0), "groups",
                       (json_int_t)p->groups, "verdict", verdict, "units",
                       json_incref(s->names), "mutants", mutants_json(m)));
}

static void emit_line(struct context *x, const struct paste_product *p,
                      const struct paste_line *line, const char *verdict)
{
    char text[2 * TEXT_MAX] = "";
    describe_line(text, sizeof text, line);
    text_add(text, sizeof text, ": %s", verdict);
    emit_row(&x->emitter,
             json_pack("{s:s, s:I, s:I, s:I, s:n, s:n, s:n, s:n, s:I, s:s, s:[], s:[]}",
                       "product", p->name, "line", (json_int_t)line->number, "lines",
                       (json_int_t)1, "missing", (json_int_t)0, "refuted", "survivors",
                       "distinct", "agreeing", "groups", (json_int_t)PASTE_GROUPS,
                       "verdict", text, "units", "mutants"));
}

/* --- lines that do not decide ----------------------------------------------------- */

static void describe_found(char text[TEXT_MAX], const struct statistic_answer *r)
{
    *text = 0;
    text_add(text, TEXT_MAX, "%s", r->name);
    if (r->gives == 2) text_add(text, TEXT_MAX, " (another hypothesis gives it as well)");
    if (r->gives > 2)
        text_add(text, TEXT_MAX, " (%zu other hypotheses give it as well)", r->gives - 1);
}

/* What gives such a line, or a line of a product that no row gives. */
static enum bitcut_status explain_line(char text[TEXT_MAX], struct total *t,
                                       const struct paste_line *line,
                                       const struct paste_row *row, struct context *x,
                                       struct fault *f)
{
    static struct statistic_answer r;
    enum bitcut_status status = BITCUT_OK;
    int place = BIAS_PLACES;
    r.found = false;
    if (line->op == PASTE_SDPA) {
        t->recorded++;
        return snprintf(text, TEXT_MAX, "recorded; no unit alone gives it"), BITCUT_OK;
    }
    if (line->op == PASTE_LINEAR && row && paste_is_short(line))
        status = paste_bias_place(&place, line, row, f);
    else if (paste_search_takes(line))
        status =
            paste_search(&r, line, row ? row->unit : NULL, x->threads, &x->progress, f);
    if (status != BITCUT_OK) return status;
    if (place < BIAS_PLACES) snprintf(text, TEXT_MAX, "%s", paste_bias_places[place]);
    else if (r.found) describe_found(text, &r);
    else snprintf(text, TEXT_MAX, "new: nothing that was tried gives it");
    if (!paste_decides(line))
        *(place < BIAS_PLACES || r.found ? &t->given : &t->unknown) += 1;
    else if (r.found) t->given++, t->unknown--;
    return BITCUT_OK;
}

static enum bitcut_status report_product(struct context *x, struct total *t,
                                         const struct paste_product *p, struct fault *f)
{
    struct survivors s = survivors_of(p);
    const struct paste_row *const row = s.first ? &s.first->row : NULL;
    static struct paste_mutants mutants;
    enum bitcut_status status = paste_mutants_find(&mutants, p, &x->progress, f);
    if (status == BITCUT_OK) emit_product(x, t, p, &s, &mutants);
    for (size_t i = 0; i < p->lines && status == BITCUT_OK; i++) {
        const struct paste_line *const line = p->line[i];
        char text[TEXT_MAX];
        if (!line->ran || (row && paste_decides(line))) continue;
        status = explain_line(text, t, line, row, x, f);
        if (status == BITCUT_OK) emit_line(x, p, line, text);
    }
    json_decref(s.names);
    return status;
}

/* --- the paste -------------------------------------------------------------------- */

static void emit_device(struct context *x, const struct paste *p, const struct total *t)
{
    emit_ending(&x->emitter,
                json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}",
                          "device", p->device, "name", p->name, "architecture", p->arch,
                          "machine", p->machine, "torch", p->torch, "runtime", p->runtime,
                          "lines", (json_int_t)t->lines, "missing",
                          (json_int_t)t->missing, "given", (json_int_t)t->given,
                          "unknown", (json_int_t)t->unknown, "recorded",
                          (json_int_t)t->recorded));
}

static int report(struct context *x, const struct paste *paste, const char *path)
{
    static const struct emit_column columns[] = {
        { "product", "product", 0, NULL }, { "lines", "lines", 0, NULL },
        { "refuted", "refuted", 0, NULL }, { "survivors", "survive", 0, NULL },
        { "verdict", "verdict", 0, NULL }, { NULL },
    };
    struct paste_product *p;
    struct total t = { 0 };
    struct fault f;
    size_t count;
    enum bitcut_status status =
        paste_products(&p, &count, paste, x->threads, &x->progress, &f);
    if (status != BITCUT_OK) return fail(path, &f);
    x->emitter.columns = columns;
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        status = report_product(x, &t, &p[i], &f);
    free(p);
    if (status == BITCUT_NO_MEMORY) emit_drop(&x->emitter);
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
