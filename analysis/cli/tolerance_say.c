/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/tolerance_say.h"

#include "analysis/cli/say.h"
#include "analysis/evidence/json_value.h"
#include "analysis/explain/order_say.h"
#include "analysis/tolerance/python_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- rows ------------------------------------------------------------------------- */

static json_t *limit_json(const struct tolerance_limit *l)
{
    return json_pack("{s:o, s:o, s:o, s:b}", "bound", json_number(l->bound), "observed",
                     json_number(l->observed), "most", json_number(l->most), "known",
                     (int)l->known);
}

static json_t *allclose_json(const struct tolerance *t, bool observed)
{
    const struct allclose *const a = &t->allclose[observed];
    return json_pack("{s:b, s:o, s:o, s:o}", "exists", (int)allclose_exists(t, observed),
                     "rtol", json_number(a->rtol), "atol", json_number(a->atol), "slack",
                     json_number(t->slack));
}

static json_t *relative_json(const struct tolerance *t)
{
    return json_pack("{s:b, s:o, s:o, s:o}", "exists",
                     (int)(t->rtol_slack <= TOLERANCE_SLACK_MOST), "rtol",
                     json_number(t->rtol[1]), "bound", json_number(t->rtol[0]), "slack",
                     json_number(t->rtol_slack));
}

static void add_lines(json_t *row, const struct tolerance *t,
                      const struct tolerance_question *q)
{
    for (const struct python_library *l = python_libraries; l->name; l++)
        for (int observed = 1; observed >= 0; observed--) {
            char line[PYTHON_LINES][PYTHON_LINE_MOST], key[40];
            json_t *const list = json_array();
            const int count = python_lines(line, l, t, q, observed);
            for (int i = 0; i < count; i++)
                json_array_append_new(list, json_string(line[i]));
            snprintf(key, sizeof key, "%s%s", l->name, observed ? "" : "_bound");
            json_object_set_new(row, key, list);
        }
}

void tolerance_describe(json_t *row, const struct tolerance *t,
                        const struct tolerance_question *q)
{
    json_t *cancelling = json_array();
    for (int d = 0; d < CONDITION_DECADES; d++)
        json_array_append_new(cancelling, json_number(t->cancelling[d]));
    json_object_update_new(
        row,
        json_pack(
            "{s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
            "s:o, s:o, s:o, s:o, s:o}",
            "any_order", (int)q->any_order, "reference", q->two ? "kernel" : "exact",
            "runs", json_count(t->runs), "outputs", json_count(t->rows * t->cols),
            "orders", json_count(t->orders), "arrangements",
            json_count(t->arrangements), "false_alarm", json_number(q->alarm),
            "componentwise", limit_json(&t->component), "with_underflow",
            limit_json(&t->rest), "zeros", json_count(t->zeros), "normwise", limit_json(&t->norm),
            "norm_with_underflow", limit_json(&t->norm_rest),
            "underflow", json_number(t->lost), "underflow_absolute",
            json_number(t->allowance), "allclose", allclose_json(t, true),
            "allclose_bound", allclose_json(t, false), "relative", relative_json(t),
            "cancelling", cancelling, "wrong", json_count(t->wrong)));
    add_lines(row, t, q);
}

void power_describe(json_t *row, const struct power *p, size_t runs)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->rows; i++) {
        const struct power_row *const r = &p->row[i];
        json_t *one = json_pack("{s:s, s:b, s:o, s:o}", "kernel", r->name, "correct",
                                (int)r->correct, "runs", json_count(r->runs), "error",
                                json_number(r->error));
        for (int c = 0; c < CRITERIA; c++)
            json_object_set_new(one, criteria[c].name, json_count(r->rejected[c]));
        json_object_set_new(one, "what", json_string(r->what));
        json_array_append_new(list, one);
    }
    json_object_set_new(row, "power_runs", json_count(runs));
    json_object_set_new(row, "power", list);
}

void given_describe(json_t *row, const struct tolerance_given *g, size_t n)
{
    json_t *accepted = json_object(), *bins = json_array();
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        json_array_append_new(bins, json_count(g->bins[i]));
    for (int c = 0; c < CRITERIA; c++)
        json_object_set_new(accepted, criteria[c].name,
                            json_boolean((int)g->accepted[c]));
    json_object_set_new(
        row, "given",
        json_pack("{s:o, s:o, s:o, s:o, s:b, s:[o,o], s:o, s:o, s:o, s:o, s:o}",
                  "componentwise", json_number(g->component), "with_underflow",
                  json_number(g->rest), "normwise", json_number(g->norm), "relres",
                  json_number(g->relative), "zeros", (int)g->zeros, "worst",
                  json_count(g->worst / n),
                  json_count(g->worst % n), "above", json_count(g->above), "beyond",
                  json_count(g->beyond), "wrong", json_count(g->wrong), "accepted",
                  accepted, "ulp_histogram", bins));
}

