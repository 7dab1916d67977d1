/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums that are determined by a NaN or an infinity. */
#ifndef BITCUT_EMU_SPECIAL_H
#define BITCUT_EMU_SPECIAL_H

#include "emu/unit.h"

/* NaN and infinities in a set of terms, found before any finite arithmetic. */
struct special_sum {
    bool nan, positive, negative; /* a NaN term, a +Inf term, a -Inf term */
    bool operand;                 /* NAN_OPERAND: the NaN comes from an operand */
};

static inline void special_add_product(struct special_sum *s, struct number a,
                                       struct number b)
{
    const bool infinite = a.kind == NUMBER_INF || b.kind == NUMBER_INF;
    const bool zero = a.kind == NUMBER_ZERO || b.kind == NUMBER_ZERO;
    const bool negative = a.negative != b.negative;
    s->nan |= a.kind == NUMBER_NAN || b.kind == NUMBER_NAN || (infinite && zero);
    s->positive |= infinite && !negative;
    s->negative |= infinite && negative;
}

static inline void special_add(struct special_sum *s, struct number z)
{
    s->nan |= z.kind == NUMBER_NAN;
    s->positive |= z.kind == NUMBER_INF && !z.negative;
    s->negative |= z.kind == NUMBER_INF && z.negative;
}

/* Whether a term is NaN or infinite; if so, *d is the result, an encoding of u->c. */
static inline bool special_result(uint64_t *d, const struct bitcut_unit *u,
                                  struct special_sum s)
{
    if (s.nan || (s.positive && s.negative)) *d = u->nan;
    else if (s.positive || s.negative) *d = format_infinity(u->c, s.negative);
    else return false;
    return true;
}

#endif
