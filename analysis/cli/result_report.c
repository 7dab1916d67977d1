/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/result_report.h"

#include "analysis/cli/recorded_results.h"

#include <math.h>

void result_report_open(struct result_report *r, struct context *x, const char *folder,
                        const struct page *words)
{
    r->page = *words;
    r->page.command = x->command_line;
    r->page.answers = json_array();
    r->page.banner = json_object();
    r->page.code = json_array();
    r->inputs = json_array();
    r->report.context = x;
    r->report.folder = folder;
    r->report.words = &r->page;
}

void result_report_close(struct result_report *r)
{
    report_clear(&r->report);
    json_decref(r->page.answers);
    json_decref(r->page.banner);
    json_decref(r->page.code);
    json_decref(r->inputs);
}

int result_report_inputs(struct result_report *r, const struct used_file *files)
{
    int status = EXIT_GOOD;
    for (const struct used_file *f = files; f->option && status == EXIT_GOOD; f++)
        if (f->path) status = report_check_files(&r->report, f->option, f->path);
    for (const struct used_file *f = files; f->option && status == EXIT_GOOD; f++)
        if (f->path) status = recorded_digest_file(r->inputs, f->path);
    return status;
}

/* --- the banner ------------------------------------------------------------------- */

static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

void result_report_banner(struct result_report *r, enum report_outcome outcome,
                          const char *reason, double error, double limit)
{
    json_t *const banner = r->page.banner;
    json_object_set_new(banner, "outcome", json_integer(outcome));
    json_object_set_new(banner, "verdict", json_string(report_outcomes[outcome].name));
    json_object_set_new(banner, "reason", json_text(reason));
    json_object_set_new(banner, "error", number(error));
    json_object_set_new(banner, "limit", number(limit));
}

/* The exit status of a report whose sections had the exit status `worst`. */
static int end(const json_t *banner, int unjudged, int worst)
{
    int status = worst > EXIT_FOUND ? worst : EXIT_GOOD;
    switch (json_integer_value(json_object_get(banner, "outcome"))) {
    case REPORT_ACCEPTED: return EXIT_GOOD;
    case REPORT_REJECTED: return EXIT_FOUND;
    case REPORT_NOT_JUDGED: status = unjudged > EXIT_FOUND ? unjudged : EXIT_CANNOT;
    }
    if (status == EXIT_GOOD) return status;
    struct fault f;
    fault_set(&f, BITCUT_UNSUPPORTED, "%s",
              json_string_value(json_object_get(banner, "reason")));
    fail("report", &f);
    return status;
}

int result_report_run(struct result_report *r, const int *unjudged)
{
    const int status = report_run(&r->report);
    return r->report.ended ? status
                           : end(r->page.banner, unjudged ? *unjudged : status, status);
}

/* --- answers and code --------------------------------------------------------------- */

void result_report_answer(struct result_report *r, const char *question,
                          record_describe *describe, const void *found)
{
    json_t *const says = found ? emit_sentence(describe, found) : NULL;
    if (says)
        json_array_append_new(r->page.answers, json_pack("{s:s, s:o}", "question",
                                                         question, "answer", says));
}

bool result_report_is_answered(const struct result_report *r, const json_t *line)
{
    const json_t *const answers = r->page.answers;
    bool same = false;
    for (size_t n = 0; n < json_array_size(answers); n++)
        same |= json_equal(json_object_get(line, "says"),
                           json_object_get(json_array_get(answers, n), "answer"));
    return same;
}

void result_report_drop_answered(json_t *says, const struct result_report *r)
{
    for (size_t i = json_array_size(says); i-- > 0;)
        if (result_report_is_answered(r, json_array_get(says, i)))
            json_array_remove(says, i);
}

void result_report_code(struct result_report *r, const char *title, const char *language,
                        json_t *lines)
{
    if (json_array_size(lines))
        json_array_append_new(r->page.code,
                              json_pack("{s:s, s:s, s:O}", "title", title, "language",
                                        language, "lines", lines));
    json_decref(lines);
}
