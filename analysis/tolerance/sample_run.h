/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a GEMM that limits are found from, or tried on. */
#ifndef BITCUT_ANALYSIS_TOLERANCE_SAMPLE_RUN_H
#define BITCUT_ANALYSIS_TOLERANCE_SAMPLE_RUN_H

#include "analysis/error/bound.h"
#include "analysis/error/gemm_data.h"

/* Where the matrices of runs come from: run `run` on so many rows of A and columns of B.
   Matrices at hand have k in a random order; `as_is` makes the same run with k in its own
   order, and is NULL where `make` does so, as of families. */
struct run_source {
    enum bitcut_status (*make)(struct gemm_data *to, const void *context, size_t rows,
                               size_t cols, uint64_t run, struct fault *f);
    enum bitcut_status (*as_is)(struct gemm_data *to, const void *context, size_t rows,
                                size_t cols, uint64_t run, struct fault *f);
    const void *context;
};

/* The runs of gemm_data_shuffle() from the first that is random on. */
struct shuffled_source {
    const struct gemm_data *data;
    uint64_t seed;
};

struct run_source shuffled_runs(const struct shuffled_source *from);

/* Matrices, what is exact, and a result. */
struct sample_run {
    struct gemm_data data;
    struct judge j;
    struct comparison x; /* of the result with the exact one, or with another ...       */
    uint32_t *other32;   /* ... which is here, or NULL                                  */
    uint64_t *other64;
    double *allowance; /* of each output: bound_apriori_rest()                          */
    double any;   /* the most that might underflow if every element did, in u |A||B|    */
    bool bounded; /* no element overflows; else both are 0                              */
    double terms; /* the least of all outputs: how many equal products would vary as much,
                     (sum of |a b|)^2 / sum of (a b)^2                                 */
    double lead;  /* likewise of squares of elements in the norms of A and B           */
    uint32_t *d;       /* room for a result                                             */
};

/* Set the allowance of a run that has been judged. */
enum bitcut_status sample_run_allow(struct sample_run *r, const struct bitcut_gemm *g,
                                    const struct bound_apriori *b, struct fault *f);

/* All of it but a result. */
enum bitcut_status sample_run_prepare(struct sample_run *to,
                                      const struct run_source *source,
                                      const struct bitcut_gemm *g,
                                      const struct bound_apriori *b, size_t rows,
                                      size_t cols, uint64_t run, struct fault *f);

/* The same, and D of g, a checked GEMM on a unit. */
enum bitcut_status sample_run_make(struct sample_run *to, const struct run_source *source,
                                   const struct bitcut_gemm *g,
                                   const struct bound_apriori *b, size_t rows,
                                   size_t cols, uint64_t run, struct fault *f);
void sample_run_clear(struct sample_run *r);

/* D of g, on the run's matrices. */
enum bitcut_status sample_run_compute(struct sample_run *r, const struct bitcut_gemm *g,
                                      struct fault *f);

/* The largest (|D - C| - allowance) / |A||B| of all outputs, in u = 2^-24; 0 if no output
   has a product.  Under hostfp_enter(). */
double sample_run_rest(const struct sample_run *r);

/* The same in norms: (||D - C|| - ||allowance||) / (||A|| ||B||).  Under
   hostfp_enter(). */
double sample_run_norm_rest(const struct sample_run *r);

/* Compare with D as it is now, another correct result: the allowance is twice as large.
 */
enum bitcut_status sample_run_against_d(struct sample_run *r, struct fault *f);

#endif
