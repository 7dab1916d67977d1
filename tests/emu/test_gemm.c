/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs compared with an independent definition (tests/emu/gemm_problem.h), and
   with results computed by hand. */
#include "lib/number/bits.h"
#include "tests/emu/gemm_problem.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

/* --- recipes on units -------------------------------------------------------------- */

/* Units of every kind of summation, and the formats of the parts that they can multiply
   beside their own; f16+8 are high parts of f16 and others of e4m3, f16+s8
   others of integers. */
static const struct {
    const char *name, *formats;
} unit_rows[] = {
    { "ideal/rn25", "f16" },
    { "ideal/rz25", "f16" },
    { "ootomo/mma_rn", "f16" },
    { "fma/f32", "f32 f16 bf16 tf32 f16+8 f16+s8" },
    { "fma/f32.f16", "f16" },
    { "fma/f16", "f16" },
    { "fma/bf16", "bf16" },
    { "mul-add/f32", "f32 f16 bf16 tf32 f16+8 f16+s8" },
    { "mul-add/f32.bf16", "bf16" },
    { "mul-add/f16", "f16" },
    { "mul-add/bf16", "bf16" },
    { "volta/mma.m8n8k4.f32.f16", "f16" },
    { "ampere/mma.m16n8k16.f32.f16", "f16 f16+s8" },
    { "ampere/mma.m16n8k8.f32.tf32", "tf32 f16 bf16 f16+8 f16+s8" },
    { "ada/mma.m16n8k32.f32.e4m3", "" },
    { "ada/mma.m16n8k16.f32.f16", "f16 f16+8 f16+s8" },
    { "hopper/mma.m16n8k16.f32.f16", "f16 f16+8 f16+s8" },
    { "hopper/mma.m16n8k8.f32.f16", "f16 f16+8 f16+s8" },
    { "hopper/mma.m16n8k16.f16.f16", "f16 f16+8" },
    { "hopper/wgmma.m64n8k16.f32.f16", "f16 f16+8 f16+s8" },
    { "hopper/mma.m16n8k16.f32.bf16", "bf16" },
    { "hopper/mma.m16n8k4.f32.tf32", "tf32 f16 bf16 f16+8 f16+s8" },
    { "hopper/mma.m16n8k32.f32.e5m2", "" },
    { "hopper/mma.m16n8k32.f16.e4m3", "" },
    { "blackwell/tcgen05.m128n8k32.f32.e2m1", "" },
    { "cdna1/mfma.32x32x8.f32.f16", "f16" },
    { "cdna1/mfma.16x16x8.f32.bf16", "bf16" },
    { "cdna1/mfma.32x32x2.f32.f32", "f32 f16 bf16 tf32 f16+8 f16+s8" },
    { "cdna2/mfma.16x16x16.f32.f16", "f16" },
    { "cdna2/mfma.32x32x4.f32.bf16", "bf16" },
    { "cdna3/mfma.32x32x8.f32.f16", "f16" },
    { "cdna3/mfma.16x16x8.f32.xf32", "tf32 f16 bf16 f16+8 f16+s8" },
    { "cdna3/mfma.32x32x16.f32.bf8.bf8", "" },
    { "hopper/mma.m16n8k32.f32.e5m2.e4m3", "" },
    { "hopper/mma.m16n8k16.f16.e4m3.e5m2", "" },
    { "hopper/wgmma.m64n8k32.f32.e4m3.e5m2", "" },
    { "cdna3/mfma.16x16x32.f32.fp8.bf8", "" },
    { "neon-fp8/fdot.m1n4k4.f32.e5m2.e4m3", "" },
};

enum { UNITS = sizeof unit_rows / sizeof unit_rows[0] };

/* Whether `name` is one of the parts of `list`. */
static bool is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    while (*list) {
        const size_t length = strcspn(list, " ");
        if (length == n && !strncmp(list, name, n)) return true;
        list += length + (list[length] == ' ');
    }
    return false;
}