/* --- values ----------------------------------------------------------------------- */

static bool is_two(const json_t *row)
{
    return !strcmp(text_at(row, "reference"), "kernel");
}

/* What D is compared with. */
static const char *other(const json_t *row) { return is_two(row) ? "D2" : "C"; }

/* Of correct results some are not finite: there is no limit. */
static bool say_wrong(char *text, size_t size, const json_t *row)
{
    const long long wrong = whole_at(row, "wrong");
    if (wrong)
        say_more(text, size,
                 "none: %lld outputs of correct kernels are NaN or infinite, as words "
                 "overflow",
                 wrong);
    return wrong;
}

/* --- lines ------------------------------------------------------------------------ */

/* Runs of families have a seed each. */
static bool say_data(char *text, size_t size, const struct emit_line *line,
                     const json_t *row)
{
    json_t *const without = json_copy((json_t *)(uintptr_t)row);
    json_object_del(without, "seed");
    say_matrices(text, size, line, without);
    json_decref(without);
    if (json_is_true(json_object_get(row, "shuffled")))
        say_more(text, size, "; in each run k in another order");
    else say_more(text, size, ", of seeds from %lld on", whole_at(row, "seed"));
    return true;
}

/* How many outputs and runs a number comes from. */
static void say_runs(char *text, size_t size, const json_t *row, bool outputs)
{
    if (outputs)
        say_more(text, size, "%lld outputs in ",
                 whole_at(row, "outputs") * whole_at(row, "runs"));
    say_more(text, size, "%lld runs", whole_at(row, "runs"));
    if (whole_at(row, "orders") > 1)
        say_more(text, size, " in %lld orders of k",
                 whole_at(row, "orders") + whole_at(row, "arrangements"));
}

static void say_sample(char *text, size_t size, const json_t *row, const json_t *limit,
                       bool outputs)
{
    const double most = real_at(limit, "most") * (is_two(row) ? 2 : 1);
    say_more(text, size, ", %.2g times the largest of ",
             real_at(limit, "observed") / most);
    say_runs(text, size, row, outputs);
}

/* How often a correct result is above the limit. */
static void say_alarm(char *text, size_t size, const json_t *row)
{
    say_more(text, size, "at most one correct result in %.0f is above it%s",
             1 / real_at(row, "false_alarm"),
             json_is_true(json_object_get(row, "shuffled")) ? " if k is in a random order"
                                                            : "");
}

static bool is_known(const json_t *limit)
{
    return json_is_true(json_object_get(limit, "known"));
}

/* A limit with what underflows, as large as that for certain if the runs do not tell. */
static void say_rest(char *text, size_t size, const json_t *row)
{
    const json_t *const limit = json_object_get(row, "with_underflow");
    say_more(text, size, "|D - %s| <= %.3g u |A||B| + what underflows", other(row),
             real_at(limit, "observed"));
    if (real_at(limit, "observed") >= real_at(limit, "bound"))
        say_more(text, size, ", as for certain");
}

/* A test that zeros pass finds nothing. */
static void say_zeros(char *text, size_t size, const json_t *row)
{
    if (whole_at(row, "zeros"))
        say_more(text, size,
                 "; a D of zeros passes all limits in %lld of %lld runs: no test finds "
                 "faults there",
                 whole_at(row, "zeros"), whole_at(row, "runs"));
}

static bool say_component(char *text, size_t size, const struct emit_line *line,
                          const json_t *row)
{
    const json_t *const limit = json_object_get(row, line->key);
    if (say_wrong(text, size, row)) return true;
    if (is_known(limit)) {
        say_more(text, size, "|D - %s| <= %.3g u |A||B|, u = 2^-24", other(row),
                 real_at(limit, "observed"));
        say_sample(text, size, row, limit, true);
        say_more(text, size, "; for a test: ");
        say_alarm(text, size, row);
        if (real_at(row, "underflow") > real_at(limit, "observed")) {
            say_more(text, size, "; and ");
            say_rest(text, size, row);
        }
    } else {
        say_rest(text, size, row);
        say_more(text, size, ", u = 2^-24; for a test: ");
        say_alarm(text, size, row);
        say_more(text, size, "; in |A||B| alone the largest of ");
        say_runs(text, size, row, true);
        say_more(text, size, " is %.3g u, and no probability is known",
                 real_at(limit, "most"));
    }
    say_zeros(text, size, row);
    return true;
}

