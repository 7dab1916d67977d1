/* The end of a step: in which ways a sum could be rounded for the same result, or for any
   but a given one. */
#ifndef BITCUT_ANALYSIS_FIT_ROUNDING_H
#define BITCUT_ANALYSIS_FIT_ROUNDING_H

#include "analysis/fit_space.h"
#include "lib/wide.h"

/* A sum as a row's step gets it, before it is cut and rounded. */
struct ending {
    const struct space *space;
    const struct bitcut_unit *row;
    struct term value; /* not 0, of at most 64 bits                             */
    bool inexact;      /* there is more below; then its highest bit is the 64th */
    bool kept;         /* it is floored as `keep` and `keep_min` say            */
    bool keeps_sign;   /* the row's rule for zeros is not applied               */
    bool adds_c;       /* what comes out is added to `c`, to nearest            */
    uint64_t c;
    uint64_t wanted; /* what should come out, or if `wrong` should not */
    bool wrong;
};

/* Cut *box, which must hold the row, down to values of the fields that only the end of a
   step reads (`result`, `rounding`, `overflow`, `flush`, `zero`, and if it is `kept`
   `keep` and `keep_min`) that all do as the row does: bring out `wanted`, or if `wrong`
   bring out anything else.  Returns for how much other sums that stays true: for all from
   value - t to value + t, where t = 2^(the returned number) units of its last bit; -1:
   for no other, or if `slack` is not asked for. */
int ending_cut(struct box *box, const struct ending *x, bool slack);

#endif
