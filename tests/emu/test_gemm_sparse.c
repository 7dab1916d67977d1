/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs with a 2:4 sparse A: compared with the independent definition
   (tests/emu/gemm_problem.h) for random recipes, units, orders, epilogues and forms of A;
   batches, groups, layouts and integers with single GEMMs; metrics; refusals. */
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "tests/emu/gemm_problem.h"
#include "tests/test.h"

#include <string.h>

/* --- against the definition --------------------------------------------------------- */

/* Units of several summations, and k. */
static const char *const unit_names[] = {
    "fma/f32",
    "fma/f16",
    "mul-add/bf16",
    "ootomo/mma_rn",
    "volta/mma.m8n8k4.f32.f16",
    "ampere/mma.m16n8k16.f32.f16",
    "ampere/mma.m16n8k8.f32.tf32",
    "hopper/wgmma.m64n8k16.f32.f16",
    "hopper/mma.m16n8k16.f16.f16",
    "hopper/mma.m16n8k16.f32.bf16",
    "hopper/mma.m16n8k32.f32.e5m2.e4m3",
    "cdna1/mfma.32x32x8.f32.f16",
    "cdna2/mfma.16x16x16.f32.f16",
    "cdna3/mfma.16x16x8.f32.xf32",
};

enum { UNITS = sizeof unit_names / sizeof *unit_names };

static int one_of(uint64_t *rng, const int *values, int count)
{
    return values[test_between(rng, 0, count - 1)];
}

static void order_draw(struct asked *g, uint64_t *rng)
{
    static const int sizes[] = { 0, 0, 1, 8, 16, 20 };
    g->order.slices = test_between(rng, 1, 3);
    g->order.lanes = test_between(rng, 1, 3);
    g->order.tile = one_of(rng, sizes, 6);
    g->order.chunk = one_of(rng, sizes, 6);
    g->order.cut = one_of(rng, sizes, 6);
    g->order.partial_first = test_between(rng, 0, 1);
    g->order.balance_tail = one_of(rng, sizes, 6);
    g->order.reduction = (enum bitcut_reduction)test_between(rng, 0, 3);
}

/* Factors of lines, where they are applied, and a bias. */
static void extras_draw(struct asked *g, uint64_t *rng)
{
    static const int places[] = { BITCUT_SCALING_EPILOGUE, BITCUT_SCALING_OPERAND,
                                  BITCUT_SCALING_PROMOTED };
    static const int results[] = { FORMAT_F32, FORMAT_F16, FORMAT_E4M3 };
    const struct asked before = *g;
    g->scaling = (enum bitcut_scaling)one_of(rng, places, 3);
    g->scale_a = (struct asked_factors){ true, (size_t)test_between(rng, 0, 2), 0 };
    g->scale_b = (struct asked_factors){ true, (size_t)test_between(rng, 0, 2), 0 };
    if (g->scaling >= BITCUT_SCALING_UNIT)
        g->order = (struct bitcut_order){ .slices = 1, .lanes = 1 };
    if (asked_check(g, NULL) != BITCUT_OK) *g = before;
    g->has_bias = test_between(rng, 0, 1);
    g->bias_rows = test_between(rng, 0, 1);
    g->start = (enum bitcut_start)test_between(rng, 0, g->has_bias ? 4 : 1);
    g->result = &formats[one_of(rng, results, 3)];
    if (g->result == F32) g->result = NULL;
}

static void options_draw(struct asked *g, uint64_t *rng)
{
    static const int promotes[] = { 0, 1, 2 }, rules[] = { ROUND_SR, ROUND_RZ, ROUND_RNA };
    const struct asked row = *g;
    g->promote = one_of(rng, promotes, 3);
    if (asked_check(g, NULL) != BITCUT_OK) *g = row;
    if (test_between(rng, 0, 1)) order_draw(g, rng);
    if (!test_between(rng, 0, 3)) {
        g->sum_rounding = &roundings[one_of(rng, rules, 3)];
        g->round_seed = test_between(rng, 0, 3);
    }
    g->equilibrate = test_between(rng, 0, 1);
    if (asked_check(g, NULL) != BITCUT_OK) g->equilibrate = false;
    g->alpha = test_between(rng, 0, 2) ? (uint32_t)ONE : 0xbfc00000;
    g->beta = test_between(rng, 0, 1) ? 0 : 0x3f400000;
    g->threads = test_between(rng, 0, 9) ? 1 : test_between(rng, 2, 3);
    if (test_between(rng, 0, 1)) extras_draw(g, rng);
    ck_assert_int_eq(asked_check(g, NULL), BITCUT_OK);
}

