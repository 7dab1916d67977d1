/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling a BLAS routine by any of its names. */
#ifndef BITCUT_TESTS_RUN_BLAS_CLIENT_H
#define BITCUT_TESTS_RUN_BLAS_CLIENT_H

#include "tests/run/blas_types.h"

#include <stdbool.h>
#include <stdint.h>

typedef void any_routine(void);

/* A name that a library exports: what it is of, and how it is called. */
struct name {
    char text[64], base[32]; /* "scipy_cblas_sgemm64_", "sgemm" */
    bool cblas, wide;
    any_routine *routine;
};

/* What a call says, in CBLAS's numbers; Fortran has no order but 102. */
struct call {
    int order, ta, tb, half, side;
    int64_t m, n, k, lda, ldb, ldc, sa, sb, sc, count;
    real alpha, beta;
    const real *a, *b;
    real *c;
    /* Of a batch by pointers, all of one group; else NULL. */
    const real **each_a, **each_b;
    real **each_c;
};

/* Call a routine for products, or one whose arguments are those numbers. */
void call_routine(const struct name *f, const struct call *x);
void call_other(const struct name *f, const double *v);

#endif
