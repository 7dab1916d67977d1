/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut report: all studies and recorded results as a page, or one product or
   attention. */
#include "analysis/bench/benchmark_plan.h"
#include "analysis/cli/attention_report.h"
#include "analysis/cli/audit_report.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/gemm_report.h"
#include "analysis/cli/recorded_results.h"
#include "analysis/cli/report_run.h"
#include "analysis/cli/report_study.h"
#include "analysis/report/figure.h"
#include "analysis/study/results_derive.h"
#include "lib/io/decimal.h"
#include "lib/number/bits.h"

struct report_options {
    struct gemm_report_options one; /* must be first: its rows have its offsets */
    struct attention_setup_options attention;
    struct option_texts results;
    const char *audit, *scale, *device;
    bool no_studies, no_results;
};

static const struct report_options defaults = {
    .one = { .setup = SETUP_BATCH_DEFAULTS, .fp64 = FP64_DEFAULTS },
    .attention = { ATTENTION_SETUP_DEFAULTS }
};

static const struct option_row options[] = {
    { "a", "report on one product A B: A, a file as for gemm",
      OPTION(gemm_report, setup.a, TEXT, "FILE") },
    { "b", "B", OPTION(gemm_report, setup.b, TEXT, "FILE") },
    { "c", "C; one row or column stands for all (default: no C)",
      OPTION(gemm_report, setup.c, TEXT, "FILE") },
    { "d", "the result D of that product, to be explained and checked",
      OPTION(gemm_report, d, TEXT, "FILE") },
    { "format", "format of A and B, or of Q, K and V, in files (bitcut list formats)",
      OPTION(gemm_report, setup.files.format, TEXT, "F") },
    MATRIX_OPTIONS_AB(gemm_report, setup.files),
    MATRIX_OPTIONS_C(gemm_report, setup.files),
    MATRIX_OPTIONS_D(gemm_report, setup.files),
    { "alpha", "factor of A B (default 1)",
      OPTION(gemm_report, setup.alpha, NUMBER, "X") },
    { "beta", "factor of C (default 0, or 1 with -c)",
      OPTION(gemm_report, setup.beta, NUMBER, "X") },
    EPILOGUE_OPTIONS(gemm_report),
    ZERO_OPTIONS(gemm_report),
    MATRIX_OPTIONS_SPARSE(gemm_report, setup.files),
    MATRIX_OPTION_INDEX(gemm_report, setup.files),
    { "recipe",
      "intended recipe (bitcut list recipes; default: the recipe found for -d, or the "
      "recommended one)",
      OPTION(gemm_report, setup.recipe, TEXT, "R") },
    { "unit", "with --recipe: unit or chip (bitcut list units, chips)",
      OPTION(gemm_report, setup.unit, TEXT, "U") },
    { "scheme", "intended scheme of an FP64 D (bitcut list schemes; default: DGEMM)",
      OPTION(gemm_report, fp64.scheme, TEXT, "S") },
    { "parts", "with --scheme: slices or moduli of each element",
      OPTION(gemm_report, fp64.parts, INT, "N") },
    { "split-k", "with --scheme: slices of k, each with scales of its own",
      OPTION(gemm_report, setup.slices, INT, "N") },
    { "want", "required relative error (default 1e-6)",
      OPTION(gemm_report, want, TEXT, "X") },
    { "seconds", "time limit for explaining -d or --verify (default 0: none)",
      OPTION(gemm_report, seconds, TEXT, "S") },
    ATTENTION_OPTIONS_FILES(report, attention),
    { "verify", "the result O of that attention, to be explained and checked",
      OPTION(report, attention.path[O], TEXT, "FILE") },
    ATTENTION_OPTIONS_ROW(report, attention),
    ATTENTION_OPTION_FORMAT_O(report, attention),
    ATTENTION_OPTIONS_MASK(report, attention),
    ATTENTION_OPTION_ANY_TILES(report, attention),
    { "audit", "report on a program: the file written by bitcut run --audit -o FILE",
      OPTION(report, audit, TEXT, "FILE") },
    { "results",
      "draw these JSON results of bench gpu or verify --kernel instead of the recorded "
      "ones; may be repeated",
      OPTION(report, results, TEXTS, "FILE") },
    { "scale",
      "sizes of studies: small (the default, a minute) or paper (recorded rows of seed "
      "1; missing points and other seeds are computed, which takes hours); of an "
      "attention: the factor of the scores (default 1 / sqrt(head dimension))",
      OPTION(report, scale, TEXT, "SCALE") },
    DEVICE_OPTION(report, "emulator"),
    { "no-studies", "run no study; use recorded results only",
      OPTION(report, no_studies, FLAG, NULL) },
    { "no-results", "draw no results; run studies only",
      OPTION(report, no_results, FLAG, NULL) },
    { 0 }
};