static const struct shape shapes[] = { { 1, 1, 4 },  { 5, 3, 36 }, { 4, 2, 8 }, { 17, 2, 32 },
                                       { 2, 19, 32 }, { 3, 35, 40 }, { 3, 4, 0 }, { 0, 3, 8 },
                                       { 3, 0, 8 } };

static void check_shapes(const struct asked *row, uint64_t *rng)
{
    static struct problem p;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int form = 0; form < 3; form++) {
            struct asked g = *row;
            options_draw(&g, rng);
            g.sparsity = form == 2 ? BITCUT_COMPRESSED_A : BITCUT_SPARSE_A;
            g.has_positions = form;
            const int class = test_between(rng, 0, CLASSES - 1);
            gemm_problem_fill(&p, shapes[i], &input_classes[class], rng);
            gemm_problem_thin(&p, &g, rng);
            gemm_problem_check(&g, &p);
        }
}

/* Every recipe on some of the units that it fits; plain on every one. */
START_TEST(recipes_on_units)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        if (!strcmp(r->name, "half-fp8") || !strcmp(r->name, "half-int8")) continue;
        int fits = 0, first = test_between(&rng, 0, UNITS - 1);
        const int most = r == &recipes[RECIPE_PLAIN] ? UNITS : test_cases(1, UNITS);
        for (int i = 0; i < UNITS && fits < most; i++) {
            const char *const name = unit_names[(first + i) % UNITS];
            const struct bitcut_unit *const u = unit_find(name, NULL);
            ck_assert_msg(u != NULL, "no unit %s", name);
            const struct asked g = asked_of(r, u);
            if (asked_check(&g, NULL) != BITCUT_OK) continue;
            check_shapes(&g, &rng);
            fits++;
        }
        ck_assert_int_gt(fits, 0);
    }
}
END_TEST

/* --- whole GEMMs of a caller ---------------------------------------------------------- */

enum { M = 6, N = 5, K = 24, COUNT = 3 };

/* Matrices of a batch, of f16 or s8: numbers and their encodings, and D. */
struct given {
    struct bitcut_gemm g;
    uint32_t a[COUNT * M * K], b[COUNT * K * N], d[COUNT * M * N];
    uint8_t positions[COUNT * M * K / 2];
};

/* A number with few bits, also 0. */
static uint32_t small_draw(uint64_t *rng)
{
    return bits_of_float((float)test_between(rng, -64, 64) * 0x1p-3f);
}

static void given_draw(struct given *x, const char *unit, uint64_t *rng)
{
    x->g = gemm_of(&recipes[RECIPE_PLAIN], unit_find(unit, NULL));
    gemm_set_dense(&x->g, x->d, M, N, K, x->a, x->b, NULL);
    x->g.count = COUNT;
    x->g.a.stride = M * K, x->g.b.stride = K * N, x->g.d.stride = M * N;
    x->g.sparsity = BITCUT_SPARSE_A;
    for (size_t i = 0; i < COUNT * M * K; i++) x->a[i] = small_draw(rng);
    for (size_t i = 0; i < COUNT * K * N; i++) x->b[i] = small_draw(rng);
    for (size_t i = 0; i < COUNT * M * K; i += 4) { /* two zeros, or one of a pair twice */
        const int p = test_between(rng, 0, 3), q = (p + test_between(rng, 1, 3)) % 4;
        x->a[i + (size_t)p] = x->a[i + (size_t)q] = 0;
    }
    for (size_t i = 0; i < COUNT * M * K / 2; i++)
        x->positions[i] = i % 2 ? (uint8_t)test_between(rng, x->positions[i - 1] + 1, 3)
                                : (uint8_t)test_between(rng, 0, 2);
}

