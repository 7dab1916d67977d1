/* SPDX-License-Identifier: BSD-3-Clause */
/* What MUFU computes: special values, the reduction of the argument to a polynomial, and
   how its value becomes a result.

   The polynomials carry a constant that rounds (mufu_polynomial.c); all steps after them
   truncate.  Except for tanh, a subnormal argument is taken as a zero, and a subnormal
   result becomes a zero.  NaN gives F32_NAN. */
#include "emu/mufu.h"

#include "emu/mufu_polynomial.h"
#include "lib/base/table.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/round.h"

/* An IEEE format whose sign, exponent and upper fraction bits are in 32 bits. */
struct layout {
    int fraction_bits, bias;
};

static const struct layout f32 = { 23, 127 }, upper_f64 = { 20, 1023 };

/* A significand of 24 bits, from 1 to 2, both included, is an integer from ONE to
   2 ONE. */
enum { ONE = 1 << 23, MAGNITUDE = 0x7fffffff };

static uint32_t magnitude(uint32_t x) { return x & MAGNITUDE; }
static uint32_t sign(uint32_t x) { return x & ~(uint32_t)MAGNITUDE; }

static uint32_t infinity(const struct layout *l)
{
    return (uint32_t)(2 * l->bias + 1) << l->fraction_bits;
}

static bool is_nan(const struct layout *l, uint32_t x)
{
    return magnitude(x) > infinity(l);
}

static bool is_infinite(const struct layout *l, uint32_t x)
{
    return magnitude(x) == infinity(l);
}

/* Zeros and subnormals. */
static bool is_tiny(const struct layout *l, uint32_t x)
{
    return magnitude(x) >> l->fraction_bits == 0;
}

/* The exponent of a normal x. */
static int exponent_of(const struct layout *l, uint32_t x)
{
    return (int)(magnitude(x) >> l->fraction_bits) - l->bias;
}

/* The fraction field of x, in 23 bits. */
static uint32_t fraction_of(const struct layout *l, uint32_t x)
{
    const uint32_t field = x & (((uint32_t)1 << l->fraction_bits) - 1);
    return field << (23 - l->fraction_bits);
}

/* The significand times 2^exponent, truncated, below the overflow of the format; 0 if it
   is below the normal numbers. */
static uint32_t pack(const struct layout *l, int exponent, int64_t significand)
{
    const int64_t one = (int64_t)1 << l->fraction_bits;
    const int64_t bits =
        (exponent + l->bias) * one + ((significand - ONE) >> (23 - l->fraction_bits));
    return bits < one ? 0 : (uint32_t)bits;
}

/* x 2^exponent as an f32, truncated. */
static uint32_t truncated(uint64_t x, int exponent)
{
    if (!x) return 0;
    const int top = highest_bit(x);
    const uint64_t significand = top > 23 ? x >> (top - 23) : x << (23 - top);
    return pack(&f32, top + exponent, (int64_t)significand);
}

/* |x| in steps of 2^-bits, truncated, modulo 2^32; x is a finite f32. */
static uint32_t fixed_point(uint32_t x, int bits)
{
    const int up = exponent_of(&f32, x) - 23 + bits;
    const uint32_t significand = ONE | fraction_of(&f32, x);
    if (up < -23 || up > 31) return 0;
    return up < 0 ? significand >> -up : significand << up;
}

/* --- the functions ---------------------------------------------------------------- */

/* 2^x.  |x| is truncated to i + f, where f has 23 bits.  If f is not 0, -(i + f) is taken
   as
   -(i + 1) + (1 - 2^-23 - f). */
static uint32_t ex2(uint32_t x)
{
    if (is_nan(&f32, x)) return F32_NAN;
    if (exponent_of(&f32, x) >= 7) return sign(x) ? 0 : infinity(&f32);
    const uint32_t fixed = fixed_point(x, 23);
    int exponent = (int)(fixed >> 23);
    uint32_t fraction = fixed & (ONE - 1);
    if (sign(x)) exponent = -exponent - (fraction != 0);
    if (sign(x) && fraction) fraction ^= ONE - 1;
    return pack(&f32, exponent, mufu_polynomial(&mufu_ex2, fraction) >> 15);
}

