/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats: every encoding of small formats and every 257th encoding of 32-bit formats
   compared with an independent decoder (tests/number/number_oracle.h), and the numbers
   printed in the standards. */
#include "lib/number/bits.h"
#include "tests/number/number_oracle.h"
#include "tests/test.h"

#include <math.h>

/* IEEE 754-2019 table 3.5; PTX ISA (bf16, tf32, e8m13); OCP OFP8 1.0 table 1 and
   Microscaling 1.0 tables 1 to 7; AMD CDNA3 ISA (fnuz); of integers the least value
   stands in place of a normal number.  Counts are over all values of the bits that are
   not padding, both signs. */
static const struct published {
    const char *name;
    int bits, emin, emax;
    double largest, least_normal, least;  /* e8m0 has no subnormal: both least are one */
    uint64_t largest_code, infinity, nan; /* encodings; infinity of a format without: its
                                             NaN or largest */
    uint64_t nans, infinities, zeros, subnormals, normals;
} published[] = {
    /* clang-format off */
    { "f64", 64, -1022, 1023, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074,
      0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 0, 0, 0, 0, 0 },
    { "f32", 32, -126, 127, 0x1.fffffep127, 0x1p-126, 0x1p-149,
      0x7f7fffff, 0x7f800000, 0x7fc00000, 16777214, 2, 2, 16777214, 4261412864 },
    { "f16", 16, -14, 15, 65504, 0x1p-14, 0x1p-24,
      0x7bff, 0x7c00, 0x7e00, 2046, 2, 2, 2046, 61440 },
    { "bf16", 16, -126, 127, 0x1.fep127, 0x1p-126, 0x1p-133,
      0x7f7f, 0x7f80, 0x7fc0, 254, 2, 2, 254, 65024 },
    { "tf32", 32, -126, 127, 0x1.ffcp127, 0x1p-126, 0x1p-136,
      0x7f7fe000, 0x7f800000, 0x7fc00000, 2046, 2, 2, 2046, 520192 },
    { "e8m13", 32, -126, 127, 0x1.fff8p127, 0x1p-126, 0x1p-139,
      0x7f7ffc00, 0x7f800000, 0x7fc00000, 16382, 2, 2, 16382, 4161536 },
    { "e5m2", 8, -14, 15, 57344, 0x1p-14, 0x1p-16, 0x7b, 0x7c, 0x7f, 6, 2, 2, 6, 240 },
    { "e4m3", 8, -6, 8, 448, 0x1p-6, 0x1p-9, 0x7e, 0x7f, 0x7f, 2, 0, 2, 14, 238 },
    { "e5m2fnuz", 8, -15, 15, 57344, 0x1p-15, 0x1p-17,
      0x7f, 0x80, 0x80, 1, 0, 1, 6, 248 },
    { "e4m3fnuz", 8, -7, 7, 240, 0x1p-7, 0x1p-10, 0x7f, 0x80, 0x80, 1, 0, 1, 14, 240 },
    { "e3m2", 6, -2, 4, 28, 0.25, 0.0625, 0x1f, 0x1f, 0x1f, 0, 0, 2, 6, 56 },
    { "e2m3", 6, 0, 2, 7.5, 1, 0.125, 0x1f, 0x1f, 0x1f, 0, 0, 2, 14, 48 },
    { "e2m1", 4, 0, 2, 6, 1, 0.5, 0x7, 0x7, 0x7, 0, 0, 2, 2, 12 },
    { "ue8m0", 8, -127, 127, 0x1p127, 0x1p-127, 0x1p-127,
      0xfe, 0xff, 0xff, 1, 0, 0, 0, 255 },
    { "ue4m3", 7, -6, 8, 448, 0x1p-6, 0x1p-9, 0x7e, 0x7f, 0x7f, 1, 0, 1, 7, 119 },
    { "s8", 8, 7, 6, 127, -128, 1, 0x7f, 0x7f, 0, 0, 0, 1, 0, 255 },
    { "s32", 32, 31, 30, 0x1.fffffffcp30, -0x1p31, 1,
      0x7fffffff, 0x7fffffff, 0, 0, 0, 1, 0, 4294967295 },
    { "s16", 16, 15, 14, 32767, -32768, 1, 0x7fff, 0x7fff, 0, 0, 0, 1, 0, 65535 },
    { "u8", 8, 8, 7, 255, 256, 1, 0xff, 0xff, 0, 0, 0, 1, 255, 0 },
    /* clang-format on */
};