/* Whether element e of a four is kept: the numbers, and from the end as many zeros as make
   two. */
static bool is_kept(const uint32_t *four, size_t e)
{
    size_t numbers = 0, zeros_after = 0;
    for (size_t i = 0; i < 4; i++) numbers += !is_zero(four[i]);
    for (size_t i = e + 1; i < 4; i++) zeros_after += is_zero(four[i]);
    return !is_zero(four[e]) || numbers + zeros_after < 2;
}

/* Row i of D of GEMM `gemm`, from a dense GEMM of its kept elements alone.  given: the
   positions say which. */
static void row_alone(uint32_t *to, const struct given *x, size_t gemm, size_t i,
                      bool given)
{
    uint32_t a[K / 2], b[K / 2 * N];
    const uint32_t *const row = x->a + (gemm * M + i) * K;
    const uint8_t *const at = x->positions + (gemm * M + i) * (K / 2);
    size_t q = 0;
    for (size_t k = 0; k < K; k++) {
        const size_t four = k - k % 4;
        if (given ? at[four / 2] != k % 4 && at[four / 2 + 1] != k % 4
                  : !is_kept(row + four, k % 4))
            continue;
        ck_assert_int_lt(q, K / 2);
        a[q] = row[k];
        memcpy(b + q++ * N, x->b + (gemm * K + k) * N, N * sizeof *b);
    }
    ck_assert_int_eq(q, K / 2);
    struct bitcut_gemm g = gemm_of(x->g.recipe, x->g.unit);
    gemm_set_dense(&g, to, 1, N, K / 2, a, b, NULL);
    g.d.format = x->g.d.format;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
}

/* Run x, and compare every row of every D with the row alone. */
static void check_rows(struct given *x, bool given)
{
    uint32_t want[N];
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_msg(bitcut_gemm(NULL, &x->g, 2, why) == BITCUT_OK, "%s", why);
    for (size_t gemm = 0; gemm < COUNT; gemm++)
        for (size_t i = 0; i < M; i++) {
            row_alone(want, x, gemm, i, given);
            for (size_t j = 0; j < N; j++)
                ck_assert_msg(x->d[(gemm * M + i) * N + j] == want[j],
                              "GEMM %zu, row %zu, column %zu: got %08" PRIx32
                              ", want %08" PRIx32,
                              gemm, i, j, x->d[(gemm * M + i) * N + j], want[j]);
        }
}

static void set_positions(struct given *x)
{
    x->g.positions = (struct bitcut_matrix){ .at = x->positions,
                                             .format = &formats[FORMAT_U8],
                                             .stride = M * K / 2 };
}

/* Batches of both forms, at strides and by pointers. */
START_TEST(batches)
{
    uint64_t rng = test_seed() + 1;
    static struct given x;
    const void *a[COUNT], *at[COUNT];
    for (int turn = test_cases(8, 100); turn; turn--) {
        given_draw(&x, turn % 2 ? "hopper/wgmma.m64n8k16.f32.f16" : "fma/f32", &rng);
        check_rows(&x, false);
        set_positions(&x);
        check_rows(&x, true);
        for (int i = 0; i < COUNT; i++) {
            a[i] = x.a + i * M * K;
            at[i] = x.positions + i * M * K / 2;
        }
        x.g.a = (struct bitcut_matrix){ .each = a };
        x.g.positions =
            (struct bitcut_matrix){ .each = at, .format = &formats[FORMAT_U8] };
        check_rows(&x, true);
    }
}
END_TEST

