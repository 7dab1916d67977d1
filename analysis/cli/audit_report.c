/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/audit_report.h"

#include "analysis/cli/recorded_results.h"
#include "analysis/cli/report_run.h"
#include "analysis/cli/row_value.h"
#include "analysis/report/audit_file.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct audit_work {
    struct report report; /* must be first */
    const char *path;
    json_t *sites, *total, *answers, *inputs;
};

static int read_rows(struct audit_work *w)
{
    struct fault f, more;
    size_t line;
    const enum bitcut_status status = audit_read(w->sites, &w->total, &line, w->path, &f);
    if (status == BITCUT_OK) return EXIT_GOOD;
    if (!line) return fail(w->path, &f);
    fault_set(&more, f.status, "line %zu: %s", line, f.text);
    return fail(w->path, &more);
}

/* --- rows of sections ------------------------------------------------------------- */

/* The call sites with a panel in figures: those with most products. */
enum { PANELS_MAX = 6 };

/* Append the rows of a section for a call site; `at` counts call sites. */
typedef void audit_rows(json_t *to, const char *site, const json_t *row, size_t at);

static void copy_keys(json_t *to, const json_t *from, const char *const *keys)
{
    for (; *keys; keys++) json_object_set(to, *keys, json_object_get(from, *keys));
}

static void calls_rows(json_t *to, const char *site, const json_t *row, size_t at)
{
    static const char *const keys[] = {
        "routine", "calls",      "taken",  "configuration", "evidence",
        "m",       "n",          "k",      "products",      "seconds",
        "watched", "mismatches", "relres", "backward_max",  "bound",
        "advice",  "advice_on",  "where",  "native",        NULL
    };
    json_t *const one = json_pack("{s:s}", "call_site", site);
    (void)at;
    copy_keys(one, row, keys);
    json_array_append_new(to, one);
}

static void difference_rows(json_t *to, const char *site, const json_t *row, size_t at)
{
    static const char *const keys[] = {
        "routine",          "configuration", "against", "evidence",
        "against_evidence", "outputs",       "differ",  "not_finite",
        "difference",       "largest",       NULL
    };
    if (!json_is_integer(json_object_get(row, "differ"))) return;
    json_t *const one = json_pack("{s:s}", "call_site", site);
    (void)at;
    copy_keys(one, row, keys);
    json_array_append_new(to, one);
}

static void values_of(json_t *to, const char *site, const char *operand,
                      const json_t *values)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(values, "exponents"), i, one)
    {
        json_t *const r = json_pack("{s:s, s:s}", "call_site", site, "operand", operand);
        copy_keys(r, one, audit_values_keys);
        json_array_append_new(to, r);
    }
}

static void values_rows(json_t *to, const char *site, const json_t *row, size_t at)
{
    if (at >= PANELS_MAX) return;
    values_of(to, site, "A", json_object_get(row, "values_a"));
    values_of(to, site, "B", json_object_get(row, "values_b"));
}

/* The list with that key in the advice, with these columns of its objects. */
static void advised(json_t *to, const char *site, const json_t *row, const char *key,
                    const char *const *columns)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(json_object_get(row, "advise"), key), i, one)
    {
        json_t *const r = json_pack("{s:s}", "call_site", site);
        copy_keys(r, one, columns);
        json_array_append_new(to, r);
    }
}

static void bits_rows(json_t *to, const char *site, const json_t *row, size_t at)
{
    if (at < PANELS_MAX / 2)
        advised(to, site, row, "retained_by_exponent", audit_bits_keys);
}

static void recorded_rows(json_t *to, const char *site, const json_t *row, size_t at)
{
    (void)at;
    advised(to, site, row, "retained", audit_kept_keys);
}

static void chips_rows(json_t *to, const char *site, const json_t *row, size_t at)
{
    (void)at;
    advised(to, site, row, "targets", audit_chips_keys);
}

static void scales_rows(json_t *to, const char *site, const json_t *row, size_t at)
{
    (void)at;
    advised(to, site, row, "scales", audit_scales_keys);
}

