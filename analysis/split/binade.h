/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits of many values of one binade at a time, in integers. */
#ifndef BITCUT_ANALYSIS_SPLIT_BINADE_H
#define BITCUT_ANALYSIS_SPLIT_BINADE_H

#include "emu/fast/fast.h"

/* A split in the form for kernels that count in ulps of the binade 2^e to 2^(e+1),
   2^(e-23).  All operands of the parts are integers in this unit: values are below 2^24,
   the residual of an FP32 subtraction is exact, and so is its product with a power of
   two.  Anything below half the smallest subnormal part is lost whatever the part is, so
   parts of 2^26 ulps stand for all larger ones. */
struct binade {
    struct fast_part part[SPLIT_PARTS_MAX];
    int parts;        /* 1 if all high parts overflow: then nothing else is counted */
    double low_times; /* factor between the second part and the one that is computed */
};

/* With `flush` parts below the normal range of their format are read as zeros.  Returns
   false if the kernels are not exact for this split; then values have to be split one by
   one. */
bool binade_make(struct binade *b, const struct bitcut_split *split, bool flush, int e);

#endif
