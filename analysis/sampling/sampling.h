/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampled runs of a GEMM, the largest errors in groups of their outputs, and limits for
   numbers beyond a sample.  Typical ranges, tolerances and the checks of advice are
   computed from these. */
#ifndef BITCUT_ANALYSIS_SAMPLING_SAMPLING_H
#define BITCUT_ANALYSIS_SAMPLING_SAMPLING_H

#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/gemm_data.h"
#include "analysis/fp64/dense.h"
#include "lib/base/progress.h"
#include "lib/base/status.h"

/* --- runs ------------------------------------------------------------------------- */

/* Call one(context, run, ...) for each run below the count, once and in any order.
   Returns the status of a call that fails; BITCUT_UNSUPPORTED if `progress` asks to stop.
 */
enum bitcut_status
runs_do(size_t count,
        enum bitcut_status (*one)(void *context, size_t run, struct fault *f),
        void *context, int threads, const struct progress *progress, struct fault *f);

/* The source of the matrices of runs: `make` makes run `run` with this number of rows of
   A and columns of B.  Given matrices have k in a random order; `as_is` makes the same
   run with k in its own order.  It is NULL if `make` already does so, as for families. */
struct run_source {
    enum bitcut_status (*make)(struct gemm_data *to, const void *context, size_t rows,
                               size_t cols, uint64_t run, struct fault *f);
    enum bitcut_status (*as_is)(struct gemm_data *to, const void *context, size_t rows,
                                size_t cols, uint64_t run, struct fault *f);
    const void *context;

    /* The same for FP64 GEMMs by a scheme, in place of the first two; D is not set. */
    enum bitcut_status (*make64)(struct dense *to, const void *context, size_t rows,
                                 size_t cols, uint64_t run, struct fault *f);
    enum bitcut_status (*as_is64)(struct dense *to, const void *context, size_t rows,
                                  size_t cols, uint64_t run, struct fault *f);
};

/* Whether given matrices have k in a random order. */
static inline bool runs_are_shuffled(const struct run_source *s)
{
    return s->as_is || s->as_is64;
}

/* The runs of gemm_data_shuffle(), from the first random one on.  Of a batch, each run
   has one GEMM: the GEMM of a row of all D, and runs have rows that are spread evenly, so
   all rows are as likely. */
struct shuffled_source {
    const struct gemm_data *data; /* not read if there is a batch */
    uint64_t seed;
    const struct bitcut_gemm
        *batch; /* a checked batch in which some D has rows, or NULL */
};

struct run_source shuffled_runs(const struct shuffled_source *from);

/* The runs of dense_shuffle(), from the first random one on. */
struct shuffled_source64 {
    const struct dense *data;
    uint64_t seed;
};

struct run_source shuffled_runs64(const struct shuffled_source64 *from);

/* Set the number of slices of k of g, one GEMM by a scheme, before runs on some of its
   rows and columns: the slices into which the library cuts the k of all of g, or 1 if
   runs try other numbers (`any_order`).  Errors are those of fp64_settle();
   BITCUT_BAD_ARGUMENT also if each output depends on all rows and columns, which are too
   many. */
enum bitcut_status runs_plan64(struct bitcut_gemm *g, bool any_order, int threads,
                               struct fault *f);

/* The matrices of a run, exact values, and a result. */
struct sample_run {
    struct gemm_data data;
    struct dense dense; /* of an FP64 GEMM by a scheme, in place of data and d */
    double bound; /* of such a GEMM: the largest bound of an output, by these matrices
                     (analysis/fp64/scheme_bound.h), in u |A||B|; infinite: none */
    struct judge j;
    /* the result and its reference, the exact result or another result */
    struct comparison x;
    uint32_t *other32; /* the other result as FP32, or NULL */
    uint64_t *other64;
    double *allowance; /* for each output: bound_apriori_rest() */
    double *own_allowance; /* the same for the GEMM's own order, where `allowance` is for
                              any order; or NULL */
    /* largest possible underflow, if every element underflowed, in u |A||B| */
    double any;
    bool bounded; /* no element overflows; otherwise both above are 0 */
    /* smallest over all outputs of the effective number of products, (sum of |a b|)^2 /
       sum of (a b)^2: as many equal products would vary as much */
    double terms;
    double lead; /* the same for squares of elements in the norms of A and B; of a GEMM
                    with a start or steps also for squares of the magnitudes of outputs */
    uint32_t *d; /* space for a result */
};

