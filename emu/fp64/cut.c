/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fp64/cut.h"

#include "emu/fp64/scheme.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/wide.h"

#include <math.h>
#include <stdlib.h>

enum { FRACTION = 52, FIELD_MAX = 0x7ff };

static int field_of(double x) { return (int)(bits_of_double(x) >> FRACTION & FIELD_MAX); }

static double power_of_two(int field)
{
    return double_of_bits((uint64_t)field << FRACTION);
}

int ceil_log2(size_t k) { return k > 1 ? highest_bit(k - 1) + 1 : 0; }

/* Both digits have as many bits as half of what k products leave. */
static void equal_widths(int width[2], size_t k, int digit, int sum)
{
    width[0] = width[1] = smaller_int(digit, (sum - ceil_log2(k)) / 2);
}

/* --- truncated -------------------------------------------------------------------- */

/* Position of the bit of the significand's leading bit in 128 bits. */
enum { TOP = 128, LIFT = TOP - 1 - FRACTION };

/* Two times the power of two of the largest element; infinite from 2^1023 on. */
static double scale_truncated(const double *x, size_t k)
{
    int largest = 0;
    for (size_t p = 0; p < k; p++) largest = larger_int(largest, field_of(x[p]));
    if (!largest) return 0;
    return power_of_two(smaller_int(largest + 1, FIELD_MAX));
}

static void cut_line_truncated(struct slices *to, size_t line, const double *x,
                               double *spare)
{
    const double scale = scale_truncated(x, to->k);
    (void)spare;
    to->scale[line] = scale;
    for (size_t p = 0; p < to->k; p++) {
        const uint64_t bits = bits_of_double(x[p]),
                       fraction = bits & (((uint64_t)1 << FRACTION) - 1);
        const int field = field_of(x[p]), shift = field_of(scale) - field;
        const bitcut_uint128 top =
            (bitcut_uint128)(fraction | (uint64_t)(field > 0) << FRACTION) << LIFT;
        const bitcut_uint128 value = shift < TOP ? top >> shift : 0;
        for (int s = 0; s < to->parts; s++) {
            const int from = TOP - to->width * (s + 1);
            const int digit = (int)(value >> from) & ((1 << to->width) - 1);
            slices_digits(to, s)[line * to->k + p] = (int16_t)(x[p] > 0 ? digit : -digit);
        }
    }
}

/* The library scales sums by 2^44, from which `end` returns. */
static double weight_truncated(int level, int width)
{
    return ldexp(1, 32 + 2 * (7 - width) - width * level);
}

static double add_truncated(const struct weighing *w)
{
    return w->sum + w->product * w->weight;
}

static double end_truncated(double sum, double a, double b)
{
    return fp64_product(fp64_product(sum * 0x1p-44, a), b);
}

const struct cut cut_truncated = { .name = "truncated",
                                   .rest = { 1, 1 },
                                   .widths = equal_widths,
                                   .line = cut_line_truncated,
                                   .weight = weight_truncated,
                                   .add = add_truncated,
                                   .end = end_truncated };

/* --- to nearest ------------------------------------------------------------------- */

static double largest_of(const double *x, size_t k)
{
    double largest = 0;
    for (size_t p = 0; p < k; p++) largest = larger_double(largest, fabs(x[p]));
    return largest;
}

/* The smallest e with x <= 2^e, for x from 2^-1074 to 2^970; below -1074 for 0, and 970
   for larger x. */
static int exponent_above(double x)
{
    const double lifted = x * 0x1p54;
    const bool is_power = !(bits_of_double(lifted) << (64 - FRACTION));
    return field_of(lifted) - 1077 + !is_power;
}

/* The digit of a multiple of its unit, 1 / inverse: the low 8 bits of the number that a
   GPU's conversion to s32 gives, 0x80000000 for NaN.  Digits in range are that number. */
