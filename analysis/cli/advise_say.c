/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/advise_say.h"

#include "analysis/cli/say.h"
#include "lib/recipe.h"
#include "lib/text.h"

#include <math.h>
#include <string.h>

/* --- values ----------------------------------------------------------------------- */

static void say_some(char *text, size_t size, const json_t *values, const char *key,
                     const char *what)
{
    if (whole_at(values, key))
        say_more(text, size, ", %lld %s", whole_at(values, key), what);
}

static bool say_values(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    const json_t *const v = json_object_get(row, line->key);
    const bool b = !strcmp(line->key, "values_b");
    const long long none =
        whole_at(v, "zeros") + whole_at(v, "infinite") + whole_at(v, "nan");
    if (b && json_is_true(json_object_get(row, "transposed")))
        say_more(text, size, "A transposed, as no B was given: ");
    else say_more(text, size, "%s, ", text_at(row, b ? "input_b" : "input_a"));
    say_more(text, size, "%lld x %lld", whole_at(row, b ? "k" : "m"),
             whole_at(row, b ? "n" : "k"));
    if (whole_at(row, "pairs") > 1)
        say_more(text, size, ", and those of %lld more product%s",
                 whole_at(row, "pairs") - 1, whole_at(row, "pairs") > 2 ? "s" : "");
    say_more(text, size, ": %lld values", whole_at(v, "values") - none);
    if (json_is_integer(json_object_get(v, "exponent_min")))
        say_more(text, size, " from 2^%lld to 2^%lld", whole_at(v, "exponent_min"),
                 whole_at(v, "exponent_max") + 1);
    say_some(text, size, v, "zeros", "zeros");
    say_some(text, size, v, "infinite", "infinite");
    say_some(text, size, v, "nan", "NaN");
    return true;
}

/* --- what was tried --------------------------------------------------------------- */

/* "relres 1.2e-07", "backward_max 3.1 u" */
static void say_error(char *text, size_t size, const json_t *row, double error)
{
    const char *const metric = text_at(row, "metric");
    say_more(text, size, "%s %.2g%s", metric, error,
             strcmp(metric, "backward_max") ? "" : " u");
}

static bool say_want(char *text, size_t size, const struct emit_line *line,
                     const json_t *row)
{
    say_error(text, size, row, real_at(row, line->key));
    say_more(text, size, " of %sD = A B at most; ",
             whole_at(row, "pairs") > 1 ? "each " : "");
    if (json_is_true(json_object_get(row, "all")))
        say_more(text, size, "all %lld outputs were computed", whole_at(row, "outputs"));
    else if (whole_at(row, "pairs") > 1)
        say_more(text, size, "tried on %lld outputs, checked on %lld others",
                 whole_at(row, "outputs"), whole_at(row, "checks"));
    else
        say_more(text, size, "tried on %lld of %lld outputs, checked on %lld others",
                 whole_at(row, "outputs"), whole_at(row, "m") * whole_at(row, "n"),
                 whole_at(row, "checks"));
    return true;
}

/* "legemm at 2^10, equilibrated" */
static void say_gemm(char *text, size_t size, const json_t *t)
{
    const struct bitcut_recipe *const recipe = bitcut_recipe_find(text_at(t, "recipe"));
    say_more(text, size, "%s", recipe->name);
    if (!recipe->split) say_more(text, size, " in %s", text_at(t, "split"));
    if (whole_at(t, "scale")) say_more(text, size, " at 2^%lld", whole_at(t, "scale"));
    if (json_is_true(json_object_get(t, "equilibrate")))
        say_more(text, size, ", equilibrated");
}

/* "3 products" */
static void say_cost(char *text, size_t size, const json_t *t)
{
    const long long terms = whole_at(t, "terms");
    const double cost = real_at(t, "cost");
    say_more(text, size, "%lld product%s", terms, terms > 1 ? "s" : "");
    if (cost != (double)terms) say_more(text, size, " at the cost of %.3g of f16", cost);
}

/* What the sample says of all outputs, and what is certain. */
static void say_more_of_error(char *text, size_t size, const json_t *row, const json_t *t)
{
    say_error(text, size, row, real_at(t, "error"));
    if (!json_is_true(json_object_get(row, "all")))
        say_more(text, size,
                 ", of all outputs below %.2g as far as that tells; checked: %.2g",
                 real_at(t, "high"), real_at(t, "checked"));
    if (json_is_number(json_object_get(t, "bound")))
        say_more(text, size,
                 "; for certain at most %.2g, as if every rounding did its worst",
                 real_at(t, "bound"));
}

