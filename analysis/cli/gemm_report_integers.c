/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_integers.h"

#include "analysis/accuracy/integer_answer.h"
#include "analysis/cli/emit.h"
#include "analysis/cli/gemm_report_inputs.h"
#include "analysis/cli/option.h"
#include "analysis/identify/integers.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"
#include "lib/io/json_record.h"
#include "lib/io/json_value.h"
#include "lib/number/bits.h"

#include <math.h>
#include <string.h>

enum { LINE_MAX_LENGTH = 1 << 12, REASON_ROOM = 1200 };

struct integer_report {
    struct result_report base; /* must be first */
    const struct gemm_report_options *o;
    bool plain; /* whether D is the exact integer apart from its range: there are no other
                   steps, no bias and no factors */
    struct setup s;           /* A and B; with `recipe` the GEMM and its C */
    struct integer_problem x; /* A, B, C and D if the GEMM is plain */
    struct encoded_matrix c, d;
    struct bitcut_gemm told; /* alpha, beta and zero points */
    struct explanation explanation;
    struct integer_outputs outputs;
    struct integer_answer bits;
    bool has_outputs, has_bits, has_explanation;
    struct fault why; /* of the section that decides, if it failed */
};

/* --- sentences -------------------------------------------------------------------- */

static const char *const kinds[INTEGER_KINDS] = {
    [INTEGER_EXACT] = "the exact integer",
    [INTEGER_WRAPPED] = "the exact integer modulo 2^bits",
    [INTEGER_LIMITED] = "the exact integer limited to the range",
    [INTEGER_OTHER] = "another integer",
};

/* How many outputs have each kind, and the first that is not exact. */
static void describe_outputs(char *text, size_t size, const void *answer)
{
    const struct integer_report *const r = answer;
    const struct integer_outputs *const x = &r->outputs;
    const char *comma = "";
    int first = 0;
    if (x->of[INTEGER_EXACT] == x->total) {
        text_add(text, size, "all %zu outputs are the exact integers", x->total);
        return;
    }
    for (int k = 0; k < INTEGER_KINDS; k++) {
        if (!x->of[k]) continue;
        text_add(text, size, "%s%zu of %zu outputs are %s", comma, x->of[k], x->total,
                 kinds[k]);
        comma = ", ";
        first = k;
    }
    text_add(text, size, "; D[%zu, %zu] is %lld, the exact integer is %s",
             x->first[first].row, x->first[first].column,
             (long long)x->first[first].given, x->first[first].exact);
}

static void describe_explanation(char *text, size_t size, const void *answer)
{
    const struct integer_report *const r = answer;
    explain_describe_text(text, size, &r->explanation);
}

static void describe_bits(char *text, size_t size, const void *answer)
{
    const struct integer_report *const r = answer;
    for (const struct record_line *l = integer_verify_lines; l->label; l++)
        if (!strcmp(l->label, LABEL_VERDICT)) l->describe(text, size, &r->bits);
}

static void describe_model(char *text, size_t size, const void *answer)
{
    const struct integer_report *const r = answer;
    gemm_describe_what_ran(text, size, &r->bits);
}

static void describe_missing(char *text, size_t size, const void *answer)
{
    (void)answer;
    text_add(
        text, size,
        "limits of a test, error bounds, error budgets, values by exponent and "
        "recipes: sums of integers have no rounding errors, so every difference is a "
        "fault or an overflow");
}

/* --- the command of a section ----------------------------------------------------- */

/* The options of a command, with the seed; the caller releases the text. */
static json_t *command_line(const struct integer_report *r, const char *command,
                            const char *const *without)
{
    const struct context *const x = r->base.report.context;
    char line[LINE_MAX_LENGTH] = "bitcut ";
    text_add(line, sizeof line, "%s", command);
    options_write(line, sizeof line, x->own, x->given, x->options, 0,
                  sizeof(struct gemm_report_options), without);
    return json_text(line);
}

/* --- sections --------------------------------------------------------------------- */

