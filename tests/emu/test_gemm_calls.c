/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of GEMMs: properties that must not change the result, stopping, errors, and
   descriptions of rows. */
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "tests/emu/gemm_problem.h"
#include "tests/test.h"

#include <fenv.h>
#include <string.h>

/* --- what must not matter ---------------------------------------------------------- */

/* Several tiles in both directions. */
static const struct shape tiles_shape = { 37, 40, 20 };

static const int several_recipes[] = { RECIPE_PLAIN, RECIPE_OOTOMO, RECIPE_LEGEMM };

static const struct asked *several(int i)
{
    static struct asked g;
    g = asked_of(&recipes[several_recipes[i]],
                 unit_find("hopper/mma.m16n8k16.f32.f16", NULL));
    g.order = (struct bitcut_order){ .slices = 2, .lanes = 1 + i };
    g.equilibrate = i == 1;
    g.alpha = 0x3f000001;
    g.beta = 0x3fc00000;
    return &g;
}

static void several_run(uint32_t *d, const struct problem *p, int i, int threads)
{
    struct asked g = *several(i);
    g.threads = threads;
    memcpy(d, p->d, sizeof p->d);
    ck_assert_int_eq(gemm_problem_run(d, &g, p, p->c), BITCUT_OK);
}

START_TEST(thread_counts)
{
    static struct problem p;
    static uint32_t one[SIDE * ROW_MAX], many[SIDE * ROW_MAX];
    uint64_t rng = test_seed() + 3;
    for (int i = 0; i < 3; i++) {
        gemm_problem_fill(&p, tiles_shape, &input_classes[i], &rng);
        several_run(one, &p, i, 1);
        for (int n = 0; n <= 4; n++) {
            several_run(many, &p, i, n);
            ck_assert_msg(!memcmp(many, one, sizeof one), "%d threads, recipe %s", n,
                          recipes[several_recipes[i]].name);
        }
    }
}
END_TEST

START_TEST(host_modes)
{
    static struct problem p;
    static uint32_t got[SIDE * ROW_MAX], want[SIDE * ROW_MAX];
    uint64_t rng = test_seed() + 4;
    fenv_t host;
    fegetenv(&host);
    for (int i = 0; i < 3; i++) {
        gemm_problem_fill(&p, tiles_shape, &input_classes[1 + i], &rng);
        several_run(want, &p, i, 2);
        for (int mode = 0; mode < 8; mode++) {
            test_host_mode(mode);
            several_run(got, &p, i, 2);
            fesetenv(&host);
            ck_assert_msg(!memcmp(got, want, sizeof want), "mode %d, class %s", mode,
                          input_classes[1 + i].name);
        }
    }
}
END_TEST

/* --- stopping ---------------------------------------------------------------------- */

struct watch {
    int reports, stop_after; /* 0: do not stop */
    double last;
    volatile sig_atomic_t stop;
};

static void watch_report(void *context, double part)
{
    struct watch *w = context;
    ck_assert(part > w->last && part <= 1);
    w->last = part;
    if (++w->reports == w->stop_after) w->stop = 1;
}

static enum bitcut_status watched_run(struct watch *w, uint32_t *d,
                                      const struct problem *p, struct fault *f)
{
    const struct progress progress = { watch_report, w, &w->stop };
    struct gemm_options options = { .threads = 1, .simd = simd_levels,
                                    .progress = &progress };
    while (options.simd->kernels) options.simd++; /* the engine, whose tiles are small */
    const struct bitcut_gemm g = gemm_posed(several(0), d, p, p->c);
    return gemm_run(&g, &options, f);
}

