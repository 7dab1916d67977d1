/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report.h"

#include "analysis/cli/command_call.h"
#include "analysis/cli/gemm_report_rows.h"
#include "analysis/cli/kept_results.h"
#include "analysis/cli/report_run.h"
#include "analysis/cli/say.h"
#include "analysis/cli/setup.h"
#include "analysis/error/bound.h"
#include "emu/way.h"
#include "lib/configuration.h"

#include <stdio.h>
#include <string.h>

/* --- what is run ------------------------------------------------------------------ */

/* The commands whose answers the report puts together, in this order: what computed D is
   found before D is compared with it. */
enum {
    CALL_ADVISE,
    CALL_EXPLAIN,
    CALL_GEMM,
    CALL_FP32,
    CALL_VERIFY,
    CALL_BOUND,
    CALL_TOLERANCE,
    CALLS
};

/* What of the report's own options a command takes. */
enum { TAKES_C = 1, TAKES_D = 2, TAKES_CHOICE = 4, TAKES_WANT = 8, TAKES_SECONDS = 16 };

enum { MORE_MOST = 6 };

static const struct {
    const struct command *command;
    unsigned takes;
    const char *more[MORE_MOST]; /* words besides; ended by NULL */
} calls[CALLS] = {
    /* clang-format off */
    [CALL_ADVISE]    = { &command_advise,    TAKES_WANT,             { NULL } },
    [CALL_EXPLAIN]   = { &command_explain,   TAKES_C | TAKES_D | TAKES_SECONDS, { NULL } },
    [CALL_GEMM]      = { &command_gemm,      TAKES_C | TAKES_CHOICE, { "--worst", "8", "--budget" } },
    [CALL_FP32]      = { &command_gemm,      TAKES_C,
                         { "--recipe", "fp32", "--unit", "fma/f32" } },
    [CALL_VERIFY]    = { &command_verify,    TAKES_C | TAKES_D | TAKES_CHOICE,
                         { "--worst", "8", "--seconds", "0" } },
    [CALL_BOUND]     = { &command_bound,     TAKES_C | TAKES_D | TAKES_CHOICE, { NULL } },
    [CALL_TOLERANCE] = { &command_tolerance, TAKES_C | TAKES_D | TAKES_CHOICE, { NULL } },
    /* clang-format on */
};

enum { CHOICE_WORDS_MOST = 32, WORD_MOST = WAY_MOST };

struct gemm_report_work {
    struct report report; /* first: sections are made by it */
    const struct gemm_report_options *o;
    struct command_call call[CALLS];
    bool made[CALLS];
    char choice[CHOICE_WORDS_MOST]
               [WORD_MOST]; /* recipe, unit and variations as options */
    int choices;
    json_t *answers, *inputs;
};

static void add_choice(struct gemm_report_work *w, const char *word)
{
    if (w->choices < CHOICE_WORDS_MOST)
        snprintf(w->choice[w->choices++], WORD_MOST, "%s", word);
}

static void add_word(struct command_call *call, const char *option, const char *value)
{
    if (!value) return;
    command_call_add(call, option);
    command_call_add(call, value);
}

/* Whether the budget of all outputs would take minutes. */
static bool is_large(const struct gemm_report_work *w)
{
    const json_t *const row = json_array_get(w->call[CALL_ADVISE].rows, 0);
    return real_at(row, "m") * real_at(row, "n") * real_at(row, "k") >
           0x1p24; /* some 20 seconds of a processor */
}

