/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/way.h"

#include "emu/gemm.h"
#include "emu/unit.h"
#include "lib/order_text.h"
#include "lib/table.h"
#include "lib/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 60 };

/* --- reading ---------------------------------------------------------------------- */

static enum bitcut_status unknown(const char *what, const char *name, struct table table,
                                  struct fault *f)
{
    char hint[TABLE_HINT_MOST];
    table_hint(hint, table, name);
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%.*s: unknown %s%s",
                     text_fit(name, NAME_MOST), name, what, hint);
}

/* What an item of the line is: where it goes, and how its value is read. */
enum item_kind { ITEM_SPLIT, ITEM_ROUNDING, ITEM_NUMBER, ITEM_TERMS, ITEM_FLAG };

static const struct item {
    const char *name;
    enum item_kind kind;
    size_t at; /* in struct bitcut_gemm */
} items[] = {
    { "split-a", ITEM_SPLIT, offsetof(struct bitcut_gemm, split_a) },
    { "split-b", ITEM_SPLIT, offsetof(struct bitcut_gemm, split_b) },
    { "high", ITEM_ROUNDING, offsetof(struct bitcut_gemm, high) },
    { "low", ITEM_ROUNDING, offsetof(struct bitcut_gemm, low) },
    { "scale", ITEM_NUMBER, offsetof(struct bitcut_gemm, scale) },
    { "terms", ITEM_TERMS, offsetof(struct bitcut_gemm, low_low) },
    { "promote", ITEM_NUMBER, offsetof(struct bitcut_gemm, promote) },
    { "tile-k", ITEM_NUMBER, offsetof(struct bitcut_gemm, tile_k) },
    { "equilibrate", ITEM_FLAG, offsetof(struct bitcut_gemm, equilibrate) },
};

enum { ITEMS = sizeof items / sizeof items[0] };

static void *item_at(struct bitcut_gemm *g, const struct item *x)
{
    return (char *)g + x->at;
}

static const void *item_of(const struct bitcut_gemm *g, const struct item *x)
{
    return (const char *)g + x->at;
}

/* A number of at most nine digits; false: the text is none. */
static bool read_number(int *to, const char *value)
{
    const size_t digits = strspn(value, "0123456789");
    if (!digits || digits > 9 || value[digits]) return false;
    *to = atoi(value);
    return true;
}

/* Those of the recipe, or one more. */
static bool read_terms(int *low_low, const struct bitcut_recipe *r, const char *value)
{
    int terms;
    if (!read_number(&terms, value)) return false;
    *low_low = terms == r->terms + 1;
    return r->terms + *low_low == terms;
}

static enum bitcut_status read_value(struct bitcut_gemm *g, const struct item *x,
                                     const char *value, struct fault *f)
{
    void *const at = item_at(g, x);
    const void *row = NULL;
    bool good = true;
    switch (x->kind) {
    case ITEM_SPLIT:
        row = bitcut_split_find(value);
        if (!row) return unknown("split", value, TABLE(splits), f);
        break;
    case ITEM_ROUNDING:
        row = bitcut_rounding_find(value);
        if (!row) return unknown("rounding", value, TABLE(roundings), f);
        break;
    case ITEM_NUMBER: good = read_number(at, value); break;
    case ITEM_TERMS: good = read_terms(at, g->recipe, value); break;
    case ITEM_FLAG: good = false; break;
    }
    if (row) memcpy(at, &row, sizeof row);
    if (good) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s=%.*s: not what %s takes", x->name,
                     text_fit(value, NAME_MOST), value, x->name);
}

/* One item, NAME or NAME=VALUE. */
static enum bitcut_status read_item(struct bitcut_gemm *g, const char *name,
                                    const char *value, struct fault *f)
{
    for (const struct item *x = items; x < items + ITEMS; x++) {
        if (strcmp(x->name, name) != 0) continue;
        if (value) return read_value(g, x, value, f);
        if (x->kind != ITEM_FLAG) break;
        *(bool *)item_at(g, x) = true;
        return BITCUT_OK;
    }
    if (!strcmp(name, "split") && value) {
        const enum bitcut_status status = read_value(g, &items[0], value, f);
        g->split_b = status == BITCUT_OK ? g->split_a : g->split_b;
        return status;
    }
    if (order_read_item(&g->order, name, value, f) == BITCUT_OK) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%.*s: no variation of a GEMM; such as split=bitcut, scale=10, "
                     "promote=4, slices=2",
                     text_fit(name, NAME_MOST), name);
}

const struct bitcut_format *way_words(const struct bitcut_gemm *g)
{
    const struct bitcut_split *split = g->split_a ? g->split_a : g->recipe->split;
    return split ? split->word[0].format : &formats[FORMAT_F16];
}

