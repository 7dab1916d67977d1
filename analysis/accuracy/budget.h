/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the error of a GEMM comes from: exact parts that add up to it. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_H

#include "emu/gemm.h"

#include <gmp.h>

/* The parts of an error.  Each part is the difference of two exact values.  The first
   value is alpha A B + beta C, the last one is D, so the parts add up to the error.  The
   comment of a part names the step between the two values. */
enum budget_part {
    BUDGET_REPRESENTATION, /* parts of a split in place of A and B, with unlimited
                              exponents */
    BUDGET_UNDERFLOW,    /* parts with their smallest exponent, as the unit reads them */
    BUDGET_SATURATION,   /* parts with their largest value */
    BUDGET_DROPPED,      /* only the products in the recipe */
    BUDGET_ALIGNMENT,    /* bits that units cut from terms before adding them */
    BUDGET_ACCUMULATION, /* sums rounded to accumulators */
    BUDGET_PROMOTION,    /* accumulators added to FP32 sums, and to each other */
    BUDGET_SLICES,       /* sums of lanes and slices added */
    BUDGET_EPILOGUE, /* rows and columns scaled back, alpha, beta, C, last rounding, and
                        the rounding of D to its format */
    BUDGET_PARTS
};

struct budget_row {
    const char *name, *what;
};

extern const struct budget_row budget_rows[BUDGET_PARTS + 1]; /* by part; ended by NULL */

/* Why an output has no finite sum. */
struct budget_event {
    const char *what; /* NULL: the sum is finite */
    int term;         /* term of the recipe; -1: none */
    size_t at;        /* instructions done before the event */
};

/* The error budget of one output, alpha sum + beta c. */
struct budget_output {
    struct budget_event event;
    double part[BUDGET_PARTS], error; /* rounded to nearest in binary64 */
    char *exact[BUDGET_PARTS];        /* as "m*2^e", if asked for; else NULL */
    double size;                      /* |alpha| |A| |B| + |beta c|          */
    double drift; /* bound on what rounding moved D by: everything except the error of
                     parts and of dropped products */
    double drift_mean;   /* mean movement by rounding, by a model (budget_watch.h) */
    double drift_spread; /* root of the sum of squares around that mean */
    double value;        /* alpha A B + beta C                  */
    uint32_t d;          /* FP32 encoding                       */
    const struct bitcut_format *format; /* format of D; NULL: f32 */
};

/* The values for which the parts of a row of A or a column of B stand. */
struct budget_values;

/* Returns NULL if memory runs out; free() releases the result.  The row or column must
   stay where it is. */
struct budget_values *budget_values_make(const struct gemm_plan *plan,
                                         enum bitcut_operand operand,
                                         const uint32_t *line, size_t k);

/* A row of A, a column of B and an element of C, each contiguous. */
struct budget_lines {
    const uint32_t *a, *b;
    size_t k;
    uint32_t c;
    const struct budget_values *values_a, *values_b; /* NULL: computed on demand */
};

/* The budget of one output of g, a GEMM on a unit, by its plan.  With `texts` the exact
   parts are set as well, which budget_clear() frees.  Returns BITCUT_NO_MEMORY if memory
   runs out. */
enum bitcut_status budget_one(struct budget_output *to, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, const struct budget_lines *x,
                              bool texts, struct fault *f);
void budget_clear(struct budget_output *x);

/* Signed mean, root mean square and largest magnitude; NaN if there are no outputs. */
struct budget_statistics {
    double mean, rms, most;
};

/* Units of the statistics: u |A||B|, u the unit roundoff of the format of D (2^-24 for
   f32), or ulps of the exact value in this format. */
enum budget_measure { BUDGET_U, BUDGET_ULP, BUDGET_MEASURES };

/* The budgets of many outputs: statistics of each part, followed by the statistics of the
   error. */
struct budget_summary {
    struct budget_statistics part[BUDGET_PARTS + 1][BUDGET_MEASURES];
    size_t total;   /* outputs of D                                               */
    size_t outputs; /* outputs computed: all, or this many spread evenly over D */
    size_t without; /* computed outputs without a finite sum, which are in no statistic */
    size_t first;   /* the first of these, i n + j; `total` if there is none */
    struct budget_event event; /* and the reason */
    /* output with the largest error in u |A||B|; `total` if there is none */
    size_t worst;
};

/* The matrices of one GEMM: FP32 encodings, row-major and contiguous. */
struct budget_matrices {
    const uint32_t *a, *b, *c; /* c: NULL if beta is +-0 */
    size_t m, n, k;
};

/* The budget of a GEMM on a unit, by its plan.  All outputs are computed if m n k is at
   most 2^27, otherwise outputs with about that many products.  If progress asks to stop,
   the result has the outputs done until then.  The result does not depend on the number
   of threads.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status budget_gemm(struct budget_summary *to, const struct bitcut_gemm *g,
                               const struct gemm_plan *plan,
                               const struct budget_matrices *x, int threads,
                               const struct progress *progress, struct fault *f);

/* The budget of output (i, j). */
enum bitcut_status budget_at(struct budget_output *to, const struct bitcut_gemm *g,
                             const struct gemm_plan *plan,
                             const struct budget_matrices *x, size_t i, size_t j,
                             struct fault *f);

#endif
