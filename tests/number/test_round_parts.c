/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions to parts of splits by other definitions: the processor's instructions for
   bf16 and f16, and the printed cut and rounding of EGEMM-TC. */
#include "lib/number/bits.h"
#include "tests/number/encoding_check.h"
#include "tests/number/sweep.h"
#include "tests/test.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* --- by the processor ------------------------------------------------------------- */

enum { LANES = 16 };

#ifdef __x86_64__
static bool bf16_available(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16");
}

__attribute__((target("avx512f,avx512bf16"))) static void
    bf16_convert(uint16_t part[LANES], const uint32_t x[LANES])
{
    __m512 from;
    memcpy(&from, x, sizeof from);
    const __m256bh to = _mm512_cvtneps_pbh(from);
    memcpy(part, &to, sizeof to);
}
#else
static bool bf16_available(void) { return false; }
static void bf16_convert(uint16_t *part, const uint32_t *x) { (void)part, (void)x; }
#endif

/* VCVTNEPS2BF16 of sixteen values from x on; of a NaN no more than that it is one. */
static void check_bf16(uint32_t x)
{
    const struct bitcut_format *const bf16 = &formats[FORMAT_BF16];
    uint32_t from[LANES];
    uint16_t got[LANES];
    for (uint32_t i = 0; i < LANES; i++) from[i] = x + i;
    bf16_convert(got, from);
    for (int i = 0; i < LANES; i++) {
        const uint64_t want = bitcut_format_convert(bf16, &roundings[ROUND_RN_DAZ],
                                                    &formats[FORMAT_F32], from[i]);
        if (format_decode(bf16, want).kind == NUMBER_NAN &&
            format_decode(bf16, got[i]).kind == NUMBER_NAN)
            continue;
        check_encoding(bf16, &roundings[ROUND_RN_DAZ], &formats[FORMAT_F32], from[i],
                       got[i], want);
    }
}

/* All that lies about the least normal number, and others. */
START_TEST(f32_to_bf16_by_processor)
{
    enum { FROM = 0x007e0000, TO = 0x00820000 };
    uint64_t state = test_seed();
    if (!bf16_available()) return;
    for (uint32_t x = FROM; x < TO; x += LANES) check_bf16(x), check_bf16(x | 1u << 31);
    for (int i = 0; i < test_cases(1 << 14, 1 << 24); i++)
        check_bf16((uint32_t)test_bits(&state));
}
END_TEST

START_TEST(f32_to_f16_by_processor)
{
    struct tally tally[F16C_RULES] = { 0 };
    if (!sweep_f16c(tally, 0, (uint64_t)1 << 32,
                    sweep_step(test_cases(1 << 24, 1 << 28))))
        return;
    for (int i = 0; i < F16C_RULES; i++) {
        ck_assert_uint_gt(tally[i].compared, 0);
        if (tally[i].different)
            check_encoding(&formats[FORMAT_F16], &roundings[f16c_rules[i]],
                           &formats[FORMAT_F32], tally[i].x, tally[i].got, tally[i].want);
    }
}
END_TEST

/* --- as printed -------------------------------------------------------------------- */

/* The bit-cut of LE-GEMM section 4.1 as the paper puts it: the exponent field rebiased,
   the top fraction bits copied.  No part for a field below 1: 0.  None for a field too
   large: Inf. */
static uint64_t cut_part(const struct bitcut_format *f, uint32_t x)
{
    const uint64_t sign = (uint64_t)(x >> 31) << (f->bits - 1);
    const int field = (int)(x >> 23 & 0xff) - 127 + f->bias;
    const int field_max = (1 << f->exponent_bits) - 1;
    const uint64_t fraction = (x & 0x7fffff) >> (23 - f->fraction_bits);
    if (field <= 0) return sign;
    if (field >= field_max)
        return sign | (uint64_t)field_max << f->fraction_bits << f->pad;
    return sign | ((uint64_t)field << f->fraction_bits | fraction) << f->pad;
}

START_TEST(cut_as_printed)
{
    static const int target[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32, FORMAT_E8M13,
                                  FORMAT_E5M2 };
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct bitcut_rounding *cut = &roundings[ROUND_CUT];
    for (unsigned i = 0; i < sizeof target / sizeof target[0]; i++) {
        const struct bitcut_format *to = &formats[target[i]];
        for (uint64_t x = 0; x >> 32 == 0; x += i ? 257 * 31 : 257) {
            if ((x & 0x7fffffff) > 0x7f800000) continue;
            const uint64_t got = bitcut_format_convert(to, cut, f32, x);
            const uint64_t want = cut_part(to, (uint32_t)x);
            check_encoding(to, cut, f32, x, got, want);
        }
    }
}
END_TEST

/* EGEMM-TC: the top fraction bits copied, one more if fraction bit `bit` is set, counted
   from 1 at the top; the part of x normal in f16, or x subnormal in f32. */
static uint64_t feng_part(uint32_t x, int bit)
{
    const uint32_t magnitude = x & 0x7fffffff;
    const uint32_t rebiased = magnitude < 0x800000 ? 0 : magnitude - ((127u - 15) << 23);
    return (x >> 31) << 15 | ((rebiased >> 13) + (x >> (23 - bit) & 1));
}

START_TEST(feng_as_printed)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32], *f16 = &formats[FORMAT_F16];
    for (int row = ROUND_FENG21; row <= ROUND_FENG22; row++) {
        const struct bitcut_rounding *r = &roundings[row];
        for (uint64_t i = 1; i < 0x47800000; i += 101) {
            if (i >= 0x800000 && i < 0x38800000) i = 0x38800000;
            const uint32_t x = (uint32_t)i | (uint32_t)(i % 2) << 31;
            const uint64_t want = feng_part(x, row == ROUND_FENG21 ? 21 : 22);
            const uint64_t got = bitcut_format_convert(f16, r, f32, x);
            check_encoding(f16, r, f32, x, got, want);
        }
    }
}
END_TEST

TEST_MAIN("rounding to parts", f32_to_bf16_by_processor, f32_to_f16_by_processor,
          cut_as_printed, feng_as_printed)
