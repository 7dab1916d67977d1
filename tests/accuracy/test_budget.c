/* SPDX-License-Identifier: BSD-3-Clause */
/* Error budgets: parts computed by hand, parts that add up to the error, and their
   statistics. */
#include "analysis/accuracy/budget.h"
#include "lib/exact/exact.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/accuracy/part_text.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K_MAX = 160 };

#define HOPPER "hopper/mma.m16n8k16.f32.f16"
#define CDNA2  "cdna2/mfma.16x16x16.f32.f16"

/* --- by hand ----------------------------------------------------------------------- */

/* Two elements that are not zero, at k = 0 and `second`: one part errs, or none. */
static const struct {
    const char *recipe, *unit;
    double a, b, a2, b2;
    size_t second, k;
    int promote, slices;
    const char *high;
    double alpha, beta, c;
    enum budget_part part;
    const char *exact;
} known[] = {
    /* clang-format off */
    /* f16 has 10 fraction bits, and 2^-24 is its smallest subnormal number */
    { "plain", HOPPER, 1 + 0x1p-12, 1, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_REPRESENTATION, "-1*2^-12" },
    { "plain", HOPPER, 0x1p-30, 1, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_UNDERFLOW, "-1*2^-30" },
    { "plain", HOPPER, 1.25 * 0x1p-24, 4, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_UNDERFLOW, "-1*2^-24" },
    { "plain", HOPPER, 0x1p-16, 1, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_PARTS, NULL },
    /* its last place there makes this number the smallest normal one */
    { "plain", HOPPER, 0x1p-14 - 0x1p-25, 1, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_UNDERFLOW, "1*2^-25" },
    /* which this unit reads as zeros */
    { "plain", CDNA2, 0x1p-16, 1, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_UNDERFLOW, "-1*2^-16" },
    { "plain", HOPPER, 131072, 1, 0, 0, 0, 1, 0, 1, "rn-sat", 1, 0, 0, BUDGET_SATURATION, "-2049*2^5" },
    { "ootomo", HOPPER, 1 + 0x1p-12, 1 + 0x1p-12, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_DROPPED, "-1*2^-24" },
    { "markidis", HOPPER, 1 + 0x1p-12, 1 + 0x1p-12, 0, 0, 0, 1, 0, 1, NULL, 1, 0, 0, BUDGET_ACCUMULATION, "-1*2^-24" },
    /* 25 bits are kept below 1 when terms are added, 23 in the accumulator */
    { "plain", HOPPER, 1, 1, 0x1p-14, 0x1p-14, 5, 16, 0, 1, NULL, 1, 0, 0, BUDGET_ALIGNMENT, "-1*2^-28" },
    { "plain", HOPPER, 1, 1, 0x1p-12, 0x1p-12, 5, 16, 0, 1, NULL, 1, 0, 0, BUDGET_ACCUMULATION, "-1*2^-24" },
    /* the next instruction: by the accumulator, by an FP32 sum, by a slice */
    { "plain", HOPPER, 1, 1, 0x1p-14, 0x1p-14, 16, 32, 0, 1, NULL, 1, 0, 0, BUDGET_ALIGNMENT, "-1*2^-28" },
    { "plain", HOPPER, 1, 1, 0x1p-14, 0x1p-14, 16, 32, 1, 1, NULL, 1, 0, 0, BUDGET_PROMOTION, "-1*2^-28" },
    { "plain", HOPPER, 1, 1, 0x1p-14, 0x1p-14, 16, 32, 0, 2, NULL, 1, 0, 0, BUDGET_SLICES, "-1*2^-28" },
    { "plain", HOPPER, 1, -1, 0x1p-14, 0x1p-14, 16, 32, 0, 2, NULL, 4, 0, 0, BUDGET_SLICES, "-1*2^-26" },
    /* the fold of two accumulators is an fma */
    { "ootomo", HOPPER, 1, 1, 1, 0x1p-14 + 0x1p-25, 5, 16, 0, 1, NULL, 1, 0, 0, BUDGET_PROMOTION, "-1*2^-25" },
    { "fp32", "fma/f32", 1 + 0x1p-23, 1, 0, 0, 0, 1, 0, 1, NULL, 1 + 0x1p-23, 0, 0, BUDGET_EPILOGUE, "-1*2^-46" },
    { "fp32", "fma/f32", 1, 1, 0, 0, 0, 1, 0, 1, NULL, 1, 1, 0x1p-30, BUDGET_EPILOGUE, "-1*2^-30" },
    { "fp32", "fma/f32", 1, 1, 1, 0x1p-30, 1, 2, 0, 1, NULL, 1, 0, 0, BUDGET_ACCUMULATION, "-1*2^-30" },
    { "fp32", "fma/f32", 3, 5, 7, -11, 1, 2, 0, 1, NULL, 13, -2, 0.5, BUDGET_PARTS, NULL },
    /* clang-format on */
};