START_TEST(stop_and_progress)
{
    static struct problem p;
    static uint32_t d[SIDE * ROW_MAX];
    uint64_t rng = test_seed() + 5;
    gemm_problem_fill(&p, tiles_shape, &input_classes[0], &rng);
    memcpy(d, p.d, sizeof d);
    for (int after = 0; after <= 3; after++) {
        struct fault f = { 0 };
        struct watch w = { .stop_after = after, .stop = after == 0 };
        ck_assert_int_eq(watched_run(&w, d, &p, &f), BITCUT_UNSUPPORTED);
        ck_assert(f.status == BITCUT_UNSUPPORTED && strstr(f.text, "stopped"));
        ck_assert_int_eq(w.reports, after);
        ck_assert(!memcmp(d, p.d, sizeof d));
    }
    struct watch w = { 0 };
    ck_assert_int_eq(watched_run(&w, d, &p, NULL), BITCUT_OK);
    ck_assert(w.reports > 3 && w.last == 1);
}
END_TEST

/* --- refusals ---------------------------------------------------------------------- */

static void change_nothing(struct asked *g) { (void)g; }
static void change_to_two_parts(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_HALFHALF];
    g->dropped_term = true;
}
static void change_low_low(struct asked *g) { g->dropped_term = true; }
static void change_promote_to_one(struct asked *g) { g->promote = 1; }
static void change_tile_to_none(struct asked *g) { g->tile_k = 0; }
static void change_scale(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_HALFHALF];
}
static void change_scale_of_a(struct asked *g) { g->split_a = splits[SPLIT_MARKIDIS]; }
static void change_parts(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_HALF], g->dropped_term = false;
}
static void change_parts_of_b(struct asked *g) { g->split_b = splits[SPLIT_HALF]; }
static void change_format(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_BF16X2];
}
static void change_format_of_b(struct asked *g) { g->split_b = splits[SPLIT_BF16X2]; }
static void change_to_mixed(struct asked *g)
{
    g->split_a = g->split_b = splits[SPLIT_HALF_E4M3];
}
static void change_lines(struct asked *g) { g->equilibrate = true; }
static void change_lines_and_scale(struct asked *g)
{
    g->equilibrate = true;
    g->split_a.scale = g->split_b.scale = 12;
}

static void change_high(struct asked *g)
{
    g->split_a.part[0].rounding = &roundings[ROUND_RZ];
}

static const struct {
    const char *recipe, *unit;
    void (*change)(struct asked *g);
    const char *text; /* part of the message */
} refusals[] = {
    { "plain", "blackwell/tcgen05.m128n8k32.mxf8f6f4.f32.e4m3", change_nothing,
      "block scales" },
    { "markidis", "hopper/mma.m16n8k16.f32.bf16", change_nothing, "parts in f16" },
    { "fp32", "hopper/mma.m16n8k8.f32.tf32", change_nothing, "parts in f32" },
    { "bf16x3", "hopper/mma.m16n8k16.f32.f16", change_nothing, "multiplies f16 by f16" },
    { "legemm", "hopper/mma.m16n8k16.f32.f16", change_format, "parts in bf16" },
    { "plain", "hopper/mma.m8n8k4.f64.f64", change_nothing, "accumulates in f64" },
    { "markidis", "fma/f64", change_nothing, "accumulates in f64" },
    { "plain", "hopper/mma.m16n8k16.f32.f16", change_low_low, "low*low" },
    { "bf16x6", "hopper/mma.m16n8k16.f32.bf16", change_low_low, "low*low" },
    { "plain", "hopper/mma.m16n8k16.f32.f16", change_to_two_parts, "low*low" },
    { "triton-bf16x3", "hopper/mma.m16n8k16.f32.bf16", change_tile_to_none,
      "requires tiles" },
    { "cutlass-sm100-bf16x9", "hopper/mma.m16n8k16.f32.bf16", change_tile_to_none,
      "requires tiles" },
    { "cutlass-sm100-bf16x9", "hopper/mma.m16n8k16.f32.bf16", change_promote_to_one,
      "promotes at the end of each tile" },
    { "ootomo", "hopper/mma.m16n8k16.f32.f16", change_parts_of_b,
      "more parts than split half" },
    { "ootomo", "hopper/mma.m16n8k16.f32.f16", change_scale_of_a, "are scaled by 2^0" },
    { "markidis", "hopper/mma.m16n8k16.f32.f16", change_format_of_b, "parts in bf16" },
    { "ootomo", "hopper/mma.m16n8k16.f32.f16", change_parts,
      "more parts than split half" },
    { "markidis", "hopper/mma.m16n8k16.f32.f16", change_scale, "different scale" },
    { "half-fp8", "ampere/mma.m16n8k16.f32.f16", change_nothing,
      "multiplies parts in e4m3 by e4m3; the architecture of "
      "ampere/mma.m16n8k16.f32.f16 has no such instruction" },
    { "half-fp8", "cdna3/mfma.32x32x8.f32.f16", change_nothing, "no such instruction" },
    { "half-fp8", "hopper/mma.m16n8k16.f32.bf16", change_nothing, "parts in f16" },
    { "half-fp8", "hopper/mma.m16n8k16.f32.f16", change_parts_of_b,
      "more parts than split half" },
    { "legemm", "hopper/mma.m16n8k16.f32.f16", change_to_mixed,
      "multiplies parts in f16 by e4m3" },
    { "ootomo", "hopper/mma.m16n8k16.f16.f16", change_lines, "overflow the f16 sums" },
    { "legemm", "hopper/mma.m16n8k16.f32.f16", change_lines_and_scale, "to 2^11" },
    { "half-int8", "volta/mma.m8n8k4.f32.f16", change_nothing,
      "multiplies parts in s8 by s8; the architecture" },
    { "half-int8", "hopper/mma.m16n8k16.f16.f16", change_nothing,
      "overflow the f16 sums" },
    { "half-int8", "hopper/mma.m16n8k16.f32.f16", change_high,
      "low parts in s8 to 2^11" },
};

