/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds on the error |D - (alpha A B + beta C)| of a GEMM.

   A GEMM with a bias, factors, a start or other steps of an epilogue is bounded in two
   parts.  First come the sums of its products, as those of a GEMM with alpha = 1 and
   without C: rows of the table of bounds give their limits.

   - Factors that the unit or promotions apply multiply the magnitudes of their products,
     |s_a a| |b s_b|, and what underflows of them; each promotion rounds twice more.
   - Factors that multiply elements before the split are rounded: with e elements of a
     product that have factors, ((1 + u)^e - 1) |s_a a| |b s_b| is added, and what this
     rounding loses below 2^-126.
   - A start is a further term of the sum.  It meets the roundings of its accumulator.

   Then come the steps, from one to the next (struct epilogue_step).  All magnitudes of an
   output must be below 2^-4 times the largest number of its sums, because a step such as
   relu may hide an overflow; otherwise the output has no limit. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BOUND_H
#define BITCUT_ANALYSIS_ACCURACY_BOUND_H

#include "analysis/accuracy/accumulation_error.h"
#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/metric.h"
#include "lib/base/status.h"

/* --- before A and B are known ----------------------------------------------------- */

/* A bound that does not depend on the values of A and B.  |D - (alpha A B + beta C)| at
   (i, j) is at most

     relative u (|alpha| |A||B| + |beta C|) + least

     + |alpha| (of_a sum_k |a_ik| + of_b sum_k |b_kj| + k each),  u = 2^-24.

   It holds if no element of A or B is larger than `most` and no sum overflows.  No sum
   overflows if |A||B| is below 2^-4 times the largest number of the accumulator and of
   the order's `partial_format`; for equilibrated rows and columns, |A||B| of the scaled
   ones.

   The second line is the error by underflow of parts.  It is 0 if every element of A and
   B is 0 or at least `from`: 2^-14 for a single f16 part; for two f16 parts 2^-13 with a
   scale of 2^11, and 2^-2 without a scale or if the unit reads subnormal parts as zeros;
   2^-117 for two bf16 parts.  Otherwise it has to be added.  If every element is 0 or at
   least `normal`, only low parts underflow, and `low` replaces the three coefficients.

   If rows and columns are equilibrated:
   - `most` is infinite;
   - `from` and `normal` are relative to the largest element of each row of A and each
     column of B;
   - of_a is multiplied by the largest magnitude in column j of B, of_b by the largest
     magnitude in row i of A, and `each` and `lines` by both;
   - `lines` times both is added.  Without equilibration `lines` is 0.

   All numbers are rounded upward.  If `relative` is infinite, k is too large for any
   bound. */
struct bound_beside {
    double of_a, of_b, each;
};

struct bound_apriori {
    double relative;
    double least;
    double from, most;
    double of_a, of_b, each;
    double lines;
    double normal;
    struct bound_beside low;
};

/* The bound for a checked GEMM g on a unit, for any A, B and C with k products per
   output, of the formats of g's matrices.  An operand in another format than f32 that a
   single part holds has no error of parts.  With a bias, factors, a start or other steps,
   `relative` is that of D relative to its magnitude, infinite if there is none for all
   data, and the other numbers are those of its sums, which bound_rest() takes to D.  The
   sizes of g and the elements of its matrices are not read.  With `any_order` the bound
   holds for every order of k-steps, slices and lanes; only the format of partial sums is
   taken from g->order (analysis/accuracy/accumulation_error.h).  Returns BITCUT_NO_MEMORY
   if memory runs out. */
enum bitcut_status bound_apriori(struct bound_apriori *to, const struct bitcut_gemm *g,
                                 size_t k, bool any_order, struct fault *f);

/* The bound evaluated for given A and B: the limits of all m n outputs of x, whose a, b,
   alpha and magnitude are set.  A limit is NaN if an element is not finite, or larger
   than `most`.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status bound_apriori_limits(double *limit, const struct bound_apriori *c,
                                        bool equilibrate, const struct comparison *x,
                                        struct fault *f);

/* The bound without its part in |A||B|, evaluated for elements rather than for rows and
   columns, and therefore smaller: `least`, and for every product the contribution of its
   elements that are not 0 and below `from`; `low` is used for elements of at least
   `normal`.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status bound_apriori_rest(double *rest, const struct bound_apriori *c,
                                      bool equilibrate, const struct comparison *x,
                                      struct fault *f);

/* --- bounds of given A, B and C --------------------------------------------------- */

struct exact_sums;

/* What is bounded: a GEMM on a unit with its plan, and its matrices with the exact
   results and D. x has all arrays except `limit`. */
