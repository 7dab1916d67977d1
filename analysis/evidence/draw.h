/* SPDX-License-Identifier: BSD-3-Clause */
/* Random encodings of a format, and their fields. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_DRAW_H
#define BITCUT_ANALYSIS_EVIDENCE_DRAW_H

#include "lib/number/format.h"
#include "lib/number/rand.h"

/* C does not define the order in which arguments are evaluated.  A call with two draws
   among its arguments would give other samples with another compiler, so each draw has a
   statement of its own. */

/* A random integer from low to high; true with probability 1/n. */
int draw_between(struct rng *rng, int low, int high);
bool draw_one_in(struct rng *rng, int n);

static inline int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

/* x with its highest `bits` bits, 0 to 64, and zeros below. */
uint64_t highest_bits(uint64_t x, int bits);

/* x with the given sign, or with the other sign unless f has no such number. */
uint64_t encoding_signed(const struct bitcut_format *f, uint64_t x, bool negative);
uint64_t encoding_negated(const struct bitcut_format *f, uint64_t x);

/* The encoding whose leading one is at `exponent`, moved into the range of f, followed by
   the highest bits of `fraction`.  It is never a NaN or an infinity. */
uint64_t encoding_at(const struct bitcut_format *f, bool negative, int exponent,
                     uint64_t fraction);

/* Such an encoding with random sign and fraction: at `exponent`, or anywhere in the
   range. */
uint64_t draw_at(const struct bitcut_format *f, int exponent, struct rng *rng);
uint64_t draw_wide(const struct bitcut_format *f, struct rng *rng);

/* Any encoding at all. */
uint64_t draw_any(const struct bitcut_format *f, struct rng *rng);

/* A zero of either sign. */
uint64_t draw_zero(const struct bitcut_format *f, struct rng *rng);

/* Zero, or a number at one end of the subnormal or the normal range. */
uint64_t draw_limit(const struct bitcut_format *f, struct rng *rng);

/* An infinity, or a NaN with any sign and payload. */
uint64_t draw_not_finite(const struct bitcut_format *f, struct rng *rng);

/* A value with an extreme exponent field, or an extreme fraction, or both. */
uint64_t draw_edge(const struct bitcut_format *f, struct rng *rng);

#endif
