/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/attention/approximation.h"

#include "emu/mufu.h"
#include "lib/number/bits.h"
#include "lib/number/elementary32.h"
#include "lib/number/fma.h"

float attention_fma(float a, float b, float c)
{
    return float_of_bits(
        f32_fused(F32_NAN, bits_of_float(a), bits_of_float(b), bits_of_float(c)));
}

static float constant(uint32_t bits) { return float_of_bits(bits); }

/* The rows of `functions`, whose positions are their order there. */
enum { EX2_FTZ = 0, EX2 = 1, RCP_FTZ = 4, LG2_FTZ = 12, LG2 = 13 };

static float apply(int function, float x)
{
    return constant(functions[function].f32(bits_of_float(x)));
}

/* --- exponentials ------------------------------------------------------------------- */

static float ex2_ftz(float x) { return apply(EX2_FTZ, x); }
static float ex2(float x) { return apply(EX2, x); }

/* x + c rounded toward minus infinity, for c = 1.5 2^23: the integer part of x is then in
   the low bits of the sum. */
static float add_down(float x, float c)
{
    const double sum = (double)x + (double)c; /* exact for |x| <= 127 above 2^-29 */
    const float near = (float)sum;
    return (double)near > sum || (near == c && x < 0) ? constant(bits_of_float(near) - 1)
                                                      : near;
}

/* 2^n 2^f, where n is the integer below x, by a polynomial of degree 3 in f.
   FlashAttention 4, flash_attn/cute/utils.py: ex2_emulation. */
static float ex2_polynomial(float x)
{
    const float round = 0x1.8p23f;
    const float clamped = x > -127 ? x : -127; /* also for NaN, as max.f32 gives */
    const float sum = add_down(clamped, round), f = clamped - (sum - round);
    float y = 0x1.3be13ap-4f;
    y = attention_fma(y, f, 0x1.d20d48p-3f);
    y = attention_fma(y, f, 0x1.63ea32p-1f);
    y = attention_fma(y, f, 1);
    return constant((bits_of_float(sum) << 23) + bits_of_float(y));
}

/* expf() of CUDA without -use_fast_math, as nvcc 13.0 compiles it:
   2^j 2^(x log2(e) - j), where j is an integer that FFMA.RM finds. */
static float cuda_exp(float x)
{
    float t = attention_fma(x, constant(0x3bbb989d), 0.5f);
    if (!(t > 0)) t = 0;
    if (t > 1) t = 1;
    const double whole = (double)t * 252 + (double)constant(0x4b400001); /* exact */
    float j = (float)whole;
    if ((double)j > whole) j = constant(bits_of_float(j) - 1);
    float y = attention_fma(x, constant(0x3fb8aa3b), -(j + constant(0xcb40007f)));
    y = attention_fma(x, constant(0x32a57060), y);
    return ex2_ftz(y) * constant(bits_of_float(j) << 23);
}

/* __expf(): the product with log2(e) is rounded. */
static float fast_exp(float x) { return ex2_ftz(x * constant(0x3fb8aa3b)); }

const struct attention_exp attention_exps[] = {
    [EXP2_MUFU_FTZ] = { "ex2.approx.ftz", "2^x by MUFU.EX2 (exp2f with -use_fast_math)",
                        false, ex2_ftz, 0x1p-22 },
    [EXP2_MUFU] = { "ex2.approx", "2^x by MUFU.EX2, with subnormal results (exp2f)",
                    false, ex2, 0x1p-22 },
    [EXP2_POLYNOMIAL] = { "polynomial",
                          "2^x by a polynomial of degree 3 "
                          "(FlashAttention 4)",
                          false, ex2_polynomial, 0x1p-13 },
    [EXP2_EXACT] = { "exp2", "2^x, correctly rounded", false, elementary32_exp2,
                     0x1p-24 },
    [EXP_CUDA] = { "expf", "e^x as CUDA's expf computes it", true, cuda_exp, 0x1p-22 },
    [EXP_EXACT] = { "exp", "e^x, correctly rounded", true, elementary32_exp, 0x1p-24 },
    { 0 }
};

/* --- reciprocals and merges ----------------------------------------------------------
 */

static float rcp_ftz(float x) { return apply(RCP_FTZ, x); }
static float reciprocal(float x) { return 1 / x; }

const struct attention_reciprocal attention_reciprocals[] = {
    [RECIPROCAL_MUFU] = { "rcp.approx.ftz", "O times MUFU.RCP of the sum", rcp_ftz,
                          0x1p-23 },
    [RECIPROCAL_ROUNDED] = { "reciprocal", "O times 1 / sum, which is rounded",
                             reciprocal, 0x1p-24 },
    [RECIPROCAL_DIVIDE] = { "division", "O divided by the sum", NULL, 0 },
    { 0 }
};

/* logf() of CUDA, as nvcc 13.0 compiles it: a polynomial in m, where x = 2^e (1 + m) and
   2/3 <= 1 + m < 4/3. */
static float cuda_log(float x)
{
    static const uint32_t series[] = { 0x3e1039f6, 0xbdf8cdcc, 0x3e0f2955, 0xbe2ad8b9,
                                       0x3e4ced0b, 0xbe7fff22, 0x3eaaaa78, 0xbf000000 };
    if (x == 0) return -(float)INFINITY;
    if (!(x > 0)) return constant(F32_NAN);
    if (x == (float)INFINITY) return x;
    const bool tiny = x < 0x1p-126f;
    const float a = tiny ? x * 0x1p23f : x;
    const uint32_t e = (bits_of_float(a) - 0x3f2aaaab) & 0xff800000;
    const float m = constant(bits_of_float(a) - e) - 1;
    const float i = attention_fma((float)(int32_t)e, 0x1p-23f, tiny ? -23 : 0);
    float p = constant(0xbe055027);
    for (size_t k = 0; k < sizeof series / sizeof *series; k++)
        p = attention_fma(p, m, constant(series[k]));
    return attention_fma(i, constant(0x3f317218), attention_fma(m * p, m, m));
}

static float lg2(float x) { return apply(LG2, x); }
static float lg2_ftz(float x) { return apply(LG2_FTZ, x); }
static float fast_log(float x) { return lg2_ftz(x) * constant(0x3f317218); }

const struct attention_merge attention_merges[] = {
    [MERGE_CUDA] = { "cuda", "weights by expf and logf of CUDA", cuda_exp, cuda_log, lg2,
                     0x1p-21 },
    [MERGE_FAST] = { "cuda-fast", "the same with -use_fast_math", fast_exp, fast_log,
                     lg2_ftz, 0x1p-21 },
    { 0 }
};