static uint32_t f32_of(double x) { return bits_of_float((float)x); }

static void known_check(size_t i)
{
    uint32_t a[K_MAX] = { 0 }, b[K_MAX] = { 0 };
    const struct bitcut_recipe *r = bitcut_recipe_find(known[i].recipe);
    struct bitcut_gemm g = gemm_of(r, bitcut_unit_find(known[i].unit, NULL));
    struct gemm_plan plan;
    struct budget_output out;
    if (known[i].promote) g.promote = known[i].promote;
    g.order.slices = known[i].slices;
    if (known[i].high)
        ck_assert_ptr_nonnull(g.high = bitcut_rounding_find(known[i].high));
    g.alpha = f32_of(known[i].alpha);
    g.beta = f32_of(known[i].beta);
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
    a[known[i].second] = f32_of(known[i].a2), b[known[i].second] = f32_of(known[i].b2);
    a[0] = f32_of(known[i].a), b[0] = f32_of(known[i].b);
    const struct budget_lines x = {
        .a = a, .b = b, .k = known[i].k, .c = f32_of(known[i].c)
    };
    ck_assert_int_eq(budget_one(&out, &g, &plan, &x, true, NULL), BITCUT_OK);
    ck_assert_msg(!out.event.what, "row %zu: %s", i, out.event.what);
    for (int p = 0; p < BUDGET_PARTS; p++) {
        const char *want = p == (int)known[i].part ? known[i].exact : "0*2^0";
        ck_assert_msg(!strcmp(out.exact[p], want), "row %zu, %s: %s, not %s", i,
                      budget_rows[p].name, out.exact[p], want);
    }
    budget_clear(&out);
}

START_TEST(parts_by_hand)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) known_check(i);
}
END_TEST

#define E4M3 "hopper/wgmma.m64n8k32.f32.e4m3"
#define NVF4 "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1"
#define HALF "hopper/mma.m16n8k16.f16.f16"

/* With factors, a start, steps and a format of D: one product, and one part that errs, or
   none.  Where there is an alpha, it is 1. */
