/* SPDX-License-Identifier: BSD-3-Clause */
/* All bounds of one GEMM beside what its D errs by. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BOUND_RUN_H
#define BITCUT_ANALYSIS_ACCURACY_BOUND_RUN_H

#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/gemm_data.h"
#include "lib/base/record.h"

/* What a bound says of a D.  Errors are in u (|alpha| |A||B| + |beta C|), u = 2^-24, but
   for limit_ulp: ulps of the exact value. */
struct bound_result {
    const struct bound_row *row;
    bool applies;
    char why[BOUND_WHY_MAX]; /* it does not                                         */
    size_t looked;            /* outputs looked at: all, or so many spread evenly    */
    size_t outputs;           /* of these have a limit                               */
    size_t violations;        /* of these err by more                                */
    size_t worst;             /* output of the largest part of its limit, i n + j; m n:
                                 there is none                                       */
    size_t worst_at[2];       /* its row and column                                  */
    double limit, limit_most; /* of the outputs: the median, and the most            */
    double limit_ulp;         /* the median                                          */
    double observed;          /* the most                                            */
    double ratio;             /* the most error / limit                              */
    double worst_error, worst_limit; /* of that output                               */
    double tightness; /* the median limit / error, of those that err         */
};

/* Its fields (lib/base/record.h). */
extern const struct record_field bound_fields[];

/* By row of `bounds`.  Those that watch the emulator look at `samples` outputs at most,
   0: as many as have some 2^20 products.  Outputs without a limit: an input, a word, D or
   the exact value is infinite or NaN, unless no sum can overflow; an error may be 2^-52
   of the exact value beyond its limit, as far as that is known.  Medians of nothing are
   NaN.  No number of threads changes a bit.  BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if
   asked to stop. */
enum bitcut_status bound_run(struct bound_result results[BOUNDS],
                             const struct bound_problem *x, size_t samples, int threads,
                             const struct progress *progress, struct fault *f);

/* The same of one row, which watches nothing. */
enum bitcut_status bound_run_row(struct bound_result *to, const struct bound_row *row,
                                 const struct bound_problem *x, int threads,
                                 const struct progress *progress, struct fault *f);

/* A D and what it is of: a GEMM on a unit, its plan and its matrices. */
struct bound_request {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct gemm_data *data;
    const uint32_t *d;
    bool given;     /* D is another's than the emulator's */
    size_t samples; /* as bound_run() takes them          */
};

/* What every bound says of it, by row of `bounds`.  As judge_init() and bound_run(). */
enum bitcut_status bound_find(struct bound_result results[BOUNDS],
                              const struct bound_request *q,
                              const struct gemm_options *options, struct fault *f);

/* The first rigorous bound that does not hold; NULL: all do, as they should. */
const struct bound_result *bound_broken(const struct bound_result results[BOUNDS]);

/* A sentence on all of them (lib/base/record.h): nothing unless one is broken. */
record_describe bound_describe_broken;

/* Append one bound that has outputs: the limit of the output nearest to it, its error,
   and how many outputs exceed it.  Nothing if it does not apply or has no outputs. */
void describe_bound(char *text, size_t size, const struct bound_result *r);

/* Lines on all of them: the verdict, the largest error and what is expected of it, and
   the rigorous bound that is nearest to its errors. */
extern const struct record_line bound_lines[];

#endif
