/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/dyadic_sum.h"

#include "lib/base/size.h"

#include <assert.h>
#include <string.h>

int dyadic_sum_unit(int exponent)
{
    return larger_int(
        DYADIC_SUM_UNIT_MIN,
        smaller_int(DYADIC_SUM_UNIT_MAX, exponent + DYADIC_SUM_ROOM - DYADIC_SUM_BITS));
}

/* --- terms without room ----------------------------------------------------------- */

static void make_far(struct dyadic_sum *x)
{
    if (!x->has_far) wide_clear(&x->far, -DYADIC_UNIT, DYADIC_SUM_TOP);
    x->has_far = true;
}

void dyadic_sum_add_far(struct dyadic_sum *to, struct term x, bool minus)
{
    make_far(to);
    wide_add_term(&to->far, x, minus);
}

static struct term near_term(dyadic_near x, int unit)
{
    return (struct term){ x < 0 ? -(bitcut_uint128)x : (bitcut_uint128)x, unit, x < 0 };
}

void dyadic_sum_spill(struct dyadic_sum *to, int unit, dyadic_near x)
{
    dyadic_sum_add_far(to, near_term(to->near, unit), false);
    to->near = x;
}

static void add_wide(struct wide *to, const struct wide *x, bool minus)
{
    const uint64_t flip = minus ? UINT64_MAX : 0;
    uint64_t carry = minus;
    for (int i = 0; i < to->limbs; i++) {
        const bitcut_uint128 sum =
            (bitcut_uint128)to->limb[i] + (x->limb[i] ^ flip) + carry;
        to->limb[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

void dyadic_sum_add_sum(struct dyadic_sum *to, int unit, const struct dyadic_sum *x,
                        bool minus)
{
    dyadic_near sum;
    if (minus ? __builtin_sub_overflow(to->near, x->near, &sum)
              : __builtin_add_overflow(to->near, x->near, &sum)) {
        dyadic_sum_add_far(to, near_term(to->near, unit), false);
        dyadic_sum_add_far(to, near_term(x->near, unit), minus);
        sum = 0;
    }
    to->near = sum;
    if (!x->has_far) return;
    make_far(to);
    add_wide(&to->far, &x->far, minus);
}

/* --- products --------------------------------------------------------------------- */

static void set_far(struct dyadic_sum *x, const mpz_t value)
{
    mpz_t size;
    size_t limbs;
    x->near = 0;
    x->has_far = false;
    if (!mpz_sgn(value)) return;
    make_far(x);
    mpz_init(size);
    mpz_abs(size, value);
    assert(mpz_sizeinbase(size, 2) < 64 * (size_t)x->far.limbs);
    mpz_export(x->far.limb, &limbs, -1, sizeof x->far.limb[0], 0, 0, size);
    mpz_clear(size);
    if (mpz_sgn(value) > 0) return;
    const struct wide negative = x->far;
    wide_clear(&x->far, -DYADIC_UNIT, DYADIC_SUM_TOP);
    add_wide(&x->far, &negative, true);
}

/* x times factor 2^by in `near`, if it has room. */
static bool multiply_near(dyadic_near *x, int64_t factor, int by)
{
    dyadic_near product;
    if (__builtin_mul_overflow(*x, (dyadic_near)factor, &product)) return false;
    if (by < -126 || by > 126) return false;
    if (by < 0) {
        const dyadic_near down = product >> -by;
        if ((bitcut_uint128)down << -by != (bitcut_uint128)product) return false;
        *x = down;
        return true;
    }
    const dyadic_near up = (dyadic_near)((bitcut_uint128)product << by);
    if (up >> by != product) return false;
    *x = up;
    return true;
}

static void multiply(struct dyadic_sum *x, int unit, int64_t factor, int by)
{
    mpz_t value;
    if (!x->has_far && (!x->near || multiply_near(&x->near, factor, by))) return;
    mpz_init(value);
    dyadic_sum_get(value, x, unit);
    mpz_mul_si(value, value, factor);
    if (mpz_sgn(value)) dyadic_shift(value, by);
    set_far(x, value);
    mpz_clear(value);
}

void dyadic_sum_shift(struct dyadic_sum *x, int unit, int by)
{
    multiply(x, unit, 1, by);
}

void dyadic_sum_multiply(struct dyadic_sum *x, int unit, uint32_t factor)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const struct number n = format_decode(f32, factor);
    const int64_t size = n.kind == NUMBER_FINITE ? (int64_t)n.significand : 0;
    multiply(x, unit, n.negative ? -size : size,
             n.kind == NUMBER_FINITE ? n.exponent - f32->fraction_bits : 0);
}

/* --- the whole -------------------------------------------------------------------- */

void dyadic_sum_get(mpz_t to, const struct dyadic_sum *x, int unit)
{
    const struct term near = near_term(x->near, unit);
    const uint64_t limb[2] = { (uint64_t)near.significand,
                               (uint64_t)(near.significand >> 64) };
    mpz_t far;
    mpz_import(to, 2, -1, sizeof limb[0], 0, 0, limb);
    mpz_mul_2exp(to, to, (mp_bitcnt_t)(DYADIC_UNIT + unit));
    if (near.negative) mpz_neg(to, to);
    if (!x->has_far) return;
    mpz_init(far);
    dyadic_set_wide(far, &x->far);
    mpz_add(to, to, far);
    mpz_clear(far);
}
