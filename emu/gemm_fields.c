/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/gemm_fields.h"

#include "emu/unit.h"
#include "lib/base/text.h"
#include "lib/gemm/plan.h"
#include "lib/gemm/sparsity.h"

static bool has_integers(const struct bitcut_gemm *g)
{
    return g->unit && format_is_integer(g->unit->c);
}

void gemm_steps(unsigned char to[EPILOGUE_STEPS_MAX], const struct bitcut_gemm *g)
{
    if (has_integers(g)) epilogue_of_integers(to, g);
    else epilogue_of(to, g);
}

/* --- what the GEMM has ------------------------------------------------------------ */

#define GEMM_HAS(function, condition)                                                    \
    static bool function(const void *gemm)                                               \
    {                                                                                    \
        const struct bitcut_gemm *const g = gemm;                                        \
        return condition;                                                                \
    }

static bool has_step(const struct bitcut_gemm *g, enum bitcut_step step)
{
    unsigned char steps[EPILOGUE_STEPS_MAX];
    gemm_steps(steps, g);
    return epilogue_has(steps, step);
}

GEMM_HAS(has_bias, gemm_has_bias(g))
GEMM_HAS(has_scale_a, matrix_is_given(&g->scale_a.at))
GEMM_HAS(has_scale_b, matrix_is_given(&g->scale_b.at))
GEMM_HAS(has_scale_d, has_step(g, BITCUT_STEP_SCALE_D))
GEMM_HAS(has_clamp, has_step(g, BITCUT_STEP_CLAMP))
GEMM_HAS(has_zeros, has_integers(g) || gemm_has_zeros(g))
GEMM_HAS(has_zero_d, has_step(g, BITCUT_STEP_ZERO_D))
GEMM_HAS(is_sparse, g->sparsity != BITCUT_DENSE)
GEMM_HAS(has_positions, sparsity_has_positions(g))

static void write_steps(char *text, size_t size, const void *gemm)
{
    unsigned char step[EPILOGUE_STEPS_MAX];
    gemm_steps(step, gemm);
    for (const unsigned char *s = step; *s; s++)
        text_add(text, size, "%s%s", s == step ? "" : "+", epilogue_steps[*s].name);
}

static double number_of(uint32_t x) { return format_to_double(&formats[FORMAT_F32], x); }

#define GEMM_NUMBER(function, member)                                                    \
    static double function(const void *gemm)                                             \
    {                                                                                    \
        return number_of(((const struct bitcut_gemm *)gemm)->member);                    \
    }

GEMM_NUMBER(scale_d, scale_d)
GEMM_NUMBER(clamp_low, clamp_low)
GEMM_NUMBER(clamp_high, clamp_high)

#define GEMM_FORMAT(function, member)                                                    \
    static const char *function(const void *gemm)                                        \
    {                                                                                    \
        return matrix_format(&((const struct bitcut_gemm *)gemm)->member)->name;         \
    }

GEMM_FORMAT(format_d, d)
GEMM_FORMAT(format_bias, bias)
GEMM_FORMAT(format_scale_a, scale_a.at)
GEMM_FORMAT(format_scale_b, scale_b.at)

static const char *bias_of(const void *gemm)
{
    return ((const struct bitcut_gemm *)gemm)->bias_rows ? "row" : "column";
}

/* --- fields ----------------------------------------------------------------------- */

#define OF(member, key, what) RECORD_INNER(struct bitcut_gemm, member, key, "", what)

/* clang-format off */
const struct record_field gemm_bias_fields[] = {
    RECORD_TEXT_OF(format_bias, "format", "its format"),
    RECORD_TEXT_OF(bias_of, "of", "row or column: each of D has an element"),
    { 0 }
}, gemm_scale_a_fields[] = {
    RECORD_TEXT_OF(format_scale_a, "format", "their format"),
    OF(scale_a.lines, "rows", "rows of A that share a factor; 0: all"),
    OF(scale_a.depth, "k", "k that share a factor; 0: all"),
    { 0 }
}, gemm_scale_b_fields[] = {
    RECORD_TEXT_OF(format_scale_b, "format", "their format"),
    OF(scale_b.lines, "columns", "columns of B that share a factor; 0: all"),
    OF(scale_b.depth, "k", "k that share a factor; 0: all"),
    { 0 }
}, gemm_clamp_fields[] = {
    RECORD_NUMBER_OF(clamp_low, "low", "", "the lower limit"),
    RECORD_NUMBER_OF(clamp_high, "high", "", "the upper limit"),
    { 0 }
}, gemm_sparse_fields[] = {
    RECORD_FUNCTION(has_positions, "positions", "whether positions of the kept elements "
                                                "were given"),
    { 0 }
};

const struct record_field gemm_operand_fields[] = {
    RECORD_SENTENCE(write_steps, "steps", "the steps from the sum to D, as --epilogue reads "
                                          "them"),
    RECORD_TEXT_OF(format_d, "format_d", "format of D"),
    RECORD_TOGETHER(has_bias, gemm_bias_fields, "bias", "the bias; null: none"),
    RECORD_TOGETHER(has_scale_a, gemm_scale_a_fields, "scale_a",
                    "the factors of A, applied where scaling says; null: none"),
    RECORD_TOGETHER(has_scale_b, gemm_scale_b_fields, "scale_b", "the factors of B; null: none"),
    { .name = "scale_d", .what = "factor of the step scale-d; null: no such step",
      .unit = "", .kind = RECORD_COMPUTED, .number = scale_d, .when = has_scale_d },
    RECORD_TOGETHER(has_clamp, gemm_clamp_fields, "clamp",
                    "limits of the step clamp; null: no such step"),
    RECORD_INNER_IF(struct bitcut_gemm, zero_a, "zero_a", "",
                    "zero point of A; null: none, and no unit of integers", has_zeros),
    RECORD_INNER_IF(struct bitcut_gemm, zero_b, "zero_b", "", "zero point of B", has_zeros),
    RECORD_INNER_IF(struct bitcut_gemm, zero_d, "zero_d", "",
                    "zero point of the step zero-d; null: no such step", has_zero_d),
    RECORD_TOGETHER(is_sparse, gemm_sparse_fields, "sparse_a",
                    "what is known of a 2:4 sparse A; null: A is dense"),
    { 0 }
};
/* clang-format on */
