/* Words of operands by the processor: the split pass, and the tiles that its matrix units
   multiply. */
#ifndef BITCUT_GPU_HOST_HOST_WORDS_H
#define BITCUT_GPU_HOST_HOST_WORDS_H

#include "gpu/layout.h"

/* Make the words of matrix i of an operand, in the layout of gpu/module.h. */
void host_words_make(void *words, const struct operand *operand, size_t i);

/* The same words, of 16 bits, in blocks of HOST_SIDE lines and tiles of HOST_PAIRS pairs
   of elements along k, what there is not being +0: tile [block][word][tile] has HOST_SIDE
   x HOST_PAIRS pairs, each the 32 bits of two 16-bit elements that follow each other in
   k.
 */
enum { HOST_SIDE = 16, HOST_PAIRS = 16, HOST_TILE = HOST_SIDE * HOST_PAIRS };

/* Blocks of the operand, and tiles along k. */
size_t host_blocks(const struct operand *operand);
size_t host_tiles(const struct operand *operand);

/* Bytes of all tiles. */
size_t host_packed_bytes(const struct operand *operand);

/* Line by line, [line][pair], or, if `across`, [pair][line]. */
void host_pack(uint32_t *to, const struct operand *operand, const void *words,
               bool across);

#endif
