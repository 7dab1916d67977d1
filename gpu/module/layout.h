/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory layout of the parts of an operand, as struct gpu_module
   (gpu/module/module.h) defines it: sizes of the parts and of the data that follows them,
   and the positions where split-K divides them.  Every module uses this file, for any
   runtime.  C and C++. */
#ifndef BITCUT_GPU_MODULE_LAYOUT_H
#define BITCUT_GPU_MODULE_LAYOUT_H

#include "gpu/module/module.h"

#ifdef __cplusplus
#define LAYOUT_CONSTANT constexpr
extern "C" {
#else
#define LAYOUT_CONSTANT static inline
#endif

LAYOUT_CONSTANT size_t part_bytes(int format)
{
    return format == FORMAT_TF32                           ? 4
           : format == FORMAT_F16 || format == FORMAT_BF16 ? 2
                                                           : 1;
}

/* Bytes of a line of one part. */
LAYOUT_CONSTANT size_t parts_row_bytes(int format, size_t k)
{
    return (k / GPU_PARTS_RUN + (k % GPU_PARTS_RUN != 0)) * GPU_PARTS_RUN *
           part_bytes(format);
}

/* The format of parts, FORMAT_..., that a row of the format table is; the rows belong to
   the program. */
int format_of(const struct bitcut_format *row);

/* The same for the parts of a split after the first; the first part if there is only
   one. */
int format_low_of(const struct bitcut_split *split);

/* Convert FP32 encodings of the caller.  A floating-point comparison on the host could
   treat a subnormal as zero, if the caller has set this mode. */
float float_of(uint32_t bits);

/* An operand as the split pass reads it: element p of line i is at[i ld + p], or at[p ld
   + i] if it is transposed. */
struct operand {
    const struct bitcut_matrix *matrix;
    const struct bitcut_split *split;
    bool equilibrate, across;
    int target; /* t of lib/number/equilibrate.h */
    size_t lines, k;
};

/* An operand of a GEMM whose kernel multiplies parts. */
struct operand operand_of(const struct gpu_work *w, enum bitcut_operand which);

/* Bytes of a line of the first part, and of a line of each other part. */
size_t parts_line_bytes(const struct operand *x);
size_t parts_low_line_bytes(const struct operand *x);

/* Bytes of all parts, and of the data that follows them. */
size_t parts_bytes(const struct operand *x);

/* The number of matrices from which parts are made: 0 if the parts are prepared, 1 if all
   GEMMs share the matrix. */
size_t parts_made(const struct gpu_work *work, const struct operand *x);

/* Bytes from the parts of one matrix to the parts of the next, in the output of the split
   pass. */
size_t prepared_stride(const struct operand *x);

/* The address of the largest magnitudes of equilibrated lines; NULL: lines are not
   equilibrated. */
const uint32_t *parts_largest(const void *parts, const struct operand *x);

/* How split-K divides k, in bytes of a line: slices of slice_bytes; the last slice takes
   the remainder.  The number of slices is at least one, and no other slice is empty. */
struct k_cut {
    size_t bytes, slice_bytes;
    int slices;
};

/* Divide k into at most `slices` slices of whole k-steps of an instruction; a k-step has
   step_bytes of a line of parts in a format. */
struct k_cut k_cut_of(size_t k, int slices, int format, size_t step_bytes);

#ifdef __cplusplus
}
#endif

#endif
