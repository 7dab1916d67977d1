/* Bounds on the error of a GEMM: what |D - (alpha A B + beta C)| is at most. */
#ifndef BITCUT_ANALYSIS_ERROR_BOUND_H
#define BITCUT_ANALYSIS_ERROR_BOUND_H

#include "emu/gemm.h"

/* --- before A and B are known ----------------------------------------------------- */

/* |D - (alpha A B + beta C)| at (i, j) is at most

     relative u (|alpha| |A||B| + |beta C|) + least
     + |alpha| (of_a sum_k |a_ik| + of_b sum_k |b_kj| + k each),    u = 2^-24.

   For sure, if no element of A or B is larger than `most`, and no sum overflows: as none
   does where |A||B| is below 2^-4 times the largest number of the accumulator and of
   `sums` of the order, of scaled lines where they are equilibrated.

   The second line is what underflows in words.  It is 0 if every element of A and B is 0,
   or at least `from`: for f16 words 2^-13 with a scale of 2^11, 0.25 without one, and
   2^-2 if the unit flushes subnormal words (for all units of a kind see the manual). Else
   it has to be added.

   Where lines are equilibrated `most` is infinite, `from` is beside the largest element
   of each row of A and each column of B; of_a is to be multiplied by the largest
   magnitude in column j of B, of_b by that in row i of A, `each` and `lines` by both; and
   lines times both is added.  Without equilibration lines is 0.

   All numbers are rounded upward.  An infinite `relative`: k is too large for any bound.
 */
struct bound_apriori {
    double relative;
    double least;
    double from, most;
    double of_a, of_b, each;
    double lines;
};

/* The same for g, a checked GEMM on a unit, of any A, B and C with k products an element;
   its sizes and matrices are not read.  With `any_order` for every order of k-steps,
   slices and lanes, whatever g->order has but its `sums` (analysis/error/path.h).
   BITCUT_NO_MEMORY. */
enum bitcut_status bound_apriori(struct bound_apriori *to, const struct bitcut_gemm *g,
                                 size_t k, bool any_order, struct fault *f);

#endif
