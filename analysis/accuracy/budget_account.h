/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact account of one output: its value and the parts of its error. */
#ifndef BITCUT_ANALYSIS_ACCURACY_BUDGET_ACCOUNT_H
#define BITCUT_ANALYSIS_ACCURACY_BUDGET_ACCOUNT_H

#include "analysis/accuracy/budget_parts.h"
#include "analysis/accuracy/budget_watch.h"
#include "lib/gemm/epilogue.h"

/* Exact values, integers times 2^-(DYADIC_UNIT + extra).  `value` plus all parts is what
   was computed so far. */
struct account {
    mpz_t stage[STAGES], part[BUDGET_PARTS], value, error;
    long extra;
};

void account_init(struct account *x);
void account_clear(struct account *x);

/* Fill the account of the output whose sums w has: of the sum over all slices, from the
   stages of its operands, then of each step of `steps`, and of the last rounding to
   d, an FP32 encoding.  `exponents` are those of the equilibration of its row and its
   column.

   - An affine step, v f + x y, is applied to the value and to the parts, exactly.  What
     the computed v then differs from their sum is the rounding of this step.
   - A limit (relu, clamp, saturate) is applied to the value and, one after the other, to
     its sums with the parts.  A part becomes the difference that remains: a limit that
     removes an error removes it from the parts.
   - Without `extended`, the last rounding belongs to BUDGET_EPILOGUE.

   Returns NULL, or the reason why there is no finite value after some step. */
const char *account_fill(struct account *x, const struct watcher *w,
                         const struct epilogue_values *steps, bool extended,
                         int exponents, uint32_t d);

/* The same for an output of a unit of integers whose sum is v, an s32 encoding, from the
   stages of its operands.  What v differs from the last stage belongs to
   BUDGET_SATURATION, and the rounding of v to FP32 to BUDGET_EPILOGUE. */
const char *account_fill_integers(struct account *x, uint32_t v,
                                  const struct epilogue_values *steps, bool extended,
                                  uint32_t d);

/* budget_one() without texts, which leaves the exact parts in an account that
   account_init() made.  With an event, *all has no meaning. */
enum bitcut_status budget_account(struct budget_output *to, struct account *all,
                                  const struct bitcut_gemm *g,
                                  const struct gemm_plan *plan,
                                  const struct budget_lines *x, struct fault *f);

/* A value of the account in binary64, rounded toward zero, and as dyadic_text() has it. */
double account_number(const struct account *x, const mpz_t value);
char *account_text(const struct account *x, const mpz_t value);

#endif
