/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheme that multiplies given FP64 matrices accurately enough with the cheapest
   products of parts. */
#ifndef BITCUT_ANALYSIS_FP64_SCHEME_ADVICE_H
#define BITCUT_ANALYSIS_FP64_SCHEME_ADVICE_H

#include "analysis/accuracy/metric.h"
#include "emu/fp64/scheme.h"
#include "lib/base/record.h"

/* Rows of A, and columns of B, of a sample. */
enum { SCHEME_SAMPLE = 16, SCHEME_TRIALS_MAX = 64, SCHEME_TARGETS_MAX = 32 };

struct scheme_problem {
    const double *a, *b; /* m x k and k x n, row-major; finite */
    size_t m, n, k;      /* at least 1 each                    */
    int metric;          /* METRIC_RELRES or METRIC_BACKWARD_MAX */
    double want; /* required error in that metric, in u if it is backward_max; NaN:
                    the error of FP64 multiply-adds on the same sample, or u = 2^-53
                    if they have less                                         */
    const char *const *target; /* chips or units */
    size_t targets;            /* at most SCHEME_TARGETS_MAX */
    uint64_t seed;
    int threads;
    const struct progress *progress;
    const char *input_a, *input_b; /* files; input_b is NULL: B is A transposed */
};

/* One scheme on one target, with the fewest parts that reach the wanted error, or the
   most parts. */
struct scheme_trial {
    const struct bitcut_scheme *scheme;
    const struct bitcut_unit *unit;
    const char *target;
    int parts, products;
    double cost;    /* products times bytes of a part: proportional to time on units whose
                       rate halves when operands double                           */
    double error;   /* on the first sample  */
    double checked; /* on the second sample; NaN: not computed */
    double bound;   /* by the data, on both samples, in the metric; infinite: none */
    bool reaches;   /* both errors are at most the wanted error, and there is a bound */
};

struct scheme_advice {
    const struct scheme_problem *of;
    size_t m, n, k; /* as in the problem */
    size_t outputs, checks;
    bool all;          /* the first sample is all of D */
    double want[2];    /* required errors on the samples                                */
    double dgemm[2];   /* error of FP64 multiply-adds on the samples                    */
    double f32[2];     /* of FP32 multiply-adds of A and B rounded to FP32              */
    bool f32_suffices; /* whether that reaches the wanted error: DGEMM is not needed    */
    struct scheme_trial trial[SCHEME_TRIALS_MAX];
    size_t trials;
    const struct scheme_trial *choice; /* the cheapest that reaches; NULL: none */
};

/* Try every scheme by parts at every target that has a unit for its parts.  The fewest
   parts are found by bisection, as errors decrease with the number of parts.

   Samples are SCHEME_SAMPLE rows by as many columns, or all.  Both contain the row and
   the column with the largest sum of magnitudes; the first one also contains those whose
   exponents spread most.  Scales of a scheme by residues depend on all rows and columns;
   here they are those of the sample, which the largest rows and columns determine.

   BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if asked to stop.  *to points into *problem, and
   to->choice into *to: it must not be copied. */
enum bitcut_status scheme_advice_find(struct scheme_advice *to,
                                      const struct scheme_problem *problem,
                                      struct fault *f);

extern const struct record_field scheme_advice_fields[], scheme_trial_fields[];
extern const struct record_line scheme_advice_lines[];

#endif
