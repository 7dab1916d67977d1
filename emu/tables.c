/* SPDX-License-Identifier: BSD-3-Clause */
/* Every table of the library, with what it tells of its rows. */
#include "emu/framework.h"
#include "emu/unit_field.h"
#include "lib/base/text.h"
#include "lib/gemm/order.h"
#include "lib/gemm/recipe.h"
#include "lib/input/input.h"
#include "lib/io/listing.h"

/* --- one function a table --------------------------------------------------------- */

static void tell_field(struct field_writer *w, const struct field *f,
                       const struct bitcut_unit *u)
{
    char text[FIELD_TEXT_MAX];
    if (!field_used(f, u)) tell_text(w, f->name, NULL);
    else tell_value(w, f->name, field_value(text, f, u, field_get(f, u)), text);
}

static void describe_unit(struct field_writer *w, const void *row)
{
    const struct bitcut_unit *u = row;
    tell_line(w, "shape", "%dx%dx%d", u->m, u->n, u->k);
    tell_format(w, "a", u->a);
    tell_format(w, "b", u->b);
    tell_format(w, "c", u->c);
    tell_format(w, "scale", u->scale);
    for (const struct field *f = fields; f->name; f++) tell_field(w, f, u);
    tell_text(w, "vendor", unit_vendor(u));
    tell_text(w, "evidence", unit_evidence(u));
    tell_list(w, "open", BITCUT_TEXTS);
    for (const struct field *f = fields; f->name; f++)
        if (field_is_open(f, u)) tell_item(w, "%s", f->name);
    tell_text(w, "source", u->source);
}

static void describe_summation(struct field_writer *w, const void *row)
{
    const struct summation *s = row;
    tell_list(w, "reads", BITCUT_TEXTS);
    for (const struct field *f = fields; f->name; f++)
        if (f->reads > 0 && s->reads & (unsigned)f->reads) tell_item(w, "%s", f->name);
    tell_flag(w, "exact", s->reads_exact);
    tell_flag(w, "fast", s->fast != NULL);
}

static void describe_chip(struct field_writer *w, const void *row)
{
    const struct chip *const c = row;
    tell_text(w, "architecture", c->architecture);
    tell_list(w, "also", BITCUT_TEXTS);
    for (int i = 0; i < CHIP_ALSO_MAX && c->also[i]; i++) tell_item(w, "%s", c->also[i]);
    tell_text(w, "source", c->source);
    tell_text(w, "rates", c->rates);
    tell_flag(w, "ratios", c->ratios);
}

static void describe_format(struct field_writer *w, const void *row)
{
    const struct bitcut_format *f = row;
    tell_integer(w, "bits", f->bits - f->pad);
    tell_integer(w, "held_in", f->bits);
    tell_integer(w, "exponent_bits", f->exponent_bits);
    tell_integer(w, "fraction_bits", f->fraction_bits);
    tell_integer(w, "emin", format_emin(f));
    tell_integer(w, "emax", format_emax(f));
    tell_real(w, "largest", format_to_double(f, format_largest(f, false)));
}

/* The format of each word; of no split, none. */
static void tell_formats(struct field_writer *w, const struct bitcut_split *s)
{
    tell_list(w, "formats", BITCUT_TEXTS);
    for (int i = 0; s && i < s->words; i++) tell_item(w, "%s", s->word[i].format->name);
}

/* Levels of all words, and which are copies. */
static void tell_levels(struct field_writer *w, const struct bitcut_split *s)
{
    tell_list(w, "levels", BITCUT_NUMBERS);
    for (int i = 0; i < s->words; i++) tell_item(w, "%d", s->word[i].level);
    tell_list(w, "copies", BITCUT_NUMBERS);
    for (int i = 0; i < s->words; i++)
        if (s->word[i].copy) tell_item(w, "%d", i);
}

static void describe_split(struct field_writer *w, const void *row)
{
    const struct bitcut_split *s = row;
    tell_format(w, "format", s->word[0].format);
    tell_text(w, "high", s->word[0].rounding->name);
    tell_text(w, "low", s->words > 1 ? split_low(s)->name : "");
    tell_integer(w, "words", s->words);
    tell_formats(w, s);
    tell_integer(w, "scale", s->scale);
    tell_levels(w, s);
    tell_text(w, "source", s->source);
}

