/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of sections of a report on one GEMM, taken from what commands print. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_ROWS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_ROWS_H

#include <jansson.h>

/* Append rows to `to`, of the first row or all that a command printed; `of` says which of
   several kinds. */
typedef void gemm_report_rows(json_t *to, const json_t *row, json_t *all, const char *of);

/* Of advise: { operand, exponent, count }. */
gemm_report_rows gemm_report_values;

/* Of advise: { recipe, operand, exponent, count, bits, ... } of the splits of the best
   known recipes at their own scales, where a unit flushes nothing. */
gemm_report_rows gemm_report_kept;

/* Of advise: everything that is kept, for all exponents together. */
gemm_report_rows gemm_report_kept_in_all;

/* Of advise: what was tried, the cheapest first. */
gemm_report_rows gemm_report_tried;

/* Of verify or gemm: the worst outputs and their budgets, a column for each part. */
gemm_report_rows gemm_report_worst;

/* Of bound, all rows. */
gemm_report_rows gemm_report_bounds;

/* The list with the key `of` as it is. */
gemm_report_rows gemm_report_list;

/* Append the bins of a histogram of steps (ulp_histogram()) that are not empty, as shares
   of all: { result, ulps, share }, ulps the most of a bin. */
void gemm_report_histogram(json_t *to, const char *result, const json_t *bins);

#endif
