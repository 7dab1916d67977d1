/* SPDX-License-Identifier: BSD-3-Clause */
/* What errors a GEMM may commit: one in FP32 on the same data, and a recipe on a unit. */
#ifndef BITCUT_ANALYSIS_ACCURACY_FP32_BOUND_H
#define BITCUT_ANALYSIS_ACCURACY_FP32_BOUND_H

#include "analysis/accuracy/metric.h"
#include "emu/gemm.h"

/* limit[m n]: how far an FP32 GEMM may be from each exact element, the larger one of what
   the recipe fp32, a multiply-add loop, commits there, and of what such loops commit if
   rounding errors are independent and of mean zero.  A loop, k ascending, rounds every
   partial sum s_p to nearest, then alpha S unless alpha is 1, then alpha S + beta c
   unless beta is +-0, each by at most u times its size, so

     4 u sqrt(alpha^2 (sum of s_p^2) + (alpha S)^2 + (alpha S + beta c)^2):

   one error is above with a probability of at most 2 exp(-8) = 6.7e-4 (Hoeffding 1963; of
   rounding errors Higham and Mary 2019, Hallman and Ipsen 2022); of at most 2 exp(-24) if
   errors are uniform as well, as what is uniform in (-h, h) is sub-Gaussian of variance
   h^2 / 3.  This is a model, which fails for equal terms: hence the
   loop.  The bound for certain, k u |A||B|, is so wide for large k that f16 stays within.
   Underflow is not in it.  Sums are taken in binary64; the limit of an element that is
   not finite means nothing.  Of the options `threads`, `progress` and `offload` are read,
   and change no bit.  BITCUT_NO_MEMORY, or what a device says, or
   BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status error_bound_fp32(double *limit, const struct comparison *x,
                                    const struct gemm_options *options, struct fault *f);

/* The largest errors of a recipe on a unit, in u = 2^-24. */
struct error_bound {
    /* How far words and the products that the recipe has are from the operands and all
       products, in 1-norms of lines, the worst of all rows of A and columns of B: with
       r = ||x - words of x|| / ||x|| and t_w = ||2^-sw word w|| / ||x||,
         words = r_A + r_B + r_A r_B + sum of t_i t_j over products i j that are dropped,
       or counted twice, as a copy in a term stands for all words; with c = ||words -
       copy|| /
       ||x|| a term adds c times the t of its other word, of two copies c_A + c_B +
       c_A c_B.  A rare element that is lost weighs little, as in the product.  Infinite
       if a word of a finite value is. */
    double words;
    /* The same in 2-norms, and what the unit and the recipe round: |D - C| at (i, j) is
       at most `all` u (|alpha| ||row i of A|| ||column j of B|| + |beta c|) + `least`,
       what underflows.  Infinite if no such bound is known. */
    double all, least;
    /* Elements of A and of B that are finite, and one of whose words that is no copy is
       below the normal range of its format, zero included, though what it stands for is
       not zero; or one of whose words is not finite.  As the words are read: flushed ones
       are zero. */
    size_t underflow[2], overflow[2];
};

/* The errors of g, a checked one, on the operands of x, but for overflow: what words lose
   (analysis/split/representation_error.h), and what their products err by on their way to
   D (analysis/accuracy/accumulation_error.h), as large as the terms that they are in.
   BITCUT_NO_MEMORY. */
enum bitcut_status error_bound_recipe(struct error_bound *e, const struct bitcut_gemm *g,
                                      const struct comparison *x, int threads,
                                      struct fault *f);

/* The largest |D - C| against what these errors allow at its element: above 1 the result
   is not that of the recipe on the unit.  Elements count as metrics say. */
double error_bound_share(const struct comparison *x, const struct error_bound *e);

#endif
