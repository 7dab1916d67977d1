/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of operands, made by the processor: the split pass. */
#ifndef BITCUT_GPU_CPU_HOST_WORDS_H
#define BITCUT_GPU_CPU_HOST_WORDS_H

#include "gpu/module/layout.h"

/* Make the parts of matrix i of an operand, in the layout of gpu/module/module.h. */
void host_words_make(void *words, const struct operand *operand, size_t i);

/* Find the largest finite magnitudes of the lines of matrix i. */
void host_words_largest(uint32_t *to, const struct operand *operand, size_t i);

/* The start of the parts of line i. */
static inline char *host_words_line(void *words, const struct operand *x, int word,
                                    size_t i)
{
    const size_t first = words_line_bytes(x), other = words_low_line_bytes(x);
    char *const low = (char *)words + x->lines * first;
    return word ? low + (x->lines * (size_t)(word - 1) + i) * other
                : (char *)words + i * first;
}

#endif
