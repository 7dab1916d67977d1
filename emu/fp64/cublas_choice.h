/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuBLAS 13.1 chooses for an FP64 GEMM with fixed-point emulation, as recorded on an
   H200 (data/README.md, "libraries/fp64"). */
#ifndef BITCUT_EMU_FP64_CUBLAS_CHOICE_H
#define BITCUT_EMU_FP64_CUBLAS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* The number of slices of k of a GEMM of this size; 1: k is not cut. */
size_t cublas_slices(size_t m, size_t n, size_t k);

/* cuBLAS adds products of parts of one weight in s32 as long as they have at most this
   many k together, where those of a slice count as a multiple of 128. */
enum { CUBLAS_WINDOW = 32768 };

/* Set *bits to the bits that dynamic control finds necessary for the rows of A and the
   columns of B, k finite elements each: 54 plus the largest span of an output; 54 if
   there is no output.  Returns false if there is not enough memory.

   The span of an output is the exponent of the largest element of its row, plus that of
   its column, minus an exponent that one of its products has at least.  That exponent is
   the largest, over blocks of 64 k, of the largest exponent of one line in the block plus
   the least exponent of the other.  A zero has the exponent -4195, and so has no product;
   in a block of zeros all have -8191. */
bool cublas_bits(int *bits, const double *a, size_t m, const double *b, size_t n,
                 size_t k, int threads);

#endif
