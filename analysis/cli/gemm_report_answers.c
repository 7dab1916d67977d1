/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_answers.h"

#include "analysis/cli/budget_command.h"
#include "analysis/cli/option.h"
#include "emu/gemm_text.h"
#include "lib/base/text.h"
#include "lib/gemm/configuration.h"
#include "lib/io/json_value.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORST = 8, RUNS = 100, POWER_RUNS = 20, SAMPLES = 4096, LINE_LENGTH_MAX = 2000 };

/* --- options and matrices --------------------------------------------------------- */

/* Read an option that is a text; `to` stays unchanged without the text. */
static int read_option(void *to, const char *name, enum option_kind kind,
                       const char *text)
{
    const struct option_row row = { .name = name, .kind = kind };
    struct fault f;
    if (!text || option_set(to, &row, text, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail("report", &f);
}

/* Check the options before anything is computed. */
static int read_options(struct gemm_answers *a)
{
    const struct gemm_report_options *const o = a->o;
    uint32_t want = 0;
    a->alpha = F32_ONE;
    a->beta = o->c ? F32_ONE : 0;
    a->seconds = 0;
    int status = read_option(&a->alpha, "alpha", OPTION_F32, o->alpha);
    if (status == EXIT_GOOD) status = read_option(&a->beta, "beta", OPTION_F32, o->beta);
    if (status == EXIT_GOOD) status = read_option(&want, "want", OPTION_F32, o->want);
    if (status == EXIT_GOOD)
        status = read_option(&a->seconds, "seconds", OPTION_COUNT, o->seconds);
    if (status != EXIT_GOOD) return status;
    a->want = o->want ? value_of_float(want) : norm_sample_metrics[0].want;
    if (!(a->want > 0)) return complain("--want", "must be greater than 0");
    if (!f32_is_zero(a->beta) && !o->c)
        return complain("--beta", "must be 0 without -c");
    return EXIT_GOOD;
}

bool gemm_answers_misshapen(const struct gemm_answers *a)
{
    const struct setup *const s = &a->s;
    return a->d.at && s->a.cols == s->b.rows &&
           (a->d.rows != s->a.rows || a->d.cols != s->b.cols);
}

/* --- which recipe the result is compared with ------------------------------------- */

/* Select the GEMM, with alpha and beta, if the emulator supports it. */
static enum bitcut_status take(struct gemm_answers *a, const struct bitcut_gemm *g,
                               struct fault *f)
{
    char line[CONFIGURATION_LINE_MAX];
    struct bitcut_gemm read;
    configuration_line_write(line, g);
    enum bitcut_status status = configuration_line_read(&read, line, f);
    if (status != BITCUT_OK) return status;
    read.alpha = a->alpha;
    read.beta = a->beta;
    read.d.format = a->d.format;
    status = gemm_plan_on_unit(&a->s.plan, &read, f);
    if (status == BITCUT_OK) a->s.gemm = read;
    a->chosen = status == BITCUT_OK;
    return status;
}

/* Select the requested GEMM. */
static int take_asked(struct gemm_answers *a)
{
    const struct gemm_report_options *const o = a->o;
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find(o->recipe), NULL);
    struct fault f;
    const int status = setup_unit(&g.unit, o->unit, way_parts(&g), o->recipe);
    if (status != EXIT_GOOD) return status;
    return take(a, &g, &f) == BITCUT_OK ? EXIT_GOOD : fail("--recipe", &f);
}

/* Whether the shapes of the matrices match. */
static int check_shapes(const struct gemm_answers *a)
{
    const struct setup *const s = &a->s;
    const int status = setup_check_inner(s, true);
    if (status != EXIT_GOOD || !a->d.at) return status;
    return setup_check_shape("D", &a->d, s->a.rows, s->b.cols);
}

/* Whether the parts of g hold all finite elements; otherwise D has no limit. */
static bool holds_all(const struct gemm_answers *a, const struct bitcut_gemm *g)
{
    const struct matrix *const operand[] = { &a->s.a, &a->s.b };
    struct bound_apriori bound;
    if (bound_apriori(&bound, g, a->s.a.cols, false, NULL) != BITCUT_OK) return false;
    for (int o = 0; o < 2; o++)
        for (size_t i = 0; i < operand[o]->rows * operand[o]->cols; i++) {
            const double x = fabs(value_of_float(operand[o]->at[i]));
            if (isfinite(x) && x > bound.most) return false;
        }
    return true;
}

/* Select what computed D, or its unchanged recipe on its unit.  The nearest hypothesis
   may match by chance, and its parts may not hold A and B. */
static void take_explained(struct gemm_answers *a, struct fault *why)
{
    const struct explanation *const e = &a->explanation;
    struct bitcut_gemm g = e->best.x.gemm;
    if (e->answer.found) a->d.format = e->q.format; /* of the values, not of the file */
    const struct bitcut_gemm row = gemm_of(g.recipe, g.unit);
    struct fault unused;
    if (take(a, &g, why) != BITCUT_OK) take(a, &row, &unused);
    if (!a->chosen || e->answer.found || holds_all(a, &a->s.gemm)) return;
    a->chosen = false;
    fault_set(why, BITCUT_UNSUPPORTED,
              "A and B overflow in %s, the nearest known computation", g.recipe->name);
}

/* Select the first of these that the emulator supports: what computed D; its unchanged
   recipe on its unit; the recommendation; an FP32 loop, which is always supported. */
static int choose(struct gemm_answers *a)
{
    const int status = check_shapes(a);
    struct fault why = { .status = BITCUT_OK, .text = "no known computation gives D" },
                 unused;
    if (a->chosen || status != EXIT_GOOD) return status;
    if (a->o->d && gemm_ask(a, ASK_EXPLAIN) <= EXIT_FOUND &&
        explain_names_nearest(&a->explanation))
        take_explained(a, &why);
    if (a->chosen && why.status == BITCUT_OK) return EXIT_GOOD;
    if (!a->chosen && gemm_ask(a, ASK_ADVISE) <= EXIT_FOUND && advise_best(&a->advice))
        take(a, &advise_best(&a->advice)->gemm, &unused);
    if (a->chosen && !a->o->d) return EXIT_GOOD;
    const struct bitcut_gemm loop =
        gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find("fma/f32", NULL));
    if (!a->chosen && take(a, &loop, &why) != BITCUT_OK) return fail("--recipe", &why);
    configuration_line_write(a->configuration, &a->s.gemm);
    snprintf(a->note, sizeof a->note, "compared with %s instead: %s", a->configuration,
             why.text);
    return EXIT_GOOD;
}

