#include "lib/hostfp.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

/* All exceptions masked, to nearest, no flush to zero, no denormals are zero; and the
   bits for toward zero and for flush to zero. */
enum { MXCSR_DEFAULT = 0x1f80, MXCSR_TO_ZERO = 0x6000, MXCSR_FLUSH = 0x8000 };

static unsigned control_get(void) { return _mm_getcsr(); }
static void control_set(unsigned control) { _mm_setcsr(control); }
static unsigned control_default(void) { return MXCSR_DEFAULT; }

void hostfp_truncate(void) { _mm_setcsr(MXCSR_DEFAULT | MXCSR_TO_ZERO | MXCSR_FLUSH); }

void hostfp_default(void) { _mm_setcsr(MXCSR_DEFAULT); }
#else
static unsigned control_get(void) { return 0; }
static void control_set(unsigned control) { (void)control; }
static unsigned control_default(void) { return 0; }

void hostfp_truncate(void) { fesetround(FE_TOWARDZERO); }
void hostfp_default(void) { fesetround(FE_TONEAREST); }
#endif

void hostfp_enter(struct hostfp *saved)
{
    saved->control = control_get();
    fegetenv(&saved->environment);
    fesetenv(FE_DFL_ENV); /* also the flush modes of processors that keep them there */
    control_set(control_default());
}

void hostfp_leave(const struct hostfp *saved)
{
    fesetenv(&saved->environment);
    control_set(saved->control);
}