/* --- sections --------------------------------------------------------------------- */

enum { ABOUT_CALLS, ABOUT_VALUES, ABOUT_RECIPES, ABOUTS };

static const struct table_row chapters[] = {
    { "calls", "What does the program multiply?" },
    { "values", "What is in its matrices?" },
    { "recipes", "Which recipe is accurate enough?" },
    { 0 }
};

static const struct study_plot table = { .y = NULL };
static const struct study_plot count_plot = {
    .x = "exponent",
    .y = "count",
    .series = "operand",
    .panels = "call_site",
    .x_label = "exponent of the value",
    .y_label = "values",
    .y_log = true,
    .sees = "Whether values lie below 2^-14, where f16 parts are subnormal, or above "
            "2^15, where f16 parts overflow."
};
static const struct study_plot bits_plot = {
    .x = "exponent",
    .y = "bits",
    .series = "recipe",
    .panels = "call_site operand",
    .x_label = "exponent of the value",
    .y_label = "bits retained, of 24",
    .sees = "Where a curve falls, the low parts of that recipe underflow. This matters "
            "at exponents that many values have."
};

/* A section as a row: the function that makes its rows for a call site. */
struct audit_part {
    struct section section;
    audit_rows *rows;
};

static const struct audit_part parts[] = {
    { .section = { .name = "calls",
                   .chapter = ABOUT_CALLS,
                   .plot = &table,
                   .what = "FP32 products by call site",
                   .title = "Products by call site",
                   .text =
                       "Call sites of FP32 products, the most frequent first: number of "
                       "calls, sizes, and the distance of the program's results from the "
                       "exact ones. relres is the largest of all excerpts; backward_max "
                       "is the largest error of one output in u |A||B|, u = 2^-24; bound "
                       "is the error bound of an FP32 sum in any order. advice is the "
                       "recipe that reaches the required error with the fewest products "
                       "on that chip or unit: the unit that products are computed on or "
                       "compared with, or else the fastest chip of each architecture." },
      .rows = calls_rows },
    { .section = { .name = "difference",
                   .chapter = ABOUT_CALLS,
                   .plot = &table,
                   .what = "results of two configurations, compared",
                   .title = "Where the unit matters",
                   .text =
                       "Every product computed in two configurations, with the evidence "
                       "of their units: the number of outputs that differ and of outputs "
                       "that are finite in one result only. For finite outputs: the "
                       "Frobenius norm of the difference over the larger of the two "
                       "norms, and the largest difference over the largest output." },
      .rows = difference_rows },
    { .section = { .name = "values",
                   .chapter = ABOUT_VALUES,
                   .plot = &count_plot,
                   .what = "values of A and B by exponent, at the call sites with most "
                           "products",
                   .title = "Values by exponent",
                   .text = "How many values of all watched A and B have each exponent; "
                           "-127 stands for subnormal values. Zeros, infinities and NaN "
                           "are only in the audit's file." },
      .rows = values_rows },
    { .section = { .name = "bits",
                   .chapter = ABOUT_VALUES,
                   .plot = &bits_plot,
                   .what = "bits of A and B that splits retain, by exponent",
                   .title = "What splits retain",
                   .text = "Bits of a value that its parts hold, on average over the "
                           "values of the excerpts with that exponent; FP32 has 24." },
      .rows = bits_rows },
    { .section = { .name = "retained",
                   .chapter = ABOUT_VALUES,
                   .plot = &table,
                   .what = "all splits and scales, for all values together",
                   .title = "Every split and scale",
                   .text =
                       "For all values of an operand's excerpts together: what each "
                       "split retains at scales from scale_from to scale_to, how often "
                       "the low part is subnormal or zero, how often a part overflows, "
                       "and how often a unit that flushes subnormals reads a part as "
                       "zero." },
      .rows = recorded_rows },
    { .section = { .name = "chips",
                   .chapter = ABOUT_RECIPES,
                   .plot = &table,
                   .what = "which recipe is accurate enough on which chip",
                   .title = "The recipe for each chip",
                   .text =
                       "For all excerpts of each call site: the recipe that reaches the "
                       "required error in every excerpt with the fewest products on the "
                       "model of each chip, with no part that overflows for any observed "
                       "value; if none reaches it, the recipe with the smallest error. "
                       "Also its error and its worst-case bound. AMD units are models "
                       "from publications, not run on AMD hardware by us." },
      .rows = chips_rows },
    { .section = { .name = "scales",
                   .chapter = ABOUT_RECIPES,
                   .plot = &table,
                   .what = "2^10, 2^11 or equilibration for these values",
                   .title = "2^10, 2^11 or equilibration",
                   .text =
                       "Error of the recipes with two parts: low parts times 2^10, low "
                       "parts times 2^11, and rows of A and columns of B scaled by "
                       "powers of two first." },
      .rows = scales_rows },
    { .section = { .name = NULL } }
};

