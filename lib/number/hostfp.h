/* SPDX-License-Identifier: BSD-3-Clause */
/* The floating-point mode of the host, set to a known mode for some time. */
#ifndef BITCUT_LIB_NUMBER_HOSTFP_H
#define BITCUT_LIB_NUMBER_HOSTFP_H

#include <fenv.h>
#include <stdbool.h>

/* The mode that hostfp_enter() found. */
struct hostfp {
    fenv_t environment; /* unset if `control` has the complete mode */
    unsigned control;   /* MXCSR on x86, else 0             */
    bool in_control;
};

/* Save the mode of the calling thread; then round to nearest, preserve subnormal operands
   and results, and raise no traps.  Code that computes with host doubles runs between
   enter and leave, in every thread, because the caller may have set any mode, and threads
   inherit it. */
void hostfp_enter(struct hostfp *saved);

/* Whether the thread is in the mode of hostfp_enter(), for assertions. */
bool hostfp_entered(void);

/* After enter: round toward zero; subnormal results may be flushed to zero.  The second
   function returns to the mode of hostfp_enter(); call it before leave.  The compiler
   does not know of the mode, so operations that rely on it are in functions called by
   pointer. */
void hostfp_truncate(void);
void hostfp_default(void);

/* Between enter and leave: a + b = sum + error, exactly, if the sum is finite; otherwise
   the error is NaN.  Knuth, TAOCP volume 2, section 4.2.2, theorem B. */
struct two_sum {
    double sum, error;
};

static inline struct two_sum two_sum(double a, double b)
{
    const double sum = a + b, z = sum - a;
    return (struct two_sum){ sum, (a - (sum - z)) + (b - z) };
}

/* Restore the mode that hostfp_enter() found, including status flags. */
void hostfp_leave(const struct hostfp *saved);

#endif
