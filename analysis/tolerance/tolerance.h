/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test of a kernel should accept: limits that a correct one keeps. */
#ifndef BITCUT_ANALYSIS_TOLERANCE_TOLERANCE_H
#define BITCUT_ANALYSIS_TOLERANCE_TOLERANCE_H

#include "analysis/tolerance/sample_run.h"

struct tolerance_question {
    const struct bitcut_gemm *gemm; /* recipe, unit, order, alpha and beta count       */
    struct run_source source;
    size_t m, n, k; /* of the GEMM that is tested                                      */
    bool any_order; /* of k, not just that of the GEMM                                 */
    bool two;       /* D is compared with another correct result, not the exact one    */
    size_t runs;    /* 1 or more                                                       */
    double alarm;   /* probability that a correct result is above an observed limit    */
};

/* A limit on a measure of D - C, C the exact result, in u = 2^-24.

   `observed` is the largest of: tail_limit() of the largest error of each run that was
   drawn; the same of runs with k in orders that were chosen (analysis/tolerance/
   arrangement.h), the GEMM's own among them; 1.25 times the largest of these; and `most`,
   with one more rounding of the unit's if in some output few products count; but no more
   than `bound`.

   `known`: the runs do not contradict that at most one correct result in 1 / alarm is
   above it, as tail_is_light().  Else it is 2 times `most`, if that is more, a number
   without a probability. */
struct tolerance_limit {
    double bound;    /* for certain                                                    */
    double observed;
    double most;     /* the largest of all runs                                        */
    bool known;
};

/* |D - C| <= atol + rtol |C|. */
struct allclose {
    double rtol, atol;
};

enum { CONDITION_DECADES = 7 };

/* Limits of every measure, which are infinite where there is none: where elements
   overflow, or the sample says nothing.  With `two` they are twice as large, but for
   `most`. */
struct tolerance {
    size_t runs, rows, cols;    /* outputs of a run: rows x cols                 */
    size_t orders;              /* of k in each run                              */
    size_t arrangements;        /* chosen orders of all products along k         */
    struct bound_apriori bound; /* what the bound has besides a part of |A||B| ...  */
    double lost, allowance;     /* ... is so much at most in all runs: in u |A||B|;
                                   absolute                                      */
    double sums; /* what two sums in binary64, for C and |A||B|, err by in whatever order:
                    u |A||B|; in limits for allclose() and of python_lines.h alone      */
    struct tolerance_limit component; /* |D - C| <= that times |A||B|; `bound` with what
                                         the bound has besides                         */
    struct tolerance_limit rest;      /* |D - C| <= that times |A||B| + what the bound has
                                         besides; it is always known, if need be as the
                                         bound                                         */
    struct tolerance_limit norm;      /* ||D - C||_F <= that times ||A||_F ||B||_F     */
    struct tolerance_limit norm_rest; /* ... and the norm of what the bound has besides */

    /* Runs in which D = 0, or D = 2 C, keeps all limits that are known: where it does a
       test says nothing. */
    size_t zeros;

    /* Limits for allclose() that correct results keep where |D - C| keeps the bound,
       [0], or the observed limit, [1]; and how many times wider than a limit on |D - C| /
       |A||B| they are at nine of ten outputs, at most. */
    struct allclose allclose[2];
    double slack;

    /* The same with atol 0; infinite where terms cancel without limit. */
    double rtol[2], rtol_slack;

    /* The share of outputs with |A||B| > 10^i |AB|, and how many correct outputs are NaN
       or infinite where the exact ones are not. */
    double cancelling[CONDITION_DECADES];
    size_t wrong;
};

/* Whether limits have to have what underflows: that in |A||B| alone is not known, or what
   underflows may be most of it. */
bool tolerance_needs_rest(const struct tolerance *t);

/* Runs on some 2^20 products of A and B each, of all orders together, but of 256 outputs
   at least.  Errors of larger matrices exceed a limit no more often than those of as many
   such runs as make up their outputs.  The same for any number of threads.
   BITCUT_NO_MEMORY; what the source says; BITCUT_CANNOT if asked to stop. */
enum bitcut_status tolerance_find(struct tolerance *to,
                                  const struct tolerance_question *q, int threads,
                                  const struct progress *progress, struct fault *f);

/* Whether limits for allclose() with this slack are worth having. */
enum { TOLERANCE_SLACK_MOST = 8 };

#endif
