/* SPDX-License-Identifier: BSD-3-Clause */
/* Every table of the library, with the fields of its rows. */
#include "emu/attention/attention_row.h"
#include "emu/fp64/scheme.h"
#include "emu/framework.h"
#include "emu/mufu.h"
#include "emu/unit_field.h"
#include "lib/base/text.h"
#include "lib/gemm/epilogue.h"
#include "lib/gemm/order.h"
#include "lib/gemm/recipe.h"
#include "lib/input/input.h"
#include "lib/io/listing.h"
#include "lib/number/quantizer.h"

/* --- one function a table --------------------------------------------------------- */

static void tell_field(struct field_writer *w, const struct field *f,
                       const struct bitcut_unit *u)
{
    char text[FIELD_TEXT_MAX];
    if (!field_used(f, u)) write_text_field(w, f->name, NULL);
    else write_value_field(w, f->name, field_value(text, f, u, field_get(f, u)), text);
}

static void describe_unit(struct field_writer *w, const void *row)
{
    const struct bitcut_unit *u = row;
    write_line_field(w, "shape", "%dx%dx%d", u->m, u->n, u->k);
    write_format_field(w, "a", u->a);
    write_format_field(w, "b", u->b);
    write_format_field(w, "c", u->c);
    write_format_field(w, "scale", u->scale);
    for (const struct field *f = fields; f->name; f++) tell_field(w, f, u);
    write_text_field(w, "vendor", unit_vendor(u));
    write_text_field(w, "evidence", unit_evidence(u));
    write_list_field(w, "open", BITCUT_TEXTS);
    for (const struct field *f = fields; f->name; f++)
        if (field_is_open(f, u)) write_item_field(w, "%s", f->name);
    write_text_field(w, "source", u->source);
}

static void describe_summation(struct field_writer *w, const void *row)
{
    const struct summation *s = row;
    write_list_field(w, "reads", BITCUT_TEXTS);
    for (const struct field *f = fields; f->name; f++)
        if (f->reads > 0 && s->reads & (unsigned)f->reads)
            write_item_field(w, "%s", f->name);
    write_flag_field(w, "exact", s->reads_exact);
    write_flag_field(w, "fast", s->fast != NULL);
}

static void describe_chip(struct field_writer *w, const void *row)
{
    const struct chip *const c = row;
    write_text_field(w, "architecture", c->architecture);
    write_list_field(w, "also", BITCUT_TEXTS);
    for (int i = 0; i < CHIP_ALSO_MAX && c->also[i]; i++)
        write_item_field(w, "%s", c->also[i]);
    write_text_field(w, "source", c->source);
    write_text_field(w, "rates", c->rates);
    write_flag_field(w, "ratios", c->ratios);
}

static void describe_format(struct field_writer *w, const void *row)
{
    const struct bitcut_format *f = row;
    write_integer_field(w, "bits", f->bits - f->pad);
    write_integer_field(w, "held_in", f->bits);
    write_integer_field(w, "exponent_bits", f->exponent_bits);
    write_integer_field(w, "fraction_bits", f->fraction_bits);
    write_integer_field(w, "emin", format_emin(f));
    write_integer_field(w, "emax", format_emax(f));
    write_real_field(w, "largest", format_to_double(f, format_largest(f, false)));
}

/* The formats of all parts; none if there is no split. */
static void write_formats_field(struct field_writer *w, const struct bitcut_split *s)
{
    write_list_field(w, "formats", BITCUT_TEXTS);
    for (int i = 0; s && i < s->parts; i++)
        write_item_field(w, "%s", s->part[i].format->name);
}

/* The levels of all parts, and which of them are copies. */
static void tell_levels(struct field_writer *w, const struct bitcut_split *s)
{
    write_list_field(w, "levels", BITCUT_NUMBERS);
    for (int i = 0; i < s->parts; i++) write_item_field(w, "%d", s->part[i].level);
    write_list_field(w, "copies", BITCUT_NUMBERS);
    for (int i = 0; i < s->parts; i++)
        if (s->part[i].copy) write_item_field(w, "%d", i);
}

static void describe_split(struct field_writer *w, const void *row)
{
    const struct bitcut_split *s = row;
    write_format_field(w, "format", s->part[0].format);
    write_text_field(w, "high", s->part[0].rounding->name);
    write_text_field(w, "low", s->parts > 1 ? split_low(s)->name : "");
    write_integer_field(w, "parts", s->parts);
    write_formats_field(w, s);
    write_integer_field(w, "scale", s->scale);
    tell_levels(w, s);
    write_text_field(w, "source", s->source);
}

static void describe_quantizer(struct field_writer *w, const void *row)
{
    static const char *const rules[] = { [SCALE_DIVIDE] = "amax / largest",
                                         [SCALE_FLOOR] = "power of two, floor",
                                         [SCALE_CEIL] = "power of two, ceil",
                                         [SCALE_EVEN] = "power of two, amax rounded",
                                         [SCALE_TWO_LEVEL] = "two levels" };
    const struct bitcut_quantizer *q = row;
    write_format_field(w, "format", q->element);
    write_format_field(w, "scale", q->scale);
    write_integer_field(w, "lines", (int)q->lines);
    write_integer_field(w, "depth", (int)q->depth);
    write_text_field(w, "rule", rules[q->rule]);
    write_text_field(w, "source", q->source);
}

/* The letter of a part: high, low, lowest of three, or a copy of the value. */
static char letter_of(const struct bitcut_split *s, int part)
{
    return s && s->part[part].copy ? 'c' : "hlm"[part];
}

