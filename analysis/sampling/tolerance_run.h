/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs from which limits are found: correct results in some orders of k, and their
   errors. */
#ifndef BITCUT_ANALYSIS_SAMPLING_TOLERANCE_RUN_H
#define BITCUT_ANALYSIS_SAMPLING_TOLERANCE_RUN_H

#include "analysis/sampling/arrangement.h"
#include "analysis/sampling/order_set.h"
#include "analysis/sampling/tolerance.h"

enum {
    STEPS = 5,  /* values of rtol, from 0 to the whole limit */
    SAMPLE = 64 /* outputs of a run whose sizes are stored */
};

/* An output: |A||B| and |C|. */
struct extent_of_output {
    double size, value;
};

/* Measures: |D - C| / |A||B|; the same less what underflows; both in norms. */
enum measure { BY_SIZE, BY_REST, BY_NORM, BY_NORM_REST, MEASURES };

/* The kinds of results: D of the drawn run, in the GEMM's own order or in all orders; D
   with k in its own order or in all chosen orders; zeros. */
enum whose { DRAWN, DRAWN_ALL, ARRANGED, ARRANGED_ALL, ZEROS, WHOSE };

/* The result of one run: measures of the D with the largest errors. */
struct run_report {
    double error[WHOSE][MEASURES];
    double reach[STEPS]; /* the largest |A||B| - t |C|, t = 0, 1/4, ... 1             */
    double least_share;  /* the smallest |C| / |A||B| */
    double least_value;  /* the smallest |C| that is not 0 */
    double lost, allowance;    /* the largest allowance, in u |A||B| and absolute       */
    double any;                /* the largest possible underflow, in the same units */
    double terms, lead, bound; /* of the sample_run                                  */
    bool bounded;
    size_t over[BITCUT_DECADES], wrong;
    struct extent_of_output output[SAMPLE];
};

/* The data that all runs share. */
struct study_of_runs {
    const struct tolerance_problem *q;
    struct run_report *r;
    struct bitcut_order order[ORDERS_MAX];
    size_t orders, rows, cols;
    bool arranged[ARRANGEMENTS]; /* arrangements in addition to the drawn order */
    bool whole; /* each run has all rows and columns of the same matrices */
    struct bound_apriori bound, own_bound; /* own_bound: in the GEMM's own order */
};

/* Choose the orders and the sizes of the runs of *q, and reserve a report for each, which
   free(s->r) frees.  Returns BITCUT_NO_MEMORY, or a status of bound_apriori(). */
enum bitcut_status tolerance_runs_make(struct study_of_runs *s,
                                       const struct tolerance_problem *q,
                                       struct fault *f);

/* Do run `number` of a struct study_of_runs: a function for runs_do(). */
enum bitcut_status tolerance_run(void *study, size_t number, struct fault *f);

#endif
