/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fp64/moduli.h"

#include "emu/fp64/cut.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"
#include "lib/number/round.h"

#include <math.h>

const int moduli[MODULI_MAX] = {
    256, 255, 253, 251, 247, 241, 239, 233, 229, 227,
    223, 217, 211, 199, 197, 193, 191, 181, 179, 173
};

/* log2(P - 1) / 2 - 0.5 as an FP32 number, rounded down, for 2 moduli and more.  The
   first number of the library is larger than that. */
static const float half_bits[MODULI_MAX - MODULI_MIN + 1] = {
    0x1.dfd1ecp2f, 0x1.6fa336p3f, 0x1.ef2ea6p3f, 0x1.372d94p4f, 0x1.767b2ep4f,
    0x1.b5b028p4f, 0x1.f49a02p4f, 0x1.19a858p5f, 0x1.38f6bcp5f, 0x1.582adap5f,
    0x1.7736aep5f, 0x1.961916p5f, 0x1.b4a4fep5f, 0x1.d321f8p5f, 0x1.f180a6p5f,
    0x1.07e7f8p6f, 0x1.16e7e2p6f, 0x1.25df9ap6f, 0x1.34be22p6f
};

/* Natural numbers of at most 192 bits, the lowest limb first. */
enum { LIMBS = 6 };
struct natural {
    uint32_t limb[LIMBS];
};

static struct natural times(struct natural x, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)x.limb[i] * factor;
        x.limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return x;
}

/* The quotient, and the remainder in *rest. */
static struct natural divided(uint32_t *rest, struct natural x, uint32_t by)
{
    uint64_t left = 0;
    for (int i = LIMBS; i--;) {
        left = left << 32 | x.limb[i];
        x.limb[i] = (uint32_t)(left / by);
        left %= by;
    }
    *rest = (uint32_t)left;
    return x;
}

static int bit(const struct natural *x, int at)
{
    return x->limb[at / 32] >> at % 32 & 1;
}

static int bits_of(const struct natural *x)
{
    int bits = 32 * LIMBS;
    while (bits && !bit(x, bits - 1)) bits--;
    return bits;
}

static int compare(const struct natural *x, const struct natural *y)
{
    for (int i = LIMBS; i--;)
        if (x->limb[i] != y->limb[i]) return x->limb[i] < y->limb[i] ? -1 : 1;
    return 0;
}

/* x - y, for y <= x. */
static struct natural less(struct natural x, const struct natural *y)
{
    int64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        borrow += (int64_t)x.limb[i] - y->limb[i];
        x.limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    return x;
}

/* The bits of x from `position` on, and the others. */
static struct natural top_of(struct natural x, int position)
{
    for (int i = 0; i < position; i++) x.limb[i / 32] &= ~((uint32_t)1 << i % 32);
    return x;
}

/* x rounded to nearest even. */
static double rounded(const struct natural *x)
{
    const int bits = bits_of(x), from = larger_int(0, bits - 64);
    struct unrounded u = { 0, from, false, false };
    for (int i = bits; i-- > from;)
        u.significand = u.significand << 1 | (uint64_t)bit(x, i);
    for (int i = 0; i < from; i++) u.sticky |= bit(x, i);
    return double_of_bits(round_pack(&formats[FORMAT_F64], &roundings[ROUND_RN], u));
}

/* An FP64 integer below 2^192. */
static struct natural natural_of(double x)
{
    struct natural to = { { 0 } };
    int exponent;
    const uint64_t significand = (uint64_t)ldexp(frexp(x, &exponent), 53);
    for (int i = 0; i < 53; i++)
        if (significand >> i & 1)
            to.limb[(exponent - 53 + i) / 32] |= (uint32_t)1 << (exponent - 53 + i) % 32;
    return to;
}

/* 1 / x rounded to nearest even, by long division: 64 bits of the quotient. */
static double inverse_of(const struct natural *x)
{
    const int bits = bits_of(x);
    struct natural rest = { { 0 } };
    struct unrounded u = { 0, -bits - 63, false, false };
    rest.limb[bits / 32] |= (uint32_t)1 << bits % 32;
    for (int i = 0; i < 64; i++) {
        const bool goes = compare(&rest, x) >= 0;
        u.significand = u.significand << 1 | goes;
        if (goes) rest = less(rest, x);
        rest = times(rest, 2);
    }
    u.sticky = bits_of(&rest) > 0;
    return double_of_bits(round_pack(&formats[FORMAT_F64], &roundings[ROUND_RN], u));
}

/* The number below p whose product with x is 1 modulo p. */
static uint32_t inverse_modulo(uint32_t x, uint32_t p)
{
    uint32_t inverse = 1;
    while (x * inverse % p != 1) inverse++;
    return inverse;
}

/* Bits of the high numbers, so that sums of their products with residues are exact. */
static int high_bits(int count)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++) sum += (size_t)moduli[i] / 2;
    return 53 - ceil_log2(sum);
}

static void set_product(struct moduli_constants *c, const struct natural *product)
{
    const double high = rounded(product);
    const struct natural below = natural_of(high);
    const bool is_above = compare(&below, product) > 0;
    const struct natural rest = is_above ? less(below, product) : less(*product, &below);
    c->minus_high = -high;
    c->minus_low = is_above ? rounded(&rest) : -rounded(&rest);
    c->inverse = inverse_of(product);
    c->half_bits = (double)half_bits[c->count - MODULI_MIN];
}

void moduli_constants_make(struct moduli_constants *c, int count)
{
    struct natural product = { { 1 } };
    uint32_t rest;
    for (int i = 0; i < count; i++) product = times(product, (uint32_t)moduli[i]);
    const int cut = bits_of(&product) - high_bits(count);
    *c = (struct moduli_constants){ .count = count };
    for (int i = 0; i < count; i++) {
        const uint32_t p = (uint32_t)moduli[i];
        const struct natural part = divided(&rest, product, p);
        divided(&rest, part, p);
        const struct natural w = times(part, inverse_modulo(rest, p)),
                             high = count > MODULI_SINGLE_MAX ? top_of(w, cut) : w,
                             low = less(w, &high);
        c->high[i] = rounded(&high);
        c->low[i] = rounded(&low);
    }
    set_product(c, &product);
}
