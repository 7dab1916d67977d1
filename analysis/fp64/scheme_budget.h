/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of each output of an FP64 GEMM by a scheme, divided among its causes. */
#ifndef BITCUT_ANALYSIS_FP64_SCHEME_BUDGET_H
#define BITCUT_ANALYSIS_FP64_SCHEME_BUDGET_H

#include "analysis/accuracy/budget_answer.h"
#include "emu/fp64/fp64_gemm.h"

/* The parts of the error D - E, E = alpha A B + beta C exactly, as enum budget_part names
   them.  A' and B' are the sums of all slices of the row and the column, or their
   truncated integers.  Each part is a difference of two exact values:
   - REPRESENTATION_A, REPRESENTATION_B: alpha sum (A' - A) B and alpha sum A' (B' - B).
   - DROPPED: products of slices with i + j above S + 1, which no scheme computes.
   - UNIT: sums of products of parts that a floating-point unit rounds.
   - OVERFLOW: sums of products of slices beyond s32; scaled elements that do not fit
     their integers, and products of integers beyond (P - 1) / 2, which become other
     numbers modulo P.  The multiple of P is the one that brings the sum nearest to D.
   - ADDITIONS: FP64 operations that add products or residues; of multiply-adds, all.
   - EPILOGUE: alpha and beta C, which are applied to the sum of the first slice of k.  A
     scheme that is `backward` multiplies every weight by alpha, which belongs to
     ADDITIONS; the rounding of beta C belongs to EPILOGUE.
   - SLICES: the sums of the other slices of k, which are multiplied by alpha and added to
     D one after the other.
   A GEMM that is computed by multiply-adds instead of parts has the parts of these. */
struct scheme_budgets;

/* What the budgets of one GEMM g need: its sums before alpha and beta, by the emulator,
   as fp64_settle() chose.  Of D only the format is read.  BITCUT_NO_MEMORY, or the errors
   of the GEMM.  The matrices must outlive *to, which scheme_budgets_free() releases. */
enum bitcut_status scheme_budgets_make(struct scheme_budgets **to,
                                       const struct bitcut_gemm *g,
                                       const struct fp64_choice *by,
                                       const struct gemm_options *options,
                                       struct fault *f);
void scheme_budgets_free(struct scheme_budgets *x);

/* The budgets of all outputs, or of a sample, as budget_summarize(). */
enum bitcut_status scheme_budget_gemm(struct budget_summary *to,
                                      const struct scheme_budgets *x,
                                      const struct gemm_options *options,
                                      struct fault *f);

/* The budget of output (i, j), with the exact parts as texts, which budget_clear()
   releases.  Its D is the emulator's, d64. */
enum bitcut_status scheme_budget_at(struct budget_output *to,
                                    const struct scheme_budgets *x, size_t i, size_t j,
                                    struct fault *f);

/* For struct budget_problem, whose context is a struct scheme_budgets and whose gemm has
   the given D in FP64: its result and matrices. */
extern const struct budget_source scheme_budget_source;

#endif
