/* Words of operands by the processor: the split pass. */
#ifndef BITCUT_GPU_HOST_HOST_WORDS_H
#define BITCUT_GPU_HOST_HOST_WORDS_H

#include "gpu/layout.h"

/* Make the words of matrix i of an operand, in the layout of gpu/module.h. */
void host_words_make(void *words, const struct operand *operand, size_t i);

/* The largest finite magnitudes of the lines of matrix i. */
void host_words_largest(uint32_t *to, const struct operand *operand, size_t i);

/* Where the words of line i begin. */
char *host_words_line(void *words, const struct operand *operand, int word, size_t i);

#endif