/* Groups of rows: the GEMMs of a batch, with their own numbers of rows. */
START_TEST(groups)
{
    uint64_t rng = test_seed() + 2;
    static struct given x;
    uint32_t want[N];
    for (int turn = test_cases(8, 100); turn; turn--) {
        given_draw(&x, "hopper/wgmma.m64n8k16.f32.f16", &rng);
        const int first = test_between(&rng, 0, M), second = test_between(&rng, first, M);
        const int32_t ends[COUNT] = { first, second, M };
        x.g.offsets = ends;
        x.g.a.stride = x.g.d.stride = 0;
        const bool given = test_between(&rng, 0, 1);
        if (given) set_positions(&x);
        x.g.positions.stride = 0;
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
        for (size_t i = 0; i < M; i++) {
            static struct given one;
            one = x;
            const size_t of = ((int)i >= first) + ((int)i >= second);
            memcpy(one.b, x.b + of * K * N, K * N * sizeof *one.b);
            row_alone(want, &one, 0, i, given);
            ck_assert_mem_eq(x.d + i * N, want, sizeof want);
        }
    }
}
END_TEST

/* A, positions, B and D by columns give the same D. */
START_TEST(layouts)
{
    uint64_t rng = test_seed() + 3;
    static struct given x;
    static uint32_t a[M * K], b[K * N], d[M * N], kept[M * K / 2];
    static uint8_t positions[M * K / 2];
    given_draw(&x, "ampere/mma.m16n8k16.f32.f16", &rng);
    x.g.count = 1;
    set_positions(&x);
    ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
    for (size_t i = 0; i < M; i++) {
        for (size_t k = 0; k < K; k++) a[k * M + i] = x.a[i * K + k];
        for (size_t q = 0; q < K / 2; q++) {
            positions[q * M + i] = x.positions[i * (K / 2) + q];
            kept[q * M + i] = x.a[i * K + q / 2 * 4 + positions[q * M + i]];
        }
    }
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < N; j++) b[j * K + k] = x.b[k * N + j];
    struct bitcut_gemm g = x.g;
    g.a = (struct bitcut_matrix){ .at = a, .layout = BITCUT_COLUMN_MAJOR };
    g.b = (struct bitcut_matrix){ .at = b, .layout = BITCUT_COLUMN_MAJOR };
    g.d = (struct bitcut_matrix){ .to = d, .layout = BITCUT_COLUMN_MAJOR };
    g.positions.at = positions;
    g.positions.layout = BITCUT_COLUMN_MAJOR;
    for (int compressed = 0; compressed < 2; compressed++) {
        if (compressed) g.a.at = kept, g.sparsity = BITCUT_COMPRESSED_A;
        memset(d, 0, sizeof d);
        ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++)
                ck_assert_uint_eq(d[j * M + i], x.d[i * N + j]);
    }
}
END_TEST

/* Units of integers, with one sum and with slices, against sums of integers. */
START_TEST(integers)
{
    static const char *const units_of_s8[] = { "hopper/wgmma-sat.m64n8k32.s32.s8",
                                               "hopper/wgmma.m64n8k32.s32.s8" };
    uint64_t rng = test_seed() + 4;
    static struct given x;
    static int8_t a[COUNT * M * K], b[COUNT * K * N];
    for (int turn = test_cases(8, 100); turn; turn--) {
        given_draw(&x, units_of_s8[turn % 2], &rng);
        x.g.order.slices = test_between(&rng, 1, 2);
        for (size_t i = 0; i < COUNT * M * K; i++)
            a[i] = is_zero(x.a[i]) ? 0 : (int8_t)test_between(&rng, -128, 127);
        for (size_t i = 0; i < COUNT * K * N; i++) b[i] = (int8_t)test_between(&rng, -128, 127);
        x.g.a.at = a, x.g.b.at = b;
        x.g.a.format = x.g.b.format = &formats[FORMAT_S8];
        x.g.d.format = &formats[FORMAT_S32];
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 2, NULL), BITCUT_OK);
        for (size_t at = 0; at < COUNT * M * N; at++) {
            const size_t gemm = at / (M * N), i = at / N % M, j = at % N;
            int32_t sum = 0;
            for (size_t k = 0; k < K; k++)
                sum += a[(gemm * M + i) * K + k] * b[(gemm * K + k) * N + j];
            ck_assert_int_eq((int32_t)x.d[at], sum);
        }
    }
}
END_TEST

