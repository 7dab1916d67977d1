/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary64 matrices whose products are difficult to sum and to round, for the tests of
   the exact reference. */
#ifndef BITCUT_TESTS_EXACT_HARD64_H
#define BITCUT_TESTS_EXACT_HARD64_H

#include <stddef.h>
#include <stdint.h>

struct hard64_dot;

/* As struct hard_family (tests/exact/hard.h). */
struct hard64_family {
    const char *name, *what;
    double (*element)(uint64_t *state);
    void (*dot)(struct hard64_dot *d, uint64_t *state);
};

extern const struct hard64_family
    hard64_families[]; /* ended by a row whose name is NULL */

/* The row of that name, which must be there. */
const struct hard64_family *hard64_find(const char *name);

/* Fill a (m x k) and b (k x n) from the stream of test_bits(); k >= 12 if the family
   makes dot products. */
void hard64_fill(double *a, double *b, const struct hard64_family *family, size_t m,
                 size_t n, size_t k, uint64_t *state);

#endif
