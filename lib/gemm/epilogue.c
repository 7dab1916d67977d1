/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/epilogue.h"

#include "lib/base/text.h"
#include "lib/gemm/plan.h"
#include "lib/number/fma.h"
#include "lib/number/round.h"

#include <assert.h>
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

/* --- the steps -------------------------------------------------------------------- */

typedef void step_function(const struct epilogue_values *x, uint32_t *d, size_t i,
                           size_t j, size_t count);

/* a b, a + b, and a b + c, each rounded once, with the NaN of the epilogue. */
static uint32_t multiply(const struct epilogue_values *x, uint32_t a, uint32_t b)
{
    return f32_fused(x->nan, a, b, (a ^ b) & 0x80000000u);
}

static uint32_t add(const struct epilogue_values *x, uint32_t a, uint32_t b)
{
    return f32_fused(x->nan, a, F32_ONE, b);
}

/* A value rounded to the format of D. */
static uint32_t shortened(const struct epilogue_values *x, uint32_t v)
{
    if (f32_is_nan(v)) return v;
    v = f32_through(x->result, &roundings[ROUND_RN], v);
    return f32_is_nan(v) ? x->nan : v;
}

static void times_alpha(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                        size_t count)
{
    (void)i, (void)j;
    for (size_t p = 0; x->alpha != F32_ONE && p < count; p++)
        d[p] = multiply(x, x->alpha, d[p]);
}

static uint32_t c_at(const struct epilogue_values *x, size_t i, size_t j)
{
    return x->c[i * x->ldc + j];
}

static void plus_c(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                   size_t count)
{
    for (size_t p = 0; x->c && p < count; p++)
        d[p] = f32_fused(x->nan, x->beta, c_at(x, i, j + p), d[p]);
}

/* beta c, rounded; +0 without C. */
static uint32_t beta_c(const struct epilogue_values *x, size_t i, size_t j)
{
    return x->c ? multiply(x, x->beta, c_at(x, i, j)) : 0;
}

static void times_alpha_plus_c(const struct epilogue_values *x, uint32_t *d, size_t i,
                               size_t j, size_t count)
{
    for (size_t p = 0; p < count; p++)
        d[p] = f32_fused(x->nan, x->alpha, d[p], beta_c(x, i, j + p));
}

static void plus_rounded_c(const struct epilogue_values *x, uint32_t *d, size_t i,
                           size_t j, size_t count)
{
    for (size_t p = 0; x->c && p < count; p++)
        d[p] = add(x, d[p], multiply(x, x->beta, c_at(x, i, j + p)));
}

static void plus_short_c(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                         size_t count)
{
    for (size_t p = 0; x->c && p < count; p++)
        d[p] = add(x, d[p], shortened(x, multiply(x, x->beta, c_at(x, i, j + p))));
}

static void plus_bias(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                      size_t count)
{
    for (size_t p = 0; p < count; p++)
        d[p] = add(x, d[p], x->bias[x->bias_rows ? i : j + p]);
}

static uint32_t factor_a(const struct epilogue_values *x, size_t i)
{
    return x->scale_a ? x->scale_a[i / x->lines_a] : F32_ONE;
}

static uint32_t factor_b(const struct epilogue_values *x, size_t j)
{
    return x->scale_b ? x->scale_b[j / x->lines_b] : F32_ONE;
}

static void times_factors(const struct epilogue_values *x, uint32_t *d, size_t i,
                          size_t j, size_t count)
{
    const uint32_t a = factor_a(x, i);
    for (size_t p = 0; p < count; p++)
        d[p] = multiply(x, multiply(x, a, factor_b(x, j + p)), d[p]);
}

static void times_all_plus_c(const struct epilogue_values *x, uint32_t *d, size_t i,
                             size_t j, size_t count)
{
    const uint32_t a = multiply(x, x->alpha, factor_a(x, i));
    for (size_t p = 0; p < count; p++)
        d[p] = f32_fused(x->nan, multiply(x, a, factor_b(x, j + p)), d[p],
                         beta_c(x, i, j + p));
}

static void times_factor_a(const struct epilogue_values *x, uint32_t *d, size_t i,
                           size_t j, size_t count)
{
    (void)j;
    for (size_t p = 0; p < count; p++) d[p] = multiply(x, factor_a(x, i), d[p]);
}

static void times_factor_b(const struct epilogue_values *x, uint32_t *d, size_t i,
                           size_t j, size_t count)
{
    (void)i;
    for (size_t p = 0; p < count; p++) d[p] = multiply(x, factor_b(x, j + p), d[p]);
}

static void times_scale_d(const struct epilogue_values *x, uint32_t *d, size_t i,
                          size_t j, size_t count)
{
    (void)i, (void)j;
    for (size_t p = 0; p < count; p++) d[p] = multiply(x, x->scale_d, d[p]);
}