START_TEST(check_refuses)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct fault f = { 0 };
        struct asked g = asked_of(bitcut_recipe_find(refusals[i].recipe),
                                unit_find(refusals[i].unit, NULL));
        refusals[i].change(&g);
        ck_assert_msg(asked_check(&g, &f) == BITCUT_BAD_ARGUMENT, "row %zu: accepted", i);
        ck_assert_int_eq(f.status, BITCUT_BAD_ARGUMENT);
        ck_assert_msg(*f.text && strstr(f.text, refusals[i].text), "row %zu: %s", i,
                      f.text);
        ck_assert_int_eq(asked_check(&g, NULL), BITCUT_BAD_ARGUMENT);
    }
}
END_TEST

/* Parts of 127 and 127, 66572 of k of them: all but one bit of 32. */
START_TEST(sums_of_integers_fit)
{
    enum { MOST = 66572 };
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_HALF_INT8],
                                   unit_find("hopper/mma.m16n8k16.f32.f16", NULL));
    static uint32_t x[MOST + 1];
    const double value = 127 + 127 * 0x1p-12;
    uint32_t d;
    char why[BITCUT_TEXT_MAX];
    for (size_t i = 0; i <= MOST; i++) x[i] = f32_of_double(value);
    gemm_set_dense(&g, &d, 1, 1, MOST, x, x, NULL);
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, why), BITCUT_OK);
    const double want = MOST * 127. * (127 + 2 * 127 * 0x1p-12);
    ck_assert(fabs(value_of_float(d) / want - 1) < 0x1p-20);
    g.k++;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(
        why, "half-int8 sums integers exactly in 32 bits up to k = 66572; use more "
             "slices of k");
    g.order.slices = 2;
    ck_assert_int_eq(bitcut_gemm(&g, &g, 1, why), BITCUT_OK);
    ck_assert(g.equilibrate);
}
END_TEST

/* k of an instruction that no k-step is made of: no row of the table has it. */
START_TEST(k_steps_are_whole)
{
    struct bitcut_unit odd = *unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_HALF_FP8], &odd);
    struct gemm_plan plan;
    struct fault f;
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(plan.k_step, 32);
    odd.k = odd.block = 12;
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text, "k of hopper/mma.m16n8k16.f32.f16 must divide 32");
}
END_TEST