static bool say_bound(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    const json_t *const limit = json_object_get(row, "componentwise");
    const double bound = real_at(limit, "bound"), lost = real_at(row, line->key);
    if (isinf(bound)) {
        say_more(text, size, "nothing: elements may overflow, or k is too long");
        return true;
    }
    say_more(text, size, "|D - %s| <= %.3g u |A||B|", other(row), bound);
    if (lost > bound / 128)
        say_more(text, size, " and what underflows, up to %.3g u |A||B| in these runs",
                 lost);
    say_more(text, size,
             ": not for a test, as if every rounding did its worst; above it D is wrong, "
             "below it faults pass");
    return true;
}

static bool say_norm(char *text, size_t size, const struct emit_line *line,
                     const json_t *row)
{
    const json_t *const limit = json_object_get(row, line->key);
    if (say_wrong(text, size, row)) return true;
    const bool known = is_known(limit);
    say_more(text, size, "||D - %s|| <= %.3g u ||A|| ||B||%s, Frobenius norms", other(row),
             real_at(known ? limit : json_object_get(row, "norm_with_underflow"),
                     "observed"),
             known ? "" : " + the norm of what underflows");
    if (known) say_sample(text, size, row, limit, false);
    say_more(text, size,
             "; for a test as well: small errors of all outputs are above it");
    return true;
}

/* The largest power of ten that |A||B| is above as often, and how often. */
static void say_cancelling(char *text, size_t size, const json_t *row)
{
    const json_t *const shares = json_object_get(row, "cancelling");
    double above = 1, share = json_number_value(json_array_get(shares, 0));
    double power = 10;
    for (size_t d = 1; d < json_array_size(shares); d++, power *= 10) {
        const double next = json_number_value(json_array_get(shares, d));
        if (next >= 0.01) above = power, share = next;
    }
    say_more(text, size, "|A||B| is above %g |C| in %.2g %% of outputs", above,
             100 * share);
}

static void say_relative(char *text, size_t size, const json_t *row)
{
    const json_t *const relative = json_object_get(row, "relative");
    if (json_is_true(json_object_get(relative, "exists"))) {
        say_more(text, size, "; rtol=%.3g alone will do, as terms do not cancel",
                 real_at(relative, "rtol"));
        return;
    }
    say_more(text, size, "; no rtol alone, as terms cancel: ");
    say_cancelling(text, size, row);
}

static bool say_allclose(char *text, size_t size, const struct emit_line *line,
                         const json_t *row)
{
    const json_t *const a = json_object_get(row, line->key);
    const double slack = real_at(a, "slack");
    if (say_wrong(text, size, row)) return true;
    if (!is_known(json_object_get(row, "componentwise"))) {
        say_more(text, size, "none of a known probability, as it has no part for what "
                             "underflows");
        return true;
    }
    if (json_is_true(json_object_get(a, "exists")))
        say_more(text, size,
                 "rtol=%.3g, atol=%.3g: up to %.2g times as wide at nine of ten outputs",
                 real_at(a, "rtol"), real_at(a, "atol"), slack);
    else
        say_more(text, size,
                 "none worth having: one that passes correct kernels is %.2g times as "
                 "wide at one of ten outputs",
                 slack);
    say_relative(text, size, row);
    return true;
}

static bool say_python(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    const json_t *const list = json_object_get(row, line->key);
    const bool close =
        json_is_true(json_object_get(json_object_get(row, "allclose"), "exists"));
    const size_t count = json_array_size(list) - (close ? 1 : 0);
    for (size_t i = 0; i < count && json_array_size(list); i++)
        say_more(text, size, "%s%s", i ? "; " : "",
                 json_string_value(json_array_get(list, i)));
    return json_array_size(list);
}

static bool accepts(const json_t *given, int criterion)
{
    return json_is_true(
        json_object_get(json_object_get(given, "accepted"), criteria[criterion].name));
}

