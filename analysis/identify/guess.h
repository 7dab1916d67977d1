/* SPDX-License-Identifier: BSD-3-Clause */
/* Guesses at what D consists of: an arithmetic with faults, evaluated without an order of
   k, and the distance of D from it. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_GUESS_H
#define BITCUT_ANALYSIS_IDENTIFY_GUESS_H

#include "analysis/identify/arithmetic.h"
#include "analysis/identify/fault.h"
#include "analysis/identify/k_effect.h"
#include "analysis/identify/rounding_level.h"

enum { GUESS_FAULTS_MAX = 3, GUESSES_MAX = 128 };

/* A fault of the tables, or an effect of a range of k if fault.row is NULL. */
struct guessed {
    struct kernel_fault_choice fault;
    struct k_effect effect;
};

struct guess {
    size_t arithmetic; /* by position */
    struct guessed part[GUESS_FAULTS_MAX];
    int parts;
    double score;   /* mean over outputs of log(1 + (distance / level)^2), plus `grown` */
    double cut;     /* share of the bias of sums that D has                 */
    double spread;  /* median distance, in levels of a correct kernel: about 1 for one
                       chain */
    double outside; /* share of outputs that are at least OUTSIDE levels away */
    double inside;  /* as `spread`, of the other outputs */
    /* D less the guess, for each output; divided by the growth of the rounding errors of
       sums if the guess changes them.  The mean logarithm of this growth. */
    double *rest, grown;
};

enum { OUTSIDE = 8 };

/* The best guesses, by score. */
struct guesses {
    struct guess at[GUESSES_MAX];
    size_t count;
};

/* The parts of a candidate. */
struct made_parts {
    struct part_matrices m;
    struct candidate of;
};

/* What guesses are compared with. */
struct residuals {
    struct block b;
    struct space s;
    struct arithmetics arithmetics;
    struct rounding_level rounding;
    size_t outputs;
    double *exact, *size, *level; /* of each output of the block; level NAN: D or the
                                     exact value is not finite */
    double *cut;                  /* the bias of sums */
    const struct sum_bias *bias;
    double *some;                 /* room for a number of each output, of one function */
    size_t finite;
    const struct bitcut_format *stored; /* a shorter format that has all of D, or NULL */
    bool truncated;                     /* D seems to be rounded toward zero to it; then
                                           half an ulp is added to its outputs          */
    /* Parts that were made last: of all rows and columns, of the first ones, and of the
       same of the arithmetic. */
    struct made_parts all, few, base;
};

/* Make the residuals of a block, which becomes its own, also after a failure. */
enum bitcut_status residuals_make(struct residuals *e, struct block *b, uint64_t seed,
                                  struct fault *f);
void residuals_clear(struct residuals *e);

/* The candidate of a guess.  False: its faults do not apply, or not together, or their
   effect depends on the order of k. */
bool guess_candidate(struct candidate *x, const struct residuals *e,
                     const struct guess *g);

/* The parts of x in all rows and columns, valid until the next call.  NULL: no memory. */
const struct part_matrices *guess_parts(struct residuals *e, const struct candidate *x);

/* Whether the effect of a range of k is among the faults of the guess. */
bool guess_has_effect(const struct guess *g);

/* Whether the guess has the parts of its arithmetic, whose sums are known. */
bool guess_is_quick(const struct residuals *e, const struct guess *g);

/* Evaluate a guess on all outputs and keep it if it is among the best and not much worse
   than the best; or on the first `few` rows and columns, which sets the score only.
   False: no memory. */
bool guess_try(struct guesses *to, struct residuals *e, struct guess g);
bool guess_try_few(struct guess *g, struct residuals *e, size_t few);

/* If D is in a shorter format, and rounded toward zero to it by the guess without a fault
   that is nearest, change the numbers of D to the middles of what was rounded.  Returns
   whether they were changed. */
bool residuals_undo_truncation(struct residuals *e, const struct guesses *plain);

/* Let the bias be another one than toward zero, if that is clearly likelier for one of
   the plain guesses.  Returns whether it was changed. */
bool residuals_turn(struct residuals *e, const struct guesses *plain);

/* The median of |distance| less the bias, in u |A||B|. */
double residuals_median(const struct residuals *e, const double *distance, double cut);

/* Whether an output is so far from a guess that no rounding is the cause. */
bool guess_has_outlier(const struct residuals *e, const struct guess *g);

/* Whether an output is farther from a guess than so many levels, or not a number. */
bool guess_is_beyond(const struct residuals *e, const struct guess *g, double levels);

/* What D of an output changes if its sum changes by 1. */
double guess_slope(const struct residuals *e, const struct candidate *c, size_t at);

/* Find a number that is added to all sums, if there is none: that of the guess without a
   fault whose residual is the nearest to a constant. */
void guesses_find_start(struct residuals *e, const struct guesses *plain);

/* Find a number a little above 1 that all results are multiplied by: that of the guess
   without a fault whose ratio to D is the nearest to a constant.  Truncated sums are
   smaller than right ones, too, so that numbers below 1 show nothing.
   False: no memory. */
bool guesses_find_larger(struct residuals *e, const struct guesses *plain);

/* Whether two guesses have the same faults, in the same order. */
bool guesses_have_same_faults(const struct guess *x, const struct guess *y);

/* The score times the number of outputs, and the price of the guess: what it must make D
   likelier than the exact result, in logarithms of likelihood. */
double guess_total(const struct residuals *e, const struct guess *g);

/* Score all guesses again with levels that are `by` times as large.  Their order, spreads
   and shares outside remain. */
void guesses_rescore(struct guesses *x, const struct residuals *e, double by);

/* Make all levels `by` times as large.  Then guesses are to be measured again; their
   order remains. */
void residuals_widen(struct residuals *e, double by);
void guesses_measure(struct guesses *x, const struct residuals *e);

/* Whether the results of two guesses cannot be told apart. */
bool guesses_are_same(const struct residuals *e, const struct guess *x,
                      const struct guess *y);

/* Keep g among the best of a list without its residual. */
void guesses_keep(struct guesses *to, const struct guess *g);
void guesses_clear(struct guesses *x);

#endif