/* The row as it is, alone or with one argument changed. */
static const struct {
    size_t ldd, lda, ldb, ldc, m;
    uint32_t beta;
    int threads;
    bool no_c;
    const char *unit;
    enum bitcut_status status;
} calls[] = {
    /* ldd lda ldb ldc  m  beta threads no_c unit      status */
    { 4, 5, 4, 4, 3, ONE, 1, false, "a100", BITCUT_OK },
    { 4, 5, 4, 0, 3, 0, 1, true, "a100", BITCUT_OK },
    { 4, 5, 4, 0, 3, (uint32_t)SIGN, 1, true, "a100", BITCUT_OK },
    { 3, 5, 4, 4, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 4, 4, 4, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 3, 4, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 3, 3, ONE, 1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, 3, ONE, 1, true, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, 3, ONE, -1, false, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, 3, ONE, 1, false, "fma/f64", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, SIZE_MAX / 2, 0, 1, true, "a100", BITCUT_BAD_ARGUMENT },
    { 4, 5, 4, 4, SIZE_MAX / 64, 0, 1, true, "a100", BITCUT_NO_MEMORY },
};

/* Whether a call that fails leaves D alone; one that succeeds must not. */
START_TEST(public_statuses)
{
    static uint32_t a[15], b[20], c[12], d[12], before[12];
    for (int i = 0; i < 12; i++) before[i] = 0xd0d0d0d0u ^ (uint32_t)i;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct bitcut_unit *u = unit_find(calls[i].unit, &formats[FORMAT_F16]);
        struct bitcut_gemm g = gemm_of(&recipes[RECIPE_OOTOMO], u);
        char why[BITCUT_TEXT_MAX] = "";
        gemm_set_dense(&g, d, calls[i].m, 4, 5, a, b, calls[i].no_c ? NULL : c);
        g.a.ld = calls[i].lda, g.b.ld = calls[i].ldb;
        g.c.ld = calls[i].ldc, g.d.ld = calls[i].ldd;
        g.beta = calls[i].beta;
        memcpy(d, before, sizeof d);
        const enum bitcut_status status =
            bitcut_gemm(NULL, &g, calls[i].threads, why);
        ck_assert_msg(status == calls[i].status, "row %zu: status %d", i, (int)status);
        ck_assert_int_eq(!memcmp(d, before, sizeof d), status != BITCUT_OK);
        ck_assert_int_eq(*why != 0, status != BITCUT_OK);
    }
}
END_TEST

/* --- a D against the emulator's ---------------------------------------------------- */

enum { V_COUNT = 3, V_M = 5, V_N = 4, V_K = 20, V_LD = 7, V_STRIDE = V_LD * V_M + 3 };

/* A batch with column-major D of f16 between gaps. */
static struct bitcut_gemm verified_gemm(uint16_t *d, const uint32_t *a, const uint32_t *b)
{
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_OOTOMO],
                                   unit_find("hopper/mma.m16n8k16.f32.f16", NULL));
    g.count = V_COUNT, g.m = V_M, g.n = V_N, g.k = V_K;
    g.a.at = a, g.a.stride = V_M * V_K;
    g.b.at = b;
    g.d.to = d, g.d.format = &formats[FORMAT_F16], g.d.layout = BITCUT_COLUMN_MAJOR;
    g.d.ld = V_LD, g.d.stride = V_STRIDE;
    return g;
}

