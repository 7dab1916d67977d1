/* Instructions of the processor's matrix units: the code that only such a processor runs,
   in files of its own, so that the rest of the program is for any processor. */
#ifndef BITCUT_GPU_HOST_HOST_CODE_H
#define BITCUT_GPU_HOST_HOST_CODE_H

#include "gpu/host/host_tiles.h"

#include <stdbool.h>

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

/* The terms of one accumulator over some pairs of k of a panel of A and one of B. */
struct host_chain {
    const uint32_t *a, *b; /* the panels' tiles (gpu/host/host_tiles.h) */
    size_t a_step, b_step; /* elements from a step to the next */
    size_t first, end;     /* pairs: from the first to the one before the end */
    int terms;
    struct {
        size_t a, b; /* elements from the beginning of a step to the word's tiles */
    } term[RECIPE_TERMS_MOST];
};

typedef float host_block[HOST_LINES][HOST_LINES];

/* A unit that multiplies, in the thread between begin and end: the sums of a block go on,
   or begin with +0.  Modes of floating point do not matter. */
struct host_code {
    size_t pairs; /* of an instruction; of chains the pairs are whole multiples, where
                     what is behind the last is +0 */
    void (*begin)(void);
    void (*multiply)(host_block sums, const struct host_chain *chain, bool first);
    void (*end)(void);
};

extern const struct host_code host_amx_code, host_avx512_code;

/* Accumulators folded into the first one: each times 2^-scale and what the one before it
   has, fused, from the last on.  Which NaN a NaN is does not matter yet. */
void host_block_fold(host_block *sums, int accumulators, int scale);

/* total += slice. */
void host_block_add(host_block total, const host_block slice);

/* alpha total, and plus beta c if that is not NULL; NaNs are the processor's own.  In the
   mode of hostfp_enter(), as above. */
void host_block_finish(host_block total, float alpha, float beta, const host_block c);

#endif
