/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounding at the end of a step: in which ways a sum could be rounded for the same
   result, or for any but a given one. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_ROUNDING_H
#define BITCUT_ANALYSIS_FIT_FIT_ROUNDING_H

#include "analysis/fit/fit_space.h"
#include "lib/number/wide.h"

/* A sum as a row's step gets it, before it is cut and rounded. */
struct rounded_sum {
    const struct space *space;
    const struct bitcut_unit *row;
    const struct box *one; /* the row alone                                           */
    struct term value;     /* not 0, of at most 64 bits                               */
    bool inexact;          /* there is more below; then its highest bit is the 64th   */
    bool kept;             /* it is floored as `keep` and `keep_min` say              */
    bool keeps_sign;       /* the row's rule for zeros is not applied                 */
    const uint64_t *c; /* what comes out is added to it, to nearest; NULL: it is not */
    uint64_t d;        /* what the row makes of it; or if `wrong`, what it should */
    bool wrong;        /* be, but is not                                          */
};

/* Cut *box, which must hold the row, down to values of the fields that only the end of a
   step reads (`result`, `rounding`, `overflow`, `flush`, `zero`, and if it is `kept`
   `keep` and `keep_min`) that all do as the row does: bring out d, or if `wrong` bring
   out something else on the same side of d.  Returns for how much other sums that stays
   true: for all from value - t to value + t, where t = 2^(the returned number) units of
   its last bit; -1: for no other, or if `slack` is not asked for. */
int rounding_cut(struct box *box, const struct rounded_sum *x, bool slack);

#endif
