/* SPDX-License-Identifier: BSD-3-Clause */
/* Products over a range of k that are missing, added twice, or made of the operands of
   another range: what they change in the exact result, and the range that a residual
   shows. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_K_EFFECT_H
#define BITCUT_ANALYSIS_IDENTIFY_K_EFFECT_H

#include "analysis/identify/part_sums.h"

/* A row: what happens to the products of a range. */
struct k_effect_row {
    const char *name, *what; /* `what`: after "the products of k from 0 to 15 " */
    int factor; /* times which they are added, less 1; 0: operands are replaced       */
    bool stale[2]; /* whether those of A, of B are replaced by a neighbour's           */
    int shift; /* -1: by the range before; -2: by the one before that, as of a tile with
                  two buffers; +1: by the range after */
    enum k_effect_kind {
        OF_RANGE,
        OF_SUMS, /* every sum up to a multiple of the range's length is added, and that of
                    all k, as by an accumulator that is promoted and not cleared; the
                    range begins with k = 0 */
        OF_PAIR  /* one operand has its elements at the first and the last k of the range
                    in each other's place */
    } kind;
};

extern const struct k_effect_row k_effects[]; /* ended by a row whose name is NULL */

enum { ALL_TERMS = -1 };

struct k_effect {
    const struct k_effect_row *row;
    int term; /* the only term with the effect, or ALL_TERMS */
    struct k_range range;
};

/* Add to the sums of the products of x, for all outputs of m, what the effect adds. */
void k_effect_add(double *value, const struct k_effect *e, const struct part_matrices *m,
                  const struct candidate *x);

/* The ranges whose effects on the products of x are nearest to a residual, before alpha,
   for every row: of all terms if x has one, otherwise of each term.  Long ranges are
   found as blocks of k by least squares with any factor, short ones by the correlation of
   the residual with the product of each k, the first and the last k by their sums, which
   few outputs show; the ends by weighted least squares.  Pairs are
   of the k with the largest such correlations.  `to` has
   room for k_effect_count(x) effects.  Returns their number, or SIZE_MAX: no memory. */
size_t k_effect_count(const struct candidate *x);
size_t k_effects_fit(struct k_effect *to, const struct part_matrices *m,
                     const struct candidate *x, const double *residual,
                     const double *weight);

/* Append what happens, such as "the products of k from 0 to 15 are missing". */
void k_effect_describe(char *text, size_t size, const struct k_effect *e,
                       const struct candidate *x);

#endif
