/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device can do at most, by its own runs and by data sheets. */
#ifndef BITCUT_ANALYSIS_REPORT_FIGURE_ROOFS_H
#define BITCUT_ANALYSIS_REPORT_FIGURE_ROOFS_H

#include "analysis/report/figure.h"

/* The roofs over the rows of a figure of TFLOPS: an array of rows of "series", "label",
   "group", "device", "roof" (true), "products", "source" and the figure's x and y, to be
   released.  Recipes of so many products of words reach at most that part of what one
   product does.  A roof that is recorded (its source null) is the most TFLOPS that were
   recorded of one: of words of f16 and bf16 hgemm's, of tf32 sgemm-tf32's; and against
   operations a byte, no GEMM moved more bytes a second than any one that was recorded.  A
   roof of a data sheet, which its source names, is flat: the peak rate of the device. */
json_t *figure_roofs(const struct figure *figure, json_t *rows,
                     const struct results *results);

#endif
