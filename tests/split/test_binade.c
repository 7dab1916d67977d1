/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a binade split in integers, at every level of vector instructions, compared
   with the same values split one by one. */
#include "analysis/split/binade.h"
#include "analysis/split/retention.h"
#include "emu/fast/simd.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { FIRST = 1 << 23 };

/* A block of significands: the ends of the binade, ties and their neighbours, the rest
   random. */
static void draw(int32_t x[FAST_BLOCK], uint64_t *rng)
{
    for (int i = 0; i < FAST_BLOCK; i++) {
        const int32_t bit = 1 << test_between(rng, 0, 22);
        const int32_t any = (int32_t)(test_bits(rng) & (FIRST - 1)) | FIRST;
        const int32_t tie = (any & -bit) | bit >> 1;
        const int32_t near = tie + test_between(rng, -1, 1);
        x[i] = i == 0 ? FIRST : i == 1 ? 2 * FIRST - 1 : i % 2 ? any : near;
        if (x[i] < FIRST || x[i] >= 2 * FIRST) x[i] = any;
    }
}

/* A part of x in ulps of 2^e, and without its scale: an integer below 2^53, or a power of
   two. */
static double part_ulps(const struct bitcut_split *s, int i, uint64_t part, int e)
{
    return ldexp(format_to_double(s->part[i].format, part),
                 -s->scale * s->part[i].level - e + 23);
}

/* What one value adds: by its parts, and if all are read by retention_of(). */
static void expect(struct fast_kept *sum, double *rest, double *low,
                   const struct bitcut_split *s, bool flush, uint32_t x, int e)
{
    uint64_t part[SPLIT_PARTS_MAX];
    double left = part_ulps(&splits[SPLIT_F32], 0, x, e), read = 0;
    int bits;
    bool finite = true, flushed = false;
    split_apply(part, s, x);
    *rest = *low = 0;
    for (int i = 0; i < s->parts; i++)
        finite &= format_is_finite(s->part[i].format, part[i]);
    sum->overflow += !finite;
    if (!finite) return;
    for (int i = 0; i < s->parts; i++) {
        if (s->part[i].copy) continue;
        const struct number w = format_decode(s->part[i].format, part[i]);
        const bool small = w.significand >> s->part[i].format->fraction_bits == 0;
        const double value = part_ulps(s, i, part[i], e);
        if (i == 1) {
            sum->zero += left != 0 && value == 0;
            sum->subnormal += left != 0 && small;
            *low = fabs(value);
        }
        left -= value;
        flushed |= flush && small && value != 0;
        if (!flush || !small) read += value;
    }
    *rest = fabs(part_ulps(&splits[SPLIT_F32], 0, x, e) - read);
    bits = *rest == 0 ? 24 : (int)fmax(23 - ilogb(*rest), 0);
    if (!flush) {
        int own;
        double ulps;
        ck_assert(retention_of(&own, &ulps, s, x) && own == bits && ulps == *rest);
    }
    sum->flushed += flushed;
    sum->exact += *rest == 0;
    sum->bits += (uint64_t)bits;
    sum->ulps += (uint64_t)*rest;
    if (*rest > sum->most) sum->most = (int32_t)*rest;
}

