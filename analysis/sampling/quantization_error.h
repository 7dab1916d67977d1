/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of quantized operands: what the exact result of a GEMM with factors differs
   from that of the matrices before they were quantized. */
#ifndef BITCUT_ANALYSIS_SAMPLING_QUANTIZATION_ERROR_H
#define BITCUT_ANALYSIS_SAMPLING_QUANTIZATION_ERROR_H

#include "analysis/accuracy/gemm_data.h"
#include "lib/base/record.h"

/* C is the exact value of all steps for the quantized A and B, C0 the same for the
   originals. Outputs that are not finite are left out. */
struct quantization_error {
    double component;   /* largest |C - C0| / |A0||B0|, |A0||B0| the magnitudes of C0's
                           terms */
    size_t worst_at[2]; /* row and column of that output */
    double relres; /* ||C - C0|| / ||C0||, Frobenius norms                             */
    bool has_d;
    double d_relres; /* with D: ||D - C0|| / ||C0|| */
    double d_own; /* with D: ||D - C|| / ||C0||, the part of the kernel               */
};

/* The fields (lib/base/record.h). */
extern const struct record_field quantization_fields[];

/* Compare the exact result of g on `data` with that on original matrices, which take the
   place of A and of B with their factors.  at NULL: that operand is as it is in `data`.
   d: D as FP32 encodings, or NULL.  Shapes are those of A and B.  Statuses as for
   gemm_data_judge(). */
enum bitcut_status quantization_find(struct quantization_error *to,
                                     const struct bitcut_gemm *g,
                                     const struct gemm_data *data,
                                     const struct matrix *original_a,
                                     const struct matrix *original_b, const uint32_t *d,
                                     const struct gemm_options *options, struct fault *f);

#endif
