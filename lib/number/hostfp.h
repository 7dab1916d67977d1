/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's floating-point mode, made known for a while. */
#ifndef BITCUT_LIB_NUMBER_HOSTFP_H
#define BITCUT_LIB_NUMBER_HOSTFP_H

#include <fenv.h>
#include <stdbool.h>

/* What hostfp_enter() found. */
struct hostfp {
    fenv_t environment; /* unless all of it is in `control` */
    unsigned control;   /* MXCSR on x86, else 0             */
    bool in_control;
};

/* Save the calling thread's mode, then round to nearest, keep subnormals in and out, and
   raise no traps.  Code that computes with host doubles does so between enter and leave,
   in every thread: the caller may have set any mode, and threads inherit it. */
void hostfp_enter(struct hostfp *saved);

/* Whether the thread's mode is that of hostfp_enter(), for those who rely on it to
   assert. */
bool hostfp_entered(void);

/* After enter: round toward zero, where results may be flushed to zero if they are
   subnormal; and after that back to what hostfp_enter() set, before leave.  The compiler
   knows nothing of it, so operations that rely on it are in functions called by pointer.
   */
void hostfp_truncate(void);
void hostfp_default(void);

/* Between enter and leave: a + b = sum + error, exactly, if the sum is finite; else the
   error is NaN.  Knuth, TAOCP volume 2, section 4.2.2, theorem B. */
struct two_sum {
    double sum, error;
};

static inline struct two_sum two_sum(double a, double b)
{
    const double sum = a + b, z = sum - a;
    return (struct two_sum){ sum, (a - (sum - z)) + (b - z) };
}

/* Put back what hostfp_enter() found, status flags included. */
void hostfp_leave(const struct hostfp *saved);

#endif
