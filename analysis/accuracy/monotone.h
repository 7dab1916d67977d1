/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a larger addend can make a unit's output smaller. */
#ifndef BITCUT_ANALYSIS_ACCURACY_MONOTONE_H
#define BITCUT_ANALYSIS_ACCURACY_MONOTONE_H

#include "emu/unit.h"

/* The addend that is raised: c, or the first product of the instruction. */
enum monotone_addend { MONOTONE_C, MONOTONE_PRODUCT };

/* Whether the output never falls when that addend is raised.

   A unit that aligns terms at the largest exponent e cuts more bits of the n other terms
   when the largest term grows into binade e: up to g / 2 of each, half a place g =
   2^(e - F), while the largest term may grow by as little as its own last place below
   2^e.  Before, the sum S0 is a multiple of g / 2; after, S1 is a multiple of g.
   - Results truncated to places of g or more change at multiples of g.  They fall only if
     S0 - S1 can be g: if (n - 2) g / 2 is at least that last place.
   - Results rounded to nearest may change just above S1, where S1 is a tie or an odd
     multiple of g, and results with finer places show g / 2: the condition is (n - 1) g /
     2.

   If the condition holds, some n terms that are odd multiples of g / 2 put S1 there, and
   the result does fall.

   A unit that rounds each of its operations, or that adds exactly, is monotone, as these
   operations are.  A chain of steps is monotone in c if a step is.  It is monotone in
   products if a step is monotone in them, and either no step follows or the step is
   monotone in c.  Sources: Mikaitis 2024, "Monotonicity of multi-term floating-point
   adders"; for tensor cores Fasi, Higham, Mikaitis and Pranesh 2021. */
bool monotone_in(const struct bitcut_unit *unit, enum monotone_addend addend);

enum { MONOTONE_TEXT_MAX = 240 };

/* An example with the fewest products that was found: two outputs of the unit, the second
   with one addend raised and a smaller result. */
struct monotone_example {
    int products;     /* number of products that are not zero */
    double before[2]; /* c and the output, before */
    double after[2];
    char text[MONOTONE_TEXT_MAX]; /* the example in words */
};

/* Find an example.  Returns false if there is none. */
bool monotone_example_find(struct monotone_example *to, const struct bitcut_unit *unit,
                           enum monotone_addend addend);

#endif
