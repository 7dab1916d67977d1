/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions of the processor's matrix units: the code that only such a processor runs,
   in files of its own, so that the rest of the program is for any processor. */
#ifndef BITCUT_GPU_CPU_HOST_CODE_H
#define BITCUT_GPU_CPU_HOST_CODE_H

#include "gpu/cpu/host_tiles.h"

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

/* Configure the thread's tiles, all whole; after the other the system need not keep them
   for it. */
void host_amx_begin(void);
void host_amx_end(void);

/* --- blocks of whole GEMMs --------------------------------------------------------- */

/* The terms of an accumulator in their order: elements from the beginning of a step to
   the tiles of the words. */
struct host_terms {
    int count;
    struct {
        size_t a, b;
    } at[RECIPE_TERMS_MAX];
};

/* Some pairs of k of an area, `down` panels of A and `across` of B, of one run
   (gpu/cpu/host_tiles.h). */
struct host_run {
    const uint32_t *a, *b;   /* the run's part of the first panels */
    size_t a_panel, b_panel; /* elements from there to that of the next */
    size_t a_step, b_step;   /* elements from a step to the next */
    size_t first, end;       /* pairs: from the first to the one before the end */
    size_t down, across;
    int accumulators;
    const struct host_terms *terms;  /* of each */
    float *sums;                     /* of all blocks, where the code has its places */
    bool from_zero;                  /* sums begin with +0; else they go on */
    const uint32_t *a_next, *b_next; /* the run behind this one, to be brought near ... */
    size_t next_lines;               /* ... meanwhile: cache lines of a panel; 0: none */
};

/* Where the sums of an area are, in floats. */
struct host_places {
    size_t accumulator;   /* from one to the next */
    size_t lower, right;  /* from a half of a block's lines, or columns, to the other */
    size_t line;          /* from a line of a half to the next */
    size_t block, column; /* to the block below; to the column of blocks on the right */
};

enum { HOST_AREA = 8 };

/* A unit that multiplies, in the thread between begin and end.  Modes of floating point
   do not matter. */
struct host_code {
    size_t pairs; /* of an instruction; a run has whole multiples, where what is behind
                     the last pair is +0 */
    size_t run;   /* bytes of a panel of that are best, and ... */
    size_t down, across; /* ... blocks of an area: HOST_AREA at most each way */
    struct host_places (*places)(size_t down, int accumulators);
    void (*begin)(void);
    void (*multiply)(const struct host_run *run);
    void (*end)(void);
};

/* By AMX: of a recipe of one accumulator, and of bf16x9; by AVX512-BF16. */
extern const struct host_code host_amx_one, host_amx_bf16x9, host_avx512_any;

/* A block of D, line by line. */
typedef float host_block[HOST_LINES][HOST_LINES];

/* The accumulators of a block folded into one total: each times 2^-scale and what the one
   before it has, fused, from the last on.  Which NaN a NaN is does not matter yet. */
void host_block_fold(host_block total, const float *sums,
                     const struct host_places *places, int accumulators, int scale);

/* total += slice. */
void host_block_add(host_block total, const host_block slice);

/* What becomes of a total. */
struct host_output {
    float alpha, beta;
    const float *rows, *cols; /* exponents that lines of A and of B were scaled by, which
                                 the total is not; NULL: none                          */
    const host_block *c;      /* NULL: beta is 0 */
};

/* alpha times the total, which is scaled back, plus beta c; NaNs are the processor's own.
   In the mode of hostfp_enter(), as above. */
void host_block_finish(host_block total, const struct host_output *to);

/* Write up to HOST_LINES elements of a line of D, past the caches if that is asked for;
   after all of them host_written(). */
void host_write(void *to, const float *from, size_t count, bool past);
void host_written(void);

#endif
