/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the guesses at D is the best, and whether it explains D.  Floating point of
   the host decides what is likely, never a bit of a model. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_GUESS_CHOICE_H
#define BITCUT_ANALYSIS_IDENTIFY_GUESS_CHOICE_H

#include "analysis/identify/guess.h"

struct choice {
    struct residuals e;
    struct guesses plain, best; /* without a fault; with faults or one rounded operand */
};

/* The guess with the least total.  NULL: there is none. */
const struct guess *choice_cheapest(const struct choice *x, const struct guesses *of);

/* Whether the distance from a guess is that of a correct kernel.  Sums that are truncated
   have errors that depend more on the order, and truncated products have more of them. */
bool choice_is_at_level(const struct choice *x, const struct guess *g);

/* Whether all distances from a guess are a few times those of one chain of sums, as of
   truncated sums, or of an order with large partial sums. */
bool choice_is_of_rounding(const struct choice *x, const struct guess *g);

/* Whether faults account for nearly all of the distance.  Then what remains may be as
   large as in sums that are truncated. */
bool choice_is_nearly_all(const struct choice *x, const struct guess *g);

/* The best guess: without a fault, if that is at the level and a fault does not make the
   distance clearly smaller; a correct result is near some fault by chance. */
const struct guess *choice_best(const struct choice *x);

/* The best guess, after the levels became those of the best guess: an order with lanes
   has smaller errors than one chain. */
const struct guess *choice_decide(struct choice *x);

/* The median of the levels. */
double choice_level(const struct residuals *e);

/* The simplest guess that most outputs are near: without a fault, or else with faults. */
const struct guess *choice_of_most(const struct choice *x);

/* The same of sums that are truncated, whose levels are larger, if the other outputs are
   much farther away, and faults bring the guess much nearer. */
const struct guess *choice_of_most_truncated(struct choice *x);

/* Whether faults bring D clearly nearer; or some outputs of it, or the few outputs that
   no rounding explains, without being farther from the others. */
bool choice_is_nearer(const struct choice *x, const struct guess *g);

/* Whether the exact result is as near as rounded operands, or parts, which truncated sums
   bring to the level. */
bool choice_is_as_near(const struct choice *x, const struct guess *exact,
                       const struct guess *g);

#endif