static int16_t digit_of(double x, double inverse, int width)
{
    const double digit = x * inverse;
    if (fabs(digit) <= 1 << (width - 1)) return (int16_t)digit;
    return (int8_t)(isnan(digit) || digit <= INT32_MIN ? INT32_MIN
                    : digit >= INT32_MAX               ? INT32_MAX
                                                       : (int32_t)digit);
}

/* Round every element to a multiple of 2^(52 - 53) of `shift`, and leave the rest. */
static void cut_slice(struct slices *to, size_t line, int slice, double shift,
                      double inverse, double *rest)
{
    int16_t *const digit = slices_digits(to, slice) + line * to->k;
    for (size_t p = 0; p < to->k; p++) {
        const double rounded = (rest[p] + shift) - shift;
        rest[p] -= rounded;
        digit[p] = digit_of(rounded, inverse, to->width);
    }
}

static void cut_line_nearest_each(struct slices *to, size_t line, const double *x,
                                  double *rest)
{
    memcpy(rest, x, to->k * sizeof *rest);
    for (int s = 0; s < to->parts; s++) {
        const int e = exponent_above(largest_of(rest, to->k));
        const double inverse = ldexp(1, to->width - 1 - e);
        cut_slice(to, line, s, ldexp(1.5, 53 - to->width + e), inverse, rest);
        to->scale[(size_t)s * to->lines + line] = 1 / inverse;
    }
}

static void cut_line_nearest(struct slices *to, size_t line, const double *x,
                             double *rest)
{
    const int e = exponent_above(largest_of(x, to->k));
    double shift = ldexp(1.5, 53 - to->width + e), inverse = ldexp(1, to->width - 1 - e);
    memcpy(rest, x, to->k * sizeof *rest);
    to->scale[line] = 1 / inverse;
    for (int s = 0; s < to->parts; s++) {
        cut_slice(to, line, s, shift, inverse, rest);
        shift = ldexp(shift, -to->width);
        inverse = ldexp(inverse, to->width);
    }
}

/* If the bits that k leaves are odd, A has one more. */
static void unequal_widths(int width[2], size_t k, int digit, int sum)
{
    const double left = (sum - log2((double)k)) * 0.5;
    width[0] = smaller_int(digit, (int)ceil(left));
    width[1] = smaller_int(digit, (int)floor(left));
}

static double weight_each(int level, int width)
{
    (void)level, (void)width;
    return 1;
}

static double add_each(const struct weighing *w)
{
    return fp64_fma(fp64_product(w->product, w->a), w->b, w->sum);
}

static double weight_nearest(int level, int width) { return ldexp(1, -width * level); }

static double add_nearest(const struct weighing *w)
{
    const double product = fp64_product(fp64_product(w->product, w->a), w->b);
    return fp64_fma(product, w->weight, w->sum);
}

static double end_unchanged(double sum, double a, double b)
{
    (void)a, (void)b;
    return sum;
}

const struct cut cut_nearest_each = { .name = "nearest, each slice by its residuals",
                                      .rest = { 0.5, 0.5 },
                                      .each = true,
                                      .widths = unequal_widths,
                                      .line = cut_line_nearest_each,
                                      .weight = weight_each,
                                      .add = add_each,
                                      .end = end_unchanged };

const struct cut cut_nearest = { .name = "nearest",
                                 .rest = { 0.5, 0.5 },
                                 .widths = equal_widths,
                                 .line = cut_line_nearest,
                                 .weight = weight_nearest,
                                 .add = add_nearest,
                                 .end = end_unchanged };

/* --- with carries ----------------------------------------------------------------- */

enum { BYTE = 8 };

/* For any k: overflow of s32 is the caller's. */
static void byte_widths(int width[2], size_t k, int digit, int sum)
{
    (void)k, (void)digit, (void)sum;
    width[0] = width[1] = BYTE;
}

/* Exponent of the power of two by which a line is multiplied, from the fields of its
   largest element: a first fraction of six ones leaves no room for a carry. */
static int shift_carried(double largest)
{
    enum { FIRST = 6 };
    const uint64_t first = bits_of_double(largest) >> (FRACTION - FIRST) & 63;
    if (largest == 0 || isinf(largest)) return 0;
    return BYTE - 1 - (field_of(largest) - 1022 + (first == 63));
}