/* What of D is above a limit, or all that is below. */
static bool say_given(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    const json_t *const given = json_object_get(row, line->key), *const worst =
                                                                     json_object_get(
                                                                         given, "worst");
    const long long i = json_integer_value(json_array_get(worst, 0)),
                    j = json_integer_value(json_array_get(worst, 1)),
                    outputs = whole_at(row, "m") * whole_at(row, "n");
    const json_t *const by_size = json_object_get(row, "componentwise"),
                       *const by_norm = json_object_get(row, "normwise");
    const bool limited =
        isfinite(real_at(json_object_get(row, "with_underflow"), "observed"));
    say_more(text, size, "%s: ",
             !accepts(given, CRITERION_BOTH) ? "REJECTED"
             : limited                       ? "accepted"
                                             : "accepted, as there is no limit");
    if (whole_at(given, "wrong"))
        say_more(text, size, "%lld not finite where C is; ", whole_at(given, "wrong"));
    say_more(text, size, "the worst, (%lld, %lld), errs by %.3g u |A||B|", i, j,
             real_at(given, "componentwise"));
    if (is_known(by_size)) say_more(text, size, " of %.3g", real_at(by_size, "observed"));
    else
        say_more(text, size, ", and the most without what underflows is %.3g of %.3g",
                 real_at(given, "with_underflow"),
                 real_at(json_object_get(row, "with_underflow"), "observed"));
    if (whole_at(given, "above"))
        say_more(text, size, ", %lld of %lld outputs are above that",
                 whole_at(given, "above"), outputs);
    say_more(text, size, "; normwise %.3g u of %.3g%s", real_at(given, "normwise"),
             real_at(is_known(by_norm) ? by_norm
                                       : json_object_get(row, "norm_with_underflow"),
                     "observed"),
             is_known(by_norm) ? "" : " and the norm of what underflows");
    if (accepts(given, CRITERION_BOTH) && limited)
        say_more(text, size,
                 "; so it errs as a correct kernel may, whether or not its bits are the "
                 "model's (bitcut verify)");
    if (json_is_true(json_object_get(given, "zeros")))
        say_more(text, size, "; but a D of zeros is accepted as well, so this says nothing");
    if (whole_at(given, "beyond"))
        say_more(text, size, "; %lld beyond what it may err by for certain",
                 whole_at(given, "beyond"));
    return true;
}

/* --- power ------------------------------------------------------------------------ */

/* How many faults are rejected always, sometimes, never. */
enum { ALWAYS, SOMETIMES, NEVER, OFTEN };

static int often(const json_t *one)
{
    const long long runs = whole_at(one, "runs"), rejected = whole_at(one, "both");
    return rejected == runs ? ALWAYS : rejected ? SOMETIMES : NEVER;
}

static bool counts(const json_t *one)
{
    return !json_is_true(json_object_get(one, "correct")) && whole_at(one, "runs");
}

static void say_names(char *text, size_t size, const json_t *list, int which)
{
    size_t i;
    const json_t *one;
    bool first = true;
    json_array_foreach(list, i, one)
    {
        if (!counts(one) || often(one) != which) continue;
        say_more(text, size, "%s%s", first ? " (" : ", ", text_at(one, "kernel"));
        if (which == SOMETIMES)
            say_more(text, size, " %lld of %lld", whole_at(one, "both"),
                     whole_at(one, "runs"));
        first = false;
    }
    say_more(text, size, "%s", first ? "" : ")");
}

static bool say_power(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    const json_t *const list = json_object_get(row, line->key), *one;
    long long faults = 0, number_of[OFTEN] = { 0 }, rejected = 0, correct = 0;
    size_t i;
    json_array_foreach(list, i, one)
    {
        if (counts(one)) faults++, number_of[often(one)]++;
        else if (whole_at(one, "runs"))
            rejected += whole_at(one, "both"), correct += whole_at(one, "runs");
    }
    say_more(text, size, "both reject %lld of %lld faults in every run, %lld in some",
             number_of[ALWAYS], faults, number_of[SOMETIMES]);
    say_names(text, size, list, SOMETIMES);
    say_more(text, size, ", %lld in none", number_of[NEVER]);
    say_names(text, size, list, NEVER);
    if (number_of[NEVER]) say_more(text, size, ", whose errors are within limits");
    say_more(text, size, "; and %lld of %lld correct results", rejected, correct);
    return true;
}

const struct emit_line tolerance_lines[] = {
    /* clang-format off */
    { "recipe",        "recipe",        NULL, say_what_ran,  LINE_ALWAYS },
    { "split",         "words",         NULL, say_words,     LINE_ALWAYS },
    { "m",             "matrices",      NULL, say_data,      LINE_ALWAYS },
    { "componentwise", "componentwise", NULL, say_component, LINE_ALWAYS },
    { "normwise",      "normwise",      NULL, say_norm,      LINE_ALWAYS },
    { "underflow",     "for certain",   NULL, say_bound,     LINE_ALWAYS },
    { "allclose",      "allclose",      NULL, say_allclose,  LINE_ALWAYS },
    { "given",         "D",             NULL, say_given,     LINE_ALWAYS },
    { "power",         "power",         NULL, say_power,     LINE_ALWAYS },
    { "numpy",         "NumPy",         NULL, say_python,    LINE_ALWAYS },
    { "torch",         "PyTorch",       NULL, say_python,    LINE_ALWAYS },
    { 0 }
    /* clang-format on */
};