static int run_call(struct gemm_report_work *w, int at)
{
    const struct gemm_report_options *const o = w->o;
    struct command_call *const call = &w->call[at];
    const unsigned takes = calls[at].takes;
    if (w->made[at]) return call->status;
    w->made[at] = true;
    command_call_add(call, calls[at].command->name);
    for (int i = 0; takes & TAKES_CHOICE && i < w->choices; i++)
        command_call_add(call, w->choice[i]);
    add_word(call, "-a", o->a);
    add_word(call, "-b", o->b);
    if (takes & TAKES_C) {
        add_word(call, "-c", o->c);
        add_word(call, "--alpha", o->alpha);
        add_word(call, "--beta", o->beta);
    }
    if (takes & TAKES_D) add_word(call, "-d", o->d);
    if (takes & TAKES_WANT) add_word(call, "--want", o->want);
    if (takes & TAKES_SECONDS) add_word(call, "--seconds", o->seconds);
    for (int i = 0; i < MORE_MOST && calls[at].more[i]; i++)
        if (strcmp(calls[at].more[i], "--budget") != 0 || !is_large(w))
            command_call_add(call, calls[at].more[i]);
    return command_call_run(call, calls[at].command, w->report.context);
}

/* --- which recipe the result is compared with ------------------------------------- */

/* Take an item of a GEMM's line, NAME or NAME=VALUE: into the order of k, if it is of one,
   else as an option. */
static void choose_item(struct gemm_report_work *w, struct bitcut_order *order, char *item)
{
    char option[WAY_MOST];
    char *value = strchr(item, '=');
    if (order_read(order, item, NULL) == BITCUT_OK) return;
    if (value) *value++ = 0;
    snprintf(option, sizeof option, "--%s", item);
    add_choice(w, option);
    if (value) add_choice(w, value);
}

/* The options of `bitcut gemm` that make the GEMM of a line (emu/way.h). */
static void choose_line(struct gemm_report_work *w, const char *line)
{
    char text[WAY_MOST], list[ORDER_TEXT_MOST];
    struct bitcut_order order = { .slices = 0 };
    snprintf(text, sizeof text, "%s", line);
    char *const unit = strchr(text, '@'), *items = strchr(text, ',');
    if (items) *items++ = 0;
    *unit = 0;
    add_choice(w, "--recipe");
    add_choice(w, text);
    add_choice(w, "--unit");
    add_choice(w, unit + 1);
    for (char *item = items, *next; item; item = next) {
        next = strchr(item, ',');
        if (next) *next++ = 0;
        choose_item(w, &order, item);
    }
    order_write(list, &order);
    if (!*list) return;
    add_choice(w, "--order");
    add_choice(w, list + 1);
}

/* The row by what advise tried with the least error. */
static const json_t *best_tried(const json_t *advice)
{
    const json_t *best = json_object_get(advice, "advice"), *one;
    size_t i;
    if (json_is_object(best)) return best;
    best = NULL;
    json_array_foreach(json_object_get(advice, "tried"), i, one)
    {
        if (!best || real_at(one, "error") < real_at(best, "error")) best = one;
    }
    return best;
}

/* What was asked for; what computed D; what is advised. */
static int choose(struct gemm_report_work *w)
{
    const struct gemm_report_options *const o = w->o;
    if (w->choices) return EXIT_GOOD;
    if (o->recipe) {
        add_choice(w, "--recipe");
        add_choice(w, o->recipe);
        add_choice(w, "--unit");
        add_choice(w, o->unit);
        return EXIT_GOOD;
    }
    const int from = o->d ? CALL_EXPLAIN : CALL_ADVISE;
    const int status = run_call(w, from);
    if (status > EXIT_FOUND) return status;
    const json_t *row = json_array_get(w->call[from].rows, 0);
    if (!o->d) row = best_tried(row);
    if (row && text_at(row, "gemm")) choose_line(w, text_at(row, "gemm"));
    return w->choices
               ? EXIT_GOOD
               : complain("--recipe", "nothing like D is known; give it, and --unit");
}

/* --- sections --------------------------------------------------------------------- */

enum { ABOUT_VALUES, ABOUT_RECIPES, ABOUT_RESULT, ABOUT_TEST, ABOUTS };

static const struct table_row chapters[ABOUTS] = {
    { "values", "What is in the matrices?" },
    { "recipes", "What do recipes make of them?" },
    { "result", "What is the result?" },
    { "test", "What should a test accept?" }
};