/* The subject of a report. */
enum { ON_STUDIES = 1, ON_GEMM = 2, ON_PROGRAM = 4, ON_ATTENTION = 8 };

#define NEEDS_GEMM    "requires a report on one product, with -a and -b"
#define NEEDS_STUDIES                                                                    \
    "cannot be combined with a report on one product, attention or program"
#define NEEDS_ATTENTION "requires a report on one attention, with -q, -k and -v"

static const struct option_use uses[] = {
    /* clang-format off */
    { "a",          ON_GEMM,    "cannot be combined with a report on an attention or program" },
    { "b",          ON_GEMM,    "cannot be combined with a report on an attention or program" },
    { "q",          ON_ATTENTION, "cannot be combined with a report on a program" },
    { "k",          ON_ATTENTION, "cannot be combined with a report on a program" },
    { "v",          ON_ATTENTION, "cannot be combined with a report on a program" },
    { "verify",     ON_ATTENTION, NEEDS_ATTENTION },
    { "row",        ON_ATTENTION, NEEDS_ATTENTION },
    { "vary",       ON_ATTENTION, NEEDS_ATTENTION },
    { "format-o",   ON_ATTENTION, NEEDS_ATTENTION },
    { "causal",     ON_ATTENTION, NEEDS_ATTENTION },
    { "window-left", ON_ATTENTION, NEEDS_ATTENTION },
    { "window-right", ON_ATTENTION, NEEDS_ATTENTION },
    { "any-tiles",  ON_ATTENTION, NEEDS_ATTENTION },
    { "c",          ON_GEMM,    NEEDS_GEMM    },
    { "d",          ON_GEMM,    NEEDS_GEMM    },
    { "format",     ON_GEMM | ON_ATTENTION, "requires a report on one product or attention" },
    { "format-a",   ON_GEMM,    NEEDS_GEMM    },
    { "format-b",   ON_GEMM,    NEEDS_GEMM    },
    { "format-c",   ON_GEMM,    NEEDS_GEMM    },
    { "format-d",   ON_GEMM,    NEEDS_GEMM    },
    { "shape-a",    ON_GEMM,    NEEDS_GEMM    },
    { "shape-b",    ON_GEMM,    NEEDS_GEMM    },
    { "shape-c",    ON_GEMM,    NEEDS_GEMM    },
    { "shape-d",    ON_GEMM,    NEEDS_GEMM    },
    { "alpha",      ON_GEMM,    NEEDS_GEMM    },
    { "beta",       ON_GEMM,    NEEDS_GEMM    },
    EPILOGUE_USES(ON_GEMM,      NEEDS_GEMM),
    { "zero-a",     ON_GEMM,    NEEDS_GEMM    },
    { "zero-b",     ON_GEMM,    NEEDS_GEMM    },
    { "zero-d",     ON_GEMM,    NEEDS_GEMM    },
    { "sparse-a",    ON_GEMM,   NEEDS_GEMM    },
    { "positions-a", ON_GEMM,   NEEDS_GEMM    },
    { "index",      ON_GEMM,    NEEDS_GEMM    },
    { "recipe",     ON_GEMM,    NEEDS_GEMM    },
    { "unit",       ON_GEMM,    NEEDS_GEMM    },
    { "scheme",     ON_GEMM,    NEEDS_GEMM    },
    { "parts",      ON_GEMM,    NEEDS_GEMM    },
    { "split-k",    ON_GEMM,    NEEDS_GEMM    },
    { "want",       ON_GEMM,    NEEDS_GEMM    },
    { "seconds",    ON_GEMM | ON_ATTENTION, "requires a report on one product or attention" },
    { "results",    ON_STUDIES, NEEDS_STUDIES },
    { "scale",      ON_STUDIES | ON_ATTENTION, "cannot be combined with a report on one product or program" },
    { "device",     ON_STUDIES, NEEDS_STUDIES },
    { "no-studies", ON_STUDIES, NEEDS_STUDIES },
    { "no-results", ON_STUDIES, NEEDS_STUDIES },
    { 0 }
    /* clang-format on */
};

