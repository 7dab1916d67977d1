/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/split.h"

#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/number/fma.h"

#include <stdio.h>
#include <string.h>

#define F(index) &formats[FORMAT_##index]
#define R(index) &roundings[ROUND_##index]

#define PART(format, rounding, level)                                                    \
    {                                                                                    \
        F(format), R(rounding), level, false                                             \
    }
#define COPY(format, rounding)                                                           \
    {                                                                                    \
        F(format), R(rounding), 0, true                                                  \
    }

/* The number of parts, and the parts in one format; each is the residual of the last. */
#define ONE(f, high)        1, { PART(f, high, 0) }
#define TWO(f, high, low)   2, { PART(f, high, 0), PART(f, low, 1) }
#define THREE(f, high, low) 3, { PART(f, high, 0), PART(f, low, 1), PART(f, low, 2) }

/* A high part in f16, its residual in 8 bits, and a copy of x by which residuals are
   multiplied. */
#define HALF_AND(f) 3, { PART(F16, RN, 0), PART(f, RN_SAT, 1), COPY(f, RN_SAT) }

const struct bitcut_split splits[] = {
    /* clang-format off */
    /* name, what, scale, parts, source, seed */
    [SPLIT_F32] =            { "f32",            "the FP32 value itself",              0,   ONE(F32, RN),
      "identity", 0 },
    [SPLIT_HALF] =           { "half",           "plain conversion to f16",            0,   ONE(F16, RN),
      "conversion", 0 },
    [SPLIT_MARKIDIS] =       { "markidis",       "RN + RN, no scaling",                0,   TWO(F16, RN, RN),
      "Markidis 2018; Ootomo Eq. 2-5", 0 },
    [SPLIT_FENG] =           { "feng",           "round-split by fraction bit 21",     0,   TWO(F16, FENG21, RN),
      "EGEMM-TC as printed; Ootomo section 1 argues that the implicit bit is forgotten", 0 },
    [SPLIT_FENG22] =         { "feng22",         "round-split by fraction bit 22",     0,   TWO(F16, FENG22, RN),
      "EGEMM-TC with the implicit bit counted, Ootomo section 1", 0 },
    [SPLIT_HALFHALF] =       { "halfhalf",       "RN + RN, low part times 2^11",       11,  TWO(F16, RN, RN),
      "Ootomo Eq. 19-22", 0 },
    [SPLIT_BITCUT] =         { "bitcut",         "cut + RZ, low part times 2^10",      10,  TWO(F16, CUT, RZ),
      "LE-GEMM Eq. 5-8, literal: no subnormal high parts", 0 },
    [SPLIT_BITCUT_GRADUAL] = { "bitcut-gradual", "RZ + RZ, low part times 2^10",       10,  TWO(F16, RZ, RZ),
      "LE-GEMM Eq. 5-8, high part gradual below 2^-14", 0 },
    [SPLIT_TF32] =           { "tf32",           "plain conversion to tf32",           0,   ONE(TF32, RNA),
      "conversion", 0 },
    [SPLIT_TF32TF32] =       { "tf32tf32",       "RNA + RNA, no scaling",              0,   TWO(TF32, RNA, RNA),
      "Ootomo section 3.3", 0 },
    [SPLIT_BF16] =           { "bf16",           "plain conversion to bf16",           0,   ONE(BF16, RN),
      "conversion", 0 },
    [SPLIT_BF16_DAZ] =       { "bf16-daz",       "conversion to bf16, zero if subnormal", 0,  ONE(BF16, RN_DAZ),
      "Intel SDM, VCVTNEPS2BF16; oneDNN from 2.7 with fpmath_mode bf16 on AMX", 0 },
    [SPLIT_BF16X2] =         { "bf16x2",         "two RN parts in bf16",               0,   TWO(BF16, RN, RN),
      "Henry, Tang and Heinecke 2019; Triton bf16x3, XLA BF16_BF16_F32_X3", 0 },
    [SPLIT_BF16X3] =         { "bf16x3",         "three RN parts in bf16",             0,   THREE(BF16, RN, RN),
      "Henry, Tang and Heinecke 2019; Triton bf16x6, XLA BF16_BF16_F32_X6", 0 },
    [SPLIT_BF16X3_SCALED] =  { "bf16x3-scaled",  "three RN parts in bf16, scaled by 2^8",  8,   THREE(BF16, RN, RN),
      "cuBLAS BF16x9", 0 },
    [SPLIT_TF32_RN] =        { "tf32-rn",        "conversion to tf32, ties to even",   0,   ONE(TF32, RN),
      "cuBLAS 13.1 FAST_TF32, by its results on an H200; cvt.rn.tf32.f32", 0 },
    [SPLIT_CUTLASS_TF32X2] = { "cutlass-tf32x2", "RZ + RNA, no scaling",               0,   TWO(TF32, RZ, RNA),
      "CUTLASS 4.7 numeric_conversion.h, NumericConverterFastF32", 0 },
    [SPLIT_CUTLASS_BF16X3] = { "cutlass-bf16x3", "as bf16x3-scaled, with saturation",       8,   THREE(BF16, RN_SAT, RN_SAT),
      "CUTLASS 4.7 sm100_mma_warpspecialized_emulated.hpp, CollectiveMma::transform", 0 },
    [SPLIT_TRITON_TF32X2] =  { "triton-tf32x2",  "RNA + RZ (by the unit), no scaling", 0,   TWO(TF32, RNA, RZ),
      "Triton 2025 F32DotTC.cpp, TF32x3: the residual is not rounded, the unit cuts it", 0 },
    [SPLIT_HALF_E4M3] =      { "half-e4m3",      "f16, and corrections in e4m3",       11,  HALF_AND(E4M3),
      "this project's own: the residual times 2^11 is no larger than x, so both fit one range; cvt.rn.satfinite", 0 },
    [SPLIT_HALF_E5M2] =      { "half-e5m2",      "f16, and corrections in e5m2",       11,  HALF_AND(E5M2),
      "this project's own: as half-e4m3 with a bit less and all exponents of f16", 0 },
    [SPLIT_HALF_S8] =        { "half-s8",        "f16, and corrections in 8-bit integers", 12, HALF_AND(S8),
      "this project's own: for lines below 2^7, where 2^12 times the residual fits as well; cvt.rni.s8, symmetric", 0 },
    { 0 }
    /* clang-format on */
};

