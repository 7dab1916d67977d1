/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/mpfr_value.h"

enum {
    FRACTION = 23, /* bits of an FP32 significand after the point, */
    WEIGHT = -149, /* exponent of the last bit of a subnormal         */
    EXPONENT_MAX = 4096
};

/* --- the state of MPFR -------------------------------------------------------------- */

struct mpfr_state mpfr_state_enter(void)
{
    const struct mpfr_state found = { mpfr_get_emin(), mpfr_get_emax(),
                                      mpfr_flags_save() };
    mpfr_set_emin(-EXPONENT_MAX);
    mpfr_set_emax(EXPONENT_MAX);
    return found;
}

void mpfr_state_leave(struct mpfr_state found)
{
    mpfr_set_emin(found.emin);
    mpfr_set_emax(found.emax);
    mpfr_flags_restore(found.flags, MPFR_FLAGS_ALL);
}

/* --- encodings ---------------------------------------------------------------------- */

void mpfr_value_of(mpfr_ptr x, uint32_t encoding)
{
    const long fraction = (long)(encoding & 0x7fffff);
    const int field = (int)(encoding >> FRACTION & 0xff), sign = encoding >> 31 ? -1 : 1;
    const long normal = sign * (fraction | 1 << FRACTION);
    if (field == 0xff && fraction) mpfr_set_nan(x);
    else if (field == 0xff) mpfr_set_inf(x, sign);
    else if (field == 0 && fraction == 0) mpfr_set_zero(x, sign);
    else if (field == 0) mpfr_set_si_2exp(x, sign * fraction, WEIGHT, MPFR_RNDN);
    else mpfr_set_si_2exp(x, normal, WEIGHT + field - 1, MPFR_RNDN);
}

/* The encoding of x, which `format` can represent exactly.  Changes x. */
static uint64_t encoding_of(mpfr_ptr x, const struct bitcut_format *format)
{
    if (mpfr_nan_p(x)) return format->nan;
    const uint64_t sign = (uint64_t)(mpfr_signbit(x) != 0) << (format->bits - 1);
    if (mpfr_zero_p(x)) return sign;
    const uint64_t fields_most = ((uint64_t)1 << format->exponent_bits) - 1;
    if (mpfr_inf_p(x)) return sign | fields_most << format->fraction_bits;

    /* x = significand * 2^ulp, and `step` counts exponents from the subnormals up.  The
       leading bit of a normal significand adds 1 to its exponent field. */
    const long lowest = 1 - format->bias - format->fraction_bits;
    const long high = (long)mpfr_get_exp(x) - 1 - format->fraction_bits;
    const long ulp = high < lowest ? lowest : high;
    mpfr_abs(x, x, MPFR_RNDN);
    mpfr_mul_2si(x, x, -ulp, MPFR_RNDN);
    const uint64_t step = (uint64_t)(ulp - lowest);
    return sign | ((step << format->fraction_bits) + mpfr_get_uj(x, MPFR_RNDN));
}

uint64_t mpfr_value_encode(mpfr_ptr x, int ternary, const struct bitcut_format *format)
{
    mpfr_set_emin(2 - format->bias - format->fraction_bits);
    mpfr_set_emax(1 + format->bias);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    mpfr_set_emin(-EXPONENT_MAX);
    mpfr_set_emax(EXPONENT_MAX);
    return encoding_of(x, format);
}
