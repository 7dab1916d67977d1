/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the words of an operand lie in memory, as struct gpu_module (gpu/module/module.h)
   says: their sizes, and those of what follows them; where split-K cuts them.  Of every
   module, whatever its runtime.  C and C++. */
#ifndef BITCUT_GPU_MODULE_LAYOUT_H
#define BITCUT_GPU_MODULE_LAYOUT_H

#include "gpu/module/module.h"

#ifdef __cplusplus
#define LAYOUT_CONSTANT constexpr
extern "C" {
#else
#define LAYOUT_CONSTANT static inline
#endif

LAYOUT_CONSTANT size_t word_bytes(int format)
{
    return format == FORMAT_TF32                           ? 4
           : format == FORMAT_F16 || format == FORMAT_BF16 ? 2
                                                           : 1;
}

/* Bytes of a line of one word. */
LAYOUT_CONSTANT size_t words_row_bytes(int format, size_t k)
{
    return (k / GPU_WORDS_RUN + (k % GPU_WORDS_RUN != 0)) * GPU_WORDS_RUN *
           word_bytes(format);
}

/* Which of the formats of words, FORMAT_..., a row is: the rows are the program's. */
int format_of(const struct bitcut_format *row);

/* The same of the words of a split after the first; of the first if it is alone. */
int format_low_of(const struct bitcut_split *split);

/* FP32 encodings of the caller.  The host's own comparison would take a subnormal for a
   zero where its caller has that set. */
float float_of(uint32_t bits);

/* An operand as the split pass sees it: element p of line i is at[i ld + p], or, if it
   lies across, at[p ld + i]. */
struct operand {
    const struct bitcut_matrix *matrix;
    const struct bitcut_split *split;
    bool equilibrate, across;
    int target; /* t of lib/number/equilibrate.h */
    size_t lines, k;
};

/* Of a GEMM by a kernel of words. */
struct operand operand_of(const struct gpu_work *w, enum bitcut_operand which);

/* Bytes of a line of the first word, and of a line of each other one. */
size_t words_line_bytes(const struct operand *x);
size_t words_low_line_bytes(const struct operand *x);

/* Bytes of all words, and of what follows them. */
size_t words_bytes(const struct operand *x);

/* Of how many matrices words are made: of none if they are prepared, of one that all
   GEMMs share. */
size_t words_made(const struct gpu_work *work, const struct operand *x);

/* From the words of one matrix to those of the next where the split pass puts them. */
size_t prepared_stride(const struct operand *x);

/* Where the largest magnitudes of equilibrated lines are; NULL: they are not. */
const uint32_t *words_largest(const void *words, const struct operand *x);

/* How split-K cuts k, in bytes of a line: slices of slice_bytes, the last one of what is
   left.  As many as are not empty, but one at least. */
struct k_cut {
    size_t bytes, slice_bytes;
    int slices;
};

/* Into `slices` at most of whole k-steps of an instruction, which have step_bytes of a line
   of words of a format. */
struct k_cut k_cut_of(size_t k, int slices, int format, size_t step_bytes);

#ifdef __cplusplus
}
#endif

#endif
