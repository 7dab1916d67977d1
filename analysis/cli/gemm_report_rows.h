/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the sections of a report on one GEMM, from the answers to it. */
#ifndef BITCUT_ANALYSIS_CLI_GEMM_REPORT_ROWS_H
#define BITCUT_ANALYSIS_CLI_GEMM_REPORT_ROWS_H

#include "analysis/cli/gemm_report_answers.h"

/* Append the rows of a section to an array. */
typedef void gemm_report_rows(json_t *to, const struct gemm_answers *a);

/* Of advice: values by exponent; what splits keep of them, a column for the recipe that
   each is known for; the same of all values and scales; recipes by cost; ways to scale.
 */
gemm_report_rows gemm_report_values, gemm_report_recorded, gemm_report_recorded_in_all,
    gemm_report_tried, gemm_report_scales;

/* Recipes by their distance from D; the worst outputs of the emulated D and of D with
   their budgets, a column for each part; bounds; how far D, the recipe and an FP32 loop,
   if that is another, are from the exact result; what tests reject. */
gemm_report_rows gemm_report_distances, gemm_report_worst_emulated, gemm_report_worst,
    gemm_report_bounds, gemm_report_errors, gemm_report_power;

#endif