void advise_say_chips(char *text, size_t size, const json_t *row)
{
    enum { SHOWN = 2 };
    const char *const all = text_at(row, "chips"), *end = all;
    int count = 1, more = 0;
    for (const char *at = all; (at = strstr(at, ", ")); at += 2, count++)
        if (count == SHOWN) end = at;
    if (count > SHOWN) more = count - SHOWN;
    say_more(text, size, "%.*s", (int)(more ? (size_t)(end - all) : strlen(all)), all);
    if (more) say_more(text, size, " and %d more", more);
}

/* Where nothing was advised: what errs least. */
static bool say_none(char *text, size_t size, const struct emit_line *line,
                     const json_t *row)
{
    size_t i;
    const json_t *t, *best = NULL;
    if (!json_is_null(json_object_get(row, "advice"))) return false;
    json_array_foreach(json_object_get(row, line->key), i, t)
    {
        if (!best || real_at(t, "error") < real_at(best, "error")) best = t;
    }
    say_more(text, size, "none: no recipe reaches it");
    if (!best) return true;
    say_more(text, size, "; nearest is ");
    say_gemm(text, size, best);
    say_more(text, size, " on ");
    advise_say_chips(text, size, best);
    say_more(text, size, ", ");
    say_error(text, size, row, real_at(best, "error"));
    return true;
}

static bool are_alike(const json_t *x, const json_t *y)
{
    static const char *const keys[] = { "recipe", "split",   "scale", "equilibrate",
                                        "cost",   "reaches", NULL };
    for (int i = 0; keys[i]; i++)
        if (!json_equal(json_object_get(x, keys[i]), json_object_get(y, keys[i])))
            return false;
    return true;
}

/* Places from there on where the same is the cheapest, and the range of their errors. */
static void say_alike(char *text, size_t size, const json_t *row, const json_t *list,
                      size_t first)
{
    const json_t *const t = json_array_get(list, first);
    double least = real_at(t, "error"), most = least;
    for (size_t i = first; i < json_array_size(list); i++) {
        const json_t *const x = json_array_get(list, i);
        if (!are_alike(x, t)) continue;
        say_more(text, size, "%s", i == first ? "" : ", ");
        advise_say_chips(text, size, x);
        least = fmin(least, real_at(x, "error"));
        most = fmax(most, real_at(x, "error"));
    }
    say_more(text, size,
             json_is_true(json_object_get(t, "reaches")) ? ": " : ": none, nearest ");
    say_gemm(text, size, t);
    say_more(text, size, ", ");
    say_cost(text, size, t);
    say_more(text, size, ", ");
    if (json_array_size(list) == 1) {
        say_more_of_error(text, size, row, t);
        return;
    }
    say_error(text, size, row, least);
    if (most > 1.05 * least) say_more(text, size, " to %.2g", most);
}

/* On each chip the cheapest that reaches it. */
static bool say_advice(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    const json_t *const list = json_object_get(row, line->key);
    if (json_is_null(json_object_get(row, "advice"))) return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        bool said = false;
        for (size_t j = 0; j < i && !said; j++)
            said = are_alike(json_array_get(list, j), json_array_get(list, i));
        if (said) continue;
        say_more(text, size, "%s", i ? "; " : "on ");
        say_alike(text, size, row, list, i);
    }
    return true;
}

/* Of several chips those whose rates are known are compared. */
static bool say_fastest(char *text, size_t size, const struct emit_line *line,
                        const json_t *row)
{
    const json_t *const t = json_object_get(row, line->key),
                        *const list = json_object_get(row, "places"), *x;
    const char *between = "; not compared, as no rate is known: ";
    size_t i;
    if (json_array_size(list) < 2) return false;
    if (json_is_null(json_object_get(t, "tflops"))) {
        say_more(text, size, "not known: there are no rates of these chips to compare");
        return true;
    }
    say_more(text, size,
             "%s, by the makers' peak rates (bitcut list rates) %.3g TFLOP/s of "
             "A B at most: ",
             text_at(t, "place"), real_at(t, "tflops"));
    say_gemm(text, size, t);
    say_more(text, size, ", ");
    say_more_of_error(text, size, row, t);
    json_array_foreach(list, i, x)
    {
        if (!json_is_null(json_object_get(x, "tflops"))) continue;
        say_more(text, size, "%s", between);
        advise_say_chips(text, size, x);
        between = ", ";
    }
    return true;
}