/* Batches of empty D are the same at once, however many there are. */
START_TEST(verified_empty)
{
    static const size_t sizes[][2] = { { 0, 4 }, { 4, 0 }, { (size_t)1 << 60, 0 } };
    uint32_t a[1] = { 0 };
    uint16_t d[1] = { 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bitcut_gemm g = verified_gemm(d, a, a);
        struct bitcut_difference x = { .size = sizeof x, .compared = 7 };
        char why[BITCUT_TEXT_MAX] = "";
        g.count = SIZE_MAX, g.m = sizes[i][0], g.n = sizes[i][1], g.d.ld = 0;
        g.a.stride = g.d.stride = 0;
        ck_assert_msg(bitcut_gemm_verify(&x, NULL, &g, 1, why) == BITCUT_OK, "%s", why);
        ck_assert(x.compared == 0 && x.differ == 0);
    }
}
END_TEST

START_TEST(verified)
{
    uint32_t a[V_COUNT * V_M * V_K], b[V_K * V_N];
    uint16_t d[V_COUNT * V_STRIDE] = { 0 }, before[V_COUNT * V_STRIDE];
    uint64_t rng = test_seed() + 6;
    for (size_t i = 0; i < sizeof a / sizeof a[0]; i++)
        a[i] = 0x3f800000 | test_bits(&rng) % (1 << 23);
    for (size_t i = 0; i < sizeof b / sizeof b[0]; i++)
        b[i] = 0x3f800000 | test_bits(&rng) % (1 << 23);
    struct bitcut_gemm g = verified_gemm(d, a, b), ran;
    struct bitcut_difference x = { .size = sizeof x };
    char why[BITCUT_TEXT_MAX] = "";
    bitcut_gemm_init(&ran, sizeof ran);
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, why), BITCUT_OK);
    memcpy(before, d, sizeof d);
    ck_assert_int_eq(bitcut_gemm_verify(&x, &ran, &g, 1, why), BITCUT_OK);
    ck_assert(x.compared == V_COUNT * V_M * V_N && x.differ == 0);
    ck_assert(ran.promote == 1 && ran.d.to == d && ran.d.ld == V_LD);
    ck_assert(!memcmp(before, d, sizeof d));
    for (int i = 0; i < 50; i++) { /* one bit anywhere, and a later one */
        const size_t gemm = test_bits(&rng) % V_COUNT, row = test_bits(&rng) % V_M,
                     column = test_bits(&rng) % V_N;
        const size_t at = gemm * V_STRIDE + column * V_LD + row;
        const size_t last = (V_COUNT - 1) * V_STRIDE + (V_N - 1) * V_LD + V_M - 1;
        d[at] ^= (uint16_t)(1u << test_bits(&rng) % 16);
        if (at != last) d[last] ^= 2;
        ck_assert_int_eq(bitcut_gemm_verify(&x, NULL, &g, 2, why), BITCUT_OK);
        ck_assert(x.differ == 1 + (at != last));
        ck_assert(x.gemm == gemm && x.row == row && x.column == column);
        ck_assert(x.given == d[at] && x.expected == before[at]);
        memcpy(d, before, sizeof d);
    }
    d[V_LD - 1] ^= 1; /* between columns */
    ck_assert_int_eq(bitcut_gemm_verify(&x, NULL, &g, 1, why), BITCUT_OK);
    ck_assert(x.differ == 0 && x.row == 0 && x.given == 0);
}
END_TEST

