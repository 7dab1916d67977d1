/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampled runs of a GEMM, the largest errors in groups of their outputs, and how far a
   number may be above those of a sample: what is usual, what a tolerance is and what
   advice is checked by come from these. */
#ifndef BITCUT_ANALYSIS_SAMPLING_SAMPLING_H
#define BITCUT_ANALYSIS_SAMPLING_SAMPLING_H

#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/gemm_data.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"

/* --- runs ------------------------------------------------------------------------- */

/* Call one(context, run, ...) for each run below the count, in any order, each once. What
   one of them fails with comes back; if `progress` asks to stop, BITCUT_UNSUPPORTED. */
enum bitcut_status
runs_do(size_t count,
        enum bitcut_status (*one)(void *context, size_t run, struct fault *f),
        void *context, int threads, const struct progress *progress, struct fault *f);

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
    uint32_t *d;  /* room for a result                                             */
};

/* Set the allowance of a run that has been judged. */
enum bitcut_status sample_run_allow(struct sample_run *r, const struct bitcut_gemm *g,
                                    const struct bound_apriori *b, struct fault *f);

/* All of it but a result; b NULL: with no allowance, `terms` and `lead`. */
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

/* --- groups of outputs ------------------------------------------------------------ */

/* The squares of the largest |D - C| / |A||B|, in u, of groups of the outputs, one after
   the other: of as many each, and the last of the rest too; or if `even`, of as equally
   many as can be.  Returns the largest of all, not squared.  Under hostfp_enter(). */
double group_maxima(double *square, size_t groups, const struct comparison *x, bool even);

/* The share of numbers of the kind that may be above, if the largest of so many is below
   with this probability. */
double share_above(double count, double probability);

/* --- tails ------------------------------------------------------------------------ */

/* A sample, its upper half taken as exponential.

   Numbers that are independent and whose hazard rate does not fall there, such as errors
   that are bounded or normal, and the largest of many of these, exceed what tail_limit()
   says less often than it says: an exponential tail of the same mean excess lies above
   theirs. */
struct tail {
    const double *x; /* ascending                                           */
    size_t count;
    size_t above;     /* numbers of the upper half                           */
    double threshold; /* the number before these; -infinity: there is none   */
    double excess;    /* how far these are above it on average               */
    double variation; /* of that, standard deviation / mean; 0: all are the same */
};

/* Sort x, ascending, and describe its upper half.  None is NaN; x stays where it is. */
void tail_fit(struct tail *t, double *x, size_t count);

/* What one more number of the kind exceeds with a probability of at most p, 0 < p < 1,
   that the sample is no better known than it is included: with r numbers above the
   threshold, of n, and e their mean excess,

     threshold + r e (((r + 1) / ((n + 1) p))^(1/r) - 1), at least the threshold,

   as one more number is above that of rank n - r with probability (r + 1) / (n + 1), and
   an exponential excess is above t times the mean of r others with (1 + t/r)^-r.
   Infinite if the sample says nothing, or has infinite numbers. */
double tail_limit(const struct tail *t, double p);

/* Whether the tail may be exponential, or lighter: of numbers above the threshold the
   coefficient of variation, 1 if they are exponential, is at most 1 + 1.75 / sqrt(r):
   some 3 % of exponential samples have more.  A heavier tail makes tail_limit() too
   small.  What happens in fewer than one of n numbers is in no sample. */
bool tail_is_light(const struct tail *t);

/* The same as a guess, as if e were known; and of p of r/n and more the number of the
   sample that no more than n p others are above. */
double tail_guess(const struct tail *t, double p);

#endif