enum { PUBLISHED = sizeof published / sizeof published[0] };

/* The encoding that is `step` later, 0 at the end. */
static uint64_t later_encoding(const struct bitcut_format *f, uint64_t encoding,
                               uint64_t step)
{
    return (UINT64_MAX >> (64 - f->bits)) - encoding < step ? 0 : encoding + step;
}

/* The next encoding to look at, 0 at the end: all of a format of at most 22 bits without
   its padding, else every 4099th of 32 bits, every 257th with BITCUT_WHOLE; of formats
   above 8 bits fewer with BITCUT_BRIEF. */
static uint64_t next_encoding(const struct bitcut_format *f, uint64_t encoding)
{
    const uint64_t step = f->bits - f->pad <= 22 ? (uint64_t)1 << f->pad
                          : f->bits == 32        ? test_whole() ? 257 : 4099
                                                 : 0x1fffffffffff;
    return later_encoding(f, encoding,
                          f->bits > 8 ? step * (uint64_t)test_step(17) : step);
}

/* x as a binary64, from the fields of the decoded number only. */
static double number_value(const struct bitcut_format *f, struct number x)
{
    return ldexp((double)x.significand, x.exponent - f->fraction_bits);
}

/* Whether x is the number that `want` says, with the exponent of its field. */
static bool number_is(const struct bitcut_format *f, struct number x, struct value want)
{
    if (x.kind != want.kind || x.negative != want.negative) return false;
    if (x.kind == NUMBER_NAN) return x.exponent == 0;
    if (x.kind == NUMBER_INF) return x.significand == 0 && x.exponent == 0;
    if (x.kind == NUMBER_ZERO)
        return x.significand == 0 && x.exponent == NUMBER_ZERO_EXPONENT;
    const uint64_t implicit = (uint64_t)1 << f->fraction_bits;
    const int emin = 1 - f->bias - (f->special == SPECIAL_E8M0);
    const int exponent = ilogb(want.magnitude) < emin ? emin : ilogb(want.magnitude);
    return x.exponent == exponent && x.significand < 2 * implicit &&
           (x.exponent == emin || x.significand >= implicit) &&
           number_value(f, x) == want.magnitude;
}

static bool double_is(double x, struct value want)
{
    if (want.kind == NUMBER_NAN) return isnan(x);
    if (want.kind == NUMBER_INF) want.magnitude = INFINITY;
    return fabs(x) == want.magnitude && (signbit(x) != 0) == want.negative;
}

static void check_decode(const struct bitcut_format *f, uint64_t encoding)
{
    const struct value want = oracle_value(f, encoding);
    const struct number got = format_decode(f, encoding);
    if (!number_is(f, got, want))
        ck_abort_msg("%s 0x%" PRIx64 ": got class %d, %c%" PRIu64
                     " * 2^(%d - %d), want class "
                     "%d, %c%a",
                     f->name, encoding, got.kind, got.negative ? '-' : '+',
                     got.significand, got.exponent, f->fraction_bits, (int)want.kind,
                     want.negative ? '-' : '+', want.magnitude);
    if (!double_is(format_to_double(f, encoding), want))
        ck_abort_msg("%s 0x%" PRIx64 ": format_to_double got %a, want %c%a", f->name,
                     encoding, format_to_double(f, encoding), want.negative ? '-' : '+',
                     want.magnitude);
}

START_TEST(decode)
{
    for (const struct bitcut_format *f = formats; f->name; f++) {
        uint64_t x = 0;
        do check_decode(f, x);
        while ((x = next_encoding(f, x)));
        check_decode(f, UINT64_MAX >> (64 - f->bits));
    }
}
END_TEST

