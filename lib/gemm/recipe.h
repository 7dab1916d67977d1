/* SPDX-License-Identifier: BSD-3-Clause */
/* Recipes: a whole GEMM put together from instructions, as data. */
#ifndef BITCUT_LIB_GEMM_RECIPE_H
#define BITCUT_LIB_GEMM_RECIPE_H

#include "lib/base/status.h"
#include "lib/number/split.h"

enum { RECIPE_TERMS_MAX = 9, RECIPE_ACCUMULATORS_MAX = 5 };

/* One product of a k-step: accumulator += word a of A times word b of B.  Word 0 is the
   high one. */
struct recipe_term {
    int a, b, accumulator;
    bool scaled; /* in every tile the accumulator is multiplied by 2^-scale first */
};

/* What of the accumulator of the last term becomes +0 before that term in every tile: an
   infinite element has low words of NaN, which are no part of the product. */
enum recipe_zeroed { RECIPE_ZEROES_NOTHING, RECIPE_ZEROES_NAN, RECIPE_ZEROES_NOT_FINITE };

/* A row of the recipe table.  It fixes every bit of D = alpha A B + beta C on a unit:

   Each term runs on an instruction.  The GEMM's unit takes the high words, other words of
   their format and, where its operand is wider than the high word, all words that it
   holds.  A term with another word runs on the first unit in the table that is for just
   the formats of its words (no wider), of the same architecture and family as the GEMM's
   (the name up to the first '.': "hopper/mma"), with its accumulator format and without
   block scales.  If there is none the GEMM is refused.

   All accumulators start from +0.  k is taken in k-steps, ascending: as many k as the
   instruction has, of several that of the largest k, which those of the others divide (or
   the GEMM is refused); the last one padded with +0.  A term of an instruction with fewer
   k executes it as often as a k-step has its k, ascending, padding included.  Without
   tiles the terms are executed in order for each k-step.  With them, ceil(tile_k / k of a
   k-step) k-steps make a tile, the last one may have fewer, and in each tile every term
   is executed for all of its k-steps before the next term is.  Then scaling by a term
   rounds to nearest, in the accumulator's format.

   Accumulator 0 is promoted, that is added to an FP32 register, to nearest, and starts
   from +0 again: after every `promote` of its instructions (not k-steps: a recipe may
   have several of them in each), counted from the last promotion; at the end of each
   tile; and, if there are tiles or `promote` is not 0, at the end.  With neither it is
   the result itself.  Then accumulators are folded from the last one used down: v[i-1] =
   fma(v[i], 2^-scale, v[i-1]), to nearest; a sum of integers is rounded to FP32 before.
   Lines of words that are integers are equilibrated.

   With split-K every slice does all this, beginning with a tile of its own and a count of
   0, and slices are added in order, to nearest.  If lines were equilibrated
   (lib/number/equilibrate.h), v[0] is scaled back.  Last, t = alpha v[0], and unless beta
   is zero, D = fma(beta, C, t).  The product of the low words, if kept, comes first.  The
   FP32 operations give the NaN of the GEMM's unit if its accumulator is f32, else
   0x7fffffff.  A
   single slice is not added to anything. */
struct bitcut_recipe {
    const char *name, *what;
    const struct bitcut_split
        *split; /* NULL: one word of the unit's own operand format    */
    int terms;
    struct recipe_term term[RECIPE_TERMS_MAX];
    struct recipe_term dropped_term; /* where the product of two low words goes if kept */
    bool keeps_dropped_term;
    int promote;               /* instructions of accumulator 0 between promotions;
                                  0: none                                          */
    int tile_k;                /* k of a tile; 0: no tiles.  Needed by the next and by
                                  scaled terms                                     */
    enum recipe_zeroed zeroed; /* see there                                        */
    const char *source;        /* whose it is: what they call it and where it is   */
};

/* The names of what is zeroed, by enum recipe_zeroed. */
extern const char *const recipe_zeroed_names[];

/* The rows, by position: `&recipes[RECIPE_OOTOMO]`. */
enum {
    RECIPE_PLAIN,
    RECIPE_MARKIDIS,
    RECIPE_FENG,
    RECIPE_OOTOMO,
    RECIPE_OOTOMO_TF32,
    RECIPE_LEGEMM,
    RECIPE_FP32,
    RECIPE_TF32X3,
    RECIPE_BF16X3,
    RECIPE_BF16X6,
    RECIPE_BF16X9,
    RECIPE_CUBLAS_TF32,
    RECIPE_CUTLASS_TF32X3,
    RECIPE_CUTLASS_SM100_BF16X9,
    RECIPE_TRITON_TF32X3,
    RECIPE_TRITON_BF16X3,
    RECIPE_TRITON_BF16X6,
    RECIPE_XLA_BF16X3,
    RECIPE_XLA_BF16X6,
    RECIPE_XLA_BF16X9,
    RECIPE_HALF_FP8,
    RECIPE_HALF_INT8
};

extern const struct bitcut_recipe recipes[]; /* ended by a row whose name is NULL */

/* Whether the recipe, with the product of the low words or without it, can have words of
   these splits of A and of B: there are enough, and products of different scale, by the
   levels of their words, never meet, neither in an accumulator, but for what terms scale,
   nor when accumulators are folded; so both splits with low words have one scale.
   BITCUT_BAD_ARGUMENT says what does not fit. */
enum bitcut_status recipe_takes(const struct bitcut_recipe *recipe,
                                const struct bitcut_split *split_a,
                                const struct bitcut_split *split_b, bool dropped_term,
                                struct fault *f);

#endif