static void check_sum(const struct fast_kept *got, const struct fast_kept *want,
                      const struct bitcut_split *s, int e, const char *level)
{
    const struct {
        const char *name;
        uint64_t got, want;
    } pairs[] = {
        { "exact", got->exact, want->exact },
        { "bits", got->bits, want->bits },
        { "ulps", got->ulps, want->ulps },
        { "subnormal", got->subnormal, want->subnormal },
        { "zero", got->zero, want->zero },
        { "flushed", got->flushed, want->flushed },
        { "overflow", got->overflow, want->overflow },
        { "most", (uint64_t)got->most, (uint64_t)want->most },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        ck_assert_msg(pairs[i].got == pairs[i].want,
                      "%s, %s: %s (%s + %s, s = %d), exponent %d: got %" PRIu64
                      ", want %" PRIu64,
                      level, pairs[i].name, s->name, s->part[0].rounding->name,
                      split_low(s)->name, s->scale, e, pairs[i].got, pairs[i].want);
}

/* One block at one level. */
static void check_level(const struct simd_level *level, const struct binade *b,
                        const struct bitcut_split *s, int e, const int32_t *x,
                        const struct fast_kept *want, const double *rest,
                        const double *low)
{
    _Alignas(64) int32_t got_rest[FAST_BLOCK], got_low[FAST_BLOCK];
    struct fast_kept got;
    struct hostfp mode;
    hostfp_enter(&mode);
    level->kernels->keep(&got, got_rest, got_low, x, FAST_BLOCK, b->part, b->parts);
    hostfp_leave(&mode);
    check_sum(&got, want, s, e, level->name);
    int32_t most_low = 0;
    for (int i = 0; i < FAST_BLOCK; i++) {
        if (got_low[i] > most_low) most_low = got_low[i];
        ck_assert_msg(got_rest[i] == rest[i] && got_low[i] * b->low_times == low[i],
                      "%s: %s of %d, exponent %d: left %d, want %g; low %d, want %g",
                      level->name, s->name, x[i], e, got_rest[i], rest[i], got_low[i],
                      low[i]);
    }
    ck_assert_int_eq(got.most_low, most_low);
}

/* One binade of a split; false: it is not counted in integers. */
static bool check_binade(const struct bitcut_split *s, bool flush, int e, uint64_t *rng)
{
    _Alignas(64) int32_t x[FAST_BLOCK];
    double rest[FAST_BLOCK], low[FAST_BLOCK];
    struct fast_kept want = { 0 };
    struct binade b;
    if (!binade_make(&b, s, flush, e)) return false;
    draw(x, rng);
    for (int i = 0; i < FAST_BLOCK; i++) {
        const uint32_t value = (uint32_t)(e + 126) * FIRST + (uint32_t)x[i],
                       sign = i % 3 == 0 ? 0x80000000 : 0;
        expect(&want, &rest[i], &low[i], s, flush, value | sign, e);
        if (sign) x[i] = -x[i];
    }
    for (const struct simd_level *l = simd_levels; l->kernels; l++)
        if (l->supported()) check_level(l, &b, s, e, x, &want, rest, low);
    return true;
}

/* Every binade of every row, and how few are left to other ways. */
START_TEST(rows_of_the_table)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_split *s = splits; s->name; s++) {
        int left = 0;
        for (int e = -126; e <= 127; e++) {
            struct binade b;
            left += !binade_make(&b, s, false, e);
            if (test_long() || test_between(&rng, 0, 3) == 0)
                check_binade(s, e % 2, e, &rng);
        }
        const bool by_bit = s->part[0].rounding->direction == BY_BIT;
        const bool saturates = s == &splits[SPLIT_BITCUT_GRADUAL],
                   integers = s == &splits[SPLIT_HALF_S8]; /* 16 on f16 is infinite */
        ck_assert_msg(left == (by_bit      ? 1
                               : saturates ? 127 - 18
                               : integers  ? 126 + 16
                                           : 0),
                      "%s: %d left", s->name, left);
    }
}
END_TEST

/* Two or three parts of any formats by any rules. */
static struct bitcut_split random_split(uint64_t *rng)
{
    struct bitcut_split s = { .name = "random",
                              .what = "of this test",
                              .scale = test_between(rng, 0, 14),
                              .parts = test_between(rng, 1, 3) };
    const bool one = test_between(rng, 0, 2);
    for (int i = 0; i < s.parts; i++) {
        s.part[i] = (struct split_part){
            .format = &formats[test_between(rng, FORMAT_F32, FORMAT_E2M1)],
            .rounding = &roundings[test_between(rng, ROUND_RN, ROUND_FENG22)],
            .level = i,
            .copy = i == 2 && test_between(rng, 0, 1),
        };
        if (i && one) s.part[i].format = s.part[0].format;
        if (s.part[i].copy) s.part[i].level = test_between(rng, 0, 1);
    }
    return s;
}

