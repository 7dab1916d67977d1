/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs on a unit: any recipe, bit for bit. */
#ifndef BITCUT_EMU_GEMM_H
#define BITCUT_EMU_GEMM_H

#include "emu/fast/simd.h"
#include "emu/unit.h"
#include "emu/watch.h"
#include "emu/parts.h"
#include "lib/base/progress.h"
#include "lib/base/record.h"
#include "lib/gemm/plan.h"

/* A GEMM in which only the recipe and the unit are set. */
struct bitcut_gemm gemm_of(const struct bitcut_recipe *recipe,
                           const struct bitcut_unit *unit);

/* Make the plan of g, a GEMM that gemm_take() accepted, if its unit can execute it: the
   operands of the unit hold the high parts of A and of B; there are units for the other
   parts (struct bitcut_recipe); its accumulator is f32 or f16; it needs no block scales;
   and products of different scale never meet.  Equilibrated parts cannot overflow, and
   neither can their sums, because the accumulator is f32.  A is not sparse.
   BITCUT_BAD_ARGUMENT says what does not fit. */
/* If the plan has a rounding of sums, replace the units of its terms by copies that round
   by it; a seed of `sr` is set, but no position. */
void gemm_plan_round_sums(struct gemm_plan *plan,
                          struct bitcut_unit own[RECIPE_TERMS_MAX]);

enum bitcut_status gemm_plan_on_unit(struct gemm_plan *plan, const struct bitcut_gemm *g,
                                     struct fault *f);

/* The same, also for a sparse A. */
enum bitcut_status gemm_plan_on_floats(struct gemm_plan *plan,
                                       const struct bitcut_gemm *g, struct fault *f);

/* The same, also for units of integers whose sums become FP32 first: the first step is
   FLOAT, except ZEROS, D has no integers, and accumulators start from zero.  Its exact
   sums, less the zero points, then meet the steps of any other GEMM. */
enum bitcut_status gemm_plan_on_values(struct gemm_plan *plan,
                                       const struct bitcut_gemm *g, struct fault *f);

/* The same, also for units of integers, whose GEMMs have s32 sums.  gemm_run() and
   gemm_call() take them; other callers of plans do not. */
enum bitcut_status gemm_plan_on_any(struct gemm_plan *plan, const struct bitcut_gemm *g,
                                    struct fault *f);

/* The parts of A and B, for successive runs on the same matrices, whose elements do not
   change.  A run uses the parts of the run before if it needs the same ones.  All zeros
   at first; gemm_parts_clear() ends it.  Used by one thread. */
struct gemm_parts {
    struct kept_parts a, b;
};

void gemm_parts_clear(struct gemm_parts *w);

/* Memory for successive runs on one thread; free() of `at` ends it. */
struct gemm_scratch {
    char *at;
    size_t bytes;
};

/* Check that slices and lanes of the plan's order begin with blocks of the factors that
   are applied to sums, for the k of g. */
enum bitcut_status gemm_check_order(const struct bitcut_gemm *g,
                                    const struct gemm_plan *plan, struct fault *f);

/* The smallest number of products of a GEMM for which the transfer to a device and back
   is worthwhile. */
enum { GEMM_OFFLOAD_MIN = 1 << 22 };

struct exact_sums;
struct fp64_job;

/* A device that may compute in place of this processor, with the same bits. */
struct gemm_offload {
    /* Run a checked GEMM, without a batch and without pointers, by a plan without faults,
       as gemm_run_plan() does, from any thread.  *took is false: the device does not run
       this GEMM, and has not begun.  The answer is the same for all GEMMs of a batch,
       because addresses do not matter. */
    enum bitcut_status (*run)(bool *took, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, void *context,
                              struct fault *f);
    void *context;
    double least; /* smallest number of products of a GEMM that is offered to the
                     device                                                           */
    const struct exact_sums *sums; /* sums for exact references (lib/exact/exact_sums.h),
                                      or NULL */

    /* Compute A B of an FP64 GEMM by a scheme, in d of the job, as the scheme's `run`
       (emu/fp64/scheme.h).  *took as above.  It is offered every size.  NULL: the device
       computes none. */
    enum bitcut_status (*fp64)(bool *took, const struct fp64_job *job, void *context,
                               struct fault *f);
};

/* The sums for exact references that a device makes, or NULL. */
static inline const struct exact_sums *offload_sums(const struct gemm_offload *o)
{
    return o ? o->sums : NULL;
}

/* How a GEMM is emulated.  No option changes a value. */
struct gemm_options {
    int threads;                     /* 0: all processors                               */
    const struct simd_level *simd;   /* NULL: the level that BITCUT_SIMD names, else the
                                        best                                            */
    const struct progress *progress; /* or NULL                                         */
    struct gemm_parts *parts;        /* for a single GEMM: stored parts; or NULL        */
    struct gemm_scratch *scratch;    /* for a single GEMM on one thread; or NULL        */
    const struct gemm_watch *watch;  /* for a GEMM with one output; or NULL; slower     */
    const struct gemm_offload *offload; /* takes GEMMs with many products; or NULL  */
    bool widened; /* whether D is an array of FP32 encodings, without gaps, of the values
                     that its format gives; one D under the other in a batch          */
    bool unrounded; /* the same with the values before the rounding to its format     */
};

/* Run g on its unit, as bitcut_gemm() (lib/bitcut.h) describes.  The result is
   BITCUT_UNSUPPORTED if `progress` asks to stop, or if this processor does not support
   the level of vector instructions that BITCUT_SIMD names.  It is BITCUT_BAD_ARGUMENT if
   BITCUT_SIMD names an unknown level. */
enum bitcut_status gemm_run(const struct bitcut_gemm *g,
                            const struct gemm_options *options, struct fault *f);

/* bitcut_gemm() with options. */
enum bitcut_status gemm_call(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                             const struct gemm_options *options, char *why);

/* bitcut_gemm_verify() with options. */
enum bitcut_status gemm_verify_call(struct bitcut_difference *to, struct bitcut_gemm *ran,
                                    const struct bitcut_gemm *gemm,
                                    const struct gemm_options *options, char *why);

/* gemm_run() for a GEMM that was checked, by a plan that gemm_plan_on_unit() made of it
   or of another GEMM on the same unit.  The plan may have been changed afterwards: terms
   dropped, repeated or reordered, the `scale` by which accumulators fold, promotion, the
   roundings of parts and the scale that they carry, and faults.  No vector instructions
   compute sums with faults.  Such plans model kernels that do not follow a recipe. */
enum bitcut_status gemm_run_plan(const struct bitcut_gemm *g,
                                 const struct gemm_plan *plan,
                                 const struct gemm_options *options, struct fault *f);

/* The fields of struct bitcut_difference (lib/base/record.h). */
extern const struct record_field difference_fields[];

#endif
