/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions of the processor's matrix units.  Code that only such processors run is in
   separate files, so that the rest of the program runs on any processor. */
#ifndef BITCUT_GPU_CPU_HOST_CODE_H
#define BITCUT_GPU_CPU_HOST_CODE_H

#include "gpu/cpu/host_tiles.h"

#include <stdbool.h>

/* Whether the compiler supports it: for x86-64, with both instruction sets. */
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<avx512bf16intrin.h>) &&                                               \
    (__has_include(<amxbf16intrin.h>) || __has_include(<amxintrin.h>))
#define HOST_HAS_CODE 1
#endif
#endif
#ifndef HOST_HAS_CODE
#define HOST_HAS_CODE 0
#endif

/* Run batches of single instructions, as gpu_instruction.launch describes; returns 0.
   Call only if the unit exists. */
int host_amx_bf16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
int host_amx_fp16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                  enum gpu_variant variant);
int host_avx512_bf16(const struct gpu_instruction *row, const struct gpu_batch *batch,
                     enum gpu_variant variant);

/* Configure the thread's tiles, all of full size.  After the second function the system
   need not save them for the thread. */
void host_amx_begin(void);
void host_amx_end(void);

/* --- blocks of whole GEMMs --------------------------------------------------------- */

/* The terms of an accumulator in their order: offsets, in elements, from the start of a
   step to the tiles of the parts. */
struct host_terms {
    int count;
    struct {
        size_t a, b;
    } at[RECIPE_TERMS_MAX];
};

/* Some pairs of k of an area, with `down` panels of A and `across` panels of B, in one
   run (gpu/cpu/host_tiles.h). */
struct host_run {
    const uint32_t *a, *b;   /* the run's data in the first panels */
    size_t a_panel, b_panel; /* elements from one panel to the next     */
    size_t a_step, b_step;   /* elements from one step to the next */
    size_t first, end;       /* pairs: the first one, and the end               */
    size_t down, across;
    int accumulators;
    const struct host_terms *terms;  /* terms of each accumulator */
    float *sums;                     /* sums of all blocks, in the code's places     */
    bool from_zero;                  /* whether sums begin with +0; else they continue */
    const uint32_t *a_next, *b_next; /* the next run, to be prefetched,                 */
    size_t next_lines;               /* and its cache lines in a panel; 0: none        */
};

/* The positions of the sums of an area, in floats. */
struct host_places {
    size_t accumulator;   /* distance of accumulators */
    size_t lower, right;  /* distance of the two halves of a block's lines, and of its
                             columns                                                  */
    size_t line;          /* distance of lines in a half       */
    size_t block, column; /* distance to the block below, and to the column of blocks on
                             the right                                                */
};

enum { HOST_AREA = 8 };

/* A unit that multiplies, in a thread between begin and end.  Floating-point modes do not
   matter. */
struct host_code {
    size_t pairs; /* pairs of an instruction; a run has whole multiples, with +0 after the
                     last pair           */
    size_t run;   /* best size of a run of a panel, in bytes,   */
    size_t down, across; /* and of an area, in blocks: at most HOST_AREA in each
                            direction                                         */
    struct host_places (*places)(size_t down, int accumulators);
    void (*begin)(void);
    void (*multiply)(const struct host_run *run);
    void (*end)(void);
};

/* By AMX: for a recipe with one accumulator, and for bf16x9; by AVX512-BF16. */
extern const struct host_code host_amx_one, host_amx_bf16x9, host_avx512_any;

/* A block of D, line by line. */
typedef float host_block[HOST_LINES][HOST_LINES];

/* Fold the accumulators of a block into one total, from the last one on: each is
   multiplied by 2^-scale and added to the one before it, fused.  The bits of a NaN do not
   matter yet. */
void host_block_fold(host_block total, const float *sums,
                     const struct host_places *places, int accumulators, int scale);

/* total += slice. */
void host_block_add(host_block total, const host_block slice);

/* How outputs are made from totals. */
struct host_output {
    float alpha, beta;
    const float *rows, *cols; /* exponents by which lines of A and of B were scaled; the
                                 total is still scaled; NULL: none                     */
    const host_block *c;      /* NULL: beta is 0 */
};

/* Scale the total back, multiply it by alpha, and add beta c.  NaNs have the processor's
   own bits.  In the mode of hostfp_enter(), as above. */
void host_block_finish(host_block total, const struct host_output *to);

/* Write up to HOST_LINES elements of a line of D, with non-temporal stores if `past` is
   set; call host_written() after all of them. */
void host_write(void *to, const float *from, size_t count, bool past);
void host_written(void);

#endif
