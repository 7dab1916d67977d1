/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of one output of an FP64 GEMM by a scheme, divided among its causes. */
#ifndef BITCUT_ANALYSIS_FP64_SCHEME_BUDGET_H
#define BITCUT_ANALYSIS_FP64_SCHEME_BUDGET_H

#include "emu/fp64/scheme.h"

/* The causes.  With A' and B' for the sums of all slices of the row and the column, or
   for their truncated integers:
   - LOSS_A, LOSS_B: sum (A' - A) B and sum A' (B' - B), bits of elements that no part
   has.
   - LOSS_LEFT_OUT: products of slices with i + j above S + 1, which no scheme computes.
   - LOSS_UNIT: sums of products of parts that a floating-point unit rounds.
   - LOSS_OVERFLOW: sums of products of slices beyond s32, scaled elements that do not fit
     their integers, and products of integers beyond (P - 1) / 2, which become other
     numbers modulo P.
   - LOSS_ADDITIONS: FP64 operations that add the products, or the residues. */
enum scheme_loss {
    LOSS_A,
    LOSS_B,
    LOSS_LEFT_OUT,
    LOSS_UNIT,
    LOSS_OVERFLOW,
    LOSS_ADDITIONS,
    SCHEME_LOSSES
};

struct scheme_budget {
    bool known;   /* false: the row, the column, a scale or D is infinite or NaN   */
    double error; /* D - E, rounded once                                           */
    double part[SCHEME_LOSSES]; /* each rounded once; their exact sum is D - E     */
};

/* A row of the table of causes, by enum scheme_loss. */
struct scheme_loss_row {
    const char *name, *what;
};

extern const struct scheme_loss_row scheme_losses[]; /* ended by a row without a name */

/* Divide the error of output (row, col), which is d, of a GEMM with alpha = 1 and beta =
   0.  All parts are computed exactly, with MPFR, from the slices or integers that the
   scheme uses.  BITCUT_NO_MEMORY, or the errors of the products on the unit. */
enum bitcut_status scheme_budget(struct scheme_budget *to, const struct fp64_job *job,
                                 size_t row, size_t col, double d, struct fault *f);

#endif
