/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions by which attention kernels compute exponentials, logarithms and
   reciprocals in FP32, to the bit. */
#ifndef BITCUT_EMU_ATTENTION_APPROXIMATION_H
#define BITCUT_EMU_ATTENTION_APPROXIMATION_H

#include "lib/base/table.h"

/* A function on FP32 values, in the mode of hostfp_enter(). */
typedef float attention_function(float x);

/* A row: an exponential. */
struct attention_exp {
    const char *name, *what;
    bool natural; /* base e, else base 2 */
    attention_function *of;
    double error; /* bound on the relative error of results from 2^-126 to 2^30; below
                     them, the absolute error is at most 2^-126 */
};

/* A row: how O is divided by the sum of P. */
struct attention_reciprocal {
    const char *name, *what;
    attention_function *of; /* O times this function of the sum; NULL: O / sum */
    double error; /* bound on the relative error of the function where it is normal */
};

/* A row: how the results of splits are merged. */
struct attention_merge {
    const char *name, *what;
    attention_function *exp, *log; /* base e; log of the merged sum                   */
    attention_function *split_log; /* of the sum of a split, times `ln2` and plus the
                                      scaled maximum in one fused multiply-add         */
    double error; /* bound on the relative error of exp(x) divided by 1 + |x|, and on the
                     error of log(x) and split_log(x) divided by the larger of 1 and the
                     magnitude of the logarithm */
};

/* The tables, ended by a row whose name is NULL, and their rows by position. */
extern const struct attention_exp attention_exps[];
extern const struct attention_reciprocal attention_reciprocals[];
extern const struct attention_merge attention_merges[];
enum { EXP2_MUFU_FTZ, EXP2_MUFU, EXP2_POLYNOMIAL, EXP2_EXACT, EXP_CUDA, EXP_EXACT };
enum { RECIPROCAL_MUFU, RECIPROCAL_ROUNDED, RECIPROCAL_DIVIDE };
enum { MERGE_CUDA, MERGE_FAST };

/* RN(a b + c). */
float attention_fma(float a, float b, float c);

#endif