static uint32_t reciprocal(const struct layout *l, uint32_t x)
{
    if (is_nan(l, x)) return F32_NAN;
    if (is_tiny(l, x)) return sign(x) | infinity(l);
    if (is_infinite(l, x)) return sign(x);
    const int64_t significand = mufu_polynomial(&mufu_rcp, fraction_of(l, x) << 1) >> 16;
    return sign(x) | pack(l, -1 - exponent_of(l, x), significand);
}

/* The argument of the polynomials of square roots: x = 4^h m with 1 <= m < 4.  The first
   64 segments are those of m < 2, the others those of m >= 2. */
static uint32_t root_argument(int *h, const struct layout *l, uint32_t x)
{
    const int odd = exponent_of(l, x) & 1;
    *h = (exponent_of(l, x) - odd) / 2;
    return (uint32_t)odd << 23 | fraction_of(l, x);
}

/* The reciprocal square root; exact for powers of 4. */
static uint32_t reciprocal_root(const struct layout *l, uint32_t x)
{
    if (is_nan(l, x)) return F32_NAN;
    if (is_tiny(l, x)) return sign(x) | infinity(l);
    if (sign(x)) return F32_NAN;
    if (is_infinite(l, x)) return 0;
    int h;
    const uint32_t argument = root_argument(&h, l, x);
    const int64_t significand =
        argument ? mufu_polynomial(&mufu_rsqrt, argument) >> 16 : 2 * ONE;
    return pack(l, -1 - h, significand);
}

/* The square root; -0 for -0. */
static uint32_t root(uint32_t x)
{
    if (is_nan(&f32, x)) return F32_NAN;
    if (is_tiny(&f32, x)) return sign(x);
    if (sign(x)) return F32_NAN;
    if (is_infinite(&f32, x)) return x;
    int h;
    const uint32_t argument = root_argument(&h, &f32, x);
    return pack(&f32, h, mufu_polynomial(&mufu_sqrt, argument) >> 17);
}

/* The logarithm to base 2, as a sum in steps of 2^-36; the magnitude of a negative sum is
   taken one step too small. */
static uint32_t lg2(uint32_t x)
{
    if (is_nan(&f32, x)) return F32_NAN;
    if (is_tiny(&f32, x)) return infinity(&f32) | 0x80000000;
    if (sign(x)) return F32_NAN;
    if (is_infinite(&f32, x)) return x;
    if (x == F32_ONE) return 0;
    const int64_t sum = exponent_of(&f32, x) * ((int64_t)1 << 36) +
                        (mufu_polynomial(&mufu_lg2, fraction_of(&f32, x)) >> 2);
    return sum < 0 ? 0x80000000 | truncated((uint64_t)~sum, -36)
                   : truncated((uint64_t)sum, -36);
}

/* The sine of turns + first / 4, or NaN; |turns| is truncated to steps of 2^-25.  In
   every second quarter the position in it is counted from its end.  The sign of `turns`
   has an effect if `odd`. */
static uint32_t sine_of_turns(uint32_t turns, uint32_t first, bool odd)
{
    if (is_nan(&f32, turns)) return F32_NAN;
    const uint32_t fixed = fixed_point(turns, 25);
    const uint32_t quarter = (fixed >> 23) + first;
    const uint32_t argument = (fixed ^ (quarter & 1 ? ONE - 1 : 0)) & (ONE - 1);
    const uint32_t negative = (odd ? sign(turns) : 0) ^ (quarter & 2) << 30;
    return negative | truncated((uint64_t)mufu_polynomial(&mufu_sin, argument), -37);
}

/* A binade of tanh: it has 2^bits segments from `first` on; `exponent` is that of the
   last bit of the polynomial.  The low 6 - bits bits of the argument are not read. */
struct binade {
    int8_t first, bits, exponent;
};

