/* SPDX-License-Identifier: BSD-3-Clause */
/* The accumulation error of a GEMM: how many roundings a product meets on its way to D,
   and a bound on their error. */
#ifndef BITCUT_ANALYSIS_ACCURACY_ACCUMULATION_ERROR_H
#define BITCUT_ANALYSIS_ACCURACY_ACCUMULATION_ERROR_H

#include "emu/gemm.h"

/* The number of steps and additions of an order of k, which determine the accumulation
   error. */
struct accumulation {
    size_t k_steps;   /* k-steps of the longest lane of a slice */
    size_t remaining[2]; /* k-steps of the longest sequence that starts from the sum of
                            lanes (unroll), and of the longest one that starts from a sum
                            with such a sequence (narrow); 0: none */
    size_t all;       /* k-steps of all lanes of all slices together */
    size_t lanes;     /* lanes of slices that have any lane, and remainders of slices */
    size_t additions; /* largest number of additions of lanes and slices that the sum of
                         one lane meets */
};

/* The counts for a plan with k products.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status accumulation_of(struct accumulation *to, const struct gemm_plan *plan,
                                   size_t k);

/* A bound on the error after the split: |D - (alpha S + beta c)| is at most

     |alpha| (sum of term[t] |S_t| + before) + update |beta c| + after,

   plus `start` times the magnitude of what accumulators start from, if the plan says so.

   S is the sum of the products in the terms.  |S_t| is the sum of the magnitudes of the
   products of term t; parts are taken without their scale, and aligned as in
   analysis/split/representation_error.h.  If rows and columns are equilibrated, `before`
   is divided by 2^(both exponents).  The members are infinite where a chain is too long
   for any bound.  The bound requires that nothing overflows.

   Each addition, and each step of a unit, computes (x + y)(1 + v).  A product is
   therefore multiplied by (1 + v) for each rounding that it meets.  The product of these
   factors is within e^x - 1 of 1, where x is the sum of |v|.  This is less than the usual
   x / (1 - x) (gamma; Higham 2002; for block FMAs Blanchard et al. 2020), and holds for
   chains of any length.

   A step of a unit has v = eps + kappa. eps is 2^-(fraction bits of the result), or half
   of it if the step rounds to nearest. kappa is the error of its summation relative to
   all its terms; the error relative to its products is met once (struct step_error).  A
   unit with c_last rounds once more.  Sums in FP32 have v = u = 2^-24; sums of slices
   also have the v of their own format.  Underflow is added.

   With factors at promotions, S is the sum of the multiplied products, and `before` has
   to be multiplied by the largest of 1, s_a and s_b, and again for their product. */
struct accumulation_error {
    double term[RECIPE_TERMS_MAX];
    double update, before, after, start;

    /* The same as `term`, by the bound of Blanchard et al., for units that round each of
       their operations (summation_aligns() is false).  A step rounds its result; in a
       chain of n products in q steps, n - q + 1 operations are inside steps. */
    double block[RECIPE_TERMS_MAX];

    /* For such units: the sum of v^2 over the roundings that a product meets. */
    double squares[RECIPE_TERMS_MAX];
    double additions; /* number of FP32 roundings of all sums in the GEMM, except the
                         roundings of products */
};

struct accumulation_error accumulation_error_of(const struct gemm_plan *plan,
                                                const struct accumulation *path,
                                                uint32_t alpha, uint32_t beta);

/* The same, valid for every order of k-steps, slices and lanes.  If a product is one of l
   products in a lane, the lane has at most ceil(l / k of a k-step) + 1 k-steps, and the
   product meets at most k - l additions afterwards; the result is the largest error over
   all l.  Lanes that are added have at least one product each.  A remainder (unroll) is
   as long as in the plan's order, at most. */
struct accumulation_error accumulation_error_any(const struct gemm_plan *plan, size_t k,
                                                 uint32_t alpha, uint32_t beta);

/* Whether a start is multiplied after it entered its sum: by factors at promotions, by
   the scale of accumulators between terms, or by that of rows and columns.  D is not A B
   plus the start then, and has no limit. */
bool start_is_scaled(const struct gemm_plan *plan);

/* e^x - 1. */
double path_growth(double x);

#endif
