/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut_explain(): the returned GEMM gives the result bit for bit, or the answer states
   that it does not, and why. */
#include "lib/bitcut.h"
#include "tests/test.h"

#include <fenv.h>
#include <string.h>

enum { M = 24, N = 20, K = 64, STEP = 16, LD = 70, LONG = 600 };

/* A GEMM with all of its matrices, in which any of them may have gaps. */
struct problem {
    uint32_t a[LD * LD], b[LD * LD], c[LD * LD], d[LD * LD], again[LD * LD];
    struct bitcut_gemm g;
};

/* FP32 encodings from 2^-6 to 2^7. */
static void fill(uint32_t *x, uint64_t *random)
{
    for (size_t i = 0; i < LD * LD; i++)
        x[i] = (uint32_t)(test_bits(random) & 0x807fffff) |
               (uint32_t)test_between(random, 121, 133) << 23;
}

static void problem_make(struct problem *p, const char *recipe, const char *unit)
{
    uint64_t random = test_seed();
    fill(p->a, &random);
    fill(p->b, &random);
    fill(p->c, &random);
    bitcut_gemm_init(&p->g, sizeof p->g);
    p->g.recipe = bitcut_recipe_find(recipe);
    p->g.unit = bitcut_unit_find(unit, NULL);
    ck_assert(p->g.recipe && p->g.unit);
    p->g.m = M, p->g.n = N, p->g.k = K;
    p->g.a.at = p->a, p->g.b.at = p->b, p->g.c.at = p->c, p->g.d.to = p->d;
    memset(p->d, 0, sizeof p->d);
}

static void compute(const struct bitcut_gemm *g)
{
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_msg(bitcut_gemm(NULL, g, 1, why) == BITCUT_OK, "%s", why);
}

/* What is said of D of `asked`: of a GEMM in which all is open but sizes, alpha, beta,
   matrices, recipe and unit. */
static struct bitcut_explanation
explained(struct bitcut_gemm *found, const struct bitcut_gemm *asked, double seconds)
{
    const struct bitcut_explain_options o = { .size = sizeof o, .seconds = seconds };
    struct bitcut_explanation r = { .size = sizeof r };
    char why[BITCUT_TEXT_MAX] = "";
    bitcut_gemm_init(found, sizeof *found);
    const enum bitcut_status status = bitcut_explain(&r, found, asked, &o, 0, why);
    ck_assert_msg(status == BITCUT_OK, "%s", why);
    ck_assert(r.size == sizeof r && found->size == sizeof *found && strlen(r.text));
    return r;
}

/* D is found, and so is the GEMM that gives it. */
static struct bitcut_gemm runs(struct problem *p, const struct bitcut_gemm *asked)
{
    struct bitcut_gemm found;
    const struct bitcut_explanation r = explained(&found, asked, LONG);
    ck_assert_msg(r.found && r.runs && !r.fault && r.complete, "%s", r.text);
    ck_assert(r.compared == M * N && r.total == M * N && !r.differ && r.tried);
    ck_assert(r.matched == r.sampled && r.sampled);
    memset(p->again, 0, sizeof p->again);
    found.d.to = p->again;
    compute(&found);
    ck_assert_msg(!memcmp(p->again, p->d, sizeof p->d), "another D: %s", r.text);
    return found;
}

START_TEST(gives_what_ran)
{
    static const struct {
        const char *recipe, *unit;
        int promote, slices;
        bool high_is_rz;
    } rows[] = {
        { "ootomo", "ampere/mma.m16n8k16.f32.f16", 4, 1, false },
        { "ootomo", "ampere/mma.m16n8k16.f32.f16", 2, 2, false },
        { "plain", "hopper/mma.m16n8k16.f32.f16", BITCUT_UNSET, 3, true },
        { "fp32", "fma/f32", BITCUT_UNSET, 4, false },
    };
    static struct problem p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        problem_make(&p, rows[i].recipe, rows[i].unit);
        const struct bitcut_gemm asked = p.g;
        p.g.promote = rows[i].promote;
        p.g.order.slices = rows[i].slices;
        if (rows[i].high_is_rz) p.g.high = bitcut_rounding_find("rz");
        compute(&p.g);
        const struct bitcut_gemm found = runs(&p, &asked);
        ck_assert(found.recipe == asked.recipe && found.unit == asked.unit);
        ck_assert(found.promote >= 0 && found.scale >= 0 && found.tile_k >= 0);
    }
}
END_TEST