static void positive_part(const struct epilogue_values *x, uint32_t *d, size_t i,
                          size_t j, size_t count)
{
    (void)x, (void)i, (void)j;
    for (size_t p = 0; p < count; p++)
        if (d[p] >> 31 && !f32_is_nan(d[p])) d[p] = 0;
}

/* The order of FP32 encodings other than NaN as integers, with -0 below +0. */
static int64_t rank(uint32_t x)
{
    const int64_t magnitude = x & 0x7fffffff;
    return x >> 31 ? -1 - magnitude : magnitude;
}

static void clamp(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                  size_t count)
{
    (void)i, (void)j;
    for (size_t p = 0; p < count; p++) {
        if (f32_is_nan(d[p])) continue;
        if (rank(d[p]) < rank(x->clamp_low)) d[p] = x->clamp_low;
        if (rank(d[p]) > rank(x->clamp_high)) d[p] = x->clamp_high;
    }
}

static void round_to_d(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                       size_t count)
{
    (void)i, (void)j;
    for (size_t p = 0; p < count; p++) d[p] = shortened(x, d[p]);
}

static void saturate(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                     size_t count)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32], *const to =
                                                                      x->result
                                                                          ? x->result
                                                                          : f32;
    const uint32_t most = (uint32_t)bitcut_format_convert(f32, &roundings[ROUND_RN], to,
                                                          format_largest(to, false));
    (void)i, (void)j;
    for (size_t p = 0; p < count; p++)
        if (!f32_is_nan(d[p]) && (d[p] & 0x7fffffff) > most)
            d[p] = (d[p] & 0x80000000u) | most;
}

