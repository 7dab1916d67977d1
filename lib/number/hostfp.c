/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/hostfp.h"

#include <assert.h>
#include <float.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

/* The default mode: all exceptions masked, rounding to nearest, no flush to zero, and
   denormals are not zero.  Then the bits for rounding toward zero and for flush to
   zero. */
enum { MXCSR_DEFAULT = 0x1f80, MXCSR_TO_ZERO = 0x6000, MXCSR_FLUSH = 0x8000 };

/* The bits that record which exceptions occurred. */
enum { MXCSR_FLAGS = 0x3f };

static unsigned control_get(void) { return _mm_getcsr(); }
static void control_set(unsigned control) { _mm_setcsr(control); }
static unsigned control_default(void) { return MXCSR_DEFAULT; }

static bool mode_is(unsigned control)
{
    return (_mm_getcsr() & ~(unsigned)MXCSR_FLAGS) == control;
}

static bool is_default(void) { return mode_is(MXCSR_DEFAULT); }
static bool is_truncating(void)
{
    return mode_is(MXCSR_DEFAULT | MXCSR_TO_ZERO | MXCSR_FLUSH);
}

static void set_truncating(void)
{
    _mm_setcsr(MXCSR_DEFAULT | MXCSR_TO_ZERO | MXCSR_FLUSH);
}
static void set_default(void) { _mm_setcsr(MXCSR_DEFAULT); }
#else
static unsigned control_get(void) { return 0; }
static void control_set(unsigned control) { (void)control; }
static unsigned control_default(void) { return 0; }

static bool is_default(void) { return fegetround() == FE_TONEAREST; }
static bool is_truncating(void) { return fegetround() == FE_TOWARDZERO; }
static void set_truncating(void) { fesetround(FE_TOWARDZERO); }
static void set_default(void) { fesetround(FE_TONEAREST); }
#endif

/* Whether MXCSR is the complete mode: the x87 unit is in the state in which a process
   begins, and computes no double.  Then the x87 state is not saved and set, which would
   take ten times as long. */
static bool is_all_in_control(void)
{
#if defined(__x86_64__) && !defined(__ILP32__) && FLT_EVAL_METHOD == 0
    enum { X87_DEFAULT = 0x37f };
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word == X87_DEFAULT;
#else
    return false;
#endif
}

bool hostfp_entered(void) { return is_default(); }

void hostfp_truncate(void)
{
    assert(is_default());
    set_truncating();
}

void hostfp_default(void)
{
    assert(is_truncating());
    set_default();
}

void hostfp_enter(struct hostfp *saved)
{
    saved->control = control_get();
    saved->in_control = is_all_in_control();
    if (!saved->in_control) {
        fegetenv(&saved->environment);
        fesetenv(FE_DFL_ENV); /* also resets flush modes of processors that have them
                                 there                                               */
    }
    control_set(control_default());
}

void hostfp_leave(const struct hostfp *saved)
{
    if (!saved->in_control) fesetenv(&saved->environment);
    control_set(saved->control);
}
