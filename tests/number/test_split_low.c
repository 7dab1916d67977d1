/* SPDX-License-Identifier: BSD-3-Clause */
/* The low part of the f16 splits, its overflow and its underflow: special cases and
   probabilities by counting significands. */
#include "lib/number/bits.h"
#include "tests/number/f16_split.h"
#include "tests/test.h"

#include <math.h>

#define R(index) (&roundings[ROUND_##index])

/* --- overflow of the low part ------------------------------------------------------ */

static bool is_infinite(uint64_t f16_part) { return (f16_part & 0x7fff) == F16_INF; }

/* How many mantissas of exponent 15 give a finite high part and an infinite low one.  In
   a quick run only those whose residual is within 64 ulp of the largest are looked at. */
static int infinite_low_parts(const struct bitcut_split *s)
{
    const bool all = test_long();
    int count = 0;
    for (uint32_t m = 0; m < MANTISSAS; m++) {
        const uint32_t rest = m % 8192;
        if (!all && (rest < 4096 - 64 || rest > 4096 + 64) && rest < 8192 - 64) continue;
        uint64_t part[SPLIT_PARTS_MAX];
        split_apply(part, s, f32_with(15, m));
        count += !is_infinite(part[0]) && is_infinite(part[1]);
    }
    return count;
}

START_TEST(scale_traps)
{
    static const struct {
        int high, low, scale, infinite;
    } trap[] = {
        { ROUND_CUT, ROUND_RZ, 10, 0 }, { ROUND_CUT, ROUND_RZ, 11, 0 },
        { ROUND_CUT, ROUND_RN, 10, 0 }, { ROUND_CUT, ROUND_RN, 11, 2048 },
        { ROUND_RN, ROUND_RN, 11, 0 },  { ROUND_RN, ROUND_RN, 12, 3070 },
    };
    for (unsigned i = 0; i < sizeof trap / sizeof trap[0]; i++) {
        const struct bitcut_split s =
            f16_split(&roundings[trap[i].high], &roundings[trap[i].low], trap[i].scale);
        const int got = infinite_low_parts(&s);
        ck_assert_msg(got == trap[i].infinite,
                      "%s + %s, s = %d: %d infinite low parts, not %d",
                      s.part[0].rounding->name, s.part[1].rounding->name, s.scale, got,
                      trap[i].infinite);
    }
}
END_TEST

/* Truncated parts stay finite, and as large as they can be. */
START_TEST(truncated_parts_saturate)
{
    for (int scale = 0; scale <= 11; scale++) {
        const struct bitcut_split s = f16_split(R(RZ), R(RZ), scale);
        uint64_t part[SPLIT_PARTS_MAX];
        split_apply(part, &s, f32_with(100, 0));
        const double most =
            oracle_value(F16, part[0]).magnitude +
            ldexp(oracle_value(F16, part[1]).magnitude, -scale);
        ck_assert_msg(most == 65504 * (1 + ldexp(1, -scale)), "s = %d: %.17g", scale,
                      most);
    }
}
END_TEST

/* --- underflow of the low part ----------------------------------------------------- */

/* The residual of x = 1.m * 2^e is k 2^(e - 23) with an integer k of the low 13 bits of m
   (and, for a tie, the bit above), so that a count over 2^14 low bits is the count over
   all mantissas.  Low parts lie on steps of 2^-24 below 2^-14: in units of k, on steps of
   `zero` = 2^(-1 - e - s) below `normal` = 2^(9 - e - s).  Of 2^13 patterns, but for a
   few at the ends,
       2 normal have a low part below 2^-14 after RN: 2^-(e+s+3),
       normal after a cut: 2^-(e+s+4),
       zero lose a nonzero residual for RN + RN and cut + RZ: 2^-(e+s+14); twice as many
       for RN + RZ, half as many for cut + RN. */
enum { PATTERNS = 1 << 13 };

struct underflow {
    double below_normal, zero; /* patterns */
};

/* A count of patterns, at least `least` and at most `most`. */
static double patterns(double count, double least, double most)
{
    return fmax(least, fmin(most, count));
}

