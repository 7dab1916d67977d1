/* SPDX-License-Identifier: BSD-3-Clause */
/* Stochastic rounding: its random bits by their definition, each step by 128-bit
   integers, probabilities counted over seeds, what is exact, what overflows, and parts of
   splits. */
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/split.h"
#include "lib/number/wide.h"
#include "tests/number/number_oracle.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static struct bitcut_rounding rule(uint64_t seed, uint64_t position)
{
    struct bitcut_rounding r = roundings[ROUND_SR];
    r.seed = seed;
    r.position = position;
    return r;
}

/* --- random bits ------------------------------------------------------------------ */

static uint64_t stated(uint64_t seed, uint64_t position, struct unrounded x)
{
    return oracle_random(seed, position, x.significand, x.exponent, x.negative, x.sticky);
}

static struct unrounded any_value(uint64_t *state)
{
    return (struct unrounded){ .significand = test_bits(state) | UINT64_C(1) << 63,
                               .exponent = test_between(state, -300, 300),
                               .negative = test_bits(state) & 1,
                               .sticky = test_bits(state) & 1 };
}

/* The same value has the same bits, however it is written. */
START_TEST(random_bits)
{
    uint64_t state = test_seed();
    for (int i = 0; i < test_cases(1 << 12, 1 << 18); i++) {
        const struct unrounded x = any_value(&state);
        struct unrounded y = x;
        const struct bitcut_rounding r = rule(test_bits(&state), test_bits(&state));
        ck_assert_uint_eq(round_random(&r, x), stated(r.seed, r.position, x));
        y.significand &= ~UINT64_C(0xffff);
        const uint64_t want = round_random(&r, y);
        y.significand >>= 16;
        y.exponent += 16;
        ck_assert_uint_eq(round_random(&r, y), want);
    }
}
END_TEST

/* Of a value and its neighbours in seed, position, sign and significand about half of the
   bits differ. */
START_TEST(random_bits_are_apart)
{
    enum { OTHERS = 6 };
    uint64_t state = test_seed(), differ[OTHERS] = { 0 };
    const int cases = test_cases(1 << 12, 1 << 16);
    for (int i = 0; i < cases; i++) {
        struct unrounded x = any_value(&state), other[OTHERS];
        struct bitcut_rounding r = rule(test_bits(&state), test_bits(&state)), by[OTHERS];
        for (int j = 0; j < OTHERS; j++) by[j] = r, other[j] = x;
        by[0].seed++;
        by[1].position++;
        other[2].negative ^= true;
        other[3].significand ^= 1;
        other[4].exponent++;
        other[5].sticky ^= true;
        for (int j = 0; j < OTHERS; j++)
            differ[j] += (uint64_t)__builtin_popcountll(round_random(&r, x) ^
                                                        round_random(&by[j], other[j]));
    }
    const double bits = 64.0 * cases;
    for (int j = 0; j < OTHERS; j++)
        ck_assert_msg(fabs((double)differ[j] / bits - 0.5) < 4 * 0.5 / sqrt(bits),
                      "neighbour %d: %g of the bits differ", j, (double)differ[j] / bits);
}
END_TEST

/* --- steps ------------------------------------------------------------------------ */

/* A significand of 64 bits to f16's 11, or fewer of a subnormal result: up if the random
   bits, as a fraction, are below what is discarded. */
START_TEST(steps)
{
    const struct bitcut_format *const f16 = &formats[FORMAT_F16];
    uint64_t state = test_seed();
    size_t ups = 0, downs = 0;
    const int cases = test_cases(1 << 14, 1 << 20);
    for (int i = 0; i < cases; i++) {
        struct unrounded x = any_value(&state);
        const int e = test_between(&state, -30, 14); /* of the leading bit */
        x.exponent = e - 63;
        if (i % 3 == 0) x.significand &= ~UINT64_C(0) << test_between(&state, 40, 62);
        if (i % 3 == 0) x.significand |= UINT64_C(1) << 63, x.sticky = false;
        const struct bitcut_rounding r = rule(test_bits(&state), (uint64_t)i);
        const int last = (e < -14 ? -14 : e) - 10, drop = last - x.exponent;
        const bitcut_uint128 wide = (bitcut_uint128)x.significand << 32;
        const uint64_t kept = drop < 64 ? x.significand >> drop : 0;
        const uint64_t part = (uint64_t)(drop <= 32 ? 0 : wide >> (drop - 32));
        const bool up = round_random(&r, x) < part;
        const uint64_t got = round_pack(f16, &r, x);
        const double want = ldexp((double)(kept + up), last);
        ck_assert_msg(fabs(format_to_double(f16, got)) == want && got >> 15 == x.negative,
                      "%016llx 2^%d: got %04llx, want %a",
                      (unsigned long long)x.significand, x.exponent,
                      (unsigned long long)got, want);
        ups += up;
        downs += !up;
    }
    const size_t few = (size_t)cases / 8;
    ck_assert_msg(ups > few && downs > few, "%zu up, %zu down", ups, downs);
}
END_TEST