START_TEST(decode_of_f64_at_random)
{
    uint64_t state = test_seed();
    for (int i = 0; i < test_cases(1000000, 100000000); i++) {
        const uint64_t run = test_bits(&state) % 64, x = test_bits(&state) << run;
        check_decode(&formats[FORMAT_F64], i % 2 ? x : ~x);
    }
}
END_TEST

START_TEST(bits_of_doubles)
{
    ck_assert_uint_eq(bits_of_double(1), 0x3ff0000000000000);
    ck_assert_uint_eq(bits_of_double(-0x1p-1074), 0x8000000000000001);
    ck_assert(double_of_bits(0xc008000000000000) == -3);
}
END_TEST

/* The bits of a format's padding are ignored. */
START_TEST(padding_is_ignored)
{
    uint64_t state = test_seed();
    for (const struct bitcut_format *f = formats; f->name; f++)
        for (int i = 0; f->pad && i < 100000; i++) {
            const uint64_t x = test_bits(&state) >> (64 - f->bits);
            const struct number a = format_decode(f, x);
            const struct number b = format_decode(f, x >> f->pad << f->pad);
            if (a.kind != b.kind || a.negative != b.negative ||
                a.exponent != b.exponent || a.significand != b.significand)
                ck_abort_msg("%s 0x%" PRIx64 ": the padding changes the number", f->name,
                             x);
        }
}
END_TEST

/* A NaN keeps its fraction field, and format_quiet() its sign too, with the highest
   fraction bit set (IEEE 754-2019 section 6.2.1). */
static void check_nan(const struct bitcut_format *f, uint64_t x)
{
    if (oracle_value(f, x).kind != NUMBER_NAN) return;
    const struct number n = format_decode(f, x);
    const uint64_t fraction = (x >> f->pad) % ((uint64_t)1 << f->fraction_bits);
    if (n.significand != fraction)
        ck_abort_msg("%s 0x%" PRIx64 ": got fraction 0x%" PRIx64, f->name, x,
                     n.significand);
    if (f->special != SPECIAL_IEEE) return;
    const uint64_t quiet = (uint64_t)1 << (f->fraction_bits - 1);
    const uint64_t want = (x >> f->pad | quiet) << f->pad;
    if (format_quiet(f, n) != want)
        ck_abort_msg("%s 0x%" PRIx64 ": got quiet 0x%" PRIx64, f->name, x,
                     format_quiet(f, n));
}

START_TEST(nan_fractions)
{
    for (const struct bitcut_format *f = formats; f->name; f++) {
        uint64_t x = 0;
        do check_nan(f, x);
        while ((x = next_encoding(f, x)));
        check_nan(f, UINT64_MAX >> (64 - f->bits));
    }
}
END_TEST

/* --- against the standards --------------------------------------------------------- */

START_TEST(names)
{
    for (int i = 0; i < PUBLISHED; i++)
        ck_assert_msg(bitcut_format_find(published[i].name), "%s: no such row",
                      published[i].name);
    ck_assert_ptr_null(bitcut_format_find("f8"));
    ck_assert_ptr_null(bitcut_format_find(""));
}
END_TEST

static void check_limits(const struct published *p)
{
    const struct bitcut_format *f = bitcut_format_find(p->name);
    ck_assert_int_eq(f->bits, p->bits);
    ck_assert_int_eq(format_emin(f), p->emin);
    ck_assert_int_eq(format_emax(f), p->emax);
    ck_assert_uint_eq(format_largest(f, false), p->largest_code);
    ck_assert_uint_eq(format_infinity(f, false), p->infinity);
    ck_assert_uint_eq(format_nan(f), p->nan);
    ck_assert_uint_eq(format_zero(f, false), 0);
    ck_assert(format_to_double(f, p->largest_code) == p->largest);
    const uint64_t one_step = (uint64_t)1 << f->pad;
    const uint64_t least = p->zeros || p->bits == 64 ? one_step : 0;
    ck_assert(format_to_double(f, least) == p->least);
    ck_assert(format_to_double(f, least << f->fraction_bits) == p->least_normal);
}

START_TEST(limits)
{
    for (int i = 0; i < PUBLISHED; i++) check_limits(&published[i]);
}
END_TEST