/* RN high: k = 0 once, each of +-1 to +-4095 once, of +-4096 one.  A low RN goes up to
   2^-14 from half a step below, and down to 0 up to half a step. */
static struct underflow underflow_rn_rn(double normal, double zero)
{
    const double up = zero >= 2 ? zero : 0;
    const double below = patterns(2 * normal - 1 - up, 1, PATTERNS);
    return (struct underflow){ normal > 4096 ? PATTERNS : below,
                               zero < 2 ? 0 : patterns(zero, 0, PATTERNS - 1) };
}

static struct underflow underflow_rn_rz(double normal, double zero)
{
    return (struct underflow){
        normal > 4096 ? PATTERNS : patterns(2 * normal - 1, 1, PATTERNS),
        zero > 4096 ? PATTERNS - 1 : patterns(2 * zero - 2, 0, PATTERNS)
    };
}

/* Cut high: each k of 0 to 8191 once. */
static struct underflow underflow_cut_rn(double normal, double zero)
{
    const double up = zero >= 2 ? zero / 2 : 0;
    return (struct underflow){ patterns(normal - up, 1, PATTERNS),
                               zero < 2 ? 0 : patterns(zero / 2, 0, PATTERNS - 1) };
}

static struct underflow underflow_cut_rz(double normal, double zero)
{
    return (struct underflow){ patterns(normal, 1, PATTERNS),
                               patterns(zero - 1, 0, PATTERNS - 1) };
}

static const struct {
    int high, low;
    struct underflow (*expected)(double normal, double zero);
} underflow_rows[] = {
    { ROUND_RN, ROUND_RN, underflow_rn_rn },
    { ROUND_RN, ROUND_RZ, underflow_rn_rz },
    { ROUND_CUT, ROUND_RN, underflow_cut_rn },
    { ROUND_CUT, ROUND_RZ, underflow_cut_rz },
};

/* The mean counts over the patterns, below some upper mantissa bits. */
static struct underflow underflow_count(const struct bitcut_split *s, const double *value,
                                        int exponent, uint32_t upper)
{
    struct underflow u = { 0, 0 };
    for (uint32_t m = 0; m < 2 * PATTERNS; m++) {
        uint64_t part[SPLIT_PARTS_MAX];
        const uint32_t x = f32_with(exponent, upper | m);
        split_apply(part, s, x);
        const double low = fabs(value[part[1]]);
        u.below_normal += (low < 0x1p-14) / 2.;
        u.zero += (low == 0 && value[part[0]] != float_of_bits(x)) / 2.;
    }
    return u;
}

static void check_underflow(const struct bitcut_split *s, const double *value,
                            int exponent, struct underflow want)
{
    static const uint32_t upper[] = { 0, 0x5a4000, 0x7fc000 };
    for (int i = 0; i < test_cases(2, 3); i++) {
        const struct underflow got = underflow_count(s, value, exponent, upper[i]);
        ck_assert_msg(got.below_normal == want.below_normal && got.zero == want.zero,
                      "%s + %s, s = %d, exponent %d: %g patterns below normal, %g lost; "
                      "want %g, %g",
                      s->part[0].rounding->name, s->part[1].rounding->name, s->scale,
                      exponent, got.below_normal, got.zero, want.below_normal, want.zero);
    }
}

START_TEST(underflow_by_exponent)
{
    static const int scales[] = { 0, 10, 11 };
    double *value = f16_values();
    for (unsigned row = 0; row < sizeof underflow_rows / sizeof underflow_rows[0]; row++)
        for (int i = 0; i < 3; i++) {
            const struct bitcut_split s =
                f16_split(&roundings[underflow_rows[row].high],
                          &roundings[underflow_rows[row].low], scales[i]);
            for (int e = -14; e <= 14; e += test_long() || i == 0 ? 1 : 2)
                check_underflow(&s, value, e,
                                underflow_rows[row].expected(ldexp(1, 9 - e - s.scale),
                                                             ldexp(1, -1 - e - s.scale)));
        }
    free(value);
}
END_TEST

TEST_MAIN("low parts of splits", scale_traps, truncated_parts_saturate,
          underflow_by_exponent)
