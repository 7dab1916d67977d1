/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of one binade split in integers, many at a time. */
#ifndef BITCUT_ANALYSIS_SPLIT_BINADE_H
#define BITCUT_ANALYSIS_SPLIT_BINADE_H

#include "emu/fast/fast.h"

/* A split as kernels see it that count in ulps of the binade 2^e to 2^(e+1), 2^(e-23).
   All that words are made of is an integer of them: values are below 2^24, a residual
   that an FP32 subtraction gives is exact, and a power of two times it is as exact.  What
   is below half the least subnormal word is lost whatever that word is, so words of 2^26
   ulps stand for any that are larger. */
struct binade {
    struct fast_word word[SPLIT_WORDS_MAX];
    int words;        /* 1 if all first ones overflow: then no other counts             */
    double low_times; /* the second word is that many times the one that is computed    */
};

/* With `flush` words below the normal range of their format are read as zeros.  False:
   not all of that is certain, and judging values one by one is the way. */
bool binade_make(struct binade *b, const struct bitcut_split *split, bool flush, int e);

#endif