/* --- reading ---------------------------------------------------------------------- */

/* With a result, matrices may be stored otherwise than they should: explain also tries
   transposed ones. */
static int check_matrices(const struct gemm_answers *a)
{
    const struct setup *const s = &a->s;
    if (a->d.at && s->a.cols != s->b.rows) return EXIT_GOOD;
    const int status = setup_check_pair(&s->a, &s->b);
    return status == EXIT_GOOD && s->c.at
               ? setup_check_shape("C", &s->c, s->a.rows, s->b.cols)
               : status;
}

int gemm_answers_read(struct gemm_answers *a)
{
    const struct gemm_report_options *const o = a->o;
    struct setup *const s = &a->s;
    int status = read_options(a);
    s->files = &o->files;
    if (status == EXIT_GOOD) status = setup_read(&s->a, "-a", o->a, s->files);
    if (status == EXIT_GOOD) status = setup_read(&s->b, "-b", o->b, s->files);
    if (status == EXIT_GOOD && !o->c) status = matrix_unread("-c", s->files);
    if (status == EXIT_GOOD && !o->d) status = matrix_unread("-d", s->files);
    if (status == EXIT_GOOD && o->c) status = setup_read(&s->c, "-c", o->c, s->files);
    if (status == EXIT_GOOD && o->d) status = setup_read_result(s, &a->d, o->d);
    if (status == EXIT_GOOD && a->d.format && format_is_integer(a->d.format))
        return complain("-d", "has integers, which report does not take; use bitcut "
                              "verify or bitcut explain");
    if (status == EXIT_GOOD) status = check_matrices(a);
    s->input_a = o->a;
    s->input_b = o->b;
    a->data = (struct gemm_data){ .a = s->a, .b = s->b, .c = s->c };
    return status == EXIT_GOOD && o->recipe ? take_asked(a) : status;
}

