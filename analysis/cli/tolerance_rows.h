/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of JSON that tolerances of FP32 and of FP64 GEMMs have. */
#ifndef BITCUT_ANALYSIS_CLI_TOLERANCE_ROWS_H
#define BITCUT_ANALYSIS_CLI_TOLERANCE_ROWS_H

#include "analysis/sampling/tolerance_text.h"

#include <jansson.h>

/* Add the limits, the tests as lines of code unless the GEMM is a batch, and the verdict
   on D, if there is one. */
void tolerance_rows(json_t *row, const struct tolerance_answer *a, bool is_batch);

#endif