/* --- probabilities ---------------------------------------------------------------- */

/* Count over seeds how often x, between two values of a format, goes to the larger one;
   how far that is from what is expected, in standard deviations. */
static double deviation(const struct bitcut_format *f, double low, double high,
                        uint32_t x, int seeds, uint64_t first)
{
    const double value = format_to_double(&formats[FORMAT_F32], x),
                 p = (value - low) / (high - low);
    int ups = 0;
    for (int s = 0; s < seeds; s++) {
        const struct bitcut_rounding r = rule(first + (uint64_t)s, 0);
        const uint64_t got = bitcut_format_convert(f, &r, &formats[FORMAT_F32], x);
        const double y = format_to_double(f, got);
        const bool up = y != low;
        if (up && isfinite(y))
            ck_assert_msg(y == high, "%a to %s: %a", value, f->name, y);
        if (up && !isfinite(y)) /* beyond the largest */
            ck_assert(high > format_to_double(f, format_largest(f, false)));
        ups += up;
    }
    return (ups - p * seeds) / sqrt(seeds * p * (1 - p));
}

/* All gaps of small formats, subnormal ones and that above the largest value among them,
   with values at any part of each. */
START_TEST(probabilities)
{
    static const int small[] = { FORMAT_E4M3, FORMAT_E5M2, FORMAT_E2M3, FORMAT_E2M1 };
    enum { FORMATS = sizeof small / sizeof *small };
    uint64_t state = test_seed();
    const int seeds = test_cases(1 << 10, 1 << 14);
    double squares = 0, sum = 0, most = 0;
    int count = 0;
    for (int i = 0; i < FORMATS; i++) {
        const struct bitcut_format *const f = &formats[small[i]];
        for (uint64_t code = 0; code < oracle_finite(f); code++) {
            const double low = oracle_magnitude(f, code),
                         high = oracle_magnitude(f, code + 1);
            if (code + 1 == oracle_finite(f) &&
                format_is_finite(f, format_infinity(f, false)))
                continue; /* what is too large becomes the largest value */
            const float x =
                (float)(low + (high - low) * test_between(&state, 16, 240) / 256);
            const double z =
                deviation(f, low, high, bits_of_float(x), seeds, test_bits(&state));
            squares += z * z;
            sum += z;
            most = fmax(most, fabs(z));
            count++;
        }
    }
    ck_assert_msg(most < 5.5 && fabs(sum) < 5 * sqrt(count) &&
                      fabs(squares - count) < 6 * sqrt(2.0 * count),
                  "%d gaps: at most %g deviations, sum %g, squares %g", count, most, sum,
                  squares);
}
END_TEST

/* --- what is exact, infinite or NaN ----------------------------------------------- */

START_TEST(exact_values_stay)
{
    uint64_t state = test_seed();
    for (const struct bitcut_format *f = formats; f->name; f++) {
        const uint64_t most = f->bits > 16 ? 0 : UINT64_C(1) << f->bits;
        for (uint64_t x = 0; x < most; x++) {
            const struct bitcut_rounding r = rule(test_bits(&state), x);
            const struct number n = format_decode(f, x);
            if (n.kind >= NUMBER_INF) continue;
            const uint64_t got = bitcut_format_convert(f, &r, f, x),
                           want = bitcut_format_convert(f, &roundings[ROUND_RZ], f, x);
            ck_assert_msg(got == want, "%s: %llx became %llx", f->name,
                          (unsigned long long)x, (unsigned long long)got);
        }
    }
}
END_TEST

