/* SPDX-License-Identifier: BSD-3-Clause */
/* Truncated sums of one unit as sums of another unit with more bits and longer blocks,
   which an emulator on that unit's device can use.  A block of L products with F bits
   equals, on a unit with G bits, r = 2^(G - F) times itself, if its products are added r
   times and the accumulator is multiplied by r, provided that the accumulator's exponent
   is not below any product's; and without an accumulator by two sums, with a term on
   either side of zero.  And exact sums of c and two products by FP32 operations. */
#include "emu/engine.h"
#include "emu/summation.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

/* A unit of f16 operands that truncates at `fraction` bits, and to FP32 toward zero. */
static bool truncates(const struct bitcut_unit *u)
{
    return !strcmp(u->summation->name, "fused") && u->a == &formats[FORMAT_F16] &&
           u->b == u->a && u->c == &formats[FORMAT_F32] && !u->scale && !u->via &&
           u->result == u->c && u->rounding.direction == TO_ZERO && !u->normalise &&
           !u->floor && !u->c_last && !u->flush_inputs && u->zero == ZERO_POSITIVE;
}

/* How many times the products of `u` enter a block of `on`; 0: they do not fit, or there
   is no need. */
static int repeats(const struct bitcut_unit *u, const struct bitcut_unit *on)
{
    const int bits = on->fraction - u->fraction;
    return truncates(u) && bits > 0 && bits < 8 && u->block << bits <= on->block
               ? 1 << bits
               : 0;
}

/* Products of one block, as f16 encodings, and the largest exponent of those that are not
   zero. */
struct block {
    uint64_t a[UNIT_K_MAX], b[UNIT_K_MAX];
    int exponent;
    bool zero;
};

static int exponent_of(uint64_t f16)
{
    const int field = (int)(f16 >> 10 & 31);
    return (field ? field : 1) - 15;
}

static void block_fill(struct block *x, int count, uint64_t *state)
{
    const int spread = test_between(state, 0, 30);
    *x = (struct block){ .exponent = -100, .zero = true };
    for (int i = 0; i < count; i++) {
        for (int side = 0; side < 2; side++) {
            int field = 15 + test_between(state, 0, spread) - spread / 2;
            field = field < 0 ? 0 : field > 30 ? 30 : field;
            uint64_t value = (test_bits(state) & 0x83ff) | (uint64_t)field << 10;
            if (!test_between(state, 0, 12)) value &= 0x8000;
            (side ? x->b : x->a)[i] = value;
        }
        if (!(x->a[i] & 0x7fff) || !(x->b[i] & 0x7fff)) continue;
        const int e = exponent_of(x->a[i]) + exponent_of(x->b[i]);
        if (x->zero || e > x->exponent) x->exponent = e;
        x->zero = false;
    }
}

/* One instruction whose first block has the products of x, `times` each, and zeros else.
 */
static float sum_on(const struct bitcut_unit *u, const struct block *x, int count,
                    int times, float c)
{
    struct number a[UNIT_K_MAX], b[UNIT_K_MAX];
    int order[UNIT_K_MAX];
    unit_order(order, u->k, u->order);
    for (int i = 0; i < u->k; i++) {
        const bool is_there = i < count * times;
        a[order[i]] = unit_read(u, u->a, is_there ? x->a[i % count] : 0);
        b[order[i]] = unit_read(u, u->b, is_there ? x->b[i % count] : 0);
    }
    return float_of_bits((uint32_t)unit_dot(u, (struct lane){ a, NULL },
                                            (struct lane){ b, NULL }, bits_of_float(c)));
}

static void must_be(const struct bitcut_unit *u, const struct bitcut_unit *on, float got,
                    float want, const char *what)
{
    ck_assert_msg(bits_of_float(got) == bits_of_float(want),
                  "%s on %s, %s: got %a, want %a", u->name, on->name, what, (double)got,
                  (double)want);
}

/* An accumulator whose exponent is not below the products'. */
static float accumulator(const struct block *x, uint64_t *state)
{
    const int e = (x->zero ? 0 : x->exponent) + test_between(state, 0, 11);
    uint32_t c = (uint32_t)(test_bits(state) & 0x807fffff) | (uint32_t)(e + 127) << 23;
    if (test_between(state, 0, 1)) c &= ~0xfffu;
    return float_of_bits(c);
}

/* d toward zero in FP32; d is exact in binary64. */
static float toward_zero(double d)
{
    const float nearest = (float)d;
    return fabs((double)nearest) > fabs(d) ? nextafterf(nearest, 0) : nearest;
}

static void without_accumulator(const struct bitcut_unit *u, const struct bitcut_unit *on,
                                const struct block *x, int times)
{
    if (x->zero) return;
    const float c = ldexpf((float)times, x->exponent);
    const float up = sum_on(on, x, u->block, times, c),
                down = sum_on(on, x, u->block, times, -c);
    const double sum = up < c ? (double)up - (double)c : (double)down + (double)c;
    const float got = toward_zero(sum) / (float)times;
    must_be(u, on, got == 0 ? 0 : got, sum_on(u, x, u->block, 1, 0), "no accumulator");
}

