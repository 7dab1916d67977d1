/* A GEMM in the middle of being run: what the engine's tiles and the fast ones share. */
#ifndef BITCUT_EMU_JOB_H
#define BITCUT_EMU_JOB_H

#include "emu/words.h"
#include "lib/gemm_plan.h"
#include "lib/k_parts.h"
#include "lib/progress.h"

/* The terms to execute and how they take turns. */
struct plan {
    struct recipe_term term[RECIPE_TERMS_MOST];
    int terms, last;      /* the last accumulator used                              */
    int together;         /* terms that take turns in each k-step: all, or one      */
    size_t tile;          /* k-steps of a tile; without tiles all                   */
    bool promotes;        /* accumulator 0, at the end of each tile at least        */
    uint32_t zeroed_from; /* FP32 magnitudes that become +0 before the last term    */
    uint32_t nan;         /* of the FP32 operations                                 */
};

struct job {
    const struct gemm_plan *g;
    const struct bitcut_unit *unit;
    uint32_t alpha, beta; /* FP32 encodings */
    const struct fast_kernels *kernels; /* NULL: only the engine           */
    const struct fast_kernels *splits;  /* NULL: words are made one by one */
    struct plan plan;
    struct k_parts parts;
    struct words a, b;
    uint32_t *d;
    size_t m, n, ldd;
    uint32_t *c; /* NULL if beta is zero */
    size_t ldc;
    const struct progress *progress; /* looked at within a tile, too; may be NULL */
};

/* a b + c in FP32 to nearest even, for encodings, as the recipe's epilogue does.  The
   calling thread is in the mode of hostfp_enter(). */
uint32_t job_fma(const struct plan *plan, uint32_t a, uint32_t b, uint32_t c);

/* Outputs (i, j) to (i, j + count - 1) from the sums over all slices: lines that
   were equilibrated, alpha and beta. */
void job_finish(const struct job *job, size_t i, size_t j, const float *total,
                size_t count);

#endif
