/* Whole GEMMs on a unit: any recipe, to the bit. */
#ifndef BITCUT_EMU_GEMM_H
#define BITCUT_EMU_GEMM_H

#include "emu/simd.h"
#include "emu/unit.h"
#include "lib/progress.h"
#include "lib/recipe.h"
#include "lib/status.h"

/* A recipe made definite: what gemm_run() executes.  gemm_of() fills it from the rows;
   the caller may change the fields below the line, and then asks gemm_check(). */
struct gemm {
    const struct bitcut_recipe *recipe;
    const struct bitcut_unit *unit;
    /* ------------------------------------------------------------------------------- */
    struct bitcut_split split;
    bool equilibrate;     /* rows of A and columns of B: lib/equilibrate.h              */
    bool low_low;         /* keep the product of the two low words                      */
    int promote;          /* instructions of accumulator 0 between promotions, 0: none  */
    int tile_k;           /* k that one term runs through before the next, 0: a k-step  */
    int slices;           /* split-K: equal slices but the last, whole k-steps each     */
    uint32_t alpha, beta; /* FP32 encodings                                             */
    int threads;          /* 0: all processors                                          */
    const struct simd_level *simd; /* NULL: what BITCUT_SIMD says, else the best        */
};

/* `recipe` as its row says on `unit`; alpha = 1, beta = 0, one slice, all threads. */
struct gemm gemm_of(const struct bitcut_recipe *recipe, const struct bitcut_unit *unit);

/* Whether g can be executed: the unit's operands hold the split's words, its accumulator
   is f32 or f16, it needs no block scales, and products of different scale never meet.  A
   recipe that does something between tiles has them, and one that scales its sums
   promotes them there alone.  Equilibrated words cannot overflow, nor can their sums: the
   accumulator is f32.  BITCUT_BAD_ARGUMENT says what does not fit. */
enum bitcut_status gemm_check(const struct gemm *g, struct fault *f);

/* D = alpha A B + beta C as bitcut_gemm() (lib/bitcut.h) describes, for a checked g.
   `progress` may be NULL; if it asks to stop, the result is BITCUT_CANNOT and D is
   unchanged.  So it is if BITCUT_SIMD names a level of vector instructions that does not
   exist (BITCUT_BAD_ARGUMENT) or is not here (BITCUT_CANNOT).  No level changes a
   bit. */
enum bitcut_status gemm_run(uint32_t *d, size_t ldd, const struct gemm *g, size_t m,
                            size_t n, size_t k, const uint32_t *a, size_t lda,
                            const uint32_t *b, size_t ldb, const uint32_t *c, size_t ldc,
                            const struct progress *progress, struct fault *f);

/* How many products the recipe multiplies for each product of the GEMM. */
int gemm_terms(const struct gemm *g);

#endif
