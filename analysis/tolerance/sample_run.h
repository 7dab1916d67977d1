/* One run of a GEMM that limits are found from, or tried on. */
#ifndef BITCUT_ANALYSIS_TOLERANCE_SAMPLE_RUN_H
#define BITCUT_ANALYSIS_TOLERANCE_SAMPLE_RUN_H

#include "analysis/error/bound.h"
#include "analysis/error/gemm_data.h"

/* Where the matrices of runs come from: run `run` on so many rows of A and columns of
   B. */
struct run_source {
    enum bitcut_status (*make)(struct gemm_data *to, const void *context, size_t rows,
                               size_t cols, uint64_t run, struct fault *f);
    const void *context;
};

/* The runs of gemm_data_shuffle(). */
struct shuffled_source {
    const struct gemm_data *data;
    uint64_t seed;
};

enum bitcut_status shuffled_make(struct gemm_data *to, const void *context, size_t rows,
                                 size_t cols, uint64_t run, struct fault *f);

/* Matrices, what is exact, and a result. */
struct sample_run {
    struct gemm_data data;
    struct judge j;
    struct comparison x; /* of the result with the exact one, or with another ...       */
    uint32_t *other32;   /* ... which is here, or NULL                                  */
    uint64_t *other64;
    double *allowance; /* of each output: what the bound has besides a part of |A||B|  */
    bool bounded;      /* no element overflows; else the allowance is 0                 */
    uint32_t *d;       /* room for a result                                             */
};

/* Set the allowance of a run that has been judged. */
enum bitcut_status sample_run_allow(struct sample_run *r, const struct bitcut_gemm *g,
                                    const struct bound_apriori *b, struct fault *f);

/* All of it, and D of g, a checked GEMM on a unit. */
enum bitcut_status sample_run_make(struct sample_run *to, const struct run_source *source,
                                   const struct bitcut_gemm *g,
                                   const struct bound_apriori *b, size_t rows,
                                   size_t cols, uint64_t run, struct fault *f);
void sample_run_clear(struct sample_run *r);

/* D of g, on the run's matrices. */
enum bitcut_status sample_run_compute(struct sample_run *r, const struct bitcut_gemm *g,
                                      struct fault *f);

/* Compare with D as it is now, another correct result: the allowance is twice as large.
 */
enum bitcut_status sample_run_against_d(struct sample_run *r, struct fault *f);

#endif
