/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/wide.h"

#include "lib/number/bits.h"

#include <assert.h>
#include <string.h>

void wide_clear(struct wide *w, int lowest, int highest)
{
    const int limbs = (highest - lowest) / 64 + 2;
    assert(highest >= lowest && limbs <= WIDE_LIMBS);
    w->exponent = lowest;
    w->limbs = limbs;
    memset(w->limb, 0, (size_t)limbs * sizeof w->limb[0]);
}

/* Add the limb `value` at position `i`, with the carry beyond. */
static void add_at(struct wide *w, int i, uint64_t value)
{
    for (; i < w->limbs && value; i++) {
        w->limb[i] += value;
        value = w->limb[i] < value;
    }
}

static void subtract_at(struct wide *w, int i, uint64_t value)
{
    for (; i < w->limbs && value; i++) {
        const uint64_t before = w->limb[i];
        w->limb[i] -= value;
        value = before < value;
    }
}

void wide_add(struct wide *w, bool negative, bitcut_uint128 significand, int exponent)
{
    const int up = exponent - w->exponent, at = up / 64, shift = up % 64;
    assert(up >= 0);
    const uint64_t piece[3] = {
        (uint64_t)(significand << shift),
        (uint64_t)((significand << shift) >> 64),
        shift ? (uint64_t)(significand >> (128 - shift)) : 0,
    };
    for (int i = 0; i < 3; i++) {
        if (negative) subtract_at(w, at + i, piece[i]);
        else add_at(w, at + i, piece[i]);
    }
}

/* 64 bits of the magnitude starting at bit `from`, which may be negative. */
static uint64_t window(const uint64_t *limb, int from)
{
    if (from <= 0) return limb[0] << -from;
    const int at = from / 64, shift = from % 64;
    if (shift == 0) return limb[at];
    return limb[at] >> shift | limb[at + 1] << (64 - shift);
}

static bool any_below(const uint64_t *limb, int bit)
{
    if (bit <= 0) return false;
    for (int i = 0; i < bit / 64; i++)
        if (limb[i]) return true;
    return bit % 64 && limb[bit / 64] << (64 - bit % 64);
}

struct unrounded wide_value(const struct wide *w)
{
    const bool negative = w->limb[w->limbs - 1] >> 63;
    uint64_t magnitude[WIDE_LIMBS + 1];
    uint64_t carry = negative;
    int top = -1;
    for (int i = 0; i < w->limbs; i++) {
        magnitude[i] = (negative ? ~w->limb[i] : w->limb[i]) + carry;
        carry = carry && magnitude[i] == 0;
        if (magnitude[i]) top = i;
    }
    if (top < 0) return (struct unrounded){ .significand = 0 };
    magnitude[w->limbs] = 0;
    const int from = 64 * top - __builtin_clzll(magnitude[top]);
    return (struct unrounded){ .significand = window(magnitude, from),
                               .exponent = w->exponent + from,
                               .negative = negative,
                               .sticky = any_below(magnitude, from) };
}

static int highest_of(bitcut_uint128 x)
{
    const uint64_t high = (uint64_t)(x >> 64);
    return high ? 64 + highest_bit(high) : highest_bit((uint64_t)x);
}

/* Sums that fit 127 bits need no limbs. */
enum { NARROW_SPAN = 118, NARROW_TERMS = 256 };

static struct unrounded narrow_sum(const struct term *terms, int n, int lowest)
{
    bitcut_uint128 sum = 0; /* two's complement */
    for (int i = 0; i < n; i++) {
        if (!terms[i].significand) continue;
        const bitcut_uint128 t = terms[i].significand << (terms[i].exponent - lowest);
        sum += terms[i].negative ? -t : t;
    }
    if (sum == 0) return (struct unrounded){ .significand = 0 };
    struct unrounded x = { .exponent = lowest, .negative = (bool)(sum >> 127) };
    if (x.negative) sum = -sum;
    const int down = highest_of(sum) - 63;
    x.significand = (uint64_t)(down > 0 ? sum >> down : sum << -down);
    x.sticky = down > 0 && sum << (128 - down);
    x.exponent += down;
    return x;
}

/* Sums that fit 63 bits need 64-bit integers only. */
enum { SHORT_SPAN = 55, SHORT_TERMS = 64 };

static struct unrounded short_sum(const struct term *terms, int n, int lowest)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        if (!terms[i].significand) continue;
        const int64_t t =
            (int64_t)((uint64_t)terms[i].significand << (terms[i].exponent - lowest));
        sum += terms[i].negative ? -t : t;
    }
    if (sum == 0) return (struct unrounded){ .significand = 0 };
    const uint64_t magnitude = sum < 0 ? -(uint64_t)sum : (uint64_t)sum;
    const int up = 63 - highest_bit(magnitude);
    return (struct unrounded){ .significand = magnitude << up,
                               .exponent = lowest - up,
                               .negative = sum < 0 };
}

struct unrounded wide_sum(const struct term *terms, int n)
{
    int lowest = INT32_MAX, highest = INT32_MIN;
    for (int i = 0; i < n; i++) {
        if (!terms[i].significand) continue;
        const int top = terms[i].exponent + highest_of(terms[i].significand);
        if (terms[i].exponent < lowest) lowest = terms[i].exponent;
        if (top > highest) highest = top;
    }
    if (highest == INT32_MIN) return (struct unrounded){ .significand = 0 };
    if (highest - lowest <= SHORT_SPAN && n <= SHORT_TERMS)
        return short_sum(terms, n, lowest);
    if (highest - lowest <= NARROW_SPAN && n <= NARROW_TERMS)
        return narrow_sum(terms, n, lowest);
    struct wide w;
    wide_clear(&w, lowest, highest);
    for (int i = 0; i < n; i++)
        if (terms[i].significand)
            wide_add(&w, terms[i].negative, terms[i].significand, terms[i].exponent);
    return wide_value(&w);
}
