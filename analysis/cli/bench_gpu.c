/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/bench_gpu.h"

#include "analysis/bench/benchmark.h"
#include "analysis/cli/bench_temperature.h"
#include "analysis/cli/device_option.h"
#include "analysis/cli/terminal.h"
#include "lib/input/input.h"

#include <stdio.h>
#include <string.h>

enum { WORKLOADS_MAX = 512, N_MAX = 10000000, TILE_MAX = 4096 };

static const struct option_counts typical_sizes = { 5,
                                                    { 1024, 2048, 4096, 8192, 16384 } },
                                  typical_on_host = { 4, { 512, 1024, 2048, 4096 } };

struct bench {
    struct context *context;
    const struct bench_options *options;
    struct recorder recorder;
    struct workload workload[WORKLOADS_MAX];
    struct benchmark benchmark;
    char label[96];
    struct bench_heat hot;
};

static bool is_small(const struct bench *b)
{
    return b->benchmark.study->matrices != FORMAT_F32;
}

/* --- columns of the text output; --json has all keys ------------------------------ */

static const struct emit_column columns[] = {
    /* clang-format off */
    { "name",            "name",      0, NULL },
    { "part",            "part",      0, NULL },
    { "m",               "m",         0, NULL },
    { "n",               "n",         0, NULL },
    { "k",               "k",         0, NULL },
    { "count",           "count",     0, "1" },
    { "split_k",         "slices",    0, "1" },
    { "ms",              "ms",        4, NULL },
    { "spread",          "% spread",  2, "-" },
    { "tflops",          "tflops",    4, NULL },
    { "ratio_sgemm",     "x sgemm",   3, "-" },
    { "third",           "% third",   3, "-" },
    { "terms",           "terms",     0, "-" },
    { "of_peak",         "of peak",   3, "-" },
    { "peak_products_per_second", "peak/s", 3, "-" },
    { "tflops_sustained", "sustained", 4, "-" },
    { "third_sustained", "% third s.", 3, "-" },
    { "mhz_sustained",   "MHz",       0, "-" },
    { "watts",           "W",         3, "-" },
    { "limit",           "limit",     0, "-" },
    { "us_start",        "us start",  3, "-" },
    { "us_choose",       "choose",    3, "-" },
    { "us_launch",       "launch",    3, "-" },
    { "relres",          "relres",    3, NULL },
    { "gflops_per_watt", "GFlop/s/W", 3, "-" },
    { "compared",        "compared",  0, NULL },
    { "rank",            "rank",      0, "-" },
    { "of_best",         "of best",   3, "-" },
    { "fallback",        "fallback",  0, "-" },
    { "fault",           "fault",     0, "-" },
    { 0 }
    /* clang-format on */
};

static const struct emit_column small_columns[] = {
    /* clang-format off */
    { "name",           "name",       0, NULL },
    { "addressing",     "addressing", 0, NULL },
    { "m",              "m",          0, NULL },
    { "n",              "n",          0, NULL },
    { "k",              "k",          0, NULL },
    { "count",          "count",      0, NULL },
    { "us",             "us",         4, NULL },
    { "gb_per_second",  "GB/s",       4, NULL },
    { "ratio_strided",  "x strided",  3, "-" },
    { "ratio_pointers", "x pointers", 3, "-" },
    { "us_start",       "us start",   3, "-" },
    { "us_choose",      "choose",     3, "-" },
    { "us_launch",      "launch",     3, "-" },
    { "relres",         "relres",     3, NULL },
    { "compared",       "compared",   0, NULL },
    { "unsteady",       "unsteady",   0, "-" },
    { "unsteady",       "unsteady",   0, "-" },
    { "fault",          "fault",      0, "-" },
    { 0 }
    /* clang-format on */
};

static void show_workload(void *bench, const struct workload *workload, size_t gemms)
{
    struct bench *const b = bench;
    const struct kernel_shape s = workload->shape;
    char count[32] = "";
    if (gemms > 1) snprintf(count, sizeof count, "%zu of ", gemms);
    snprintf(b->label, sizeof b->label, "%s%zu x %zu x %zu", count, s.m, s.n, s.k);
    terminal_label(b->label);
}

static void show_row(void *bench, json_t *row)
{
    struct bench *const b = bench;
    bench_heat_add(&b->hot, row);
    emit_row(&b->context->emitter, row);
}

/* --- shapes and counts ------------------------------------------------------------ */

/* Every shape of a set, at every size if it is scaled. */
static int add_set(struct bench *b, const struct shape_set *set)
{
    const struct option_counts once = { 1, { 1 } }, *given = &b->options->sizes;
    const bool on_host = device_is_host(b->options->device);
    const struct option_counts *sizes = !set->scaled   ? &once
                                        : given->count ? given
                                        : on_host      ? &typical_on_host
                                                       : &typical_sizes;
    const char *input = set->input ? set->input : b->options->input;
    if (set->scaled && is_small(b) && !given->count)
        return complain("-n", "is required; kernels for batches support sizes up to 64");
    for (int i = 0; i < sizes->count; i++)
        for (const struct kernel_shape *s = set->shape; s->m; s++) {
            const size_t n = sizes->at[i];
            if (b->benchmark.workloads == WORKLOADS_MAX)
                return complain("--shapes", "is given too often");
            b->workload[b->benchmark.workloads++] =
                (struct workload){ { s->m * n, s->n * n, s->k * n }, input };
        }
    return EXIT_GOOD;
}

