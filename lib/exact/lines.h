/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of rows and columns of FP32 encodings before they are multiplied. */
#ifndef BITCUT_LIB_EXACT_LINES_H
#define BITCUT_LIB_EXACT_LINES_H

#include <stddef.h>
#include <stdint.h>

enum { LINES_MAX = 256 };

/* Element p < k of line i < count, count <= LINES_MAX, is at[i * step + p * stride]. */
struct lines {
    const uint32_t *at;
    size_t count, step, k, stride;
};

/* For each line the largest power of two that divides every element; 1 if all are zeros.
   NaN and infinities count as what their fields say. */
void lines_units(double *unit, const struct lines *lines);

/* For each line no less than its 2-norm, and so that products of two, in binary64, are no
   less than those of the norms.  Squares are exact and their sum is at least (1 - v)^(k-1)
   times the exact one, v = 2^-52; of two such sums, two square roots, two enlargements
   and a product are left at least (1 - v)^(k+4) times the product of the norms, and 1 +
   (k + 4) v, which is exact, squared is more than the reciprocal, as k v <= 1/64.
   Infinite or NaN if an element is.  Call under hostfp_enter(). */
void lines_norms(double *norm, const struct lines *lines);

#endif
