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

/* Cache lines that come next, to bring into the L2 cache meanwhile. */
struct host_ahead {
    const char *at;
    size_t stride, lines; /* bytes from one to the next */
};

/* The terms of an accumulator in their order: elements from the beginning of a step to
   the tiles of the words. */
struct host_terms {
    int count;
    struct {
        size_t a, b;
    } at[RECIPE_TERMS_MOST];
};

/* Some pairs of k of a panel of A and one of B, of one run (gpu/host/host_tiles.h). */
struct host_run {
    const uint32_t *a, *b; /* where the run begins                       */
    size_t a_step, b_step; /* elements from a step to the next           */
    size_t first, end;     /* pairs: from the first to the one before the end */
    int accumulators;
    const struct host_terms *terms; /* of each */
    struct host_ahead ahead[2];
};

typedef float host_block[HOST_LINES][HOST_LINES];

/* A unit that multiplies, in the thread between begin and end: the sums of a block, one
   of each accumulator, go on, or begin with +0.  Modes of floating point do not matter.
 */
struct host_code {
    size_t pairs; /* of an instruction; a run has whole multiples, where what is behind
                     the last pair is +0 */
    size_t run;   /* bytes of a panel of that are best */
    void (*begin)(void);
    void (*multiply)(host_block *sums, const struct host_run *run, bool first);
    void (*end)(void);
};

/* By AMX: of a recipe of one accumulator, and of bf16x9; by AVX512-BF16. */
extern const struct host_code host_amx_one, host_amx_bf16x9, host_avx512_any;

/* Accumulators folded into the first one: each times 2^-scale and what the one before it
   has, fused, from the last on.  Which NaN a NaN is does not matter yet. */
void host_block_fold(host_block *sums, int accumulators, int scale);

/* total += slice. */
void host_block_add(host_block total, const host_block slice);

/* What becomes of a total. */
struct host_output {
    float alpha, beta;
    const float *rows, *cols; /* exponents that lines of A and of B were scaled by, which
                                 the total is not; NULL: none                          */
    host_block *c;            /* NULL: beta is 0 */
};

/* alpha times the total, which is scaled back, plus beta c; NaNs are the processor's own.
   In the mode of hostfp_enter(), as above. */
void host_block_finish(host_block total, const struct host_output *to);

#endif
