/* SPDX-License-Identifier: BSD-3-Clause */
/* What `bench gpu` says when the heat of the board decides what it measures. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_TEMPERATURE_H
#define BITCUT_ANALYSIS_CLI_BENCH_TEMPERATURE_H

#include <jansson.h>
#include <stddef.h>

enum { BENCH_HEATS = 2 }; /* the words of the key "heat" */

/* What rows said so far; zeros: nothing. */
struct bench_heat {
    size_t rows[BENCH_HEATS];    /* with this word                                 */
    double most[BENCH_HEATS];    /* percent: of the row that differs most          */
    char text[BENCH_HEATS][320]; /* what it is and what its figures are            */
};

/* Take notice of a row of a heat (analysis/bench/benchmark.h). */
void bench_heat_add(struct bench_heat *h, const json_t *row);

/* Say on standard error, a line for each word that was there, which figures differ, of
   which row most, and what to do. */
void bench_heat_describe(const struct bench_heat *h);

#endif
