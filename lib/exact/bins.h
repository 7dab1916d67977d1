/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact sums of products of FP32 encodings: one integer for each exponent of a
   product. */
#ifndef BITCUT_LIB_EXACT_BINS_H
#define BITCUT_LIB_EXACT_BINS_H

#include "lib/number/wide.h"

#include <stddef.h>

enum { BINS = 512 }; /* sum of the exponent fields of two operands: 2 to 510 */

struct bins {
    int64_t bin[BINS];
    struct wide total;
};

/* Set *x to `factor`, finite, times the sum of k products a[i] b[i].  False if an operand
   is NaN or infinite; then *x is meaningless. */
bool bins_dot(struct bins *x, uint32_t factor, size_t k, const uint32_t *a,
              const uint32_t *b);

/* Add the product of two finite encodings, without a factor. */
void bins_add_product(struct bins *x, uint32_t a, uint32_t b);

/* The sum, as wide_value() returns it. */
struct unrounded bins_value(const struct bins *x);

#endif
