/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact reference: A B, or alpha A B + beta C, for FP32 matrices, every element
   correctly rounded.
   Layers, fastest first, settle the elements whose rounding they can prove, and leave the
   remaining elements to the next layer.  The layers bins and mpfr settle every element.
   The layer mpfr shares no code with the other layers. */
#ifndef BITCUT_LIB_EXACT_EXACT_H
#define BITCUT_LIB_EXACT_EXACT_H

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/exact/dgemm.h"
#include "lib/exact/exact_sums.h"

struct exact_tile;
struct exact64_tile;

/* A row of the layer table. */
struct exact_layer {
    const char *name, *what;
    void (*settle)(struct exact_tile *tile); /* settle the elements of a tile that the
                                                layer can settle                   */
    void (*settle64)(struct exact64_tile *tile); /* the same for binary64 operands
                                                    (lib/exact/exact64.h); NULL: none */
};

/* The rows, by position: `exact_layers[LAYER_DOT2]`. */
enum { LAYER_DOUBLE, LAYER_DOT2, LAYER_BINS, LAYER_MPFR, LAYERS };

/* The layers of options whose `layers` is 0. */
enum { LAYERS_DEFAULT = 1 << LAYER_DOUBLE | 1 << LAYER_DOT2 | 1 << LAYER_BINS };

extern const struct exact_layer exact_layers[]; /* ended by a row whose name is NULL */

/* The format to which an element is rounded. */
enum exact_target { EXACT_F32, EXACT_F64, EXACT_TARGETS };

/* alpha A B + beta C instead of A B.  Each element is alpha S + beta c, where S is the
   exact sum of bitcut_exact_gemm() (lib/bitcut.h), with its rules for zeros and
   infinities.  The product and the sum are exact too, with NaN, infinities and the sign
   of a zero as in IEEE 754.  If beta is +-0, the sum is omitted and C is not read. */
struct exact_update {
    uint32_t alpha, beta; /* FP32 encodings */
    const uint32_t *c;    /* m x n, without gaps; NULL if beta is +-0 */
};

/* All zeros are the defaults. */
struct exact_options {
    unsigned layers;                   /* layers to use, bit 1 << layer; 0: all except
                                          mpfr                                    */
    const struct dgemm_kernel *kernel; /* NULL: dgemm_best()                      */
    int threads;                       /* 0: all processors                       */
    const struct progress *progress;   /* or NULL                                 */
    const struct exact_update *update; /* NULL: the result is A B                 */
    const struct exact_sums *sums;     /* NULL: this processor computes all sums  */
};

/* The number of elements that each layer settled for each target, and that no layer
   settled. */
struct exact_counts {
    uint64_t settled[EXACT_TARGETS][LAYERS], unsettled[EXACT_TARGETS];
};

/* Compute c32 and c64 as bitcut_exact_gemm() (lib/bitcut.h) describes, and in `magnitude`
   |A| |B| in binary64: k ascending, each addition rounded to nearest, NaN or infinite if
   a term is.

   With an update, c32 and c64 are the values of the update, and `magnitude` is |alpha|
   |A| |B| + |beta c|, whose two operations are rounded to nearest too.

   Any of the outputs, `counts` and `options` may be NULL.  k <= 2^46.  If the layers
   include bins or mpfr, no output depends on the other options; otherwise an element that
   is not settled is the quiet NaN.

   BITCUT_NO_MEMORY leaves the outputs unchanged.  BITCUT_UNSUPPORTED, if `progress` asks
   to stop, or a status that compute() returned, leaves them partly filled. */
enum bitcut_status exact_gemm(uint32_t *c32, uint64_t *c64, double *magnitude,
                              struct exact_counts *counts,
                              const struct exact_options *options, size_t m, size_t n,
                              size_t k, const uint32_t *a, const uint32_t *b,
                              struct fault *f);

#endif
