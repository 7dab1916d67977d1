/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a GEMM, and its operands other than A, B and C, as fields
   (lib/base/record.h). */
#ifndef BITCUT_EMU_GEMM_FIELDS_H
#define BITCUT_EMU_GEMM_FIELDS_H

#include "lib/base/record.h"
#include "lib/gemm/epilogue.h"

/* Fields of struct bitcut_gemm, whose unit is set or open.  An operand that the GEMM does
   not have, or that no step reads, is null. */
extern const struct record_field gemm_operand_fields[];

/* The fields of those that are objects. */
extern const struct record_field gemm_bias_fields[], gemm_scale_a_fields[],
    gemm_scale_b_fields[], gemm_clamp_fields[], gemm_sparse_fields[];

/* The steps of a GEMM on its unit: epilogue_of(), or epilogue_of_integers() if the sums
   of the unit are integers. */
void gemm_steps(unsigned char to[EPILOGUE_STEPS_MAX], const struct bitcut_gemm *g);

#endif