static const struct {
    const char *recipe, *unit;
    double a, b;
    size_t k;
    enum bitcut_scaling scaling;
    double scale_a, scale_b; /* 0: there are no factors */
    enum bitcut_start start;
    double beta, c, bias; /* bias 0: there is none */
    int slices;
    const char *epilogue;
    double scale_d;
    int d;
    enum budget_part part;
    const char *exact;
} extended[] = {
    /* clang-format off */
    /* the product of the factors is rounded, then one rounding of its product with the sum */
    { "plain", E4M3, 1, 1, 32, BITCUT_SCALING_PROMOTED, 1 + 0x1p-23, 1 + 0x1p-23, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_FACTORS, "-1*2^-46" },
    { "plain", E4M3, 1.5, 1, 32, BITCUT_SCALING_PROMOTED, 1 + 0x1p-23, 1, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_PROMOTION, "1*2^-24" },
    { "plain", E4M3, 1.5, 1, 32, BITCUT_SCALING_PROMOTED_APART, 1 + 0x1p-23, 1, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_FACTORS, "1*2^-24" },
    { "plain", E4M3, 1.5, 1, 32, BITCUT_SCALING_PROMOTED_TURNS, 1 + 0x1p-23, 1, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_FACTORS, "1*2^-24" },
    { "plain", E4M3, 1.5, 1, 32, BITCUT_SCALING_PROMOTED_TURNS, 1, 1 + 0x1p-23, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_PROMOTION, "1*2^-24" },
    { "plain", E4M3, 1.5, 1, 32, BITCUT_SCALING_PROMOTED_TURNS_B, 1, 1 + 0x1p-23, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_FACTORS, "1*2^-24" },
    { "fp32", "fma/f32", 1 + 0x1p-23, 1, 1, BITCUT_SCALING_OPERAND, 1 + 0x1p-23, 1, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_FACTORS, "-1*2^-46" },
    { "fp32", "fma/f32", 1, 1 + 0x1p-23, 1, BITCUT_SCALING_OPERAND, 1, -1 - 0x1p-23, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_FACTORS, "1*2^-46" },
    { "fp32", "fma/f32", 1 + 0x1p-23, 1, 1, BITCUT_SCALING_EPILOGUE, 1 + 0x1p-23, 1, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_EPILOGUE, "-1*2^-46" },
    /* scales of a unit, 1.125 and 3, are exact */
    { "plain", NVF4, 1.5, -3, 64, BITCUT_SCALING_UNIT, 1.125, 3, 0, 0, 0, 0, 0, "fused", 1, FORMAT_F32, BUDGET_PARTS, NULL },
    /* an accumulator of f16 rounds C and the bias; a slice does not */
    { "plain", HALF, 0, 0, 16, 0, 0, 0, BITCUT_START_BIAS, 0, 0, 1 + 0x1p-12, 0, "fused", 1, FORMAT_F32, BUDGET_START, "-1*2^-12" },
    { "plain", HALF, 0, 0, 0, 0, 0, 0, BITCUT_START_BIAS, 0, 0, 1 + 0x1p-12, 0, "fused", 1, FORMAT_F32, BUDGET_START, "-1*2^-12" },
    { "plain", HALF, 0, 0, 0, 0, 0, 0, BITCUT_START_SLICE_BIAS, 0, 0, 1 + 0x1p-12, 0, "fused", 1, FORMAT_F32, BUDGET_PARTS, NULL },
    { "plain", HALF, 0, 0, 16, 0, 0, 0, BITCUT_START_SLICE_BIAS, 0, 0, 1 + 0x1p-12, 0, "fused", 1, FORMAT_F32, BUDGET_PARTS, NULL },
    { "plain", HOPPER, 1, 1, 16, 0, 0, 0, BITCUT_START_SLICE_BIAS, 0, 0, 0x1p-30, 0, "fused", 1, FORMAT_F32, BUDGET_START, "-1*2^-30" },
    { "plain", HOPPER, 1, 1, 32, 0, 0, 0, BITCUT_START_SLICE_C, 1 + 0x1p-23, 1 + 0x1p-23, 0, 2, "fused", 1, FORMAT_F32, BUDGET_START, "-1*2^-46" },
    { "fp32", "fma/f32", 0, 0, 1, 0, 0, 0, BITCUT_START_C, 1 + 0x1p-23, 1 + 0x1p-23, 0, 0, "fused", 1, FORMAT_F32, BUDGET_START, "-1*2^-46" },
    /* steps: of errors in FP32, and in the format of D by a step and at the end */
    { "fp32", "fma/f32", 1, 1, 1, 0, 0, 0, 0, 0, 0, 0x1p-30, 0, "fused+relu", 1, FORMAT_F32, BUDGET_EPILOGUE, "-1*2^-30" },
    { "fp32", "fma/f32", 1 + 0x1p-12, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, "round", 1, FORMAT_F16, BUDGET_RESULT, "-1*2^-12" },
    { "fp32", "fma/f32", 1 + 0x1p-12, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, "round+scale-d", -4, FORMAT_F16, BUDGET_RESULT, "1*2^-10" },
    { "fp32", "fma/f32", 1 + 0x1p-12, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, "relu", 1, FORMAT_F16, BUDGET_RESULT, "-1*2^-12" },
    /* limits remove errors: of a negative value, and of one beyond the largest */
    { "plain", HOPPER, -1 - 0x1p-12, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, "relu", 1, FORMAT_F32, BUDGET_PARTS, NULL },
    { "plain", HOPPER, 1 + 0x1p-12, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, "relu", 1, FORMAT_F32, BUDGET_REPRESENTATION, "-1*2^-12" },
    { "fp32", "fma/f32", 70000, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, "saturate", 1, FORMAT_F16, BUDGET_PARTS, NULL },
    /* values far below every format: 2^-1490 */
    { "fp32", "fma/f32", 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, "scale-d+scale-d+scale-d+scale-d+scale-d+scale-d+scale-d+scale-d+scale-d+scale-d", 0x1p-149, FORMAT_F32, BUDGET_EPILOGUE, "-1*2^-1490" },
    /* clang-format on */
};

