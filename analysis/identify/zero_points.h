/* SPDX-License-Identifier: BSD-3-Clause */
/* Zero points in results of integers: what they add to a sum, and faults of it. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ZERO_POINTS_H
#define BITCUT_ANALYSIS_IDENTIFY_ZERO_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is added to sum_p a_ip b_pj, modulo 2^64: `rows` sum_p a_ip + `cols` sum_p b_pj +
   `constant`.  For (a - zero_a) (b - zero_b) they are -zero_b, -zero_a and
   k zero_a zero_b (Jacob et al. 2018, arXiv 1712.05877, equation 7). */
struct zero_terms {
    uint64_t rows, cols, constant;
    const char *fault; /* NULL: these are the terms of zero points */
    const char *what;  /* the fault in words                        */
    bool fitted;       /* they were found from D                    */
};

enum { ZERO_TERMS_MAX = 16 };

/* x - y, and x / y for a y other than 0, both modulo 2^64. */
static inline int64_t wrapped_less(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x - (uint64_t)y);
}

static inline int64_t wrapped_quotient(int64_t x, int64_t y)
{
    return y == -1 ? wrapped_less(0, x) : x / y;
}

/* The terms of these zero points, and after them the terms of each fault that differs.
   Returns their number. */
size_t zero_terms_of(struct zero_terms to[ZERO_TERMS_MAX], int32_t zero_a, int32_t zero_b,
                     size_t k);

/* Three outputs, and the sums of their row of A and column of B: (0, 0), (1, 0) and
   (0, 1).  `excess` is the output less its exact sum. */
struct zero_outputs {
    int64_t row_sum[2], col_sum[2], excess[3];
};

/* The terms that give all three excesses, if integers do; equal sums make no
   difference. */
void zero_terms_fit(struct zero_terms *to, const struct zero_outputs *x, size_t k);

/* Describe terms after "the exact product"; nothing for zero points 0. */
void zero_terms_describe(char *text, size_t size, const struct zero_terms *x, size_t k);

#endif
