/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the error of a GEMM comes from: exact parts that add up to it. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_H

#include "emu/gemm.h"

#include <gmp.h>

/* The parts.  Each is the difference of two exact values, of which the first is
   alpha A B + beta C and the last one D: so they add up to the error. */
enum budget_part {
    BUDGET_REPRESENTATION, /* the words instead of A and B, if words had any exponent   */
    BUDGET_UNDERFLOW,  /* ... if words had no largest exponent, as the unit reads them */
    BUDGET_SATURATION, /* the words as they are                                     */
    BUDGET_DROPPED,    /* only the products that the recipe has                     */
    BUDGET_ALIGNMENT,  /* what units cut from terms before they add them            */
    BUDGET_ACCUMULATION, /* sums rounded to accumulators                              */
    BUDGET_PROMOTION,    /* accumulators added to FP32 sums, and to each other        */
    BUDGET_SLICES,       /* sums of lanes and slices, added                           */
    BUDGET_EPILOGUE,     /* lines scaled back, alpha, beta and C, the last rounding   */
    BUDGET_PARTS
};

struct budget_row {
    const char *name, *what;
};

extern const struct budget_row budget_rows[BUDGET_PARTS + 1]; /* by part; ended by NULL */

/* Why an output has no sum. */
struct budget_event {
    const char *what; /* NULL: it has one */
    int term;         /* of the recipe; -1: none                    */
    size_t at;        /* instructions that were done before this    */
};

/* An output: alpha sum + beta c, and what it is. */
struct budget_output {
    struct budget_event event;
    double part[BUDGET_PARTS], error; /* nearest to zero in binary64    */
    char *exact[BUDGET_PARTS];        /* as "m*2^e", if asked for; else NULL */
    double size;                      /* |alpha| |A| |B| + |beta c|          */
    double drift;      /* how far rounding may have moved D, for sure: all but what words
                          and products that the recipe lacks lose                     */
    double drift_mean; /* what it did on average, by a model (budget_watch.h) ...     */
    double drift_spread; /* ... and the root of the sum of squares around it            */
    double value;        /* alpha A B + beta C                  */
    uint32_t d;
};

/* What the words of a line, k elements of A or B, stand for. */
struct budget_values;

/* NULL: no memory; free() ends it.  The line stays where it is. */
struct budget_values *budget_values_make(const struct gemm_plan *plan,
                                         enum bitcut_operand operand,
                                         const uint32_t *line, size_t k);

/* A row of A, a column of B and an element of C, each without gaps. */
struct budget_lines {
    const uint32_t *a, *b;
    size_t k;
    uint32_t c;
    const struct budget_values *values_a, *values_b; /* NULL: they are made */
};

/* The budget of one output of g, a GEMM on a unit, by its plan.  `texts`: with exact
   parts, which budget_clear() frees.  BITCUT_NO_MEMORY. */
enum bitcut_status budget_one(struct budget_output *to, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, const struct budget_lines *x,
                              bool texts, struct fault *f);
void budget_clear(struct budget_output *x);

/* Signed mean, root of the mean square and largest magnitude; NaN of no outputs. */
struct budget_statistics {
    double mean, rms, most;
};

/* In u |A||B|, u = 2^-24, and in ulps of the exact value, as FP32 has them there. */
enum budget_measure { BUDGET_U, BUDGET_ULP, BUDGET_MEASURES };

/* The budgets of many outputs; of each part, and of the error behind them. */
struct budget_summary {
    struct budget_statistics part[BUDGET_PARTS + 1][BUDGET_MEASURES];
    size_t total;   /* outputs of D                                               */
    size_t outputs; /* looked at: all, or so many spread evenly over D            */
    size_t without; /* of these have no sum, and are in no statistic              */
    size_t first;   /* of these the first, i n + j; the total if there is none    */
    struct budget_event event; /* ... and why                                     */
    size_t worst; /* the output of the largest error in u |A||B|; the total if none */
};

/* The matrices of one GEMM, FP32 encodings, row-major and without gaps. */
struct budget_matrices {
    const uint32_t *a, *b, *c; /* c: NULL if beta is +-0 */
    size_t m, n, k;
};

/* The budget of a GEMM on a unit, by its plan: of all outputs up to m n k = 2^27, else of
   about as many products.  When progress asks to stop, of those that were done by then.
   The same for any number of threads.  BITCUT_NO_MEMORY. */
enum bitcut_status budget_gemm(struct budget_summary *to, const struct bitcut_gemm *g,
                               const struct gemm_plan *plan,
                               const struct budget_matrices *x, int threads,
                               const struct progress *progress, struct fault *f);

/* That of output (i, j). */
enum bitcut_status budget_at(struct budget_output *to, const struct bitcut_gemm *g,
                             const struct gemm_plan *plan,
                             const struct budget_matrices *x, size_t i, size_t j,
                             struct fault *f);

#endif
