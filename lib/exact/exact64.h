/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact reference for binary64 matrices: every element of A B, or of alpha A B + beta
   C, correctly rounded, and what the rounding dropped.

   The layers are those of lib/exact/exact.h, by their functions settle64().  The layer
   dot2 has three parts here: it proves 106 bits of an element, not only 53.  The layer
   bins has an integer for each 32 exponents. */
#ifndef BITCUT_LIB_EXACT_EXACT64_H
#define BITCUT_LIB_EXACT_EXACT64_H

#include "lib/exact/exact.h"

/* alpha A B + beta C instead of A B, with the rules of struct exact_update. */
struct exact64_update {
    double alpha, beta;
    const double *c; /* m x n, without gaps; NULL if beta is +-0 */
};

/* Compute the exact result E = A B, or E = alpha A B + beta C if `update` is not NULL.

   Returns: BITCUT_OK.
            BITCUT_NO_MEMORY leaves the outputs unchanged.
            BITCUT_UNSUPPORTED, if the progress of `options` asks to stop, leaves them
            partly filled.
   Args:    m, n, k: A is m x k, B is k x n, E is m x n; k <= 2^46.
   In:      a, b:    row-major, without gaps.
            options: layers, kernel, threads and progress are read.  If the layers include
                     bins or mpfr, no output depends on them; otherwise `high` and `low`
                     of an element that is not settled are NaN.  NULL: the defaults.
            update:  factors and C, or NULL.
   Out:     high:    E rounded to nearest even.
            low:     E - high, exactly, rounded to nearest even: high + low has 106 bits
                     of E or more, unless low is subnormal.
            magnitude: |A| |B|, or |alpha| |A| |B| + |beta C|: a sum in binary64 with a
                     relative error of at most (k + 8) 2^-53; 2^-1074 more if it is
                     subnormal.
            counts:  elements settled by each layer, as those of EXACT_F64.
   - Each output may be NULL, and `counts` too.
   - NaN and infinities follow IEEE 754 with any order of the sum: E is NaN if a term is
     NaN or infinities of both signs meet.  The same holds for alpha, beta and C.
   - Partial sums, and products with alpha and beta, have no limits of their range: `high`
     is infinite where E rounds beyond the largest number, and subnormal values of E are
     rounded once.  `magnitude` is infinite only if its own value is.
   - NaN is 0x7ff8000000000000.
   - A zero E is +0, except that A B is -0 if every term is -0.  Zeros alpha A B and beta
     C are added as in IEEE 754.
   - `low` is +0 where it rounds to a zero, and where `high` is NaN or infinite. */
enum bitcut_status exact64_gemm(double *high, double *low, double *magnitude,
                                struct exact_counts *counts,
                                const struct exact_options *options,
                                const struct exact64_update *update, size_t m, size_t n,
                                size_t k, const double *a, const double *b,
                                struct fault *f);

#endif
