/* bitcut report: run every study, draw recorded results, and write the page. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/device/race_plan.h"
#include "analysis/cli/command.h"
#include "analysis/cli/data_files.h"
#include "analysis/study/results_derive.h"
#include "analysis/study/figure.h"
#include "analysis/error/judge.h"
#include "analysis/cli/kept_results.h"
#include "analysis/study/plot.h"
#include "analysis/study/report.h"
#include "analysis/cli/terminal.h"
#include "lib/clock.h"
#include "lib/file/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SECTIONS_MOST = 64, PATH_MOST = DATA_PATH_MOST + DATA_NAME_MOST + 8 };

static struct option_texts given;
static bool no_studies, no_results;

static const struct option_row options[] = {
    { "results",
      "draw what bench gpu or verify --kernel printed with --json, instead of "
      "the results kept with bitcut; may be repeated",
      OPTION_TEXTS, &given, "FILE" },
    { "no-studies", "run no study: recorded results alone", OPTION_FLAG, &no_studies,
      NULL },
    { "no-results", "draw no results: studies alone", OPTION_FLAG, &no_results, NULL },
    { 0 }
};

/* A section to be, and what makes its rows. */
struct part {
    const struct study *study;   /* NULL: of a figure */
    const struct figure *figure; /* NULL: of a study  */
};

struct report {
    struct context *context;
    const char *folder;
    struct results results;
    struct study_sources sources; /* what studies read */
    struct section section[SECTIONS_MOST];
    struct part part[SECTIONS_MOST];
    size_t count;
};

/* --- files ------------------------------------------------------------------------ */

static enum bitcut_status make_folder(const char *path, struct fault *f)
{
    struct stat s;
    if (mkdir(path, 0777) == 0) return BITCUT_OK;
    if (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return BITCUT_OK;
    if (errno == EEXIST) errno = ENOTDIR;
    return fault_set(f, BITCUT_CANNOT, "%s", strerror(errno));
}

static enum bitcut_status write_text(const char *path, const char *text, struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    fputs(text, o.file);
    return output_commit(&o, f);
}

/* --- sections --------------------------------------------------------------------- */

static enum bitcut_status make_rows(json_t **rows, const struct part *part,
                                    const struct report *r, struct fault *f)
{
    const struct study_run run = { .scale = STUDY_SMALL,
                                   .seed = r->context->seed,
                                   .threads = r->context->threads,
                                   .progress = &r->context->progress,
                                   .sources = r->sources };
    if (part->study) return study_rows(rows, part->study, &run, f);
    *rows = figure_rows(part->figure, &r->results);
    return BITCUT_OK;
}

/* The figure of a section's rows; NULL: it has none, or gnuplot cannot draw it. */
static enum bitcut_status draw(char **svg, const struct section *s, json_t *rows,
                               const struct progress *progress, struct fault *f)
{
    *svg = NULL;
    if (!s->plot->y) return BITCUT_OK;
    const enum bitcut_status status = plot_svg(svg, s->plot, s->title, rows, progress, f);
    if (status != BITCUT_OK || *svg || !progress_stopped(progress)) return status;
    return fault_set(f, BITCUT_CANNOT, "stopped");
}

/* What the rows of a study say of its claims; NULL: it has none. */
static json_t *verdicts_of(const struct study *study, json_t *rows)
{
    if (!study || !study->claims) return NULL;
    json_t *all = json_array();
    for (const struct claim *c = study->claims; c->name; c++)
        json_array_append_new(all, claim_verdict(study->name, c, rows, 0, 0));
    return all;
}

/* Make the rows of one section and write its data and figure. */
static enum bitcut_status run_section(struct section *s, const struct part *part,
                                      const struct report *r, struct fault *f)
{
    char path[PATH_MOST];
    json_t *rows;
    enum bitcut_status status = make_rows(&rows, part, r, f);
    snprintf(path, sizeof path, "%s/%s.csv", r->folder, s->name);
    if (status == BITCUT_OK) status = draw(&s->svg, s, rows, &r->context->progress, f);
    if (status == BITCUT_OK) status = report_write_csv(path, rows, f);
    if (status != BITCUT_OK) {
        json_decref(rows);
        return status;
    }
    s->rows = rows;
    s->verdicts = verdicts_of(part->study, rows);
    snprintf(path, sizeof path, "%s/%s.svg", r->folder, s->name);
    if (!s->svg) {
        remove(path); /* of an earlier run: it would not be this one's figure */
        return BITCUT_OK;
    }
    return write_text(path, s->svg, f);
}

static void emit_section(struct context *x, const struct section *s, double seconds)
{
    emit_row(&x->emitter, json_pack("{s:s, s:I, s:s, s:f}", "study", s->name, "rows",
                                    (json_int_t)json_array_size(s->rows), "figure",
                                    s->svg       ? "svg"
                                    : s->plot->y ? "none: gnuplot is missing or failed"
                                                 : "table",
                                    "seconds", seconds));
}

/* The report as a whole, in each of its forms. */
static const struct {
    const char *name;
    report_form *form;
} pages[] = { { "index.html", report_html }, { "report.md", report_markdown } };

enum { PAGES = sizeof pages / sizeof pages[0] };

static enum bitcut_status write_pages(const struct report *r, const struct page *page,
                                      struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; i < PAGES && status == BITCUT_OK; i++) {
        char path[PATH_MOST];
        snprintf(path, sizeof path, "%s/%s", r->folder, pages[i].name);
        status = report_write(path, pages[i].form, page, f);
    }
    return status;
}