static int make(struct section *s, const void *about, struct report *r)
{
    struct audit_work *const w = (struct audit_work *)r;
    const struct audit_part *const p = about;
    size_t i;
    const json_t *row;
    s->rows = json_array();
    json_array_foreach(w->sites, i, row)
        p->rows(s->rows, text_at(row, "call_site"), row, i);
    return EXIT_GOOD;
}

/* Whether any call site has rows for it. */
static bool has_rows(struct audit_work *w, const struct audit_part *p)
{
    size_t i;
    const json_t *row;
    json_t *const some = json_array();
    json_array_foreach(w->sites, i, row) p->rows(some, text_at(row, "call_site"), row, i);
    const bool has = json_array_size(some) != 0;
    json_decref(some);
    return has;
}

static void add_parts(struct audit_work *w)
{
    for (const struct audit_part *p = parts; p->section.name; p++) {
        if (!has_rows(w, p)) continue;
        struct section s = p->section;
        s.inputs = json_incref(w->inputs);
        s.source = json_string("bitcut run --audit -o FILE -- PROGRAM");
        report_add(&w->report, &s, make, p);
    }
}

/* --- answers ---------------------------------------------------------------------- */

enum { ADVICE_TOLD_MAX = 4 };

static void add_answer(struct audit_work *w, const char *question, json_t *answer)
{
    json_array_append_new(
        w->answers, json_pack("{s:s, s:o}", "question", question, "answer", answer));
}

/* The call site with the largest value of a key, among those that have the other values
   of the sentence; NULL: none has. */
static const json_t *largest(const struct audit_work *w, const char *key,
                             const char *beside)
{
    const json_t *row, *best = NULL;
    size_t i;
    json_array_foreach(w->sites, i, row)
    {
        if (json_is_number(json_object_get(row, key)) &&
            json_is_number(json_object_get(row, beside)) &&
            (!best || real_at(row, key) > real_at(best, key)))
            best = row;
    }
    return best;
}

static void answer_sizes(struct audit_work *w)
{
    double products = 0, calls = 0;
    size_t i;
    const json_t *row;
    json_array_foreach(w->sites, i, row)
    {
        products += real_at(row, "products");
        calls += real_at(row, "calls");
    }
    const json_t *const first = json_array_get(w->sites, 0);
    if (!isfinite(products) || !isfinite(calls)) return; /* the file lacks it */
    add_answer(
        w, "What does the program multiply?",
        json_sprintf("%.0f calls of FP32 products from %zu call sites, %.3g products of "
                     "two numbers; %.0f %% of these at %s",
                     calls, json_array_size(w->sites), products,
                     products > 0 ? 100 * real_at(first, "products") / products : 0,
                     text_at(first, "call_site")));
}

/* Where two results differ most: where one has infinity or NaN and the other is finite,
   or else by the norm. */
static void answer_difference(struct audit_work *w)
{
    const json_t *const far = largest(w, "difference", "difference"),
                        *const broken = largest(w, "not_finite", "outputs");
    const char *const question = "Where does the unit matter most?";
    if (broken && whole_at(broken, "not_finite") > 0)
        add_answer(
            w, question,
            json_sprintf("at %s: %lld of %lld outputs are finite in one result only",
                         text_at(broken, "call_site"), whole_at(broken, "not_finite"),
                         whole_at(broken, "outputs")));
    else if (far)
        add_answer(w, question,
                   json_sprintf("at %s: the relative norm of the difference is %.2g",
                                text_at(far, "call_site"), real_at(far, "difference")));
}