static void extended_check(size_t i)
{
    uint32_t a[K_MAX] = { 0 }, b[K_MAX] = { 0 };
    const uint32_t factor_a = f32_of(extended[i].scale_a),
                   factor_b = f32_of(extended[i].scale_b);
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find(extended[i].recipe),
                bitcut_unit_find(extended[i].unit, NULL));
    struct gemm_plan plan;
    struct budget_output out;
    const bool scaled = extended[i].scale_a != 0;
    ck_assert_ptr_nonnull(g.unit);
    ck_assert(epilogue_read(g.epilogue, extended[i].epilogue));
    if (!strcmp(extended[i].epilogue, "fused")) memset(g.epilogue, 0, sizeof g.epilogue);
    g.scaling = extended[i].scaling;
    g.start = extended[i].start;
    if (g.scaling >= BITCUT_SCALING_PROMOTED) g.promote = 1;
    g.beta = f32_of(extended[i].beta);
    g.scale_d = f32_of(extended[i].scale_d);
    g.d.format = &formats[extended[i].d];
    g.order.slices = extended[i].slices;
    const uint32_t bias = f32_of(extended[i].bias), c = f32_of(extended[i].c);
    if (bias) g.bias.at = &bias;
    if (scaled) {
        const size_t depth = g.unit->scale ? (size_t)g.unit->scale_block : 0;
        g.scale_a = g.scale_b = (struct bitcut_scales){
            { .at = &factor_a, .format = g.unit->scale }, 1, depth
        };
    }
    struct fault f;
    const enum bitcut_status status = gemm_plan_on_unit(&plan, &g, &f);
    ck_assert_msg(status == BITCUT_OK, "row %zu: %s", i, f.text);
    a[0] = f32_of(extended[i].a), b[0] = f32_of(extended[i].b);
    /* each block of k has the same factor */
    const struct line_factors factors_a = { scaled ? &factor_a : NULL, 0, 0 },
                              factors_b = { scaled ? &factor_b : NULL, 0, 0 };
    const uint32_t blocks_a[4] = { factor_a, factor_a, factor_a, factor_a },
                   blocks_b[4] = { factor_b, factor_b, factor_b, factor_b };
    struct budget_lines x = { .a = a,
                              .b = b,
                              .k = extended[i].k,
                              .c = c,
                              .bias = bias,
                              .factors_a = factors_a,
                              .factors_b = factors_b };
    if (g.unit->scale) {
        x.factors_a = (struct line_factors){ blocks_a, 1, (size_t)g.unit->scale_block };
        x.factors_b = (struct line_factors){ blocks_b, 1, (size_t)g.unit->scale_block };
    }
    ck_assert_int_eq(budget_one(&out, &g, &plan, &x, true, NULL), BITCUT_OK);
    ck_assert_msg(!out.event.what, "row %zu: %s", i, out.event.what);
    for (int p = 0; p < BUDGET_PARTS; p++) {
        const char *want = p == (int)extended[i].part ? extended[i].exact : "0*2^0";
        ck_assert_msg(!strcmp(out.exact[p], want), "row %zu, %s: %s, not %s", i,
                      budget_rows[p].name, out.exact[p], want);
    }
    budget_clear(&out);
}

