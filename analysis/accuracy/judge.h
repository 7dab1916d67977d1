/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact result of a GEMM, and the distance of another result from it. */
#ifndef BITCUT_ANALYSIS_ACCURACY_JUDGE_H
#define BITCUT_ANALYSIS_ACCURACY_JUDGE_H

#include "analysis/accuracy/fp32_bound.h"
#include "emu/gemm.h"
#include "lib/base/progress.h"
#include "lib/exact/exact.h"
#include "lib/gemm/matrix.h"

/* A row of the table of references, with which results are compared. */
struct reference {
    const char *name, *what;
    bool exact; /* true: differences from it are the errors of the result alone */
    unsigned layers; /* stages of an exact reference (lib/exact/exact.h); 0: all except
                        mpfr */
    enum bitcut_status (*compute)(struct comparison *x, struct exact_counts *counts,
                                  unsigned layers, const struct gemm_options *options,
                                  struct fault *f);
};

extern const struct reference references[]; /* ended by a row whose name is NULL */

/* A and B with their reference product, or with the reference of alpha A B + beta C. */
struct judge {
    const struct reference *reference;
    struct comparison comparison; /* every member except d */
    /* number of FP32 and binary64 values settled by each stage */
    struct exact_counts counts;
    double seconds;
    uint32_t *shifted_a, *shifted_b; /* A and B less their zero points, or NULL */
};

/* Compute the reference of alpha A B + beta C, or of A B if `update` is NULL.  Of the
   options, `threads`, `progress` and `offload` are read; they change no bit.  The
   matrices must outlive the judge.  If A is 2:4 sparse, the products are those of its
   kept elements.  *j is set only on success. */
enum bitcut_status judge_init(struct judge *j, const struct reference *reference,
                              const struct matrix *a, const struct matrix *b,
                              const struct exact_update *update,
                              const struct gemm_options *options, struct fault *f);
void judge_clear(struct judge *j);

/* D = alpha A B + beta C in binary64, row-major and without gaps: A is m x k, B is k x n,
   C and D are m x n.  C is not read if beta is +-0. */
struct matrices64 {
    size_t m, n, k;
    const double *a, *b, *c, *d;
    double alpha, beta;
};

/* Compute the reference of *g, to which j->comparison then compares D.  The reference
   must be exact.  Otherwise as judge_init(); judge_clear() clears it. */
enum bitcut_status judge64_init(struct judge *j, const struct reference *reference,
                                const struct matrices64 *g,
                                const struct gemm_options *options, struct fault *f);

/* Set the inputs of grades: the limits of an FP32 GEMM in j->comparison, and in *e the
   errors of g, whose result will be compared.  Statuses as for error_bound_fp32().  Both
   stay unchanged on failure. */
enum bitcut_status judge_grade(struct judge *j, struct error_bound *e,
                               const struct bitcut_gemm *g,
                               const struct gemm_options *options, struct fault *f);

/* The same for a judge of judge64_init(): the limits of a DGEMM, as error_bound_fp64()
   gives them. */
enum bitcut_status judge64_grade(struct judge *j, const struct gemm_options *options,
                                 struct fault *f);

#endif