/* Nothing is named, and matrices lie as they like. */
START_TEST(takes_any_matrix)
{
    static struct problem p;
    problem_make(&p, "legemm", "hopper/mma.m16n8k16.f32.f16");
    p.g.a.layout = p.g.d.layout = BITCUT_COLUMN_MAJOR;
    p.g.a.ld = p.g.b.ld = p.g.c.ld = LD;
    p.g.alpha = 0x3f000000;
    p.g.beta = 0xc0000000;
    compute(&p.g);
    struct bitcut_gemm asked = p.g;
    asked.recipe = NULL;
    asked.unit = NULL;
    const struct bitcut_gemm found = runs(&p, &asked);
    ck_assert(found.recipe == p.g.recipe && found.a.ld == LD && found.beta == p.g.beta);
}
END_TEST

/* Formats that D may have: those that f32 holds, with a sign and NaN. */
START_TEST(takes_any_format)
{
    static struct problem p;
    int formats_taken = 0;
    problem_make(&p, "plain", "hopper/mma.m16n8k16.f32.f16");
    const struct bitcut_table *const table = bitcut_table_find("formats");
    const void *row = NULL;
    while ((row = bitcut_row_next(table, row))) {
        const struct bitcut_format *const format = row;
        memset(p.d, 0, sizeof p.d);
        p.g.d.format = format;
        if (bitcut_gemm(NULL, &p.g, 1, NULL) != BITCUT_OK) continue;
        ck_assert_ptr_eq(runs(&p, &p.g).d.format, format);
        formats_taken++;
    }
    ck_assert_int_ge(formats_taken, 5);
}
END_TEST

/* A square matrix whose layout is another than its caller thinks. */
START_TEST(turns_matrices)
{
    static struct problem p;
    problem_make(&p, "plain", "hopper/mma.m16n8k16.f32.f16");
    p.g.k = M;
    p.g.a.layout = BITCUT_COLUMN_MAJOR;
    compute(&p.g);
    struct bitcut_gemm asked = p.g;
    asked.a.layout = BITCUT_ROW_MAJOR;
    ck_assert_int_eq(runs(&p, &asked).a.layout, BITCUT_COLUMN_MAJOR);
}
END_TEST

START_TEST(tells_lies)
{
    static struct problem p;
    struct bitcut_gemm found;
    problem_make(&p, "plain", "hopper/mma.m16n8k16.f32.f16");
    compute(&p.g);
    p.d[7 * N + 3] ^= 1;
    struct bitcut_explanation r = explained(&found, &p.g, 1);
    ck_assert_msg(!r.found && !r.runs && r.differ == 1 && r.compared == M * N, "%s",
                  r.text);
    /* k that nobody added, and alpha that nobody read */
    p.g.a.ld = K;
    p.g.k = K - 16;
    compute(&p.g);
    p.g.k = K;
    r = explained(&found, &p.g, LONG);
    ck_assert_msg(r.found && !r.runs && !strcmp(r.fault, "k lost"), "%s", r.text);
    compute(&p.g);
    p.g.alpha = 0x40000000;
    r = explained(&found, &p.g, LONG);
    ck_assert_msg(r.found && !r.runs && !strcmp(r.fault, "alpha ignored"), "%s", r.text);
}
END_TEST

/* The two parts of the elements of a k-step that are `step` apart. */
static void parts(uint64_t *high, uint64_t *low, const uint32_t *x, size_t step)
{
    uint64_t part[3];
    for (size_t p = 0; p < STEP; p++) {
        bitcut_split_apply(part, bitcut_split_find("markidis"), x[p * step]);
        *high++ = part[0];
        *low++ = part[1];
    }
}