/* The encodings of negative specials: the sign bit set, except for the lone NaN and zero
   of fnuz and for formats without a sign. */
START_TEST(negative_specials)
{
    for (int i = 0; i < PUBLISHED; i++) {
        const struct published *p = &published[i];
        const struct bitcut_format *f = bitcut_format_find(p->name);
        const bool has_sign = p->name[0] != 'u', fnuz = f->special == SPECIAL_FNUZ;
        const uint64_t sign = has_sign ? (uint64_t)1 << (p->bits - 1) : 0;
        if (f->special == SPECIAL_INTEGER) {
            ck_assert_uint_eq(format_largest(f, true),
                              has_sign ? (UINT64_C(1) << p->bits) - p->largest_code : 0);
            ck_assert_uint_eq(format_infinity(f, true), format_largest(f, true));
            ck_assert_uint_eq(format_zero(f, true), 0);
            continue;
        }
        ck_assert_uint_eq(format_largest(f, true), p->largest_code | sign);
        ck_assert_uint_eq(format_infinity(f, true), p->infinity | sign);
        ck_assert_uint_eq(format_zero(f, true), fnuz ? 0 : sign);
    }
}
END_TEST

START_TEST(class_counts)
{
    for (int i = 0; i < PUBLISHED; i++) {
        const struct published *p = &published[i];
        const struct bitcut_format *f = bitcut_format_find(p->name);
        if (f->bits - f->pad > 22) continue;
        uint64_t count[NUMBER_NAN + 1] = { 0 }, subnormals = 0, x = 0;
        do {
            const struct number n = format_decode(f, x);
            count[n.kind]++;
            subnormals +=
                n.kind == NUMBER_FINITE && fabs(number_value(f, n)) < p->least_normal;
        } while ((x = later_encoding(f, x, (uint64_t)1 << f->pad)));
        ck_assert_msg(count[NUMBER_NAN] == p->nans &&
                          count[NUMBER_INF] == p->infinities &&
                          count[NUMBER_ZERO] == p->zeros && subnormals == p->subnormals &&
                          count[NUMBER_FINITE] == p->subnormals + p->normals,
                      "%s: got %" PRIu64 " NaN, %" PRIu64 " Inf, %" PRIu64
                      " zero, %" PRIu64 " subnormal, %" PRIu64 " finite",
                      p->name, count[NUMBER_NAN], count[NUMBER_INF], count[NUMBER_ZERO],
                      subnormals, count[NUMBER_FINITE]);
    }
}
END_TEST

/* --- round trip -------------------------------------------------------------------- */

/* A value of a format rounds to its own encoding by every rule that does not flush; but
   for the least integer, as those are cut off alike on both sides. */
static void check_round_trip(const struct bitcut_format *f,
                             const struct bitcut_rounding *r, uint64_t x)
{
    const struct number n = format_decode(f, x);
    if (r->flush || (n.kind != NUMBER_FINITE && n.kind != NUMBER_ZERO)) return;
    const uint64_t got = round_pack(f, r, number_unrounded(f, n));
    if (f->special == SPECIAL_INTEGER && f->has_sign &&
        x == (uint64_t)1 << (f->bits - 1))
        x++;
    if (got != x >> f->pad << f->pad)
        ck_abort_msg("%s 0x%" PRIx64 " by %s: came back as 0x%" PRIx64, f->name, x,
                     r->name, got);
}

START_TEST(round_trip)
{
    for (const struct bitcut_format *f = formats; f->name; f++) {
        uint64_t x = 0;
        const struct bitcut_rounding *r = roundings;
        if (!f->has_sign) continue;
        do {
            if (f->bits <= 16)
                for (r = roundings; r->name; r++) check_round_trip(f, r, x);
            else check_round_trip(f, (++r)->name ? r : (r = roundings), x);
        } while ((x = next_encoding(f, x)));
    }
}
END_TEST

TEST_MAIN("format", decode, decode_of_f64_at_random, bits_of_doubles, nan_fractions,
          padding_is_ignored, names, limits, negative_specials, class_counts, round_trip)
