/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound on the error of a sum in binary64, for proofs. */
#ifndef BITCUT_LIB_EXACT_ERROR_BOUND_H
#define BITCUT_LIB_EXACT_ERROR_BOUND_H

#include <stddef.h>

/* A bound on the difference between the sum of k terms in binary64 and the exact sum,
   with room for one more rounding of that sum.  `size` is the sum, in binary64, of the
   magnitudes of the terms, or at least their exact sum.  `unit` is a power of two that
   divides the terms.

   Nothing is rounded while the size is below 2^53 units.  Otherwise, with v = 2^-52, an
   addition has an error of at most v times its result, in whichever direction it rounds,
   so |sum - exact sum| <= ((1 + v)^(k-1) - 1) (exact size), and exact size <= size / (1 -
   v)^(k-1) (after Higham 2002).  For g = k v <= 1/16 the first expression is below (k -
   1) v (1 + 4 g) size, and |sum| is below (1 + 5 g) size.  The bound uses 1 + 8 g; the
   difference covers the roundings of this expression, because k > 1: one term is below
   2^48 units.  Rump 2012 needs half of this bound, but also rounding to nearest. */
static inline double error_bound(size_t k, double size, double unit)
{
    const double g = (double)k * 0x1p-52;
    return size < 0x1p53 * unit ? 0 : g * (1 + 8 * g) * size;
}

#endif
