/* SPDX-License-Identifier: BSD-3-Clause */
/* An independent definition of matrix units: exact rationals, from the definitions of the
   rows in emu/unit.h and of their summations.  It shares the row structures with the
   emulator and no code, so that equal results are evidence for both.  Slow; for tests. */
#ifndef BITCUT_TESTS_EMU_SPEC_H
#define BITCUT_TESTS_EMU_SPEC_H

#include "emu/unit.h"

enum { SPEC_K_MAX = 64 };

/* One output of the instruction `u`: encodings a[u->k] of u->a, b[u->k] of u->b and c of
   u->c in, an encoding of u->c out.  scale_a and scale_b hold one encoding of u->scale
   for each u->scale_block products; NULL for a unit without scales.  Exact but for the
   roundings of the row; NaN, infinities, zeros and subnormals as the row says.  The row
   must be sound (asserted): block divides k, k is at most SPEC_K_MAX, group divides
   block and scale_block, `result` is an IEEE format whose values u->c can hold, the
   conversion to `via` is exact, `rounding` is not BY_BIT.  Cannot fail otherwise. */
uint64_t spec_dot(const struct bitcut_unit *u, const uint64_t *a, const uint64_t *b,
                  const uint64_t *scale_a, const uint64_t *scale_b, uint64_t c);

/* Whether the summation of that name is stated here. */
bool spec_adds(const char *summation);

#endif