static enum bitcut_status compute_explanation(struct integer_report *r, struct fault *f)
{
    const struct context *const x = r->base.report.context;
    const struct explain_options options = {
        .samples = 4096, .seed = x->seed, .threads = x->threads, .progress = &x->progress
    };
    const struct problem q = {
        .alpha = r->told.alpha, .beta = r->told.beta, .name = r->o->d, .integers = &r->x
    };
    enum bitcut_status status = explain_run(&r->explanation, &q, &options, f);
    r->has_explanation = status == BITCUT_OK;
    if (r->has_explanation && r->explanation.interrupted)
        status = fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    return status;
}

static enum bitcut_status make_explanation(struct section *s, struct integer_report *r,
                                           struct fault *f)
{
    static const char *const without[] = { "want", "recipe", "unit", NULL },
                             *const keys[] = { "hypothesis", "found", "compared",
                                               "differ",     "tried", NULL };
    const enum bitcut_status status = compute_explanation(r, f);
    if (status != BITCUT_OK) return status;
    json_t *const row = json_object();
    record_json_keys(row, explain_fields, &r->explanation, keys);
    json_array_append_new(s->rows, row);
    s->source = command_line(r, "explain", without);
    return BITCUT_OK;
}

/* The GEMM of the exact integers: FP32 values of A and B, and C and D as they are. */
static struct bitcut_gemm gemm_of_integers(const struct integer_report *r)
{
    struct bitcut_gemm g = r->told;
    const struct setup *const s = &r->s;
    gemm_set_dense(&g, NULL, s->a.rows, s->b.cols, s->a.cols, s->a.at, s->b.at, NULL);
    g.d = encoded_view(&r->d);
    if (r->c.at) g.c = encoded_view(&r->c);
    return g;
}

static enum bitcut_status make_exact(struct section *s, struct integer_report *r,
                                     struct fault *f)
{
    static const char *const without[] = { "want", "recipe", "unit", NULL };
    const struct bitcut_gemm g = gemm_of_integers(r);
    const enum bitcut_status status = integer_outputs_count(&r->outputs, &g, f);
    if (status != BITCUT_OK) return status;
    r->has_outputs = true;
    for (int k = 0; k < INTEGER_KINDS; k++) {
        const struct integer_output *const o = &r->outputs.first[k];
        const bool any = r->outputs.of[k];
        json_array_append_new(
            s->rows, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "outputs", kinds[k],
                               "count", json_count(r->outputs.of[k]), "i",
                               any ? json_count(o->row) : json_null(), "j",
                               any ? json_count(o->column) : json_null(), "result",
                               any ? json_integer(o->given) : json_null(), "exact",
                               any ? json_string(o->exact) : json_null()));
    }
    s->source = command_line(r, "explain", without);
    return BITCUT_OK;
}

static enum bitcut_status make_bits(struct section *s, struct integer_report *r,
                                    struct fault *f)
{
    static const char *const without[] = { "want", "seconds", NULL };
    const struct context *const x = r->base.report.context;
    const struct gemm_options how = context_options(x);
    const struct bitcut_matrix given = encoded_view(&r->d);
    struct encoded_matrix d;
    enum bitcut_status status = encoded_init(&d, r->d.rows, r->d.cols, r->d.format, f);
    if (status != BITCUT_OK) return status;
    struct bitcut_gemm g = setup_gemms(&r->s, d.at);
    g.d.format = d.format;
    status = gemm_check_matrices(&g, true, f);
    if (status == BITCUT_OK) status = gemm_run(&g, &how, f);
    if (status == BITCUT_OK) {
        json_t *const row = json_object();
        r->bits = (struct integer_answer){ .gemm = setup_description(&r->s, x, true) };
        integer_answer_verify(&r->bits, &g, &given);
        r->has_bits = true;
        record_json(row, integer_verify_fields, &r->bits);
        json_array_append_new(s->rows, row);
        s->source = command_line(r, "verify", without);
        s->says = emit_lines(integer_verify_lines, &r->bits);
    }
    encoded_clear(&d);
    return status;
}

static const struct table_row chapters[] = { { "result", "What is the result?" }, { 0 } };

static const struct study_plot table = { .y = NULL };