START_TEST(extended_by_hand)
{
    for (size_t i = 0; i < sizeof extended / sizeof extended[0]; i++) extended_check(i);
}
END_TEST

/* --- outputs that have no sum ------------------------------------------------------- */

static const struct {
    const char *recipe, *unit;
    double a, b;
    size_t at;
    int term;
    size_t instructions;
    const char *what;
} lost[] = {
    { "plain", HOPPER, INFINITY, 1, 3, -1, 0, "an input is infinite or NaN" },
    { "plain", HOPPER, 1e6, 1, 35, 0, 2, "a part is infinite or NaN" },
    { "ootomo", HOPPER, 1e6, 1, 20, 0, 3, "a part is infinite or NaN" },
    { "fp32", "fma/f32", 1e30, 1e30, 7, 0, 7, "an accumulator overflows" },
};

START_TEST(first_events)
{
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        uint32_t a[K_MAX] = { 0 }, b[K_MAX] = { 0 };
        struct bitcut_gemm g = gemm_of(bitcut_recipe_find(lost[i].recipe),
                                       bitcut_unit_find(lost[i].unit, NULL));
        struct gemm_plan plan;
        struct budget_output out;
        ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
        a[lost[i].at] = f32_of(lost[i].a), b[lost[i].at] = f32_of(lost[i].b);
        const struct budget_lines x = { .a = a, .b = b, .k = 48 };
        ck_assert_int_eq(budget_one(&out, &g, &plan, &x, true, NULL), BITCUT_OK);
        ck_assert_str_eq(out.event.what, lost[i].what);
        ck_assert_int_eq(out.event.term, lost[i].term);
        ck_assert_uint_eq(out.event.at, lost[i].instructions);
        ck_assert_ptr_null(out.exact[0]);
        budget_clear(&out);
    }
}
END_TEST

/* --- parts that add up -------------------------------------------------------------- */

static void add_product(mpq_t to, uint32_t a, uint32_t b)
{
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    mpq_set_d(x, value_of_float(a));
    mpq_set_d(y, value_of_float(b));
    mpq_mul(x, x, y);
    mpq_add(to, to, x);
    mpq_clears(x, y, NULL);
}

/* D less alpha A B + beta C. */
static void error_of(mpq_t to, uint32_t d, const struct bitcut_gemm *g,
                     const struct budget_lines *x)
{
    mpq_t alpha;
    mpq_init(alpha);
    mpq_set_ui(to, 0, 1);
    for (size_t p = 0; p < x->k; p++) add_product(to, x->a[p], x->b[p]);
    mpq_set_d(alpha, -value_of_float(g->alpha));
    mpq_mul(to, to, alpha);
    add_product(to, d, F32_ONE);
    add_product(to, g->beta ^ 0x80000000, x->c);
    mpq_clear(alpha);
}

/* |A||B| is that which metrics divide by, to the bit. */
static void size_check(const struct budget_output *out, const struct bitcut_gemm *g,
                       const struct budget_lines *x)
{
    const struct exact_update update = { g->alpha, g->beta, &x->c };
    const struct exact_options options = { .threads = 1, .update = &update };
    double size;
    ck_assert_int_eq(
        exact_gemm(NULL, NULL, &size, NULL, &options, 1, 1, x->k, x->a, x->b, NULL),
        BITCUT_OK);
    ck_assert_double_eq(out->size, size);
}

