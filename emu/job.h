/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM while it runs: the data shared by the tiles of the engine and of the fast
   paths. */
#ifndef BITCUT_EMU_JOB_H
#define BITCUT_EMU_JOB_H

#include "emu/watch.h"
#include "emu/parts.h"
#include "lib/base/progress.h"
#include "lib/gemm/epilogue.h"
#include "lib/gemm/order.h"
#include "lib/gemm/plan.h"

/* The order of the terms of a plan, and the operations between them. */
struct schedule {
    int together;         /* number of terms that are interleaved in each k-step: all, or
                             one                                                    */
    size_t tile;          /* k-steps of a tile; all k-steps if there are no tiles   */
    bool promotes;        /* whether accumulator 0 is promoted, at least at the end of
                             each tile                                              */
    uint32_t zeroed_from; /* FP32 magnitudes from here on become +0 before the last
                             term                                                   */
    uint32_t nan;         /* NaN of the FP32 operations                             */
    const struct bitcut_format *sum[RECIPE_ACCUMULATORS_MAX]; /* format of each
                                                                 accumulator       */
};

/* The schedule of a plan on a unit, for a number of k-steps. */
struct schedule schedule_make(const struct gemm_plan *plan,
                              const struct bitcut_unit *unit, size_t steps);

/* The format of an accumulator.  The units of the terms have been found. */
const struct bitcut_format *accumulator_format(const struct gemm_plan *plan,
                                               int accumulator);

struct gemm_scratch;

struct job {
    const struct gemm_plan *plan;
    struct schedule schedule;
    const struct bitcut_unit *unit;
    struct epilogue_values epilogue;
    const struct fast_kernels *kernels; /* NULL: only the engine           */
    const struct fast_kernels *splits;  /* NULL: parts are made one by one */
    struct k_parts parts;
    size_t first; /* the sequence of `parts` that contains k number 0 */
    struct parts a, b;
    int16_t *integers_a, *integers_b; /* fast_integer_lines(); NULL: not used */
    uint8_t *positions; /* the kept elements of a sparse A (lib/gemm/sparsity.h), whose b
                           has all k of B; NULL: A is dense */
    uint32_t *d;
    size_t row, m, n, ldd;              /* rows from `row` to m - 1 are computed */
    struct kept_parts *keep_a, *keep_b; /* NULL: parts are not stored */
    struct gemm_scratch *scratch;       /* NULL: scratch is not reused */
    bool widened, unrounded;            /* as in struct gemm_options */
    uint32_t *widened_d;                /* D of all GEMMs, if `widened` */
    const struct gemm_watch *watch;     /* NULL in general */
    const struct progress *progress;    /* read within a tile, too; may be NULL      */
};

/* Whether the unit takes all parts of both operands, so that all parts have one format
   and every term runs on it. */
bool gemm_unit_takes_parts(const struct bitcut_unit *unit, const struct gemm_plan *plan);

/* a b + c in FP32 to nearest even, for encodings, as in the recipe's epilogue.  The
   calling thread is in the mode of hostfp_enter(). */
uint32_t job_fma(const struct schedule *schedule, uint32_t a, uint32_t b, uint32_t c);

/* What the first sum of an output starts from, or what is added to it: an FP32 encoding,
   of integers an s32. */
uint32_t job_start(const struct job *job, size_t i, size_t j);

/* The sum of two s32 encodings, by the unit's rule: modulo 2^32, or limited. */
uint32_t job_add_integers(const struct job *job, uint32_t a, uint32_t b);

/* The sum of a sequence after `added` retained sums were added to it, rounded as the
   order of k says. */
uint32_t job_sum(const struct job *job, size_t sequence, int added, uint32_t sum);

/* A promotion: the register becomes factor * value + register, rounded once, where factor
   * value stands for a b times the sum of accumulator 0.  All are FP32 encodings. */
struct promotion {
    uint32_t factor, value, a, b;
};

/* The promotion of this sum of output (i, j), whose last k is near `k`. */
struct promotion job_promotion(const struct job *job, uint32_t sum, size_t i, size_t j,
                               size_t k);

/* The register after accumulator 0 of output (i, j), whose last k is near `k`, is
   promoted: sum + register, with the factors of A and B if they are applied here. */
uint32_t job_promote(const struct job *job, uint32_t sum, uint32_t reg, size_t i,
                     size_t j, size_t k);

/* Compute outputs (i, j) to (i, j + count - 1) from the sums over all slices: undo the
   equilibration, and apply the epilogue. */
void job_finish(const struct job *job, size_t i, size_t j, const float *total,
                size_t count);

#endif