/* A section as a row: the command that gives it, and how its rows come from that. */
struct part {
    struct section section;
    int call;
    enum { ANY_RESULT, RESULT_GIVEN, RESULT_EMULATED } needs;
    bool judges; /* that the command found something is the report's status */
    gemm_report_rows *rows;
    const char *of;    /* for `rows`                                               */
    const char *lines; /* of the command that it shows, '|' between; NULL: all     */
};

#define BY_EXPONENT .x = "exponent", .x_label = "exponent of the value"

static const struct study_plot table = { .y = NULL };
static const struct study_plot count_plot = {
    BY_EXPONENT,
    .y = "count",
    .series = "operand",
    .y_label = "values",
    .y_log = true,
    .sees = "Whether values lie below 2^-14, where words of f16 are subnormal, or above "
            "2^15, where there are none."
};
static const struct study_plot bits_plot = {
    BY_EXPONENT,
    .y = "bits",
    .series = "recipe",
    .panels = "operand",
    .y_label = "bits kept on average",
    .sees = "Where a line falls, the low words of that recipe underflow; what counts are "
            "the exponents that have many values."
};
static const struct study_plot error_plot = {
    .x = "ulps",
    .y = "share",
    .series = "result",
    .x_label = "distance from the exact result (FP32 steps, at most)",
    .y_label = "share of outputs",
    .x_log = true,
    .sees = "A result as good as FP32 has its outputs where the FP32 loop has them; one "
            "farther to the right is worse."
};

