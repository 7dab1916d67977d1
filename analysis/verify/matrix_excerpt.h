/* SPDX-License-Identifier: BSD-3-Clause */
/* An excerpt of a GEMM, some rows and columns: it is recomputed where the whole GEMM
   would take too long. */
#ifndef BITCUT_ANALYSIS_VERIFY_MATRIX_EXCERPT_H
#define BITCUT_ANALYSIS_VERIFY_MATRIX_EXCERPT_H

#include "lib/gemm/matrix.h"

enum { EXCERPT_MAX = 256 };

/* Rows or columns: the first `count`, or those at[0] to at[count - 1]. */
struct excerpt {
    size_t count, at[EXCERPT_MAX];
    bool some;
};

size_t excerpt_line(const struct excerpt *l, size_t i);

/* Select all of `count` rows or columns if they are at most `most` (2 to EXCERPT_MAX).
   Otherwise select the first, the last, and random ones between them, possibly repeated,
   from `stream` of the seed. */
struct excerpt excerpt_some(size_t count, size_t most, uint64_t seed, uint64_t stream);

/* Allocate *to and fill it with those rows and columns of `from`. */
enum bitcut_status excerpt_gather(struct matrix *to, const struct matrix *from,
                                  const struct excerpt *rows, const struct excerpt *cols,
                                  struct fault *f);

#endif
