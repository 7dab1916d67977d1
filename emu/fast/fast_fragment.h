/* SPDX-License-Identifier: BSD-3-Clause */
/* One matrix instruction at a time on the kernels of emu/fast/fast.h. */
#ifndef BITCUT_EMU_FAST_FAST_FRAGMENT_H
#define BITCUT_EMU_FAST_FAST_FRAGMENT_H

#include "emu/fast/fast.h"

enum {
    FRAGMENT_ROWS = 32,    /* m and n at most ...                                  */
    FRAGMENT_DEPTH = 32,   /* ... and k                                            */
    FRAGMENT_COLUMNS = 64, /* of C and of lines of B, used or not                  */
    FRAGMENT_MIN = -63,  /* the least exponent of C                              */
    FRAGMENT_LINE = 64     /* elements of a line of A, used or not                 */
};

/* A unit and how its fragments are computed. */
struct fast_fragment {
    const struct bitcut_unit *unit;
    const struct fast_kernels *kernels;
    const struct fast_kernel *kernel;
    struct fast_rule rule;
    struct fast_format a_format, b_format;
    int at[UNIT_K_MAX];
};

/* Whether fragments of the unit, an m, n and k as above and an f32 accumulator, can be
   computed whatever the exponents of their operands; then *f is filled in. */
bool fast_fragment_make(struct fast_fragment *f, const struct bitcut_unit *unit);

/* C = A B + C, rows of FRAGMENT_COLUMNS floats.  A and B are encodings, a line of A being
   FRAGMENT_LINE elements of its format, and those of one k of B FRAGMENT_COLUMNS, of
   which n are used; others are zeros.  Outputs are those of the unit to the bit where
   their operands are finite, C was +0 or at least 2^FRAGMENT_MIN in magnitude, and the
   result is finite.  Below, a product of zero would have a larger exponent, FAST_ZERO and
   its other factor's, and cut bits of C.  The calling thread is in the mode of
   hostfp_enter().  C is aligned to 64. */
void fast_fragment_run(const struct fast_fragment *f, float *c, const void *a,
                       const void *b);

#endif
