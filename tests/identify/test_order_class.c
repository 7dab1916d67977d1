/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that compute their last rows or columns, or every second group of rows, in
   another order of k: explain names each order and its rows and columns.  The sums here
   share no code with the emulator. */
#include "lib/bitcut.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_MAX = 48, K_MAX = 500, LANES_MAX = 32, WHERE_MAX = 64 };

/* An order of k: slices of `length` k, in each of them lanes in rounds of `unroll` k, and
   then the remaining k one after another. */
struct own_order {
    int length, lanes, chunk, unroll;
    bool rounded; /* products are rounded before they are added */
};

struct drawn {
    int m, n, k;
    float a[SIDE_MAX * K_MAX], b[K_MAX * SIDE_MAX], d[SIDE_MAX * SIDE_MAX];
    struct own_order main, other, corner;
    int row, period, col; /* from this row or column on, or in the second half of each
                             period, the order is another one */
    char where[WHERE_MAX];
};

static float normal(uint64_t *rng)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += ldexp((double)(test_bits(rng) >> 11), -53);
    return (float)(sum - 6);
}

static float add(const struct own_order *o, float a, float b, float sum)
{
    return o->rounded ? a * b + sum : fmaf(a, b, sum);
}

/* The sum of the k of one slice. */
static float slice_sum(const struct own_order *o, const float *a, const float *b,
                       int stride, int k)
{
    float lane[LANES_MAX] = { 0 };
    const int rounds = o->unroll ? k / o->unroll * o->unroll : k;
    for (int p = 0; p < rounds; p++) {
        float *const sum = &lane[p / o->chunk % o->lanes];
        *sum = add(o, a[p], b[p * stride], *sum);
    }
    for (int l = 1; l < o->lanes && l * o->chunk < rounds; l++) lane[0] += lane[l];
    for (int p = rounds; p < k; p++) lane[0] = add(o, a[p], b[p * stride], lane[0]);
    return lane[0];
}

static float output(const struct own_order *o, const struct drawn *x, int i, int j)
{
    float sum = 0;
    for (int p = 0; p < x->k; p += o->length) {
        const int length = p + o->length < x->k ? o->length : x->k - p;
        const float one =
            slice_sum(o, x->a + i * x->k + p, x->b + p * x->n + j, x->n, length);
        sum = p ? sum + one : one;
    }
    return sum;
}

static struct own_order draw_order(uint64_t *rng, int k, bool rounded, int length)
{
    struct own_order o = { length, 1, 1, 0, rounded };
    const int lanes = test_between(rng, 1, LANES_MAX), chunk = 1 << test_between(rng, 0, 2);
    if (lanes == 1 || 8 * lanes * chunk > length || 8 * lanes * chunk > k) return o;
    o.lanes = lanes;
    o.chunk = chunk;
    if (test_between(rng, 0, 1)) o.unroll = lanes * chunk << test_between(rng, 0, 1);
    return o;
}

static bool is_other(const struct drawn *x, int i, int j, bool *corner)
{
    const bool row = x->period ? i % x->period >= x->period / 2 : i >= x->row,
               col = j >= x->col;
    *corner = row && col;
    return row || col;
}

static void draw_place(struct drawn *x, uint64_t *rng)
{
    const int kind = test_between(rng, 0, 3);
    x->row = x->m, x->col = x->n, x->period = 0;
    if (kind == 0 || kind == 3) x->row = x->m - test_between(rng, 2, 7);
    if (kind == 1 || kind == 3) x->col = x->n - test_between(rng, 2, 7);
    if (kind == 2) x->period = 2 * test_between(rng, 2, 6);
    if (kind == 0)
        snprintf(x->where, sizeof x->where, "in rows %d to %d (", x->row, x->m - 1);
    if (kind == 1)
        snprintf(x->where, sizeof x->where, "in columns %d to %d (", x->col, x->n - 1);
    if (kind == 2)
        snprintf(x->where, sizeof x->where, "in rows %d to %d of every %d", x->period / 2,
                 x->period - 1, x->period);
    if (kind == 3)
        snprintf(x->where, sizeof x->where, "rows %d to %d, columns %d to %d", x->row,
                 x->m - 1, x->col, x->n - 1);
}

