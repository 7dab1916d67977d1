/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds on the error of a GEMM: what |D - (alpha A B + beta C)| is at most. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BOUND_H
#define BITCUT_ANALYSIS_ACCURACY_BOUND_H

#include "analysis/accuracy/accumulation_error.h"
#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/metric.h"
#include "lib/base/status.h"

/* --- before A and B are known ----------------------------------------------------- */

/* |D - (alpha A B + beta C)| at (i, j) is at most

     relative u (|alpha| |A||B| + |beta C|) + least
     + |alpha| (of_a sum_k |a_ik| + of_b sum_k |b_kj| + k each),    u = 2^-24.

   For sure, if no element of A or B is larger than `most`, and no sum overflows: as none
   does where |A||B| is below 2^-4 times the largest number of the accumulator and of
   `sums` of the order, of scaled lines where they are equilibrated.

   The second line is what underflows in words.  It is 0 if every element of A and B is 0,
   or at least `from`: 2^-14 for one word of f16; for two, 2^-13 with a scale of 2^11, and
   2^-2 without one or if the unit reads subnormal words as zeros; 2^-117 for two words of
   bf16.  Else it has to be added; with `low` in place of the others where every element
   is 0 or at least `normal`, so that only low words underflow.

   Where lines are equilibrated `most` is infinite, `from` and `normal` are beside the
   largest element of each row of A and each column of B; of_a is to be multiplied by the
   largest magnitude in column j of B, of_b by that in row i of A, `each` and `lines` by
   both; and lines times both is added.  Without equilibration lines is 0.

   All numbers are rounded upward.  An infinite `relative`: k is too large for any bound.
 */
struct bound_beside {
    double of_a, of_b, each;
};

struct bound_apriori {
    double relative;
    double least;
    double from, most;
    double of_a, of_b, each;
    double lines;
    double normal;
    struct bound_beside low;
};

/* The same for g, a checked GEMM on a unit, of any A, B and C with k products an element;
   its sizes and matrices are not read.  With `any_order` for every order of k-steps,
   slices and lanes, whatever g->order has but its `sums`
   (analysis/accuracy/accumulation_error.h).  BITCUT_NO_MEMORY. */
enum bitcut_status bound_apriori(struct bound_apriori *to, const struct bitcut_gemm *g,
                                 size_t k, bool any_order, struct fault *f);

/* What those constants make of given A and B: the limits of all m n outputs of x, of
   which a, b, alpha and magnitude are set.  NaN where an element is not finite, or larger
   than `most`.  BITCUT_NO_MEMORY. */
enum bitcut_status bound_apriori_limits(double *limit, const struct bound_apriori *c,
                                        bool equilibrate, const struct comparison *x,
                                        struct fault *f);

/* All but the part of |A||B|, of elements rather than of lines, so less: `least`, and of
   every product what those of its elements add that are not 0 and below `from`, with `low`
   for those that are at least `normal`.  BITCUT_NO_MEMORY. */
enum bitcut_status bound_apriori_rest(double *rest, const struct bound_apriori *c,
                                      bool equilibrate, const struct comparison *x,
                                      struct fault *f);

/* --- bounds of given A, B and C --------------------------------------------------- */

struct exact_sums;

/* What is bounded: a GEMM on a unit by its plan, and its matrices with what is exact and
   its D; of these every array but `limit`. */
struct bound_problem {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct comparison *x;
    bool given; /* D is another's than the emulator's */
    struct accumulation path;
    struct accumulation_error way;
    const struct exact_sums
        *sums; /* lib/exact/exact_sums.h, which change no bit; or NULL */
};

/* Without sums.  BITCUT_NO_MEMORY. */
enum bitcut_status bound_problem_make(struct bound_problem *to,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_plan *plan,
                                      const struct comparison *x, bool given,
                                      struct fault *f);

/* One output that was run step by step. */
struct bound_watched {
    struct budget_output budget;
    double lost;      /* what words lose, and products that the recipe lacks, at most */
    double underflow; /* ... of that what underflows                                 */
};

enum bound_kind {
    BOUND_RIGOROUS,      /* no D of this recipe on this unit is beyond                 */
    BOUND_PROBABILISTIC, /* few are, if rounding errors are independent and of mean 0 */
    BOUND_ESTIMATE       /* few are, by a model of what this D's roundings lost       */
};

extern const char *const bound_kinds[]; /* by kind */

enum { BOUND_WHY_MAX = 200 };

/* A row of the table of bounds.  One of the last three is not NULL.  Limits are in the
   units of D, epilogue included, and rounded upward: binary64 sums of k numbers that are
   not negative are too small by k 2^-53 of them at most, so they are multiplied by 1 + (k
   + 64) 2^-52.  NaN: there is no limit, as an input or a word is not finite, or too
   large.  All are limits of |D - (alpha A B + beta C)|, where D is finite, but those with
   `part`: of that part of an error budget. */
struct bound_row {
    const char *name, *what;
    enum bound_kind kind;
    const char *source;
    bool underflow; /* it bounds what underflows in words, nothing else  */
    bool sharp;     /* some inputs come near to it                       */

    /* Whether it holds; if not `why` says why. */
    bool (*applies)(char why[BOUND_WHY_MAX], const struct bound_problem *x);

    /* From the GEMM and k alone. */
    struct bound_apriori (*constants)(const struct bound_problem *x);

    /* Of each output, m n of them.  BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to
       stop. */
    enum bitcut_status (*fill)(double *limit, const struct bound_problem *x, int threads,
                               const struct progress *progress, struct fault *f);

    /* Of one that was watched. */
    double (*watched)(const struct bound_watched *one);
};

/* The rows, by position: `bounds[BOUND_ALIGNED]`. */
enum {
    BOUND_ANY_ORDER,
    BOUND_BLOCK_FMA,
    BOUND_ALIGNED,
    BOUND_RUNNING,
    BOUND_BIASED,
    BOUND_ZERO_MEAN,
    BOUND_WORDS,
    BOUND_PROMOTED,
    BOUND_UNDERFLOW,
    BOUNDS
};

extern const struct bound_row bounds[]; /* ended by a row whose name is NULL */

/* The limits of all outputs, m n of them, by a row that applies.  No number of
   threads changes a bit.  BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status bound_limits(double *limit, const struct bound_row *row,
                                const struct bound_problem *x, int threads,
                                const struct progress *progress, struct fault *f);

/* Output `at`, i n + j, watched. */
enum bitcut_status bound_watch(struct bound_watched *to, const struct bound_problem *x,
                               size_t at, struct fault *f);

#endif