/* The recipes, and the format of their parts: the unit's own if NULL. */
static const struct {
    const char *name, *format;
} recipe_rows[] = {
    { "plain", NULL },    { "markidis", "f16" }, { "feng", "f16" },
    { "ootomo", "f16" },  { "legemm", "f16" },   { "ootomo-tf32", "tf32" },
    { "tf32x3", "tf32" }, { "fp32", "f32" },     { "bf16x3", "bf16" },
    { "bf16x6", "bf16" }, { "bf16x9", "bf16" },
    { "cublas-tf32", "tf32" },     { "cutlass-tf32x3", "tf32" },
    { "triton-tf32x3", "tf32" },   { "cutlass-sm100-bf16x9", "bf16" },
    { "triton-bf16x3", "bf16" },   { "triton-bf16x6", "bf16" },
    { "xla-bf16x3", "bf16" },      { "xla-bf16x6", "bf16" },
    { "xla-bf16x9", "bf16" },      { "half-fp8", "f16+8" },
    { "half-int8", "f16+s8" },
};

enum { RECIPES = sizeof recipe_rows / sizeof recipe_rows[0] };

/* Lanes in another order, up to the most that can be listed. */
static void lane_order_draw(struct bitcut_order *o, uint64_t *rng)
{
    if (!test_between(rng, 0, 3)) o->lanes = test_between(rng, 6, BITCUT_LANE_ORDER_MAX);
    for (int i = 0; i < o->lanes; i++) o->lane_order[i] = (unsigned char)i;
    for (int i = o->lanes - 1; i > 0; i--) {
        const int j = test_between(rng, 0, i);
        const unsigned char kept = o->lane_order[i];
        o->lane_order[i] = o->lane_order[j];
        o->lane_order[j] = kept;
    }
}

static void order_draw(struct bitcut_order *o, uint64_t *rng)
{
    static const int slices[] = { 1, 1, 2, 3, 7 }, parts[] = { 0, 0, 1, 8, 20, 32 },
                     sums[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32, FORMAT_F32 };
    o->slices = slices[test_between(rng, 0, 4)];
    if (test_between(rng, 0, 1)) return;
    o->tile = parts[test_between(rng, 0, 5)];
    o->partial_first = test_between(rng, 0, 1);
    o->cut = parts[test_between(rng, 0, 5)];
    o->balance_tail = parts[test_between(rng, 0, 5)];
    o->lanes = test_between(rng, 1, 5);
    o->chunk = parts[test_between(rng, 0, 5)];
    o->reduction = (enum bitcut_reduction)test_between(rng, 0, 3);
    o->partial_format = test_between(rng, 0, 1) ? NULL : &formats[sums[test_between(rng, 0, 3)]];
    o->partial_store = test_between(rng, 0, 1);
    o->slices_ascending = !test_between(rng, 0, 2);
    if (!test_between(rng, 0, 3)) lane_order_draw(o, rng);
    if (test_between(rng, 0, 1)) return;
    o->unroll = parts[test_between(rng, 0, 5)];
    o->partial_first &= !o->unroll || o->lanes == 1;
    o->remainder_in_lane = !test_between(rng, 0, 2);
    if (o->remainder_in_lane || test_between(rng, 0, 1)) return;
    o->lanes = 1 << test_between(rng, 1, 3);
    o->narrow = 1 << test_between(rng, 0, 2);
    o->chunk = test_between(rng, 0, 1) ? 0 : test_between(rng, 1, 20);
    o->unroll = test_between(rng, 1, 160);
    o->narrow_apart = test_between(rng, 0, 1);
    o->partial_first = false;
    memset(o->lane_order, 0, sizeof o->lane_order);
    if (test_between(rng, 0, 1)) lane_order_draw(o, rng);
}

/* Another split for one side, if the recipe and the unit take it. */
static void side_draw(struct asked *g, struct bitcut_split *side, uint64_t *rng)
{
    const struct bitcut_split own = *side;
    int count = 0;
    while (splits[count].name) count++;
    *side = splits[test_between(rng, 0, count - 1)];
    if (asked_check(g, NULL) != BITCUT_OK) *side = own;
}