/* D as markidis has it, but with the products of the high parts first. */
static void compute_high_first(struct problem *x)
{
    static uint64_t a[2][M * STEP], line[2][STEP], b[2][STEP * N], d[M * N];
    for (size_t k = 0; k < K; k += STEP) {
        for (size_t i = 0; i < M; i++)
            parts(&a[0][i * STEP], &a[1][i * STEP], &x->a[i * K + k], 1);
        for (size_t j = 0; j < N; j++) {
            parts(line[0], line[1], &x->b[k * N + j], N);
            for (size_t p = 0; p < 2 * STEP; p++)
                b[p / STEP][p % STEP * N + j] = line[p / STEP][p % STEP];
        }
        for (int t = 0; t < 4; t++)
            ck_assert(bitcut_mma(d, x->g.unit, 1, M, N, STEP, a[t / 2], b[t % 2], d, 1) ==
                      BITCUT_OK);
    }
    for (size_t i = 0; i < M * N; i++) x->d[i] = (uint32_t)d[i];
}

/* What no struct bitcut_gemm says, another order of the products, is not said to run. */
START_TEST(tells_what_does_not_run)
{
    static struct problem p;
    struct bitcut_gemm found;
    problem_make(&p, "markidis", "ampere/mma.m16n8k16.f32.f16");
    compute_high_first(&p);
    const struct bitcut_explanation r = explained(&found, &p.g, LONG);
    ck_assert_msg(r.found && strstr(r.text, "its products are in order h(A)h(B)"), "%s",
                  r.text);
    ck_assert(!r.runs && !r.fault && found.recipe == p.g.recipe);
}
END_TEST

/* The caller's rounding mode changes nothing, and stays. */
START_TEST(host_modes)
{
    static struct problem p;
    struct bitcut_gemm found, first;
    problem_make(&p, "ootomo", "ampere/mma.m16n8k16.f32.f16");
    p.g.k = K - 16;
    p.g.a.ld = K;
    compute(&p.g);
    p.g.k = K; /* some of it is lost */
    const struct bitcut_explanation want = explained(&first, &p.g, LONG);
    for (int mode = 1; mode < 8; mode++) {
        const int direction = test_host_mode(mode);
        const struct bitcut_explanation got = explained(&found, &p.g, LONG);
        ck_assert_int_eq(fegetround(), direction);
        fesetenv(FE_DFL_ENV);
        ck_assert_msg(!strcmp(got.text, want.text), "mode %d: %s, not %s", mode, got.text,
                      want.text);
        ck_assert(found.recipe == first.recipe && found.promote == first.promote);
    }
}
END_TEST