static bool has(const struct gemm_answers *a, enum gemm_problem problem)
{
    return a->of[problem].tried && a->of[problem].status <= EXIT_FOUND;
}

void gemm_answers_clear(struct gemm_answers *a)
{
    if (has(a, ASK_ADVISE)) advise_clear(&a->advice);
    if (has(a, ASK_EXPLAIN)) explain_clear(&a->explanation);
    if (has(a, ASK_VERIFY)) verified_clear(&a->verified);
    budget_answer_clear(&a->budget);
    budget_answer_clear(&a->worst);
    power_clear(&a->power);
    matrix_clear(&a->emulated);
    matrix_clear(&a->d);
    setup_clear(&a->s);
}

/* --- computing -------------------------------------------------------------------- */

/* The target whose architecture has the unit that computed D; `targets` if there is none.
 */
static size_t find_target(struct gemm_answers *a)
{
    size_t at = a->targets;
    if (gemm_ask(a, ASK_EXPLAIN) > EXIT_FOUND || !explain_names_nearest(&a->explanation))
        return at;
    const char *const unit = a->explanation.best.x.gemm.unit->name;
    for (size_t i = 0; i < a->targets; i++) {
        const struct chip *const c = table_find(TABLE(chips), a->target[i]);
        const size_t length = strlen(c->architecture);
        if (!strncmp(unit, c->architecture, length) && unit[length] == '/') at = i;
    }
    return at;
}

/* The chips on which recipes are tried: the requested one; the one that computed D and
   its neighbours in the table; or all. */
static void choose_places(struct gemm_answers *a)
{
    a->targets = advise_targets(a->target);
    if (a->o->unit) {
        a->target[0] = a->o->unit;
        a->targets = 1;
        return;
    }
    const size_t at = a->o->d ? find_target(a) : a->targets;
    if (at == a->targets) return;
    const size_t last = a->targets - GEMM_CHIPS, first = at > 0 ? at - 1 : 0;
    memmove(a->target, &a->target[first < last ? first : last],
            GEMM_CHIPS * sizeof *a->target);
    a->targets = GEMM_CHIPS;
}

static int find_advice(struct gemm_answers *a)
{
    const struct context *const x = a->context;
    struct fault f;
    const int status = setup_check_inner(&a->s, true);
    if (status != EXIT_GOOD) return status;
    choose_places(a);
    const struct advise_problem q = { .a = &a->s.a,
                                      .b = &a->s.b,
                                      .pairs = 1,
                                      .metric = &norm_sample_metrics[0],
                                      .want = a->want,
                                      .target = a->target,
                                      .targets = a->targets,
                                      .seed = x->seed,
                                      .input_a = a->o->a,
                                      .input_b = a->o->b,
                                      .values = true };
    if (advise_find(&a->advice, &q, x->threads, &x->progress, &f) != BITCUT_OK)
        return fail("advise", &f);
    return a->advice.choice ? EXIT_GOOD : EXIT_FOUND;
}

static enum bitcut_status ask_explanation(struct gemm_answers *a, struct fault *f)
{
    const struct context *const x = a->context;
    const struct explain_options options = { .samples = SAMPLES,
                                             .seconds = (double)a->seconds,
                                             .seed = x->seed,
                                             .threads = x->threads,
                                             .progress = &x->progress };
    const struct problem q = { .a = a->s.a,
                               .b = a->s.b,
                               .c = a->s.c,
                               .d = a->d,
                               .alpha = a->alpha,
                               .beta = a->beta,
                               .format = problem_format(&a->d),
                               .name = a->o->d };
    const enum bitcut_status status = explain_run(&a->explanation, &q, &options, f);
    if (status != BITCUT_OK || !a->explanation.interrupted) return status;
    explain_clear(&a->explanation);
    return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
}

