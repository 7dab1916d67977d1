/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs on which an FP64 GEMM by a scheme has its largest error: a search among input
   families and then from their matrices. */
#ifndef BITCUT_ANALYSIS_FP64_WORST_INPUTS_H
#define BITCUT_ANALYSIS_FP64_WORST_INPUTS_H

#include "analysis/fp64/edge_cases.h"
#include "analysis/fp64/scheme_budget.h"

enum { WORST_RANGES = 8, WORST_NAME_MAX = 40 };
enum { WORST_RANGE_DEFAULT = 60, WORST_RANGE_MAX = 250, WORST_STEPS_DEFAULT = 600 };

struct worst_problem {
    const struct bitcut_scheme *scheme;
    const struct bitcut_unit *unit;
    int parts;
    size_t m, n, k; /* of A B, at least 1 each */
    int range;      /* exponents of a row of A and of a column of B spread by at most this
                       number of binades, 0 to WORST_RANGE_MAX                      */
    int steps;      /* changes that are tried */
    uint64_t seed;
    int threads;
    const struct progress *progress;
};

/* The largest loss for exponents that spread so far: A and B of opposite(range). */
struct worst_range {
    int range;
    double loss;
};

struct worst_inputs {
    const struct worst_problem *of;
    char from_a[WORST_NAME_MAX], from_b[WORST_NAME_MAX]; /* families of the start */
    int range;                                           /* as in the problem */
    int starts, tried, improved; /* pairs of families; changes, and those that increased
                                    the loss                                      */
    bool interrupted;            /* whether the progress asked to stop: best so far  */

    /* The output with the largest loss, in units of u |A||B|, u = 2^-53. */
    size_t row, col;
    double d, exact;      /* exact: rounded once                             */
    double loss;          /* |D - E|                                         */
    double start_loss;    /* of the families' matrices                       */
    double dgemm;         /* largest of FP64 multiply-adds on the same data  */
    double bound;         /* of the output by the scheme (analysis/fp64/scheme_bound.h);
                             infinite: none                                  */
    int range_a, range_b; /* binades that exponents of its row and column span */
    struct budget_output budget;
    double cause[BUDGET_PARTS]; /* its parts, in units of u |A||B| */

    struct worst_range ranges[WORST_RANGES];
    struct edge_result edges[EDGE_CASES];
    int rows, cols; /* rows of A and columns of B that differ; the others repeat them */
    double *a, *b;  /* m x k and k x n, row-major */
};

/* Search.  The same seed gives the same answer on every machine with any number of
   threads.  No element exceeds 2^200, and nonzero elements are at least 2^-200, so that
   the loss is not that of the ends of the range; the edge cases are about them.

   A stopped search is BITCUT_OK with the best inputs so far.  BITCUT_NO_MEMORY,
   BITCUT_BAD_ARGUMENT of the scheme, such as a k for which sums do not fit.
   worst_inputs_clear() frees the matrices. */
enum bitcut_status worst_inputs_find(struct worst_inputs *to,
                                     const struct worst_problem *problem,
                                     struct fault *f);
void worst_inputs_clear(struct worst_inputs *x);

/* The names of families of start `i`, with exponents that span at most `range` binades.
   False: after the last start. */
bool worst_start_name(char a[WORST_NAME_MAX], char b[WORST_NAME_MAX], int i, int range);

extern const struct record_field worst_inputs_fields[], worst_range_fields[],
    worst_cause_fields[];

/* Sentences about a struct worst_inputs. */
record_describe worst_describe_search, worst_describe_loss, worst_describe_cause,
    worst_describe_ranges, worst_describe_edges;

#endif
