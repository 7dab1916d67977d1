/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a product to D: how many roundings it meets, and what they err by. */
#ifndef BITCUT_ANALYSIS_ACCURACY_ACCUMULATION_ERROR_H
#define BITCUT_ANALYSIS_ACCURACY_ACCUMULATION_ERROR_H

#include "emu/gemm.h"

/* The order of k, as far as errors go. */
struct accumulation {
    size_t k_steps;   /* of the longest lane of a slice                       */
    size_t all;       /* of all lanes of all slices together                  */
    size_t lanes;     /* lanes of slices that have any                        */
    size_t additions; /* of lanes and slices, that the sum of one meets at most */
};

/* That of a plan for k products.  BITCUT_NO_MEMORY. */
enum bitcut_status accumulation_of(struct accumulation *to, const struct gemm_plan *plan,
                                   size_t k);

/* What happens on the way errs by so much: |D - (alpha S + beta c)| is at most

     |alpha| (sum of term[t] |S_t| + before) + update |beta c| + after,

   S the sum of the products that the terms have, |S_t| that of the magnitudes of term t
   (words without their scale, aligned as in analysis/split/representation_error.h).
   `before` is divided by 2^(both exponents) where lines are equilibrated.  Infinite where
   a chain is too long for any bound.  Nothing overflows.

   Each addition, or step of a unit, gives (x + y)(1 + v), so a product becomes itself
   times the product of 1 + v over those that it meets, which is within e^x - 1 of 1, x
   the sum of |v|: less than the x / (1 - x) that is mostly printed (gamma; Higham 2002,
   of block FMAs Blanchard et al. 2020), and there for chains of any length.  A step of a
   unit has v = eps + kappa: eps is 2^-fraction bits of the result, half of it to nearest,
   kappa what its summation errs by beside all its terms, and what it errs by beside its
   products is met once (struct step_error); a unit with c_last rounds once more.  Sums in
   FP32 have v = u = 2^-24, or besides that of the format of sums of slices. What
   underflows is added. */
struct accumulation_error {
    double term[RECIPE_TERMS_MAX];
    double update, before, after;

    /* The same as `term` of units whose operations are each rounded (summation_aligns()
       is false), as Blanchard et al. have it: a step rounds its result, and of a chain of
       n products in q steps n - q + 1 operations are inside of steps. */
    double block[RECIPE_TERMS_MAX];

    /* The sum of v^2 over the roundings that a product meets, of such units. */
    double squares[RECIPE_TERMS_MAX];
    double additions; /* of all sums in the GEMM: how many roundings in FP32 there are
                         beside those of products                                     */
};

struct accumulation_error accumulation_error_of(const struct gemm_plan *plan,
                                                const struct accumulation *path,
                                                uint32_t alpha, uint32_t beta);

/* The same for every order of k-steps, slices and lanes: a product is one of l in a lane,
   which are ceil(l / k of a k-step) + 1 k-steps at most, and meets no more than k - l
   additions then; the largest error of all l.  Lanes that are added have at least one
   product each. */
struct accumulation_error accumulation_error_any(const struct gemm_plan *plan, size_t k,
                                                 uint32_t alpha, uint32_t beta);

/* e^x - 1. */
double path_growth(double x);

#endif
