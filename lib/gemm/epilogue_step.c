/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of an epilogue: what each computes, its exact value, and its error bound. */
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/round.h"

#include <assert.h>
#include <math.h>

/* --- arithmetic ------------------------------------------------------------------- */

/* a b and a + b, each rounded once, with the NaN of the epilogue. */
static uint32_t multiply(const struct epilogue_values *x, uint32_t a, uint32_t b)
{
    return f32_fused(x->nan, a, b, (a ^ b) & 0x80000000u);
}

static uint32_t add(const struct epilogue_values *x, uint32_t a, uint32_t b)
{
    return f32_fused(x->nan, a, F32_ONE, b);
}

/* A step in exact arithmetic: v, v times one factor, v + x y, and v between limits. */
static const struct exact_step same = { 0 };

static struct exact_step times(struct exact_step step, uint32_t factor)
{
    step.factor[step.factors++] = factor;
    return step;
}

static struct exact_step plus(struct exact_step step, uint32_t x, uint32_t y)
{
    step.adds = true;
    step.addend[0] = x;
    step.addend[1] = y;
    return step;
}

static struct exact_step limited(uint32_t low, uint32_t high)
{
    return (struct exact_step){ .limits = true, .low = low, .high = high };
}

/* The value after a step; NaN stays. */
static struct exact_output applied(struct exact_output v, struct exact_step step)
{
    for (int i = 0; i < step.factors; i++) {
        const double y = value_of_float(step.factor[i]);
        v = (struct exact_output){ v.value * y, v.magnitude * fabs(y) };
    }
    const double addend = value_of_float(step.addend[0]) * value_of_float(step.addend[1]);
    if (step.adds)
        v = (struct exact_output){ v.value + addend, v.magnitude + fabs(addend) };
    if (step.limits && v.value < value_of_float(step.low))
        v.value = value_of_float(step.low);
    if (step.limits && v.value > value_of_float(step.high))
        v.value = value_of_float(step.high);
    return v;
}

/* A value rounded to the format of D; to an integer without a range if D has integers. */
static uint32_t shortened(const struct epilogue_values *x, uint32_t v)
{
    if (f32_is_nan(v)) return v;
    if (format_is_integer(x->result))
        return (v & 0x7fffffff) < 0x4b000000
                   ? f32_through(&formats[FORMAT_S32], &roundings[ROUND_RN], v)
                   : v;
    v = f32_through(x->result, &roundings[ROUND_RN], v);
    return f32_is_nan(v) ? x->nan : v;
}

static uint32_t c_at(const struct epilogue_values *x, size_t i, size_t j)
{
    return x->c[i * x->ldc + j];
}

static uint32_t bias_at(const struct epilogue_values *x, size_t i, size_t j)
{
    return x->bias[x->bias_rows ? i : j];
}

/* beta c, rounded; +0 without C. */
static uint32_t beta_c(const struct epilogue_values *x, size_t i, size_t j)
{
    return x->c ? multiply(x, x->beta, c_at(x, i, j)) : 0;
}

static double beta_c_exact(const struct epilogue_values *x, size_t i, size_t j)
{
    return x->c ? value_of_float(x->beta) * value_of_float(c_at(x, i, j)) : 0;
}

/* --- error bounds ----------------------------------------------------------------- */

static const struct bitcut_format *const f32 = &formats[FORMAT_F32];

/* Corrects a few binary64 operations on nonnegative numbers. */
static double upward(double x) { return x * (1 + 0x1p-48); }

/* The error of a rounding of a number of at most this magnitude. */
static double rounding(const struct output_bound *b, const struct bitcut_format *format,
                       double most)
{
    return format_rounding_error(format, b->least ? 0 : most);
}

/* The error of a rounding of a number of this magnitude: an operand or a product of
   operands, whose value is known. */
static double known(const struct output_bound *b, const struct bitcut_format *format,
                    double size)
{
    return b->least && size >= ldexp(1, format_emin(format)) ? 0
                                                             : rounding(b, format, size);
}

/* The bound of a value with this error after it is rounded to a format.  The exact value
   is known up to roundings of binary64. */
static struct output_bound rounded_once(struct output_bound b,
                                        const struct bitcut_format *format, double error,
                                        struct exact_output after)
{
    b.size = upward(b.least ? after.magnitude
                            : fabs(after.value) + after.magnitude * 0x1p-36 + error);
    const double own = rounding(&b, format, b.size);
    b.error = upward(error + own);
    b.size = upward(b.size + own);
    return b;
}

/* After v f + c, rounded once: the computed f and c differ from their exact values by at
   most these errors. */