static int find_explanation(struct gemm_answers *a)
{
    struct fault f;
    if (ask_explanation(a, &f) != BITCUT_OK) return fail("explain", &f);
    return a->explanation.answer.found ? EXIT_GOOD : EXIT_FOUND;
}

/* D as computed by the emulator. */
static int emulate(struct gemm_answers *a)
{
    if (a->emulated.at) return EXIT_GOOD;
    return setup_run(&a->emulated, &a->s, a->context);
}

static int judge(struct judged *to, const struct bitcut_gemm *g, const struct matrix *d,
                 const struct gemm_answers *a)
{
    const struct gemm_options options = context_options(a->context);
    struct fault f;
    return judged_find(to, g, &a->data, d, &references[0], a->context->seed, &options,
                       &f) == BITCUT_OK
               ? EXIT_GOOD
               : fail("reference", &f);
}

/* The budget of the worst outputs of d, and with `all` of all outputs. */
static int find_budget(struct budget_answer *to, struct budget_problem *q,
                       const struct matrix *d, bool all, const struct gemm_answers *a)
{
    *q = (struct budget_problem){ .gemm = &a->s.gemm,
                                  .plan = &a->s.plan,
                                  .data = &a->data,
                                  .d = d,
                                  .all = all,
                                  .worst = WORST };
    return budget_run(to, q, a->context);
}

/* Whether the budget of all outputs would take minutes. */
static bool is_large(const struct gemm_answers *a)
{
    return (double)a->s.a.rows * (double)a->s.b.cols * (double)a->s.a.cols >
           0x1p24; /* about 20 seconds of processor time */
}

static int find_gemm(struct gemm_answers *a)
{
    int status = emulate(a);
    if (status == EXIT_GOOD) status = judge(&a->judged, &a->s.gemm, &a->emulated, a);
    if (status == EXIT_GOOD)
        status =
            find_budget(&a->budget, &a->budget_problem, &a->emulated, !is_large(a), a);
    a->model = (struct gemm_answer){ .gemm = setup_description(&a->s, a->context, true),
                                     .judged = &a->judged,
                                     .budget = &a->budget };
    return status;
}

static int find_fp32(struct gemm_answers *a)
{
    struct setup s = a->s;
    struct matrix d = { 0 };
    s.gemm = gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find("fma/f32", NULL));
    s.gemm.alpha = a->s.gemm.alpha;
    s.gemm.beta = a->s.gemm.beta;
    int status = setup_run(&d, &s, a->context);
    if (status == EXIT_GOOD) status = judge(&a->fp32, &s.gemm, &d, a);
    matrix_clear(&d);
    return status;
}

static int find_verified(struct gemm_answers *a)
{
    const struct gemm_options options = context_options(a->context);
    const struct verify_problem q = {
        .gemm = &a->s.gemm, .plan = &a->s.plan, .data = &a->data, .d = &a->d
    };
    struct verified *const v = &a->verified;
    struct fault f;
    const char *what;
    if (verified_find(v, &what, &q, &options, &f) != BITCUT_OK) return fail(what, &f);
    v->gemm.budget = &a->worst;
    const int status = find_budget(&a->worst, &a->worst_problem, &a->d, false, a);
    if (status != EXIT_GOOD) verified_clear(v);
    return status != EXIT_GOOD ? status : v->found.differ ? EXIT_FOUND : EXIT_GOOD;
}

