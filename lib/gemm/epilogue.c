/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/gemm/epilogue.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

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
    { "requantized",
      "s32 sums to FP32, factors, alpha, bias, rounded, limited to the range of D",
      { STEP(FLOAT), STEP(FUSED), STEP(ROUND), STEP(SATURATE) },
      "PyTorch, quantized linear; oneDNN, int8 matmul" },
    { "requantized-zero",
      "as requantized, with a zero point of D that is added after the rounding",
      { STEP(FLOAT), STEP(FUSED), STEP(ROUND), STEP(ZERO_D), STEP(SATURATE) },
      "FBGEMM, requantization with nearbyint; PyTorch, quantized linear" },
    { "requantized-zero-first",
      "as requantized, with a zero point of D that is added before the rounding",
      { STEP(FLOAT), STEP(FUSED), STEP(ZERO_D), STEP(ROUND), STEP(SATURATE) },
      "oneDNN, int8 matmul with a destination zero point" },
    { "cublaslt-fp8",
      "as cublaslt-tensors, to an fp8 D with a scale, which saturates",
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
        while (s < EPILOGUE_STEP_COUNT &&
               (strlen(epilogue_steps[s].name) != length ||
                memcmp(epilogue_steps[s].name, text, length) != 0))
            s++;
        if (s == EPILOGUE_STEP_COUNT || count + 1 == BITCUT_EPILOGUE_MAX) return false;
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

bool gemm_has_scales(const struct bitcut_gemm *g)
{
    return matrix_is_given(&g->scale_a.at) || matrix_is_given(&g->scale_b.at);
}

bool gemm_has_bias(const struct bitcut_gemm *g) { return matrix_is_given(&g->bias); }

/* Append the steps for which "fused" stands. */
static unsigned char *add_fused(unsigned char *to, const struct bitcut_gemm *g)
{
    if (gemm_has_scales(g) && g->scaling == BITCUT_SCALING_EPILOGUE)
        *to++ = BITCUT_STEP_SCALES;
    *to++ = BITCUT_STEP_ALPHA;
    if (!start_is_c(g->start)) *to++ = BITCUT_STEP_C;
    if (gemm_has_bias(g) && !start_is_bias(g->start)) *to++ = BITCUT_STEP_BIAS;
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

bool epilogue_has(const unsigned char *steps, enum bitcut_step step)
{
    while (*steps && *steps != step) steps++;
    return *steps;
}

static void leave_step(struct bitcut_gemm *g, enum bitcut_step step)
{
    unsigned char *to = g->epilogue;
    for (const unsigned char *s = g->epilogue; *s; s++)
        if (*s != step) *to++ = *s;
    *to = BITCUT_STEP_END;
}

void epilogue_leave_amax(struct bitcut_gemm *g)
{
    leave_step(g, BITCUT_STEP_AMAX);
    g->amax = NULL;
}

void epilogue_leave_integers(struct bitcut_gemm *g)
{
    leave_step(g, BITCUT_STEP_ZEROS);
    leave_step(g, BITCUT_STEP_FLOAT);
}

/* What steps, start and scaling read of a GEMM. */
static unsigned reads_of(const struct bitcut_gemm *g)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    unsigned reads = (start_is_c(g->start) ? READS_C : 0) |
                     (start_is_bias(g->start) ? NEEDS_BIAS : 0) |
                     (g->scaling != BITCUT_SCALING_EPILOGUE ? NEEDS_FACTORS : 0) |
                     (gemm_has_zeros(g) ? READS_ZEROS : 0);
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
    return *g->epilogue || gemm_has_bias(g) || gemm_has_scales(g) || g->start ||
           gemm_has_zeros(g) || g->zero_d;
}

/* --- blocks of factors ------------------------------------------------------------ */

size_t factor_depth(const struct bitcut_scales *x)
{
    return matrix_is_given(&x->at) ? x->depth : 0;
}

size_t factor_lines(const struct bitcut_scales *x, size_t lines)
{
    return block_count(lines, x->lines);
}

size_t factor_blocks(const struct bitcut_scales *x, size_t k)
{
    return block_count(k, x->depth);
}

/* --- checks ----------------------------------------------------------------------- */

static enum bitcut_status check_steps(const struct bitcut_gemm *g, struct fault *f)
{
    size_t count = 0;
    while (count < BITCUT_EPILOGUE_MAX && g->epilogue[count])
        if (g->epilogue[count++] >= EPILOGUE_STEP_COUNT)
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
        return fault_option(f, "clamp",
                            "the limits of a clamp must be numbers, the lower one first");
    return check_steps(g, f);
}

/* An operand: what reads it, whether a step that does so needs it, whether a GEMM has it. */
struct operand {
    const char *name, *option;
    unsigned reads;
    bool needed, there;
};

enum { OPERANDS = 11 };

static void operands_of(struct operand to[OPERANDS], const struct bitcut_gemm *g)
{
    const bool a = matrix_is_given(&g->scale_a.at), b = matrix_is_given(&g->scale_b.at);
    const struct operand all[OPERANDS] = {
        { "a bias", "bias", NEEDS_BIAS, true, gemm_has_bias(g) },
        { "factors of A", "scale-a", NEEDS_A, true, a },
        { "factors of B", "scale-b", NEEDS_B, true, b },
        { "factors of A or B", a ? "scale-a" : "scale-b", NEEDS_FACTORS, true, a || b },
        { "a place for amax", NULL, NEEDS_AMAX, true, g->amax },
        { "alpha", "alpha", READS_ALPHA, false, g->alpha != F32_ONE },
        { "beta", "beta", READS_C, false, !f32_is_zero(g->beta) },
        { "a scale of D", "scale-d", READS_SCALE_D, false, g->scale_d != F32_ONE },
        { "limits of a clamp", "clamp", READS_CLAMP, false,
          isfinite(value_of_float(g->clamp_low)) ||
              isfinite(value_of_float(g->clamp_high)) },
        { "zero points of A or B", g->zero_a ? "zero-a" : "zero-b", READS_ZEROS, false,
          gemm_has_zeros(g) },
        { "a zero point of D", "zero-d", READS_ZERO_D, false, g->zero_d != 0 },
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
    if (start_is_bias(g->start))
        status = fault_about(f, "start",
                             check_needs(all, NEEDS_BIAS, "a start from the bias", f));
    if (status == BITCUT_OK && g->scaling != BITCUT_SCALING_EPILOGUE)
        status =
            fault_about(f, "scaling", check_needs(all, NEEDS_FACTORS, "a scaling", f));
    for (const unsigned char *s = g->epilogue; *s && status == BITCUT_OK; s++) {
        char what[60] = "";
        text_add(what, sizeof what, "step %s of the epilogue", epilogue_steps[*s].name);
        status = fault_about(f, "epilogue",
                             check_needs(all, epilogue_steps[*s].reads, what, f));
    }
    unsigned reads = reads_of(g);
    if (reads & NEEDS_FACTORS) reads |= NEEDS_A | NEEDS_B;
    if (reads & (NEEDS_A | NEEDS_B)) reads |= NEEDS_FACTORS;
    for (int i = 0; i < OPERANDS && status == BITCUT_OK; i++)
        if (all[i].there && !(reads & all[i].reads))
            status = fault_option(f, all[i].option,
                                  "the GEMM has %s, which no step of the epilogue reads",
                                  all[i].name);
    return status;
}