static struct output_bound computed(struct output_bound b, double factor,
                                    double factor_error, double addend_error,
                                    struct exact_output after)
{
    return rounded_once(
        b, f32, fabs(factor) * b.error + factor_error * b.size + addend_error, after);
}

/* The error of beta c, rounded to FP32. */
static double beta_c_error(const struct output_bound *b, const struct epilogue_values *x,
                           size_t i, size_t j)
{
    return x->c ? known(b, f32, fabs(beta_c_exact(x, i, j))) : 0;
}

/* --- the steps -------------------------------------------------------------------- */

/* Each step has up to three functions: of v, the FP32 sum of output (i, j), of what it
   gives in exact arithmetic, and of its error bound. */
#define STEP(name)                                                                       \
    static uint32_t name(const struct epilogue_values *x, uint32_t v, size_t i, size_t j)
#define EXACT(name)                                                                      \
    static struct exact_step name(const struct epilogue_values *x, size_t i, size_t j)
#define BOUND(name)                                                                      \
    static struct output_bound name(const struct epilogue_values *x,                     \
                                    struct output_bound b, struct exact_output after,    \
                                    size_t i, size_t j)
#define UNUSED_PLACE (void)x, (void)i, (void)j

STEP(by_alpha)
{
    UNUSED_PLACE;
    return multiply(x, x->alpha, v);
}

EXACT(by_alpha_exact)
{
    UNUSED_PLACE;
    return times(same, x->alpha);
}

BOUND(by_alpha_bound)
{
    UNUSED_PLACE;
    return computed(b, value_of_float(x->alpha), 0, 0, after);
}

STEP(plus_c) { return f32_fused(x->nan, x->beta, c_at(x, i, j), v); }
STEP(plus_rounded_c) { return add(x, v, beta_c(x, i, j)); }
STEP(plus_short_c) { return add(x, v, shortened(x, beta_c(x, i, j))); }

/* Plus beta c, of steps that multiply first. */
static struct exact_step with_c(struct exact_step step, const struct epilogue_values *x,
                                size_t i, size_t j)
{
    return x->c ? plus(step, x->beta, c_at(x, i, j)) : step;
}

EXACT(plus_c_exact) { return with_c(same, x, i, j); }

/* Of a multiply-add, and of an exact addend. */
BOUND(plus_bound)
{
    UNUSED_PLACE;
    return computed(b, 1, 0, 0, after);
}

BOUND(plus_rounded_c_bound)
{
    return computed(b, 1, 0, beta_c_error(&b, x, i, j), after);
}

BOUND(plus_short_c_bound)
{
    const double error = beta_c_error(&b, x, i, j),
                 size = fabs(beta_c_exact(x, i, j)) + error;
    return computed(
        b, 1, 0, error + (format_holds(x->result, f32) ? 0 : known(&b, x->result, size)),
        after);
}

STEP(alpha_plus_c) { return f32_fused(x->nan, x->alpha, v, beta_c(x, i, j)); }
EXACT(alpha_plus_c_exact) { return with_c(times(same, x->alpha), x, i, j); }

BOUND(alpha_plus_c_bound)
{
    return computed(b, value_of_float(x->alpha), 0, beta_c_error(&b, x, i, j), after);
}

STEP(scales_plus_c)
{
    const uint32_t a = multiply(x, x->alpha, scale_factor(&x->a, i, 0)),
                   all = multiply(x, a, scale_factor(&x->b, j, 0));
    return f32_fused(x->nan, all, v, beta_c(x, i, j));
}

EXACT(by_factors_exact)
{
    return times(times(same, scale_factor(&x->a, i, 0)), scale_factor(&x->b, j, 0));
}

EXACT(scales_plus_c_exact)
{
    return with_c(times(by_factors_exact(x, i, j), x->alpha), x, i, j);
}

BOUND(scales_plus_c_bound)
{
    const double s_b = fabs(value_of_float(scale_factor(&x->b, j, 0))),
                 of_a = fabs(value_of_float(x->alpha) *
                             value_of_float(scale_factor(&x->a, i, 0))),
                 error_a = known(&b, f32, of_a) * s_b,
                 error = error_a + known(&b, f32, of_a * s_b + error_a);
    return computed(b, of_a * s_b, error, beta_c_error(&b, x, i, j), after);
}

STEP(plus_bias) { return add(x, v, bias_at(x, i, j)); }
EXACT(plus_bias_exact) { return plus(same, bias_at(x, i, j), F32_ONE); }

STEP(by_factors)
{
    return multiply(x, multiply(x, scale_factor(&x->a, i, 0), scale_factor(&x->b, j, 0)),
                    v);
}