static const struct part parts[] = {
    { .section = { .name = "values",
                   .chapter = ABOUT_VALUES,
                   .plot = &count_plot,
                   .what = "values of A and B by exponent",
                   .title = "Values by exponent",
                   .text = "How many values of A and B have each exponent; zeros, "
                           "infinities and NaN, if there are any, are told above. What "
                           "lies below 2^-14 has "
                           "subnormal words of f16, what lies above 2^15 none." },
      .lines = "A|B",
      .call = CALL_ADVISE,
      .rows = gemm_report_values },
    { .section = { .name = "bits",
                   .chapter = ABOUT_VALUES,
                   .plot = &bits_plot,
                   .what = "bits of A and B that splits keep, by exponent",
                   .title = "What splits keep",
                   .text = "Bits of a value that its words hold, on average over the "
                           "values of A or of B with that exponent; FP32 has 24." },
      .lines = "",
      .call = CALL_ADVISE,
      .rows = gemm_report_kept },
    { .section = { .name = "kept",
                   .chapter = ABOUT_VALUES,
                   .plot = &table,
                   .what = "all splits and scales, of all values together",
                   .title = "Every split and scale",
                   .text =
                       "Of all values of an operand together: what each split keeps at "
                       "scales from scale_from to scale_to, which all do the same, how "
                       "often the low word is subnormal or zero, how often a word "
                       "overflows, and how often a unit that flushes subnormals reads "
                       "it as zero." },
      .lines = "",
      .call = CALL_ADVISE,
      .rows = gemm_report_kept_in_all },
    { .section = { .name = "recipes",
                   .chapter = ABOUT_RECIPES,
                   .plot = &table,
                   .what = "predicted and bounded error by recipe and chip",
                   .title = "Predicted error by recipe and chip",
                   .text =
                       "The error that each recipe makes on a sample of these outputs "
                       "on the model of each chip, the least certain bound for all of "
                       "them, and what it costs, in FP32 products at the chip's rate "
                       "for f16; the cheapest first. AMD units are models from "
                       "publications, not run on AMD hardware by us." },
      .lines = "wanted|advice|fastest|check",
      .call = CALL_ADVISE,
      .rows = gemm_report_tried },
    { .section = { .name = "scales",
                   .chapter = ABOUT_RECIPES,
                   .plot = &table,
                   .what = "2^10, 2^11 or equilibration for these values",
                   .title = "2^10, 2^11 or equilibration",
                   .text =
                       "Error of the two-word recipes with low words times 2^10, times "
                       "2^11, and with rows of A and columns of B scaled by powers of "
                       "two first." },
      .lines = "scale",
      .call = CALL_ADVISE,
      .rows = gemm_report_list,
      .of = "scales" },
    { .section = { .name = "explanation",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "which recipe and unit computed D, and which fault",
                   .title = "What computed D",
                   .text = "Every recipe on every unit, in many orders of k and with the "
                           "faults that kernels have, until one gives D to the bit; how "
                           "far each recipe as it stands is from D." },
      .lines = "explanation|error of D|recipes|sum over k|D lies off by|differs in|"
               "which repeats|the same bits", /* the rest depends on time */
      .call = CALL_EXPLAIN,
      .needs = RESULT_GIVEN,
      .rows = gemm_report_list,
      .of = "distances" },
    { .section = { .name = "emulated",
                   .chapter = ABOUT_RESULT,
                   .plot = &error_plot,
                   .what = "how far results are from the exact one",
                   .title = "Errors beside those of FP32",
                   .text =
                       "Which share of outputs is how far from the exact result: 0, and "
                       "then below powers of two. An FP32 loop is what most people "
                       "take for correct." },
      .call = CALL_GEMM,
      .rows = NULL },
    { .section = { .name = "worst-emulated",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "where the worst errors come from",
                   .title = "Budget of the worst outputs",
                   .text =
                       "The outputs with the largest error in u |A||B|, u = 2^-24, and "
                       "the parts of it, which add up to it exactly." },
      .lines = "worst outputs",
      .call = CALL_GEMM,
      .needs = RESULT_EMULATED,
      .rows = gemm_report_worst },
    { .section = { .name = "worst",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "where the worst errors of D come from",
                   .title = "Budget of the worst outputs of D",
                   .text =
                       "The outputs of D with the largest error in u |A||B|, u = 2^-24; "
                       "the parts that the recipe on this unit has there, which add up "
                       "to its error exactly; and, as \"unexplained\", what D has "
                       "besides, "
                       "which is 0 where D is the recipe's." },
      .call = CALL_VERIFY,
      .needs = RESULT_GIVEN,
      .rows = gemm_report_worst },
    { .section = { .name = "bounds",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "every bound beside the error",
                   .title = "Bounds beside the error",
                   .text =
                       "In u |A||B|, u = 2^-24, of the output that is nearest to its "
                       "limit: its error, its limit, and the ratio of the two. A "
                       "rigorous bound that does not hold says that the result is not "
                       "that of this recipe on this unit. Bounds are for proofs, not "
                       "for tests: they are wide, as roundings rarely all go one way." },
      .call = CALL_BOUND,
      .judges = true,
      .rows = gemm_report_bounds },
    { .section = { .name = "tolerance",
                   .chapter = ABOUT_TEST,
                   .plot = &table,
                   .what = "limits for a test, and which faults they find",
                   .title = "Limits, and what they find",
                   .text = "Limits that a correct result keeps but with the probability "
                           "that is told, each tried on kernels with faults: in how many "
                           "runs each test rejects the result." },
      .call = CALL_TOLERANCE,
      .judges = true,
      .rows = gemm_report_list,
      .of = "power" },
    { .section = { .name = NULL } }
};

/* --- making ----------------------------------------------------------------------- */

/* Append how far the first result of a call is from the exact one. */
static int add_errors(json_t *rows, struct gemm_report_work *w, int call,
                      const char *result)
{
    const int status = run_call(w, call);
    if (status > EXIT_FOUND) return status;
    const json_t *const row = json_array_get(w->call[call].rows, 0), *const given =
                                                                         json_object_get(
                                                                             row,
                                                                             "given");
    gemm_report_histogram(rows, result ? result : text_at(row, "recipe"),
                          json_object_get(given ? given : row, "ulp_histogram"));
    return EXIT_GOOD;
}

/* Of D, of the recipe, and of an FP32 loop if that is another. */
static int make_errors(json_t *rows, struct gemm_report_work *w)
{
    const json_t *const recipe = json_array_get(w->call[CALL_GEMM].rows, 0);
    int status = w->o->d ? add_errors(rows, w, CALL_TOLERANCE, "D") : EXIT_GOOD;
    if (status == EXIT_GOOD) status = add_errors(rows, w, CALL_GEMM, NULL);
    if (status == EXIT_GOOD && strcmp(text_at(recipe, "recipe"), "fp32") != 0)
        status = add_errors(rows, w, CALL_FP32, NULL);
    return status;
}

