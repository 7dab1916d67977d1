#include "lib/split.h"

#include "lib/fma.h"
#include "lib/table.h"

#define F(index) &formats[FORMAT_##index]
#define R(index) &roundings[ROUND_##index]

const struct bitcut_split splits[] = {
    /* clang-format off */
    /* name, what, format, high, low, words, scale, source */
    [SPLIT_F32]            = { "f32",            "the FP32 value itself",             F(F32),  R(RN),     R(RN),  1, 0,  "identity" },
    [SPLIT_HALF]           = { "half",           "plain conversion to f16",           F(F16),  R(RN),     R(RN),  1, 0,  "conversion" },
    [SPLIT_MARKIDIS]       = { "markidis",       "RN + RN, no scaling",               F(F16),  R(RN),     R(RN),  2, 0,  "Markidis 2018; Ootomo Eq. 2-5" },
    [SPLIT_FENG]           = { "feng",           "round-split by fraction bit 21",    F(F16),  R(FENG21), R(RN),  2, 0,  "EGEMM-TC as printed; Ootomo section 1 argues that the implicit bit is forgotten" },
    [SPLIT_FENG22]         = { "feng22",         "round-split by fraction bit 22",    F(F16),  R(FENG22), R(RN),  2, 0,  "EGEMM-TC with the implicit bit counted, Ootomo section 1" },
    [SPLIT_HALFHALF]       = { "halfhalf",       "RN + RN, low word times 2^11",      F(F16),  R(RN),     R(RN),  2, 11, "Ootomo Eq. 19-22" },
    [SPLIT_BITCUT]         = { "bitcut",         "cut + RZ, low word times 2^10",     F(F16),  R(CUT),    R(RZ),  2, 10, "LE-GEMM Eq. 5-8, literal: no subnormal high words" },
    [SPLIT_BITCUT_GRADUAL] = { "bitcut-gradual", "RZ + RZ, low word times 2^10",      F(F16),  R(RZ),     R(RZ),  2, 10, "LE-GEMM Eq. 5-8, high word gradual below 2^-14" },
    [SPLIT_TF32]           = { "tf32",           "plain conversion to tf32",          F(TF32), R(RNA),    R(RNA), 1, 0,  "conversion" },
    [SPLIT_TF32TF32]       = { "tf32tf32",       "RNA + RNA, no scaling",             F(TF32), R(RNA),    R(RNA), 2, 0,  "Ootomo section 3.3" },
    [SPLIT_BF16]           = { "bf16",           "plain conversion to bf16",          F(BF16), R(RN),     R(RN),  1, 0,  "conversion" },
    [SPLIT_BF16X2]         = { "bf16x2",         "two RN words of bf16",              F(BF16), R(RN),     R(RN),  2, 0,  "Henry, Tang and Heinecke 2019; Triton bf16x3, XLA BF16_BF16_F32_X3" },
    [SPLIT_BF16X3]         = { "bf16x3",         "three RN words of bf16",            F(BF16), R(RN),     R(RN),  3, 0,  "Henry, Tang and Heinecke 2019; Triton bf16x6, XLA BF16_BF16_F32_X6" },
    [SPLIT_BF16X3_SCALED]  = { "bf16x3-scaled",  "three RN words of bf16, times 2^8", F(BF16), R(RN),     R(RN),  3, 8,  "cuBLAS BF16x9" },
    [SPLIT_TF32_RN]        = { "tf32-rn",        "conversion to tf32, ties to even",  F(TF32), R(RN),     R(RN),  1, 0,  "cuBLAS 13.1 FAST_TF32, by its results on an H200; cvt.rn.tf32.f32" },
    [SPLIT_CUTLASS_TF32X2] = { "cutlass-tf32x2", "RZ + RNA, no scaling",              F(TF32), R(RZ),     R(RNA), 2, 0,  "CUTLASS 4.7 numeric_conversion.h, NumericConverterFastF32" },
    [SPLIT_CUTLASS_BF16X3] = { "cutlass-bf16x3", "as bf16x3-scaled, saturating",      F(BF16), R(RN_SAT), R(RN_SAT), 3, 8, "CUTLASS 4.7 sm100_mma_warpspecialized_emulated.hpp, CollectiveMma::transform" },
    [SPLIT_TRITON_TF32X2]  = { "triton-tf32x2",  "RNA + RZ (by the unit), no scaling", F(TF32), R(RNA),   R(RZ),  2, 0,  "Triton 2025 F32DotTC.cpp, TF32x3: the rest is not rounded, the unit cuts it" },
    { 0 }
    /* clang-format on */
};

struct bitcut_split split_plain(const struct bitcut_format *format)
{
    const struct bitcut_rounding *r = format == F(TF32) ? R(RNA) : R(RN);
    return (struct bitcut_split){ .name = format->name, .what = "plain conversion",
                                  .format = format, .high = r, .low = r, .words = 1 };
}

void split_words(uint64_t word[SPLIT_WORDS_MOST], const struct bitcut_split *s, uint32_t x)
{
    uint32_t residual = x;
    for (int i = 0; i < s->words; i++) {
        word[i] = bitcut_format_convert(s->format, i ? s->low : s->high, &formats[FORMAT_F32], residual);
        if (i + 1 == s->words) break;
        const uint32_t back =
            (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN], s->format, word[i]);
        residual = f32_add(residual, back ^ 0x80000000u);
        if (s->scale) residual = f32_multiply(residual, f32_power_of_two(s->scale));
    }
}

const struct bitcut_split *bitcut_split_find(const char *name)
{
    return table_find(TABLE(splits), name);
}

int bitcut_split_apply(uint64_t word[SPLIT_WORDS_MOST], const struct bitcut_split *split,
                       uint32_t x)
{
    split_words(word, split, x);
    return split->words;
}
