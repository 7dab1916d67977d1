/* SPDX-License-Identifier: BSD-3-Clause */
/* 2:4 sparsity of A (lib/bitcut.h, "Sparsity"): the elements of each row that are
   kept. */
#ifndef BITCUT_LIB_GEMM_SPARSITY_H
#define BITCUT_LIB_GEMM_SPARSITY_H

#include "lib/base/status.h"
#include "lib/gemm/matrix.h"

#include <string.h>

/* The k of kept element p of a row that has these positions. */
static inline size_t kept_k(const uint8_t *positions, size_t p)
{
    return p / 2 * 4 + positions[p];
}

static inline bool sparsity_has_positions(const struct bitcut_gemm *g)
{
    return g->positions.at || g->positions.each;
}

/* Whether all GEMMs of a batch have the same kept elements: they share A, or read no
   element of it, and they share positions. */
bool sparsity_is_shared(const struct bitcut_gemm *g);

/* Check k, and that there are positions where they are required, and no others.
   BITCUT_BAD_ARGUMENT says what does not fit together. */
enum bitcut_status sparsity_check(const struct bitcut_gemm *g, struct fault *f);

/* Check that all k share a factor, and that A and B have no zero points. */
enum bitcut_status sparsity_check_extras(const struct bitcut_gemm *g, struct fault *f);

/* Check the positions of matrix i, or without positions its elements.
   BITCUT_BAD_ARGUMENT names the first row and k. */
enum bitcut_status sparsity_check_elements(const struct bitcut_gemm *g, size_t i,
                                           struct fault *f);

/* The positions of the kept elements of a single GEMM that was checked, m x k/2 without
   gaps, which the caller frees; NULL: no memory. */
uint8_t *sparsity_positions(const struct bitcut_gemm *g);

/* The kept elements as an m x k/2 matrix of FP32 encodings, as view_gather() makes them.
   False: no memory, and there is nothing to clear. */
bool sparsity_compress(struct matrix *to, const struct bitcut_gemm *g,
                       const uint8_t *positions);

/* A as an m x k matrix of FP32 encodings in which elements that are not kept are +0, with
   its positions.  False: no memory, and there is nothing to clear. */
bool sparsity_expand(struct matrix *to, const struct bitcut_gemm *g);

/* Let A of g have the kept elements of the matrix that it has, `a`; no change unless `a`
   is sparse. */
void sparsity_set(struct bitcut_gemm *g, const struct matrix *a);

/* Whether row `row` has the positions of the row before it. */
static inline bool kept_alike(const uint8_t *positions, size_t row, size_t kept)
{
    const uint8_t *const at = positions + row * kept;
    return row && (!kept || !memcmp(at, at - kept, kept));
}

#endif
