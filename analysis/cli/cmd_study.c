/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut study: the rows of studies, complete or in parts, and the verdicts on the claims
   of papers. */
#include "analysis/cli/command.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/recorded_results.h"
#include "analysis/cli/shard_option.h"
#include "analysis/cli/study_log.h"
#include "analysis/cli/terminal.h"
#include "analysis/study/study.h"
#include "lib/base/clock.h"
#include "lib/io/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Seconds of work after which a file of results is written again. */
enum { SAVE_SECONDS = 10 };

struct study_options {
    const char *scale, *shard, *device;
    bool verdicts, resume, merge;
};

static const struct option_row options[] = {
    { "scale", "sizes: small (the default, seconds) or paper (n up to 16384, hours)",
      OPTION(study, scale, TEXT, "SCALE") },
    { "verdicts", "print the verdicts on the claims of papers instead of the rows",
      OPTION(study, verdicts, FLAG, NULL) },
    SHARD_OPTION(study, "points"),
    { "resume", "keep the points in the file of -o and compute the others",
      OPTION(study, resume, FLAG, NULL) },
    DEVICE_OPTION(study, "emulator"),
    { "merge", "compute nothing; merge the rows of these files, written by -o or --json",
      OPTION(study, merge, FLAG, NULL) },
    { 0 }
};

/* A study, or several, in progress. */
struct work {
    struct context *context;
    const struct study_options *options;
    struct study_log log;
    struct study_run run;
    struct results results;
    struct output_lock lock; /* of -o */
    struct shard shard;
    const struct study *study;   /* the study being computed */
    size_t done, wanted;         /* studies done, and all studies asked for */
    size_t resumed, computed, rows; /* points of this study; rows of both */
    double saved;                /* time at which the file was last written */
};

/* --- the input -------------------------------------------------------------------- */

static int check_options(const struct context *x)
{
    const struct study_options *const o = x->own;
    if (o->merge && !x->operand_count)
        return complain("--merge", "requires the files to merge");
    if (o->merge && (o->shard || o->resume || o->scale || o->device))
        return complain("--merge",
                        "cannot be combined with --scale, --shard, --resume or --device");
    if (o->resume && !x->output)
        return complain("--resume", "requires -o with the file to continue");
    if (!o->merge && !x->operand_count && !o->verdicts && !x->output)
        return complain(
            "study", "requires a name (see bitcut list studies), or --verdicts for all");
    if (!o->merge && x->operand_count > 1 && !o->verdicts && !x->output &&
        !x->emitter.json)
        return complain("study", "requires --verdicts, --json or -o for several studies");
    return EXIT_GOOD;
}

static int check_names(const struct context *x)
{
    for (int i = 0; i < x->operand_count; i++)
        if (!table_find(TABLE(studies), x->operands[i]))
            return fail_unknown("study", x->operands[i], TABLE(studies));
    return EXIT_GOOD;
}

static bool is_wanted(const struct context *x, const struct study *study)
{
    for (int i = 0; i < x->operand_count; i++)
        if (!strcmp(x->operands[i], study->name)) return true;
    return !x->operand_count;
}

/* --- computing -------------------------------------------------------------------- */

static void print_rows(struct work *w, const struct study *study, size_t at, json_t *rows)
{
    struct emitter *e = &w->context->emitter;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        emit_row(e, e->json
                        ? study_log_line(&w->log, study, at, json_array_size(rows), row)
                        : json_incref(row));
    }
}

