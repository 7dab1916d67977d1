/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of FP64 results as lines of Python. */
#ifndef BITCUT_ANALYSIS_SAMPLING_PYTHON_FP64_H
#define BITCUT_ANALYSIS_SAMPLING_PYTHON_FP64_H

#include "analysis/sampling/python_lines.h"

/* python_lines() for an FP64 GEMM by a scheme.  A product in binary64 errs as much as D,
   so the lines compute D - C without rounding: they cut A and B into parts whose products
   add up exactly in binary64, in any order (Ozaki, Ogita, Oishi and Rump 2012), and
   subtract these from D by error-free sums (Knuth, TAOCP 2, 4.2.2, theorem B).  They hold
   if no product of elements overflows or underflows.  alpha and beta that are no powers
   of two round their products: the limit has one u more. */
int python_lines64(char line[PYTHON_LINES][PYTHON_LINE_MAX],
                   const struct python_library *library, const struct tolerance *t,
                   const struct tolerance_problem *q, bool observed);

/* The u |A||B| by which the code of a test rounds its reference: by products with alpha
   and beta. */
double reference_error64(const struct bitcut_gemm *g);

#endif