bool split_is_fixed(const struct bitcut_split *s)
{
    bool any = false;
    for (int i = 0; i < s->parts; i++) any |= format_is_integer(s->part[i].format);
    return any;
}

int split_own_parts(const struct bitcut_split *s)
{
    int parts = 0;
    for (int i = 0; i < s->parts; i++) parts += !s->part[i].copy;
    return parts;
}

bool split_is_uniform(const struct bitcut_split *s)
{
    for (int i = 0; i < s->parts; i++)
        if (s->part[i].format != s->part[0].format || s->part[i].level != i ||
            s->part[i].copy || (i && s->part[i].rounding != s->part[1].rounding))
            return false;
    return true;
}

struct bitcut_split split_plain(const struct bitcut_format *format)
{
    static const struct bitcut_rounding to_range = { .name = "rn, to the range",
                                                     .direction = TO_NEAREST_EVEN,
                                                     .overflow = OVERFLOW_RANGE };
    const struct bitcut_rounding *r = format == F(TF32)           ? R(RNA)
                                      : format_is_integer(format) ? &to_range
                                                                  : R(RN);
    return (struct bitcut_split){ .name = format->name,
                                  .what = "plain conversion",
                                  .parts = 1,
                                  .part = { { .format = format, .rounding = r } } };
}

static uint32_t scaled(uint32_t x, int exponent)
{
    return exponent ? f32_multiply(x, f32_power_of_two(exponent)) : x;
}

