/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of single instructions on encodings. */
#ifndef BITCUT_EMU_FRAGMENT_H
#define BITCUT_EMU_FRAGMENT_H

#include "emu/trace.h"
#include "emu/unit.h"
#include "lib/base/progress.h"
#include "lib/gemm/matrix.h"

/* The operands of a batch, in the layout of recorded sets: A[count][m][k],
   B[count][k][n], C[count][m][n], one encoding for each element.  For a unit with block
   scales also scale_a[count][m][k / block] and scale_b[count][k / block][n], otherwise
   NULL.  A batch of one fragment may omit the first dimension. */
struct fragments {
    const struct array *a, *b, *c, *scale_a, *scale_b;
};

/* The shape of a batch. */
struct fragment_shape {
    size_t count, m, n, k;
};

/* Check that the arrays fit each other and the unit: dimensions, k, element sizes, and no
   encoding with bits outside its format.  BITCUT_BAD_ARGUMENT names the wrong array. */
enum bitcut_status fragments_check(struct fragment_shape *shape,
                                   const struct bitcut_unit *unit,
                                   const struct fragments *x, struct fault *f);

/* Wrap a caller's array of encodings of `format`, or an array without contents yet if
   `format` is NULL, with 64 bits for each element.  BITCUT_BAD_ARGUMENT: the array is
   impossible, or an encoding has bits outside its format. */
enum bitcut_status fragments_take(struct array *to, const char *name,
                                  const uint64_t *data,
                                  const struct bitcut_format *format, size_t count,
                                  size_t rows, size_t cols, struct fault *f);

/* Compute output (i, j) of fragment `at` of a checked batch. */
uint64_t fragments_dot(const struct bitcut_unit *unit, const struct fragments *x,
                       struct fragment_shape shape, size_t at, size_t i, size_t j);

/* Compute the same output and record its computation: *trace is overwritten. */
uint64_t fragments_trace(struct unit_trace *trace, const struct bitcut_unit *unit,
                         const struct fragments *x, struct fragment_shape shape,
                         size_t at, size_t i, size_t j);

/* Compute all outputs into d, which is already allocated with count * m * n elements.
   Any number of threads gives the same bits; 0 uses all processors.  BITCUT_UNSUPPORTED
   if asked to stop. */
enum bitcut_status fragments_run(struct array *d, const struct bitcut_unit *unit,
                                 const struct fragments *x, struct fragment_shape shape,
                                 int threads, const struct progress *progress,
                                 struct fault *f);

#endif
