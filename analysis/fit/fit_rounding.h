/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounding at the end of a step: which rounding fields give the same result of a sum,
   or any result other than a given one. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_ROUNDING_H
#define BITCUT_ANALYSIS_FIT_FIT_ROUNDING_H

#include "analysis/fit/fit_space.h"
#include "lib/number/wide.h"

/* A sum in a step of a row, before it is cut and rounded. */
struct rounded_sum {
    const struct space *space;
    const struct bitcut_unit *row;
    const struct box *one; /* the row alone                                           */
    struct term value;     /* not 0, of at most 64 bits                               */
    bool inexact; /* there are more bits below; then its highest bit is the 64th */
    bool kept;    /* it is floored according to `keep` and `keep_min` */
    bool keeps_sign;       /* the row's rule for zeros is not applied                 */
    const uint64_t *c;     /* the result is added to this, to nearest; NULL: it is not */
    uint64_t d;            /* the row's result; with `wrong` the required result, */
    bool wrong;            /* which the row does not give */
};

/* Restrict *box, which must contain the row, to values of the fields that only the end of
   a step reads (`result`, `rounding`, `overflow`, `flush`, `zero`, and with `kept` also
   `keep` and `keep_min`) with the same effect as in the row: the result d, or with
   `wrong` any other result on the same side of d.  Returns a tolerance for other sums:
   the same holds for all sums from value - t to value + t, where t = 2^(the returned
   number) units of the value's last bit; -1: for no other sum, or `slack` is false. */
int rounding_cut(struct box *box, const struct rounded_sum *x, bool slack);

#endif
