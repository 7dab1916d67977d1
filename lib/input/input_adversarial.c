/* SPDX-License-Identifier: BSD-3-Clause */
/* Families on which FP64 GEMMs of short parts lose most: exponents that spread inside
   rows and columns, full significands, products that cancel, and the ends of the range. */
#include "lib/input/elements.h"

#include "lib/number/bits.h"

#include <math.h>

/* An integer from 0 to `range` for index k, the same for A and B. */
static int shared_exponent(const struct draw *d, size_t k, int range)
{
    uint32_t word[4];
    rand_block(word, d->seed, STREAM_PAIR, k);
    return (int)rand_below(rand_bits(word[0], word[1]), (uint64_t)range + 1);
}

/* +-[1, 2) times 2^exponent, with 52 bits of the fraction. */
static double signed_power(const struct element *e, int exponent)
{
    const double x = 1 + (double)(rand_bits(e->word[0], e->word[1]) >> 12) * 0x1p-52;
    return ldexp(e->word[3] >> 31 ? -x : x, exponent);
}

double graded_real(const struct draw *d, const struct element *e)
{
    const size_t k = d->role == INPUT_A ? e->j : e->i;
    return signed_power(e, -shared_exponent(d, k, (int)d->parameter[0]));
}

double opposite_real(const struct draw *d, const struct element *e)
{
    const int range = (int)d->parameter[0];
    const size_t k = d->role == INPUT_A ? e->j : e->i;
    const int exponent = range / 2 - shared_exponent(d, k, range);
    return signed_power(e, d->role == INPUT_A ? exponent : -exponent);
}

/* The exponent of a row of A or of a column of B. */
double line_scaled_real(const struct draw *d, const struct element *e)
{
    const int lowest = (int)d->parameter[0], highest = (int)d->parameter[1];
    uint32_t word[4];
    shared_block(word, d, d->role == INPUT_A ? e->i : e->j);
    const int exponent = lowest + (int)rand_below(rand_bits(word[0], word[1]),
                                                  (uint64_t)(highest - lowest) + 1);
    return ldexp(2 * uniform(e->word) - 1, exponent);
}

double all_ones_real(const struct draw *d, const struct element *e)
{
    const int lowest = (int)d->parameter[0], highest = (int)d->parameter[1];
    const int exponent = lowest + (int)rand_below(rand_bits(e->word[0], e->word[1]),
                                                  (uint64_t)(highest - lowest) + 1);
    return ldexp(0x1.fffffffffffffp0, exponent);
}

/* The largest digits of two's complement that slices of so many bits have: all of them are
   2^(bits - 1) - 1, and the first one less, so that it keeps its place. */
double max_digits_real(const struct draw *d, const struct element *e)
{
    const int bits = (int)d->parameter[0];
    const uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
    uint64_t all = (most - 1) << (64 - bits);
    (void)e;
    for (int at = 64 - 2 * bits; at > -bits; at -= bits)
        all |= at >= 0 ? most << at : most >> -at;
    return ldexp((double)(all & ~(uint64_t)0x3ff), -62); /* 53 bits from bit 62 on */
}

/* Elements of odd k are made of their neighbours of even k. */
double cancelling_real(const struct draw *d, const struct element *e)
{
    const size_t k = d->role == INPUT_A ? e->j : e->i, even = k & ~(size_t)1;
    uint32_t word[4];
    rand_block(word, d->seed, element_stream(d),
               d->role == INPUT_A ? block_of(e->i, even) : block_of(even, e->j));
    const double x = 2 * uniform(word) - 1;
    if (k == even) return x;
    return d->role == INPUT_A ? -x : x + ldexp(x, -(int)d->parameter[0]);
}

double near_subnormal_real(const struct draw *d, const struct element *e)
{
    enum { LOWEST = -1074 };
    const uint64_t count = (uint64_t)d->parameter[0] + 1;
    return signed_power(
        e, LOWEST + (int)rand_below(rand_bits(e->word[2], e->word[3] << 1), count));
}

/* urand(-1,1), but a special value in one of n elements, as in FP32. */
double specials_real(const struct draw *d, const struct element *e)
{
    static const uint64_t special[] = { UINT64_C(0x7ff8000000000000),
                                        UINT64_C(0x7ff0000000000000),
                                        UINT64_C(0xfff0000000000000), 0,
                                        UINT64_C(0x8000000000000000) };
    const uint64_t n = (uint64_t)d->parameter[0];
    const uint64_t t = rand_below(rand_bits(e->word[2], e->word[3]), 5 * n);
    return t < 5 ? double_of_bits(special[t]) : 2 * uniform(e->word) - 1;
}