static int save(struct work *w)
{
    struct fault f;
    const char *path = w->context->output;
    w->saved = seconds_now();
    if (!path || study_log_write(&w->log, path, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail(path, &f);
}

/* Called when a point was computed. */
static void take(void *context, size_t at, json_t *rows)
{
    struct work *w = context;
    study_log_of(&w->log, w->study)->rows[at] = rows;
    w->computed++;
    w->rows += json_array_size(rows);
    if (!w->context->output && !w->options->verdicts) print_rows(w, w->study, at, rows);
    if (seconds_now() - w->saved > SAVE_SECONDS) save(w);
}

/* Count the points that are available, and their rows. */
static void count_resumed(struct work *w)
{
    const struct study_points *p = study_log_of(&w->log, w->study);
    w->resumed = w->computed = w->rows = 0;
    for (size_t at = 0; at < p->count; at++) {
        w->resumed += p->rows[at] != NULL;
        w->rows += p->rows[at] ? json_array_size(p->rows[at]) : 0;
    }
}

/* The points to compute: those of the shard that are not available.  NULL: no memory. */
static bool *wanted_points(struct work *w, struct fault *f)
{
    const struct study_points *p = study_log_of(&w->log, w->study);
    bool *wanted = memory_allocate(p->count, sizeof *wanted);
    if (!wanted) fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (!wanted ||
        study_shard_points(wanted, w->study, w->run.scale, w->shard, f) != BITCUT_OK) {
        free(wanted);
        return NULL;
    }
    for (size_t at = 0; at < p->count; at++) wanted[at] &= !p->rows[at];
    return wanted;
}

static void print_summary(struct work *w)
{
    const struct study_points *p = study_log_of(&w->log, w->study);
    emit_row(&w->context->emitter,
             json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "study", w->study->name,
                       "points", json_count(p->count), "computed",
                       json_count(w->computed), "resumed", json_count(w->resumed), "rows",
                       json_count(w->rows), "file", json_text(w->context->output)));
}

static int compute(struct work *w, const struct study *study)
{
    struct fault f;
    w->study = study;
    count_resumed(w);
    bool *wanted = wanted_points(w, &f);
    if (!wanted) return fail(study->name, &f);
    terminal_step(study->name, w->done, w->wanted);
    const enum bitcut_status status = study_compute(study, &w->run, wanted, take, w, &f);
    free(wanted);
    if (w->context->output && !w->options->verdicts) print_summary(w);
    const int saved = save(w);
    return status == BITCUT_OK ? saved : fail(study->name, &f);
}

/* --- verdicts --------------------------------------------------------------------- */

static const struct emit_column verdict_columns[] = { { "name", "claim", 0, NULL },
                                                      { "verdict", "verdict", 0, NULL },
                                                      { "printed", "printed", 5, NULL },
                                                      { "ours", "ours", 4, NULL },
                                                      { "paper", "paper", 0, NULL },
                                                      { "reason", "reason", 0, NULL },
                                                      { NULL, NULL, 0, NULL } };

static void print_verdicts(struct work *w, const struct study *study)
{
    struct study_points *p = study_log_of(&w->log, study);
    size_t missing;
    json_t *rows = study_log_rows(&missing, p);
    for (const struct claim *c = study->claims; c->name; c++)
        emit_row(&w->context->emitter,
                 claim_verdict(study->name, c, rows, missing, p->count));
    json_decref(rows);
}

/* --- running ---------------------------------------------------------------------- */

/* Read the recorded data that a requested study uses. */
static int read_sources(struct work *w)
{
    unsigned reads = 0;
    for (int i = 0; studies[i]; i++)
        if (is_wanted(w->context, studies[i])) reads |= studies[i]->reads;
    return recorded_sources(&w->run.sources, &w->results, reads);
}

/* Read the points in the file of --resume.  Only a file that does not exist has none. */
static int read_resumed(struct work *w)
{
    struct stat about;
    const char *const path = w->context->output;
    if (!w->options->resume || (stat(path, &about) && errno == ENOENT)) return EXIT_GOOD;
    return study_log_read(&w->log, NULL, path);
}

static int run_studies(struct work *w)
{
    struct fault f;
    struct context *x = w->context;
    int status = check_names(x);
    if (status == EXIT_GOOD) status = read_sources(w);
    if (status != EXIT_GOOD) return status;
    if (study_log_begin(&w->log, w->run.scale, w->run.seed, bitcut_version(), &f) !=
        BITCUT_OK)
        return fail("study", &f);
    status = read_resumed(w);
    for (int i = 0; studies[i]; i++) w->wanted += is_wanted(x, studies[i]);
    for (int i = 0; studies[i] && status == EXIT_GOOD; i++) {
        if (!is_wanted(x, studies[i])) continue;
        status = compute(w, studies[i]);
        w->done++;
        if (status == EXIT_GOOD && w->options->verdicts) print_verdicts(w, studies[i]);
    }
    return status;
}

/* Print what the files have of a study: verdicts, rows, or, with -o, their number. */
static void print_merged(struct work *w)
{
    const struct study_points *p = study_log_of(&w->log, w->study);
    if (w->options->verdicts) print_verdicts(w, w->study);
    else if (w->context->output) print_summary(w);
    else
        for (size_t at = 0; at < p->count; at++)
            if (p->rows[at]) print_rows(w, w->study, at, p->rows[at]);
}

/* Read the points of several files, in order. */
static int merge_files(struct work *w)
{
    const struct context *x = w->context;
    int status = EXIT_GOOD;
    for (int i = 0; i < x->operand_count && status == EXIT_GOOD; i++)
        status = study_log_read(&w->log, NULL, x->operands[i]);
    if (status == EXIT_GOOD && !w->log.begun)
        return complain("--merge", "found no rows in the files");
    for (int i = 0; studies[i] && status == EXIT_GOOD; i++) {
        w->study = studies[i];
        count_resumed(w);
        if (w->resumed) print_merged(w);
    }
    return status == EXIT_GOOD ? save(w) : status;
}

/* Lock the file, which must be writable: two runs that write the same file would each
   lose the other's points. */
static int lock_output(struct work *w)
{
    struct fault f;
    const char *const path = w->context->output;
    if (!path || (output_check(path, &f) == BITCUT_OK &&
                  output_lock(&w->lock, path, &f) == BITCUT_OK))
        return EXIT_GOOD;
    return fail(path, &f);
}

static int run(struct context *x)
{
    static struct work w;
    static struct emulating_device device;
    const struct study_options *const o = x->own;
    w.context = x;
    w.options = o;
    w.saved = seconds_now();
    w.lock.descriptor = -1;
    w.run = (struct study_run){ .seed = x->seed,
                                .threads = x->threads,
                                .progress = &x->progress };
    if (o->verdicts) x->emitter.columns = verdict_columns;
    int status = check_options(x);
    if (status == EXIT_GOOD) status = lock_output(&w);
    if (status == EXIT_GOOD) status = shard_read(&w.shard, o->shard);
    if (status == EXIT_GOOD) status = study_scale_read(&w.run.scale, o->scale);
    if (status == EXIT_GOOD)
        status = emulating_device_open(&device, x, o->device, "study");
    w.run.offload = x->offload;
    if (status == EXIT_GOOD) status = o->merge ? merge_files(&w) : run_studies(&w);
    emulating_device_close(&device, x);
    output_unlock(&w.lock);
    study_log_clear(&w.log);
    json_decref(w.run.sources.libraries);
    results_clear(&w.results);
    return status;
}

const struct command command_study = {
    .name = "study",
    .what = "Compute studies (bitcut list studies) and check the claims of papers",
    .run = run,
    .own = options,
    .own_size = sizeof(struct study_options),
    .operands = "[NAME...]",
    .operand_table = "studies",
    .operands_most = OPERANDS_MAX,
    .output = "write the rows to this file, as JSON Lines",
    .task = TASK_ROUNDING,
    .first = true,
    .examples = {
        { "Compute a table of a paper",
          "bitcut study table1" },
        { "Compare a paper's claims with computed numbers",
          "bitcut study figure9 --verdicts" },
    },
};
