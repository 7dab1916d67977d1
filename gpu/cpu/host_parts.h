/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of operands, made by the processor: the split pass. */
#ifndef BITCUT_GPU_CPU_HOST_PARTS_H
#define BITCUT_GPU_CPU_HOST_PARTS_H

#include "gpu/module/layout.h"

/* Make the parts of matrix i of an operand, in the layout of gpu/module/module.h. */
void host_parts_make(void *parts, const struct operand *operand, size_t i);

/* Find the largest finite magnitudes of the lines of matrix i. */
void host_parts_largest(uint32_t *to, const struct operand *operand, size_t i);

/* The start of the parts of line i. */
static inline char *host_parts_line(void *parts, const struct operand *x, int part,
                                    size_t i)
{
    const size_t first = parts_line_bytes(x), other = parts_low_line_bytes(x);
    char *const low = (char *)parts + x->lines * first;
    return part ? low + (x->lines * (size_t)(part - 1) + i) * other
                : (char *)parts + i * first;
}

#endif