struct bound_problem {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan; /* with units that round as it says */
    struct gemm_plan own;
    struct bitcut_unit unit[RECIPE_TERMS_MAX];
    const struct comparison *x;
    const struct comparison *result; /* D and its exact value; the same, except for a GEMM
                                        with steps: x and gemm have its sums then */
    struct comparison sums_x;
    struct bitcut_gemm sums_gemm;
    bool given; /* D was given, not computed by the emulator */
    struct accumulation path;
    struct accumulation_error way;
    /* device sums (lib/exact/exact_sums.h), which change no bit; or NULL */
    const struct exact_sums *sums;
};

/* Set *to, with `sums` NULL.  *to refers to itself and cannot be copied.  Returns
   BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status bound_problem_make(struct bound_problem *to,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_plan *plan,
                                      const struct comparison *x, bool given,
                                      struct fault *f);

/* One output that was simulated step by step. */
struct bound_watched {
    struct budget_output budget;
    double lost;      /* largest error by parts and dropped products */
    double underflow; /* share of `lost` that is due to underflow */
};

enum bound_kind {
    BOUND_RIGOROUS,      /* no D of this recipe on this unit exceeds it */
    BOUND_PROBABILISTIC, /* few results exceed it, if rounding errors are independent with
                            mean 0 */
    BOUND_ESTIMATE /* few results exceed it, by a model of the roundings of this D */
};

extern const char *const bound_kinds[]; /* by kind */

enum { BOUND_WHY_MAX = 200 };

/* A row of the table of bounds.  Exactly one of the last three functions is not NULL.
   Limits are in the units of D, epilogue included, and rounded upward: a binary64 sum of
   k nonnegative numbers is too small by at most k 2^-53 of its value, so it is multiplied
   by 1 + (k + 64) 2^-52.  A limit is NaN (there is none) if an input or a part is not
   finite, or too large.  Limits bound |D - (alpha A B + beta C)| where D is finite;
   limits of a row with `underflow` bound only that part of an error budget. */
struct bound_row {
    const char *name, *what;
    enum bound_kind kind;
    const char *source;
    bool underflow; /* it bounds the underflow of parts, nothing else */
    bool sharp;     /* some inputs come close to it */

    /* Whether the bound applies; if not, `why` is set to the reason. */
    bool (*applies)(char why[BOUND_WHY_MAX], const struct bound_problem *x);

    /* The bound as a function of the GEMM and k alone. */
    struct bound_apriori (*constants)(const struct bound_problem *x);

    /* The limits of all m n outputs.  Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if
       asked to stop. */
    enum bitcut_status (*fill)(double *limit, const struct bound_problem *x, int threads,
                               const struct progress *progress, struct fault *f);

    /* The limit of one output that was simulated. */
    double (*watched)(const struct bound_watched *one);
};

/* The rows, by position: `bounds[BOUND_ALIGNED]`. */
enum {
    BOUND_ANY_ORDER,
    BOUND_BLOCK_FMA,
    BOUND_ALIGNED,
    BOUND_RUNNING,
    BOUND_BIASED,
    BOUND_ZERO_MEAN,
    BOUND_PARTS,
    BOUND_PROMOTED,
    BOUND_UNDERFLOW,
    BOUNDS
};

extern const struct bound_row bounds[]; /* ended by a row whose name is NULL */

/* The limits of all m n outputs by a row that applies, before D is rounded to its format.
   For a GEMM with steps, `size` is set to the largest |v| before this rounding, unless it
   is NULL.  The result does not depend on the
   number of threads.  Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop.
 */
enum bitcut_status bound_limits(double *limit, double *size, const struct bound_row *row,
                                const struct bound_problem *x, int threads,
                                const struct progress *progress, struct fault *f);

/* Whether a row applies to a problem, or why not. */
bool bound_applies(char why[BOUND_WHY_MAX], const struct bound_row *row,
                   const struct bound_problem *x);

/* On units of integers (bound_integer.c): the bound of a GEMM of gemm_plan_on_values()
   without A and B, and the limits of all sums, converted to FP32. */
struct bound_apriori bound_apriori_integers(const struct bitcut_gemm *g);
void bound_fill_integers(double *limit, const struct bound_problem *x);

/* Replace the limits of the sums of a GEMM with steps by those of its D, before D is
   rounded to its format.  If `size` is not NULL, set it to the largest |v| of each output
   before this rounding.  `least`: limits count only what is lost below the normal
   numbers.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status bound_apply_epilogue(double *limit, double *size, bool least,
                                        const struct bound_problem *x, struct fault *f);

/* bound_apriori_rest() for the D of g with the constants c = bound_apriori(): with steps,
   what their roundings lose below the normal numbers is added, and an output that may
   overflow has NaN.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status bound_rest(double *rest, const struct bound_apriori *c,
                              const struct bitcut_gemm *g, const struct comparison *x,
                              struct fault *f);

/* Simulate output `at`, i n + j, step by step. */
enum bitcut_status bound_watch(struct bound_watched *to, const struct bound_problem *x,
                               size_t at, struct fault *f);

#endif
