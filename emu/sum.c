/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/sum.h"

#include "lib/base/size.h"

#include <math.h>

/* --- what rows need --------------------------------------------------------------- */

/* The most fraction bits of a product whose significand fits 64 bits. */
enum { PRODUCT_BITS_MAX = 62 };

bool sum_products_fit(const struct bitcut_unit *u)
{
    return product_fraction_bits(u) <= PRODUCT_BITS_MAX;
}

bool sum_fraction_fits(const struct bitcut_unit *u, int most)
{
    return u->fraction >= 0 && u->fraction <= most;
}

double sum_bit(int position)
{
    return position >= FRACTION_EXACT ? 0 : ldexp(1, -position);
}

/* A subnormal accumulator aligns by the smallest exponent of its format. */
struct step_error aligned_error(const struct bitcut_unit *u, int cuts)
{
    const double bit = cuts * sum_bit(u->fraction);
    return (struct step_error){ .sum = bit,
                                .cut = bit * ldexp(1, larger_int(u->align_min,
                                                                 format_emin(u->c))),
                                .roundings = 1 };
}

/* --- NaN -------------------------------------------------------------------------- */

bool sum_nan_operand(uint64_t *d, const struct bitcut_unit *u, struct number a,
                     struct number b, struct number z)
{
    const struct {
        struct number x;
        const struct bitcut_format *format;
    } is_a = { a, u->a }, is_b = { b, u->b }, is_z = { z, u->c },
      by_rank[2][3] = { { is_b, is_z, is_a }, { is_a, is_b, is_z } };
    for (int i = 0; u->nan_rule != NAN_FIXED && i < 3; i++) {
        struct number x = by_rank[u->nan_rule == NAN_FIRST][i].x;
        if (x.kind != NUMBER_NAN) continue;
        x.significand <<= u->c->fraction_bits -
                          by_rank[u->nan_rule == NAN_FIRST][i].format->fraction_bits;
        *d = format_quiet(u->c, x);
        return true;
    }
    return false;
}

/* --- rounding --------------------------------------------------------------------- */

uint64_t sum_round(const struct bitcut_unit *u, struct unrounded sum, bool zero_negative)
{
    if (sum.significand == 0) sum.negative = u->zero == ZERO_IEEE && zero_negative;
    const uint64_t d = round_pack(u->result, &u->rounding, sum);
    const bool zero = d == format_zero(u->result, true);
    return zero && u->zero == ZERO_POSITIVE ? format_zero(u->result, false) : d;
}

static bool is_negative_zero(struct number x, bool negative)
{
    return x.kind == NUMBER_ZERO && negative;
}

bool sum_negative_zeros(const struct step *t)
{
    bool all = is_negative_zero(t->z, t->z.negative);
    for (int i = 0; i < t->n && all; i++) {
        const bool negative = product_negative(t->a[i], t->b[i]);
        all = is_negative_zero(t->a[i], negative) || is_negative_zero(t->b[i], negative);
    }
    return all;
}

uint64_t sum_round_integer(const struct bitcut_unit *u, const struct step *t, int128 sum,
                           int exponent)
{
    const bitcut_uint128 magnitude = sum < 0 ? -(bitcut_uint128)sum : (bitcut_uint128)sum;
    assert(magnitude >> 64 == 0);
    const struct unrounded x = { .significand = (uint64_t)magnitude,
                                 .exponent = exponent,
                                 .negative = sum < 0 };
    return sum_round(u, x, sum == 0 && u->zero == ZERO_IEEE && sum_negative_zeros(t));
}
