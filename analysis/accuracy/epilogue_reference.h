/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference of a GEMM with a bias, factors, a start or other steps of an epilogue. */
#ifndef BITCUT_ANALYSIS_ACCURACY_EPILOGUE_REFERENCE_H
#define BITCUT_ANALYSIS_ACCURACY_EPILOGUE_REFERENCE_H

#include "analysis/accuracy/judge.h"

/* Compute what GEMM i of g gives in exact arithmetic, as the reference of j, a judge of
   its A B that has not been graded.

   - Products of a block of k are summed exactly and rounded once to binary64.  Factors
     and steps are applied in binary64: with b blocks and s steps, the reference is within
     (2 b + s + 2) 2^-53 of the magnitude.
   - Steps that only round or record change nothing.  A clamp, relu or saturation applies
     to the exact value.  Factors multiply the exact elements, wherever a kernel applies
     them.
   - `magnitude` is the same with the absolute values of all terms and factors; norms of
     lines are those of the multiplied elements.
   - The members of j->comparison for such a GEMM are set; judge_clear() frees them.  The
     judge is to be cleared after a failure as well.

   BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if `options` ask to stop. */
enum bitcut_status judge_extend(struct judge *j, const struct bitcut_gemm *g, size_t i,
                                const struct gemm_options *options, struct fault *f);

#endif
