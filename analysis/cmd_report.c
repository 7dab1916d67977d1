/* bitcut report: run every study and write the page. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/command.h"
#include "analysis/judge.h"
#include "analysis/plot.h"
#include "analysis/report.h"
#include "analysis/terminal.h"
#include "lib/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SECTIONS_MOST = 64, PATH_MOST = 4096 };

static const struct option_row options[] = { { 0 } };

static enum bitcut_status make_folder(const char *path, struct fault *f)
{
    struct stat s;
    if (mkdir(path, 0777) == 0) return BITCUT_OK;
    if (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return BITCUT_OK;
    if (errno == EEXIST) errno = ENOTDIR;
    return fault_set(f, BITCUT_CANNOT, "%s", strerror(errno));
}

static void collect(void *context, json_t *row) { json_array_append_new(context, row); }

static enum bitcut_status write_text(const char *path, const char *text, struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    fputs(text, o.file);
    return output_commit(&o, f);
}

/* Run one study and write its data and figure. */
static enum bitcut_status run_section(struct section *s, const struct context *x,
                                      const char *folder, struct fault *f)
{
    char path[PATH_MOST];
    json_t *rows = json_array();
    struct study_run run = { .seed = x->seed,
                             .threads = x->threads,
                             .progress = &x->progress,
                             .row = collect,
                             .context = rows };
    enum bitcut_status status = s->study->run(&run, f);
    snprintf(path, sizeof path, "%s/%s.csv", folder, s->study->name);
    if (status == BITCUT_OK) status = report_write_csv(path, rows, f);
    if (status != BITCUT_OK) {
        json_decref(rows);
        return status;
    }
    s->rows = rows;
    if (s->study->plot.y) s->svg = plot_svg(&s->study->plot, s->study->title, rows);
    snprintf(path, sizeof path, "%s/%s.svg", folder, s->study->name);
    if (!s->svg) {
        remove(path); /* of an earlier run: it would not be this one's figure */
        return BITCUT_OK;
    }
    return write_text(path, s->svg, f);
}

static void emit_section(struct context *x, const struct section *s, double seconds)
{
    emit_row(&x->emitter,
             json_pack("{s:s, s:I, s:s, s:f}", "study", s->study->name, "rows",
                       (json_int_t)json_array_size(s->rows), "figure",
                       s->svg             ? "svg"
                       : s->study->plot.y ? "none: gnuplot is missing or failed"
                                          : "table",
                       "seconds", seconds));
}

/* Every study in turn; the page is written anew after each, so that what is finished
 * stays. */
static int run_all(struct context *x, const char *folder, struct section *sections,
                   size_t count)
{
    char path[PATH_MOST];
    struct fault f;
    const struct page page = { x->command_line, x->seed, sections, count };
    snprintf(path, sizeof path, "%s/index.html", folder);
    for (size_t i = 0; i < count; i++) {
        const double start = seconds_now();
        terminal_label(sections[i].study->name);
        if (run_section(&sections[i], x, folder, &f) != BITCUT_OK)
            return fail(sections[i].study->name, &f);
        if (report_write_page(path, &page, &f) != BITCUT_OK) return fail(path, &f);
        emit_section(x, &sections[i], seconds_now() - start);
    }
    return EXIT_GOOD;
}

static int run(struct context *x)
{
    static struct section sections[SECTIONS_MOST];
    const char *folder = x->output ? x->output : "report";
    struct fault f;
    size_t count = 0;
    for (const struct study *s = studies; s->name; s++) sections[count++].study = s;
    if (make_folder(folder, &f) != BITCUT_OK) return fail(folder, &f);
    const int status = run_all(x, folder, sections, count);
    for (size_t i = 0; i < count; i++) {
        json_decref(sections[i].rows);
        free(sections[i].svg);
    }
    return status;
}

const struct command command_report = {
    .name = "report",
    .what = "Run every study and write one HTML page with figures, tables and data",
    .run = run,
    .own = options,
    .operands = "",
};
