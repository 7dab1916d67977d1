/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/bench_temperature.h"

#include "analysis/bench/benchmark.h"
#include "analysis/cli/row_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The difference between speed in bursts and under load, in percent of bursts. */
static double below_burst(const json_t *row)
{
    return 100 * (1 - real_at(row, "tflops_sustained") / real_at(row, "tflops"));
}

static void print_sustained(char *text, size_t size, const json_t *row)
{
    const char *const limit = text_at(row, "limit");
    snprintf(text, size,
             "%.4g TFLOPS in bursts (tflops), %.4g under load (tflops_sustained%s%s)",
             real_at(row, "tflops"), real_at(row, "tflops_sustained"),
             limit ? "; limit: " : "", limit ? limit : "");
}

static double last_over_first(const json_t *row) { return real_at(row, "drift"); }

static void print_rounds(char *text, size_t size, const json_t *row)
{
    const double drift = real_at(row, "drift");
    snprintf(text, size, "the last round took %.3g %% %s than the first (drift)",
             fabs(drift), drift > 0 ? "longer" : "less");
}

/* The values of the key "heat". */
static const struct {
    const char *word;
    double (*percent)(const json_t *row);
    void (*describe)(char *text, size_t size, const json_t *row);
    const char *advice;
} workloads[BENCH_HEATS] = {
    { "sustained", below_burst, print_sustained,
      "use tflops for an occasional GEMM and tflops_sustained for long work; compare "
      "figures of the same kind only" },
    { "rounds", last_over_first, print_rounds,
      "the device did not reach a steady state: use more --rounds, or the figures under "
      "load" },
};

void bench_heat_add(struct bench_heat *h, const json_t *row)
{
    const char *const word = text_at(row, "heat"), *const part = text_at(row, "part");
    for (int i = 0; word && i < BENCH_HEATS; i++) {
        if (strcmp(word, workloads[i].word) != 0) continue;
        const double percent = fabs(workloads[i].percent(row));
        char figures[160];
        if (h->rows[i]++ && percent <= h->most[i]) continue;
        h->most[i] = percent;
        workloads[i].describe(figures, sizeof figures, row);
        snprintf(h->text[i], sizeof h->text[i], "%s, %s, %lld x %lld x %lld: %s",
                 text_at(row, "name"), part ? part : "whole", whole_at(row, "m"),
                 whole_at(row, "n"), whole_at(row, "k"), figures);
    }
}

void bench_heat_describe(const struct bench_heat *h)
{
    for (int i = 0; i < BENCH_HEATS; i++) {
        char more[64] = "";
        if (!h->rows[i]) continue;
        if (h->rows[i] > 1)
            snprintf(more, sizeof more, ", and %zu more differ by over %d %%",
                     h->rows[i] - 1, BENCHMARK_HEAT_PERCENT);
        fprintf(stderr, "bitcut: bench: heat: %s%s: %s\n", h->text[i], more,
                workloads[i].advice);
    }
}
