/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/epilogue.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/round.h"

#include <math.h>
#include <string.h>

/* --- tables ----------------------------------------------------------------------- */

const struct table_row scalings[] = {
    [BITCUT_SCALING_EPILOGUE] = { "epilogue", "steps of the epilogue apply the factors" },
    [BITCUT_SCALING_OPERAND] = { "operand", "elements are multiplied by their factors "
                                            "before the split" },
    [BITCUT_SCALING_UNIT] = { "unit", "the instruction applies block scales" },
    [BITCUT_SCALING_PROMOTED] = { "promoted", "register = (s_a s_b) sum + register, "
                                              "one rounding" },
    [BITCUT_SCALING_PROMOTED_APART] = { "promoted-apart",
                                        "register = register + (s_a s_b) sum, two "
                                        "roundings" },
    [BITCUT_SCALING_PROMOTED_TURNS] = { "promoted-turns",
                                        "register = (sum s_a) s_b + register, two "
                                        "roundings" },
    [BITCUT_SCALING_PROMOTED_TURNS_B] = { "promoted-turns-b",
                                          "register = (sum s_b) s_a + register, two "
                                          "roundings" },
    { 0 }
};

const struct table_row starts[] = {
    [BITCUT_START_ZERO] = { "zero", "accumulators start from +0" },
    [BITCUT_START_C] = { "c", "the first accumulator starts from beta C" },
    [BITCUT_START_BIAS] = { "bias", "the first accumulator starts from the bias" },
    [BITCUT_START_SLICE_C] = { "slice-c", "beta C is added to the sum of the first "
                                          "slice" },
    [BITCUT_START_SLICE_BIAS] = { "slice-bias", "the bias is added to the sum of the "
                                                "first slice" },
    { 0 }
};

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

static struct exact_output times(struct exact_output v, uint32_t factor)
{
    const double y = value_of_float(factor);
    return (struct exact_output){ v.value * y, v.magnitude * fabs(y) };
}

static struct exact_output plus(struct exact_output v, double addend)
{
    return (struct exact_output){ v.value + addend, v.magnitude + fabs(addend) };
}