BOUND(by_factors_bound)
{
    const double factor = fabs(value_of_float(scale_factor(&x->a, i, 0)) *
                               value_of_float(scale_factor(&x->b, j, 0)));
    return computed(b, factor, known(&b, f32, factor), 0, after);
}

STEP(by_factor_a)
{
    (void)j;
    return multiply(x, scale_factor(&x->a, i, 0), v);
}

EXACT(by_factor_a_exact)
{
    (void)j;
    return times(same, scale_factor(&x->a, i, 0));
}

BOUND(by_factor_a_bound)
{
    (void)j;
    return computed(b, value_of_float(scale_factor(&x->a, i, 0)), 0, 0, after);
}

STEP(by_factor_b)
{
    (void)i;
    return multiply(x, scale_factor(&x->b, j, 0), v);
}

EXACT(by_factor_b_exact)
{
    (void)i;
    return times(same, scale_factor(&x->b, j, 0));
}

BOUND(by_factor_b_bound)
{
    (void)i;
    return computed(b, value_of_float(scale_factor(&x->b, j, 0)), 0, 0, after);
}

STEP(by_scale_d)
{
    UNUSED_PLACE;
    return multiply(x, x->scale_d, v);
}

EXACT(by_scale_d_exact)
{
    UNUSED_PLACE;
    return times(same, x->scale_d);
}

BOUND(by_scale_d_bound)
{
    UNUSED_PLACE;
    return computed(b, value_of_float(x->scale_d), 0, 0, after);
}

STEP(plus_zero_d)
{
    UNUSED_PLACE;
    return add(x, v, bits_of_float((float)x->zero_d));
}

EXACT(plus_zero_d_exact)
{
    UNUSED_PLACE;
    return plus(same, bits_of_float((float)x->zero_d), F32_ONE);
}

STEP(positive_part)
{
    UNUSED_PLACE;
    return v >> 31 && !f32_is_nan(v) ? 0 : v;
}

EXACT(positive_part_exact)
{
    const uint32_t infinity = 0x7f800000;
    UNUSED_PLACE;
    return limited(0, infinity);
}

/* The order of FP32 encodings other than NaN as integers, with -0 below +0. */
static int64_t rank(uint32_t x)
{
    const int64_t magnitude = x & 0x7fffffff;
    return x >> 31 ? -1 - magnitude : magnitude;
}

STEP(clamped)
{
    UNUSED_PLACE;
    if (f32_is_nan(v)) return v;
    if (rank(v) < rank(x->clamp_low)) v = x->clamp_low;
    return rank(v) > rank(x->clamp_high) ? x->clamp_high : v;
}

EXACT(clamped_exact)
{
    UNUSED_PLACE;
    return limited(x->clamp_low, x->clamp_high);
}

/* The bound of a value between two limits. */
static struct output_bound between(struct output_bound b, double low, double high)
{
    b.size = fmin(b.size, fmax(fabs(low), fabs(high)));
    return b;
}

BOUND(clamped_bound)
{
    UNUSED_PLACE;
    (void)after;
    return between(b, value_of_float(x->clamp_low), value_of_float(x->clamp_high));
}

STEP(rounded)
{
    UNUSED_PLACE;
    return shortened(x, v);
}

BOUND(rounded_bound)
{
    UNUSED_PLACE;
    return format_holds(x->result, f32) ? b : rounded_once(b, x->result, b.error, after);
}

/* The largest value of the format of D in FP32, which holds it. */
static uint32_t largest_of(const struct bitcut_format *format)
{
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN],
                                           format, format_largest(format, false));
}

/* The least value of an integer format that s32 holds. */
static int32_t lowest_of(const struct bitcut_format *f)
{
    return f->has_sign ? (int32_t) - (INT64_C(1) << (f->bits - 1)) : 0;
}

STEP(saturated)
{
    const uint32_t most = largest_of(x->result);
    UNUSED_PLACE;
    if (format_is_integer(x->result) && v >> 31 && !f32_is_nan(v)) {
        const float low = (float)lowest_of(x->result);
        return value_of_float(v) < low ? bits_of_float(low) : v;
    }
    return f32_is_nan(v) || (v & 0x7fffffff) <= most ? v : (v & 0x80000000u) | most;
}

EXACT(saturated_exact)
{
    const uint32_t most = largest_of(x->result);
    UNUSED_PLACE;
    return limited(most | 0x80000000u, most);
}

BOUND(saturated_bound)
{
    const double most = value_of_float(largest_of(x->result));
    UNUSED_PLACE;
    (void)after;
    return between(b, -most, most);
}