static void compute(struct drawn *x)
{
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->n; j++) {
            bool corner;
            const struct own_order *o = &x->main;
            if (is_other(x, i, j, &corner)) o = &x->other;
            if (corner) o = &x->corner;
            x->d[i * x->n + j] = output(o, x, i, j);
        }
}

/* Orders that add differently; the corner of a periodic place is not used. */
static bool same_order(const struct own_order *x, const struct own_order *y)
{
    return x->lanes == y->lanes && x->chunk == y->chunk && x->rounded == y->rounded &&
           x->unroll == y->unroll && x->length == y->length;
}

static void draw(struct drawn *x, uint64_t *rng)
{
    x->m = test_between(rng, 32, SIDE_MAX), x->n = test_between(rng, 24, SIDE_MAX);
    x->k = test_between(rng, 100, K_MAX);
    for (int i = 0; i < x->m * x->k; i++) x->a[i] = normal(rng);
    for (int i = 0; i < x->k * x->n; i++) x->b[i] = normal(rng);
    draw_place(x, rng);
    const bool rounded = test_between(rng, 0, 1);
    const int length = test_between(rng, 0, 2) ? x->k : 16 * test_between(rng, 4, 16);
    x->main = draw_order(rng, x->k, rounded, length);
    do x->other = draw_order(rng, x->k, rounded ^ !test_between(rng, 0, 3), length);
    while (same_order(&x->other, &x->main));
    do x->corner = draw_order(rng, x->k, rounded, length);
    while (same_order(&x->corner, &x->main) || same_order(&x->corner, &x->other));
    compute(x);
}

static struct bitcut_explanation explain(const struct drawn *x)
{
    struct bitcut_gemm g, found;
    struct bitcut_explanation r = { .size = sizeof r };
    const struct bitcut_explain_options o = { .size = sizeof o, .effort = 0.2 };
    char why[BITCUT_TEXT_MAX] = "";
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&found, sizeof found);
    g.m = (size_t)x->m, g.n = (size_t)x->n, g.k = (size_t)x->k;
    g.a.at = x->a, g.b.at = x->b, g.d.to = (void *)x->d;
    g.recipe = bitcut_recipe_find("fp32");
    ck_assert_msg(bitcut_explain(&r, &found, &g, &o, 0, why) == BITCUT_OK, "%s", why);
    return r;
}

START_TEST(names_classes)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    const int count = test_cases(32, 400);
    int missed = 0;
    for (int i = 0; i < count; i++) {
        draw(&x, &rng);
        const struct bitcut_explanation r = explain(&x);
        if (r.found && strstr(r.text, x.where) && strstr(r.text, "all ")) continue;
        printf("# case %d, %d x %d x %d, %s; lanes %d %d %d, chunk %d %d %d, unroll %d %d "
               "%d, rounded %d %d, slices of %d: %s\n",
               i, x.m, x.n, x.k, x.where, x.main.lanes, x.other.lanes, x.corner.lanes,
               x.main.chunk, x.other.chunk, x.corner.chunk, x.main.unroll, x.other.unroll,
               x.corner.unroll, x.main.rounded, x.other.rounded, x.main.length, r.text);
        missed++;
    }
    printf("# %d of %d kernels missed\n", missed, count);
    fflush(stdout);
    ck_assert_msg(missed <= 1 + count / 10, "%d of %d kernels missed", missed, count);
}
END_TEST

/* One wrong bit anywhere, and no orders explain all of D. */
START_TEST(takes_no_wrong_output)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    const int count = test_cases(8, 100);
    for (int i = 0; i < count; i += test_whole() ? 1 : 2) {
        uint32_t *const d = (uint32_t *)(void *)x.d;
        draw(&x, &rng);
        d[test_between(&rng, 0, x.m * x.n - 1)] ^= 1u << test_between(&rng, 6, 20);
        const struct bitcut_explanation r = explain(&x);
        ck_assert_msg(!strstr(r.text, "all "), "case %d: %s", i, r.text);
    }
}
END_TEST

TEST_MAIN("order_class", names_classes, takes_no_wrong_output)
