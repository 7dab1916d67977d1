/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a larger addend can make a unit's output smaller. */
#ifndef BITCUT_ANALYSIS_ACCURACY_MONOTONE_H
#define BITCUT_ANALYSIS_ACCURACY_MONOTONE_H

#include "emu/unit.h"

/* What is raised: c, or a product, the first of the instruction. */
enum monotone_addend { MONOTONE_C, MONOTONE_PRODUCT };

/* Whether the output never falls when that addend is raised.

   A unit that aligns terms at the largest exponent e cuts more of all n others when the
   largest grows into binade e: of each half a place g = 2^(e - F), where it itself may
   grow by its own last place below 2^e.  Before, the sum S0 is a multiple of g / 2, and
   after, S1 of g.  Results that are truncated to places of g or more change at multiples
   of g, so that they are lower only if S0 - S1 can be g: (n - 2) g / 2 at least that last
   place.  Results to nearest may change just above S1, where that is a tie or an odd
   multiple of g, and those with finer places show g / 2: (n - 1) g / 2.  And if so it is
   lower: some n terms of odd multiples of g / 2 put S1 there. A unit whose operations
   are each rounded, or that adds exactly, is monotone, as these are.  A chain of steps is
   monotone in c if a step is; in products if a step is in them, and has no step after it
   or is monotone in c. Mikaitis 2024, "Monotonicity of multi-term floating-point adders";
   of tensor cores Fasi, Higham, Mikaitis and Pranesh 2021. */
bool monotone_in(const struct bitcut_unit *unit, enum monotone_addend addend);

enum { MONOTONE_TEXT_MAX = 240 };

/* An example of the fewest products that was found: two outputs of the unit with one
   addend raised, the second smaller. */
struct monotone_example {
    int products;     /* that are not zero             */
    double before[2]; /* c, and the output             */
    double after[2];
    char text[MONOTONE_TEXT_MAX]; /* all of it in words */
};

/* False: none was found. */
bool monotone_example_find(struct monotone_example *to, const struct bitcut_unit *unit,
                           enum monotone_addend addend);

#endif