/* Magnitudes of FP32 have the order of their encodings. */
STEP(recorded)
{
    const uint32_t magnitude = f32_is_nan(v) ? 0 : v & 0x7fffffff;
    uint32_t most = __atomic_load_n(x->amax, __ATOMIC_RELAXED);
    UNUSED_PLACE;
    while (most < magnitude &&
           !__atomic_compare_exchange_n(x->amax, &most, magnitude, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        continue;
    return v;
}

/* Steps on s32 sums, modulo 2^32. */

STEP(alpha_times)
{
    UNUSED_PLACE;
    return (uint32_t)x->integer_alpha * v;
}

STEP(c_added) { return v + (x->c ? (uint32_t)x->integer_beta * c_at(x, i, j) : 0); }
STEP(alpha_and_c) { return c_added(x, alpha_times(x, v, i, j), i, j); }
STEP(bias_added) { return v + bias_at(x, i, j); }

STEP(zeros_corrected) { return x->zero_rows ? v + x->zero_rows[i] + x->zero_cols[j] : v; }

STEP(zero_d_added)
{
    UNUSED_PLACE;
    return v + (uint32_t)x->zero_d;
}

STEP(not_negative)
{
    UNUSED_PLACE;
    return (int32_t)v > 0 ? v : 0;
}

STEP(within_range)
{
    const int32_t low = lowest_of(x->result),
                  high = (int32_t)format_largest(x->result, false);
    UNUSED_PLACE;
    return (int32_t)v < low ? (uint32_t)low : (int32_t)v > high ? (uint32_t)high : v;
}

STEP(to_float)
{
    UNUSED_PLACE;
    return (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN],
                                           &formats[FORMAT_S32], v);
}

#undef STEP
#undef EXACT
#undef BOUND

/* clang-format off */
const struct epilogue_step epilogue_steps[] = {
    [BITCUT_STEP_END] = { "end", "ends the list; no list names it", NULL, NULL, NULL, 0, 0, 0, NULL },
    [BITCUT_STEP_FUSED] = { "fused", "scales, alpha, c and bias, as far as there are operands",
                            NULL, NULL, NULL, 0, 0, 0, NULL },
    [BITCUT_STEP_ALPHA] = { "alpha", "v = alpha v",
                            by_alpha, by_alpha_exact, by_alpha_bound, READS_ALPHA, 1, 0, alpha_times },
    [BITCUT_STEP_C] = { "c", "v = beta C + v, one rounding",
                        plus_c, plus_c_exact, plus_bound, READS_C, 1, 0, c_added },
    [BITCUT_STEP_ALPHA_C] = { "alpha-c", "v = alpha v + beta C, beta C rounded first, then one rounding",
                              alpha_plus_c, alpha_plus_c_exact, alpha_plus_c_bound,
                              READS_ALPHA | READS_C, 2, 0, alpha_and_c },
    [BITCUT_STEP_SCALES_C] = { "scales-c", "v = ((alpha s_a) s_b) v + beta C, both products and beta C rounded first",
                               scales_plus_c, scales_plus_c_exact, scales_plus_c_bound,
                               READS_ALPHA | READS_C | NEEDS_FACTORS, 3, 0, NULL },
    [BITCUT_STEP_C_APART] = { "c-apart", "v = v + beta C, beta C rounded first",
                              plus_rounded_c, plus_c_exact, plus_rounded_c_bound, READS_C, 2, 0, c_added },
    [BITCUT_STEP_C_SHORT] = { "c-short", "v = v + beta C, beta C rounded to the format of D first",
                              plus_short_c, plus_c_exact, plus_short_c_bound, READS_C, 2, 1, NULL },
    [BITCUT_STEP_BIAS] = { "bias", "v = v + bias",
                           plus_bias, plus_bias_exact, plus_bound, NEEDS_BIAS, 1, 0, bias_added },
    [BITCUT_STEP_SCALES] = { "scales", "v = v (s_a s_b), s_a s_b rounded first",
                             by_factors, by_factors_exact, by_factors_bound, NEEDS_FACTORS, 2, 0, NULL },
    [BITCUT_STEP_SCALE_A] = { "scale-a", "v = v s_a, the factor of the row",
                              by_factor_a, by_factor_a_exact, by_factor_a_bound, NEEDS_A, 1, 0, NULL },
    [BITCUT_STEP_SCALE_B] = { "scale-b", "v = v s_b, the factor of the column",
                              by_factor_b, by_factor_b_exact, by_factor_b_bound, NEEDS_B, 1, 0, NULL },
    [BITCUT_STEP_SCALE_D] = { "scale-d", "v = v times the scale of D",
                              by_scale_d, by_scale_d_exact, by_scale_d_bound, READS_SCALE_D, 1, 0, NULL },
    [BITCUT_STEP_RELU] = { "relu", "v = +0 unless v > 0; NaN stays",
                           positive_part, positive_part_exact, NULL, 0, 0, 0, not_negative },
    [BITCUT_STEP_CLAMP] = { "clamp", "v is limited to an interval; NaN stays",
                            clamped, clamped_exact, clamped_bound, READS_CLAMP, 0, 0, NULL },
    [BITCUT_STEP_ROUND] = { "round", "v is rounded to the format of D",
                            rounded, NULL, rounded_bound, 0, 0, 1, NULL },
    [BITCUT_STEP_SATURATE] = { "saturate", "v is limited to the largest value of the format of D; NaN stays",
                               saturated, saturated_exact, saturated_bound, 0, 0, 0, within_range },
    [BITCUT_STEP_AMAX] = { "amax", "records the largest |v| of all outputs",
                           recorded, NULL, NULL, NEEDS_AMAX, 0, 0, NULL },
    [BITCUT_STEP_FLOAT] = { "float", "v, an s32 sum, becomes FP32, to nearest",
                            NULL, NULL, NULL, 0, 0, 0, to_float },
    [BITCUT_STEP_ZEROS] = { "zeros", "v, an s32 sum, is corrected by the zero points of A and B",
                            NULL, NULL, NULL, READS_ZEROS, 0, 0, zeros_corrected },
    [BITCUT_STEP_ZERO_D] = { "zero-d", "v = v + the zero point of D",
                             plus_zero_d, plus_zero_d_exact, plus_bound, READS_ZERO_D, 1, 0, zero_d_added },
    { 0 }
};
/* clang-format on */

static_assert(sizeof epilogue_steps / sizeof *epilogue_steps == EPILOGUE_STEP_COUNT + 1,
              "every step has a row");

void epilogue_run(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                  size_t count)
{
    bool integer = x->integer;
    for (const unsigned char *s = x->step; *s; s++) {
        const struct epilogue_step *const step = &epilogue_steps[*s];
        for (size_t p = 0; p < count; p++)
            d[p] = (integer ? step->integer : step->run)(x, d[p], i, j + p);
        integer &= *s != BITCUT_STEP_FLOAT;
    }
}

uint32_t epilogue_start(const struct epilogue_values *x, size_t i, size_t j)
{
    if (x->integer)
        return start_is_c(x->start)      ? c_added(x, 0, i, j)
               : start_is_bias(x->start) ? bias_added(x, 0, i, j)
                                         : 0;
    return start_is_c(x->start)      ? beta_c(x, i, j)
           : start_is_bias(x->start) ? bias_at(x, i, j)
                                     : 0;
}

struct exact_step epilogue_exact_start(const struct epilogue_values *x, size_t i,
                                       size_t j)
{
    return start_is_c(x->start)      ? plus_c_exact(x, i, j)
           : start_is_bias(x->start) ? plus_bias_exact(x, i, j)
                                     : same;
}

struct exact_output epilogue_started(const struct epilogue_values *x,
                                     struct exact_output v, size_t i, size_t j)
{
    return applied(v, epilogue_exact_start(x, i, j));
}

struct exact_output epilogue_exact(const struct epilogue_values *x, struct exact_output v,
                                   size_t i, size_t j)
{
    v = epilogue_started(x, v, i, j);
    for (const unsigned char *s = x->step; *s; s++)
        if (epilogue_steps[*s].exact) v = applied(v, epilogue_steps[*s].exact(x, i, j));
    return v;
}

struct output_bound epilogue_bound(const struct epilogue_values *x, struct output_bound b,
                                   struct exact_output v, size_t i, size_t j)
{
    for (const unsigned char *s = x->step; *s; s++) {
        const struct epilogue_step *const step = &epilogue_steps[*s];
        if (step->exact) v = applied(v, step->exact(x, i, j));
        if (step->bound) b = step->bound(x, b, v, i, j);
    }
    return b;
}

double epilogue_relative(const unsigned char *step, const struct bitcut_format *result,
                         double before)
{
    const double u = format_holds(result, f32) ? 0 : ldexp(1, -1 - result->fraction_bits);
    double sum = 0;
    for (; *step; step++)
        sum += epilogue_steps[*step].roundings * 0x1p-24 +
               epilogue_steps[*step].roundings_to_d * u;
    return before + (1 + before) * expm1(sum);
}