/* tanh: x itself below 2^-8, +-1 from 8 on.  Subnormals are preserved. */
static uint32_t hyperbolic_tangent(uint32_t x)
{
    enum { LOW = -8, HIGH = 2 };
    static const struct binade binades[] = {
        { 0, 0, -41 },  { 1, 0, -40 },  { 2, 0, -39 },  { 3, 1, -39 },
        { 5, 1, -38 },  { 7, 2, -38 },  { 11, 2, -37 }, { 15, 2, -36 },
        { 19, 3, -37 }, { 27, 4, -39 }, { 43, 3, -37 },
    };
    if (is_nan(&f32, x)) return F32_NAN;
    if (exponent_of(&f32, x) < LOW) return x;
    if (exponent_of(&f32, x) > HIGH) return sign(x) | F32_ONE;
    const struct binade *const b = &binades[exponent_of(&f32, x) - LOW];
    const uint32_t argument =
        ((uint32_t)b->first << 17) + (fraction_of(&f32, x) >> (6 - b->bits));
    return sign(x) |
           truncated((uint64_t)mufu_polynomial(&mufu_tanh, argument), b->exponent);
}

/* --- instructions ----------------------------------------------------------------- */

static uint32_t rcp(uint32_t x) { return reciprocal(&f32, x); }
static uint32_t rsqrt(uint32_t x) { return reciprocal_root(&f32, x); }
static uint32_t upper_rcp(uint32_t x) { return reciprocal(&upper_f64, x); }
static uint32_t upper_rsqrt(uint32_t x) { return reciprocal_root(&upper_f64, x); }

/* Without .ftz, arguments for which MUFU would flush are scaled by a power of two before
   it, and the result after it, in FP32 to nearest even. */
static const uint32_t half = 0x3f000000, quarter = 0x3e800000, two_24 = 0x4b800000;

static uint32_t scaled_ex2(uint32_t x)
{
    const uint32_t minus_126 = 0xc2fc0000;
    if (x <= minus_126)
        return ex2(x); /* -126 and above, positive values and their NaNs */
    const uint32_t y = ex2(f32_multiply(x, half));
    return f32_multiply(y, y);
}

static uint32_t scaled_rcp(uint32_t x)
{
    const uint32_t two_126 = 0x7e800000;
    if (!is_tiny(&f32, x) && magnitude(x) <= two_126) return rcp(x);
    const uint32_t scale = is_tiny(&f32, x) ? two_24 : quarter;
    return f32_multiply(rcp(f32_multiply(x, scale)), scale);
}

static uint32_t scaled_rsqrt(uint32_t x)
{
    const uint32_t two_12 = 0x45800000;
    if (!is_tiny(&f32, x)) return rsqrt(x);
    return f32_multiply(rsqrt(f32_multiply(x, two_24)), two_12);
}

static uint32_t scaled_root(uint32_t x)
{
    const uint32_t two_minus_12 = 0x39800000;
    if (!is_tiny(&f32, x)) return root(x);
    return f32_multiply(root(f32_multiply(x, two_24)), two_minus_12);
}

static uint32_t scaled_lg2(uint32_t x)
{
    const uint32_t minus_24 = 0xc1c00000;
    if (!is_tiny(&f32, x)) return lg2(x);
    return f32_add(lg2(f32_multiply(x, two_24)), minus_24);
}

/* x / (2 pi): the product with a rounded constant, rounded toward zero, and 0 if that is
   below the normal numbers, because sine_of_turns() truncates it to 0 anyway. */
static uint32_t turns_of(uint32_t x)
{
    const uint64_t reciprocal_of_turn = 0xa2f983; /* 2^-26 */
    if (is_nan(&f32, x) || is_infinite(&f32, x)) return F32_NAN;
    const uint64_t product = (ONE | fraction_of(&f32, x)) * reciprocal_of_turn;
    return sign(x) | truncated(product, exponent_of(&f32, x) - 23 - 26);
}

static uint32_t sine(uint32_t x) { return sine_of_turns(turns_of(x), 0, true); }
static uint32_t cosine(uint32_t x) { return sine_of_turns(turns_of(x), 1, false); }

