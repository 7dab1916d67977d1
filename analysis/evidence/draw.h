/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodings of a format at random, and what they are made of. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_DRAW_H
#define BITCUT_ANALYSIS_EVIDENCE_DRAW_H

#include "lib/number/format.h"
#include "lib/number/rand.h"

/* C leaves the order of arguments open, so that a call with two draws among them would
   give other samples with another compiler: each has a statement of its own. */

/* An integer from low to high; true once in n. */
int draw_between(struct rng *rng, int low, int high);
bool draw_one_in(struct rng *rng, int n);

static inline int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

/* x with its highest `bits` bits alone, 0 to 64. */
uint64_t highest_bits(uint64_t x, int bits);

/* x with the given sign, or with the other one, unless f has no such number. */
uint64_t encoding_signed(const struct bitcut_format *f, uint64_t x, bool negative);
uint64_t encoding_negated(const struct bitcut_format *f, uint64_t x);

/* The encoding with the leading one at `exponent`, moved into the range of f, followed by
   the highest bits of `fraction`; never a NaN or an infinity. */
uint64_t encoding_at(const struct bitcut_format *f, bool negative, int exponent,
                     uint64_t fraction);

/* Such an encoding of any sign and fraction: at `exponent`, or anywhere in the range. */
uint64_t draw_at(const struct bitcut_format *f, int exponent, struct rng *rng);
uint64_t draw_wide(const struct bitcut_format *f, struct rng *rng);

/* Any encoding at all. */
uint64_t draw_any(const struct bitcut_format *f, struct rng *rng);

/* A zero of either sign. */
uint64_t draw_zero(const struct bitcut_format *f, struct rng *rng);

/* Zero, or a number at an end of the subnormal or of the normal range. */
uint64_t draw_limit(const struct bitcut_format *f, struct rng *rng);

/* An infinity, or a NaN of any sign and payload. */
uint64_t draw_not_finite(const struct bitcut_format *f, struct rng *rng);

/* A value at an edge of the exponent field, or of the fraction, or of both. */
uint64_t draw_edge(const struct bitcut_format *f, struct rng *rng);

#endif
