/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/explain_say.h"

#include "analysis/cli/say.h"
#include "analysis/cli/terminal.h"
#include "lib/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- keys ------------------------------------------------------------------------- */

json_t *explain_ulps(const struct explanation *e)
{
    json_t *list = json_array();
    for (int i = 0; i < SPREAD_BINS; i++) {
        const size_t from = i ? (size_t)1 << (i - 1) : 0, to = i ? 2 * from - 1 : 0;
        const bool steps = i < SPREAD_BINS - 1;
        if (!e->spread.bin[i]) continue;
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "from",
                                              steps ? json_count(from) : json_null(),
                                              "to", steps ? json_count(to) : json_null(),
                                              "count", json_count(e->spread.bin[i])));
    }
    return list;
}

json_t *explain_period(const struct explanation *e)
{
    const size_t row = e->spread.row_period, col = e->spread.col_period;
    return json_pack("{s:o, s:o}", "rows", row ? json_count(row) : json_null(), "columns",
                     col ? json_count(col) : json_null());
}

json_t *explain_distances(const struct explanation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; i < RECIPES_MOST && recipes[i].name; i++) {
        size_t at = 0;
        if (isinf(e->distance[i])) continue; /* no unit runs it */
        while (at < json_array_size(list) &&
               json_number_value(json_object_get(json_array_get(list, at), "ulps")) <=
                   e->distance[i])
            at++;
        json_array_insert_new(
            list, at,
            json_pack("{s:s, s:f}", "name", recipes[i].name, "ulps", e->distance[i]));
    }
    return list;
}

/* --- lines ------------------------------------------------------------------------ */

