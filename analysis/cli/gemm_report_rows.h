/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the sections of a report about one GEMM, from its answers. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_ROWS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_ROWS_H

#include "analysis/cli/gemm_report_answers.h"

/* Append the rows of a section to an array. */
typedef void gemm_report_rows(json_t *to, const struct gemm_answers *a);

/* Rows from the advice: values by exponent; bits that splits retain, with one column for
   the best known recipe of each split; the same for all values and scales; recipes by
   cost; choices of the scale. */
gemm_report_rows gemm_report_values, gemm_report_recorded, gemm_report_recorded_in_all,
    gemm_report_tried, gemm_report_scales;

/* Other rows: recipes by their distance from D; the worst outputs of the emulated D and
   of D with their budgets, one column for each part; bounds; distances of D, of the
   recipe and of an FP32 loop (if it differs from the recipe) from the exact result;
   rejections by tests. */
gemm_report_rows gemm_report_distances, gemm_report_worst_emulated, gemm_report_worst,
    gemm_report_bounds, gemm_report_errors, gemm_report_power;

/* Append outputs of a result by their distance from the exact result. */
void gemm_report_histogram(json_t *to, const char *result,
                           const size_t bins[HISTOGRAM_BINS]);

#endif