/* Two results of one GEMM on units with the same products and other alignments. */
START_TEST(compares_two)
{
    static struct problem p, other;
    problem_make(&p, "ootomo", "ampere/mma.m16n8k16.f32.f16");
    problem_make(&other, "ootomo", "hopper/mma.m16n8k16.f32.f16");
    memcpy(other.a, p.a, sizeof p.a);
    memcpy(other.b, p.b, sizeof p.b);
    compute(&p.g);
    compute(&other.g);
    struct bitcut_gemm asked = p.g, found[2];
    struct bitcut_explanation r[2] = { { .size = sizeof r[0] }, { .size = sizeof r[1] } };
    struct bitcut_result_pair pair = { .size = sizeof pair };
    char why[BITCUT_TEXT_MAX] = "";
    size_t differ = 0;
    asked.recipe = NULL, asked.unit = NULL;
    for (int i = 0; i < 2; i++) bitcut_gemm_init(&found[i], sizeof found[i]);
    const enum bitcut_status status = bitcut_explain_pair(
        &pair, (struct bitcut_explanation *[]){ &r[0], &r[1] },
        (struct bitcut_gemm *[]){ &found[0], &found[1] }, &asked, &other.g.d, NULL, 1, why);
    ck_assert_msg(status == BITCUT_OK, "%s", why);
    for (size_t i = 0; i < (size_t)M * N; i++)
        differ += memcmp(&p.d[i], &other.d[i], sizeof p.d[i]) != 0;
    ck_assert(r[0].found && r[1].found && differ && pair.differ == differ);
    ck_assert(pair.size == sizeof pair && pair.total == (size_t)M * N && pair.measured);
    ck_assert(pair.ulps && pair.row < M && pair.column < N && pair.sampled);
    ck_assert(pair.error[0] > 0 && pair.nearer[0] + pair.nearer[1] <= pair.sampled);
    ck_assert_msg(strstr(pair.text, "D2 on"), "%s", pair.text);
    for (int i = 0; i < 2; i++) {
        struct problem *const of = i ? &other : &p;
        memset(of->again, 0, sizeof of->again);
        found[i].d.to = of->again;
        compute(&found[i]);
        ck_assert(!memcmp(of->again, of->d, sizeof of->d));
    }
    pair = (struct bitcut_result_pair){ .size = sizeof pair };
    ck_assert(bitcut_explain_pair(&pair, NULL, NULL, &asked, &p.g.d, NULL, 1, why) ==
              BITCUT_OK);
    ck_assert(!pair.differ && pair.total == (size_t)M * N && !pair.ulps && !pair.measured);
    ck_assert_msg(strstr(pair.text, "equal bit for bit"), "%s", pair.text);
    ck_assert(bitcut_explain_pair(&pair, NULL, NULL, &asked, NULL, NULL, 1, why) ==
              BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "there is no second result");
    pair.size = 8;
    ck_assert(bitcut_explain_pair(&pair, NULL, NULL, &asked, &p.g.d, NULL, 1, why) ==
              BITCUT_BAD_ARGUMENT);
    pair.size = sizeof pair;
    const int32_t ends[1] = { M };
    asked.offsets = ends;
    ck_assert(bitcut_explain_pair(&pair, NULL, NULL, &asked, &p.g.d, NULL, 1, why) ==
              BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(why, "two results must be of one GEMM"), "%s", why);
}
END_TEST

START_TEST(refuses)
{
    static struct problem p;
    const enum bitcut_status bad = BITCUT_BAD_ARGUMENT;
    char why[BITCUT_TEXT_MAX] = "";
    problem_make(&p, "fp32", "fma/f32");
    compute(&p.g);
    const struct bitcut_explain_options none = { 0 },
                                        past = { .size = sizeof past, .seconds = -1 };
    struct bitcut_explanation r = { 0 };
    struct bitcut_gemm found = p.g, g = p.g;
    ck_assert(bitcut_explain(&r, NULL, &p.g, NULL, 1, why) == bad && strlen(why));
    ck_assert(bitcut_explain(NULL, NULL, NULL, NULL, 1, NULL) == bad);
    ck_assert(bitcut_explain(NULL, NULL, &p.g, &none, 1, NULL) == bad);
    ck_assert(bitcut_explain(NULL, NULL, &p.g, &past, 1, NULL) == bad);
    ck_assert(bitcut_explain(NULL, NULL, &p.g, NULL, -1, NULL) == bad);
    g.count = 2;
    ck_assert(bitcut_explain(NULL, &found, &g, NULL, 1, why) == bad);
    ck_assert_str_eq(why, "the stride of D is too small: its matrices overlap");
    g.count = 0;
    ck_assert(bitcut_explain(NULL, &found, &g, NULL, 1, why) == bad);
    ck_assert_str_eq(why, "D is empty");
    g.count = SIZE_MAX, g.m = 0; /* at once */
    ck_assert(bitcut_explain(NULL, &found, &g, NULL, 1, why) == bad);
    ck_assert_str_eq(why, "D is empty");
    g = p.g, g.d.to = NULL;
    ck_assert(bitcut_explain(NULL, &found, &g, NULL, 1, NULL) == bad);
    g = p.g, g.m = 0;
    ck_assert(bitcut_explain(NULL, &found, &g, NULL, 1, NULL) == bad);
    g = p.g, g.unit = bitcut_unit_find("fma/f64", NULL);
    ck_assert(g.unit && bitcut_explain(NULL, &found, &g, NULL, 1, NULL) == bad);
    ck_assert(!memcmp(&found, &p.g, sizeof found) && !r.size);
}
END_TEST

TEST_MAIN("explain_call", gives_what_ran, takes_any_matrix, takes_any_format,
          turns_matrices, tells_lies, tells_what_does_not_run, host_modes, compares_two, refuses)
