/* Recipes: a whole GEMM put together from instructions, as data. */
#ifndef BITCUT_LIB_RECIPE_H
#define BITCUT_LIB_RECIPE_H

#include "lib/split.h"
#include "lib/status.h"

enum { RECIPE_TERMS_MOST = 9, RECIPE_ACCUMULATORS_MOST = 5 };

/* One instruction of a k-step: accumulator += word a of A times word b of B.  Word 0 is
   the high one. */
struct recipe_term {
    int a, b, accumulator;
};

/* A row of the recipe table.  It fixes every bit of D = alpha A B + beta C on a unit:

   All accumulators start from +0.  For each k-step (as many k as the instruction has,
   ascending; the last one padded with +0), the terms are executed in order.  Accumulator
   0 is added to an FP32 register, to nearest, after every `promote` k-steps and at the
   end (0: never; it is the result itself).  Then accumulators are folded from the last
   one used down: v[i-1] = fma(v[i], 2^-scale, v[i-1]), to nearest.  With split-K every
   slice does all this, and slices are added in order, to nearest.  If lines
   were equilibrated (lib/equilibrate.h), v[0] is scaled back.  Last, t = alpha v[0], and
   unless beta is zero, D = fma(beta, C, t).  The product of the low words, if kept,
   comes first in every k-step.  The FP32 operations give the unit's NaN if its
   accumulator is f32, else 0x7fffffff.  A single slice is not added to anything. */
struct bitcut_recipe {
    const char *name, *what;
    const struct bitcut_split
        *split; /* NULL: one word of the unit's own operand format    */
    int terms;
    struct recipe_term term[RECIPE_TERMS_MOST];
    struct recipe_term low_low; /* where the product of two low words goes if kept    */
    bool keeps_low_low;
    int promote;
    const char *source;
};

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
    RECIPE_BF16X9
};

extern const struct bitcut_recipe recipes[]; /* ended by a row whose name is NULL */

/* Whether the recipe, with the product of the low words or without it, can have words of
   the split: there are enough, and words of different scale never share an accumulator.
   BITCUT_BAD_ARGUMENT says what does not fit. */
enum bitcut_status recipe_takes(const struct bitcut_recipe *recipe,
                                const struct bitcut_split *split, bool low_low,
                                struct fault *f);

#endif
