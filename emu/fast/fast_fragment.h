/* SPDX-License-Identifier: BSD-3-Clause */
/* Single matrix instructions on the kernels of emu/fast/fast.h. */
#ifndef BITCUT_EMU_FAST_FAST_FRAGMENT_H
#define BITCUT_EMU_FAST_FAST_FRAGMENT_H

#include "emu/fast/fast.h"

enum {
    FRAGMENT_ROWS = 32,    /* largest m and n,                                     */
    FRAGMENT_DEPTH = 32,   /* and largest k                                        */
    FRAGMENT_COLUMNS = 64, /* columns of C and B in memory, used or not            */
    FRAGMENT_MIN = -63,    /* smallest exponent of C                               */
    FRAGMENT_LINE = 64     /* elements of a row of A in memory, used or not        */
};

/* A unit, and the method by which its fragments are computed. */
struct fast_fragment {
    const struct bitcut_unit *unit;
    const struct fast_kernels *kernels;
    const struct fast_kernel *kernel;
    struct fast_rule rule;
    struct fast_format a_format, b_format;
    int at[UNIT_K_MAX];
};

/* Whether fragments of the unit, with m, n and k within these limits and an f32
   accumulator, can be computed for any exponents of their operands.  If so, *f is filled
   in. */
bool fast_fragment_make(struct fast_fragment *f, const struct bitcut_unit *unit);

/* C = A B + C, where C has rows of FRAGMENT_COLUMNS floats.  A and B are encodings.  A
   row of A has FRAGMENT_LINE elements of its format.  Each k of B has FRAGMENT_COLUMNS
   elements, of which n are used; the others are zeros.

   An output is bit for bit the unit's if its operands are finite, C was +0 or at least
   2^FRAGMENT_MIN in magnitude, and the result is finite.  With a smaller C, a product of
   zero would have a larger exponent, FAST_ZERO plus the exponent of its other factor, and
   cut bits of C.

   The calling thread is in the mode of hostfp_enter().  C is aligned to 64. */
void fast_fragment_run(const struct fast_fragment *f, float *c, const void *a,
                       const void *b);

#endif