static const struct part {
    struct section section;
    bool of_plain, of_recipe; /* which reports have it; false: all have it */
    enum bitcut_status (*make)(struct section *s, struct integer_report *r,
                               struct fault *f);
} parts[] = {
    { .section = { .name = "explanation",
                   .plot = &table,
                   .what = "which sum of integers gives D, and which fault",
                   .title = "What computed D",
                   .text = "Every rule of sums and of results, every reading of the "
                           "operands, and faults of zero points, until one gives D." },
      .of_plain = true,
      .make = make_explanation },
    { .section = { .name = "exact",
                   .plot = &table,
                   .what = "D compared with the exact integers",
                   .title = "Outputs and the exact integers",
                   .text = "Outputs by what they are of the exact integer alpha (A - "
                           "zero_a) (B - zero_b) + beta C, and the first output of each "
                           "kind. An integer outside the range of the format of D is "
                           "taken modulo 2^bits or limited to the range by correct "
                           "kernels." },
      .of_plain = true,
      .make = make_exact },
    { .section = { .name = "model",
                   .plot = &table,
                   .what = "D compared with the model of the unit",
                   .title = "D and the model, bit for bit",
                   .text = "Outputs of D that differ from the recipe on the emulated "
                           "unit." },
      .of_recipe = true,
      .make = make_bits },
    { .section = { .name = NULL } }
};

/* --- the banner ------------------------------------------------------------------- */

struct integer_outcome {
    enum report_outcome outcome;
    char reason[REASON_ROOM];
};

#define SAY(...) text_add(to->reason, REASON_ROOM, __VA_ARGS__)

/* By the unit's model, which decides every bit. */
static void judge_bits(struct integer_outcome *to, const struct integer_report *r)
{
    to->outcome = r->bits.differ ? REPORT_REJECTED : REPORT_ACCEPTED;
    describe_bits(to->reason, REASON_ROOM, r);
    SAY(". Reference: ");
    describe_model(to->reason, REASON_ROOM, r);
    SAY(".");
}

/* By the exact integers: an output outside the range is the unit's. */
static void judge_outputs(struct integer_outcome *to, const struct integer_report *r)
{
    const size_t *const of = r->outputs.of;
    to->outcome = of[INTEGER_OTHER]                       ? REPORT_REJECTED
                  : of[INTEGER_EXACT] == r->outputs.total ? REPORT_ACCEPTED
                                                          : REPORT_NOT_JUDGED;
    describe_outputs(to->reason, REASON_ROOM, r);
    if (to->outcome == REPORT_NOT_JUDGED)
        SAY("; whether an integer outside the range is taken modulo 2^bits or limited "
            "depends on the unit: give --recipe plain and --unit");
    SAY(". Reference: the exact integers.");
}

static void judge(struct integer_outcome *to, const struct integer_report *r)
{
    const size_t rows = r->s.a.rows, cols = r->s.b.cols;
    if (r->d.rows != rows || r->d.cols != cols) {
        to->outcome = REPORT_REJECTED;
        SAY("D is %zu x %zu, but A B is %zu x %zu.", r->d.rows, r->d.cols, rows, cols);
    } else if (r->o->setup.recipe && r->has_bits) judge_bits(to, r);
    else if (!r->o->setup.recipe && r->has_outputs) judge_outputs(to, r);
    else if (r->why.status != BITCUT_OK) {
        to->outcome = REPORT_NOT_JUDGED;
        SAY("%s.", r->why.text);
    } else SAY("the report is not finished.");
}

static const struct {
    const char *question;
    record_describe *describe;
    size_t flag; /* the member that says whether the answer exists */
} asked[] = {
    { "What computed D?", describe_explanation,
      offsetof(struct integer_report, has_explanation) },
    { "Are the outputs exact?", describe_outputs,
      offsetof(struct integer_report, has_outputs) },
    { "Which model was run?", describe_model, offsetof(struct integer_report, has_bits) },
    { "Is D equal to the model, bit for bit?", describe_bits,
      offsetof(struct integer_report, has_bits) },
    { "What is not on this page?", describe_missing,
      offsetof(struct integer_report, has_outputs) },
};

