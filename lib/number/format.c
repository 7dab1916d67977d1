/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/format.h"

#include "lib/base/table.h"
#include "lib/number/bits.h"

#include <math.h>

/* Sources: IEEE 754-2019 (f16, f32, f64); PTX ISA 9.0 section 5.2.3 (bf16, tf32, e4m3,
   e5m2); OCP Microscaling Formats 1.0 (e2m1, e2m3, e3m2, ue8m0); AMD CDNA3 ISA (fnuz).
   e8m13 is what an fp8 tensor core writes into an f32: 13 fraction bits, ten zero bits.
   s8, u8, s16 and s32 are integers of PTX ISA 9.0 section 5.2.1; parts in s8 saturate
   at +-127. */
const struct bitcut_format formats[] = {
    /* clang-format off */
    /* name      what                                 bits pad exp frac  bias  sign  special         nan */
    [FORMAT_F64] = { "f64",      "IEEE binary64",                      64,  0, 11, 52, 1023, true, SPECIAL_IEEE,   0x7ff8000000000000 },
    [FORMAT_F32] = { "f32",      "IEEE binary32",                      32,  0,  8, 23,  127, true, SPECIAL_IEEE,   0x7fc00000 },
    [FORMAT_F16] = { "f16",      "IEEE binary16",                      16,  0,  5, 10,   15, true, SPECIAL_IEEE,   0x7e00 },
    [FORMAT_BF16] = { "bf16",     "bfloat16, the upper half of an f32", 16,  0,  8,  7,  127, true, SPECIAL_IEEE,   0x7fc0 },
    [FORMAT_TF32] = { "tf32",     "19 bits in the upper end of an f32", 32, 13,  8, 10,  127, true, SPECIAL_IEEE,   0x7fc00000 },
    [FORMAT_E8M13] = { "e8m13",    "an f32 with ten zero bits",          32, 10,  8, 13,  127, true, SPECIAL_IEEE,   0x7fc00000 },
    [FORMAT_E5M2] = { "e5m2",     "OCP fp8 with Inf and NaN",            8,  0,  5,  2,   15, true, SPECIAL_IEEE,   0x7f },
    [FORMAT_E4M3] = { "e4m3",     "OCP fp8 without Inf, NaN 0x7f",       8,  0,  4,  3,    7, true, SPECIAL_FN,     0x7f },
    [FORMAT_E5M2FNUZ] = { "e5m2fnuz", "AMD bf8, NaN 0x80, no Inf, no -0",    8,  0,  5,  2,   16, true, SPECIAL_FNUZ,   0x80 },
    [FORMAT_E4M3FNUZ] = { "e4m3fnuz", "AMD fp8, NaN 0x80, no Inf, no -0",    8,  0,  4,  3,    8, true, SPECIAL_FNUZ,   0x80 },
    [FORMAT_E3M2] = { "e3m2",     "OCP fp6, finite",                     6,  0,  3,  2,    3, true, SPECIAL_FINITE, 0 },
    [FORMAT_E2M3] = { "e2m3",     "OCP fp6, finite",                     6,  0,  2,  3,    1, true, SPECIAL_FINITE, 0 },
    [FORMAT_E2M1] = { "e2m1",     "OCP fp4, finite",                     4,  0,  2,  1,    1, true, SPECIAL_FINITE, 0 },
    [FORMAT_UE8M0] = { "ue8m0",    "OCP block scale, a power of two",     8,  0,  8,  0,  127, false, SPECIAL_E8M0,  0xff },
    [FORMAT_UE4M3] = { "ue4m3",    "unsigned e4m3 block scale",           7,  0,  4,  3,    7, false, SPECIAL_FN,    0x7f },
    [FORMAT_S8] = { "s8",       "two's complement integer",            8,  0,  0,  7,   -6, true, SPECIAL_INTEGER, 0 },
    [FORMAT_S32] = { "s32",      "two's complement integer for sums",  32,  0,  0, 31,  -30, true, SPECIAL_INTEGER, 0 },
    [FORMAT_S16] = { "s16",      "two's complement integer",           16,  0,  0, 15,  -14, true, SPECIAL_INTEGER, 0 },
    [FORMAT_U8] = { "u8",       "unsigned integer",                    8,  0,  0,  8,   -7, false, SPECIAL_INTEGER, 0 },
    { 0 }
    /* clang-format on */
};