static int find_bounds(struct gemm_answers *a)
{
    const struct gemm_options options = context_options(a->context);
    const int status = a->d.at ? EXIT_GOOD : emulate(a);
    const struct bound_request q = { .gemm = &a->s.gemm,
                                     .plan = &a->s.plan,
                                     .data = &a->data,
                                     .d = a->d.at ? a->d.at : a->emulated.at,
                                     .given = a->d.at };
    struct fault f;
    if (status != EXIT_GOOD) return status;
    if (bound_find(a->bound, &q, &options, &f) != BITCUT_OK) return fail("bound", &f);
    return bound_broken(a->bound) ? EXIT_FOUND : EXIT_GOOD;
}

static enum bitcut_status ask_tolerance(struct gemm_answers *a, struct fault *f)
{
    const struct context *const x = a->context;
    const struct tolerance_problem *const q = &a->limits;
    enum bitcut_status status =
        tolerance_find(&a->tolerance, q, x->threads, &x->progress, f);
    if (status == BITCUT_OK && a->d.at)
        status = tolerance_judge(&a->given, &a->tolerance.limits, q, &a->data, a->d.at,
                                 x->threads, &x->progress, f);
    if (status == BITCUT_OK)
        status = power_measure(&a->power, q, &a->tolerance, POWER_RUNS, x->seed,
                               x->threads, &x->progress, f);
    return status;
}

static int find_tolerance(struct gemm_answers *a)
{
    struct fault f;
    a->shuffled = (struct shuffled_source){ .data = &a->data, .seed = a->context->seed };
    a->limits = (struct tolerance_problem){ .gemm = &a->s.gemm,
                                            .source = shuffled_runs(&a->shuffled),
                                            .m = a->s.a.rows,
                                            .n = a->s.b.cols,
                                            .k = a->s.a.cols,
                                            .runs = RUNS,
                                            .alarm = (double)1e-6f };
    if (ask_tolerance(a, &f) != BITCUT_OK) return fail("tolerance", &f);
    a->test =
        (struct tolerance_answer){ .gemm = setup_description(&a->s, a->context, false),
                                   .found = &a->tolerance,
                                   .problem = &a->limits,
                                   .shuffled = true,
                                   .given = a->d.at ? &a->given : NULL,
                                   .power = &a->power };
    return a->d.at && !a->given.verdict.accepted ? EXIT_FOUND : EXIT_GOOD;
}

/* --- the questions ---------------------------------------------------------------- */

/* The options of the report that the command for a problem takes as well. */
enum { TAKES_C = 1, TAKES_D = 2, TAKES_CHOICE = 4, TAKES_WANT = 8, TAKES_SECONDS = 16 };

static const struct {
    int (*find)(struct gemm_answers *a);
    const char *command;
    unsigned takes;
    const char *more; /* further words of the command */
} questions[QUESTIONS] = {
    /* clang-format off */
    [ASK_ADVISE]    = { find_advice,      "advise",    TAKES_WANT, "" },
    [ASK_EXPLAIN]   = { find_explanation, "explain",   TAKES_C | TAKES_D | TAKES_SECONDS, "" },
    [ASK_GEMM]      = { find_gemm,        "gemm",      TAKES_C | TAKES_CHOICE, " --worst 8" },
    [ASK_FP32]      = { find_fp32,        "gemm",      TAKES_C, " --recipe fp32 --unit fma/f32" },
    [ASK_VERIFY]    = { find_verified,    "verify",    TAKES_C | TAKES_D | TAKES_CHOICE,
                        " --worst 8 --seconds 0" },
    [ASK_BOUND]     = { find_bounds,      "bound",     TAKES_C | TAKES_D | TAKES_CHOICE, "" },
    [ASK_TOLERANCE] = { find_tolerance,   "tolerance", TAKES_C | TAKES_D | TAKES_CHOICE, "" },
    /* clang-format on */
};

int gemm_ask(struct gemm_answers *a, enum gemm_problem problem)
{
    struct gemm_asked *const of = &a->of[problem];
    if (!of->tried) {
        struct fault *const before = message_keep(&of->why);
        of->status = questions[problem].takes & TAKES_CHOICE ? choose(a) : EXIT_GOOD;
        if (of->status == EXIT_GOOD) of->status = questions[problem].find(a);
        of->tried = true;
        message_keep(before);
    }
    return of->status <= EXIT_FOUND ? of->status : fail(NULL, &of->why);
}