/* The shapes of the command line, or of the study. */
static int add_sets(struct bench *b)
{
    const struct option_texts own = { 1, { b->benchmark.study->shapes } }, *texts = &own;
    int status = EXIT_GOOD;
    bool scaled = false;
    if (b->options->shapes.count) texts = &b->options->shapes;
    for (int i = 0; i < texts->count && status == EXIT_GOOD; i++) {
        const struct shape_set *set = table_find(TABLE(shape_sets), texts->text[i]);
        if (!set) return fail_unknown("--shapes", texts->text[i], TABLE(shape_sets));
        status = add_set(b, set);
        scaled |= set->scaled;
    }
    if (status == EXIT_GOOD && b->options->sizes.count && !scaled)
        return complain("-n", "requires shapes that depend on n; see bitcut list shapes");
    return status;
}

/* The batch sizes of the command line, or of the study. */
static int add_counts(struct bench *b)
{
    static const size_t single = 1;
    const struct option_counts *given = &b->options->batches;
    const size_t *own = b->benchmark.study->batches,
                 most = is_small(b) ? N_MAX : GPU_COUNT_MAX;
    b->benchmark.count = given->count ? given->at : *own ? own : &single;
    b->benchmark.counts = given->count ? (size_t)given->count : 1;
    if (given->count && !*own) return complain("--batch", "requires a study of batches");
    while (!given->count && *own && own[b->benchmark.counts]) b->benchmark.counts++;
    for (int i = 0; i < given->count; i++)
        if (given->at[i] < 1 || given->at[i] > most)
            return complain("--batch",
                            is_small(b) ? "must be 1 to 10000000" : "must be 1 to 65535");
    return EXIT_GOOD;
}

/* --- the suite -------------------------------------------------------------------- */

/* Check study, kernel and sizes. */
static int check_options(struct bench *b)
{
    const struct bench_options *o = b->options;
    struct input input;
    struct fault f;
    b->benchmark.study =
        o->study ? table_find(TABLE(bench_studies), o->study) : bench_studies;
    if (!b->benchmark.study)
        return fail_unknown("--study", o->study, TABLE(bench_studies));
    if (!o->rounds || o->rounds > BENCHMARK_ROUNDS_MAX)
        return complain("--rounds", "must be 1 to 99");
    for (int i = 0; i < o->sizes.count; i++)
        if (o->sizes.at[i] < 1 || o->sizes.at[i] > N_MAX)
            return complain("-n", "must be 1 to 10000000");
    if (o->tile && !option_tile(b->benchmark.filter.tile, o->tile, 2, 1, TILE_MAX))
        return complain("--tile", "requires sides such as 128x64 or 128x64x32");
    if (input_parse(&input, o->input, &f) != BITCUT_OK)
        return fail_input("--input", "inputs", &f);
    const int status = add_counts(b);
    return status == EXIT_GOOD ? add_sets(b) : status;
}

/* Whether the module has a kernel with that name, and one with the tile. */
static int check_filter(const struct bench *b)
{
    const struct bench_filter *filter = &b->benchmark.filter;
    const struct gpu_kernel *kernel = NULL;
    bool called = !filter->kernel, tiled = false, some = false;
    while ((kernel = gpu_kernel_next(&b->recorder.gpu, kernel))) {
        if (kernel->matrices != b->benchmark.study->matrices) continue;
        some = true;
        called |= filter->kernel && kernel_is_called(kernel->name, filter->kernel);
        tiled |= bench_has_tile(kernel, filter);
    }
    if (!some)
        return complain("--study",
                        "names a study without kernels in the module of this device");
    if (!called)
        return complain("--kernel",
                        is_small(b)
                            ? "names no kernel for batches; see bitcut list kernels"
                            : "names no known kernel; see bitcut list kernels");
    return tiled ? EXIT_GOOD
                 : complain("--tile",
                            "names the tile of no kernel; see bitcut list kernels");
}

static int run(const struct bench *b)
{
    struct fault f;
    struct benchmark_result result;
    if (!b->recorder.gpu.module->timer)
        return complain("bench", "gpu requires a device whose module can time kernels");
    const int status = check_filter(b);
    if (status != EXIT_GOOD) return status;
    b->context->emitter.columns = is_small(b) ? small_columns : columns;
    const bool ran = benchmark_run(&result, &b->benchmark, &f) == BITCUT_OK;
    terminal_label(NULL);
    bench_heat_describe(&b->hot);
    if (!ran) return fail(result.failed ? result.failed : "bench", &f);
    return result.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

int bench_gpu(struct context *x)
{
    static struct bench b;
    const struct bench_options *const options = x->own;
    b = (struct bench){ .context = x, .options = options };
    b.benchmark =
        (struct benchmark){ .recorder = &b.recorder,
                            .filter.kernel = options->kernel,
                            .equilibrate = options->equilibrate,
                            .workload = b.workload,
                            .seed = x->seed,
                            .threads = x->threads,
                            .rounds = options->rounds,
                            .sustained_milliseconds = options->sustained_milliseconds,
                            .progress = &x->progress,
                            .begins = show_workload,
                            .row = show_row,
                            .listener = &b };
    int status = check_options(&b);
    if (status != EXIT_GOOD) return status;
    if (is_small(&b)) b.benchmark.sustained_milliseconds = 0;
    status = device_open(&b.recorder, options->device, "bench");
    if (status != EXIT_GOOD) return status;
    status = run(&b);
    recorder_close(&b.recorder);
    return status;
}
