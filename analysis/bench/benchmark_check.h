/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a workload: its operands, the outputs that are compared, and their
   expected values. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_CHECK_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_CHECK_H

#include "analysis/bench/benchmark_round.h"
#include "analysis/verify/matrix_excerpt.h"

/* What is compared.  Matrices of several GEMMs are stored one below the other. */
struct look {
    const struct benchmark_round *course;
    const struct bitcut_format *format; /* of A, B and D                              */
    size_t bytes;                       /* of an element                              */
    size_t distinct;    /* different A, and different B: GEMM i has number i % distinct */
    struct matrix a, b; /* the operands as FP32 values */
    struct excerpt gemms, rows,
        cols; /* the outputs compared; the arrays below have all of them */
    struct matrix some_a[EXCERPT_MAX],
        some_b[EXCERPT_MAX]; /* their rows and columns, by GEMM */
    uint32_t *exact32;                                        /* the exact product    */
    uint64_t *exact64;
    unsigned char *d, *single,
        *model;           /* encodings: the last result, single_peer, modelled */
    struct matrix value;  /* d as FP32 */
    unsigned char *lines; /* rows or columns of D, as copied from the device */
    const struct gpu_peer *single_peer;
    const struct gpu_kernel *modelled;
    int modelled_slices;
};

/* Make the operands, choose the outputs as described at benchmark_run(), and compute
   their exact values.  *x must be zeros before.  It has to be cleared even after a
   failure. */
enum bitcut_status look_init(struct look *x, const struct benchmark_round *c,
                             struct fault *f);
void look_clear(struct look *x);

/* Replace x->a and x->b by the encodings that a session takes, one after the other. */
void look_pack(struct look *x);

/* Fill x->d with the last result of the session.  Returns BITCUT_UNSUPPORTED with the
   reason of the device. */
enum bitcut_status look_read(struct look *x, struct gpu_session *session,
                             struct fault *f);

/* Compare x->d, which the runner computed.  Sets looked_at and relres, and for a kernel
   compared and mismatches, for a peer fallback. */
enum bitcut_status look_judge(struct runner *r, struct look *x, struct fault *f);

#endif