/* High, low and lowest of three, or a copy of the value. */
static char letter_of(const struct bitcut_split *s, int word)
{
    return s && s->word[word].copy ? 'c' : "hlm"[word];
}

/* Terms as "lh:1 hl:1 hh:0": word of A, word of B, accumulator; with a * if that is
   scaled first. */
static void tell_terms(struct field_writer *w, const struct bitcut_recipe *r)
{
    char line[8 * (RECIPE_TERMS_MAX + 1)] = "";
    for (int i = 0; i < r->terms; i++) {
        const struct recipe_term t = r->term[i];
        say_more(line, sizeof line, "%s%c%c:%d%s", i ? " " : "", letter_of(r->split, t.a),
                 letter_of(r->split, t.b), t.accumulator, t.scaled ? "*" : "");
    }
    tell_text(w, "terms", line);
}

static void describe_recipe(struct field_writer *w, const void *row)
{
    const struct bitcut_recipe *r = row;
    tell_text(w, "split", r->split ? r->split->name : "of the unit");
    tell_formats(w, r->split);
    tell_terms(w, r);
    tell_flag(w, "dropped_term", r->keeps_dropped_term);
    tell_integer(w, "promote", r->promote);
    tell_integer(w, "tile_k", r->tile_k);
    tell_text(w, "zeroed", recipe_zeroed_names[r->zeroed]);
    tell_text(w, "source", r->source);
}

static void describe_framework(struct field_writer *w, const void *row)
{
    const struct framework *x = row;
    tell_text(w, "library", x->library);
    tell_text(w, "setting", x->setting);
    tell_text(w, "recipe", x->recipe->name);
    tell_text(w, "split", x->split ? x->split->name : NULL);
    tell_text(w, "unit", x->unit);
    tell_text(w, "order", x->order);
    tell_text(w, "known", known_names[x->known]);
    tell_text(w, "open", x->open);
    tell_text(w, "source", x->source);
}

static void describe_input(struct field_writer *w, const void *row)
{
    const struct input_family *in = row;
    tell_list(w, "parameters", BITCUT_TEXTS);
    for (int i = 0; i < in->parameters; i++) {
        char value[REAL_TEXT_MAX];
        real_text(value, in->parameter[i].standard, 6);
        tell_item(w, "%s=%s", in->parameter[i].name, value);
    }
}

static void describe_pair(struct field_writer *w, const void *row)
{
    const struct input_pair *p = row;
    tell_text(w, "a", p->a);
    tell_text(w, "b", p->b);
}

/* --- the table of tables ---------------------------------------------------------- */

static const struct bitcut_table tables[] = {
    /* clang-format off */
    { "units",      "matrix units and how each rounds",
      ROWS(units),       describe_unit },
    { "summations", "how a step adds products, and which fields of a unit it reads",
      ROWS(summations),  describe_summation },
    { "chips",      "names for the units of an architecture",
      ROWS(chips),       describe_chip },
    { "formats",    "floating-point formats",
      ROWS(formats),     describe_format },
    { "roundings",  "rounding rules",
      ROWS(roundings),   NULL },
    { "splits",     "ways to make short words of an FP32 value",
      ROWS(splits),      describe_split },
    { "recipes",    "whole GEMMs made of instructions",
      ROWS(recipes),     describe_recipe },
    { "frameworks", "what libraries compute on processors, as recipes on units",
      ROWS(frameworks),  describe_framework },
    { "reductions", "how partial sums of slices and lanes are added",
      ROWS(reductions),  NULL },
    { "inputs",     "families of input matrices",
      ROWS(inputs),      describe_input },
    { "pairs",      "families for A and B that belong together",
      ROWS(input_pairs), describe_pair },
    { 0 }
    /* clang-format on */
};

const struct bitcut_table *bitcut_table_next(const struct bitcut_table *table)
{
    return table_next(TABLE(tables), table);
}

const struct bitcut_table *bitcut_table_find(const char *name)
{
    return table_find(TABLE(tables), name);
}
