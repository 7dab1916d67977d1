/* SPDX-License-Identifier: BSD-3-Clause */
/* What a candidate computes if no sum is rounded: products of parts, without an order of
   k. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_PART_SUMS_H
#define BITCUT_ANALYSIS_IDENTIFY_PART_SUMS_H

#include "analysis/identify/hypothesis.h"

/* The parts of the first rows of A and columns of B of a block, as a candidate reads
   them: element p of a line is at [line * k + p]. */
struct part_matrices {
    size_t rows, cols, k;
    double *part[2][SPLIT_PARTS_MAX]; /* of A, of B, times the factors of the block; NULL:
                                         the split has no such part                     */
    double *plain[2][SPLIT_PARTS_MAX]; /* the same without factors */
    const struct block *b;
};

/* Make the parts.  `base`: the same rows and columns for a candidate that has the same
   splits, reads all elements from their own places and does not change parts, which saves
   time; or NULL.  False: no memory, and nothing to clear. */
bool part_matrices_make(struct part_matrices *m, const struct candidate *x,
                        const struct block *b, size_t rows, size_t cols,
                        const struct part_matrices *base);
void part_matrices_clear(struct part_matrices *m);

/* The sum over k from `first` up to `end` of the products of part i of A and part j of B
   in output (row, col), in binary64. */
double part_product(const struct part_matrices *m, int i, int j, size_t row, size_t col,
                    size_t first, size_t end);

/* The sum of products of numbers. */
double part_dot(const double *a, const double *b, size_t count);

/* The sums of all pairs of parts over all k: output (row, col) is at [row * cols +
   col]. */
struct part_sums {
    size_t outputs;
    double *of[SPLIT_PARTS_MAX][SPLIT_PARTS_MAX];
};

/* Make the sums of the pairs that the terms of x have, or of all pairs.  False: no
   memory, and nothing to clear. */
bool part_sums_make(struct part_sums *s, const struct part_matrices *m,
                    const struct candidate *x, bool all);
void part_sums_clear(struct part_sums *s);

/* The power of two by which a candidate multiplies the product of term t. */
double part_weight(const struct candidate *x, int t);

/* Whether the parts of x are those of `base`, so that they have common sums. */
bool part_sums_are_common(const struct candidate *x, const struct candidate *base);

/* The sum of the products of x, without alpha and C. */
void part_values(double *value, const struct part_sums *s, const struct candidate *x);

/* What was told of a block with something told, as x applies it. */
struct epilogue_values part_told(const struct block *b, const struct candidate *x);

/* D of the first rows and columns of a block: `value` is the sum before and D after. */
void part_finish(double *value, const struct candidate *x, const struct block *b,
                 size_t rows, size_t cols);

#endif
