/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k of scalar kernels are found from the rounding errors of D: any number of
   lanes in slices of any length, with little work. */
#include "lib/bitcut.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 32, COLS = 32, K_MAX = 1200, SLICES_MAX = 6, LANES_MAX = 32 };

struct drawn {
    uint32_t a[ROWS * K_MAX], b[K_MAX * COLS], c[ROWS * COLS], d[ROWS * COLS];
    struct bitcut_gemm g;
};

static uint32_t normal(uint64_t *rng)
{
    double sum = 0;
    union {
        float value;
        uint32_t bits;
    } x;
    for (int i = 0; i < 12; i++) sum += ldexp((double)(test_bits(rng) >> 11), -53);
    x.value = (float)(sum - 6);
    return x.bits;
}

/* An order whose slices have at least 8 k in each lane, so that lanes have errors. */
static struct bitcut_order draw_order(uint64_t *rng, int k)
{
    struct bitcut_order o = { 0 };
    const int lanes = test_between(rng, 0, 2) ? test_between(rng, 2, LANES_MAX) : 1,
              chunk = 1 << test_between(rng, 0, 3), least = 8 * lanes * chunk;
    if (lanes > 1 && lanes * chunk * 8 <= k) {
        o.lanes = lanes;
        o.chunk = chunk;
    }
    if (test_between(rng, 0, 1) && k >= 2 * least) {
        const int most = k / least < SLICES_MAX ? k / least : SLICES_MAX;
        const int slices = test_between(rng, 2, most);
        o.tile = (k + slices - 1) / slices;
        o.slices = (k + o.tile - 1) / o.tile;
        if (o.slices > 2 && test_between(rng, 0, 1))
            o.balance_tail = 1 << test_between(rng, 0, 4);
    }
    return o;
}

static void draw(struct drawn *x, uint64_t *rng)
{
    struct bitcut_gemm *const g = &x->g;
    bitcut_gemm_init(g, sizeof *g);
    g->recipe = bitcut_recipe_find("fp32");
    g->unit = bitcut_unit_find(test_between(rng, 0, 1) ? "fma/f32" : "mul-add/f32", NULL);
    g->m = ROWS, g->n = COLS, g->k = (size_t)test_between(rng, 100, K_MAX);
    g->a.at = x->a, g->b.at = x->b, g->d.to = x->d;
    for (size_t i = 0; i < ROWS * g->k; i++) x->a[i] = normal(rng);
    for (size_t i = 0; i < g->k * COLS; i++) x->b[i] = normal(rng);
    if (!test_between(rng, 0, 3)) {
        for (size_t i = 0; i < ROWS * COLS; i++) x->c[i] = normal(rng);
        g->c.at = x->c;
        g->alpha = 0x3fc00000; /* 1.5 */
        g->beta = 0x3f000000;
    }
    g->order = draw_order(rng, (int)g->k);
}

/* Whether explain finds no order that gives D of x. */
static bool is_missed(struct drawn *x, int number)
{
    const struct bitcut_explain_options o = { .size = sizeof o, .effort = 0.02 };
    struct bitcut_explanation r = { .size = sizeof r };
    struct bitcut_gemm asked, found;
    char why[BITCUT_TEXT_MAX] = "", line[BITCUT_ORDER_MAX];
    ck_assert_msg(bitcut_gemm(NULL, &x->g, 0, why) == BITCUT_OK, "%s", why);
    asked = x->g;
    asked.order = (struct bitcut_order){ 0 };
    asked.unit = NULL;
    bitcut_gemm_init(&found, sizeof found);
    ck_assert(bitcut_explain(&r, &found, &asked, &o, 0, why) == BITCUT_OK);
    if (r.found && r.runs) return false;
    bitcut_order_write(line, &x->g.order);
    printf("# case %d, k %zu, %s: %s\n", number, x->g.k, line, r.text);
    return true;
}

START_TEST(finds_any_order)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    const int count = test_cases(40, 400);
    int missed = 0;
    for (int i = 0; i < count; i++) {
        draw(&x, &rng);
        missed += is_missed(&x, i);
    }
    printf("# %d of %d orders missed\n", missed, count);
    ck_assert_msg(missed <= count / 20, "%d of %d orders missed", missed, count);
}
END_TEST

/* Lanes in rounds of an unrolled loop, whose remaining k follow one after the other. */
START_TEST(finds_rounds)
{
    static struct drawn x;
    uint64_t rng = test_seed() + 1;
    const int count = test_cases(12, 120);
    int missed = 0;
    for (int i = 0; i < count; i += test_whole() ? 1 : 2) {
        const int lanes = 2 << test_between(&rng, 0, 3), chunk = 1 << test_between(&rng, 0, 1),
                  round = lanes * chunk << test_between(&rng, 0, 2);
        do draw(&x, &rng);
        while (x.g.k < 8 * (size_t)round || x.g.k % (size_t)round == 0);
        x.g.order = (struct bitcut_order){ .lanes = lanes, .chunk = chunk, .unroll = round };
        missed += is_missed(&x, i);
    }
    printf("# %d of %d orders in rounds missed\n", missed, count);
    ck_assert_msg(missed <= count / 10, "%d of %d orders missed", missed, count);
}
END_TEST

/* D of products added in an order of k that no hypothesis has. */
static void shuffle_sums(struct drawn *x, uint64_t *rng)
{
    static size_t at[K_MAX];
    const size_t k = x->g.k;
    for (size_t p = 0; p < k; p++) at[p] = p;
    for (size_t p = k - 1; p > 0; p--) {
        const size_t other = (size_t)test_between(rng, 0, (int)p), kept = at[p];
        at[p] = at[other];
        at[other] = kept;
    }
    for (size_t out = 0; out < ROWS * COLS; out++) {
        union {
            float value;
            uint32_t bits;
        } a, b, sum = { 0 };
        for (size_t p = 0; p < k; p++) {
            a.bits = x->a[out / COLS * k + at[p]];
            b.bits = x->b[at[p] * COLS + out % COLS];
            sum.value = (float)((double)sum.value + (double)a.value * (double)b.value);
        }
        x->d[out] = sum.bits;
    }
}

/* The work of a search ends it, after as many hypotheses for any number of threads, and
   more of them with more effort. */
START_TEST(work_is_counted)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    size_t before = 0;
    draw(&x, &rng);
    x.g.order = (struct bitcut_order){ 0 };
    x.g.c.at = NULL;
    x.g.alpha = 0x3f800000, x.g.beta = 0;
    x.g.unit = NULL;
    shuffle_sums(&x, &rng);
    for (double effort = 0.004; effort < 0.05; effort *= 4) {
        const struct bitcut_explain_options o = { .size = sizeof o, .effort = effort };
        struct bitcut_explanation r[2] = { { .size = sizeof *r }, { .size = sizeof *r } };
        for (int threads = 1; threads <= 2; threads++) {
            struct bitcut_gemm found;
            char why[BITCUT_TEXT_MAX] = "";
            bitcut_gemm_init(&found, sizeof found);
            ck_assert(bitcut_explain(&r[threads - 1], &found, &x.g, &o, threads, why) ==
                      BITCUT_OK);
        }
        ck_assert(!r[0].found && !r[0].complete && !r[1].complete);
        ck_assert_uint_eq(r[0].tried, r[1].tried);
        ck_assert_str_eq(r[0].text, r[1].text);
        ck_assert_uint_gt(r[0].tried, 2 * before);
        before = r[0].tried;
    }
}
END_TEST

TEST_MAIN("order_suggestion", finds_any_order, finds_rounds, work_is_counted)
