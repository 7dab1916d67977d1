/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bounds of FP64 GEMMs by a scheme (emu/fp64/scheme.h), from the data. */
#ifndef BITCUT_ANALYSIS_FP64_SCHEME_BOUND_H
#define BITCUT_ANALYSIS_FP64_SCHEME_BOUND_H

#include "emu/fp64/fp64_gemm.h"

/* Set limit[i n + j] to a number that |D - E| does not exceed, where E is the exact
   alpha A B + beta C.  `magnitude` is |alpha| |A| |B| + |beta C|, with a relative error
   of at most 2^-20, as lib/exact/exact64.h gives it.  Infinite: no bound is known.

   With u = 2^-53, and r(s) for the largest distance of an element of the line from the
   sum of its first s slices, one unit of slice s if slices are truncated, half of it if
   they are rounded:
   - Slices.  The products with i + j above S + 1 and the rests are left out: at most
     sum_i |A_i| r_B(S + 1 - i) + r_A(S) |B| over k, where |A_i| is the sum of the
     magnitudes of slice i of the row.  Each FP64 addition rounds by at most u of the sum
     of all magnitudes so far.
   - Residues.  Elements are truncated to integers: at most the sum of |A| times one unit
     of the column, of |B| times one unit of the row, and k of both.  The reconstruction
     rounds by 4 u of the result and by 2^-53 N 128 of the low parts of its constants.
     There is no bound if products of integers may exceed (P - 1) / 2.
   - Multiply-adds: k u |A||B|, as in any order.
   - alpha and beta: u of alpha A B and u of D; of a scheme that is `backward`, u of D for
     each weight.
   These follow from the definitions by the triangle inequality; sums are rounded upward.
   No bound is known where a scale of a line is infinite or the unit rounds sums of
   digits. */
enum bitcut_status scheme_bound(double *limit, const struct fp64_job *job,
                                const double *magnitude, struct fault *f);

/* The terms whose sum is that limit: products and rests that are left out, or elements
   truncated to integers; FP64 additions, or the reconstruction; alpha, beta C and the
   smallest numbers. */
struct scheme_terms {
    double parts, additions, update;
};

/* The same term by term.  An output without a bound has an infinite `parts`. */
enum bitcut_status scheme_bound_terms(struct scheme_terms *to, const struct fp64_job *job,
                                      const double *magnitude, struct fault *f);

/* The source of the formula for a scheme. */
const char *scheme_bound_source(const struct bitcut_scheme *s);

#endif
