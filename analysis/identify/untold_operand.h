/* SPDX-License-Identifier: BSD-3-Clause */
/* A bias or factors that D has and that were not given: patterns of D and the exact
   product. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_UNTOLD_OPERAND_H
#define BITCUT_ANALYSIS_IDENTIFY_UNTOLD_OPERAND_H

#include "analysis/identify/problem.h"

/* A sentence on what D has in addition to the alpha A B + beta C of the block, or to all
   steps of the GEMM `told` (NULL: nothing is told), or NULL.  Of an operand that was told
   the sentence says that D does not have it as it was given.
   With P exact and R = D - P:
   - a bias: the R of a column, or of a row, differ from their median by at most 1/16 of
   the median |R| in 9 of 10 outputs, and R is not small;
   - factors: D / P is the same to 1/32 in 9 of 10 outputs, in all of the block, or in
   each row, or in each column, or is a product of a number of the row and one of the
   column; and it is not near 1.  Outputs whose terms cancel do not count. The first
   pattern counts, with factors of all of D before any other.  At most 16 rows and columns
   of the block are read; fewer than 4 rows or columns have no pattern. */
const char *untold_operand_find(const struct block *b, const struct bitcut_gemm *told,
                                uint32_t alpha, uint32_t beta);

#endif