/* Set the allowance of a run whose reference is computed. */
enum bitcut_status sample_run_allow(struct sample_run *r, const struct bitcut_gemm *g,
                                    const struct bound_apriori *b, struct fault *f);

/* Make all of it except a result. b NULL: without allowance, `terms` and `lead`. */
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

/* D of g, on the run's matrices; and before it is rounded to its format. */
enum bitcut_status sample_run_compute(struct sample_run *r, const struct bitcut_gemm *g,
                                      struct fault *f);
enum bitcut_status sample_run_unrounded(struct sample_run *r, const struct bitcut_gemm *g,
                                        struct fault *f);

/* The largest (|D - C| - allowance) / |A||B| over all outputs, in u; 0 if no
   output has a product.  The caller is under hostfp_enter(). */
double sample_run_rest(const struct sample_run *r);

/* The same in norms: (||D - C|| - ||allowance||) / (||A|| ||B||).  The caller is under
   hostfp_enter(). */
double sample_run_norm_rest(const struct sample_run *r);

/* Make the present D, another correct result, the reference: the allowance is doubled. */
enum bitcut_status sample_run_against_d(struct sample_run *r, struct fault *f);

/* --- groups of outputs ------------------------------------------------------------ */

/* The squares of the largest |D - C| / |A||B|, in u, of groups of outputs, one after the
   other.  Groups have equal size, and the last one includes the remainder; with `even`
   sizes are as equal as possible.  Returns the largest value of all, not squared.  The
   caller is under hostfp_enter(). */
double group_maxima(double *square, size_t groups, const struct comparison *x, bool even);

/* The share of further numbers that may be larger, if the largest of a sample of this
   size is below with this probability. */
double share_above(double count, double probability);

/* --- tails ------------------------------------------------------------------------ */

/* A sample whose upper half is taken as exponential.  Some numbers exceed tail_limit()
   less often than it states: independent numbers with a hazard rate that does not fall
   there, such as errors that are bounded or normal, and the largest of many of these.  An
   exponential tail with the same mean excess lies above theirs. */
struct tail {
    const double *x; /* ascending                                           */
    size_t count;
    size_t above;     /* numbers of the upper half                           */
    double threshold; /* the number before the upper half; -infinity: there is none */
    double excess;    /* mean distance of the upper half from the threshold */
    double variation; /* standard deviation / mean of that distance; 0: all are equal */
};

/* Sort x, ascending, and describe its upper half.  No number may be NaN; x must stay
   valid. */
void tail_fit(struct tail *t, double *x, size_t count);

/* A limit that one more number exceeds with a probability of at most p, 0 < p < 1,
   including the uncertainty of the sample.  With r of n numbers above the threshold and e
   their mean excess it is

     threshold + r e (((r + 1) / ((n + 1) p))^(1/r) - 1),

   and at least the threshold.  One more number is above the one of rank n - r with
   probability (r + 1) / (n + 1), and an exponential excess is above t times the mean of r
   others with probability (1 + t/r)^-r.  Infinite if the sample gives no information, or
   has infinite numbers. */
double tail_limit(const struct tail *t, double p);

/* Whether the tail may be exponential, or lighter: the coefficient of variation of the
   numbers above the threshold, 1 for an exponential tail, is at most 1 + 1.75 / sqrt(r).
   About 3 % of exponential samples exceed this.  A heavier tail makes tail_limit() too
   small.  Events rarer than one in n numbers are in no sample. */
bool tail_is_light(const struct tail *t);

/* The same as an estimate that treats e as known.  For p of at least r/n it is the number
   of the sample that at most n p others exceed. */
double tail_guess(const struct tail *t, double p);

#endif