static void sum_check(const struct bitcut_gemm *g, const struct gemm_plan *plan,
                      const struct budget_lines *x)
{
    struct budget_output out;
    struct bitcut_gemm one = *g;
    mpq_t sum, error;
    uint32_t d;
    mpq_inits(sum, error, NULL);
    ck_assert_int_eq(budget_one(&out, g, plan, x, true, NULL), BITCUT_OK);
    gemm_set_dense(&one, &d, 1, 1, x->k, x->a, x->b, &x->c);
    if (x->kept) {
        one.sparsity = BITCUT_SPARSE_A;
        one.positions =
            (struct bitcut_matrix){ .at = x->kept, .format = &formats[FORMAT_U8] };
    }
    ck_assert_int_eq(
        gemm_run_plan(&one, plan, &(struct gemm_options){ .threads = 1 }, NULL),
        BITCUT_OK);
    ck_assert_uint_eq(out.d, d);
    size_check(&out, g, x);
    double rounding = 0;
    for (int i = 0; i < BUDGET_PARTS && !out.event.what; i++) add_text(sum, out.exact[i]);
    for (int i = BUDGET_ALIGNMENT; i < BUDGET_PARTS; i++) rounding += out.part[i];
    ck_assert_msg(fabs(rounding) <= out.drift, "%s on %s: rounding moved D by %g of %g",
                  plan->recipe->name, g->unit->name, rounding, out.drift);
    if (!out.event.what) error_of(error, d, g, x);
    ck_assert_msg(mpq_equal(sum, error), "%s on %s: parts do not add up",
                  plan->recipe->name, g->unit->name);
    mpq_clears(sum, error, NULL);
    budget_clear(&out);
}

static void order_draw(struct bitcut_gemm *g, uint64_t *rng)
{
    g->order = (struct bitcut_order){
        .slices = test_between(rng, 1, 3),
        .lanes = test_between(rng, 1, 3),
        .reduction = (enum bitcut_reduction)test_between(rng, 0, 3),
        .partial_format = test_between(rng, 0, 5) ? NULL : &formats[FORMAT_BF16],
        .partial_store = test_between(rng, 0, 1),
        .unroll = test_between(rng, 0, 1) * test_between(rng, 1, 12),
        .remainder_in_lane = test_between(rng, 0, 2) == 0,
    };
    struct gemm_plan plan;
    if (gemm_plan_on_unit(&plan, g, NULL) != BITCUT_OK) g->order.unroll = 0;
    g->equilibrate = test_between(rng, 0, 3) == 0;
    if (test_between(rng, 0, 2) == 0) g->promote = test_between(rng, 0, 3);
    if (test_between(rng, 0, 1)) return;
    g->alpha = (uint32_t)test_between(rng, 0x3f000000, 0x40800000);
    g->beta = (uint32_t)test_between(rng, 0x3f000000, 0x40800000) | 0x80000000;
}

/* Elements of magnitude up to 1 and so many binades below. */
static void line_draw(uint32_t *to, size_t k, int binades, uint64_t *rng)
{
    for (size_t i = 0; i < k; i++)
        to[i] = f32_of(
            ldexp((double)(int64_t)test_bits(rng), -63 - test_between(rng, 0, binades)));
}

static void pair_check(const struct bitcut_recipe *r, const struct bitcut_unit *u,
                       uint64_t *rng)
{
    uint32_t a[K_MAX], b[K_MAX];
    struct gemm_plan plan;
    struct bitcut_gemm g = gemm_of(r, u);
    if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) return;
    order_draw(&g, rng);
    if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) return;
    const size_t k = (size_t)test_between(rng, 1, K_MAX);
    const int binades = test_between(rng, 0, 2) ? 3 : 50;
    line_draw(a, k, binades, rng);
    line_draw(b, k, binades, rng);
    const struct budget_lines x = { .a = a, .b = b, .k = k, .c = f32_of(0.7) };
    sum_check(&g, &plan, &x);
}

