/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of single instructions on raw encodings. */
#ifndef BITCUT_EMU_FRAGMENT_H
#define BITCUT_EMU_FRAGMENT_H

#include "emu/trace.h"
#include "emu/unit.h"
#include "lib/base/progress.h"
#include "lib/gemm/matrix.h"

/* The operands of a batch, in the layout of recorded sets: A[count][m][k],
   B[count][k][n], C[count][m][n], one encoding an element; for a unit with block scales
   also scale_a[count][m][k / block] and scale_b[count][k / block][n], else NULL.  A batch
   of one may leave out the first dimension. */
struct fragments {
    const struct array *a, *b, *c, *scale_a, *scale_b;
};

/* The shape of a batch. */
struct fragment_shape {
    size_t count, m, n, k;
};

/* Whether the arrays fit together and to the unit: dimensions, k, element sizes, and no
   encoding with bits outside its format.  BITCUT_BAD_ARGUMENT names the array at
   fault. */
enum bitcut_status fragments_check(struct fragment_shape *shape,
                                   const struct bitcut_unit *unit,
                                   const struct fragments *x, struct fault *f);

/* An array of a caller's, encodings of `format`, or of nothing yet if that is NULL, in 64
   bits each.  BITCUT_BAD_ARGUMENT: it cannot be there, or an encoding has bits outside
   its format. */
enum bitcut_status fragments_take(struct array *to, const char *name,
                                  const uint64_t *data,
                                  const struct bitcut_format *format, size_t count,
                                  size_t rows, size_t cols, struct fault *f);

/* One output (i, j) of fragment `at` of a checked batch. */
uint64_t fragments_dot(const struct bitcut_unit *unit, const struct fragments *x,
                       struct fragment_shape shape, size_t at, size_t i, size_t j);

/* The same output, and how it came about: *trace is set, whatever it held. */
uint64_t fragments_trace(struct unit_trace *trace, const struct bitcut_unit *unit,
                         const struct fragments *x, struct fragment_shape shape,
                         size_t at, size_t i, size_t j);

/* All outputs into d (already allocated, count * m * n elements).  Any number of threads
   gives the same bits; 0 uses all processors.  BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status fragments_run(struct array *d, const struct bitcut_unit *unit,
                                 const struct fragments *x, struct fragment_shape shape,
                                 int threads, const struct progress *progress,
                                 struct fault *f);

#endif