static void cut_line_carried(struct slices *to, size_t line, const double *x,
                             double *spare)
{
    const int shift = shift_carried(largest_of(x, to->k)),
              last = -shift - BYTE * (to->parts - 1);
    (void)spare;
    to->scale[line] = ldexp(1, -shift);
    for (size_t p = 0; p < to->k; p++) {
        int exponent;
        const double fraction = frexp(isfinite(x[p]) ? x[p] : 0, &exponent);
        const int64_t integer = (int64_t)ldexp(fraction, FRACTION + 1);
        const int up = exponent - (FRACTION + 1) - last, zeros = larger_int(up, 0) / BYTE;
        int64_t rest = up >= 0    ? integer * ((int64_t)1 << up % BYTE)
                       : up > -63 ? integer / ((int64_t)1 << -up)
                                  : 0;
        for (int s = to->parts; s--;) {
            const int8_t digit = s < to->parts - zeros ? (int8_t)(uint8_t)rest : 0;
            slices_digits(to, s)[line * to->k + p] = digit;
            if (s < to->parts - zeros) rest = (rest - digit) / 256;
        }
    }
}

static double weight_carried(int level, int width) { return ldexp(1, -width * level); }

static double add_carried(const struct weighing *w)
{
    const double product = fp64_product(w->product, w->a * w->b * w->weight);
    return fp64_fma(w->alpha, product, w->sum);
}

static double add_unscaled(const struct weighing *w)
{
    return fp64_fma(w->product, w->weight, w->sum);
}

static double end_scaled(double sum, double a, double b)
{
    return ldexp(sum, ilogb(a) + ilogb(b));
}

const struct cut cut_carried_once = { .name = "two's complement, scaled once",
                                      .rest = { 0x81p-8, 1 },
                                      .widths = byte_widths,
                                      .line = cut_line_carried,
                                      .weight = weight_carried,
                                      .add = add_unscaled,
                                      .end = end_scaled };

const struct cut cut_carried = { .name = "two's complement",
                                 .rest = { 0x81p-8, 1 },
                                 .widths = byte_widths,
                                 .line = cut_line_carried,
                                 .weight = weight_carried,
                                 .add = add_carried,
                                 .end = end_unchanged };

/* --- all lines -------------------------------------------------------------------- */

static bool allocate(struct slices *to, const struct cut *cut)
{
    size_t elements, scales = to->lines;
    if (!size_multiply(&elements, to->lines, to->k) ||
        !size_multiply(&elements, elements, (size_t)to->parts) ||
        (cut->each && !size_multiply(&scales, scales, (size_t)to->parts)))
        return false;
    to->digit = memory_allocate(elements, sizeof *to->digit);
    to->scale = memory_allocate(scales, sizeof *to->scale);
    return to->digit && to->scale;
}

enum bitcut_status slices_make(struct slices *to, const struct cut *cut, int parts,
                               int width, const double *x, size_t lines, size_t k,
                               int threads)
{
    *to = (struct slices){ .lines = lines, .k = k, .parts = parts, .width = width };
    const int team = threads_for(threads, lines);
    double *const spare = memory_allocate(k, (size_t)team * sizeof *spare);
    if (!spare || !allocate(to, cut)) {
        free(spare);
        slices_clear(to);
        return BITCUT_NO_MEMORY;
    }
#pragma omp parallel num_threads(team)
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t line = 0; line < lines; line++)
            cut->line(to, line, x + line * k, spare + (size_t)threads_number() * k);
        hostfp_leave(&saved);
    }
    free(spare);
    return BITCUT_OK;
}

void slices_clear(struct slices *s)
{
    free(s->digit);
    free(s->scale);
    *s = (struct slices){ .digit = NULL };
}

int slices_shift(const struct slices *s, const struct cut *cut, int slice)
{
    if (cut->each) return 0;
    return cut == &cut_truncated ? 1 - s->width * (slice + 1) : -s->width * slice;
}