static void options_draw(struct asked *g, uint64_t *rng)
{
    static const int promotes[] = { 0, 1, 2, 3 };
    static const int tiles[] = { 1, 8, 20, 32 };
    const struct asked row = *g;
    static const struct {
        uint32_t alpha, beta;
    } scalars[] = {
        { ONE, 0 },
        { 0xbfc00000, 0x3f400000 },
        { 0, ONE },
        { ONE, SIGN },
        { (uint32_t)SIGN, ONE },
        { INFINITE, 0x3f000000 },
        { 1, 0x40400000 },
        { 0x7f000000, 0x80000001 },
        { 0x40400000, 0xbf800000 },
        { ONE, A_NAN },
        { A_NAN, 0 },
        { 0x3fc00000, INFINITE },
    };
    if (test_between(rng, 0, 2)) {
        const bool two_parts = g->split_a.parts == 2 || g->split_a.part[2].copy;
        g->dropped_term = two_parts && test_between(rng, 0, 1);
        g->promote = promotes[test_between(rng, 0, 3)];
        order_draw(&g->order, rng);
        if (test_between(rng, 0, 1)) g->tile_k = tiles[test_between(rng, 0, 3)];
        if (asked_check(g, NULL) != BITCUT_OK) g->order.narrow = 0;
        if (asked_check(g, NULL) != BITCUT_OK) g->order.unroll = 0;
        if (asked_check(g, NULL) != BITCUT_OK) g->promote = row.promote;
        if (!test_between(rng, 0, 2)) side_draw(g, &g->split_a, rng);
        if (!test_between(rng, 0, 2)) side_draw(g, &g->split_b, rng);
    }
    if (!test_between(rng, 0, 3)) {
        static const int rules[] = { ROUND_SR, ROUND_SR, ROUND_SR,  ROUND_RN, ROUND_RNA,
                                     ROUND_RZ, ROUND_RU, ROUND_RD, ROUND_ODD };
        g->sum_rounding = &roundings[rules[test_between(rng, 0, 8)]];
        g->round_seed = test_between(rng, 0, 3);
    }
    g->equilibrate = test_between(rng, 0, 1);
    if (asked_check(g, NULL) != BITCUT_OK) g->equilibrate = false;
    const int i = test_between(rng, 0, sizeof scalars / sizeof scalars[0] - 1);
    g->alpha = scalars[i].alpha;
    g->beta = scalars[i].beta;
    g->threads =
        test_between(rng, 0, 99) ? 1 : test_between(rng, 2, 3); /* they spin long */
}

/* --- epilogues, factors and starts ------------------------------------------------- */

static const uint32_t scalars_of_d[] = { ONE,        0x3f400000, 0xc0490fdb, 0x7f000000,
                                         0x00000005, INFINITE,   A_NAN };

static uint32_t scalar_draw(uint64_t *rng)
{
    return scalars_of_d[test_between(rng, 0, 6)];
}

/* Factors of lines and blocks of k.  The blocks of an instruction are its own; at
   promotions and in the epilogue they consist of k-steps, or all k have one. */
static struct asked_factors factors_draw(const struct asked *g, size_t step,
                                         uint64_t *rng)
{
    static const size_t lines[] = { 0, 1, 2, 16 };
    struct asked_factors x = { .there = true, .lines = lines[test_between(rng, 0, 3)] };
    if (g->scaling == BITCUT_SCALING_UNIT)
        return (struct asked_factors){ true, 1, (size_t)g->unit->scale_block };
    if (g->scaling == BITCUT_SCALING_OPERAND) x.depth = (size_t)test_between(rng, 0, 9);
    if (g->scaling >= BITCUT_SCALING_PROMOTED)
        x.depth = (size_t)test_between(rng, 0, 2) * step;
    return x;
}

/* Where factors can be applied for this recipe on this unit. */
static void scaling_draw(struct asked *g, uint64_t *rng)
{
    const struct asked before = *g;
    struct bitcut_gemm x = asked_given(g);
    struct gemm_plan plan = { .k_step = g->unit->k };
    if (!g->unit->scale)
        ck_assert_int_eq(gemm_plan_on_unit(&plan, &x, NULL), BITCUT_OK);
    g->scaling = BITCUT_SCALING_UNIT;
    if (!g->unit->scale) g->scaling = (enum bitcut_scaling)test_between(rng, 0, 6);
    if (!g->unit->scale && g->scaling == BITCUT_SCALING_UNIT) g->scaling = 0;
    if (g->scaling >= BITCUT_SCALING_UNIT)
        g->order = (struct bitcut_order){ .slices = 1, .lanes = 1 };
    g->scale_a = factors_draw(g, (size_t)plan.k_step, rng);
    if (g->scaling != BITCUT_SCALING_UNIT && test_between(rng, 0, 3) == 0)
        g->scale_a.there = false;
    else g->scale_b = factors_draw(g, (size_t)plan.k_step, rng);
    if (g->scaling == BITCUT_SCALING_UNIT) g->scale_b = g->scale_a;
    if (!g->scale_a.there) g->scale_b = factors_draw(g, (size_t)plan.k_step, rng);
    x = asked_given(g);
    if (gemm_plan_on_unit(&plan, &x, NULL) != BITCUT_OK) *g = before;
    else g->tile_k = plan.tile_k;
}