#define F16  &formats[FORMAT_F16]
#define BF16 &formats[FORMAT_BF16]
#define F32  &formats[FORMAT_F32]
#define F64  &formats[FORMAT_F64]

#define WHOLE  "recorded: NVIDIA H200, all 2^32 arguments"
#define SHORT  "recorded: NVIDIA H200, all 2^16 arguments, and all 2^32 pairs with x2"
#define HALVES "recorded: NVIDIA H200, all 2^32 upper halves, with a lower half of 0"
#define G80                                                                              \
    "coefficients: data/mufu; arithmetic: envytools (nvhw/sfu.c), which has the same "   \
    "coefficients for the GeForce 8"
#define OWN "coefficients: data/mufu"

const struct bitcut_function functions[] = {
    { .name = "ex2.approx.ftz.f32",
      .what = "2^x",
      .format = F32,
      .sass = "MUFU.EX2",
      .evidence = WHOLE,
      .source = G80,
      .f32 = ex2 },
    { .name = "ex2.approx.f32",
      .what = "2^x, with subnormal results",
      .format = F32,
      .sass = "FMUL by 0.5 below -126; MUFU.EX2; there, FMUL of the result by itself",
      .evidence = WHOLE,
      .source = G80,
      .f32 = scaled_ex2 },
    { .name = "ex2.approx.f16",
      .what = "2^x; also each half of ex2.approx.f16x2",
      .format = F16,
      .sass = "MUFU.EX2.F16",
      .evidence = SHORT,
      .source = G80,
      .f32 = ex2 },
    { .name = "ex2.approx.ftz.bf16",
      .what = "2^x; also each half of ex2.approx.ftz.bf16x2",
      .format = BF16,
      .sass = "MUFU.EX2.BF16",
      .evidence = SHORT,
      .source = G80,
      .f32 = ex2 },
    { .name = "rcp.approx.ftz.f32",
      .what = "1 / x",
      .format = F32,
      .sass = "MUFU.RCP",
      .evidence = WHOLE,
      .source = G80,
      .f32 = rcp },
    { .name = "rcp.approx.f32",
      .what = "1 / x, with subnormals",
      .format = F32,
      .sass = "FMUL of subnormals by 2^24, above 2^126 by 0.25; MUFU.RCP; the same FMUL",
      .evidence = WHOLE,
      .source = G80,
      .f32 = scaled_rcp },
    { .name = "rcp.approx.ftz.f64",
      .what = "1 / x of the upper half",
      .format = F64,
      .sass = "MUFU.RCP64H",
      .evidence = HALVES,
      .source = G80,
      .upper = upper_rcp },
    { .name = "rsqrt.approx.ftz.f32",
      .what = "1 / sqrt(x)",
      .format = F32,
      .sass = "MUFU.RSQ",
      .evidence = WHOLE,
      .source = G80,
      .f32 = rsqrt },
    { .name = "rsqrt.approx.f32",
      .what = "1 / sqrt(x), with subnormals",
      .format = F32,
      .sass = "FMUL of subnormals by 2^24; MUFU.RSQ; FMUL by 2^12",
      .evidence = WHOLE,
      .source = G80,
      .f32 = scaled_rsqrt },
    { .name = "rsqrt.approx.ftz.f64",
      .what = "1 / sqrt(x) of the upper half",
      .format = F64,
      .sass = "MUFU.RSQ64H",
      .evidence = HALVES,
      .source = G80,
      .upper = upper_rsqrt },
    { .name = "sqrt.approx.ftz.f32",
      .what = "sqrt(x)",
      .format = F32,
      .sass = "MUFU.SQRT",
      .evidence = WHOLE,
      .source = OWN,
      .f32 = root },
    { .name = "sqrt.approx.f32",
      .what = "sqrt(x), with subnormals",
      .format = F32,
      .sass = "FMUL of subnormals by 2^24; MUFU.SQRT; FMUL by 2^-12",
      .evidence = WHOLE,
      .source = OWN,
      .f32 = scaled_root },
    { .name = "lg2.approx.ftz.f32",
      .what = "log2(x)",
      .format = F32,
      .sass = "MUFU.LG2",
      .evidence = WHOLE,
      .source = G80,
      .f32 = lg2 },
    { .name = "lg2.approx.f32",
      .what = "log2(x), with subnormals",
      .format = F32,
      .sass = "FMUL of subnormals by 2^24; MUFU.LG2; FADD of -24",
      .evidence = WHOLE,
      .source = G80,
      .f32 = scaled_lg2 },
    { .name = "sin.approx.ftz.f32",
      .what = "sin(x)",
      .format = F32,
      .sass = "FMUL.RZ by 1 / (2 pi); MUFU.SIN",
      .evidence = WHOLE,
      .source = G80,
      .f32 = sine },
    { .name = "sin.approx.f32",
      .what = "sin(x)",
      .format = F32,
      .sass = "FMUL.RZ by 1 / (2 pi); MUFU.SIN",
      .evidence = WHOLE,
      .source = G80,
      .f32 = sine },
    { .name = "cos.approx.ftz.f32",
      .what = "cos(x)",
      .format = F32,
      .sass = "FMUL.RZ by 1 / (2 pi); MUFU.COS",
      .evidence = WHOLE,
      .source = G80,
      .f32 = cosine },
    { .name = "cos.approx.f32",
      .what = "cos(x)",
      .format = F32,
      .sass = "FMUL.RZ by 1 / (2 pi); MUFU.COS",
      .evidence = WHOLE,
      .source = G80,
      .f32 = cosine },
    { .name = "tanh.approx.f32",
      .what = "tanh(x)",
      .format = F32,
      .sass = "MUFU.TANH",
      .evidence = WHOLE,
      .source = OWN,
      .f32 = hyperbolic_tangent },
    { .name = "tanh.approx.f16",
      .what = "tanh(x); also each half of tanh.approx.f16x2",
      .format = F16,
      .sass = "MUFU.TANH.F16",
      .evidence = SHORT,
      .source = OWN,
      .f32 = hyperbolic_tangent },
    { .name = "tanh.approx.bf16",
      .what = "tanh(x); also each half of tanh.approx.bf16x2",
      .format = BF16,
      .sass = "MUFU.TANH.BF16",
      .evidence = SHORT,
      .source = OWN,
      .f32 = hyperbolic_tangent },
    { 0 }
};

