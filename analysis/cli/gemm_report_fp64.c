/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_fp64.h"

#include "analysis/cli/emit.h"
#include "analysis/cli/fp64_command.h"
#include "analysis/cli/gemm_report_fp64_answers.h"
#include "analysis/cli/gemm_report_inputs.h"
#include "analysis/cli/option.h"
#include "lib/base/text.h"
#include "lib/io/json_value.h"

#include <string.h>

enum { LINE_MAX_LENGTH = 1 << 12 };

struct fp64_report {
    struct result_report base; /* must be first */
    struct fp64_answers a;
};

/* --- sections --------------------------------------------------------------------- */

enum { ABOUT_RESULT, ABOUT_PLACES, ABOUT_SCHEMES };

static const struct table_row chapters[] = { { "result", "What is the result?" },
                                             { "places", "Where are its errors?" },
                                             { "schemes", "Which scheme is enough?" },
                                             { 0 } };

static const struct study_plot table = { .y = NULL };
static const struct study_plot histogram_plot = {
    .x = "ulps",
    .y = "share",
    .series = "result",
    .x_label = "distance from the exact result (FP64 steps, at most)",
    .y_label = "share of outputs",
    .x_log = true,
    .sees =
        "A result as accurate as an FP64 GEMM has its outputs where FP64 multiply-adds "
        "have them; a less accurate result lies farther to the right."
};
static const struct study_plot range_plot = {
    .x = "range",
    .y = "error",
    .series = "result",
    .panels = "operand",
    .x_label = "binades that the elements span",
    .y_label = "largest error, u |A||B|",
    .y_log = true,
    .points = true,
    .sees =
        "Schemes lose bits of small elements in rows and columns whose elements differ "
        "much in size: errors that grow with the range are that loss."
};
static const struct study_plot places_plot = {
    .x = "index",
    .y = "error",
    .series = "result",
    .panels = "lines",
    .x_label = "row or column of D",
    .y_label = "largest error, u |A||B|",
    .y_log = true,
    .sees =
        "Errors of one row or column alone, or of blocks of them, point to a fault of "
        "tiles or to elements of another size."
};