static long long whole(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

static bool say_error(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    char error[SAY_NUMBER_MOST];
    say_more(text, size, "%s u |A||B| from the exact result, the median (u = 2^-24)",
             say_number(error, row, line->key, 3));
    return true;
}

static bool say_distances(char *text, size_t size, const struct emit_line *line,
                          const json_t *row)
{
    enum { SHOWN = 5 };
    const json_t *list = json_object_get(row, line->key);
    for (size_t i = 0; i < json_array_size(list) && i < SHOWN; i++) {
        char ulps[SAY_NUMBER_MOST];
        const json_t *one = json_array_get(list, i);
        say_more(text, size, "%s%s %s", i ? ", " : "",
                 json_string_value(json_object_get(one, "name")),
                 say_number(ulps, one, "ulps", 3));
    }
    say_more(text, size, " (median ulps from each as it stands, on its nearest unit)");
    return json_array_size(list) > 0;
}

static bool say_spread(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    size_t i;
    const json_t *bin, *bins = json_object_get(row, line->key);
    json_array_foreach(bins, i, bin)
    {
        const long long to = whole(bin, "to"), count = whole(bin, "count");
        if (!json_is_null(json_object_get(bin, "to")))
            say_bin(text, size, to ? 64 - __builtin_clzll((uint64_t)to) : 0, count);
        else say_more(text, size, "%sNaN or infinite: %lld", i ? ", " : "", count);
    }
    say_more(text, size, " (ulps: outputs)");
    return json_array_size(bins) > 0;
}

static void say_range(char *text, size_t size, const json_t *box, const char *key)
{
    const json_t *range = json_object_get(box, key);
    const json_int_t from = json_integer_value(json_array_get(range, 0)),
                     end = json_integer_value(json_array_get(range, 1));
    say_more(text, size, "%s %lld to %lld", key, (long long)from, (long long)end - 1);
}

/* What is there is in the sentence. */
static bool say_boxes(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    size_t i;
    const json_t *box, *boxes = json_object_get(row, line->key);
    json_array_foreach(boxes, i, box)
    {
        const char *fault = json_string_value(json_object_get(box, "fault"));
        if (i) say_more(text, size, "; ");
        say_range(text, size, box, "rows");
        say_more(text, size, ", ");
        say_range(text, size, box, "columns");
        say_more(text, size, ": %lld (%s)", whole(box, "differ"),
                 fault ? fault : "unknown why");
    }
    return json_array_size(boxes) > 0;
}

static bool say_period(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    const json_t *period = json_object_get(row, line->key);
    static const char *const keys[] = { "rows", "columns" };
    for (int i = 0; i < 2; i++)
        if (whole(period, keys[i]))
            say_more(text, size, "%severy %lld %s", *text ? ", " : "",
                     whole(period, keys[i]), keys[i]);
    return *text;
}

/* Whether both are one recipe with the same changes, on whatever units. */
static bool are_alike(const json_t *x, const json_t *y)
{
    return json_equal(json_object_get(x, "recipe"), json_object_get(y, "recipe")) &&
           json_equal(json_object_get(x, "changes"), json_object_get(y, "changes"));
}

/* That from `first` on, on its first units; returns how many of the list that is. */
static long long say_units(char *text, size_t size, const json_t *list, size_t first)
{
    const json_t *const one = json_array_get(list, first);
    const char *const changes = text_at(one, "changes");
    long long count = 0;
    enum { SAID = 3 };
    say_more(text, size, "%s%s on", *text ? "; " : "", text_at(one, "recipe"));
    for (size_t i = first; i < json_array_size(list); i++) {
        const json_t *const other = json_array_get(list, i);
        if (!are_alike(one, other)) continue;
        if (count++ < SAID)
            say_more(text, size, "%s %s", count > 1 ? "," : "", text_at(other, "unit"));
    }
    if (count > SAID) say_more(text, size, " and %lld more units", count - SAID);
    if (changes) say_more(text, size, ", but %s", changes);
    return count;
}

/* Each recipe once, with the units on which it is the same. */
static bool say_equal(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    enum { SHOWN = 3 };
    const json_t *list = json_object_get(row, line->key);
    const long long count = whole(row, "equals");
    long long told = 0, recipes_told = 0;
    for (size_t i = 0; i < json_array_size(list) && recipes_told < SHOWN; i++) {
        bool before = false;
        for (size_t j = 0; j < i && !before; j++)
            before = are_alike(json_array_get(list, j), json_array_get(list, i));
        if (before) continue;
        told += say_units(text, size, list, i);
        recipes_told++;
    }
    if (count > told) say_more(text, size, "; and %lld more", count - told);
    return count > 0;
}

static bool say_looked(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    char seconds[SAY_NUMBER_MOST];
    say_more(text, size, "%lld of %lld outputs; %lld hypotheses%s; %s s",
             whole(row, line->key), whole(row, "total"), whole(row, "tried"),
             json_is_true(json_object_get(row, "complete"))
                 ? ""
                 : ", not all for want of time (--seconds)",
             say_number(seconds, row, "seconds", 2));
    return true;
}

const struct emit_line explain_lines[] = {
    /* clang-format off */
    { "hypothesis", "explanation",   NULL, say_value,     LINE_ALWAYS },
    { "error",      "error of D",    NULL, say_error,     LINE_ALWAYS },
    { "distances",  "recipes",       NULL, say_distances, LINE_ALWAYS },
    { "promote",    "sum over k",    NULL, say_sum,       LINE_ALWAYS },
    { "ulps",       "D lies off by", NULL, say_spread,    LINE_ALWAYS },
    { "parts",      "differs in",    NULL, say_boxes,     LINE_ALWAYS },
    { "differing",  "the first",     NULL, say_differing, LINE_ALWAYS },
    { "period",     "which repeats", NULL, say_period,    LINE_ALWAYS },
    { "equal",      "the same bits", NULL, say_equal,     LINE_ALWAYS },
    { "compared",   "looked at",     NULL, say_looked,    LINE_ALWAYS },
    { "device",     "computed by",   NULL, say_value,     LINE_ALWAYS },
    { 0 }
    /* clang-format on */
};

/* --- the sentence alone ----------------------------------------------------------- */

/* Boxes in lines of the block become boxes of the whole, and what is said of the places
   of lines in the block is left out. */
static void place_parts(struct explanation *e, const struct block *part)
{
    for (size_t i = 0; i < e->parts && i < PARTS_MOST; i++) {
        struct box *b = &e->part[i];
        b->row_end = part->row[b->row_end - 1] + 1;
        b->row = part->row[b->row];
        b->col_end = part->col[b->col_end - 1] + 1;
        b->col = part->col[b->col];
        if (b->fault && !strcmp(b->fault, "moved"))
            snprintf(b->what, sizeof b->what, "they hold what belongs elsewhere");
    }
}

int explain_sentence(char sentence[SENTENCE_MOST], const struct question *q,
                     const struct block *part, size_t seconds, const struct context *x)
{
    const struct explain_options o = { .samples = 4096,
                                       .seconds = (double)seconds,
                                       .seed = x->seed,
                                       .threads = x->threads,
                                       .progress = &x->progress,
                                       .offload = x->offload };
    static struct explanation e;
    struct fault f;
    *sentence = 0;
    if (!seconds) return EXIT_GOOD;
    terminal_label("explain");
    if (explain_run(&e, q, &o, &f) != BITCUT_OK) return fail("explain", &f);
    if (part) place_parts(&e, part);
    explain_say(sentence, &e);
    const bool stopped = e.interrupted;
    explain_clear(&e);
    if (!stopped) return EXIT_GOOD;
    fault_set(&f, BITCUT_CANNOT, "stopped");
    return fail("explain", &f);
}
