/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bounds of an FP32 GEMM on the same data, and of a recipe on a unit. */
#ifndef BITCUT_ANALYSIS_ACCURACY_FP32_BOUND_H
#define BITCUT_ANALYSIS_ACCURACY_FP32_BOUND_H

#include "analysis/accuracy/metric.h"
#include "emu/gemm.h"

/* Set limit[m n] to the error that an FP32 GEMM can have at each element.  The limit is
   the larger of two numbers: the actual error of the recipe fp32, a multiply-add loop,
   and the error of such loops if rounding errors are independent with mean zero.  A loop
   with k ascending rounds every partial sum s_p to nearest, then alpha S unless alpha is
   1, then alpha S + beta c unless beta is +-0.  Each rounding has an error of at most u
   times the rounded value, so the second number is

     4 u sqrt(alpha^2 (sum of s_p^2) + (alpha S)^2 + (alpha S + beta c)^2).

   An error exceeds it with a probability of at most 2 exp(-8) = 6.7e-4 (Hoeffding 1963;
   for rounding errors Higham and Mary 2019, Hallman and Ipsen 2022), or of at most 2
   exp(-24) if errors are also uniform, as a uniform variable in (-h, h) is sub-Gaussian
   with variance h^2 / 3.  This is a model.  It fails for equal terms, for which the
   loop's own error is used.  The worst-case bound, k u |A||B|, is so wide for large k
   that f16 results are within it.

   Underflow is not included.  Sums are computed in binary64.  The limit of an element
   that is not finite has no meaning.  Of the options, `threads`, `progress` and `offload`
   are read, and change no bit.  Returns BITCUT_NO_MEMORY, a status of the device, or
   BITCUT_UNSUPPORTED if asked to stop. */
enum bitcut_status error_bound_fp32(double *limit, const struct comparison *x,
                                    const struct gemm_options *options, struct fault *f);

/* The largest errors of a recipe on a unit, in u = 2^-24. */
struct error_bound {
    /* The error of parts and dropped products, in 1-norms of rows of A and columns of B;
       the worst of all rows and columns.  With r = ||x - sum of parts of x|| / ||x|| and
       t_w = ||2^-sw part w|| / ||x||,

         parts = r_A + r_B + r_A r_B + sum of t_i t_j over products i j that are dropped

       or counted twice, since a copy in a term stands for all parts.  With c = ||sum of
       parts - copy|| / ||x||, a term with a copy adds c times the t of its other part; a
       term of two copies adds c_A + c_B + c_A c_B.  A rare element that is lost has a
       small weight, as in the product.  Infinite if a part of a finite value is infinite.
     */
    double parts;
    /* The same in 2-norms, with the roundings of the unit and the recipe: |D - C| at (i,
       j) is at most `all` u (|alpha| ||row i of A|| ||column j of B|| + |beta c|) +
       `least`, the underflow.  Infinite if no such bound is known. */
    double all, least;
    /* Number of finite elements of A and of B with a part, other than a copy, that is
       below the normal range of its format (zero included) though its exact value is not
       zero; and number of finite elements with a part that is not finite.  Parts count as
       units read them: flushed parts are zero. */
    size_t underflow[2], overflow[2];
};

/* The errors of g, a checked GEMM, on the operands of x, without overflow: the error of
   parts (analysis/split/representation_error.h), and the accumulation error of their
   products (analysis/accuracy/accumulation_error.h) in proportion to their terms.  If A
   is 2:4 sparse, its columns of B are whole, the products are those of kept elements, and
   g is not sparse. Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status error_bound_recipe(struct error_bound *e, const struct bitcut_gemm *g,
                                      const struct comparison *x, int threads,
                                      struct fault *f);

/* The largest |D - C| relative to the error that *e allows at its element.  If it is
   above 1, the result was not computed by this recipe on this unit.  Elements count as in
   metrics. */
double error_bound_share(const struct comparison *x, const struct error_bound *e);

#endif
