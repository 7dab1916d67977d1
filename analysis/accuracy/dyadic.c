/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/dyadic.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dyadic_shift(mpz_t x, long by)
{
    if (by >= 0) mpz_mul_2exp(x, x, (mp_bitcnt_t)by);
    else {
        assert(mpz_divisible_2exp_p(x, (mp_bitcnt_t)-by));
        mpz_tdiv_q_2exp(x, x, (mp_bitcnt_t)-by);
    }
}

void dyadic_set(mpz_t to, const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    mpz_set_ui(to, x.kind == NUMBER_FINITE ? x.significand : 0);
    if (mpz_sgn(to)) dyadic_shift(to, DYADIC_UNIT + x.exponent - f->fraction_bits);
    if (x.negative) mpz_neg(to, to);
}

void dyadic_set_f32(mpz_t to, uint32_t encoding)
{
    dyadic_set(to, &formats[FORMAT_F32], encoding);
}

void dyadic_set_wide(mpz_t to, const struct wide *w)
{
    mpz_import(to, (size_t)w->limbs, -1, sizeof w->limb[0], 0, 0, w->limb);
    if (w->limb[w->limbs - 1] >> 63) {
        mpz_t all;
        mpz_init(all);
        mpz_setbit(all, 64 * (mp_bitcnt_t)w->limbs);
        mpz_sub(to, to, all);
        mpz_clear(all);
    }
    dyadic_shift(to, DYADIC_UNIT + w->exponent);
}

void dyadic_multiply(mpz_t x, uint32_t factor)
{
    const struct number n = format_decode(&formats[FORMAT_F32], factor);
    mpz_mul_ui(x, x, n.kind == NUMBER_FINITE ? n.significand : 0);
    if (mpz_sgn(x)) dyadic_shift(x, n.exponent - formats[FORMAT_F32].fraction_bits);
    if (n.negative) mpz_neg(x, x);
}

double dyadic_value(const mpz_t x, long extra)
{
    long exponent;
    const double m = mpz_get_d_2exp(&exponent, x);
    return ldexp(m, (int)(exponent - DYADIC_UNIT - extra));
}

char *dyadic_text(const mpz_t x, long extra)
{
    mpz_t m;
    char *text = NULL, *digits;
    const mp_bitcnt_t unit = (mp_bitcnt_t)(DYADIC_UNIT + extra),
                      zeros = mpz_sgn(x) ? mpz_scan1(x, 0) : unit;
    mpz_init(m);
    mpz_tdiv_q_2exp(m, x, zeros);
    digits = mpz_get_str(NULL, 10, m);
    const size_t size = strlen(digits) + 24;
    if ((text = malloc(size)))
        snprintf(text, size, "%s*2^%ld", digits, (long)zeros - (long)unit);
    void (*release)(void *, size_t);
    mp_get_memory_functions(NULL, NULL, &release);
    release(digits, strlen(digits) + 1);
    mpz_clear(m);
    return text;
}