/* The line of a command that answers a question, what people ask first before the rest.
 */
static const struct {
    int call;
    const char *line, *question;
} answers[] = {
    /* clang-format off */
    { CALL_EXPLAIN,   "explanation",      "What computed D?"                 },
    { CALL_TOLERANCE, "D",                "Does D pass?"                     },
    { CALL_BOUND,     "bounds",           "Is D within what is proved?"      },
    { CALL_EXPLAIN,   "error of D",       "How accurate is D?"               },
    { CALL_EXPLAIN,   "differs in",       "Where is D something else?"       },
    { CALL_VERIFY,    "worst outputs",    "What are its worst outputs?"      },
    { CALL_ADVISE,    "advice",           "Which recipe is enough?"          },
    { CALL_ADVISE,    "fastest",          "On which chip is that fastest?"   },
    { CALL_ADVISE,    "scale",            "2^10, 2^11 or equilibration?"     },
    { CALL_GEMM,      "recipe",           "Which model is beside it?" },
    { CALL_VERIFY,    "verdict",          "Is D the model's to the bit?" },
    { CALL_VERIFY,    "first difference", "Where does it begin to differ?"   },
    { CALL_GEMM,      "verdict",          "Is the model as good as FP32?" },
    { CALL_GEMM,      "error budget",     "Where does the model's error come from?" },
    { CALL_TOLERANCE, "componentwise",    "What should a test accept?"       },
    { CALL_TOLERANCE, "NumPy",            "How is that written?"             },
    { CALL_ADVISE,    "A",                "What is A?"                       },
    { CALL_ADVISE,    "B",                "What is B?"                       },
    /* clang-format on */
};

/* What is said of the bounds where a rigorous one is broken. */
static json_t *say_bounds(const json_t *rows)
{
    json_t *const says = json_array();
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (!strcmp(text_at(row, "kind"), bound_kinds[BOUND_RIGOROUS]) &&
            real_at(row, "violations") > 0 && !json_array_size(says))
            json_array_append_new(
                says, json_pack("{s:s, s:o}", "what", "bounds", "says",
                                json_sprintf("NO: the rigorous bound \"%s\" is broken: %s",
                                             text_at(row, "bound"),
                                             text_at(row, "verdict"))));
    }
    return says;
}

/* Of all that has run so far. */
static void answer(struct gemm_report_work *w)
{
    json_array_clear(w->answers);
    for (size_t n = 0; n < sizeof answers / sizeof answers[0]; n++) {
        size_t i;
        const json_t *line;
        json_array_foreach(w->call[answers[n].call].says, i, line)
        {
            if (!strcmp(text_at(line, "what"), answers[n].line))
                json_array_append_new(
                    w->answers, json_pack("{s:s, s:O}", "question", answers[n].question,
                                          "answer", json_object_get(line, "says")));
        }
    }
}

/* Whether a list with '|' between has the word. */
static bool is_listed(const char *word, const char *list)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == '|') && (!at[length] || at[length] == '|'))
            return true;
    return false;
}

static json_t *lines_shown(json_t *says, const char *lines)
{
    json_t *const shown = json_array();
    size_t i;
    json_t *line;
    json_array_foreach(says, i, line)
    {
        if (!lines || is_listed(text_at(line, "what"), lines))
            json_array_append(shown, line);
    }
    return shown;
}