static bool any_step(const struct asked *g, const int *steps)
{
    if (!*g->epilogue || memchr(g->epilogue, BITCUT_STEP_FUSED, sizeof g->epilogue))
        return true;
    while (*steps)
        if (memchr(g->epilogue, *steps++, sizeof g->epilogue)) return true;
    return false;
}

static void operands_drop(struct asked *g)
{
    static const int alpha[] = { BITCUT_STEP_ALPHA, BITCUT_STEP_ALPHA_C,
                                 BITCUT_STEP_SCALES_C, 0 },
                     c[] = { BITCUT_STEP_C,       BITCUT_STEP_ALPHA_C, BITCUT_STEP_SCALES_C,
                             BITCUT_STEP_C_APART, BITCUT_STEP_C_SHORT, 0 },
                     bias[] = { BITCUT_STEP_BIAS, 0 },
                     scale_a[] = { BITCUT_STEP_SCALES, BITCUT_STEP_SCALES_C,
                                   BITCUT_STEP_SCALE_A, 0 },
                     scale_b[] = { BITCUT_STEP_SCALES, BITCUT_STEP_SCALES_C,
                                   BITCUT_STEP_SCALE_B, 0 };
    const bool from_c = g->start == BITCUT_START_C || g->start == BITCUT_START_SLICE_C;
    if (!any_step(g, alpha)) g->alpha = ONE;
    if (!any_step(g, c) && !from_c) g->beta = 0;
    if (!any_step(g, bias) && (!g->start || from_c)) g->has_bias = false;
    if (!memchr(g->epilogue, BITCUT_STEP_SCALE_D, sizeof g->epilogue)) g->scale_d = ONE;
    if (!memchr(g->epilogue, BITCUT_STEP_CLAMP, sizeof g->epilogue))
        g->clamp_low = 0xff800000, g->clamp_high = INFINITE;
    if (g->scaling != BITCUT_SCALING_EPILOGUE) return;
    if (!any_step(g, scale_a)) g->scale_a.there = false;
    if (!any_step(g, scale_b)) g->scale_b.there = false;
}

/* Steps that have their operands.  Operands that none of them reads are taken away. */
static void steps_draw(struct asked *g, uint64_t *rng)
{
    int count = test_between(rng, 0, 2) ? test_between(rng, 1, 6) : 0;
    unsigned char *to = g->epilogue;
    const bool factors = g->scaling == BITCUT_SCALING_EPILOGUE;
    while (count-- > 0) {
        const int s = test_between(rng, BITCUT_STEP_FUSED, BITCUT_STEP_SATURATE);
        const bool lacks =
            (s == BITCUT_STEP_BIAS && !g->has_bias) ||
            (s == BITCUT_STEP_SCALE_A && !(factors && g->scale_a.there)) ||
            (s == BITCUT_STEP_SCALE_B && !(factors && g->scale_b.there)) ||
            ((s == BITCUT_STEP_SCALES || s == BITCUT_STEP_SCALES_C) &&
             !(factors && (g->scale_a.there || g->scale_b.there)));
        if (!lacks) *to++ = (unsigned char)s;
    }
    *to = BITCUT_STEP_END;
    operands_drop(g);
}

static void epilogue_draw(struct asked *g, uint64_t *rng)
{
    static const int results[] = { FORMAT_F16, FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2 };
    if (test_between(rng, 0, 1) && !g->unit->scale) scaling_draw(g, rng);
    g->has_bias = test_between(rng, 0, 1);
    g->bias_rows = test_between(rng, 0, 1);
    g->start = (enum bitcut_start)test_between(rng, 0, g->has_bias ? 4 : 1);
    if (test_between(rng, 0, 1)) g->start = 0;
    g->scale_d = scalar_draw(rng);
    g->clamp_low = test_between(rng, 0, 1) ? 0 : 0xbf800000;
    g->clamp_high = test_between(rng, 0, 1) ? 0x40c00000 : 0x80000000u;
    if (test_between(rng, 0, 2)) g->result = &formats[results[test_between(rng, 0, 3)]];
    steps_draw(g, rng);
}

