/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_answers.h"

#include "analysis/cli/budget_command.h"
#include "analysis/cli/option.h"
#include "emu/gemm_text.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORST = 8, RUNS = 100, POWER_RUNS = 20, SAMPLES = 4096 };

bool gemm_answers_misshapen(const struct gemm_answers *a)
{
    const struct setup *const s = &a->s;
    return a->d.at && s->a.cols == s->b.rows &&
           (a->d.rows != s->a.rows || a->d.cols != s->b.cols);
}

/* --- which recipe the result is compared with ------------------------------------- */

/* Let a GEMM have everything that was given in addition to A, B and C.  `found`: steps,
   start and scaling are those of its configuration unless they were given. */
static void tell(struct bitcut_gemm *g, const struct gemm_answers *a, bool found)
{
    const struct bitcut_gemm *const told = &a->told;
    g->alpha = told->alpha;
    g->beta = told->beta;
    g->sparsity = told->sparsity;
    g->positions = told->positions;
    if (format_is_integer(g->unit->c)) g->zero_a = a->zero[0], g->zero_b = a->zero[1];
    if (!a->tells) return;
    g->bias = told->bias;
    g->bias_rows = told->bias_rows;
    g->scale_a = told->scale_a;
    g->scale_b = told->scale_b;
    g->scale_d = told->scale_d;
    g->clamp_low = told->clamp_low;
    g->clamp_high = told->clamp_high;
    if (!found || a->steps_told) {
        memcpy(g->epilogue, told->epilogue, sizeof g->epilogue);
        g->start = told->start;
        if (!format_is_integer(g->unit->c)) epilogue_leave_integers(g);
    }
    if (!found || a->scaling_told) g->scaling = told->scaling;
}

const struct matrix *gemm_answers_operand(const struct gemm_answers *a,
                                          const struct bitcut_gemm *g, bool is_b)
{
    return gemm_answers_subtract(a, g) ? &a->less[is_b] : is_b ? &a->s.b : &a->s.a;
}

bool gemm_answers_subtract(const struct gemm_answers *a, const struct bitcut_gemm *g)
{
    return a->less[0].at && !format_is_integer(g->unit->c);
}

/* Let the selected GEMM have A and B. */
static void take_data(struct gemm_answers *a)
{
    struct bitcut_gemm *const g = &a->s.gemm;
    a->data.a = *gemm_answers_operand(a, g, false);
    a->data.b = *gemm_answers_operand(a, g, true);
    if (!a->s.plan.integer) return;
    g->a.format = a->data.a.format;
    g->b.format = a->data.b.format;
}

/* Select the GEMM, with everything that was given, if the emulator supports it.  `found`:
   as for tell(). */
static enum bitcut_status take(struct gemm_answers *a, const struct bitcut_gemm *g,
                               bool found, struct fault *f)
{
    char line[CONFIGURATION_LINE_MAX];
    struct bitcut_gemm read, sized, own = *g;
    if (a->tells && (!found || a->scaling_told)) own.scaling = a->told.scaling;
    configuration_line_write(line, &own); /* some units need the scaling */
    enum bitcut_status status = configuration_line_read(&read, line, f);
    if (status != BITCUT_OK) return status;
    tell(&read, a, found);
    read.d.format = a->d.format;
    sized = read;
    sized.m = a->s.a.rows, sized.n = a->s.b.cols, sized.k = a->s.a.cols;
    status = gemm_plan_on_values(&a->s.plan, &sized, f);
    a->chosen = status == BITCUT_OK;
    if (!a->chosen) return status;
    a->s.gemm = read;
    take_data(a);
    return status;
}

struct bitcut_gemm gemm_answers_fp32_loop(const struct gemm_answers *a)
{
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find("fma/f32", NULL));
    tell(&g, a, false);
    if (g.scaling != BITCUT_SCALING_EPILOGUE) g.scaling = BITCUT_SCALING_OPERAND;
    return g;
}

