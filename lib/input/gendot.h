/* SPDX-License-Identifier: BSD-3-Clause */
/* Ill-conditioned dot products: Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM
   J.  Sci.  Comput. 26 (2005), Algorithm 6.1, for FP32 and for many y to one x.

   A dot product of k terms is made in k steps, in a random order of its indices.  The
   first k / 2 terms are random, with exponents spread so that |x|^T |y| is large.  Each
   later y cancels the current x^T y, which is known exactly, up to a random number that
   shrinks from step to step.  The last step leaves |x|^T |y| / condition.

   Differences from the paper: exponents are centred on 0 instead of starting there;
   significands fill [1/2, 1); and the last term is solved for the condition |x|^T |y| /
   |x^T y| (the paper's condition is twice this) instead of left to chance.

   Both functions compute in binary64: the caller runs under hostfp_enter(). */
#ifndef BITCUT_LIB_INPUT_GENDOT_H
#define BITCUT_LIB_INPUT_GENDOT_H

#include "lib/base/status.h"

#define GENDOT_CONDITION_MIN 2.0f
#define GENDOT_CONDITION_MAX  1e30f

/* One x, and the data shared by every y for it. */
struct gendot {
    size_t k, pairs;  /* pairs: how many terms are random         */
    double condition;
    int centre;       /* number subtracted from the paper's exponents */
    size_t *position; /* the index of each step                   */
    int *exponent;    /* exponents of the random numbers of each step */
    uint32_t *x;      /* FP32 encodings, by index                 */
};

/* Draw x from `stream` (lib/number/rand.h).  condition is between GENDOT_CONDITION_MIN
   and GENDOT_CONDITION_MAX.  BITCUT_BAD_ARGUMENT: k is too small for the condition; k =
   11 is enough for all conditions.  BITCUT_NO_MEMORY.  *g is set only on success. */
enum bitcut_status gendot_init(struct gendot *g, size_t k, double condition,
                               uint64_t seed, uint64_t stream, struct fault *f);
void gendot_clear(struct gendot *g);

/* Draw the y of number j: element i goes to y[i * stride] and is drawn from block
   2^32 i + j of `stream`.  x^T y > 0, and |x|^T |y| / x^T y is the condition to 1 %.
   Magnitudes of x and y are below 2^60 for k up to 2^30. */
void gendot_column(uint32_t *y, size_t stride, const struct gendot *g, uint64_t seed,
                   uint64_t stream, size_t j);

#endif