static void blocks_agree(const struct bitcut_unit *u, const struct bitcut_unit *on,
                         uint64_t *state)
{
    const int times = repeats(u, on), cases = test_cases(20000, 3000000);
    struct block x;
    for (int i = 0; i < cases; i++) {
        block_fill(&x, u->block, state);
        const float c = accumulator(&x, state);
        must_be(u, on, sum_on(on, &x, u->block, times, c * (float)times) / (float)times,
                sum_on(u, &x, u->block, 1, c), "c dominates");
        without_accumulator(u, on, &x, times);
    }
}

/* Every behaviour that Hopper's instruction has the bits for: those of Ampere, Volta, ...
 */
START_TEST(of_hopper)
{
    const struct bitcut_unit *const on = unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    uint64_t state = test_seed();
    char known[16][2] = { { 0 } };
    int tried = 0;
    ck_assert(on && truncates(on));
    for (const struct bitcut_unit *u = units; u->name; u++) {
        bool again = false;
        if (!repeats(u, on)) continue;
        for (int i = 0; i < tried; i++)
            again |= known[i][0] == u->block && known[i][1] == u->fraction;
        if (again || tried == 16) continue;
        known[tried][0] = (char)u->block;
        known[tried++][1] = (char)u->fraction;
        blocks_agree(u, on, &state);
    }
    ck_assert_int_ge(tried, 2);
}
END_TEST

/* Where a product's exponent is above the accumulator's the first identity fails: it is
   no more than it says. */
START_TEST(not_always)
{
    const struct bitcut_unit *const on = unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    const struct bitcut_unit *const u = unit_find("ampere/mma.m16n8k8.f32.f16", NULL);
    uint64_t state = test_seed() + 1;
    struct block x;
    int differ = 0;
    ck_assert(on && u && repeats(u, on) == 2);
    for (int i = 0; i < 20000; i++) {
        block_fill(&x, u->block, &state);
        if (x.zero) continue;
        const float c = ldexpf(accumulator(&x, &state), -14);
        differ += sum_on(on, &x, u->block, 2, 2 * c) / 2 != sum_on(u, &x, u->block, 1, c);
    }
    ck_assert_int_gt(differ, 100);
}
END_TEST

/* --- c and two products, rounded once ----------------------------------------------- */

/* c + a b, whose product is exact, and this sum minus the exact one. */
static float add_product(float *error, float a, float b, float c)
{
    const float sum = fmaf(a, b, c), back = sum - c;
    *error = fmaf(-a, b, back) + ((sum - back) - c);
    return sum;
}

/* x + y rounded to odd. */
static float sum_to_odd(float x, float y)
{
    const float sum = x + y, back = sum - x;
    const float error = (x - (sum - back)) + (y - back);
    return error == 0 || bits_of_float(sum) & 1
               ? sum
               : nextafterf(sum, error < 0 ? -INFINITY : INFINITY);
}

static float exact_pair(const float a[2], const float b[2], float c)
{
    float first, second;
    const float sum = add_product(&first, a[0], b[0], c),
                d = add_product(&second, a[1], b[1], sum);
    return d - sum_to_odd(first, second);
}

/* A bf16 number with an exponent from -range to range, in FP32; some are zero, some have
   few bits, so that sums tie. */
static float some_bf16(uint64_t *state, int range)
{
    const uint32_t bits = (uint32_t)test_bits(state);
    const uint32_t field = (uint32_t)(127 + test_between(state, -range, range));
    if (bits % 16 == 0) return 0;
    return float_of_bits((bits & 0x80000000) | field << 23 |
                         (bits & (bits & 16 ? 0x7f0000 : 0x600000)));
}

/* An accumulator near the products, or the one with which they cancel. */
static float some_c(uint64_t *state, const float a[2], const float b[2], int range)
{
    const uint32_t bits = (uint32_t)test_bits(state);
    const uint32_t field = (uint32_t)(127 + test_between(state, -2 * range, 2 * range));
    if (bits % 8 == 0) return -(a[0] * b[0]);
    if (bits % 8 == 1) return -(a[0] * b[0] + a[1] * b[1]);
    return float_of_bits((bits & 0x80000000) | field << 23 |
                         (bits & (bits & 16 ? 0x7fffff : 0x700000)));
}

START_TEST(exact_pairs)
{
    const struct bitcut_unit *const u = unit_find("cdna1/mfma.16x16x8.f32.bf16", NULL);
    uint64_t state = test_seed();
    const int cases = test_cases(200000, 20000000);
    for (int i = 0; i < cases; i++) {
        const int range = (int[]){ 1, 6, 12, 20, 45 }[i % 5];
        float a[2], b[2];
        struct block x = { 0 };
        for (int k = 0; k < 2; k++) {
            a[k] = some_bf16(&state, range);
            b[k] = some_bf16(&state, range);
            x.a[k] = bits_of_float(a[k]) >> 16;
            x.b[k] = bits_of_float(b[k]) >> 16;
        }
        const float c = some_c(&state, a, b, range);
        must_be(u, u, exact_pair(a, b, c), sum_on(u, &x, 2, 1, c), "a pair");
    }
}
END_TEST

TEST_MAIN("identity", of_hopper, not_always, exact_pairs)