START_TEST(parts_add_up)
{
    uint64_t rng = test_seed();
    for (int n = 0; n < test_cases(2, 40); n++)
        for (const struct bitcut_recipe *r = recipes; r->name; r++)
            for (const struct bitcut_unit *u = units; u->name; u++)
                pair_check(r, u, &rng);
}
END_TEST

/* --- a sparse A --------------------------------------------------------------------- */

/* A row with two kept elements of each four, and a column that is infinite, NaN or 0 where
   nothing is kept. */
static void sparse_draw(uint8_t *kept, uint32_t *a, uint32_t *b, size_t k, bool finite,
                        uint64_t *rng)
{
    const uint32_t other[] = { 0x7f800000, 0x7fc00000, 0, 0x40490fdb };
    for (size_t four = 0; four < k / 4; four++) {
        const int first = test_between(rng, 0, 2), second = test_between(rng, first + 1, 3);
        kept[2 * four] = (uint8_t)first;
        kept[2 * four + 1] = (uint8_t)second;
        for (int p = 0; p < 4; p++) {
            if (p == first || p == second) continue;
            a[4 * four + (size_t)p] = 0;
            if (!finite) b[4 * four + (size_t)p] = other[test_between(rng, 0, 3)];
        }
    }
}

/* The kept elements alone, as a GEMM of half the k. */
static void same_as_compressed(const struct bitcut_gemm *g, const struct gemm_plan *plan,
                               const struct budget_lines *x)
{
    uint32_t a[K_MAX], b[K_MAX];
    struct budget_output sparse, dense;
    struct budget_lines half = *x;
    half.a = a, half.b = b, half.k = x->k / 2, half.kept = NULL;
    for (size_t p = 0; p < half.k; p++) {
        const size_t k = p / 2 * 4 + x->kept[p];
        a[p] = x->a[k], b[p] = x->b[k];
    }
    ck_assert_int_eq(budget_one(&sparse, g, plan, x, true, NULL), BITCUT_OK);
    ck_assert_int_eq(budget_one(&dense, g, plan, &half, true, NULL), BITCUT_OK);
    ck_assert_ptr_eq(sparse.event.what, dense.event.what);
    ck_assert_uint_eq(sparse.d, dense.d);
    ck_assert_double_eq(sparse.size, dense.size);
    ck_assert(sparse.drift == dense.drift || sparse.event.what);
    for (int i = 0; i < BUDGET_PARTS && !sparse.event.what; i++)
        ck_assert_str_eq(sparse.exact[i], dense.exact[i]);
    budget_clear(&sparse);
    budget_clear(&dense);
}

/* A recipe with one part multiplies what the account has, random bits included. */
static void nothing_dropped(const struct bitcut_gemm *g, const struct gemm_plan *plan,
                            const struct budget_lines *x)
{
    struct budget_output out;
    ck_assert_int_eq(budget_one(&out, g, plan, x, true, NULL), BITCUT_OK);
    if (!out.event.what) ck_assert_str_eq(out.exact[BUDGET_DROPPED], "0*2^0");
    budget_clear(&out);
}

static void sparse_check(const struct bitcut_recipe *r, const struct bitcut_unit *u,
                         uint64_t *rng)
{
    uint32_t a[K_MAX], b[K_MAX];
    uint8_t kept[K_MAX / 2];
    struct gemm_plan plan;
    struct bitcut_gemm g = gemm_of(r, u);
    if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) return;
    order_draw(&g, rng);
    const bool random = test_between(rng, 0, 3) == 0, half = test_between(rng, 0, 1);
    if (random) g.high = bitcut_rounding_find("sr");
    if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) return;
    const size_t k = 4 * (size_t)test_between(rng, 1, K_MAX / 4);
    line_draw(a, k, 9, rng);
    line_draw(b, k, 9, rng);
    sparse_draw(kept, a, b, k, !half, rng);
    const struct budget_lines x = {
        .a = a, .b = b, .k = k, .c = f32_of(0.7), .kept = kept
    };
    /* B is equilibrated, and its random bits are drawn, as a whole */
    if (half && !plan.equilibrate && !random) same_as_compressed(&g, &plan, &x);
    if (!half) sum_check(&g, &plan, &x);
    if (!half && plan.split_a.parts == 1 && plan.split_b.parts == 1)
        nothing_dropped(&g, &plan, &x);
}