START_TEST(verify_refuses)
{
    static uint16_t d[V_COUNT * V_STRIDE];
    static uint32_t a[V_COUNT * V_M * V_K], b[V_K * V_N];
    struct bitcut_gemm g = verified_gemm(d, a, b);
    struct bitcut_difference x = { .size = 1 };
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_int_eq(bitcut_gemm_verify(&x, NULL, &g, 0, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_verify(NULL, NULL, &g, 0, why), BITCUT_BAD_ARGUMENT);
    x.size = sizeof x;
    ck_assert_int_eq(bitcut_gemm_verify(&x, NULL, NULL, 0, why), BITCUT_BAD_ARGUMENT);
    g.d.to = NULL;
    ck_assert_int_eq(bitcut_gemm_verify(&x, NULL, &g, 0, why), BITCUT_BAD_ARGUMENT);
    g.d.to = d, g.unit = NULL;
    ck_assert_int_eq(bitcut_gemm_verify(&x, NULL, &g, 0, why), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(*why != 0, "nothing is said");
    g = verified_gemm(d, a, b);
    g.m = 0;
    x.differ = 9;
    ck_assert_int_eq(bitcut_gemm_verify(&x, NULL, &g, 0, why), BITCUT_OK);
    ck_assert(x.compared == 0 && x.differ == 0);
}
END_TEST

/* --- rows -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int terms, promote;
    bool dropped_term;
} defaults[] = {
    { "plain", 1, 0, false },  { "markidis", 4, 0, true },     { "feng", 4, 0, true },
    { "ootomo", 3, 1, false }, { "ootomo-tf32", 3, 1, false }, { "legemm", 3, 0, false },
    { "fp32", 1, 0, false },   { "tf32x3", 3, 0, false },      { "bf16x3", 3, 0, false },
    { "bf16x6", 6, 0, false }, { "bf16x9", 9, 0, false },
    { "cublas-tf32", 1, 0, false },   { "cutlass-tf32x3", 3, 12, false },
    { "triton-tf32x3", 3, 0, false }, { "cutlass-sm100-bf16x9", 9, 0, false },
    { "triton-bf16x6", 6, 0, false }, { "xla-bf16x9", 9, 0, false },
    { "half-fp8", 3, 4, false },
};

START_TEST(rows_made_definite)
{
    const struct bitcut_unit *u = unit_find("fma/f32", NULL);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const struct bitcut_recipe *r = bitcut_recipe_find(defaults[i].name);
        ck_assert_msg(r != NULL, "no recipe %s", defaults[i].name);
        struct bitcut_gemm g = gemm_of(r, u);
        struct gemm_plan plan;
        ck_assert(g.alpha == ONE && g.beta == 0 && g.count == 1);
        ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
        ck_assert_int_eq(plan.promote, defaults[i].promote);
        ck_assert_int_eq(plan.dropped_term, defaults[i].dropped_term);
        ck_assert_msg(plan.terms == defaults[i].terms, "%s: %d terms", r->name,
                      plan.terms);
        g.dropped_term = !plan.dropped_term;
        if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
        ck_assert_int_eq(plan.terms, defaults[i].terms + (g.dropped_term ? 1 : -1));
    }
    ck_assert_ptr_null(bitcut_recipe_find("ootomo "));
    ck_assert_ptr_null(bitcut_recipe_find(""));
}
END_TEST

/* CUTLASS's stages: a sum of 32 k from zero, added in FP32, as slices of 32 are. */
START_TEST(stages_of_cutlass)
{
    enum { SIZE = 6, STAGE = 32, STAGES = 5 };
    static uint32_t a[SIZE * STAGE * STAGES], b[SIZE * STAGE * STAGES];
    uint32_t staged[SIZE * SIZE], sliced[SIZE * SIZE], never[SIZE * SIZE];
    uint64_t rng = test_seed() + 9;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) {
        a[i] = input_classes[0].fill(&rng);
        b[i] = input_classes[0].fill(&rng);
    }
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_CUTLASS_TF32X3],
                                   unit_find("ampere/mma.m16n8k8.f32.tf32", NULL));
    gemm_set_dense(&g, staged, SIZE, SIZE, STAGE * STAGES - 5, a, b, NULL);
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
    g.promote = 0, g.d.to = never;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
    g.order.slices = STAGES, g.d.to = sliced;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
    ck_assert(!memcmp(staged, sliced, sizeof staged));
    ck_assert(memcmp(staged, never, sizeof staged) != 0);
}
END_TEST

TEST_MAIN("gemm calls", thread_counts, host_modes, stop_and_progress, check_refuses,
          sums_of_integers_fit, k_steps_are_whole, public_statuses, verified_empty, verified,
          verify_refuses, rows_made_definite, stages_of_cutlass)