/* Shapes and in how many classes of inputs each is computed. */
static const struct {
    struct shape shape;
    int classes;
} shapes[] = {
    { { 1, 1, 1 }, 8 * CLASSES }, { { 5, 3, 37 }, CLASSES }, { { 4, 2, 3 }, 2 * CLASSES },
    { { 17, 2, 33 }, 1 },         { { 2, 19, 33 }, 1 },      { { 3, 4, 0 }, 1 },
    { { 0, 3, 5 }, 1 },           { { 3, 0, 5 }, 1 },
};

static void check_shapes(const struct bitcut_recipe *recipe,
                         const struct bitcut_unit *unit, bool extended, uint64_t *rng)
{
    static struct problem p;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int count = test_cases(shapes[i].classes, 10 * shapes[i].classes);
        const int first = test_between(rng, 0, CLASSES - 1);
        for (int c = 0; c < count; c++) {
            const int class =
                shapes[i].classes == 1 ? 2 * test_between(rng, 0, 3) : first + c;
            struct asked g = asked_of(recipe, unit);
            if (unit->scale) scaling_draw(&g, rng);
            options_draw(&g, rng);
            if (unit->scale) g.order = (struct bitcut_order){ .slices = 1, .lanes = 1 };
            if (extended) epilogue_draw(&g, rng);
            ck_assert_int_eq(asked_check(&g, NULL), BITCUT_OK);
            gemm_problem_fill(&p, shapes[i].shape, &input_classes[class % CLASSES], rng);
            gemm_problem_check(&g, &p);
        }
    }
}

START_TEST(recipes_on_units)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        int row = 0, computed = 0;
        while (row < RECIPES && strcmp(recipe_rows[row].name, r->name) != 0) row++;
        ck_assert_msg(row < RECIPES, "recipe %s is not in the list of this test",
                      r->name);
        for (int i = 0; i < UNITS; i++) {
            const struct bitcut_unit *u = unit_find(unit_rows[i].name, NULL);
            const char *format = recipe_rows[row].format;
            ck_assert_msg(u != NULL, "no unit %s", unit_rows[i].name);
            const struct asked g = asked_of(r, u);
            const bool fits = !format || is_listed(unit_rows[i].formats, format);
            ck_assert_msg((asked_check(&g, NULL) == BITCUT_OK) == fits,
                          "%s on %s: should%s fit", r->name, u->name, fits ? "" : " not");
            if (fits && test_in_turn((int)(r - recipes), i))
                check_shapes(r, u, false, &rng);
            computed += fits;
        }
        ck_assert_int_gt(computed, 0);
    }
}
END_TEST

/* Epilogues, factors and starts for every recipe, on another unit each time, and for every
   unit with block scales. */
START_TEST(epilogues_on_units)
{
    uint64_t rng = test_seed() + 3;
    int row = 0;
    for (int turn = test_cases(1, 20); turn; turn--)
        for (const struct bitcut_recipe *r = recipes; r->name; r++) {
            const struct bitcut_unit *u;
            struct asked g;
            do {
                u = unit_find(unit_rows[row++ % UNITS].name, NULL);
                g = asked_of(r, u);
            } while (asked_check(&g, NULL) != BITCUT_OK);
            check_shapes(r, u, true, &rng);
        }
    for (const struct bitcut_unit *u = units; u->name; u++)
        if (u->scale && u->k <= LINE_LENGTH_MAX)
            check_shapes(&recipes[RECIPE_PLAIN], u, true, &rng);
}
END_TEST

/* A GEMM on scalar FP32 whose scalars, bias and factors have all their bits, with factors
   of each row and each column. */
static struct asked with_all_operands(uint64_t *rng)
{
    static const struct asked_factors each_line = { true, 1, 0 };
    struct asked g = asked_of(&recipes[RECIPE_PLAIN], unit_find("fma/f32", NULL));
    g.alpha = input_classes[0].fill(rng);
    g.beta = input_classes[0].fill(rng);
    g.scale_d = input_classes[0].fill(rng);
    g.clamp_low = 0xbf800000, g.clamp_high = ONE;
    g.scaling = BITCUT_SCALING_EPILOGUE;
    g.scale_a = g.scale_b = each_line;
    g.has_bias = true;
    return g;
}

