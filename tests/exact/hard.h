/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 matrices whose products are difficult to sum and to round, for the tests of the
   exact reference. */
#ifndef BITCUT_TESTS_EXACT_HARD_H
#define BITCUT_TESTS_EXACT_HARD_H

#include <stddef.h>
#include <stdint.h>

struct hard_dot;

/* A row of the table of families.  Either every element of a matrix is made alone, or the
   diagonal elements of the product are, with all their terms. */
struct hard_family {
    const char *name, *what;
    uint32_t (*element)(uint64_t *state);
    void (*dot)(struct hard_dot *d, uint64_t *state);
};

extern const struct hard_family hard_families[]; /* ended by a row whose name is NULL */

/* The row of that name, which must be there. */
const struct hard_family *hard_find(const char *name);

/* Fill a (m x k) and b (k x n) with FP32 encodings from the stream of test_bits(); k >= 8
   if the family makes dot products. */
void hard_fill(uint32_t *a, uint32_t *b, const struct hard_family *family, size_t m,
               size_t n, size_t k, uint64_t *state);

#endif