static void answer_errors(struct audit_work *w)
{
    const json_t *const worst = largest(w, "relres", "backward_max");
    if (worst)
        add_answer(w, "How accurate are its results?",
                   json_sprintf("at most %.2g relres, %.2g u |A||B|, at %s",
                                real_at(worst, "relres"), real_at(worst, "backward_max"),
                                text_at(worst, "call_site")));
}

enum { ADVICE_MAX = 200 };

/* "ootomo at 2^11 on b200", or "none"; "" if a call site has no advice. */
static void advice_of(char text[ADVICE_MAX], const json_t *row)
{
    const char *const advice = text_at(row, "advice"), *const on =
                                                           text_at(row, "advice_on");
    snprintf(text, ADVICE_MAX, "%s%s%s", advice ? advice : "", on ? " on " : "",
             on ? on : "");
}

/* One recipe for all call sites, or one for each of the first call sites. */
static void answer_advice(struct audit_work *w)
{
    char common[ADVICE_MAX] = "", list[600] = "";
    size_t i, sites = 0;
    bool same = true;
    const json_t *row;
    json_array_foreach(w->sites, i, row)
    {
        char advice[ADVICE_MAX];
        advice_of(advice, row);
        if (!*advice) continue;
        if (!sites++) snprintf(common, sizeof common, "%s", advice);
        same &= !strcmp(advice, common);
        if (sites <= ADVICE_TOLD_MAX)
            text_add(list, sizeof list, "%s%s at %s", *list ? "; " : "", advice,
                     text_at(row, "call_site"));
    }
    const char *const question = "Which recipe is accurate enough?";
    if (sites && same)
        add_answer(w, question,
                   json_sprintf("%s, everywhere (%zu call site%s)", common, sites,
                                sites == 1 ? "" : "s"));
    else if (sites)
        add_answer(w, question,
                   json_sprintf("%s%s", list, sites > ADVICE_TOLD_MAX ? "; ..." : ""));
}

static void answer_cost(struct audit_work *w)
{
    const double own = real_at(w->total, "own_seconds"),
                 all = real_at(w->total, "elapsed");
    if (w->total && isfinite(all) && all > 0 && own > all)
        add_answer(w, "What did the audit cost?",
                   json_sprintf("%.3g s in all threads and processes together, of a run "
                                "of %.3g s",
                                own, all));
    else if (w->total && isfinite(all) && all > 0)
        add_answer(w, "What did the audit cost?",
                   json_sprintf("%.3g s of %.3g s, %.2g %%", own, all, 100 * own / all));
}

int audit_report(struct context *x, const char *path, const char *folder)
{
    struct page words = {
        .title = "bitcut report on a program",
        .command = x->command_line,
        .about =
            "Every product was computed by the program's own library, unless a row names "
            "another computation, and audited. Errors are against exact products of "
            "excerpts. Errors of recipes are computed by bit-exact models of the matrix "
            "units.",
        .chapters = chapters,
        .answers = json_array(),
    };
    struct audit_work w = { .report = { .context = x, .folder = folder, .words = &words },
                            .path = path,
                            .sites = json_array(),
                            .answers = words.answers,
                            .inputs = json_array() };
    int status = read_rows(&w);
    if (status == EXIT_GOOD) status = recorded_digest_file(w.inputs, path);
    if (status == EXIT_GOOD) {
        answer_sizes(&w);
        answer_errors(&w);
        answer_difference(&w);
        answer_advice(&w);
        answer_cost(&w);
        add_parts(&w);
        status = report_check_files(&w.report, "--audit", path);
    }
    if (status == EXIT_GOOD) status = report_run(&w.report);
    report_clear(&w.report);
    json_decref(w.sites);
    json_decref(w.total);
    json_decref(w.inputs);
    json_decref(words.answers);
    return status;
}