/* Magnitudes of FP32 have the order of their encodings. */
static void largest(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                    size_t count)
{
    uint32_t most = 0;
    (void)i, (void)j;
    for (size_t p = 0; p < count; p++) {
        const uint32_t magnitude = d[p] & 0x7fffffff;
        if (!f32_is_nan(d[p]) && magnitude > most) most = magnitude;
    }
    uint32_t before = __atomic_load_n(x->amax, __ATOMIC_RELAXED);
    while (before < most &&
           !__atomic_compare_exchange_n(x->amax, &before, most, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        continue;
}

const struct table_row epilogue_steps[] = {
    [BITCUT_STEP_END] = { "end", "ends the list; no list names it" },
    [BITCUT_STEP_FUSED] = { "fused", "scales, alpha, c and bias, as far as there are "
                                     "operands" },
    [BITCUT_STEP_ALPHA] = { "alpha", "v = alpha v" },
    [BITCUT_STEP_C] = { "c", "v = beta C + v, one rounding" },
    [BITCUT_STEP_ALPHA_C] = { "alpha-c", "v = alpha v + beta C, beta C rounded first, "
                                         "then one rounding" },
    [BITCUT_STEP_SCALES_C] = { "scales-c", "v = ((alpha s_a) s_b) v + beta C, both "
                                           "products and beta C rounded first" },
    [BITCUT_STEP_C_APART] = { "c-apart", "v = v + beta C, beta C rounded first" },
    [BITCUT_STEP_C_SHORT] = { "c-short",
                              "v = v + beta C, beta C rounded to the format of "
                              "D first" },
    [BITCUT_STEP_BIAS] = { "bias", "v = v + bias" },
    [BITCUT_STEP_SCALES] = { "scales", "v = v (s_a s_b), s_a s_b rounded first" },
    [BITCUT_STEP_SCALE_A] = { "scale-a", "v = v s_a, the factor of the row" },
    [BITCUT_STEP_SCALE_B] = { "scale-b", "v = v s_b, the factor of the column" },
    [BITCUT_STEP_SCALE_D] = { "scale-d", "v = v times the scale of D" },
    [BITCUT_STEP_RELU] = { "relu", "v = +0 unless v > 0; NaN stays" },
    [BITCUT_STEP_CLAMP] = { "clamp", "v is limited to an interval; NaN stays" },
    [BITCUT_STEP_ROUND] = { "round", "v is rounded to the format of D" },
    [BITCUT_STEP_SATURATE] = { "saturate", "v is limited to the largest value of the "
                                           "format of D; NaN stays" },
    [BITCUT_STEP_AMAX] = { "amax", "records the largest |v| of all outputs" },
    { 0 }
};

static step_function *const functions[] = {
    [BITCUT_STEP_ALPHA] = times_alpha,
    [BITCUT_STEP_C] = plus_c,
    [BITCUT_STEP_ALPHA_C] = times_alpha_plus_c,
    [BITCUT_STEP_SCALES_C] = times_all_plus_c,
    [BITCUT_STEP_C_APART] = plus_rounded_c,
    [BITCUT_STEP_C_SHORT] = plus_short_c,
    [BITCUT_STEP_BIAS] = plus_bias,
    [BITCUT_STEP_SCALES] = times_factors,
    [BITCUT_STEP_SCALE_A] = times_factor_a,
    [BITCUT_STEP_SCALE_B] = times_factor_b,
    [BITCUT_STEP_SCALE_D] = times_scale_d,
    [BITCUT_STEP_RELU] = positive_part,
    [BITCUT_STEP_CLAMP] = clamp,
    [BITCUT_STEP_ROUND] = round_to_d,
    [BITCUT_STEP_SATURATE] = saturate,
    [BITCUT_STEP_AMAX] = largest,
};

enum { STEPS = sizeof functions / sizeof *functions };

void epilogue_run(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                  size_t count)
{
    for (const unsigned char *s = x->step; *s; s++) functions[*s](x, d, i, j, count);
}

uint32_t epilogue_start(const struct epilogue_values *x, enum bitcut_start start,
                        size_t i, size_t j)
{
    switch (start) {
    case BITCUT_START_C:
    case BITCUT_START_SLICE_C: return x->c ? multiply(x, x->beta, c_at(x, i, j)) : 0;
    case BITCUT_START_BIAS:
    case BITCUT_START_SLICE_BIAS: return x->bias[x->bias_rows ? i : j];
    default: return 0;
    }
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

static bool starts_from_c(const struct bitcut_gemm *g)
{
    return g->start == BITCUT_START_C || g->start == BITCUT_START_SLICE_C;
}

static bool starts_from_bias(const struct bitcut_gemm *g)
{
    return g->start == BITCUT_START_BIAS || g->start == BITCUT_START_SLICE_BIAS;
}

/* Append the steps for which "fused" stands. */
static unsigned char *add_fused(unsigned char *to, const struct bitcut_gemm *g)
{
    if (gemm_has_scales(g) && g->scaling == BITCUT_SCALING_EPILOGUE)
        *to++ = BITCUT_STEP_SCALES;
    *to++ = BITCUT_STEP_ALPHA;
    if (!starts_from_c(g)) *to++ = BITCUT_STEP_C;
    if (gemm_has_bias(g) && !starts_from_bias(g)) *to++ = BITCUT_STEP_BIAS;
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

static bool has_step(const unsigned char *step, enum bitcut_step x)
{
    while (*step && *step != x) step++;
    return *step;
}

bool epilogue_reads_c(const struct bitcut_gemm *g)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    epilogue_of(step, g);
    return starts_from_c(g) || has_step(step, BITCUT_STEP_C) ||
           has_step(step, BITCUT_STEP_ALPHA_C) || has_step(step, BITCUT_STEP_SCALES_C) ||
           has_step(step, BITCUT_STEP_C_APART) || has_step(step, BITCUT_STEP_C_SHORT);
}

bool gemm_scales_promotions(const struct bitcut_gemm *g)
{
    return g->scaling >= BITCUT_SCALING_PROMOTED;
}

bool gemm_is_extended(const struct bitcut_gemm *g)
{
    return *g->epilogue || gemm_has_bias(g) || gemm_has_scales(g) || g->start;
}

static enum bitcut_status missing(const char *what, const char *operand, struct fault *f)
{
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s requires %s", what, operand);
}

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

/* Steps that require an operand, and the operand. */
static enum bitcut_status check_operands(const struct bitcut_gemm *g, struct fault *f)
{
    const struct {
        enum bitcut_step step;
        bool there;
        const char *operand;
    } need[] = {
        { BITCUT_STEP_BIAS, gemm_has_bias(g), "a bias" },
        { BITCUT_STEP_SCALE_A, is_there(&g->scale_a.at), "factors of A" },
        { BITCUT_STEP_SCALE_B, is_there(&g->scale_b.at), "factors of B" },
        { BITCUT_STEP_SCALES, gemm_has_scales(g), "factors of A or B" },
        { BITCUT_STEP_SCALES_C, gemm_has_scales(g), "factors of A or B" },
        { BITCUT_STEP_AMAX, g->amax, "a place for amax" },
    };
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        if (has_step(g->epilogue, need[i].step) && !need[i].there) {
            char what[60];
            what[0] = 0;
            text_add(what, sizeof what, "step %s of the epilogue",
                     epilogue_steps[need[i].step].name);
            return missing(what, need[i].operand, f);
        }
    return BITCUT_OK;
}

enum bitcut_status epilogue_check(const struct bitcut_gemm *g, struct fault *f)
{
    if (g->start > BITCUT_START_SLICE_BIAS ||
        g->scaling > BITCUT_SCALING_PROMOTED_TURNS_B)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unknown value of an enumeration in the GEMM");
    return check_steps(g, f);
}

enum bitcut_status epilogue_check_operands(const struct bitcut_gemm *g, struct fault *f)
{
    if (starts_from_bias(g) && !gemm_has_bias(g))
        return missing("a start from the bias", "a bias", f);
    if (g->scaling != BITCUT_SCALING_EPILOGUE && !gemm_has_scales(g))
        return missing("a scaling", "factors of A or B", f);
    return check_operands(g, f);
}