START_TEST(random_splits)
{
    uint64_t rng = test_seed();
    int checked = 0;
    const int cases = test_cases(1500, 40000);
    for (int i = 0; i < cases; i++) {
        const struct bitcut_split s = random_split(&rng);
        const int e = i % 4 ? test_between(&rng, -40, 30) : test_between(&rng, -126, 127);
        checked += check_binade(&s, i / 4 % 2, e, &rng);
    }
    ck_assert_msg(checked > cases / 3, "%d of %d", checked, cases);
}
END_TEST

/* What integers do not hold. */
START_TEST(left_to_others)
{
    struct binade b;
    struct bitcut_split s = splits[SPLIT_BITCUT_GRADUAL];
    ck_assert(binade_make(&b, &s, false, 18) && !binade_make(&b, &s, false, 19));
    s = splits[SPLIT_BF16X2];
    s.scale = 60;
    ck_assert(binade_make(&b, &s, false, 70) && !binade_make(&b, &s, false, 80));
    s = splits[SPLIT_HALF];
    s.part[0].rounding = &roundings[ROUND_RU];
    ck_assert(binade_make(&b, &s, false, -25) && !binade_make(&b, &s, false, -26));
    s.part[0].format = &formats[FORMAT_UE4M3];
    ck_assert(!binade_make(&b, &s, false, 0));
}
END_TEST

/* Values that all have the same parts, where none of them is an integer. */
START_TEST(same_parts)
{
    static const int exponents[] = { 17, 18, 19, 30, 60, 104, 113, 117, 118, 127 };
    const struct bitcut_split *s = &splits[SPLIT_BITCUT_GRADUAL];
    enum { SAMPLES = 3 * FAST_BLOCK + 77 };
    for (int i = 0; i < 10; i++) {
        const int e = exponents[i];
        struct retention r;
        double sum = 0, most = 0;
        uint64_t kept = 0, finite = 0;
        ck_assert_int_eq(retention_count(&r, s, e, SAMPLES, 3, 1, NULL, NULL), BITCUT_OK);
        for (size_t j = 0; j < SAMPLES; j++) {
            const uint32_t fraction = rand_word(3, 0, j) & (FIRST - 1);
            int bits;
            double ulps;
            if (!retention_of(&bits, &ulps, s, (uint32_t)(e + 127) << 23 | fraction))
                continue;
            finite++;
            kept += (uint64_t)bits;
            sum += ulps;
            most = fmax(most, ulps);
        }
        const double mean = finite ? sum / (double)finite : 0;
        const bool same = finite ? r.max_ulp == most && r.mean_ulp == mean
                                 : isnan(r.max_ulp) && isnan(r.mean_ulp);
        ck_assert_msg(r.count == SAMPLES && r.bits == (double)kept / SAMPLES && same &&
                          r.p_overflow == (double)(SAMPLES - finite) / SAMPLES,
                      "exponent %d: bits %g, max %a, want %a, mean %a, want %a", e,
                      r.bits, r.max_ulp, most, r.mean_ulp, mean);
    }
}
END_TEST

/* Zero and the subnormal numbers: bf16 keeps 8 bits of the largest, f16 none of any. */
START_TEST(subnormal_values)
{
    struct retention r;
    ck_assert_int_eq(
        retention_count(&r, &splits[SPLIT_BF16X3], -127, 0, 1, 0, NULL, NULL), BITCUT_OK);
    ck_assert(r.count == FIRST && r.max_ulp == 0x1p15 && r.p_overflow == 0);
    ck_assert(r.exact == 0x1p-16 && r.max_relative == 1);
    ck_assert_int_eq(
        retention_count(&r, &splits[SPLIT_HALFHALF], -127, 0, 1, 0, NULL, NULL),
        BITCUT_OK);
    ck_assert(r.exact == 0x1p-23 && r.max_ulp == FIRST - 1 && r.p_zero == 1 - 0x1p-23);
    ck_assert_int_eq(retention_count(&r, &splits[SPLIT_F32], -127, 0, 1, 0, NULL, NULL),
                     BITCUT_OK);
    ck_assert(r.exact == 1 && r.bits == 24);
}
END_TEST

TEST_MAIN("binade", rows_of_the_table, random_splits, left_to_others, same_parts,
          subnormal_values)
