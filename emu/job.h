/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM in the middle of being run: what the engine's tiles and the fast ones share. */
#ifndef BITCUT_EMU_JOB_H
#define BITCUT_EMU_JOB_H

#include "emu/watch.h"
#include "emu/words.h"
#include "lib/base/progress.h"
#include "lib/gemm/order.h"
#include "lib/gemm/plan.h"

/* How the terms of a plan take turns, and what happens between them. */
struct schedule {
    int together;         /* terms that take turns in each k-step: all, or one      */
    size_t tile;          /* k-steps of a tile; without tiles all                   */
    bool promotes;        /* accumulator 0, at the end of each tile at least        */
    uint32_t zeroed_from; /* FP32 magnitudes that become +0 before the last term    */
    uint32_t nan;         /* of the FP32 operations                                 */
    const struct bitcut_format *sum[RECIPE_ACCUMULATORS_MAX]; /* what each holds   */
};

/* That of a plan on a unit, for so many k-steps. */
struct schedule schedule_make(const struct gemm_plan *plan,
                              const struct bitcut_unit *unit, size_t steps);

/* What an accumulator holds; the first term that it has, if any, has its unit by now. */
const struct bitcut_format *accumulator_format(const struct gemm_plan *plan,
                                               int accumulator);

struct gemm_scratch;

struct job {
    const struct gemm_plan *plan;
    struct schedule schedule;
    const struct bitcut_unit *unit;
    uint32_t alpha, beta;               /* FP32 encodings */
    const struct fast_kernels *kernels; /* NULL: only the engine           */
    const struct fast_kernels *splits;  /* NULL: words are made one by one */
    struct k_parts parts;
    struct words a, b;
    uint32_t *d;
    size_t m, n, ldd;
    uint32_t *c; /* NULL if beta is zero */
    size_t ldc;
    struct kept_words *keep_a, *keep_b; /* NULL: words are not kept */
    struct gemm_scratch *scratch;       /* NULL: none is kept      */
    const struct gemm_watch *watch;     /* NULL usually */
    const struct progress *progress;    /* looked at within a tile, too; may be NULL */
};

/* Whether the unit takes all words of both operands, so that words are of one format and
   every term runs on it. */
bool gemm_unit_takes_words(const struct bitcut_unit *unit, const struct gemm_plan *plan);

/* a b + c in FP32 to nearest even, for encodings, as the recipe's epilogue does.  The
   calling thread is in the mode of hostfp_enter(). */
uint32_t job_fma(const struct schedule *schedule, uint32_t a, uint32_t b, uint32_t c);

/* The sum of a lane or a slice, or of some of these, as the order of k has it. */
uint32_t job_sum(const struct job *job, uint32_t sum);

/* Outputs (i, j) to (i, j + count - 1) from the sums over all slices: lines that
   were equilibrated, alpha and beta. */
void job_finish(const struct job *job, size_t i, size_t j, const float *total,
                size_t count);

#endif
