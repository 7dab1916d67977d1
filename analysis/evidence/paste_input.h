/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of a line of a paste, as kit/settle.py makes them. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_PASTE_INPUT_H
#define BITCUT_ANALYSIS_EVIDENCE_PASTE_INPUT_H

#include "analysis/evidence/paste.h"

/* The rows of A and the columns of B that a line digests, as encodings of its formats,
   and for a line with block scales the scale of each block of k. */
struct paste_operands {
    size_t rows, cols, k, blocks;
    uint64_t *a, *b;             /* [rows][k], [cols][k]: B is transposed */
    uint64_t *scale_a, *scale_b; /* [blocks], or NULL                     */
    uint64_t *bias;              /* [cols] of a line with a bias, or NULL */
};

/* Make them.  BITCUT_NO_MEMORY is the only failure, and leaves nothing to clear. */
enum bitcut_status paste_operands_make(struct paste_operands *to,
                                       const struct paste_line *x, struct fault *f);
void paste_operands_clear(struct paste_operands *x);

#endif