static const struct part {
    struct section section;
    bool of_scheme; /* whether a scheme with parts must have been given */
    enum bitcut_status (*ask)(struct fp64_answers *a, struct fault *f);
    fp64_report_rows *rows;
    const char *command, *more; /* the command that gives its numbers */
    bool takes_scheme;          /* whether the command has the scheme of the report */
} parts[] = {
    { .section = { .name = "errors",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "errors of D beside those of the scheme and of multiply-adds",
                   .title = "Errors of D",
                   .text =
                       "Every metric compares with the exact result. backward_max is the "
                       "largest |D - C| / |A||B| in u = 2^-53, relres is ||D - C|| / "
                       "||C||, grade_worst is the largest error divided by the limit of "
                       "an FP64 GEMM, bound_max is the largest worst-case bound of an "
                       "output in u |A||B|, and bound_worst is the largest part of its "
                       "bound that an output takes. The row of a scheme is its result "
                       "where D has other bits." },
      .ask = fp64_ask_results,
      .rows = fp64_rows_errors,
      .command = "explain" },
    { .section = { .name = "bits",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "D compared with the scheme, bit for bit",
                   .title = "D and the scheme, bit for bit",
                   .text = "Outputs of D that differ from the scheme on the emulated "
                           "unit, and the first of them." },
      .of_scheme = true,
      .ask = fp64_ask_bits,
      .rows = fp64_rows_bits,
      .command = "verify",
      .takes_scheme = true },
    { .section = { .name = "explanation",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "which scheme computed D",
                   .title = "What computed D",
                   .text = "D is compared with every scheme and every number of parts, "
                           "and with multiply-adds." },
      .ask = fp64_ask_explanation,
      .rows = fp64_rows_explanation,
      .command = "explain" },
    { .section = { .name = "distances",
                   .chapter = ABOUT_RESULT,
                   .plot = &histogram_plot,
                   .what = "distance of results from the exact result",
                   .title = "Errors compared with FP64 multiply-adds",
                   .text = "Share of outputs by distance from the exact result: 0, then "
                           "intervals between powers of two." },
      .ask = fp64_ask_results,
      .rows = fp64_rows_histogram,
      .command = "explain" },
    { .section = { .name = "range",
                   .chapter = ABOUT_PLACES,
                   .plot = &range_plot,
                   .what = "largest error by range of a row of A or a column of B",
                   .title = "Errors by range of the elements",
                   .text =
                       "The range of a row of A, or of a column of B, is the number of "
                       "binades from its smallest to its largest magnitude, zeros left "
                       "out. For each range: how many lines have it, and the largest "
                       "error of their outputs." },
      .ask = fp64_ask_errors,
      .rows = fp64_rows_range,
      .command = "explain" },
    { .section = { .name = "places",
                   .chapter = ABOUT_PLACES,
                   .plot = &places_plot,
                   .what = "largest error by row and by column of D",
                   .title = "Errors by row and column",
                   .text = "The largest error of each row and each column of D; of large "
                           "matrices, that of 64 blocks of rows or columns, by the first "
                           "of each block." },
      .ask = fp64_ask_errors,
      .rows = fp64_rows_places,
      .command = "explain" },
    { .section = { .name = "worst",
                   .chapter = ABOUT_PLACES,
                   .plot = &table,
                   .what = "the outputs with the largest errors",
                   .title = "The worst outputs",
                   .text =
                       "The outputs of D with the largest error in u |A||B|: the "
                       "exact result and D, the error of D and of multiply-adds "
                       "(plain), the scheme's bound, and the limit of an FP64 GEMM." },
      .ask = fp64_ask_errors,
      .rows = fp64_rows_worst,
      .command = "explain" },
    { .section = { .name = "schemes",
                   .chapter = ABOUT_SCHEMES,
                   .plot = &table,
                   .what = "every scheme with the fewest parts that are as accurate as "
                           "multiply-adds",
                   .title = "Schemes for these matrices",
                   .text =
                       "Every scheme on a sample of rows and columns, with the fewest "
                       "slices or moduli whose relative error is at most that of FP64 "
                       "multiply-adds. The cost is the number of products times the "
                       "bytes of a part." },
      .ask = fp64_ask_advice,
      .rows = fp64_rows_schemes,
      .command = "advise",
      .more = " --fp64" },
    { .section = { .name = NULL } }
};

/* The command of a section, with the seed; the caller releases the text. */
static json_t *command_line(const struct fp64_report *r, const struct part *p)
{
    static const char *const explains[] = { "scheme", "parts", "unit", "split-k", NULL },
                             *const advises[] = { "scheme",  "parts",   "split-k",
                                                  "c",       "d",       "format-c",
                                                  "shape-c", "shape-d", "alpha",
                                                  "beta",    "index",   NULL },
                             *const none[] = { NULL };
    const struct context *const x = r->base.report.context;
    char line[LINE_MAX_LENGTH] = "bitcut ";
    text_add(line, sizeof line, "%s%s", p->command, p->more ? p->more : "");
    options_write(line, sizeof line, x->own, x->given, x->options, 0,
                  sizeof(struct gemm_report_options),
                  p->takes_scheme ? none
                  : p->more       ? advises
                                  : explains);
    return json_text(line);
}

/* --- the answers ------------------------------------------------------------------ */

/* Questions of readers, the most important first.  A line of an answer answers each: its
   label, and the answer that has it. */
enum { OF_ERRORS, OF_BITS, OF_EXPLANATION, OF_ADVICE };

static const struct {
    const char *question, *label;
    int of;
} asked[] = {
    { "What computed D?", LABEL_VERDICT, OF_EXPLANATION },
    { "Which scheme is nearest?", "nearest", OF_EXPLANATION },
    { "Is D equal to the scheme, bit for bit?", LABEL_VERDICT, OF_BITS },
    { "Is D as accurate as an FP64 GEMM?", LABEL_VERDICT, OF_ERRORS },
    { "How accurate is D?", "componentwise error", OF_ERRORS },
    { "How many bits has D?", "relative error", OF_ERRORS },
    { "What is the worst-case bound?", LABEL_WORST, OF_ERRORS },
    { "Which scheme is enough?", LABEL_VERDICT, OF_ADVICE },
};

