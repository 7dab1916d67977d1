/* SPDX-License-Identifier: BSD-3-Clause */
/* Many f32 encodings converted to every signed format by many rules, compared with the
   lists of tests/number/number_oracle.h: test_round does a part, exhaustive does all. */
#ifndef BITCUT_TESTS_NUMBER_SWEEP_H
#define BITCUT_TESTS_NUMBER_SWEEP_H

#include "tests/number/number_oracle.h"

/* What became of one (format, rule). */
struct tally {
    uint64_t compared, different;
    uint32_t x; /* the lowest operand that differed, and both results */
    uint64_t got, want;
};

struct sweep {
    struct ladder *target; /* without a list where all is exact: f32 and f64 */
    const struct bitcut_rounding *rule;
    struct tally *tally; /* [targets][rules] */
    int targets, rules;
};

void sweep_init(struct sweep *sweep, const struct bitcut_rounding *rule, int rules);
void sweep_clear(struct sweep *sweep);

/* The step of about so many inputs, evenly over all encodings: odd, so that the low bits
   take all values. */
static inline uint32_t sweep_step(int inputs)
{
    return (uint32_t)(((uint64_t)1 << 32) / (uint64_t)inputs) | 1;
}

/* Convert the multiples of `step` in [begin, end), end <= 2^32; in parallel by OpenMP. */
void sweep_range(struct sweep *sweep, uint64_t begin, uint64_t end, uint32_t step);

/* f32 to f16 against the processor's F16C instruction, for rn, rz, ru, rd: the rows
   f16c_rules[], added to tally[F16C_RULES].  A NaN must be a NaN there and the quiet one
   here.  False, and nothing done, where the processor lacks it. */
enum { F16C_RULES = 4 };
extern const int f16c_rules[F16C_RULES]; /* indices of roundings[] */
bool sweep_f16c(struct tally tally[F16C_RULES], uint64_t begin, uint64_t end,
                uint32_t step);

#endif
