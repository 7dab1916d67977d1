/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/cli/report_run.h"

#include "analysis/cli/data_files.h"
#include "analysis/cli/terminal.h"
#include "analysis/report/plot_script.h"
#include "analysis/report/provenance.h"
#include "lib/base/clock.h"
#include "lib/io/output.h"
#include "lib/io/sha256.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LENGTH_MAX = DATA_PATH_MAX + DATA_NAME_MAX + 8 };

/* The whole report, in each of its forms. */
static const struct {
    const char *name;
    report_form *form;
} pages[] = { { "index.html", report_html }, { "report.md", report_markdown } };

enum { PAGES = sizeof pages / sizeof pages[0] };

void report_add(struct report *r, const struct section *s, report_make *make,
                const void *about)
{
    assert(r->count < REPORT_SECTIONS_MAX);
    r->section[r->count] = *s;
    r->part[r->count].make = make;
    r->part[r->count++].about = about;
}

void report_clear(struct report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        json_decref(r->section[i].source);
        json_decref(r->section[i].origin);
        json_decref(r->section[i].inputs);
        json_decref(r->section[i].provenance);
        json_decref(r->section[i].rows);
        json_decref(r->section[i].failed);
        json_decref(r->section[i].says);
        json_decref(r->section[i].verdicts);
        json_decref(r->section[i].recorded);
        for (int p = 0; p < PLOTS; p++) free(r->section[i].picture[p].bytes);
    }
    for (int i = 0; i < FINDINGS; i++) free(r->small[i].bytes);
}

/* --- files ------------------------------------------------------------------------ */

/* *made: the folder did not exist before. */
static enum bitcut_status make_folder(bool *made, const char *path, struct fault *f)
{
    struct stat s;
    *made = mkdir(path, 0777) == 0;
    if (*made) return BITCUT_OK;
    if (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return BITCUT_OK;
    if (errno == EEXIST) errno = ENOTDIR;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", strerror(errno));
}

static int check_output(const char *read, const char *option, const char *path)
{
    const struct used_file files[] = { { option, read, false },
                                       { "-o", path, true },
                                       { 0 } };
    return check_distinct_files(files);
}

/* File number i of a report; false: there are fewer. */
static bool output_path(char path[PATH_LENGTH_MAX], const struct report *r, size_t i)
{
    static const char *const endings[] = { "csv", "json", "svg", "pdf" };
    enum { ENDINGS = sizeof endings / sizeof endings[0] };
    const size_t file = i - PAGES;
    if (i < PAGES) snprintf(path, PATH_LENGTH_MAX, "%s/%s", r->folder, pages[i].name);
    else if (file < ENDINGS * r->count)
        snprintf(path, PATH_LENGTH_MAX, "%s/%s.%s", r->folder,
                 r->section[file / ENDINGS].name, endings[file % ENDINGS]);
    else return false;
    return true;
}

int report_check_files(const struct report *r, const char *option, const char *read)
{
    char path[PATH_LENGTH_MAX];
    int status = EXIT_GOOD;
    for (size_t i = 0; status == EXIT_GOOD && output_path(path, r, i); i++)
        status = check_output(read, option, path);
    return status;
}

/* Check that the folder, which exists, and older files in it can be written. */
static int check_folder(const struct report *r)
{
    char path[PATH_LENGTH_MAX];
    struct fault f;
    if (output_check_folder(r->folder, &f) != BITCUT_OK) return fail(r->folder, &f);
    for (size_t i = 0; output_path(path, r, i); i++)
        if (!access(path, F_OK) && output_check(path, &f) != BITCUT_OK)
            return fail(path, &f);
    return EXIT_GOOD;
}

/* --- sections --------------------------------------------------------------------- */

/* Draw a section's rows in one form and write the picture.  There is no picture if the
   section has no figure, or gnuplot cannot draw it. */
static enum bitcut_status draw(struct section *s, const struct report *r,
                               enum plot_kind kind, struct fault *f)
{
    const struct progress *progress = &r->context->progress;
    struct picture *p = &s->picture[kind];
    char path[PATH_LENGTH_MAX];
    snprintf(path, sizeof path, "%s/%s.%s", r->folder, s->name, plot_forms[kind].ending);
    if (report_has_figure(s)) {
        const enum bitcut_status status =
            plot_draw(p, kind, s->plot, s->title, s->rows, progress, f);
        if (status != BITCUT_OK) return status;
        if (progress_stopped(progress))
            return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    }
    if (p->bytes) return picture_write(path, p, f);
    remove(path); /* of an earlier run: it would not belong to this one */
    return BITCUT_OK;
}

/* Draw the figures of findings from the rows of a section. */
static enum bitcut_status draw_small(struct report *r, const struct section *s,
                                     struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < FINDINGS && status == BITCUT_OK; i++) {
        struct section small = *s;
        small.plot = &report_findings[i].plot;
        if (!strcmp(report_findings[i].study, s->name) && report_has_figure(&small))
            status = plot_draw(&r->small[i], PLOT_SMALL, small.plot, "", s->rows,
                               &r->context->progress, f);
    }
    return status;
}

