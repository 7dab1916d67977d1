/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/library_option.h"

#include <stdio.h>
#include <string.h>

/* --- the call --------------------------------------------------------------------- */

static int take_layout(struct bitcut_gemm *g, const char *layout)
{
    struct bitcut_matrix *const side[] = { &g->a, &g->b };
    bool valid = strlen(layout) == 2;
    for (int i = 0; i < 2 && valid; i++) {
        valid = layout[i] == 'N' || layout[i] == 'T';
        if (layout[i] == 'T') side[i]->layout = BITCUT_COLUMN_MAJOR;
    }
    return valid ? EXIT_GOOD : complain("--layout", "must be NN, NT, TN or TT");
}

static int check_names(const struct library_options *o)
{
    const struct library *const l = table_find(TABLE(libraries), o->name);
    if (!l) return fail_unknown("--library", o->name, TABLE(libraries));
    if (!o->chip) return complain("--chip", "is required (bitcut list libraries)");
    const struct table chips_of = { l->chips, sizeof *l->chips },
                       types_of = { l->types, sizeof *l->types };
    if (!table_find(chips_of, o->chip)) return fail_unknown("--chip", o->chip, chips_of);
    if (o->call && l->calls &&
        !table_find((struct table){ l->calls, sizeof *l->calls }, o->call))
        return fail_unknown("--call", o->call,
                            (struct table){ l->calls, sizeof *l->calls });
    if (o->types && !table_find(types_of, o->types))
        return fail_unknown("--types", o->types, types_of);
    return EXIT_GOOD;
}

/* The row of the types that an option names, or of the call, or the first. */
static const struct library_types *types_of(const struct library *l,
                                            const struct library_options *o)
{
    const struct table calls = { l->calls, sizeof *l->calls },
                       types = { l->types, sizeof *l->types };
    const struct library_call *const call =
        l->calls && o->call ? table_find(calls, o->call) : l->calls;
    if (o->types) return table_find(types, o->types);
    return call ? table_find(types, call->types) : l->types;
}

int library_choose(struct prediction *p, struct bitcut_gemm *g,
                   const struct library_options *o)
{
    struct fault f;
    if (!o->name) return complain("--library", "is required (bitcut list libraries)");
    int status = check_names(o);
    if (status != EXIT_GOOD) return status;
    const struct library_types *const t =
        types_of(table_find(TABLE(libraries), o->name), o);
    const struct bitcut_predict_options how = { .library = o->name,
                                                .chip = o->chip,
                                                .types = t->name,
                                                .library_threads = o->threads,
                                                .fields = o->fields,
                                                .call = o->call };
    g->a.format = g->b.format = &formats[t->operands];
    g->d.format = &formats[t->result];
    if (predict_choose(p, g, &how, &f) != BITCUT_OK) return fail_about("--library", &f);
    return take_layout(g, o->layout                    ? o->layout
                          : p->made && p->made->layout ? p->made->layout
                                                       : "NN");
}

/* --- a GEMM with its matrices ----------------------------------------------------- */

/* Options that a library decides. */
static const char *const decided[] = {
    "recipe",  "unit",         "split",   "split-a",    "split-b",     "high",
    "low",     "sum-rounding", "scale",   "round-seed", "equilibrate", "terms",
    "promote", "tile-k",       "split-k", "order",      "epilogue",    "start",
    "scaling", "device",       "kernel",  "hsaco",      NULL
};

static bool is_decided(const char *name)
{
    const char *const *at = decided;
    while (*at && strcmp(*at, name)) at++;
    return *at;
}

int library_check(const struct library_options *o, const struct context *x)
{
    char option[40];
    if (!o->name &&
        (o->chip || o->call || o->types || o->layout || o->fields || o->threads))
        return complain("--chip, --call, --types, --layout, --fields, --library-threads",
                        "require --library");
    for (size_t i = 0; o->name && x->options[i].name; i++)
        if (x->given[i] && is_decided(x->options[i].name)) {
            snprintf(option, sizeof option, "--%s", x->options[i].name);
            return complain(option,
                            "cannot be combined with --library, which decides it");
        }
    return EXIT_GOOD;
}

int library_open(struct setup *s, const struct library_options *o)
{
    const int status = check_names(o);
    return status == EXIT_GOOD ? setup_open_gemm(s, "plain") : status;
}

int library_predict(struct prediction *p, struct setup *s,
                    const struct library_options *o)
{
    struct bitcut_gemm g = s->gemm;
    struct fault f;
    g.count = s->count;
    g.m = s->a.rows, g.n = s->b.cols, g.k = s->a.cols;
    const int status = library_choose(p, &g, o);
    if (status != EXIT_GOOD) return status;
    if (s->gemm.d.format && s->gemm.d.format != g.d.format)
        return complain("--format-d", "must be that of the library's types");
    if (predict_find(p, &g, &f) != BITCUT_OK) return fail("--library", &f);
    if (p->lost)
        return complain("--library",
                        "loses products of the last k; bitcut predict says which");
    s->gemm = predict_gemm(p, 0, &s->gemm);
    s->gemm.d.format = g.d.format;
    s->predicted = p;
    return setup_plan(s);
}

int library_check_budget(const struct setup *s, const struct budget_options *o)
{
    if (!s->predicted || s->predicted->computations == 1 || !budget_is_asked(o))
        return EXIT_GOOD;
    return complain("--budget",
                    "requires outputs with one order of k; these have several");
}

const char *library_text(char text[LIBRARY_TEXT_MAX], const struct setup *s)
{
    *text = 0;
    if (!s->predicted) return NULL;
    predict_describe(text, LIBRARY_TEXT_MAX, s->predicted);
    return text;
}

int library_compute(struct matrix *d, const struct setup *s, const struct context *x)
{
    struct fault f = { .text = "" };
    if (matrix_init(d, s->a.rows, s->b.cols, &f) != BITCUT_OK) return fail("D", &f);
    const struct bitcut_gemm g = setup_gemms(s, d->at);
    f.status = predict_compute(s->predicted, &g, x->threads, f.text);
    if (f.status == BITCUT_OK) return EXIT_GOOD;
    matrix_clear(d);
    return fail("gemm", &f);
}
