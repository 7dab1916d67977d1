/* SPDX-License-Identifier: BSD-3-Clause */
/* All bounds of one GEMM, compared with the error of its D. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BOUND_RUN_H
#define BITCUT_ANALYSIS_ACCURACY_BOUND_RUN_H

#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/gemm_data.h"
#include "lib/base/record.h"

/* The result of one bound for a D.  Errors are in u (|alpha| |A||B| + |beta C|), u =
   2^-24; limit_ulp is in FP32 ulps of the exact value.  If D has a short format, limits
   are for the sum before it is rounded to it, and errors are metric_unrounded(): then |D
   - C| is at most the limit plus half an ulp. */
struct bound_result {
    const struct bound_row *row;
    const struct bitcut_format *format; /* format of D; NULL: f32 */
    bool applies;
    char why[BOUND_WHY_MAX]; /* why it does not apply */
    size_t looked;      /* outputs that were checked: all, or this many spread evenly */
    size_t outputs;     /* checked outputs with a limit */
    size_t violations;  /* outputs that exceed their limit */
    size_t worst;       /* output with the largest error / limit, i n + j; m n: none */
    size_t worst_at[2]; /* row and column of that output */
    double limit, limit_most;        /* median and maximum of the limits */
    double limit_ulp;                /* median limit in ulps */
    double observed;                 /* largest error */
    double ratio;                    /* largest error / limit */
    double worst_error, worst_limit; /* error and limit of the worst output */
    double tightness; /* median limit / error, over outputs with an error */
};

/* The fields of a struct bound_result (lib/base/record.h). */
extern const struct record_field bound_fields[];

/* Check every row of `bounds`; results are in the order of the rows.  Rows that simulate
   the emulator check at most `samples` outputs; 0: as many as need about 2^20 products.
   An output has no limit if an input, a part, D or the exact value is infinite or NaN,
   unless no sum can overflow.  An error may exceed its limit by 2^-52 of the exact value,
   the accuracy to which it is known.  Medians of no values are NaN.  The result does not
   depend on the number of threads.  Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if
   asked to stop. */
enum bitcut_status bound_run(struct bound_result results[BOUNDS],
                             const struct bound_problem *x, size_t samples, int threads,
                             const struct progress *progress, struct fault *f);

/* The same for one row, which must not simulate the emulator. */
enum bitcut_status bound_run_row(struct bound_result *to, const struct bound_row *row,
                                 const struct bound_problem *x, int threads,
                                 const struct progress *progress, struct fault *f);

/* A D and the GEMM that it belongs to: its unit, plan and matrices. */
struct bound_request {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct gemm_data *data;
    const uint32_t *d;
    bool given;     /* D was given, not computed by the emulator */
    size_t samples; /* outputs to check, as for bound_run() */
};

/* The results of every bound, in the order of `bounds`.  Statuses as for judge_init() and
   bound_run(). */
enum bitcut_status bound_find(struct bound_result results[BOUNDS],
                              const struct bound_request *q,
                              const struct gemm_options *options, struct fault *f);

/* The first rigorous bound that does not hold; NULL if all hold, as they should. */
const struct bound_result *bound_broken(const struct bound_result results[BOUNDS]);

/* A sentence about all bounds (lib/base/record.h); empty unless one is violated. */
record_describe bound_describe_broken;

/* Append one bound that has outputs: the limit of the output nearest to it, its error,
   and how many outputs exceed it.  Nothing if it does not apply or has no outputs. */
void describe_bound(char *text, size_t size, const struct bound_result *r);

/* Lines on all of them: the verdict, the largest error and what is expected of it, and
   the rigorous bound that is nearest to its errors. */
extern const struct record_line bound_lines[];

#endif