/* NaN stays. */
static struct exact_output limited(struct exact_output v, double low, double high)
{
    if (v.value < low) v.value = low;
    if (v.value > high) v.value = high;
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

/* --- the steps -------------------------------------------------------------------- */

/* Each step has two functions: of v, the FP32 sum of output (i, j), and of its exact
   value, unless the step only rounds or records. */
#define STEP(name)                                                                       \
    static uint32_t name(const struct epilogue_values *x, uint32_t v, size_t i, size_t j)
#define EXACT(name)                                                                      \
    static struct exact_output name(const struct epilogue_values *x,                     \
                                    struct exact_output v, size_t i, size_t j)
#define UNUSED_PLACE (void)x, (void)i, (void)j

STEP(by_alpha)
{
    UNUSED_PLACE;
    return multiply(x, x->alpha, v);
}

EXACT(by_alpha_exact)
{
    UNUSED_PLACE;
    return times(v, x->alpha);
}

STEP(plus_c) { return f32_fused(x->nan, x->beta, c_at(x, i, j), v); }
STEP(plus_rounded_c) { return add(x, v, beta_c(x, i, j)); }
STEP(plus_short_c) { return add(x, v, shortened(x, beta_c(x, i, j))); }
EXACT(plus_c_exact) { return plus(v, beta_c_exact(x, i, j)); }

STEP(alpha_plus_c) { return f32_fused(x->nan, x->alpha, v, beta_c(x, i, j)); }
EXACT(alpha_plus_c_exact) { return plus(times(v, x->alpha), beta_c_exact(x, i, j)); }

STEP(scales_plus_c)
{
    const uint32_t a = multiply(x, x->alpha, scale_factor(&x->a, i, 0)),
                   all = multiply(x, a, scale_factor(&x->b, j, 0));
    return f32_fused(x->nan, all, v, beta_c(x, i, j));
}

EXACT(by_factors_exact)
{
    return times(times(v, scale_factor(&x->a, i, 0)), scale_factor(&x->b, j, 0));
}

EXACT(scales_plus_c_exact)
{
    return alpha_plus_c_exact(x, by_factors_exact(x, v, i, j), i, j);
}

STEP(plus_bias) { return add(x, v, bias_at(x, i, j)); }
EXACT(plus_bias_exact) { return plus(v, value_of_float(bias_at(x, i, j))); }

STEP(by_factors)
{
    return multiply(x, multiply(x, scale_factor(&x->a, i, 0), scale_factor(&x->b, j, 0)),
                    v);
}

STEP(by_factor_a)
{
    (void)j;
    return multiply(x, scale_factor(&x->a, i, 0), v);
}

EXACT(by_factor_a_exact)
{
    (void)j;
    return times(v, scale_factor(&x->a, i, 0));
}

STEP(by_factor_b)
{
    (void)i;
    return multiply(x, scale_factor(&x->b, j, 0), v);
}

EXACT(by_factor_b_exact)
{
    (void)i;
    return times(v, scale_factor(&x->b, j, 0));
}

STEP(by_scale_d)
{
    UNUSED_PLACE;
    return multiply(x, x->scale_d, v);
}

EXACT(by_scale_d_exact)
{
    UNUSED_PLACE;
    return times(v, x->scale_d);
}

STEP(positive_part)
{
    UNUSED_PLACE;
    return v >> 31 && !f32_is_nan(v) ? 0 : v;
}

EXACT(positive_part_exact)
{
    UNUSED_PLACE;
    return limited(v, 0, INFINITY);
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
    return limited(v, value_of_float(x->clamp_low), value_of_float(x->clamp_high));
}

STEP(rounded)
{
    UNUSED_PLACE;
    return shortened(x, v);
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
    const double most = value_of_float(largest_of(x->result));
    UNUSED_PLACE;
    return limited(v, -most, most);
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

/* clang-format off */
const struct epilogue_step epilogue_steps[] = {
    [BITCUT_STEP_END] = { "end", "ends the list; no list names it", NULL, NULL, 0 },
    [BITCUT_STEP_FUSED] = { "fused", "scales, alpha, c and bias, as far as there are operands",
                            NULL, NULL, 0 },
    [BITCUT_STEP_ALPHA] = { "alpha", "v = alpha v", by_alpha, by_alpha_exact, READS_ALPHA, alpha_times },
    [BITCUT_STEP_C] = { "c", "v = beta C + v, one rounding", plus_c, plus_c_exact, READS_C, c_added },
    [BITCUT_STEP_ALPHA_C] = { "alpha-c", "v = alpha v + beta C, beta C rounded first, then one rounding",
                              alpha_plus_c, alpha_plus_c_exact, READS_ALPHA | READS_C, alpha_and_c },
    [BITCUT_STEP_SCALES_C] = { "scales-c", "v = ((alpha s_a) s_b) v + beta C, both products and beta C rounded first",
                               scales_plus_c, scales_plus_c_exact,
                               READS_ALPHA | READS_C | NEEDS_FACTORS },
    [BITCUT_STEP_C_APART] = { "c-apart", "v = v + beta C, beta C rounded first",
                              plus_rounded_c, plus_c_exact, READS_C, c_added },
    [BITCUT_STEP_C_SHORT] = { "c-short", "v = v + beta C, beta C rounded to the format of D first",
                              plus_short_c, plus_c_exact, READS_C },
    [BITCUT_STEP_BIAS] = { "bias", "v = v + bias", plus_bias, plus_bias_exact, NEEDS_BIAS, bias_added },
    [BITCUT_STEP_SCALES] = { "scales", "v = v (s_a s_b), s_a s_b rounded first",
                             by_factors, by_factors_exact, NEEDS_FACTORS },
    [BITCUT_STEP_SCALE_A] = { "scale-a", "v = v s_a, the factor of the row",
                              by_factor_a, by_factor_a_exact, NEEDS_A },
    [BITCUT_STEP_SCALE_B] = { "scale-b", "v = v s_b, the factor of the column",
                              by_factor_b, by_factor_b_exact, NEEDS_B },
    [BITCUT_STEP_SCALE_D] = { "scale-d", "v = v times the scale of D",
                              by_scale_d, by_scale_d_exact, READS_SCALE_D },
    [BITCUT_STEP_RELU] = { "relu", "v = +0 unless v > 0; NaN stays",
                           positive_part, positive_part_exact, 0, not_negative },
    [BITCUT_STEP_CLAMP] = { "clamp", "v is limited to an interval; NaN stays",
                            clamped, clamped_exact, READS_CLAMP },
    [BITCUT_STEP_ROUND] = { "round", "v is rounded to the format of D", rounded, NULL, 0 },
    [BITCUT_STEP_SATURATE] = { "saturate", "v is limited to the largest value of the format of D; NaN stays",
                               saturated, saturated_exact, 0, within_range },
    [BITCUT_STEP_AMAX] = { "amax", "records the largest |v| of all outputs",
                           recorded, NULL, NEEDS_AMAX },
    [BITCUT_STEP_FLOAT] = { "float", "v, an s32 sum, becomes FP32, to nearest", NULL, NULL, 0, to_float },
    { 0 }
};
/* clang-format on */

enum { STEPS = sizeof epilogue_steps / sizeof *epilogue_steps - 1 };

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

/* What accumulators start from. */
bool epilogue_starts_from_c(enum bitcut_start start)
{
    return start == BITCUT_START_C || start == BITCUT_START_SLICE_C;
}

bool epilogue_starts_from_bias(enum bitcut_start start)
{
    return start == BITCUT_START_BIAS || start == BITCUT_START_SLICE_BIAS;
}

uint32_t epilogue_start(const struct epilogue_values *x, size_t i, size_t j)
{
    if (x->integer)
        return epilogue_starts_from_c(x->start)      ? c_added(x, 0, i, j)
               : epilogue_starts_from_bias(x->start) ? bias_added(x, 0, i, j)
                                                     : 0;
    return epilogue_starts_from_c(x->start)      ? beta_c(x, i, j)
           : epilogue_starts_from_bias(x->start) ? bias_at(x, i, j)
                                                 : 0;
}

struct exact_output epilogue_exact(const struct epilogue_values *x, struct exact_output v,
                                   size_t i, size_t j)
{
    if (epilogue_starts_from_c(x->start)) v = plus_c_exact(x, v, i, j);
    if (epilogue_starts_from_bias(x->start)) v = plus_bias_exact(x, v, i, j);
    for (const unsigned char *s = x->step; *s; s++)
        if (epilogue_steps[*s].exact) v = epilogue_steps[*s].exact(x, v, i, j);
    return v;
}

/* --- named lists ------------------------------------------------------------------ */

#define STEP(name) BITCUT_STEP_##name
#define RECORDED   "cuBLASLt 13.1 on an H200: data/epilogues"

const struct epilogue epilogues[] = {
    { "fused",
      "factors, alpha, beta C and bias in FP32; D is rounded once",
      { STEP(FUSED) },
      "CUTLASS, LinearCombination and LinearCombinationBias" },
    { "fused-relu",
      "as fused, then max(v, 0)",
      { STEP(FUSED), STEP(RELU) },
      "CUTLASS, LinearCombinationRelu" },
    { "cublaslt",
      "alpha v + beta C, with one rounding of the sum",
      { STEP(ALPHA_C) },
      RECORDED },
    { "cublaslt-bias",
      "the same, then the bias",
      { STEP(ALPHA_C), STEP(BIAS) },
      RECORDED },
    { "cublaslt-rows",
      "fp8 with a factor for each row and column",
      { STEP(SCALE_A), STEP(SCALE_B), STEP(ALPHA_C) },
      RECORDED },
    { "cublaslt-rows-bias",
      "the same, then the bias",
      { STEP(SCALE_A), STEP(SCALE_B), STEP(ALPHA_C), STEP(BIAS) },
      RECORDED },
    { "cublaslt-tensors",
      "fp8 with a factor for all of A and of B",
      { STEP(SCALES_C) },
      RECORDED },
    { "layer",
      "the product is rounded to D, the bias is added, the sum is rounded again",
      { STEP(ROUND), STEP(BIAS) },
      "a framework's matmul followed by an addition" },
    { "addmm-apart",
      "alpha and beta C after the product is rounded to D; each step is rounded to D",
      { STEP(ROUND), STEP(ALPHA), STEP(ROUND), STEP(C_SHORT) },
      "a framework's alpha * (A @ B) + beta * C in short formats" },
    { "requantised",
      "s32 sums to FP32, factors, alpha, bias, rounded, limited to the range of D",
      { STEP(FLOAT), STEP(FUSED), STEP(ROUND), STEP(SATURATE) },
      "PyTorch, quantized linear; oneDNN, int8 matmul" },
    { "cublaslt-fp8",
      "the same to an fp8 D with a scale, which saturates",
      { STEP(SCALES_C), STEP(SCALE_D), STEP(SATURATE) },
      RECORDED },
    { 0 }
};

/* Set the steps that a list names; false if a name is unknown or there are too many. */
static bool read_steps(unsigned char step[BITCUT_EPILOGUE_MAX], const char *text)
{
    int count = 0;
    while (*text) {
        const size_t length = strcspn(text, "+");
        int s = 1;
        while (s < STEPS && (strlen(epilogue_steps[s].name) != length ||
                             memcmp(epilogue_steps[s].name, text, length) != 0))
            s++;
        if (s == STEPS || count + 1 == BITCUT_EPILOGUE_MAX) return false;
        step[count++] = (unsigned char)s;
        text += length;
        if (*text && !*++text) return false; /* ends with "+" */
    }
    return count > 0;
}

bool epilogue_read(unsigned char to[BITCUT_EPILOGUE_MAX], const char *text)
{
    unsigned char own[BITCUT_EPILOGUE_MAX] = { 0 };
    const struct epilogue *const row = table_find(TABLE(epilogues), text);
    if (!row && !read_steps(own, text)) return false;
    memcpy(to, row ? row->step : own, sizeof own);
    return true;
}

/* Whether two lists have the same steps; nothing after their ends matters. */
static bool same_steps(const unsigned char *a, const unsigned char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

void epilogue_write(char text[EPILOGUE_TEXT_MAX],
                    const unsigned char step[BITCUT_EPILOGUE_MAX])
{
    text[0] = 0;
    if (!*step) return;
    for (const struct epilogue *row = epilogues; row->name; row++)
        if (same_steps(row->step, step)) {
            text_add(text, EPILOGUE_TEXT_MAX, "%s", row->name);
            return;
        }
    for (const unsigned char *s = step; *s; s++)
        text_add(text, EPILOGUE_TEXT_MAX, "%s%s", s == step ? "" : "+",
                 epilogue_steps[*s].name);
}

/* --- the steps of a GEMM ---------------------------------------------------------- */

static bool is_there(const struct bitcut_matrix *x) { return x->at || x->each; }

bool gemm_has_scales(const struct bitcut_gemm *g)
{
    return is_there(&g->scale_a.at) || is_there(&g->scale_b.at);
}

bool gemm_has_bias(const struct bitcut_gemm *g) { return is_there(&g->bias); }

/* Append the steps for which "fused" stands. */
static unsigned char *add_fused(unsigned char *to, const struct bitcut_gemm *g)
{
    if (gemm_has_scales(g) && g->scaling == BITCUT_SCALING_EPILOGUE)
        *to++ = BITCUT_STEP_SCALES;
    *to++ = BITCUT_STEP_ALPHA;
    if (!epilogue_starts_from_c(g->start)) *to++ = BITCUT_STEP_C;
    if (gemm_has_bias(g) && !epilogue_starts_from_bias(g->start))
        *to++ = BITCUT_STEP_BIAS;
    return to;
}

void epilogue_of(unsigned char to[EPILOGUE_STEPS_MAX], const struct bitcut_gemm *g)
{
    if (!*g->epilogue) to = add_fused(to, g);
    for (const unsigned char *s = g->epilogue; *s; s++)
        if (*s == BITCUT_STEP_FUSED) to = add_fused(to, g);
        else *to++ = *s;
    *to = BITCUT_STEP_END;
}

/* What steps, start and scaling read of a GEMM. */
static unsigned reads_of(const struct bitcut_gemm *g)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    unsigned reads = (epilogue_starts_from_c(g->start) ? READS_C : 0) |
                     (epilogue_starts_from_bias(g->start) ? NEEDS_BIAS : 0) |
                     (g->scaling != BITCUT_SCALING_EPILOGUE ? NEEDS_FACTORS : 0);
    epilogue_of(step, g);
    for (const unsigned char *s = step; *s; s++) reads |= epilogue_steps[*s].reads;
    return reads;
}

bool gemm_scales_promotions(const struct bitcut_gemm *g)
{
    return g->scaling >= BITCUT_SCALING_PROMOTED;
}

bool gemm_is_extended(const struct bitcut_gemm *g)
{
    return *g->epilogue || gemm_has_bias(g) || gemm_has_scales(g) || g->start;
}

/* --- blocks of factors ------------------------------------------------------------ */

size_t factor_depth(const struct bitcut_scales *x)
{
    return is_there(&x->at) ? x->depth : 0;
}

static size_t blocks(size_t count, size_t size)
{
    return size ? divide_up(count, size) : 1;
}

size_t factor_lines(const struct bitcut_scales *x, size_t lines)
{
    return blocks(lines, x->lines);
}

size_t factor_blocks(const struct bitcut_scales *x, size_t k)
{
    return blocks(k, x->depth);
}

/* --- checks ----------------------------------------------------------------------- */

static enum bitcut_status check_steps(const struct bitcut_gemm *g, struct fault *f)
{
    size_t count = 0;
    while (count < BITCUT_EPILOGUE_MAX && g->epilogue[count])
        if (g->epilogue[count++] >= STEPS)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown step of the epilogue");
    if (count == BITCUT_EPILOGUE_MAX)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the epilogue has no end");
    return BITCUT_OK;
}

enum bitcut_status epilogue_check(const struct bitcut_gemm *g, struct fault *f)
{
    if (g->start > BITCUT_START_SLICE_BIAS ||
        g->scaling > BITCUT_SCALING_PROMOTED_TURNS_B)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unknown value of an enumeration in the GEMM");
    if (f32_is_nan(g->clamp_low) || f32_is_nan(g->clamp_high) ||
        value_of_float(g->clamp_low) > value_of_float(g->clamp_high))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the limits of a clamp must be numbers, the lower one first");
    return check_steps(g, f);
}

/* An operand: what reads it, whether a step that does so needs it, whether a GEMM has it. */
struct operand {
    const char *name;
    unsigned reads;
    bool needed, there;
};

enum { OPERANDS = 9 };

static void operands_of(struct operand to[OPERANDS], const struct bitcut_gemm *g)
{
    const bool a = is_there(&g->scale_a.at), b = is_there(&g->scale_b.at);
    const struct operand all[OPERANDS] = {
        { "a bias", NEEDS_BIAS, true, gemm_has_bias(g) },
        { "factors of A", NEEDS_A, true, a },
        { "factors of B", NEEDS_B, true, b },
        { "factors of A or B", NEEDS_FACTORS, true, a || b },
        { "a place for amax", NEEDS_AMAX, true, g->amax },
        { "alpha", READS_ALPHA, false, g->alpha != F32_ONE },
        { "beta", READS_C, false, !f32_is_zero(g->beta) },
        { "a scale of D", READS_SCALE_D, false, g->scale_d != F32_ONE },
        { "limits of a clamp", READS_CLAMP, false,
          isfinite(value_of_float(g->clamp_low)) || isfinite(value_of_float(g->clamp_high)) },
    };
    memcpy(to, all, sizeof all);
}

/* Check that a GEMM has what `who` reads. */
static enum bitcut_status check_needs(const struct operand all[OPERANDS], unsigned reads,
                                      const char *who, struct fault *f)
{
    for (int i = 0; i < OPERANDS; i++)
        if (reads & all[i].reads && all[i].needed && !all[i].there)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%s requires %s", who, all[i].name);
    return BITCUT_OK;
}

enum bitcut_status epilogue_check_operands(const struct bitcut_gemm *g, struct fault *f)
{
    struct operand all[OPERANDS];
    operands_of(all, g);
    enum bitcut_status status = BITCUT_OK;
    if (epilogue_starts_from_bias(g->start))
        status = check_needs(all, NEEDS_BIAS, "a start from the bias", f);
    if (status == BITCUT_OK && g->scaling != BITCUT_SCALING_EPILOGUE)
        status = check_needs(all, NEEDS_FACTORS, "a scaling", f);
    for (const unsigned char *s = g->epilogue; *s && status == BITCUT_OK; s++) {
        char what[60] = "";
        text_add(what, sizeof what, "step %s of the epilogue", epilogue_steps[*s].name);
        status = check_needs(all, epilogue_steps[*s].reads, what, f);
    }
    unsigned reads = reads_of(g);
    if (reads & NEEDS_FACTORS) reads |= NEEDS_A | NEEDS_B;
    if (reads & (NEEDS_A | NEEDS_B)) reads |= NEEDS_FACTORS;
    for (int i = 0; i < OPERANDS && status == BITCUT_OK; i++)
        if (all[i].there && !(reads & all[i].reads))
            status = fault_set(f, BITCUT_BAD_ARGUMENT,
                               "the GEMM has %s, which no step of the epilogue reads",
                               all[i].name);
    return status;
}