/* Write the data and figures of a section with rows. */
static enum bitcut_status write_section(struct section *s, struct report *r,
                                        struct fault *f)
{
    char path[PATH_LENGTH_MAX], data[SHA256_TEXT];
    enum bitcut_status status = BITCUT_OK;
    for (int kind = 0; kind < PLOTS && status == BITCUT_OK; kind++)
        status = draw(s, r, kind, f);
    if (status == BITCUT_OK) status = draw_small(r, s, f);
    snprintf(path, sizeof path, "%s/%s.csv", r->folder, s->name);
    if (status == BITCUT_OK) status = report_write_csv(path, s->rows, f);
    if (status == BITCUT_OK) status = sha256_of_file(data, path, f);
    if (status != BITCUT_OK) return status;
    s->provenance = provenance_of(s, data);
    snprintf(path, sizeof path, "%s/%s.json", r->folder, s->name);
    return report_write_json(path, s, f);
}

/* The figure of a section, or why it has none; a text that the caller releases. */
static json_t *figure_of(const struct section *s)
{
    if (s->failed) return json_sprintf("none: %s", json_string_value(s->failed));
    if (s->picture[PLOT_SVG].bytes) return json_string("svg");
    return json_string(report_has_figure(s) ? "no figure: gnuplot is missing or failed"
                                            : "table");
}

static void emit_section(struct context *x, const struct section *s, double seconds)
{
    emit_row(&x->emitter, json_pack("{s:s, s:I, s:o, s:f}", "study", s->name, "rows",
                                    (json_int_t)json_array_size(s->rows), "figure",
                                    figure_of(s), "seconds", seconds));
}

static enum bitcut_status write_pages(const struct report *r, const struct page *page,
                                      struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < PAGES && status == BITCUT_OK; i++) {
        char path[PATH_LENGTH_MAX];
        snprintf(path, sizeof path, "%s/%s", r->folder, pages[i].name);
        status = report_write(path, pages[i].form, page, f);
    }
    return status;
}

/* Whether an earlier section failed for the same reason, which was printed then. */
static bool failed_before(const struct report *r, size_t at)
{
    bool before = false;
    for (size_t i = 0; i < at; i++)
        before |= r->section[i].failed &&
                  json_equal(r->section[i].failed, r->section[at].failed);
    return before;
}

/* Make a section, or store why it failed.  The reason is printed unless the banner will
   have it.  If the report stops, prints why and returns its status. */
static int make_section(struct report *r, size_t at)
{
    struct section *const s = &r->section[at];
    struct fault why;
    struct fault *const before = message_keep(&why);
    const int status = r->part[at].make(s, r->part[at].about, r);
    message_keep(before);
    if (status <= EXIT_FOUND) return status;
    if (terminal_stopped()) return fail(NULL, &why);
    s->failed = json_text(why.text);
    return r->words->banner || failed_before(r, at) ? status : fail(s->name, &why);
}

/* A section that could not be written completely is not shown as finished, and ends the
   report. */
static int run_section(struct report *r, size_t at)
{
    struct section *s = &r->section[at];
    struct page page = *r->words;
    struct fault f;
    const double start = seconds_now();
    terminal_step(s->name, at, r->count);
    const int status = make_section(r, at);
    r->ended = status > EXIT_FOUND && !s->failed;
    if (r->ended) return status;
    if (!s->failed && write_section(s, r, &f) != BITCUT_OK) {
        json_decref(s->rows);
        s->rows = NULL;
        r->ended = true;
        return fail(s->name, &f);
    }
    page.sections = r->section;
    page.count = r->count;
    page.small = r->small;
    r->ended = write_pages(r, &page, &f) != BITCUT_OK;
    if (r->ended) return fail(r->folder, &f);
    emit_section(r->context, s, seconds_now() - start);
    return status;
}

/* The end of standard output: the verdict, or the verdicts on claims, and the page. */
static void emit_page(struct report *r)
{
    const struct page page = { .sections = r->section, .count = r->count };
    const json_t *const banner = r->words->banner;
    json_t *const all = report_verdicts(&page);
    json_t *const row = json_pack(
        "{s:O?, s:O?, s:O?, s:O?, s:o?, s:o}", "verdict",
        json_object_get(banner, "verdict"), "reason", json_object_get(banner, "reason"),
        "error", json_object_get(banner, "error"), "limit",
        json_object_get(banner, "limit"), "verdicts",
        json_array_size(all) ? report_all_counts(all) : NULL, "page",
        json_sprintf("%s/%s", r->folder, pages[0].name));
    json_decref(all);
    emit_ending(&r->context->emitter, row);
}

int report_run(struct report *r)
{
    struct fault f;
    bool made;
    int worst = EXIT_GOOD;
    if (make_folder(&made, r->folder, &f) != BITCUT_OK) {
        r->ended = true;
        return fail(r->folder, &f);
    }
    if (!made && (worst = check_folder(r)) != EXIT_GOOD) r->ended = true;
    for (size_t i = 0; i < r->count && !r->ended; i++) {
        const int status = run_section(r, i);
        if (status > worst) worst = status;
    }
    if (made) rmdir(r->folder); /* if it is empty */
    if (!r->ended) emit_page(r);
    return worst;
}