static uint64_t ones(int n) { return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1; }

static uint64_t exponent_field_max(const struct bitcut_format *f)
{
    return ones(f->exponent_bits);
}

static uint64_t sign_bit(const struct bitcut_format *f, bool negative)
{
    return f->has_sign && negative ? (uint64_t)1 << (f->bits - 1) : 0;
}

/* An integer and its negative have encodings that add up to 2^bits. */
static uint64_t complement(const struct bitcut_format *f, uint64_t encoding)
{
    return -encoding & ones(f->bits);
}

static uint64_t encode(const struct bitcut_format *f, bool negative, uint64_t field,
                       uint64_t fraction)
{
    if (format_is_integer(f) && negative)
        return f->has_sign ? complement(f, fraction) : 0;
    return sign_bit(f, negative) | ((field << f->fraction_bits | fraction) << f->pad);
}

/* The class that the fields describe: finite, Inf or NaN.  A zero counts as finite
   here. */
static enum number_class classify(const struct bitcut_format *f, bool negative,
                                  uint64_t field, uint64_t fraction)
{
    const bool top = field == exponent_field_max(f);
    switch (f->special) {
    case SPECIAL_IEEE: return !top ? NUMBER_FINITE : fraction ? NUMBER_NAN : NUMBER_INF;
    case SPECIAL_FN:
        return top && fraction == ones(f->fraction_bits) ? NUMBER_NAN : NUMBER_FINITE;
    case SPECIAL_FNUZ:
        return negative && !field && !fraction ? NUMBER_NAN : NUMBER_FINITE;
    case SPECIAL_E8M0: return top ? NUMBER_NAN : NUMBER_FINITE;
    case SPECIAL_FINITE:
    case SPECIAL_INTEGER: break;
    }
    return NUMBER_FINITE;
}

static struct number decode_integer(const struct bitcut_format *f, uint64_t encoding)
{
    const bool negative = f->has_sign && encoding >> (f->bits - 1) & 1;
    if (encoding == 0)
        return (struct number){ .kind = NUMBER_ZERO, .exponent = NUMBER_ZERO_EXPONENT };
    return (struct number){ .significand = negative ? complement(f, encoding) : encoding,
                            .exponent = format_emin(f),
                            .kind = NUMBER_FINITE,
                            .negative = negative };
}

struct number format_decode(const struct bitcut_format *f, uint64_t encoding)
{
    if (format_is_integer(f)) return decode_integer(f, encoding);
    const uint64_t magnitude = encoding >> f->pad;
    const uint64_t fraction = magnitude & ones(f->fraction_bits);
    const uint64_t field = magnitude >> f->fraction_bits & exponent_field_max(f);
    const bool negative = f->has_sign && encoding >> (f->bits - 1) & 1;
    const enum number_class class = classify(f, negative, field, fraction);

    struct number x = { .kind = class, .negative = negative };
    if (class == NUMBER_NAN) x.significand = fraction;
    if (class != NUMBER_FINITE) return x;
    const bool normal = field != 0 || f->special == SPECIAL_E8M0;
    x.significand = fraction | (uint64_t)normal << f->fraction_bits;
    x.exponent = normal ? (int)field - f->bias : format_emin(f);
    if (x.significand == 0)
        x = (struct number){ .kind = NUMBER_ZERO,
                             .negative = negative,
                             .exponent = NUMBER_ZERO_EXPONENT };
    return x;
}

int format_emin(const struct bitcut_format *f)
{
    return (f->special == SPECIAL_E8M0 ? 0 : 1) - f->bias;
}

int format_least_exponent(const struct bitcut_format *f)
{
    return format_emin(f) - f->fraction_bits;
}