/* An element that is not kept adds nothing, a kept zero times an infinity is NaN, and signs
   of kept zeros count. */
START_TEST(special_values)
{
    const uint32_t a[4] = { ONE, 0, 0, 0 }, other = 0xc0400000;
    uint32_t b[4] = { ONE, INFINITE, INFINITE, other }, d;
    uint8_t at[2] = { 0, 3 };
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", NULL));
    gemm_set_dense(&g, &d, 1, 1, 4, a, b, NULL);
    g.sparsity = BITCUT_SPARSE_A;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
    ck_assert_uint_eq(d, ONE);
    b[3] = INFINITE, b[1] = b[2] = other;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
    ck_assert(f32_is_nan(d));
    g.positions = (struct bitcut_matrix){ .at = at, .format = &formats[FORMAT_U8] };
    at[1] = 2;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
    ck_assert_uint_eq(d, ONE);
}
END_TEST

/* --- metrics ---------------------------------------------------------------------------- */

enum { METRIC_COUNT = 17 };

/* The metrics of one output of x, from its dense GEMM. */
static void judge_alone(double *to, const struct given *x, size_t i, size_t j)
{
    uint32_t a[K / 2], b[K / 2];
    size_t q = 0;
    for (size_t k = 0; k < K; k++)
        if (is_kept(x->a + i * K + k - k % 4, k % 4))
            a[q] = x->a[i * K + k], b[q++] = x->b[k * N + j];
    struct bitcut_gemm g = x->g;
    g.sparsity = BITCUT_DENSE;
    gemm_set_dense(&g, (uint32_t *)(uintptr_t)&x->d[i * N + j], 1, 1, K / 2, a, b,
                   (const uint32_t *)g.c.at + i * N + j);
    ck_assert_int_eq(bitcut_gemm_judge(to, METRIC_COUNT, &g, 0, 1, NULL), BITCUT_OK);
}

/* Metrics that are a largest value of all outputs, without norms of B. */
static const char *const largest[] = { "max_error",      "ulp_max",      "backward_max",
                                       "backward_limit", "grade_worst", "condition_max" };

static size_t metric_of(const char *name)
{
    size_t i = 0;
    while (strcmp(bitcut_metric_name(i), name) != 0) i++;
    return i;
}

static void scale_down(uint32_t *x, size_t count, uint32_t exponent)
{
    for (size_t i = 0; i < count; i++)
        if (!is_zero(x[i])) x[i] -= exponent << 23;
}

/* The metrics of a sparse GEMM are those of the products of kept elements: an infinite
   element of B counts only where it is multiplied. */
START_TEST(metrics_of_outputs)
{
    uint64_t rng = test_seed() + 6;
    static struct given x;
    uint32_t c[M * N];
    for (int turn = test_cases(8, 100); turn; turn--) {
        double all[METRIC_COUNT], one[M * N][METRIC_COUNT], wrong = 0;
        given_draw(&x, turn % 2 ? "hopper/wgmma.m64n8k16.f32.f16" : "fma/f32", &rng);
        for (size_t i = 0; i < COUNT * K * N; i++)
            if (!is_zero(x.b[i])) x.b[i] ^= (uint32_t)test_between(&rng, 0, 8191);
        if (turn % 4 == 2) { /* products near the smallest number */
            scale_down(x.a, COUNT * M * K, 73);
            scale_down(x.b, COUNT * K * N, 73);
        }
        for (int special = turn % 3 * 2; special; special--)
            x.b[test_between(&rng, 0, K * N - 1)] = special % 2 ? INFINITE : (uint32_t)A_NAN;
        for (size_t i = 0; i < M * N; i++) c[i] = small_draw(&rng);
        x.g.count = 1;
        x.g.beta = turn % 4 ? 0 : ONE;
        x.g.c.at = c;
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
        x.d[test_between(&rng, 0, M * N - 1)] ^= turn % 4 == 2 ? 1 : 0x1000;
        ck_assert_int_eq(bitcut_gemm_judge(all, METRIC_COUNT, &x.g, 0, 2, NULL), BITCUT_OK);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) judge_alone(one[i * N + j], &x, i, j);
        for (size_t m = 0; m < sizeof largest / sizeof *largest; m++) {
            const size_t at = metric_of(largest[m]);
            double want = 0;
            for (size_t i = 0; i < M * N; i++)
                if (one[i][at] > want) want = one[i][at];
            ck_assert_msg(all[at] == want, "%s: got %g, want %g", largest[m], all[at], want);
        }
        for (size_t i = 0; i < M * N; i++) wrong += one[i][metric_of("wrong")];
        ck_assert_double_eq(all[metric_of("wrong")], wrong);
    }
}
END_TEST

