/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/say.h"

#include "analysis/evidence/json_value.h"
#include "lib/file/source.h"
#include "lib/split.h"
#include "lib/table.h"
#include "lib/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool say_verbose;

/* --- values ----------------------------------------------------------------------- */

const char *say_number(char text[SAY_NUMBER_MOST], const json_t *row, const char *key,
                       int digits)
{
    const json_t *value = json_object_get(row, key);
    const char *word = json_string_value(value);
    if (json_is_integer(value))
        snprintf(text, SAY_NUMBER_MOST, "%lld", (long long)json_integer_value(value));
    else if (json_is_number(value))
        snprintf(text, SAY_NUMBER_MOST, "%.*g", digits, json_number_value(value));
    else snprintf(text, SAY_NUMBER_MOST, "%s", word ? word : "?");
    return text;
}

bool say_value(char *text, size_t size, const struct emit_line *line, const json_t *row)
{
    const json_t *value = json_object_get(row, line->key);
    char number[SAY_NUMBER_MOST];
    say_more(text, size, "%s",
             json_is_string(value) ? json_string_value(value)
                                   : say_number(number, row, line->key, 3));
    return true;
}

const char *text_at(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

long long whole_at(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

double real_at(const json_t *row, const char *key)
{
    const json_t *const x = json_object_get(row, key);
    return json_is_number(x) ? json_number_value(x) : (double)INFINITY;
}

/* --- outputs that differ ---------------------------------------------------------- */

json_t *differing_json(size_t row, size_t col, uint32_t given, uint32_t expected)
{
    return json_pack("{s:[o,o], s:o, s:o}", "at", json_count(row), json_count(col),
                     "given", json_encoding(given, 32), "expected",
                     json_encoding(expected, 32));
}

void say_outputs(char *text, size_t size, const json_t *list, size_t from)
{
    enum { SAID = 4 };
    for (size_t i = from; i < json_array_size(list) && i < SAID; i++) {
        const json_t *const one = json_array_get(list, i),
                           *const at = json_object_get(one, "at");
        say_more(text, size, "%sD[%lld, %lld] is %s for %s", *text ? "; " : "",
                 (long long)json_integer_value(json_array_get(at, 0)),
                 (long long)json_integer_value(json_array_get(at, 1)),
                 text_at(one, "given"), text_at(one, "expected"));
    }
}

/* --- what ran --------------------------------------------------------------------- */

/* How a device emulates the unit: one method, or one for each term. */
static void say_methods(char *text, size_t size, const json_t *method)
{
    if (json_is_string(method))
        say_more(text, size, ", emulated: %s", json_string_value(method));
    for (size_t i = 0; i < json_array_size(method); i++)
        say_more(text, size, "%s%s", i ? ", " : ", emulated: ",
                 json_string_value(json_array_get(method, i)));
}

bool say_what_ran(char *text, size_t size, const struct emit_line *line,
                  const json_t *row)
{
    const char *kernel = text_at(row, "kernel"), *device = text_at(row, "device");
    say_more(text, size, "%s on %s", text_at(row, line->key), text_at(row, "unit"));
    if (kernel) say_more(text, size, " by the kernel %s", kernel);
    if (device && strcmp(device, "emulator") != 0) say_more(text, size, " on %s", device);
    say_methods(text, size, json_object_get(row, "method"));
    say_more(text, size, " (evidence of the unit: %s)", text_at(row, "evidence"));
    return true;
}

/* --- words ------------------------------------------------------------------------ */

/* "f16 + 2^-11 f16", what an element becomes. */
static void say_split(char *text, size_t size, const struct bitcut_split *s, int scale)
{
    for (int w = 0; w < s->words; w++) {
        const int power = scale * s->word[w].level;
        if (s->word[w].copy) continue;
        say_more(text, size, "%s", w ? " + " : "");
        if (power) say_more(text, size, "2^-%d ", power);
        say_more(text, size, "%s", s->word[w].format->name);
    }
    for (int w = 0; w < s->words; w++)
        if (s->word[w].copy)
            say_more(text, size, ", and a copy in %s", s->word[w].format->name);
}

/* The split of a row with the scale, and where all have them the roundings, that it has. */
static void label_words(char *label, size_t size, const struct bitcut_split *split,
                        const json_t *row, bool of_both)
{
    struct bitcut_split s = *split;
    const struct bitcut_rounding *const high = bitcut_rounding_find(text_at(row, "high")),
                                 *const low = bitcut_rounding_find(text_at(row, "low"));
    s.scale = (int)whole_at(row, "scale");
    for (int w = 0; w < s.words && of_both && high && low; w++)
        s.word[w].rounding = w ? low : high;
    split_label(label, size, &s);
}

bool say_words(char *text, size_t size, const struct emit_line *line, const json_t *row)
{
    const int scale = (int)whole_at(row, "scale"), terms = (int)whole_at(row, "terms");
    const char *const name[] = { text_at(row, line->key), text_at(row, "split_b") };
    const bool same = !name[1] || !strcmp(name[0], name[1]);
    for (int i = 0; i < (same ? 1 : 2); i++) {
        const struct bitcut_split *s = table_find(TABLE(splits), name[i]);
        char label[80];
        say_more(text, size, "%s%s is ", i ? "; " : "",
                 same ? "each element of A and B"
                 : i  ? "of B"
                      : "each element of A");
        if (s) say_split(text, size, s, scale);
        if (s) label_words(label, sizeof label, s, row, same);
        say_more(text, size, s ? " (%s)" : "%s", s ? label : name[i]); /* or a format */
    }
    say_more(text, size, "; rounded by %s", text_at(row, "high"));
    if (strcmp(text_at(row, "high"), text_at(row, "low")) != 0)
        say_more(text, size, ", low words by %s", text_at(row, "low"));
    if (json_is_true(json_object_get(row, "equilibrate")))
        say_more(text, size, "; rows and columns scaled first");
    if (terms) say_more(text, size, "; %d product%s", terms, terms > 1 ? "s" : "");
    return true;
}

/* --- order ------------------------------------------------------------------------ */

bool say_sum(char *text, size_t size, const struct emit_line *line, const json_t *row)
{
    const long long promote = whole_at(row, line->key), tile_k = whole_at(row, "tile_k"),
                    tile = whole_at(row, "tile"), lanes = whole_at(row, "lanes"),
                    turn = whole_at(row, "turn"), slices = whole_at(row, "split_k"),
                    cut = whole_at(row, "cut"), halve = whole_at(row, "halve");
    say_more(text, size,
             promote ? "promoted to FP32 after every "
                     : "kept in the unit's accumulator, never promoted");
    if (promote > 1) say_more(text, size, "%lld instructions", promote);
    else if (promote) say_more(text, size, "instruction");
    if (tile_k) say_more(text, size, "; a product takes %lld of k at a time", tile_k);
    if (tile) say_more(text, size, "; tiles of %lld k", tile);
    if (json_is_true(json_object_get(row, "rest_first")))
        say_more(text, size, ", the one that is not whole first");
    if (lanes > 1) say_more(text, size, "; %lld sums in turn", lanes);
    if (lanes > 1 && turn) say_more(text, size, ", %lld k at a time", turn);
    if (slices > 1) say_more(text, size, "; %lld slices of k", slices);
    if (cut) say_more(text, size, ", multiples of %lld, with tiles of their own", cut);
    if (halve) say_more(text, size, ", the last two alike, to %lld k", halve);
    if (lanes > 1 || slices > 1)
        say_more(text, size, ", added %s",
                 strcmp(text_at(row, "reduction"), "tree") ? text_at(row, "reduction")
                                                           : "as a tree");
    if (strcmp(text_at(row, "sums"), "f32") != 0)
        say_more(text, size, " in %s", text_at(row, "sums"));
    return true;
}

/* --- matrices --------------------------------------------------------------------- */

/* "2 A B + 0.5 C" */
static void say_update(char *text, size_t size, const json_t *row)
{
    char alpha[SAY_NUMBER_MOST], beta[SAY_NUMBER_MOST];
    say_number(alpha, row, "alpha", 9);
    say_number(beta, row, "beta", 9);
    const bool one = !strcmp(alpha, "1"),
               none = !strcmp(beta, "0") || !strcmp(beta, "-0");
    say_more(text, size, "D = %s%sA B", one ? "" : alpha, one ? "" : " ");
    if (!none)
        say_more(text, size, " + %s%sC", strcmp(beta, "1") ? beta : "",
                 strcmp(beta, "1") ? " " : "");
}

static void say_operand(char *text, size_t size, const json_t *row, const char *name,
                        const char *rows, const char *cols, const char *input)
{
    say_more(text, size, ", %s %lld x %lld", name, whole_at(row, rows),
             whole_at(row, cols));
    if (text_at(row, input)) say_more(text, size, " %s", text_at(row, input));
}

/* Whether an operand is of a family, drawn by a seed, and not from a file. */
static bool is_drawn(const json_t *row, const char *input)
{
    return text_at(row, input) && source_check(text_at(row, input), NULL) != BITCUT_OK;
}

bool say_matrices(char *text, size_t size, const struct emit_line *line,
                  const json_t *row)
{
    char seed[SAY_NUMBER_MOST];
    const bool drawn = is_drawn(row, "input_a") || is_drawn(row, "input_b");
    (void)line;
    say_update(text, size, row);
    say_operand(text, size, row, "D", "m", "n", "");
    say_operand(text, size, row, "A", "m", "k", "input_a");
    say_operand(text, size, row, "B", "k", "n", "input_b");
    if (drawn && json_object_get(row, "seed"))
        say_more(text, size, ", seed %s", say_number(seed, row, "seed", 20));
    return true;
}