/* x minus the part made of it. */
static uint32_t residual_of(uint32_t x, const struct split_part *w, uint64_t part)
{
    const uint64_t back = bitcut_format_convert(&formats[FORMAT_F32],
                                                &roundings[ROUND_RN], w->format, part);
    return f32_add(x, (uint32_t)back ^ 0x80000000u);
}

bool split_same(const struct bitcut_split *x, const struct bitcut_split *y)
{
    bool same = x->parts == y->parts && (x->parts == 1 || x->scale == y->scale) &&
                (x->seed == y->seed || !split_is_stochastic(x));
    for (int i = 0; i < x->parts && same; i++)
        same = x->part[i].format == y->part[i].format &&
               x->part[i].rounding == y->part[i].rounding &&
               x->part[i].level == y->part[i].level && x->part[i].copy == y->part[i].copy;
    return same;
}

/* Append a change, such as ", high rz"; " with " precedes the first change. */
static void add_change(char *text, size_t size, const char *what, const char *value)
{
    text_add(text, size, "%s %s %s", strstr(text, " with ") ? "," : " with", what, value);
}

void split_label(char *text, size_t size, const struct bitcut_split *s)
{
    const struct bitcut_split *const own = bitcut_split_find(s->name), *row = own;
    char scale[14];
    if (!row || !split_same(row, s))
        for (row = splits; row->name && !split_same(row, s);) row++;
    snprintf(text, size, "%s", row->name ? row->name : s->name);
    if (row->name || !own) return;
    snprintf(scale, sizeof scale, "2^%d", s->scale);
    if (s->part[0].format != own->part[0].format)
        add_change(text, size, "format", s->part[0].format->name);
    if (s->part[0].rounding != own->part[0].rounding)
        add_change(text, size, "high", s->part[0].rounding->name);
    if (s->parts > 1 && split_low(s) != split_low(own))
        add_change(text, size, "low", split_low(s)->name);
    if (s->parts > 1 && s->scale != own->scale) add_change(text, size, "scale", scale);
    snprintf(scale, sizeof scale, "%d", (int)(s->seed / 2));
    if (s->seed > 1 && split_is_stochastic(s)) add_change(text, size, "round seed", scale);
}

bool split_is_stochastic(const struct bitcut_split *s)
{
    bool any = false;
    for (int i = 0; i < s->parts; i++)
        any |= s->part[i].rounding->direction == STOCHASTIC;
    return any;
}

void split_apply(uint64_t part[SPLIT_PARTS_MAX], const struct bitcut_split *s, uint32_t x)
{
    split_apply_at(part, s, x, 0);
}

/* Part i at a position, from the residual x that the parts before it leave. */
static uint64_t part_at(const struct bitcut_split *s, int i, uint32_t x,
                        uint64_t position)
{
    const struct split_part *const w = &s->part[i];
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    if (w->rounding->direction != STOCHASTIC)
        return bitcut_format_convert(w->format, w->rounding, f32, x);
    struct bitcut_rounding rounding = *w->rounding;
    rounding.seed = s->seed;
    rounding.position = position * 4 + (uint64_t)i;
    return bitcut_format_convert(w->format, &rounding, f32, x);
}

void split_apply_at(uint64_t part[SPLIT_PARTS_MAX], const struct bitcut_split *s,
                    uint32_t x, uint64_t position)
{
    uint32_t residual = x;
    for (int i = 0, level = 0; i < s->parts; i++) {
        const struct split_part *w = &s->part[i];
        const uint32_t from = w->copy ? scaled(x, w->level * s->scale)
                                      : scaled(residual, (w->level - level) * s->scale);
        part[i] = part_at(s, i, from, position);
        if (w->copy || i + 1 == s->parts) continue;
        residual = residual_of(from, w, part[i]);
        level = w->level;
    }
}

const struct bitcut_split *bitcut_split_find(const char *name)
{
    return table_find(TABLE(splits), name);
}

int bitcut_split_apply(uint64_t part[SPLIT_PARTS_MAX], const struct bitcut_split *split,
                       uint32_t x)
{
    split_apply(part, split, x);
    return split->parts;
}
