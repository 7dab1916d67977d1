/* SPDX-License-Identifier: BSD-3-Clause */
/* Recipes: a complete GEMM, composed of instructions, as data. */
#ifndef BITCUT_LIB_GEMM_RECIPE_H
#define BITCUT_LIB_GEMM_RECIPE_H

#include "lib/base/status.h"
#include "lib/number/split.h"

enum { RECIPE_TERMS_MAX = 9, RECIPE_ACCUMULATORS_MAX = 5 };

/* One product of a k-step: accumulator += part a of A times part b of B.  Part 0 is the
   high part. */
struct recipe_term {
    int a, b, accumulator;
    bool scaled; /* whether the accumulator is multiplied by 2^-scale before this term in
                    every tile                                                    */
};

/* Contents of the accumulator of the last term that become +0 before this term in every
   tile.  An infinite element has NaN as low parts, which do not belong to the product. */
enum recipe_zeroed { RECIPE_ZEROES_NOTHING, RECIPE_ZEROES_NAN, RECIPE_ZEROES_NOT_FINITE };

/* A row of the recipe table.  It determines every bit of D = alpha A B + beta C on a
   unit.

   Instructions.  Each term runs on an instruction.  The GEMM's unit takes the high parts
   and other parts of the same format.  If its operand is wider than the high part, it
   takes all parts that its operand holds.  A term with another part runs on the first
   unit in the table that has exactly the formats of its parts (not wider), the
   architecture and family of the GEMM's unit (the name up to the first '.':
   "hopper/mma"), its accumulator format, and no block scales.  If there is no such unit,
   the GEMM is refused.

   k-steps.  All accumulators start from +0.  k is taken in k-steps, ascending.  A k-step
   has as many k as the instruction has; with several instructions, as many as the largest
   one has.  The k of the other instructions must divide it; otherwise the GEMM is
   refused.  The last k-step is padded with +0.  A term whose instruction has fewer k
   executes it until the k of the k-step are covered, ascending, padding included.

   Tiles.  Without tiles, the terms are executed in order for each k-step.  With tiles,
   ceil(tile_k / k of a k-step) k-steps make a tile; the last tile may have fewer.  In
   each tile every term is executed for all of its k-steps before the next term is.
   Scaling by a term rounds to nearest, in the accumulator's format.

   Promotion.  To promote accumulator 0 means to add it to an FP32 register, rounded to
   nearest, and to restart it from +0.  It is promoted after every `promote` of its
   instructions, counted from the last promotion (instructions, not k-steps: a recipe may
   have several of them in each k-step), and at the end of each tile.  If there are tiles
   or `promote` is not 0, it is also promoted at the end.  Without tiles and with
   `promote` 0, the accumulator itself is the result.

   Folding.  Then accumulators are folded from the last one down: v[i-1] = fma(v[i],
   2^-scale, v[i-1]), rounded to nearest.  A sum of integers is rounded to FP32 before.
   Lines with integer parts are equilibrated.

   Slices.  With split-K every slice does all this, beginning with a new tile and a count
   of 0.  Slices are added in order, rounded to nearest.  A single slice is not added to
   anything.  If lines were equilibrated (lib/number/equilibrate.h), v[0] is scaled back.
   Last, t = alpha v[0], and unless beta is zero, D = fma(beta, C, t).

   The product of the low parts, if it is computed, comes first.  The FP32 operations give
   the NaN of the GEMM's unit if its accumulator is f32, else 0x7fffffff. */
struct bitcut_recipe {
    const char *name, *what;
    const struct bitcut_split
        *split; /* NULL: one part in the operand format of the unit   */
    int terms;
    struct recipe_term term[RECIPE_TERMS_MAX];
    struct recipe_term dropped_term; /* position of the product of two low parts, if
                                        computed                                        */
    bool keeps_dropped_term;
    int promote;               /* instructions of accumulator 0 between promotions; 0:
                                  none                                             */
    int tile_k;                /* k of a tile; 0: no tiles.  `zeroed` and scaled terms
                                  need tiles                                       */
    enum recipe_zeroed zeroed; /* see enum recipe_zeroed                           */
    const char *source;        /* origin: its name there and its location          */
};

/* The names of enum recipe_zeroed. */
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

/* Check that the recipe, with or without the product of the low parts, can use the parts
   of these splits of A and B.  Each split must have enough parts.  Products of different
   scale, by the levels of their parts, must never meet: neither in an accumulator, except
   where terms scale it, nor when accumulators are folded.  So both splits with low parts
   have one scale.  BITCUT_BAD_ARGUMENT says what does not fit. */
enum bitcut_status recipe_takes(const struct bitcut_recipe *recipe,
                                const struct bitcut_split *split_a,
                                const struct bitcut_split *split_b, bool dropped_term,
                                struct fault *f);

#endif