/* Every section in turn; the page is written anew after each, so that what is finished
 * stays. */
static int run_all(struct report *r)
{
    struct fault f;
    const struct page page = { r->context->command_line, r->section, r->count };
    for (size_t i = 0; i < r->count; i++) {
        struct section *s = &r->section[i];
        const double start = seconds_now();
        terminal_label(s->name);
        if (run_section(s, &r->part[i], r, &f) != BITCUT_OK) return fail(s->name, &f);
        if (write_pages(r, &page, &f) != BITCUT_OK) return fail(r->folder, &f);
        emit_section(r->context, s, seconds_now() - start);
    }
    return EXIT_GOOD;
}

/* --- what there is to report ------------------------------------------------------ */

static void add_studies(struct report *r)
{
    for (const struct study *s = NULL; (s = table_next(TABLE(studies), s));) {
        json_t *source = json_sprintf("bitcut study %s --seed %llu", s->name,
                                      (unsigned long long)r->context->seed);
        r->section[r->count] = (struct section){ .name = s->name,
                                                 .what = s->what,
                                                 .title = s->title,
                                                 .text = s->text,
                                                 .chapter = s->chapter,
                                                 .source = source,
                                                 .plot = &s->plot };
        r->part[r->count++].study = s;
    }
}

/* Those for which there are results. */
static void add_figures(struct report *r)
{
    for (const struct figure *g = figures; g->name; g++) {
        json_t *rows = figure_rows(g, &r->results);
        const size_t count = json_array_size(rows);
        json_decref(rows);
        if (!count) continue;
        r->section[r->count] = (struct section){ .name = g->name,
                                                 .what = g->what,
                                                 .title = g->title,
                                                 .text = g->text,
                                                 .chapter = g->chapter,
                                                 .source = json_string(g->command),
                                                 .origin = figure_origin(g, &r->results),
                                                 .plot = &g->plot };
        r->part[r->count++].figure = g;
    }
}

/* The files of the command line, or the kept ones. */
static int read_results(struct report *r)
{
    int status = EXIT_GOOD;
    struct results none = { { NULL } };
    status = kept_sources(&r->sources, &none, READS_LIBRARIES | READS_GPUS);
    if (no_results || status != EXIT_GOOD) return status;
    r->sources.results = &r->results;
    for (int i = 0; i < given.count && status == EXIT_GOOD; i++)
        status = kept_read_file(&r->results, given.text[i]);
    if (!given.count) status = kept_read_results(&r->results);
    if (status == EXIT_GOOD) results_derive(&r->results, shape_set_of);
    return status;
}

/* What the report writes may not replace results that were given. */
static int check_output(const char *path)
{
    for (int i = 0; i < given.count; i++) {
        const struct used_file files[] = { { "--results", given.text[i], false },
                                           { "-o", path, true },
                                           { 0 } };
        const int status = check_files(files);
        if (status != EXIT_GOOD) return status;
    }
    return EXIT_GOOD;
}

static int check_outputs(const struct report *r)
{
    static const char *const endings[] = { "csv", "svg" };
    char path[PATH_MOST];
    int status = EXIT_GOOD;
    for (int i = 0; i < PAGES && status == EXIT_GOOD; i++) {
        snprintf(path, sizeof path, "%s/%s", r->folder, pages[i].name);
        status = check_output(path);
    }
    for (size_t i = 0; i < 2 * r->count && status == EXIT_GOOD; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", r->folder, r->section[i / 2].name,
                 endings[i % 2]);
        status = check_output(path);
    }
    return status;
}

static int make(struct report *r)
{
    struct fault f;
    if (no_results && given.count) return complain("--no-results", "not with --results");
    if (no_results && no_studies)
        return complain("--no-results", "not with --no-studies");
    int status = read_results(r);
    if (status != EXIT_GOOD) return status;
    if (!no_studies) add_studies(r);
    add_figures(r);
    if (!r->count) return complain("--no-studies", "no figure draws these results");
    status = check_outputs(r);
    if (status != EXIT_GOOD) return status;
    if (make_folder(r->folder, &f) != BITCUT_OK) return fail(r->folder, &f);
    return run_all(r);
}

static int run(struct context *x)
{
    static struct report r;
    r.context = x;
    r.folder = x->output ? x->output : "report";
    const int status = make(&r);
    for (size_t i = 0; i < r.count; i++) {
        json_decref(r.section[i].source);
        json_decref(r.section[i].origin);
        json_decref(r.section[i].rows);
        json_decref(r.section[i].verdicts);
        free(r.section[i].svg);
    }
    json_decref(r.sources.libraries);
    results_clear(&r.results);
    return status;
}

const struct command command_report = {
    .name = "report",
    .what =
        "Run every study, draw recorded results, and write one HTML page with figures, "
        "tables and data",
    .run = run,
    .own = options,
    .operands = "",
    .output = "folder to write",
};
