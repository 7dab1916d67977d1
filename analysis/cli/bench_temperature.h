/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of `bench gpu` if the temperature of the board determines the measured speed. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_TEMPERATURE_H
#define BITCUT_ANALYSIS_CLI_BENCH_TEMPERATURE_H

#include <jansson.h>
#include <stddef.h>

enum { BENCH_HEATS = 2 }; /* the values of the key "heat" */

/* The notes so far.  All zeros: none. */
struct bench_heat {
    size_t rows[BENCH_HEATS];    /* number of rows with this value */
    double most[BENCH_HEATS];    /* percent, for the row with the largest difference */
    char text[BENCH_HEATS][320]; /* that row and its figures */
};

/* Record a row of a workload (analysis/bench/benchmark.h). */
void bench_heat_add(struct bench_heat *h, const json_t *row);

/* Print one line to standard error for each value that occurred: which figures differ,
   for which row most, and what to do. */
void bench_heat_describe(const struct bench_heat *h);

#endif
