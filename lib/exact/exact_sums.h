/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products for exact references, as another processor may compute them.  For C
   and C++. */
#ifndef BITCUT_LIB_EXACT_EXACT_SUMS_H
#define BITCUT_LIB_EXACT_EXACT_SUMS_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Sums of the products of every element (i, j) of A B, at [i * n + j], k ascending.  Each
   array may be NULL.  `high` and `low` are the sums of dgemm_dot2(), and `size` is the
   sum of dgemm_plain_sum() (lib/exact/dgemm.h).  `squares` is the sum of the
   squares of the partial sums of `high`, each rounded and then added. */
struct exact_sums_to {
    double *high, *low, *size, *squares;
};

/* A processor other than this one that computes the sums of many elements, with the same
   bits. */
struct exact_sums {
    enum bitcut_status (*compute)(const struct exact_sums_to *to, size_t m, size_t n,
                                  size_t k, const uint32_t *a, const uint32_t *b,
                                  void *context, struct fault *f);
    void *context;
    size_t least; /* smallest number of terms of a product that makes it worthwhile */
    size_t bytes; /* bytes of sums at a time; they determine the number of rows */
};

/* `sums` if it computes the sums of an m x n x k product with enough terms; otherwise
   NULL. */
const struct exact_sums *exact_sums_for(const struct exact_sums *sums, size_t m, size_t n,
                                        size_t k);

#endif