START_TEST(sparse_parts)
{
    uint64_t rng = test_seed();
    for (int n = 0; n < test_cases(2, 20); n++)
        for (const struct bitcut_recipe *r = recipes; r->name; r++)
            for (const struct bitcut_unit *u = units; u->name; u++)
                sparse_check(r, u, &rng);
}
END_TEST

/* --- statistics --------------------------------------------------------------------- */

enum { M = 7, N = 9, DEPTH = 40 };

/* The mean, the root mean square and the most of a part, from the outputs one by one. */
static void statistics_check(const struct budget_summary *got,
                             const struct bitcut_gemm *g, const struct gemm_plan *plan,
                             const struct budget_matrices *x, int part)
{
    double sum = 0, squares = 0, most = 0;
    for (size_t at = 0; at < M * N; at++) {
        struct budget_output out;
        ck_assert_int_eq(budget_at(&out, g, plan, x, at / N, at % N, NULL), BITCUT_OK);
        const double v =
            (part < BUDGET_PARTS ? out.part[part] : out.error) / (out.size * 0x1p-24);
        sum += v;
        squares += v * v;
        if (fabs(v) > most) most = fabs(v);
        if (part == BUDGET_PARTS && at == got->worst)
            ck_assert_double_eq(fabs(v), got->part[part][BUDGET_U].most);
        budget_clear(&out);
    }
    const struct budget_statistics *s = &got->part[part][BUDGET_U];
    ck_assert_double_eq(s->mean, sum / (M * N));
    ck_assert_double_eq(s->rms, sqrt(squares / (M * N)));
    ck_assert_double_eq(s->most, most);
}

START_TEST(statistics)
{
    uint64_t rng = test_seed();
    uint32_t a[M * DEPTH], b[DEPTH * N], c[M * N];
    struct budget_summary one, three;
    struct gemm_plan plan;
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find("ootomo"), bitcut_unit_find(HOPPER, NULL));
    g.beta = f32_of(0.5);
    line_draw(a, M * DEPTH, 8, &rng);
    line_draw(b, DEPTH * N, 8, &rng);
    line_draw(c, M * N, 8, &rng);
    const struct budget_matrices x = { a, b, c, M, N, DEPTH, NULL, NULL };
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(budget_gemm(&one, &g, &plan, &x, 1, NULL, NULL), BITCUT_OK);
    ck_assert_int_eq(budget_gemm(&three, &g, &plan, &x, 3, NULL, NULL), BITCUT_OK);
    ck_assert_mem_eq(&one, &three, sizeof one);
    ck_assert_uint_eq(one.outputs, M * N);
    ck_assert_uint_eq(one.without, 0);
    for (int part = 0; part <= BUDGET_PARTS; part++)
        statistics_check(&one, &g, &plan, &x, part);
    a[2 * DEPTH] = f32_of(1e6);
    ck_assert_int_eq(budget_gemm(&one, &g, &plan, &x, 2, NULL, NULL), BITCUT_OK);
    ck_assert_uint_eq(one.without, N);
    ck_assert_uint_eq(one.first, 2 * N);
    ck_assert_str_eq(one.event.what, "a part is infinite or NaN");
}
END_TEST

TEST_MAIN("budget", parts_by_hand, extended_by_hand, first_events, parts_add_up,
          sparse_parts, statistics)
