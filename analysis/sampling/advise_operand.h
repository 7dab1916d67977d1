/* SPDX-License-Identifier: BSD-3-Clause */
/* Operands of a product after quantization, on the samples of advise. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_OPERAND_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_OPERAND_H

#include "analysis/sampling/norm_sample.h"
#include "lib/number/quantizer.h"

/* The elements of an operand that a quantizer gives, and its factors, for the rows of A or
   columns of B of two samples: rows x k and rows x blocks, or k x columns and blocks x
   columns. */
struct advise_operand {
    bool made;
    struct matrix element[2], factor[2];
    uint32_t matrix_scale; /* FP32 encoding */
};

/* Quantize x, A or with `is_b` B, as a whole, and keep the lines of the samples.  Does
   nothing if it is made.  BITCUT_BAD_ARGUMENT if an element is not finite;
   BITCUT_NO_MEMORY; then there is nothing to clear. */
enum bitcut_status advise_operand_make(struct advise_operand *to,
                                       const struct bitcut_quantizer *q,
                                       const struct matrix *x, bool is_b,
                                       const struct norm_sample *sample[2],
                                       struct fault *f);
void advise_operand_clear(struct advise_operand *x);

#endif
