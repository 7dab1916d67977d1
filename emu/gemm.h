/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs on a unit: any recipe, to the bit. */
#ifndef BITCUT_EMU_GEMM_H
#define BITCUT_EMU_GEMM_H

#include "emu/fast/simd.h"
#include "emu/unit.h"
#include "emu/watch.h"
#include "emu/words.h"
#include "lib/base/progress.h"
#include "lib/base/record.h"
#include "lib/gemm/plan.h"

/* A GEMM with everything open but its recipe and unit. */
struct bitcut_gemm gemm_of(const struct bitcut_recipe *recipe,
                           const struct bitcut_unit *unit);

/* The plan of g, a GEMM that gemm_take() took, if its unit can execute it: the operands
   of the unit hold the high words of A and of B, for other words there are units
   beside it (struct bitcut_recipe), its accumulator is f32 or f16, it needs no block
   scales, and products of different scale never meet.  Equilibrated words cannot
   overflow, nor can their sums: the accumulator is f32.  BITCUT_BAD_ARGUMENT says what
   does not fit. */
enum bitcut_status gemm_plan_on_unit(struct gemm_plan *plan, const struct bitcut_gemm *g,
                                     struct fault *f);

/* The words of A and B, for runs on the same matrices one after the other, whose elements
   do not change: those of one run serve the next that has the same.  All zeros at first;
   gemm_words_clear() ends it.  Of one thread. */
struct gemm_words {
    struct kept_words a, b;
};

void gemm_words_clear(struct gemm_words *w);

/* Memory for runs on one thread one after the other; free() of `at` ends it. */
struct gemm_scratch {
    char *at;
    size_t bytes;
};

/* A way to a device and back pays for a GEMM of so many products or more. */
enum { GEMM_OFFLOAD_MIN = 1 << 22 };

struct exact_sums;

/* What may compute in this processor's place, to the same bits: a device. */
struct gemm_offload {
    /* Run a checked GEMM, of a batch of one without pointers, by a plan without faults,
       as gemm_run_plan() says, from any thread.  *took is false: it does not run this
       one, and has not begun; that is alike for all of a batch, as places do not matter.
     */
    enum bitcut_status (*run)(bool *took, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, void *context,
                              struct fault *f);
    void *context;
    double least; /* a GEMM of a batch, of so many products or more, is offered to it */
    const struct exact_sums *sums; /* of exact references (lib/exact/exact_sums.h), or NULL */
};

/* What makes sums for exact references, or NULL. */
static inline const struct exact_sums *offload_sums(const struct gemm_offload *o)
{
    return o ? o->sums : NULL;
}

/* How a GEMM is emulated; nothing here changes a bit. */
struct gemm_options {
    int threads;                     /* 0: all processors                               */
    const struct simd_level *simd;   /* NULL: what BITCUT_SIMD says, else the best      */
    const struct progress *progress; /* or NULL                                         */
    struct gemm_words *words;        /* of a single GEMM, that keeps them; or NULL      */
    struct gemm_scratch *scratch;    /* of a single GEMM on one thread, or NULL         */
    const struct gemm_watch *watch;  /* of a GEMM of one output, or NULL; slower        */
    const struct gemm_offload *offload; /* takes GEMMs of many products, or NULL    */
};

/* Run g on its unit, as bitcut_gemm() (lib/bitcut.h) says.  If `progress` asks to stop,
   the result is BITCUT_UNSUPPORTED.  So it is if BITCUT_SIMD names a level of vector
   instructions that does not exist (BITCUT_BAD_ARGUMENT) or is not here
   (BITCUT_UNSUPPORTED). */
enum bitcut_status gemm_run(const struct bitcut_gemm *g,
                            const struct gemm_options *options, struct fault *f);

/* bitcut_gemm() with options. */
enum bitcut_status gemm_call(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                             const struct gemm_options *options, char *why);

/* The same for a GEMM that was checked, by a plan that gemm_plan_on_unit() made of it or
   of another on the same unit; also one changed afterwards: terms, dropped, repeated or
   in another order, `scale` by which accumulators fold, promotion, roundings of words and
   the scale that they carry, and with faults; no vector instructions run sums that have
   any.  So are kernels modelled that do not do what a recipe says. */
enum bitcut_status gemm_run_plan(const struct bitcut_gemm *g,
                                 const struct gemm_plan *plan,
                                 const struct gemm_options *options, struct fault *f);

/* The fields of struct bitcut_difference (lib/base/record.h). */
extern const struct record_field difference_fields[];

#endif