int format_emax(const struct bitcut_format *f)
{
    const bool reserved = f->special == SPECIAL_IEEE || f->special == SPECIAL_E8M0;
    return (int)exponent_field_max(f) - f->bias - reserved;
}

uint64_t format_nan(const struct bitcut_format *f)
{
    return f->nan || format_is_integer(f) ? f->nan : format_largest(f, false);
}

uint64_t format_quiet(const struct bitcut_format *f, struct number x)
{
    const uint64_t quiet = (uint64_t)1 << (f->fraction_bits - 1);
    return encode(f, x.negative, exponent_field_max(f), x.significand | quiet);
}

uint64_t format_infinity(const struct bitcut_format *f, bool negative)
{
    if (f->special == SPECIAL_IEEE) return encode(f, negative, exponent_field_max(f), 0);
    return f->nan ? f->nan | sign_bit(f, negative) : format_largest(f, negative);
}

uint64_t format_largest(const struct bitcut_format *f, bool negative)
{
    const uint64_t field = (uint64_t)(format_emax(f) + f->bias);
    uint64_t fraction = ones(f->fraction_bits);
    if (f->special == SPECIAL_FN) fraction -= 1; /* all ones is NaN */
    return encode(f, negative, field, fraction);
}

uint64_t format_zero(const struct bitcut_format *f, bool negative)
{
    const bool one = f->special == SPECIAL_FNUZ || format_is_integer(f);
    return one ? 0 : sign_bit(f, negative);
}

bool format_is_subnormal(const struct bitcut_format *f, struct number x)
{
    return x.kind == NUMBER_FINITE && x.significand >> f->fraction_bits == 0 &&
           !format_is_integer(f);
}

bool format_holds(const struct bitcut_format *wide, const struct bitcut_format *narrow)
{
    if (wide == narrow) return true;
    return wide->special == SPECIAL_IEEE && wide->has_sign &&
           wide->fraction_bits >= narrow->fraction_bits &&
           format_emax(wide) >= format_emax(narrow) &&
           format_least_exponent(wide) <= format_least_exponent(narrow);
}

double format_to_double(const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    double v = 0;
    if (x.kind == NUMBER_NAN) v = (double)NAN;
    if (x.kind == NUMBER_INF) v = (double)INFINITY;
    if (x.kind == NUMBER_FINITE)
        v = double_scaled((double)x.significand, x.exponent - f->fraction_bits);
    return x.negative ? -v : v;
}

const struct bitcut_format *bitcut_format_find(const char *name)
{
    return table_find(TABLE(formats), name);
}

int format_bytes(const struct bitcut_format *format)
{
    return format->bits <= 8 ? 1 : format->bits <= 16 ? 2 : format->bits <= 32 ? 4 : 8;
}

int64_t format_along_line(const struct bitcut_format *format, uint64_t encoding)
{
    const uint64_t sign = format->has_sign ? UINT64_C(1) << (format->bits - 1) : 0;
    const int64_t magnitude = (int64_t)((encoding & ~sign) >> format->pad);
    if (format_is_integer(format)) return magnitude - (int64_t)(encoding & sign);
    return encoding & sign ? -magnitude : magnitude;
}

bool format_is_finite(const struct bitcut_format *format, uint64_t encoding)
{
    return format_decode(format, encoding).kind < NUMBER_INF;
}

double format_largest_value(const struct bitcut_format *f)
{
    return format_to_double(f, format_largest(f, false));
}

double format_ulp(const struct bitcut_format *f, double x)
{
    int exponent = format_emin(f);
    if (x != 0) frexp(x, &exponent), exponent--;
    const int least = format_emin(f);
    return ldexp(1, (exponent > least ? exponent : least) - f->fraction_bits);
}

double format_overflow(const struct bitcut_format *f)
{
    const double most = format_largest_value(f);
    return most + format_ulp(f, most) / 2;
}

double format_rounding_error(const struct bitcut_format *f, double most)
{
    return fabs(most) < format_overflow(f) ? format_ulp(f, most) / 2 : (double)INFINITY;
}
