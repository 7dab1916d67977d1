/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact reference: A B, or alpha A B + beta C, for FP32 matrices, every element
   correctly rounded.

   Layers, fastest first, settle the elements whose rounding they can prove and leave the
   others to the next.  bins and mpfr settle all; mpfr shares no code with the others. */
#ifndef BITCUT_LIB_EXACT_EXACT_H
#define BITCUT_LIB_EXACT_EXACT_H

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/exact/dgemm.h"
#include "lib/exact/exact_sums.h"

struct exact_tile;

/* A row of the layer table. */
struct exact_layer {
    const char *name, *what;
    void (*settle)(struct exact_tile *tile); /* the elements of a tile that it can */
};

/* The rows, by position: `exact_layers[LAYER_DOT2]`. */
enum { LAYER_DOUBLE, LAYER_DOT2, LAYER_BINS, LAYER_MPFR, LAYERS };

extern const struct exact_layer exact_layers[]; /* ended by a row whose name is NULL */

/* What an element may be rounded to. */
enum exact_target { EXACT_F32, EXACT_F64, EXACT_TARGETS };

/* alpha A B + beta C in place of A B: for each element alpha S + beta c, where S is the
   exact sum of bitcut_exact_gemm() (lib/bitcut.h), zeros and infinities as it says, and
   the product and the sum are exact too, with NaN, infinities and the sign of a zero as
   in IEEE 754.  If beta is +-0, the sum is left out and C is not read. */
struct exact_update {
    uint32_t alpha, beta; /* FP32 encodings */
    const uint32_t *c;    /* m x n, without gaps; NULL if beta is +-0 */
};

/* All zeros are the defaults. */
struct exact_options {
    unsigned layers;                   /* to use, bit 1 << layer; 0: all but mpfr */
    const struct dgemm_kernel *kernel; /* NULL: dgemm_best()                      */
    int threads;                       /* 0: all processors                       */
    const struct progress *progress;   /* or NULL                                 */
    const struct exact_update *update; /* NULL: A B                               */
    const struct exact_sums *sums;     /* NULL: all are this processor's          */
};

/* How many elements of each target each layer settled, and how many none did. */
struct exact_counts {
    uint64_t settled[EXACT_TARGETS][LAYERS], unsettled[EXACT_TARGETS];
};

/* c32 and c64 as bitcut_exact_gemm() (lib/bitcut.h) describes, and in `magnitude` |A| |B|
   in binary64: k ascending, each addition rounded to nearest, NaN or infinite if a term
   is.  With an update c32 and c64 are its values, and `magnitude` is |alpha| |A| |B| +
   |beta c|, its two operations rounded to nearest too.  Any of them may be NULL, and
   `counts` and `options` too.  No output depends on the other options if the layers
   include bins or mpfr; if not, an element left unsettled is the quiet NaN.  k <= 2^46.
   BITCUT_NO_MEMORY leaves the outputs unchanged; BITCUT_UNSUPPORTED, when `progress` asks
   to stop, or what compute() returned, leaves them partly filled. */
enum bitcut_status exact_gemm(uint32_t *c32, uint64_t *c64, double *magnitude,
                              struct exact_counts *counts,
                              const struct exact_options *options, size_t m, size_t n,
                              size_t k, const uint32_t *a, const uint32_t *b,
                              struct fault *f);

#endif