START_TEST(ends_of_the_range)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32],
                                      *const f16 = &formats[FORMAT_F16];
    for (uint64_t s = 0; s < 64; s++) {
        const struct bitcut_rounding r = rule(s, s);
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0x7f800000), 0x7c00);
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0xff800000), 0xfc00);
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0x7fc00000), 0x7e00);
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0), 0);
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0x80000000), 0x8000);
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0x47800000),
                          0x7c00); /* 2^16 */
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0x7f7fffff), 0x7c00);
        /* 2^-100 is 2^-76 of f16's least subnormal: its part of 64 bits is 0 */
        ck_assert_uint_eq(bitcut_format_convert(f16, &r, f32, 0x0d800000), 0);
        const uint64_t tiny = bitcut_format_convert(f16, &r, f32, 0x33000000); /* 2^-25 */
        ck_assert(tiny <= 1);
    }
}
END_TEST

/* --- arrays and splits ------------------------------------------------------------ */

/* An array is its elements at their positions, seed 0. */
START_TEST(arrays)
{
    enum { COUNT = 777 };
    static uint32_t x[COUNT];
    static uint16_t y[COUNT];
    uint64_t state = test_seed();
    size_t changed, apart = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = 0x3f800555 + (uint32_t)(i % 5 ? test_bits(&state) & 0xfff : 0);
    ck_assert_int_eq(bitcut_format_convert_array(&changed, y, &formats[FORMAT_F16],
                                                 &roundings[ROUND_SR], x,
                                                 &formats[FORMAT_F32], COUNT),
                     BITCUT_OK);
    for (uint64_t i = 0; i < COUNT; i++) {
        const struct bitcut_rounding r = rule(0, i);
        ck_assert_uint_eq(y[i], bitcut_format_convert(&formats[FORMAT_F16], &r,
                                                      &formats[FORMAT_F32], x[i]));
        apart += i % 5 == 0 && y[i] != y[0];
    }
    ck_assert_msg(apart > 20, "%zu of equal values are rounded apart", apart);
}
END_TEST

/* The sum of the parts is x on average, over positions and over seeds; other splits have
   the same parts at any position. */
START_TEST(splits_are_unbiased)
{
    enum { DRAWS = 1 << 12, VALUES = 40 };
    struct bitcut_split s = splits[SPLIT_HALFHALF];
    uint64_t state = test_seed(), part[SPLIT_PARTS_MAX], other[SPLIT_PARTS_MAX];
    struct hostfp mode;
    double squares = 0;
    for (int i = 0; i < 2; i++) s.part[i].rounding = &roundings[ROUND_SR];
    hostfp_enter(&mode);
    for (int v = 0; v < VALUES; v++) {
        const uint32_t x = 0x3f800001 + (uint32_t)(test_bits(&state) & 0x7ffffe);
        const double value = format_to_double(&formats[FORMAT_F32], x);
        double sum = 0, square = 0;
        for (uint64_t i = 0; i < DRAWS; i++) {
            s.seed = v % 2 ? i : 5;
            split_apply_at(part, &s, x, v % 2 ? 9 : i);
            const double error =
                (format_to_double(&formats[FORMAT_F16], part[0]) +
                 format_to_double(&formats[FORMAT_F16], part[1]) / 2048) -
                value;
            sum += error;
            square += error * error;
        }
        const double z = square > 0 ? sum / sqrt(square) : 0;
        ck_assert_msg(fabs(z) < 6, "%08x: off by %g deviations", x, z);
        squares += square;
        split_apply_at(part, &splits[SPLIT_BITCUT], x, 7);
        split_apply(other, &splits[SPLIT_BITCUT], x);
        ck_assert(part[0] == other[0] && part[1] == other[1]);
    }
    hostfp_leave(&mode);
    ck_assert(squares > 0);
    ck_assert(split_is_stochastic(&s) && !split_is_stochastic(&splits[SPLIT_BITCUT]));
    struct bitcut_split t = s;
    t.seed++;
    ck_assert(split_same(&s, &s) && !split_same(&s, &t));
}
END_TEST

TEST_MAIN("stochastic", random_bits, random_bits_are_apart, steps, probabilities,
          exact_values_stay, ends_of_the_range, arrays, splits_are_unbiased)