/* A report, and the sources of its sections. */
struct work {
    struct report report;
    const struct report_options *options;
    struct results results;
    struct study_run run; /* for studies */
    struct recorded_studies recorded;
    json_t *results_files, *library_files; /* their names and digests */
};

/* --- sections --------------------------------------------------------------------- */

static int make_study(struct section *s, const void *about, struct report *r)
{
    struct work *w = (struct work *)r;
    return report_study(s, about, &w->run, &w->recorded);
}

static int make_figure(struct section *s, const void *about, struct report *r)
{
    const struct work *w = (const struct work *)r;
    s->rows = figure_rows(about, &w->results);
    return EXIT_GOOD;
}

/* --- the sections ----------------------------------------------------------------- */

/* The files that a study reads; NULL: none. */
static json_t *files_of(const struct work *w, unsigned reads)
{
    if (reads & READS_RESULTS) return json_incref(w->results_files);
    return reads & READS_LIBRARIES ? json_incref(w->library_files) : NULL;
}

static void add_studies(struct work *w)
{
    for (const struct study *s = NULL; (s = table_next(TABLE(studies), s));) {
        const bool small = w->run.scale == STUDY_SMALL; /* as without --scale */
        const char *scale = study_scales[w->run.scale].name;
        json_t *source = json_sprintf("bitcut study %s%s%s --seed %llu", s->name,
                                      small ? "" : " --scale ", small ? "" : scale,
                                      (unsigned long long)w->run.seed);
        const struct section section = { .name = s->name,
                                         .what = s->what,
                                         .title = s->title,
                                         .text = s->text,
                                         .chapter = s->chapter,
                                         .source = source,
                                         .inputs = files_of(w, s->reads),
                                         .scale = scale,
                                         .plot = &s->plot };
        report_add(&w->report, &section, make_study, s);
    }
}

/* The figures for which there are results. */
static void add_figures(struct work *w)
{
    for (const struct figure *g = figures; g->name; g++) {
        json_t *rows = figure_rows(g, &w->results);
        const size_t count = json_array_size(rows);
        json_decref(rows);
        if (!count) continue;
        const struct section section = { .name = g->name,
                                         .what = g->what,
                                         .title = g->title,
                                         .text = g->text,
                                         .chapter = g->chapter,
                                         .source = json_string(g->command),
                                         .origin = figure_origin(g, &w->results),
                                         .inputs = json_incref(w->results_files),
                                         .plot = &g->plot };
        report_add(&w->report, &section, make_figure, g);
    }
}

/* The files of the command line, or those that come with bitcut. */
static int read_results(struct work *w)
{
    const struct option_texts *const given = &w->options->results;
    struct results none = { { NULL } };
    int status = recorded_sources(&w->run.sources, &none, READS_LIBRARIES | READS_GPUS);
    if (status == EXIT_GOOD) status = recorded_digests(w->library_files, "libraries");
    if (w->options->no_results || status != EXIT_GOOD) return status;
    w->run.sources.results = &w->results;
    for (int i = 0; i < given->count && status == EXIT_GOOD; i++)
        status = recorded_read_file(&w->results, given->text[i]);
    if (!given->count) status = recorded_read_results(&w->results);
    for (int i = 0; i < given->count && status == EXIT_GOOD; i++)
        status = recorded_digest_file(w->results_files, given->text[i]);
    if (!given->count && status == EXIT_GOOD)
        status = recorded_digests(w->results_files, "results");
    if (status == EXIT_GOOD) results_derive(&w->results, shape_set_of);
    return status;
}

/* The rows that come with bitcut, unless the report's rows have the same size and another
   seed. */
static int read_recorded(struct work *w)
{
    if (w->options->no_studies ||
        (w->run.scale == STUDY_PAPER && !report_study_is_recorded(&w->run)))
        return EXIT_GOOD;
    return recorded_studies_read(&w->recorded);
}

static int check_options(struct work *w)
{
    const struct report_options *const o = w->options;
    if (o->no_results && o->results.count)
        return complain("--no-results", "cannot be combined with --results");
    if (o->no_results && o->no_studies)
        return complain("--no-results", "cannot be combined with --no-studies");
    if (o->no_studies && (o->scale || o->device))
        return complain("--no-studies", "cannot be combined with --scale or --device");
    return study_scale_read(&w->run.scale, o->scale);
}