/* --- scales ----------------------------------------------------------------------- */

/* What scaling is best: of ootomo's words, rounded to nearest. */
enum { AT_10, AT_11, EQUILIBRATED, WAYS };

static int best_way(const json_t *const way[WAYS])
{
    double error[WAYS];
    if (real_at(way[AT_11], "overflow_a") > 0 || real_at(way[AT_11], "overflow_b") > 0)
        return EQUILIBRATED;
    for (int i = 0; i < WAYS; i++)
        error[i] = way[i] ? real_at(way[i], "error") : (double)INFINITY;
    const double unscaled = fmin(error[AT_10], error[AT_11]);
    if (!(unscaled <= 1.1 * error[EQUILIBRATED])) return EQUILIBRATED;
    return error[AT_11] <= 1.05 * error[AT_10] ? AT_11 : AT_10;
}

/* Why lines are scaled, or not. */
static void say_reason(char *text, size_t size, const json_t *const way[WAYS], int best)
{
    static const char *const operand[][4] = {
        { "A", "overflow_a", "flushed_a", "bits_a" },
        { "B", "overflow_b", "flushed_b", "bits_b" },
    };
    for (int i = 0; i < 2; i++) {
        const double over = real_at(way[AT_11], operand[i][1]);
        const double flushed = real_at(way[AT_11], operand[i][2]);
        say_more(text, size, "%s%s keeps %.4g, %.4g and %.4g of 23 bits", i ? ", " : "; ",
                 operand[i][0], real_at(way[AT_10], operand[i][3]),
                 real_at(way[AT_11], operand[i][3]),
                 real_at(way[EQUILIBRATED], operand[i][3]));
        if (over > 0) say_more(text, size, " (%.2g %% overflow)", 100 * over);
        if (flushed > 0)
            say_more(text, size, " (of %.2g %% a word is flushed)", 100 * flushed);
    }
    if (best != EQUILIBRATED) say_more(text, size, "; lines need no scaling");
}

static bool say_scales(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    static const char *const names[] = { "2^10", "2^11", "equilibrate" };
    const json_t *const list = json_object_get(row, line->key);
    const json_t *way[WAYS] = { NULL };
    for (size_t i = 0; i < WAYS; i++) way[i] = json_array_get(list, i);
    if (!way[EQUILIBRATED]) return false;
    const int best = best_way(way);
    say_more(text, size,
             "%s: with %s on %s %s is %.2g at 2^10, %.2g at 2^11, %.2g equilibrated",
             names[best], text_at(way[0], "recipe"), text_at(way[0], "unit"),
             text_at(row, "metric"), real_at(way[AT_10], "error"),
             real_at(way[AT_11], "error"), real_at(way[EQUILIBRATED], "error"));
    say_reason(text, size, way, best);
    return true;
}

/* --- the command that checks it --------------------------------------------------- */

static bool say_command(char *text, size_t size, const struct emit_line *line,
                        const json_t *row)
{
    const json_t *const t = json_object_get(row, line->key);
    const bool transposed = json_is_true(json_object_get(row, "transposed"));
    say_more(text, size, "bitcut gemm --recipe %s --unit %s -a %s -b %s",
             text_at(t, "recipe"), text_at(t, "unit"), text_at(row, "input_a"),
             transposed ? "B.npy" : text_at(row, "input_b"));
    if (whole_at(t, "scale")) say_more(text, size, " --scale %lld", whole_at(t, "scale"));
    if (json_is_true(json_object_get(t, "equilibrate")))
        say_more(text, size, " --equilibrate");
    if (transposed) say_more(text, size, ", with A transposed in B.npy");
    return true;
}

const struct emit_line advise_lines[] = {
    /* clang-format off */
    { "values_a", "A",         NULL, say_values,  LINE_ALWAYS },
    { "values_b", "B",         NULL, say_values,  LINE_ALWAYS },
    { "want",     "wanted",    NULL, say_want,    LINE_ALWAYS },
    { "places",   "advice",    NULL, say_advice,  LINE_ALWAYS },
    { "places",   "advice",    NULL, say_none,    LINE_ALWAYS },
    { "advice",   "fastest",   NULL, say_fastest, LINE_ALWAYS },
    { "scales",   "scale",     NULL, say_scales,  LINE_ALWAYS },
    { "advice",   "check",     NULL, say_command, LINE_ALWAYS },
    { 0 }
    /* clang-format on */
};