static record_describe *line_of(const struct record_line *lines, const char *label)
{
    while (lines->label && strcmp(lines->label, label)) lines++;
    return lines->describe;
}

/* An answer and its lines; *found is NULL if it was not computed. */
static const struct record_line *answer_of(const void **found,
                                           const struct fp64_answers *a, int of)
{
    switch (of) {
    case OF_ERRORS: *found = a->has_errors ? &a->given : NULL; return fp64_gemm_lines;
    case OF_BITS:
        *found = a->has_bits && !fp64_answers_as_dgemm(a) ? &a->bits : NULL;
        return fp64_verify_lines;
    case OF_EXPLANATION:
        *found = a->has_explanation ? &a->explanation : NULL;
        return scheme_explain_lines;
    default: *found = a->advice; return scheme_advice_lines;
    }
}

/* The verdict, the assertion and the answers as far as they are computed. */
static void conclude(struct fp64_report *r)
{
    json_array_clear(r->base.page.answers);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const void *found;
        const struct record_line *const lines = answer_of(&found, &r->a, asked[i].of);
        result_report_answer(&r->base, asked[i].question, line_of(lines, asked[i].label),
                             found);
    }
    fp64_report_judge(&r->base, &r->a);
    if (!json_array_size(r->base.page.code) && r->a.has_errors)
        fp64_report_code(&r->base, &r->a);
}

/* Lines of a section that no answer repeats. */
static json_t *says_of(const struct fp64_report *r, const struct part *p)
{
    const int of = p->ask == fp64_ask_bits          ? OF_BITS
                   : p->ask == fp64_ask_explanation ? OF_EXPLANATION
                   : p->ask == fp64_ask_advice      ? OF_ADVICE
                                                    : OF_ERRORS;
    const void *found;
    const struct record_line *const lines = answer_of(&found, &r->a, of);
    if (of == OF_ERRORS || of == OF_BITS || !found) return NULL;
    json_t *const says = emit_lines(lines, found);
    result_report_drop_answered(says, &r->base);
    return says;
}

static int make(struct section *s, const void *about, struct report *report)
{
    struct fp64_report *const r = (struct fp64_report *)report;
    const struct part *const p = about;
    struct fault f;
    const enum bitcut_status status = p->ask(&r->a, &f);
    s->inputs = json_incref(r->base.inputs);
    if (status == BITCUT_OK) {
        s->rows = json_array();
        p->rows(s->rows, &r->a);
        s->source = command_line(r, p);
    } else if (r->a.why.status == BITCUT_OK) r->a.why = f;
    conclude(r);
    s->says = says_of(r, p);
    return status == BITCUT_OK ? EXIT_GOOD : fail(s->name, &f);
}

/* --- the report ------------------------------------------------------------------- */

bool gemm_report_is_fp64(const struct gemm_report_options *o)
{
    return o->fp64.scheme || (o->d && fp64_is_result(o->d, &o->setup.files));
}

static void add_parts(struct fp64_report *r)
{
    for (const struct part *p = parts; p->section.name; p++)
        if (!p->of_scheme || !fp64_answers_as_dgemm(&r->a))
            report_add(&r->base.report, &p->section, make, p);
}

static int run(struct fp64_report *r)
{
    int status = gemm_report_inputs(&r->base, r->a.o);
    if (status == EXIT_GOOD) status = fp64_answers_read(&r->a);
    if (status != EXIT_GOOD) return status;
    add_parts(r);
    conclude(r);
    return result_report_run(&r->base, NULL);
}

int gemm_report_fp64(struct context *x, const struct gemm_report_options *o,
                     const char *folder)
{
    const struct page words = {
        .title = "bitcut report on an FP64 result",
        .about =
            "Errors are against the exact product, in units of u = 2^-53. Results of "
            "schemes are computed by bit-exact models of the libraries and of the "
            "matrix units.",
        .chapters = chapters,
    };
    static struct fp64_report r;
    r = (struct fp64_report){ .a = { .context = x, .o = o } };
    result_report_open(&r.base, x, folder, &words);
    const int status = run(&r);
    fp64_answers_clear(&r.a);
    result_report_close(&r.base);
    return status;
}