static int make(struct work *w)
{
    const struct option_texts *const given = &w->options->results;
    int status = read_results(w);
    if (status == EXIT_GOOD) status = read_recorded(w);
    if (status != EXIT_GOOD) return status;
    if (!w->options->no_studies) add_studies(w);
    add_figures(w);
    if (!w->report.count)
        return complain("--no-studies",
                        "leaves nothing to draw: no figure uses these results");
    for (int i = 0; i < given->count && status == EXIT_GOOD; i++)
        status = report_check_files(&w->report, "--results", given->text[i]);
    return status == EXIT_GOOD ? report_run(&w->report) : status;
}

static int report_studies(struct context *x, const char *folder)
{
    static struct work w;
    static struct emulating_device device;
    const struct page words = {
        .title = "bitcut report",
        .chapters = study_chapters,
        .command = x->command_line,
        .about = "Numbers are computed by bit-exact models of the matrix units, except "
                 "where a section says that they were recorded on a device. Tables round "
                 "them to six digits; the data files hold all digits.",
    };
    w.options = x->own;
    w.report.context = x;
    w.report.folder = folder;
    w.report.words = &words;
    w.results_files = json_array();
    w.library_files = json_array();
    w.run = (struct study_run){ .seed = x->seed,
                                .threads = x->threads,
                                .progress = &x->progress };
    int status = check_options(&w);
    if (status == EXIT_GOOD)
        status = emulating_device_open(&device, x, w.options->device, "report");
    w.run.offload = x->offload;
    if (status == EXIT_GOOD) status = make(&w);
    emulating_device_close(&device, x);
    report_clear(&w.report);
    json_decref(w.results_files);
    json_decref(w.library_files);
    json_decref(w.run.sources.libraries);
    recorded_studies_clear(&w.recorded);
    results_clear(&w.results);
    return status;
}

/* An attention: the options that it shares with other reports are texts. */
static int report_attention(struct context *x, const char *folder)
{
    const struct report_options *const o = x->own;
    struct attention_setup_options own = o->attention;
    uint32_t seconds = 0;
    own.format = o->one.setup.files.format;
    if (o->scale && !decimal_read(&own.scale, o->scale))
        return complain("--scale", "must be a number for an attention");
    if (o->one.seconds &&
        (!decimal_read(&seconds, o->one.seconds) || !(value_of_float(seconds) >= 0)))
        return complain("--seconds", "must be a number, at least 0");
    return attention_report(x, &own, value_of_float(seconds), folder);
}

/* What the options ask for: the first of these that is given. */
static unsigned subject(const struct report_options *o)
{
    const char *const *const path = o->attention.path;
    return o->audit                           ? ON_PROGRAM
           : path[Q] || path[K] || path[V]    ? ON_ATTENTION
           : o->one.setup.a || o->one.setup.b ? ON_GEMM
                                              : ON_STUDIES;
}

static int run(struct context *x)
{
    const struct report_options *const o = x->own;
    const char *const folder = x->output ? x->output : "report";
    const unsigned on = subject(o);
    const int status = check_use(x, uses, on);
    if (status != EXIT_GOOD) return status;
    if (fp64_check(&o->one.fp64) != EXIT_GOOD) return EXIT_USAGE;
    switch (on) {
    case ON_PROGRAM: return audit_report(x, o->audit, folder);
    case ON_ATTENTION: return report_attention(x, folder);
    case ON_GEMM: return gemm_report(x, &o->one, folder);
    default: return report_studies(x, folder);
    }
}

const struct command command_report = {
    .name = "report",
    .what = "Write an HTML report with figures, tables and data: on all studies and "
            "recorded results, or on one product, attention or program",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "",
    .output = "folder to write",
    .task = TASK_REPORT,
    .first = true,
    .examples = {
        { "Write a report on a result",
          "bitcut report -a a.npy -b b.npy -d d.npy -o report" },
        { "Write a report on an O of attention",
          "bitcut report -q Q.npy -k K.npy -v V.npy --causal --verify O.npy -o report" },
        { "Draw the results that were recorded on GPUs",
          "bitcut report --no-studies -o results" },
    },
};