int gemm_answers_take(struct gemm_answers *a)
{
    const struct setup_options *const o = &a->o->setup;
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find(o->recipe), NULL);
    struct fault f;
    const int status = setup_unit(&g.unit, o->unit, way_parts(&g), o->recipe);
    if (status != EXIT_GOOD) return status;
    if (take(a, &g, false, &f) != BITCUT_OK) return fail("--recipe", &f);
    return a->s.plan.integer ? setup_check_integers(&a->s, o) : EXIT_GOOD;
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
    const struct matrix *const operand[] = { gemm_answers_operand(a, g, false),
                                             gemm_answers_operand(a, g, true) };
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
   may match by chance, and its parts may not hold A and B.  Its variations may stand for
   steps that D has and the GEMM does not have, such as a sum that is rounded to the
   format of D. */
static void take_explained(struct gemm_answers *a, struct fault *why)
{
    const struct explanation *const e = &a->explanation;
    struct bitcut_gemm g = e->best.x.gemm;
    if (e->answer.found) a->d.format = e->q.format; /* of the values, not of the file */
    const struct bitcut_gemm row = gemm_of(g.recipe, g.unit);
    struct fault unused;
    const bool varies = e->answer.found || !a->tells;
    if (!varies) fault_set(why, BITCUT_UNSUPPORTED, "no known computation gives D");
    if (!varies || take(a, &g, true, why) != BITCUT_OK) take(a, &row, false, &unused);
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
        take(a, &advise_best(&a->advice)->gemm, false, &unused);
    if (a->chosen && !a->o->d) return EXIT_GOOD;
    const struct bitcut_gemm loop = gemm_answers_fp32_loop(a);
    if (!a->chosen && take(a, &loop, true, &why) != BITCUT_OK)
        return fail("--recipe", &why);
    configuration_line_write(a->configuration, &a->s.gemm);
    snprintf(a->note, sizeof a->note, "compared with %s instead: %s", a->configuration,
             why.text);
    return EXIT_GOOD;
}