/* The unit of that name for the words that the GEMM has. */
static enum bitcut_status read_unit(struct bitcut_gemm *g, const char *name,
                                    struct fault *f)
{
    g->unit = unit_find(name, way_words(g));
    if (g->unit) return BITCUT_OK;
    if (!table_find(TABLE(chips), name)) return unknown("unit", name, TABLE(chips), f);
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s has no instruction for %s, the words of %s", name,
                     way_words(g)->name, g->recipe->name);
}

/* The items of a line, whose commas become ends. */
static enum bitcut_status read_items(struct bitcut_gemm *g, char *list, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (char *item = list, *next; item && status == BITCUT_OK; item = next) {
        next = strchr(item, ',');
        if (next) *next++ = 0;
        char *value = strchr(item, '=');
        if (value) *value++ = 0;
        status = read_item(g, item, value, f);
    }
    return status;
}

enum bitcut_status way_read(struct bitcut_gemm *to, const char *line, struct fault *f)
{
    char text[WAY_MOST];
    struct gemm_plan plan;
    if (strlen(line) >= sizeof text)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a line of %zu characters is too long",
                         strlen(line));
    strcpy(text, line);
    char *list = strchr(text, ',');
    if (list) *list++ = 0;
    char *const unit = strchr(text, '@');
    if (!unit)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%.*s: not RECIPE@UNIT, such as legemm@mi210",
                         text_fit(text, NAME_MOST), text);
    *unit = 0;
    const struct bitcut_recipe *const recipe = bitcut_recipe_find(text);
    if (!recipe) return unknown("recipe", text, TABLE(recipes), f);
    struct bitcut_gemm g = gemm_of(recipe, NULL), taken;
    enum bitcut_status status = read_items(&g, list, f);
    if (status == BITCUT_OK) status = read_unit(&g, unit + 1, f);
    if (status == BITCUT_OK) status = gemm_take(&taken, &g, f);
    if (status == BITCUT_OK) status = gemm_plan_on_unit(&plan, &taken, f);
    if (status == BITCUT_OK) *to = taken;
    return status;
}

/* --- writing ---------------------------------------------------------------------- */

static void add_item(char line[WAY_MOST], const struct bitcut_gemm *g,
                     const struct item *x)
{
    const void *const at = item_of(g, x);
    const struct table_row *row = NULL;
    const int number =
        x->kind == ITEM_NUMBER || x->kind == ITEM_TERMS ? *(const int *)at : BITCUT_UNSET;
    if (x->kind == ITEM_SPLIT || x->kind == ITEM_ROUNDING) memcpy(&row, at, sizeof row);
    if (row) say_more(line, WAY_MOST, ",%s=%s", x->name, row->name);
    if (x->kind == ITEM_FLAG && *(const bool *)at)
        say_more(line, WAY_MOST, ",%s", x->name);
    if (number == BITCUT_UNSET) return;
    say_more(line, WAY_MOST, ",%s=%d", x->name,
             x->kind == ITEM_TERMS ? g->recipe->terms + number : number);
}

void way_write(char line[WAY_MOST], const struct bitcut_gemm *g)
{
    char order[ORDER_TEXT_MOST];
    snprintf(line, WAY_MOST, "%s@%s", g->recipe->name, g->unit->name);
    for (const struct item *x = items; x < items + ITEMS; x++) add_item(line, g, x);
    order_write(order, &g->order);
    say_more(line, WAY_MOST, "%s", order);
}

/* --- for callers ------------------------------------------------------------------ */

enum bitcut_status bitcut_gemm_read(struct bitcut_gemm *to, const char *line, char *why)
{
    struct bitcut_gemm g;
    struct fault f;
    enum bitcut_status status = gemm_check_place(to, &f);
    if (status == BITCUT_OK && (!to || !line))
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "no line, or no place for the GEMM");
    if (status == BITCUT_OK) status = way_read(&g, line, &f);
    if (status == BITCUT_OK) gemm_give(to, &g);
    return fault_tell(why, status, &f);
}

enum bitcut_status bitcut_gemm_write(char line[BITCUT_GEMM_MOST],
                                     const struct bitcut_gemm *gemm)
{
    struct bitcut_gemm g;
    const enum bitcut_status status =
        line ? gemm_take(&g, gemm, NULL) : BITCUT_BAD_ARGUMENT;
    if (status != BITCUT_OK || !g.recipe || !g.unit) return BITCUT_BAD_ARGUMENT;
    way_write(line, &g);
    return BITCUT_OK;
}