/* The result of MUFU for formats of 16 bits: that of FP32, truncated. */
static uint64_t short_result(const struct bitcut_function *function, uint64_t x)
{
    static const struct bitcut_rounding truncate = { .direction = TO_ZERO,
                                                     .overflow = OVERFLOW_INF };
    const struct bitcut_format *const format = function->format;
    const uint64_t wide = bitcut_format_convert(F32, &roundings[ROUND_RN], format, x);
    const uint32_t y = function->f32((uint32_t)wide);
    if (is_nan(&f32, y)) return 0x7fff;
    return bitcut_format_convert(format, &truncate, F32, y);
}

uint64_t mufu(const struct bitcut_function *function, uint64_t x)
{
    if (function->upper) return (uint64_t)function->upper((uint32_t)(x >> 32)) << 32;
    return function->format == F32 ? function->f32((uint32_t)x)
                                   : short_result(function, x);
}

/* --- the library's calls ---------------------------------------------------------- */

const struct bitcut_function *bitcut_function_find(const char *name)
{
    return table_find(TABLE(functions), name);
}

enum bitcut_status bitcut_function_apply(void *y, const struct bitcut_function *function,
                                         const void *x, size_t count)
{
    if (!function || (count && (!y || !x))) return BITCUT_BAD_ARGUMENT;
    const int bytes = format_bytes(function->format);
    for (size_t i = 0; i < count; i++)
        encoding_put(y, bytes, i, mufu(function, encoding_get(x, bytes, i)));
    return BITCUT_OK;
}
