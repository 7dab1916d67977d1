/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/attention_report.h"

#include "analysis/cli/attention_report_part.h"
#include "lib/base/text.h"

#include <string.h>

enum { LINE_LENGTH_MAX = 1 << 12 };

struct page_of_attention {
    struct result_report base; /* must be first */
    struct attention_answers a;
};

/* --- commands --------------------------------------------------------------------- */

/* The row by which O is judged. */
static void add_row(char *line, const struct attention_answers *a)
{
    text_add(line, LINE_LENGTH_MAX, " --row");
    options_write_word(line, LINE_LENGTH_MAX, a->row->name);
    if (!*a->vary) return;
    text_add(line, LINE_LENGTH_MAX, " --vary");
    options_write_word(line, LINE_LENGTH_MAX, a->vary);
}

/* The command of a section; the caller releases the text. */
static json_t *command_line(const struct page_of_attention *r,
                            const struct attention_part_row *p)
{
    static const char *const all[] = { "row", "vary", "any-tiles", "seconds", NULL },
                             *const other[] = { "row",     "vary",   "any-tiles",
                                                "seconds", "verify", NULL },
                             *const explain[] = { "row", "vary", "any-tiles", "verify",
                                                  NULL };
    const struct attention_answers *const a = &r->a;
    const struct context *const x = a->context;
    char line[LINE_LENGTH_MAX] = "";
    if (p->command == COMPARES)
        text_add(line, sizeof line, "for each ROW of bitcut list attentions: ");
    text_add(line, sizeof line, "bitcut attention");
    if (p->command == EXPLAINS) {
        text_add(line, sizeof line, " --explain");
        options_write_word(line, sizeof line, a->o->path[O]);
    } else if (p->command == COMPARES) text_add(line, sizeof line, " --row ROW");
    else add_row(line, a);
    options_write(line, sizeof line, x->own, x->given, x->options, 0, SIZE_MAX,
                  p->command == EXPLAINS   ? explain
                  : p->command == COMPARES ? other
                                           : all);
    text_add(line, sizeof line, "%s%s", p->more,
             p->command == TESTS && a->any_tiles ? " --any-tiles" : "");
    return json_text(line);
}

/* --- answers ---------------------------------------------------------------------- */

static const struct record_line page_lines[] = {
    { .label = "bits", .describe = attention_report_bits },
    { .label = "worst", .describe = attention_report_worst },
    { .label = "best", .describe = attention_report_best },
    { .label = "short", .describe = attention_report_short },
    { 0 }
};

/* Questions of readers, the most important first, and the line that answers each. */
static const struct {
    const char *question, *label;
    enum subject subject;
} asked[] = {
    { "What computed O?", LABEL_VERDICT, OF_EXPLANATION },
    { "Is O equal to the algorithm, bit for bit?", "bits", OF_PAGE },
    { "How accurate is it?", "error", OF_ATTENTION },
    { "Which outputs are the worst?", "worst", OF_PAGE },
    { "Is it within the rigorous bounds?", "bounds", OF_ATTENTION },
    { "Where does the error of the algorithm come from?", "error budget", OF_ATTENTION },
    { "Which algorithm should compute it?", "best", OF_PAGE },
    { "Is an algorithm with 8 bits enough?", "short", OF_PAGE },
    { "What should a test accept?", "componentwise", OF_TEST },
};

/* The lines about a subject; *found is NULL if it was not computed. */
static const struct record_line *
lines_of(const void **found, const struct attention_answers *a, enum subject subject)
{
    switch (subject) {
    case OF_EXPLANATION:
        *found = a->has_explanation ? &a->explanation : NULL;
        return attention_explain_lines;
    case OF_ATTENTION: *found = a->has_errors ? &a->answer : NULL; return attention_lines;
    case OF_TEST: *found = a->has_limits ? &a->test : NULL; return attention_test_lines;
    default: *found = a; return page_lines;
    }
}

static record_describe *line_of(const struct record_line *lines, const char *label)
{
    while (lines->label && strcmp(lines->label, label)) lines++;
    return lines->describe;
}

/* The verdict, the assertion and the answers as far as they are computed. */
static void conclude(struct page_of_attention *r)
{
    json_array_clear(r->base.page.answers);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const void *found;
        const struct record_line *const lines = lines_of(&found, &r->a, asked[i].subject);
        result_report_answer(&r->base, asked[i].question, line_of(lines, asked[i].label),
                             found);
    }
    attention_report_judge(&r->base, &r->a);
    if (!json_array_size(r->base.page.code) && r->a.has_limits)
        attention_report_code(&r->base, &r->a);
}

/* The lines of a section that no answer has. */
static json_t *says_of(const struct page_of_attention *r,
                       const struct attention_part_row *p)
{
    const void *found;
    const struct record_line *const lines = lines_of(&found, &r->a, p->subject);
    json_t *const says = json_array();
    for (int i = 0; found && p->line[i]; i++) {
        const struct record_line one[] = {
            { .label = p->line[i], .describe = line_of(lines, p->line[i]) }, { 0 }
        };
        json_t *const own = emit_lines(one, found);
        json_array_extend(says, own);
        json_decref(own);
    }
    result_report_drop_answered(says, &r->base);
    return says;
}

static int make(struct section *s, const void *about, struct report *report)
{
    struct page_of_attention *const r = (struct page_of_attention *)report;
    const struct attention_part_row *const p = about;
    struct fault f;
    const enum bitcut_status status = p->ask(&r->a, &f);
    s->inputs = json_incref(r->base.inputs);
    if (status == BITCUT_OK) {
        s->rows = json_array();
        p->rows(s->rows, &r->a);
        s->source = command_line(r, p);
    } else if (r->a.why.status == BITCUT_OK) r->a.why = f;
    conclude(r);
    if (status == BITCUT_OK) s->says = says_of(r, p);
    return status == BITCUT_OK ? EXIT_GOOD : fail(s->name, &f);
}

/* --- the report ------------------------------------------------------------------- */

static int run(struct page_of_attention *r)
{
    const struct attention_setup_options *const o = r->a.o;
    const struct used_file files[] = { { "-q", o->path[Q], false },
                                       { "-k", o->path[K], false },
                                       { "-v", o->path[V], false },
                                       { "--verify", o->path[O], false },
                                       { 0 } };
    int status = attention_answers_read(&r->a);
    for (const struct attention_part_row *p = attention_report_parts; p->section.name;
         p++)
        if (!p->of_given || r->a.given) report_add(&r->base.report, &p->section, make, p);
    if (status == EXIT_GOOD) status = result_report_inputs(&r->base, files);
    if (status != EXIT_GOOD) return status;
    conclude(r);
    return result_report_run(&r->base, NULL);
}

int attention_report(struct context *x, const struct attention_setup_options *o,
                     double seconds, const char *folder)
{
    const struct page words = {
        .title = o->path[O] ? "bitcut report on a result of attention"
                            : "bitcut report on an attention",
        .about =
            "Errors are against exact attention of the same Q, K, V and scale. u is the "
            "unit roundoff of the format of O, |V| the mean of the magnitudes of V by "
            "the exact weights. Results of algorithms are computed by bit-exact models "
            "of the matrix units.",
        .chapters = attention_report_chapters,
    };
    static struct page_of_attention r;
    r = (struct page_of_attention){ .a = { .context = x, .o = o, .seconds = seconds } };
    result_report_open(&r.base, x, folder, &words);
    const int status = run(&r);
    attention_answers_clear(&r.a);
    result_report_close(&r.base);
    return status;
}