/* Each step alone. */
START_TEST(single_steps)
{
    static struct problem p;
    uint64_t rng = test_seed() + 4;
    for (int s = BITCUT_STEP_FUSED; s <= BITCUT_STEP_SATURATE; s++)
        for (int i = test_cases(20, 100); i; i--) {
            struct asked g = with_all_operands(&rng);
            g.epilogue[0] = (unsigned char)s;
            operands_drop(&g);
            g.bias_rows = i & 1;
            g.result = i & 2 ? &formats[FORMAT_F16] : NULL;
            gemm_problem_fill(&p, (struct shape){ 3, 4, 2 }, &input_classes[0], &rng);
            gemm_problem_check(&g, &p);
        }
}
END_TEST

/* Each start with each reduction of slices and of lanes. */
START_TEST(starts_in_orders)
{
    static struct problem p;
    uint64_t rng = test_seed() + 5;
    for (int start = BITCUT_START_ZERO; start <= BITCUT_START_SLICE_BIAS; start++)
        for (int reduction = 0; reduction <= BITCUT_HALVES; reduction++)
            for (int i = test_cases(4, 20); i; i--) {
                struct asked g = with_all_operands(&rng);
                g.start = (enum bitcut_start)start;
                g.order.slices = 3;
                g.order.lanes = i & 1 ? 4 : 1;
                g.order.reduction = (enum bitcut_reduction)reduction;
                if (i & 2) lane_order_draw(&g.order, &rng);
                operands_drop(&g);
                gemm_problem_fill(&p, (struct shape){ 3, 4, 37 }, &input_classes[0], &rng);
                gemm_problem_check(&g, &p);
            }
}
END_TEST

/* Starts from C on every unit with every class of values, with C of any class: tiny and
   large C, zeros of both signs, NaN. */
START_TEST(starts_on_units)
{
    static struct problem p;
    uint64_t rng = test_seed() + 6;
    int at = 0;
    for (const struct bitcut_unit *u = units; u->name; u++, at++)
        for (int class = 0; class < CLASSES; class ++) {
            struct asked g = asked_of(&recipes[RECIPE_PLAIN], u);
            g.start = BITCUT_START_C;
            g.beta = ONE;
            if (format_is_integer(u->a) || u->scale || !test_in_turn(at, class) ||
                asked_check(&g, NULL) != BITCUT_OK)
                continue;
            const struct shape shape = { 5, 7,
                                         (size_t)test_between(&rng, 1, LINE_LENGTH_MAX) };
            gemm_problem_fill(&p, shape, &input_classes[class], &rng);
            for (size_t i = 0; i < p.m * p.ldc; i++)
                p.c[i] =
                    test_between(&rng, 0, 2)
                        ? p.c[i]
                        : input_classes[test_between(&rng, 0, CLASSES - 1)].fill(&rng);
            gemm_problem_check(&g, &p);
        }
}
END_TEST

/* Tiles that the edges cut in both directions. */
START_TEST(tile_edges)
{
    static struct problem p;
    uint64_t rng = test_seed() + 1;
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        struct asked g = asked_of(r, unit_find("cdna1/mfma.32x32x2.f32.f32", NULL));
        options_draw(&g, &rng);
        gemm_problem_fill(&p, (struct shape){ 17, 19, 33 }, &input_classes[0], &rng);
        gemm_problem_check(&g, &p);
    }
}
END_TEST

/* Every split under a recipe that takes it: the emulator's parts are those of
   lib/number/split.h for rounding rules and scales that no recipe has of itself. */
START_TEST(other_splits)
{
    static struct problem p;
    uint64_t rng = test_seed() + 2;
    for (const struct bitcut_split *s = splits; s->name; s++)
        for (int i = 0; i < 2 * CLASSES; i++) {
            struct asked g =
                asked_of(&recipes[s->parts == 1 ? RECIPE_PLAIN : RECIPE_LEGEMM],
                        unit_find("fma/f32", NULL));
            g.split_a = g.split_b = *s;
            options_draw(&g, &rng);
            ck_assert_int_eq(asked_check(&g, NULL), BITCUT_OK);
            g.promote = 1;
            g.order.slices = 2;
            gemm_problem_fill(&p, (struct shape){ 3, 4, 5 }, &input_classes[i % CLASSES],
                              &rng);
            gemm_problem_check(&g, &p);
        }
}
END_TEST

