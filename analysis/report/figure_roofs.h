/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest possible speed of a device, by its recorded runs and by data sheets. */
#ifndef BITCUT_ANALYSIS_REPORT_FIGURE_ROOFS_H
#define BITCUT_ANALYSIS_REPORT_FIGURE_ROOFS_H

#include "analysis/report/figure.h"

/* The roofs over the rows of a figure of TFLOPS: an array of rows with "series", "label",
   "group", "device", "roof" (true), "products", "source" and the figure's x and y, which
   the caller releases.  A recipe with n products of parts reaches at most 1/n of the
   speed of one product.
   - A recorded roof (its source is null) is the largest recorded TFLOPS of one product:
     hgemm for f16 and bf16 parts, sgemm-tf32 for tf32 parts.  Against operations per
     byte, the slope is the largest number of bytes per second that any recorded GEMM
     moved.
   - A roof from a data sheet, which its source names, is flat: the peak rate of the
     device. */
json_t *figure_roofs(const struct figure *figure, json_t *rows,
                     const struct results *results);

#endif
