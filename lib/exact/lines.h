/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of rows and columns, found before they are multiplied. */
#ifndef BITCUT_LIB_EXACT_LINES_H
#define BITCUT_LIB_EXACT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINES_MAX = 256 };

/* Element p < k of line i < count, count <= LINES_MAX, is at[i * step + p * stride]. */
struct lines {
    const uint32_t *at;
    size_t count, step, k, stride;
};

/* For each line, the largest power of two that divides every element; 1 if all are zeros.
   For NaN and infinities the fields of their encodings count as numbers. */
void lines_units(double *unit, const struct lines *lines);

/* For each line, an upper bound on its 2-norm such that the product of two bounds, in
   binary64, is at least the product of the norms.

   Squares are exact, and their sum is at least (1 - v)^(k-1) times the exact sum, v =
   2^-52.  Two such sums, two square roots, two enlargements and one product together give
   at least (1 - v)^(k+4) times the product of the norms.  The factor 1 + (k + 4) v is
   exact, and its square is more than the reciprocal, because k v <= 1/64.

   The result is infinite or NaN if an element is.  Call under hostfp_enter(). */
void lines_norms(double *norm, const struct lines *lines);

/* The same of binary64 numbers. */
struct lines64 {
    const double *at;
    size_t count, step, k, stride;
};

/* The numbers of a line are multiples of 2^bottom, and their magnitudes are below 2^top;
   both exponents are as close as possible.  Both are 0 if all numbers are zeros.  If
   `special`, the line has a NaN or an infinity, and they have no meaning. */
struct line_range {
    int top, bottom;
    bool special;
};

void lines_ranges(struct line_range *range, const struct lines64 *lines);

#endif