/* --- known answers ----------------------------------------------------------------- */

static uint32_t f32_encode(double x)
{
    return (uint32_t)bitcut_format_convert(F32, RN, &formats[FORMAT_F64],
                                           bits_of_double(x));
}

#define HOPPER_BF16 "hopper/mma.m16n8k16.f32.bf16"
#define LARGEST     0x1.fffffep127

/* One row times one column, printed with what a hand calculation gives. */
static const struct {
    const char *recipe, *unit;
    double a[2], b[2], alpha, beta, c, d;
} known[] = {
    /* clang-format off */
    { "plain", "a100", { 2, 3 }, { 5, 7 }, 1, 0, 0, 31 },
    { "plain", "a100", { 2, 3 }, { 5, 7 }, -2, 0.5, 8, -58 },
    /* 1 + 2^-11 is not an f16; two parts hold it */
    { "plain", "a100", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0, 1 },
    { "markidis", "a100", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-11 },
    { "ootomo", "mi100", { 1 + 0x1p-20, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-20 },
    { "legemm", "h100", { 1 + 0x1p-20, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-20 },
    /* a residual times a copy; 1 + 2^-4 is a tie in e4m3, so the copy is 1 */
    { "half-fp8", "h100", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-11 },
    { "half-fp8", "h100", { 1 + 0x1p-11, 0 }, { 1 + 0x1p-4, 0 }, 1, 0, 0,
      1 + 0x1p-4 + 0x1p-11 },
    { "half-fp8", "l40s", { 1, 0 }, { 1 + 0x1p-11, 0 }, 1, 0, 0, 1 + 0x1p-11 },
    /* the same in integers, of lines of [64, 128): a residual of 2^-19 of the largest is
       one half, which goes to even; one of half of the last bit of f16 saturates, 127 for
       128, and so does the copy of 128 - 2^-6 */
    { "half-int8", "h100", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1.fcp-12 },
    { "half-int8", "a100", { 1 + 0x1p-12, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-12 },
    { "half-int8", "h100", { 1 + 0x1p-19, 0 }, { 1, 0 }, 1, 0, 0, 1 },
    { "half-int8", "l40s", { 1 + 0x1.8p-18, 0 }, { 1, 0 }, 1, 0, 0, 1 + 0x1p-17 },
    { "half-int8", "h100", { 2 - 0x1p-12, 0 }, { 2 - 0x1p-12, 0 }, 1, 0, 0,
      4 - 0x1.fcp-11 },
    { "half-int8", "h100", { 1, 0x1p-20 }, { 1, 1 }, 1, 0, 0, 1 + 0x1p-20 },
    { "half-int8", "h100", { 1, (double)INFINITY }, { 1, 1 }, 1, 0, 0,
      (double)INFINITY },
    /* a high part beyond f16 is infinite, the low ones -Inf: Inf - Inf */
    { "plain", "h100", { 0x1p16, 0 }, { 1, 0 }, 1, 0, 0, (double)INFINITY },
    { "markidis", "h100", { 0x1p16, 0 }, { 1, 1 }, 1, 0, 0, (double)NAN },
    /* a negative product that underflows, and a negative zero */
    { "fp32", "fma/f32", { -0x1p-100, -0. }, { 0x1p-100, 0 }, 1, 0, 0, -0. },
    /* a second product just above half of the last bit of the sum, and half of it if it is
       rounded first: 2^-8 of 1 + 2^-8 - 2^-15 in bf16, 2^-11 of 1 + 2^-11 - 2^-21 in f16 */
    { "plain", "fma/bf16", { 1, 1 + 0x1p-7 }, { 1, 0x1p-8 - 0x1p-16 }, 1, 0, 0, 1 + 0x1p-7 },
    { "plain", "mul-add/bf16", { 1, 1 + 0x1p-7 }, { 1, 0x1p-8 - 0x1p-16 }, 1, 0, 0, 1 },
    { "plain", "fma/f16", { 1, 1 + 0x1p-10 }, { 1, 0x1p-11 - 0x1p-22 }, 1, 0, 0,
      1 + 0x1p-10 },
    { "plain", "mul-add/f16", { 1, 1 + 0x1p-10 }, { 1, 0x1p-11 - 0x1p-22 }, 1, 0, 0, 1 },
    { "plain", "fma/f32.f16", { 1, 1 + 0x1p-10 }, { 1, 0x1p-11 - 0x1p-22 }, 1, 0, 0,
      1 + 0x1p-11 + 0x1p-22 },
    /* a bf16 sum stops at 2^8, an f16 sum at 2^11, and an f16 product overflows */
    { "plain", "fma/bf16", { 256, 1 }, { 1, 1 }, 1, 0, 0, 256 },
    { "plain", "fma/f16", { 2048, 1 }, { 1, 1 }, 1, 0, 0, 2048 },
    { "plain", "mul-add/f16", { 256, 0 }, { 256, 1 }, 1, 0, 0, (double)INFINITY },
    /* the ignored product of two low parts: 2^-22 */
    { "ootomo", "h100", { 1 + 0x1p-11, 1 }, { 1 + 0x1p-11, -1 }, 1, 0, 0, 0x1p-10 },
    { "markidis", "mi100", { 1 + 0x1p-11, 1 }, { 1 + 0x1p-11, -1 }, 1, 0, 0,
      0x1p-10 + 0x1p-22 },
    /* a tie goes to even, or away */
    { "cublas-tf32", "hopper/mma.m16n8k8.f32.tf32", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0,
      1 },
    { "plain", "hopper/mma.m16n8k8.f32.tf32", { 1 + 0x1p-11, 0 }, { 1, 0 }, 1, 0, 0,
      1 + 0x1p-10 },
    /* the low parts of infinity are NaN, and zeroed */
    { "bf16x3", HOPPER_BF16, { (double)INFINITY, 0 }, { 1, 0 }, 1, 0, 0, (double)NAN },
    { "triton-bf16x3", HOPPER_BF16, { (double)INFINITY, 0 }, { 1, 0 }, 1, 0, 0,
      (double)INFINITY },
    { "triton-bf16x6", HOPPER_BF16, { 1, 0 }, { -(double)INFINITY, 0 }, 1, 0, 0,
      -(double)INFINITY },
    /* the largest value: high part Inf, low -Inf; times parts of different sign */
    { "triton-bf16x3", HOPPER_BF16, { LARGEST, 0 }, { 1 - 0x1p-10, 0 }, 1, 0, 0,
      (double)NAN },
    { "xla-bf16x3", HOPPER_BF16, { LARGEST, 0 }, { 1 - 0x1p-10, 0 }, 1, 0, 0,
      (double)INFINITY },
    /* but three parts that saturate are exact */
    { "bf16x9", HOPPER_BF16, { LARGEST, 0 }, { 1, 0 }, 1, 0, 0, (double)NAN },
    { "cutlass-sm100-bf16x9", HOPPER_BF16, { LARGEST, 0 }, { 1, 0 }, 1, 0, 0, LARGEST },
    { "cutlass-sm100-bf16x9", HOPPER_BF16, { 1 + 0x1p-23, 0 }, { 1 - 0x1p-24, 0 }, 1, 0,
      0, 1 },
    /* clang-format on */
};

START_TEST(known_answers)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t a[2], b[2], d = 0;
        for (int p = 0; p < 2; p++) {
            a[p] = f32_encode(known[i].a[p]);
            b[p] = f32_encode(known[i].b[p]);
        }
        const uint32_t c = f32_encode(known[i].c);
        const struct bitcut_unit *u =
            bitcut_unit_find(known[i].unit, &formats[FORMAT_F16]);
        struct bitcut_gemm g = gemm_of(bitcut_recipe_find(known[i].recipe), u);
        gemm_set_dense(&g, &d, 1, 1, 2, a, b, &c);
        g.alpha = f32_encode(known[i].alpha);
        g.beta = f32_encode(known[i].beta);
        ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
        const uint32_t want =
            known[i].d != known[i].d ? (uint32_t)u->nan : f32_encode(known[i].d);
        ck_assert_msg(d == want, "row %zu, %s on %s: got %08" PRIx32 ", want %08" PRIx32,
                      i, known[i].recipe, u->name, d, want);
    }
}
END_TEST

TEST_MAIN("gemm", recipes_on_units, epilogues_on_units, single_steps, starts_in_orders,
          starts_on_units, tile_edges, other_splits, known_answers)
