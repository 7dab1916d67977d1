/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of a line of a paste on the rows of the unit table. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_PASTE_ROW_H
#define BITCUT_ANALYSIS_EVIDENCE_PASTE_ROW_H

#include "analysis/evidence/paste_input.h"
#include "emu/unit.h"

/* A row of the unit table with the rule by which FP32 operands are rounded to its
   operands first. */
struct paste_row {
    const struct bitcut_unit *unit;
    const struct bitcut_rounding
        *operands; /* NULL: its operands have the line's format */
};

enum { PASTE_ROWS_MAX = 256 };

/* The rows that take the operands of a line, in the order of the table, and their number:
   rows with its formats and block scales; for FP32 operands also rows of narrower
   formats, by each rule. */
size_t paste_rows(struct paste_row to[PASTE_ROWS_MAX], const struct paste_line *x);

/* Whether two rows compute the same for lines whose k are multiples of `k`, by their
   fields. */
bool paste_rows_same(const struct paste_row *x, const struct paste_row *y, size_t k);

/* The order in which k enters the instructions: blocks of `lanes` times `each` k, of
   which one of each `each` is taken in turn (lanes = each = 1: ascending); or slices of
   `slice` consecutive k, each with an accumulator of its own, which are added in order
   (0: one accumulator).  A slice that is longer than k is filled up with +0, as by a
   kernel with such a tile; this shows in zeros of sums. */
struct paste_k {
    int lanes, each, slice;
};

/* The orders that kernels may have, the ascending one first; ended by lanes = 0. */
extern const struct paste_k paste_orders[];

/* Where a bias is added. */
enum { BIAS_LAST, BIAS_FIRST, BIAS_ROUNDED, BIAS_PLACES };

/* D of a line on a row: [rows][cols] encodings of the format of D, with one NaN.  The
   accumulator of each output, or slice, starts from zero, or from the bias, and takes
   instructions in ascending order; the last one is filled up with +0.  Slices are added
   in FP32, and rounded to the accumulator's format, which is not FP64.  A bias is added
   last, in FP32, or after the rounding to D.  BITCUT_NO_MEMORY is the only failure. */
enum bitcut_status paste_compute(uint64_t *d, const struct paste_line *x,
                                 const struct paste_operands *o,
                                 const struct paste_row *row, struct paste_k order,
                                 int bias, struct fault *f);

/* The number of the groups of a line that the row gives: paste_agreeing() of its
   paste_compute() for a line whose results are those of its digests, in less time,
   because a group whose results in the line differ is not computed.  `all`: stop at the
   first group that it does not give.  d: room for a result. */
enum bitcut_status paste_given(int *groups, uint64_t *d, const struct paste_line *x,
                               const struct paste_operands *o,
                               const struct paste_row *row, struct paste_k order,
                               int place, bool all, struct fault *f);

/* The first order by which the row gives all of a line without a bias; lanes 0: none.
   `any` false: only the ascending one.  d: room for a result. */
enum bitcut_status paste_find_order(struct paste_k *order, uint64_t *d,
                                    const struct paste_line *x,
                                    const struct paste_operands *o,
                                    const struct paste_row *row, bool any,
                                    struct fault *f);

/* The digests and the words of such a D, in place of those of the line. */
void paste_digest(struct paste_line *x, const uint64_t *d,
                  const struct paste_operands *o);

/* The number of the groups whose digest the line has as well. */
int paste_agreeing(const struct paste_line *x, const uint64_t *d,
                   const struct paste_operands *o);

/* The sentence of a place of the bias. */
extern const char *const paste_bias_places[BIAS_PLACES];

#endif