/* The verdict and the answers as far as they are computed. */
static void conclude(struct integer_report *r)
{
    struct integer_outcome to = { .outcome = REPORT_NOT_FINISHED };
    judge(&to, r);
    json_array_clear(r->base.page.answers);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const bool found = *(const bool *)((const char *)r + asked[i].flag);
        result_report_answer(&r->base, asked[i].question, asked[i].describe,
                             found ? r : NULL);
    }
    result_report_banner(&r->base, to.outcome, to.reason, NAN, NAN);
}

static int make(struct section *s, const void *about, struct report *report)
{
    struct integer_report *const r = (struct integer_report *)report;
    const struct part *const p = about;
    struct fault f;
    s->inputs = json_incref(r->base.inputs);
    s->rows = json_array();
    const enum bitcut_status status = p->make(s, r, &f);
    if (status != BITCUT_OK) {
        r->why = f;
        json_decref(s->rows);
        s->rows = NULL;
    }
    conclude(r);
    result_report_drop_answered(s->says, &r->base);
    return status == BITCUT_OK ? EXIT_GOOD : fail(s->name, &f);
}

/* --- reading ---------------------------------------------------------------------- */

int gemm_report_look(bool *integers, bool *of_batch, const struct gemm_report_options *o)
{
    struct encoded_matrix d;
    *integers = *of_batch = false;
    if (!o->d) return EXIT_GOOD;
    const int status = matrix_read(&d, "-d", o->d, &o->setup.files);
    if (status != EXIT_GOOD) return status;
    *integers = format_is_integer(d.format);
    *of_batch = d.is_batch && o->setup.files.index == SIZE_MAX;
    encoded_clear(&d);
    return EXIT_GOOD;
}

/* Whether the options give more than zero points of A and B. */
static bool has_steps(const struct epilogue_options *o)
{
    struct epilogue_options other = *o;
    other.zero_a = other.zero_b = NULL;
    return epilogue_options_given(&other);
}

static int check_options(struct integer_report *r)
{
    const struct setup_options *const o = &r->o->setup;
    r->plain = !has_steps(&o->epilogue);
    r->told = gemm_of(NULL, NULL);
    r->told.alpha = o->alpha.f32;
    r->told.beta = o->beta.f32 != SETUP_BETA_UNSET ? o->beta.f32 : o->c ? F32_ONE : 0;
    if (r->o->want) return complain("--want", "does not apply to a D of integers");
    if (r->o->seconds) return complain("--seconds", "does not apply to a D of integers");
    if (!r->plain && !o->recipe)
        return complain("-d", "has integers: with a bias, factors, a start or steps it "
                              "requires --recipe and --unit");
    if (matrix_is_sparse(&o->files) && !o->recipe)
        return complain(o->files.positions ? "--positions-a" : "--sparse-a",
                        "requires -d, --recipe and --unit");
    return epilogue_zeros_apply(&r->told, &o->epilogue);
}

static int read_operand(struct matrix *to, const char *option, const char *path,
                        const struct gemm_report_options *o)
{
    const int status = setup_read(to, option, path, &o->setup.files);
    if (status != EXIT_GOOD) return status;
    if (!to->format || !format_is_integer(to->format))
        return complain(option, "must have integers if D has them; bitcut verify also "
                                "takes other files");
    return to->is_batch ? complain(option, "must have two dimensions if D has integers")
                        : EXIT_GOOD;
}

/* The GEMM of --recipe and --unit, with its C. */
static int read_gemm(struct integer_report *r)
{
    struct setup *const s = &r->s;
    int status = setup_gemm(s);
    if (status == EXIT_GOOD && !s->plan.integer)
        status = complain("--unit", "must accumulate in integers if D has integers");
    s->gemm.d.format = r->d.format;
    return status == EXIT_GOOD ? setup_finish(s) : status;
}

static enum bitcut_status take_encoded(struct integer_matrix *to,
                                       const struct encoded_matrix *m, struct fault *f)
{
    const struct bitcut_matrix view = encoded_view(m);
    return m->at ? integer_matrix_take(to, &view, m->rows, m->cols, f) : BITCUT_OK;
}

