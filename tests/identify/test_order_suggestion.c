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

START_TEST(finds_any_order)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    const int count = test_cases(40, 400);
    int missed = 0;
    for (int i = 0; i < count; i++) {
        struct bitcut_gemm asked, found;
        const struct bitcut_explain_options o = { .size = sizeof o, .effort = 0.02 };
        struct bitcut_explanation r = { .size = sizeof r };
        char why[BITCUT_TEXT_MAX] = "", line[BITCUT_ORDER_MAX];
        draw(&x, &rng);
        ck_assert_msg(bitcut_gemm(NULL, &x.g, 0, why) == BITCUT_OK, "%s", why);
        asked = x.g;
        asked.order = (struct bitcut_order){ 0 };
        asked.unit = NULL;
        bitcut_gemm_init(&found, sizeof found);
        ck_assert(bitcut_explain(&r, &found, &asked, &o, 0, why) == BITCUT_OK);
        if (r.found && r.runs) continue;
        bitcut_order_write(line, &x.g.order);
        printf("# case %d, k %zu, %s: %s\n", i, x.g.k, line, r.text);
        missed++;
    }
    printf("# %d of %d orders missed\n", missed, count);
    ck_assert_msg(missed <= count / 20, "%d of %d orders missed", missed, count);
}
END_TEST

TEST_MAIN("order_suggestion", finds_any_order)
