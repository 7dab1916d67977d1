/* SPDX-License-Identifier: BSD-3-Clause */
/* A BLAS library of the machine, if there is one, as a reference for speed. */
#ifndef BITCUT_ANALYSIS_BENCH_BLAS_H
#define BITCUT_ANALYSIS_BENCH_BLAS_H

#include "lib/base/status.h"

#include <jansson.h>

/* The types that are multiplied. */
enum blas_type { BLAS_SINGLE, BLAS_DOUBLE, BLAS_TYPES };

struct blas_library;

struct blas {
    void *library;
    const struct blas_library *row;     /* of the table of gpu/cpu/blas_library.h */
    void (*multiply[BLAS_TYPES])(
        void);     /* cblas_sgemm and cblas_dgemm; NULL: not available */
    char name[80]; /* the library, its version and the kernels that it selected */
};

/* Load OpenBLAS or BLIS, as blas_library_open() does. */
void blas_open(struct blas *s);
void blas_close(struct blas *s);

/* Products per second of a b, for row-major n x n matrices of FP32 encodings, the best of
   a few runs; 0 if there is no library, or if it does not support this n.
   BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status blas_rate(double *rate, const struct blas *s, enum blas_type type,
                             size_t n, const uint32_t *a, const uint32_t *b, int threads,
                             struct fault *f);

/* Set the keys blas_fraction, blas_products_per_second and blas of a row with `rate`
   products per second, where `peer` is the rate of the library.  No key is set if `peer`
   is 0. */
void blas_describe(json_t *row, const struct blas *s, double rate, double peer);

#endif