/* The problem of explain. */
static int take_problem(struct integer_report *r)
{
    struct integer_problem *const x = &r->x;
    struct fault f;
    if (!r->plain) return EXIT_GOOD;
    x->as_given = true;
    x->zero_a = r->told.zero_a, x->zero_b = r->told.zero_b;
    enum bitcut_status status = integer_matrix_of(&x->a, &r->s.a, &f);
    if (status == BITCUT_OK) status = integer_matrix_of(&x->b, &r->s.b, &f);
    if (status == BITCUT_OK) status = take_encoded(&x->c, &r->c, &f);
    if (status == BITCUT_OK) status = take_encoded(&x->d, &r->d, &f);
    return status == BITCUT_OK ? EXIT_GOOD : fail("report", &f);
}

/* C, which has the shape of A B and integers. */
static int read_c(struct integer_report *r)
{
    const struct setup_options *const o = &r->o->setup;
    if (!o->c) {
        if (!f32_is_zero(r->told.beta)) return complain("--beta", "must be 0 without -c");
        return matrix_unread("-c", &o->files);
    }
    const int status = matrix_read(&r->c, "-c", o->c, &o->files);
    if (status != EXIT_GOOD) return status;
    if (!format_is_integer(r->c.format))
        return complain("-c", "must have integers if D has them");
    const struct matrix shape = { .rows = r->c.rows, .cols = r->c.cols };
    if (r->c.is_batch)
        return complain("-c", "must have two dimensions if D has integers");
    return setup_check_shape("C", &shape, r->s.a.rows, r->s.b.cols);
}

static int read_all(struct integer_report *r)
{
    const struct gemm_report_options *const o = r->o;
    struct setup *const s = &r->s;
    int status = matrix_read(&r->d, "-d", o->d, &o->setup.files);
    if (status == EXIT_GOOD && r->d.is_batch)
        status = complain("-d", "must have two dimensions if it has integers");
    if (status == EXIT_GOOD) status = read_operand(&s->a, "-a", o->setup.a, o);
    if (status == EXIT_GOOD) status = read_operand(&s->b, "-b", o->setup.b, o);
    if (status == EXIT_GOOD && o->setup.recipe) status = read_gemm(r);
    if (status == EXIT_GOOD && !o->setup.recipe) status = setup_check_inner(s, true);
    if (status == EXIT_GOOD) status = read_c(r);
    return status == EXIT_GOOD ? take_problem(r) : status;
}

/* --- the report ------------------------------------------------------------------- */

/* With a D of another shape than A B there is nothing but the verdict and what explain
   says of it. */
static void add_parts(struct integer_report *r)
{
    const bool fits = r->d.rows == r->s.a.rows && r->d.cols == r->s.b.cols;
    for (const struct part *p = parts; p->section.name; p++)
        if ((!p->of_plain || r->plain) && (!p->of_recipe || r->o->setup.recipe) &&
            (fits || p->make == make_explanation))
            report_add(&r->base.report, &p->section, make, p);
}

static int run(struct integer_report *r)
{
    int status = check_options(r);
    if (status == EXIT_GOOD) status = read_all(r);
    if (status == EXIT_GOOD) add_parts(r);
    if (status == EXIT_GOOD) status = gemm_report_inputs(&r->base, r->o);
    if (status != EXIT_GOOD) return status;
    conclude(r);
    return result_report_run(&r->base, NULL);
}

int gemm_report_integers(struct context *x, const struct gemm_report_options *o,
                         const char *folder)
{
    const struct page words = {
        .title = "bitcut report on a result of integers",
        .about = "Sums of integers have no rounding errors: the reference is the exact "
                 "integer, and an output is right or wrong. The model of a unit says "
                 "what becomes of an integer outside the range.",
        .chapters = chapters,
    };
    static struct integer_report r;
    r = (struct integer_report){
        .o = o,
        .s = { .options = &o->setup, .takes_integers = true },
    };
    result_report_open(&r.base, x, folder, &words);
    const int status = run(&r);
    if (r.has_explanation) explain_clear(&r.explanation);
    integer_problem_clear(&r.x);
    encoded_clear(&r.c);
    encoded_clear(&r.d);
    setup_clear(&r.s);
    result_report_close(&r.base);
    return status;
}