const void *gemm_answer_to(const struct gemm_answers *a, enum gemm_problem problem)
{
    const void *const answer[QUESTIONS] = {
        [ASK_ADVISE] = &a->advice,   [ASK_EXPLAIN] = &a->explanation,
        [ASK_GEMM] = &a->model,      [ASK_FP32] = &a->fp32,
        [ASK_VERIFY] = &a->verified, [ASK_BOUND] = a->bound,
        [ASK_TOLERANCE] = &a->test,
    };
    return has(a, problem) ? answer[problem] : NULL;
}

/* --- command lines ---------------------------------------------------------------- */

/* Whether a shell takes the word literally. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_./=,:+@%";
    return *word && !word[strspn(word, plain)];
}

/* An option and its value, in quotes if necessary; quotes in the value are put outside of
   them. */
static void add_option(char *line, const char *option, const char *value)
{
    if (!value) return;
    text_add(line, LINE_LENGTH_MAX, " %s ", option);
    if (is_plain(value)) {
        text_add(line, LINE_LENGTH_MAX, "%s", value);
        return;
    }
    text_add(line, LINE_LENGTH_MAX, "'");
    for (; *value; value++)
        if (*value == '\'') text_add(line, LINE_LENGTH_MAX, "'\\''");
        else text_add(line, LINE_LENGTH_MAX, "%c", *value);
    text_add(line, LINE_LENGTH_MAX, "'");
}

/* The variations of a GEMM: items of its line (emu/gemm_text.h), NAME or NAME=VALUE, as
   options; the items of the order of k as one option. */
static void add_variations(char *line, const struct bitcut_gemm *g)
{
    char items[CONFIGURATION_LINE_MAX], order[ORDER_TEXT_MAX];
    configuration_line_write(items, g);
    char *item = strchr(items, ',');
    for (char *next; item; item = next) {
        struct bitcut_order one = { .slices = 0 };
        next = strchr(++item, ',');
        if (next) *next = 0;
        if (order_read(&one, item, NULL) == BITCUT_OK) continue;
        char *const value = strchr(item, '=');
        if (value) *value = ' ';
        text_add(line, LINE_LENGTH_MAX, " --%s", item);
    }
    order_write(order, &g->order);
    if (*order) add_option(line, "--order", order + 1);
}

/* Recipe, unit and variations. */
static void add_choice(char *line, const struct gemm_answers *a)
{
    const bool asked = a->o->recipe;
    add_option(line, "--recipe", asked ? a->o->recipe : a->s.gemm.recipe->name);
    add_option(line, "--unit", asked ? a->o->unit : a->s.gemm.unit->name);
    if (!asked) add_variations(line, &a->s.gemm);
}

json_t *gemm_question_line(const struct gemm_answers *a, enum gemm_problem problem)
{
    const struct gemm_report_options *const o = a->o;
    const unsigned takes = questions[problem].takes;
    char line[LINE_LENGTH_MAX] = "bitcut ";
    text_add(line, LINE_LENGTH_MAX, "%s", questions[problem].command);
    if (takes & TAKES_CHOICE) add_choice(line, a);
    add_option(line, "-a", o->a);
    add_option(line, "-b", o->b);
    if (takes & TAKES_C) {
        add_option(line, "-c", o->c);
        add_option(line, "--alpha", o->alpha);
        add_option(line, "--beta", o->beta);
    }
    if (takes & TAKES_D) add_option(line, "-d", o->d);
    if (takes & TAKES_WANT) add_option(line, "--want", o->want);
    if (takes & TAKES_SECONDS) add_option(line, "--seconds", o->seconds);
    text_add(line, LINE_LENGTH_MAX, "%s", questions[problem].more);
    if (problem == ASK_GEMM && !is_large(a)) text_add(line, LINE_LENGTH_MAX, " --budget");
    return json_text(line);
}