static int make(struct section *s, const void *about, struct report *r)
{
    struct gemm_report_work *const w = (struct gemm_report_work *)r;
    const struct part *const p = about;
    int status = calls[p->call].takes & TAKES_CHOICE ? choose(w) : EXIT_GOOD;
    if (status != EXIT_GOOD) return status;
    if (p->call == CALL_GEMM) status = run_call(w, CALL_ADVISE); /* is_large() asks it */
    if (status <= EXIT_FOUND) status = run_call(w, p->call);
    if (status > EXIT_FOUND) return status;
    struct command_call *const call = &w->call[p->call];
    if (p->call == CALL_BOUND) call->says = say_bounds(call->rows);
    s->source = command_call_line(call);
    s->rows = json_array();
    s->inputs = json_incref(w->inputs);
    if (p->rows) p->rows(s->rows, json_array_get(call->rows, 0), call->rows, p->of);
    const int rest = p->rows ? EXIT_GOOD : make_errors(s->rows, w);
    if (rest > EXIT_FOUND) return rest;
    s->says = lines_shown(call->says, p->lines);
    answer(w);
    return p->judges ? status : EXIT_GOOD;
}

/* Those of one chapter that this report has. */
static void add_chapter(struct gemm_report_work *w, int chapter, int at)
{
    const bool given = w->o->d != NULL;
    for (const struct part *p = parts; p->section.name; p++) {
        struct section s = p->section;
        if (s.chapter != chapter ||
            (p->needs != ANY_RESULT && (p->needs == RESULT_GIVEN) != given))
            continue;
        s.chapter = at;
        report_add(&w->report, &s, make, p);
    }
}

/* Who has a result asks for that first. */
static void add_parts(struct gemm_report_work *w, struct table_row order[ABOUTS + 1])
{
    const int first = w->o->d ? ABOUT_RESULT : ABOUT_VALUES;
    for (int at = 0; at < ABOUTS; at++) {
        const int chapter = (first + at) % ABOUTS;
        order[at] = chapters[chapter];
        add_chapter(w, chapter, at);
    }
}

static int check(const struct gemm_report_work *w)
{
    const struct gemm_report_options *const o = w->o;
    const struct {
        const char *option, *path;
    } read[] = { { "-a", o->a }, { "-b", o->b }, { "-c", o->c }, { "-d", o->d } };
    if (!o->a || !o->b) return complain("-a, -b", "both are needed, .npy or .mtx");
    if (!o->recipe != !o->unit)
        return complain("--recipe, --unit", "are needed together, or neither");
    if (o->recipe && !bitcut_recipe_find(o->recipe))
        return fail_unknown("--recipe", o->recipe, TABLE(recipes));
    if (o->unit && !table_find(TABLE(chips), o->unit) &&
        !table_find(TABLE(units), o->unit))
        return fail_unit(o->unit, true);
    int status = EXIT_GOOD;
    for (int i = 0; i < 4 && status == EXIT_GOOD; i++)
        if (read[i].path)
            status = report_check_files(&w->report, read[i].option, read[i].path);
    return status;
}

/* What the report is on, byte for byte. */
static int digest(struct gemm_report_work *w)
{
    const struct gemm_report_options *const o = w->o;
    const char *const path[] = { o->a, o->b, o->c, o->d };
    int status = EXIT_GOOD;
    for (int i = 0; i < 4 && status == EXIT_GOOD; i++)
        if (path[i]) status = kept_digest_file(w->inputs, path[i]);
    return status;
}

int gemm_report(struct context *x, const struct gemm_report_options *o,
                const char *folder)
{
    struct table_row order[ABOUTS + 1] = { { 0 } };
    struct page words = {
        .title = o->d ? "bitcut report on a result" : "bitcut report on a product",
        .command = x->command_line,
        .about = "Errors are against the exact product. What is predicted or emulated is "
                 "so by bit-exact models of the matrix units.",
        .chapters = order,
        .answers = json_array(),
    };
    struct gemm_report_work w = {
        .report = { .context = x, .folder = folder, .words = &words },
        .o = o,
        .answers = words.answers,
        .inputs = json_array(),
    };
    add_parts(&w, order);
    int status = check(&w);
    if (status == EXIT_GOOD) status = digest(&w);
    if (status == EXIT_GOOD) status = report_run(&w.report);
    for (int i = 0; i < CALLS; i++) command_call_clear(&w.call[i]);
    report_clear(&w.report);
    json_decref(w.inputs);
    json_decref(words.answers);
    return status;
}
