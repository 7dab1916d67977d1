/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact parts of a budget, "m*2^e", as fractions. */
#ifndef BITCUT_TESTS_ACCURACY_PART_TEXT_H
#define BITCUT_TESTS_ACCURACY_PART_TEXT_H

#include "tests/test.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

static inline void mpq_power(mpq_t x, long exponent)
{
    if (exponent >= 0) mpq_mul_2exp(x, x, (mp_bitcnt_t)exponent);
    else mpq_div_2exp(x, x, (mp_bitcnt_t)-exponent);
}

/* Add "m*2^e". */
static inline void add_text(mpq_t to, const char *text)
{
    mpq_t x;
    char digits[1000];
    const char *power = strstr(text, "*2^");
    ck_assert_ptr_nonnull(power);
    ck_assert_uint_lt((size_t)(power - text), sizeof digits);
    memcpy(digits, text, (size_t)(power - text));
    digits[power - text] = 0;
    mpq_init(x);
    ck_assert_int_eq(mpq_set_str(x, digits, 10), 0);
    mpq_power(x, strtol(power + 3, NULL, 10));
    mpq_add(to, to, x);
    mpq_clear(x);
}

#endif
