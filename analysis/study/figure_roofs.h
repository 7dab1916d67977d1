/* What a device can do at most, by its own runs. */
#ifndef BITCUT_ANALYSIS_STUDY_FIGURE_ROOFS_H
#define BITCUT_ANALYSIS_STUDY_FIGURE_ROOFS_H

#include "analysis/study/figure.h"

/* The roofs over the rows of a figure of TFLOPS: an array of rows of "series", "label",
   "group", "device", "roof" (true) and the figure's x and y, to be released.  Recipes of
   so many products of words reach at most that part of the most TFLOPS that was recorded
   of one product: of words of f16 and bf16 hgemm's, of tf32 sgemm-tf32's.  Against
   operations a byte, no GEMM moved more bytes a second than any one that was recorded. */
json_t *figure_roofs(const struct figure *figure, json_t *rows,
                     const struct results *results);

#endif
