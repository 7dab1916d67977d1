/* Instructions of the processor's matrix units: the code that only such a processor runs,
   in files of its own, so that the rest of the program is for any processor. */
#ifndef BITCUT_GPU_HOST_HOST_CODE_H
#define BITCUT_GPU_HOST_HOST_CODE_H

#include "gpu/host/host_words.h"

/* Whether the compiler can make it: for x86-64, with both instruction sets. */
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<avx512bf16intrin.h>) &&                                               \
    (__has_include(<amxbf16intrin.h>) || __has_include(<amxintrin.h>))
#define HOST_HAS_CODE 1
#endif
#endif
#ifndef HOST_HAS_CODE
#define HOST_HAS_CODE 0
#endif

/* Batches of single instructions, as gpu_instruction.launch says: 0.  Only where the unit
   is there. */
int host_amx_bf16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
int host_amx_fp16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
int host_avx512_bf16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                     enum gpu_variant variant);

/* --- blocks of whole GEMMs --------------------------------------------------------- */

/* Some pairs of k of a block of lines of A and one of B, in tiles
   (gpu/host/host_words.h): A line by line, B across. */
struct host_slice {
    const struct gpu_program *program;
    const uint32_t *a, *b; /* the tiles of word 0 */
    size_t a_word, b_word; /* elements to those of the next word */
    size_t first, end;     /* pairs: from the first to the one before the end */
};

typedef float host_block[HOST_SIDE][HOST_SIDE];

/* The program's accumulators, from +0, over the slice.  Of AMX a slice is of whole tiles,
   in which what is behind the last pair is +0.  Modes of floating point do not matter. */
typedef void host_sums(host_block sums[RECIPE_ACCUMULATORS_MOST],
                       const struct host_slice *slice);

/* By AMX, of any recipe of bf16; by AVX512-BF16, of the one in the name. */
host_sums host_amx_sums;
host_sums host_avx512_plain, host_avx512_bf16x3, host_avx512_bf16x6, host_avx512_bf16x9;

#endif