/* --- the answers that there are ---------------------------------------------------- */

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
    gemm_data_clear_extra(&a->data);
    for (int i = 0; i < 2; i++) matrix_clear(&a->original[i]);
    for (int i = 0; i < 2; i++) matrix_clear(&a->less[i]);
    gemm_report_batch_clear(&a->batch);
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
    if (a->o->setup.unit) {
        a->target[0] = a->o->setup.unit;
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

/* A or B before quantization, less its zero point. */
static const struct matrix *of_side(const struct gemm_answers *a, int side)
{
    return a->less[side].at       ? &a->less[side]
           : a->original[side].at ? &a->original[side]
           : side                 ? &a->s.b
                                  : &a->s.a;
}

/* The GEMM of these, without the factors that quantization makes. */
static void take_unquantized(struct gemm_answers *a)
{
    a->asked = a->told;
    a->asked_of = a->tells ? a->data : (struct gemm_data){ .c = a->data.c };
    a->asked_of.a = *of_side(a, 0);
    a->asked_of.b = *of_side(a, 1);
    a->asked.alpha = a->o->setup.alpha.f32;
    a->asked.zero_a = a->zero[0];
    a->asked.zero_b = a->zero[1];
    if (a->original[0].at) {
        a->asked.scale_a = (struct bitcut_scales){ .lines = 0 };
        a->asked_of.scale_a.at = NULL;
    }
    if (a->original[1].at) {
        a->asked.scale_b = (struct bitcut_scales){ .lines = 0 };
        a->asked_of.scale_b.at = NULL;
    }
}

static int find_advice(struct gemm_answers *a)
{
    static const char *const own[] = { "a",       "b",          "recipe",     "unit",
                                       "shape-d", "quantize-a", "quantize-b", "format-d",
                                       "zero-a",  "zero-b",     NULL };
    const struct context *const x = a->context;
    struct fault f;
    const int status = setup_check_inner(&a->s, true);
    if (status != EXIT_GOOD) return status;
    choose_places(a);
    options_write(a->advised, sizeof a->advised, x->own, x->given, x->options, 0,
                  sizeof a->o->setup, own);
    take_unquantized(a);
    const bool more = a->tells || a->sparse || a->less[0].at;
    const struct advise_problem q = {
        .of = &a->asked_of,
        .pairs = 1,
        .metric = &norm_sample_metrics[0],
        .want = a->want,
        .target = a->target,
        .targets = a->targets,
        .seed = x->seed,
        .input_a = a->s.input_a,
        .input_b = a->s.input_b,
        .format_d = a->tells || a->less[0].at ? a->d.format : NULL,
        .quantizer = { a->s.quantized[0].quantizer, a->s.quantized[1].quantizer },
        .gemm = more ? &a->asked : NULL,
        .options = more ? a->advised : NULL,
        .values = true
    };
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
    struct bitcut_gemm told = a->told;
    told.size = a->tells ? told.size : 0;
    told.sparsity = BITCUT_DENSE; /* A has the positions */
    told.positions = (struct bitcut_matrix){ .at = NULL };
    const struct problem q = { .a = a->less[0].at ? a->less[0] : a->s.a,
                               .b = a->less[1].at ? a->less[1] : a->s.b,
                               .zero = { a->zero[0], a->zero[1] },
                               .c = a->s.c,
                               .d = a->d,
                               .alpha = a->told.alpha,
                               .beta = a->told.beta,
                               .format = problem_format(&a->d),
                               .name = a->o->d,
                               .told = told,
                               .steps_told = a->steps_told,
                               .scaling_told = a->scaling_told };
    const enum bitcut_status status = explain_run(&a->explanation, &q, &options, f);
    if (status != BITCUT_OK || !a->explanation.interrupted) return status;
    explain_clear(&a->explanation);
    return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
}

static int find_explanation(struct gemm_answers *a)
{
    struct fault f;
    const bool as_given = epilogue_options_given(&a->own.epilogue);
    const int status = as_given ? check_shapes(a) : EXIT_GOOD;
    if (status != EXIT_GOOD) return status;
    if (ask_explanation(a, &f) != BITCUT_OK) return fail("explain", &f);
    return a->explanation.answer.found ? EXIT_GOOD : EXIT_FOUND;
}

/* D of a GEMM by the emulator. */
static int run(struct matrix *to, const struct bitcut_gemm *g,
               const struct gemm_answers *a)
{
    struct setup s = a->s;
    s.gemm = *g;
    s.a = *gemm_answers_operand(a, g, false);
    s.b = *gemm_answers_operand(a, g, true);
    return setup_run(to, &s, a->context);
}

/* D of the selected GEMM. */
static int emulate(struct gemm_answers *a)
{
    return a->emulated.at ? EXIT_GOOD : run(&a->emulated, &a->s.gemm, a);
}

static int judge(struct judged *to, const struct bitcut_gemm *g, const struct matrix *d,
                 const struct gemm_answers *a)
{
    const struct gemm_options options = context_options(a->context);
    struct gemm_data data = a->data;
    struct fault f;
    data.a = *gemm_answers_operand(a, g, false);
    data.b = *gemm_answers_operand(a, g, true);
    return judged_find(to, g, &data, d, &references[0], a->context->seed, &options, &f) ==
                   BITCUT_OK
               ? EXIT_GOOD
               : fail("reference", &f);
}

/* The budget of the worst outputs of d, and with `all` of all outputs. */
static int find_budget(struct budget_answer *to, struct budget_problem *q,
                       const struct matrix *d, bool all, const struct gemm_answers *a)
{
    *q = (struct budget_problem){ .gemm = &a->s.gemm,
                                  .m = d->rows,
                                  .n = d->cols,
                                  .plan = &a->s.plan,
                                  .data = &a->data,
                                  .d = d,
                                  .all = all,
                                  .worst = WORST };
    return budget_run(to, q, a->context);
}

bool gemm_answers_are_many(const struct gemm_answers *a)
{
    return (double)a->s.a.rows * (double)a->s.b.cols * (double)a->s.a.cols >
           0x1p24; /* about 20 seconds of processor time */
}

static int find_gemm(struct gemm_answers *a)
{
    int status = emulate(a);
    if (status == EXIT_GOOD) status = judge(&a->judged, &a->s.gemm, &a->emulated, a);
    if (status == EXIT_GOOD)
        status = find_budget(&a->budget, &a->budget_problem, &a->emulated,
                             !gemm_answers_are_many(a), a);
    a->model = (struct gemm_answer){ .gemm = setup_description(&a->s, a->context, true),
                                     .judged = &a->judged,
                                     .budget = &a->budget };
    return status;
}

static int find_fp32(struct gemm_answers *a)
{
    const struct bitcut_gemm loop = gemm_answers_fp32_loop(a);
    struct matrix d = { 0 };
    int status = run(&d, &loop, a);
    if (status == EXIT_GOOD) status = judge(&a->fp32, &loop, &d, a);
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
    if (status == BITCUT_OK && q->batch)
        status = tolerance_judge_batch(&a->given, &a->tolerance.limits, q, x->threads,
                                       &x->progress, f);
    else if (status == BITCUT_OK && a->d.at)
        status = tolerance_judge(&a->given, &a->tolerance.limits, q, &a->data, a->d.at,
                                 x->threads, &x->progress, f);
    if (status == BITCUT_OK)
        status = power_measure(&a->power, q, &a->tolerance, POWER_RUNS, x->seed,
                               x->threads, &x->progress, f);
    return status;
}

static bool is_quantized(const struct gemm_answers *a)
{
    return a->s.quantized[0].quantizer || a->s.quantized[1].quantizer;
}

/* All GEMMs of a batch, as the selected one is computed. */
static const struct bitcut_gemm *take_gemms(struct gemm_answers *a)
{
    struct setup s = a->s;
    s.a = a->batch.all[MATRIX_A];
    s.b = a->batch.all[MATRIX_B];
    s.c = a->batch.all[MATRIX_C];
    s.is_batch = true;
    s.count = a->batch.count;
    a->batch.gemms = setup_gemms(&s, a->batch.all[MATRIX_D].at);
    return &a->batch.gemms;
}

static int find_tolerance(struct gemm_answers *a)
{
    struct fault f;
    const struct bitcut_gemm *const batch = a->batch.count ? take_gemms(a) : NULL;
    a->shuffled = (struct shuffled_source){ &a->data, a->context->seed, batch };
    a->limits = (struct tolerance_problem){ .gemm = &a->s.gemm,
                                            .batch = batch,
                                            .source = shuffled_runs(&a->shuffled),
                                            .m = a->s.a.rows,
                                            .n = a->s.b.cols,
                                            .k = a->s.a.cols,
                                            .runs = RUNS,
                                            .quantized = is_quantized(a),
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

static const struct {
    int (*find)(struct gemm_answers *a);
    bool chooses; /* whether the GEMM must be selected first */
} questions[QUESTIONS] = {
    [ASK_ADVISE] = { find_advice, false },
    [ASK_EXPLAIN] = { find_explanation, false },
    [ASK_GEMM] = { find_gemm, true },
    [ASK_FP32] = { find_fp32, false },
    [ASK_VERIFY] = { find_verified, true },
    [ASK_BOUND] = { find_bounds, true },
    [ASK_TOLERANCE] = { find_tolerance, true },
};

int gemm_ask(struct gemm_answers *a, enum gemm_problem problem)
{
    struct gemm_asked *const of = &a->of[problem];
    if (!of->tried) {
        struct fault *const before = message_keep(&of->why);
        of->status = questions[problem].chooses ? choose(a) : EXIT_GOOD;
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
