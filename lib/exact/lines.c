/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/exact/lines.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

/* The exponent of the last bit set in the value of x, which is not NaN; INT_MAX for a
   zero. */
static int last_bit(uint32_t x)
{
    const int field = (int)(x >> 23 & 0xff);
    return x << 1 ? field + !field - 150 + __builtin_ctz(x | 1u << 23) : INT_MAX;
}

void lines_units(double *unit, const struct lines *l)
{
    int last[LINES_MAX];
    for (size_t i = 0; i < l->count; i++) last[i] = INT_MAX;
    for (size_t p = 0; p < l->k; p++)
        for (size_t i = 0; i < l->count; i++) {
            const int bit = last_bit(l->at[p * l->stride + i * l->step]);
            if (bit < last[i]) last[i] = bit;
        }
    for (size_t i = 0; i < l->count; i++) {
        const int exponent = last[i] == INT_MAX ? 0 : last[i];
        unit[i] = double_of_bits((uint64_t)(exponent + 1023) << 52);
    }
}

void lines_norms(double *norm, const struct lines *l)
{
    assert(hostfp_entered());
    double sum[LINES_MAX] = { 0 };
    for (size_t p = 0; p < l->k; p++)
        for (size_t i = 0; i < l->count; i++) {
            const double v = float_of_bits(l->at[p * l->stride + i * l->step]);
            sum[i] += v * v;
        }
    for (size_t i = 0; i < l->count; i++)
        norm[i] = sqrt(sum[i]) * (1 + (double)(l->k + 4) * 0x1p-52);
}

/* Take one more number into a range. */
static void range_add(struct line_range *r, double x)
{
    const uint64_t bits = bits_of_double(x), fraction = bits & ((1ull << 52) - 1);
    const int field = (int)(bits >> 52 & 0x7ff), base = field + !field - 1075;
    const uint64_t significand = fraction | (uint64_t)(field != 0) << 52;
    if (significand == 0) return;
    r->special |= field == 0x7ff;
    r->top = larger_int(r->top, base + highest_bit(significand) + 1);
    r->bottom = smaller_int(r->bottom, base + __builtin_ctzll(significand));
}

void lines_ranges(struct line_range *range, const struct lines64 *l)
{
    for (size_t i = 0; i < l->count; i++)
        range[i] = (struct line_range){ .top = INT_MIN, .bottom = INT_MAX };
    for (size_t p = 0; p < l->k; p++)
        for (size_t i = 0; i < l->count; i++)
            range_add(&range[i], l->at[p * l->stride + i * l->step]);
    for (size_t i = 0; i < l->count; i++)
        if (range[i].top == INT_MIN) range[i].top = range[i].bottom = 0;
}
