/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a workload is looked at: operands, the outputs that are compared, and what
   these should be. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_CHECK_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_CHECK_H

#include "analysis/bench/benchmark_round.h"
#include "analysis/verify/matrix_excerpt.h"

/* Matrices of several GEMMs lie below each other. */
struct look {
    const struct benchmark_round *course;
    const struct bitcut_format *format; /* of A, B and D                              */
    size_t bytes;                       /* of an element                              */
    size_t distinct;                    /* of A, and of B: GEMM i has i % distinct    */
    struct matrix a, b;                 /* these, as FP32 values                      */
    struct excerpt gemms, rows, cols;   /* which outputs; arrays below have them all  */
    struct matrix some_a[EXCERPT_MAX], some_b[EXCERPT_MAX]; /* their lines, by GEMM */
    uint32_t *exact32;                                        /* the exact product    */
    uint64_t *exact64;
    unsigned char *d, *single,
        *model;           /* encodings: what ran last, single_peer, modelled */
    struct matrix value;  /* d as FP32 */
    unsigned char *lines; /* of D as they come from the device */
    const struct gpu_peer *single_peer;
    const struct gpu_kernel *modelled;
    int modelled_slices;
};

/* Make the operands, and choose outputs, as benchmark_run() says, and their exact values.
   *x is zeros before, and cleared also after a failure. */
enum bitcut_status look_init(struct look *x, const struct benchmark_round *c,
                             struct fault *f);
void look_clear(struct look *x);

/* Make x->a and x->b the encodings that a session takes, one after the other. */
void look_pack(struct look *x);

/* Fill x->d with what ran last in the session.  BITCUT_UNSUPPORTED with the device's
 * reason.
 */
enum bitcut_status look_read(struct look *x, struct gpu_session *session,
                             struct fault *f);

/* What x->d, which the runner computed, is found to be: looked_at, relres, and compared
   and mismatches of a kernel, or fallback of a peer. */
enum bitcut_status look_judge(struct runner *r, struct look *x, struct fault *f);

#endif
