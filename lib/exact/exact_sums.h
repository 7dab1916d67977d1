/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products for exact references, as another processor may make them.  C and C++.
 */
#ifndef BITCUT_LIB_EXACT_EXACT_SUMS_H
#define BITCUT_LIB_EXACT_EXACT_SUMS_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Sums of the products of every element (i, j) of A B, at [i * n + j], k ascending, as
   far as the arrays are not NULL: `high` and `low` of dgemm_dot2(), `size` of
   dgemm_plain_sum() (lib/exact/dgemm.h), and the squares of the partial sums of `high`,
   each rounded and then added. */
struct exact_sums_to {
    double *high, *low, *size, *squares;
};

/* Something else than this processor that makes them of many elements, to the bit. */
struct exact_sums {
    enum bitcut_status (*compute)(const struct exact_sums_to *to, size_t m, size_t n,
                                  size_t k, const uint32_t *a, const uint32_t *b,
                                  void *context, struct fault *f);
    void *context;
    size_t least; /* terms of a product for which it is worth while   */
    size_t bytes; /* of sums at a time: of as many rows as these hold */
};

/* `sums` where it makes those of an m x n x k product, of enough terms; else NULL. */
const struct exact_sums *exact_sums_for(const struct exact_sums *sums, size_t m, size_t n,
                                        size_t k);

#endif