/* Terms such as "lh:1 hl:1 hh:0": part of A, part of B, accumulator; with a * if the
   accumulator is scaled first. */
static void tell_terms(struct field_writer *w, const struct bitcut_recipe *r)
{
    char line[8 * (RECIPE_TERMS_MAX + 1)] = "";
    for (int i = 0; i < r->terms; i++) {
        const struct recipe_term t = r->term[i];
        text_add(line, sizeof line, "%s%c%c:%d%s", i ? " " : "", letter_of(r->split, t.a),
                 letter_of(r->split, t.b), t.accumulator, t.scaled ? "*" : "");
    }
    write_text_field(w, "terms", line);
}

static void describe_recipe(struct field_writer *w, const void *row)
{
    const struct bitcut_recipe *r = row;
    write_text_field(w, "split", r->split ? r->split->name : "of the unit");
    write_formats_field(w, r->split);
    tell_terms(w, r);
    write_flag_field(w, "dropped_term", r->keeps_dropped_term);
    write_integer_field(w, "promote", r->promote);
    write_integer_field(w, "tile_k", r->tile_k);
    write_text_field(w, "zeroed", recipe_zeroed_names[r->zeroed]);
    write_text_field(w, "source", r->source);
}

static void describe_scheme(struct field_writer *w, const void *row)
{
    const struct bitcut_scheme *const s = row;
    write_format_field(w, "part", s->part);
    write_integer_field(w, "parts", s->parts);
    write_integer_field(w, "least", s->least);
    write_integer_field(w, "most", s->most);
    write_text_field(w, "cut", s->cut ? s->cut->name : NULL);
    write_flag_field(w, "groups", s->groups);
    write_text_field(w, "source", s->source);
}

static void describe_epilogue(struct field_writer *w, const void *row)
{
    const struct epilogue *const e = row;
    write_list_field(w, "steps", BITCUT_TEXTS);
    for (const unsigned char *s = e->step; *s; s++)
        write_item_field(w, "%s", epilogue_steps[*s].name);
    write_text_field(w, "source", e->source);
}

static void describe_framework(struct field_writer *w, const void *row)
{
    const struct framework *x = row;
    write_text_field(w, "library", x->library);
    write_text_field(w, "setting", x->setting);
    write_text_field(w, "recipe", x->recipe->name);
    write_text_field(w, "split", x->split ? x->split->name : NULL);
    write_text_field(w, "unit", x->unit);
    write_text_field(w, "order", x->order);
    write_text_field(w, "known", known_names[x->known]);
    write_text_field(w, "open", x->open);
    write_text_field(w, "source", x->source);
}

static void describe_function(struct field_writer *w, const void *row)
{
    const struct bitcut_function *const f = row;
    write_format_field(w, "format", f->format);
    write_text_field(w, "sass", f->sass);
    write_text_field(w, "evidence", f->evidence);
    write_text_field(w, "source", f->source);
}

static void describe_tiles(struct field_writer *w, const char *name,
                           const struct attention_tile *t)
{
    write_list_field(w, name, BITCUT_TEXTS);
    for (; t->head_dim; t++)
        write_item_field(w, "%d: %dx%d", t->head_dim, t->block_m, t->block_n);
}

static void describe_attention(struct field_writer *w, const void *row)
{
    const struct bitcut_attention_row *const r = row;
    const char *name, *what;
    char text[ATTENTION_TEXT_MAX];
    for (size_t i = 0; attention_field(&name, &what, text, r, i); i++)
        write_text_field(w, attention_key(i), text);
    describe_tiles(w, "tiles", r->tile);
    describe_tiles(w, "split_tiles", r->split_tile);
    write_text_field(w, "evidence", r->evidence);
    write_text_field(w, "source", r->source);
}

static void describe_input(struct field_writer *w, const void *row)
{
    const struct input_family *in = row;
    write_list_field(w, "parameters", BITCUT_TEXTS);
    for (int i = 0; i < in->parameters; i++) {
        char value[REAL_TEXT_MAX];
        real_text(value, in->parameter[i].standard, 6);
        write_item_field(w, "%s=%s", in->parameter[i].name, value);
    }
}

static void describe_pair(struct field_writer *w, const void *row)
{
    const struct input_pair *p = row;
    write_text_field(w, "a", p->a);
    write_text_field(w, "b", p->b);
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
    { "splits",     "splits of an FP32 value into short parts",
      ROWS(splits),      describe_split },
    { "quantizers", "how FP32 matrices become short elements with scales",
      ROWS(quantizers),  describe_quantizer },
    { "recipes",    "whole GEMMs made of instructions",
      ROWS(recipes),     describe_recipe },
    { "schemes",    "FP64 GEMMs composed of products of short numbers",
      ROWS(schemes),     describe_scheme },
    { "attentions", "algorithms of attention: softmax(Q K^T) V",
      ROWS(attention_rows), describe_attention },
    { "frameworks", "what libraries compute on processors, as recipes on units",
      ROWS(frameworks),  describe_framework },
    { "functions",  "approximate functions of GPUs: instructions that compile to MUFU",
      ROWS(functions),   describe_function },
    { "reductions", "how partial sums of slices and lanes are added",
      ROWS(reductions),  NULL },
    { "epilogues",  "what follows the sum of an output: named lists of steps",
      ROWS(epilogues),   describe_epilogue },
    { "steps",      "steps of an epilogue",
      ROWS(epilogue_steps), NULL },
    { "scalings",   "where factors of A and B are applied",
      ROWS(scalings),    NULL },
    { "starts",     "what accumulators start from",
      ROWS(starts),      NULL },
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