/* Integers that are made FP32: metrics, bounds and limits are those of the dense A whose
   other elements are 0, because sums of integers are exact in any order. */
START_TEST(values_of_integers)
{
    static const struct {
        const char *unit;
        int a, b;
    } units_of[] = { { "ampere/mma.m16n8k32.s32.s8", -128, -128 },
                     { "ampere/mma.m16n8k32.s32.u8.s8", 0, -128 },
                     { "amx/tdpbusd.m16n16k64.s32.u8.s8", 0, -128 } };
    uint64_t rng = test_seed() + 8;
    for (int turn = test_cases(6, 60); turn; turn--) {
        const int u = turn % 3;
        uint32_t a[M * K], dense[M * K], b[K * N], d[M * N], e[M * N];
        uint8_t at[M * K / 2];
        const float scale = 0.37f;
        struct bitcut_tolerance_options how = { .size = sizeof how, .runs = 20 };
        struct bitcut_tolerances limits = { .size = sizeof limits };
        struct bitcut_tolerance_verdict said = { .size = sizeof said };
        double one[METRIC_COUNT], two[METRIC_COUNT];
        for (size_t i = 0; i < M * K; i++)
            a[i] = f32_of_double(test_between(&rng, units_of[u].a, units_of[u].a + 255));
        for (size_t i = 0; i < K * N; i++)
            b[i] = f32_of_double(test_between(&rng, units_of[u].b, units_of[u].b + 255));
        memset(dense, 0, sizeof dense);
        for (size_t q = 0; q < M * K / 4; q++) {
            at[2 * q] = (uint8_t)test_between(&rng, 0, 2);
            at[2 * q + 1] = (uint8_t)test_between(&rng, at[2 * q] + 1, 3);
            for (int p = 0; p < 2; p++)
                dense[4 * q + at[2 * q + p]] = a[4 * q + at[2 * q + p]];
        }
        struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], unit_find(units_of[u].unit, NULL)), h;
        gemm_set_dense(&g, d, M, N, K, dense, b, NULL);
        memcpy(g.epilogue, (unsigned char[]){ BITCUT_STEP_FLOAT, BITCUT_STEP_SCALE_D, 0 }, 3);
        memcpy(&g.scale_d, &scale, sizeof g.scale_d);
        h = g;
        gemm_set_dense(&h, e, M, N, K, a, b, NULL);
        h.sparsity = BITCUT_SPARSE_A;
        h.positions = (struct bitcut_matrix){ .at = at, .format = &formats[FORMAT_U8] };
        ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(bitcut_gemm(NULL, &h, 1, NULL), BITCUT_OK);
        ck_assert_mem_eq(d, e, sizeof d);
        d[turn % (M * N)] = e[turn % (M * N)] ^= turn % 2 ? 0 : 0x4000;
        ck_assert_int_eq(bitcut_gemm_judge(one, METRIC_COUNT, &g, 0, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(bitcut_gemm_judge(two, METRIC_COUNT, &h, 0, 1, NULL), BITCUT_OK);
        ck_assert_mem_eq(one, two, sizeof one);
        for (size_t p = 0; bitcut_bound_name(p); p++) {
            double x[M * N], y[M * N];
            const enum bitcut_status s = bitcut_bound(x, &g, 0, bitcut_bound_name(p), 1, NULL);
            ck_assert_int_eq(bitcut_bound(y, &h, 0, bitcut_bound_name(p), 1, NULL), s);
            if (s == BITCUT_OK) ck_assert_mem_eq(x, y, sizeof x);
        }
        ck_assert_int_eq(bitcut_tolerance(&limits, &h, &how, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(bitcut_tolerance_judge(&said, &limits, &h, NULL, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(said.accepted, turn % 2);
    }
}
END_TEST

/* --- refusals ------------------------------------------------------------------------- */

/* What a GEMM is refused with. */
static const char *refusal(const struct bitcut_gemm *g)
{
    static char why[BITCUT_TEXT_MAX];
    why[0] = 0;
    ck_assert_int_eq(bitcut_gemm(NULL, g, 1, why), BITCUT_BAD_ARGUMENT);
    return why;
}

#define REFUSED(g, text) ck_assert_msg(strstr(refusal(&(g)), text) != NULL, "%s", refusal(&(g)))

START_TEST(refusals)
{
    uint64_t rng = test_seed() + 5;
    static struct given x, y;
    char why[BITCUT_TEXT_MAX];
    given_draw(&x, "fma/f32", &rng);
    y = x;
    y.g.a.at = y.a, y.g.b.at = y.b, y.g.d.to = y.d;
    memset(y.d, 0x5a, sizeof y.d);
    for (int e = 8; e < 11; e++) y.a[M * K + 2 * K + e] = ONE; /* GEMM 1, row 2 */
    REFUSED(y.g, "GEMM 1, row 2 has more than two elements other than 0 at k = 8 to 11");
    for (size_t i = 0; i < sizeof y.d; i++)
        ck_assert_int_eq(((const uint8_t *)y.d)[i], 0x5a); /* nothing is written */
    set_positions(&y);
    y.g.positions.at = y.positions;
    y.positions[M * K / 2 * 2 + 3] = 4; /* GEMM 2, row 0 */
    REFUSED(y.g, "GEMM 2, row 0 has");
    REFUSED(y.g, "and 4 at k = 4 to 7");
    y.positions[M * K / 2 * 2 + 3] = y.positions[M * K / 2 * 2 + 2];
    REFUSED(y.g, "positions must ascend from 0 to 3");
    y.g.count = 1;
    ck_assert_int_eq(bitcut_gemm(NULL, &y.g, 1, NULL), BITCUT_OK);
    struct bitcut_gemm g = x.g;
    g.k = K - 2;
    REFUSED(g, "requires a k that is a multiple of 4, found 22");
    g = x.g;
    g.sparsity = BITCUT_COMPRESSED_A;
    REFUSED(g, "a compressed A requires positions");
    g.sparsity = (enum bitcut_sparsity)3;
    REFUSED(g, "unknown sparsity");
    g = y.g;
    g.positions.format = NULL;
    REFUSED(g, "positions must have the format u8, found f32");
    g = y.g;
    g.positions.ld = K / 2 - 1;
    REFUSED(g, "positions: leading dimension 11 is less than the row length 12");
    g = y.g;
    g.sparsity = BITCUT_DENSE;
    REFUSED(g, "positions require a sparse A");
    g = y.g;
    g.scale_a = (struct bitcut_scales){ { .at = x.a }, 1, 8 };
    g.scaling = BITCUT_SCALING_OPERAND;
    REFUSED(g, "factors of blocks of k cannot be combined with a sparse A");
    g = y.g;
    g.unit = bitcut_unit_find("hopper/wgmma.m64n8k32.s32.s8", NULL);
    g.recipe = bitcut_recipe_find("plain");
    g.zero_b = 1;
    REFUSED(g, "zero points cannot be combined with a sparse A");
    g = x.g;
    g.k = K - 2;
    ck_assert_int_eq(bitcut_budget(NULL, 0, &g, 0, 1, why), BITCUT_BAD_ARGUMENT);
}
END_TEST

TEST_MAIN("sparse GEMMs", values_of_integers, recipes_on_units, batches, groups, layouts, integers,
          special_values, metrics_of_outputs, refusals)
