/* SPDX-License-Identifier: BSD-3-Clause */
/* Products by a vector, computed by the loops of libraries within their panels of k, are
   explained, also if the last output has another loop of the same library.  The sums here
   share no code with the emulator. */
#include "lib/bitcut.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>

enum { M_MAX = 300, K_MAX = 1200 };

/* --- loops ------------------------------------------------------------------------ */

static float multiply_add(float x, float y, float sum, bool rounded)
{
    return rounded ? x * y + sum : fmaf(x, y, sum);
}

/* Lanes of the products [from, to), with a step of their number. */
static void add_lanes(float *lane, int lanes, const float *x, const float *y, int from,
                      int to, bool rounded)
{
    for (int p = from; p < to; p++)
        lane[(p - from) % lanes] =
            multiply_add(x[p], y[p], lane[(p - from) % lanes], rounded);
}

/* OpenBLAS, kernels with SSE3: two lanes in rounds of 8. */
static float prescott_rows(const float *x, const float *y, int k)
{
    float lane[2] = { 0 };
    const int rounds = k / 8 * 8;
    add_lanes(lane, 2, x, y, 0, rounds, true);
    for (int p = rounds; p < k; p++) lane[0] = x[p] * y[p] + lane[0];
    return lane[0] + lane[1];
}

/* The same for a single row: four lanes. */
static float prescott_last(const float *x, const float *y, int k)
{
    float l[4] = { 0 };
    const int rounds = k / 8 * 8;
    add_lanes(l, 4, x, y, 0, rounds, true);
    for (int p = rounds; p < k; p++) l[0] = x[p] * y[p] + l[0];
    return (l[0] + l[1]) + (l[2] + l[3]);
}

/* And for a single row of many columns: eight lanes in rounds of 16. */
static float prescott_row(const float *x, const float *y, int k)
{
    float l[8] = { 0 };
    const int rounds = k / 16 * 16;
    add_lanes(l, 8, x, y, 0, rounds, true);
    for (int p = rounds; p < k; p++) l[0] = x[p] * y[p] + l[0];
    return ((l[0] + l[2]) + (l[4] + l[6])) + ((l[1] + l[3]) + (l[5] + l[7]));
}

/* BLIS: four lanes, then two and one with sums of their own. */
static float blis(const float *x, const float *y, int k)
{
    float l[4] = { 0 };
    int p = k / 4 * 4;
    add_lanes(l, 4, x, y, 0, p, true);
    float sum = (l[0] + l[2]) + (l[1] + l[3]);
    if (k - p >= 2) {
        const float first = x[p] * y[p], second = x[p + 1] * y[p + 1];
        sum = sum + (first + second);
        p += 2;
    }
    if (p < k) sum = sum + x[p] * y[p];
    return sum;
}

static float joined(const float *l, int lanes)
{
    if (lanes == 1) return l[0];
    if (lanes == 2) return l[0] + l[1];
    if (lanes == 4) return (l[0] + l[1]) + (l[2] + l[3]);
    return ((l[0] + l[1]) + (l[4] + l[5])) + ((l[2] + l[3]) + (l[6] + l[7]));
}

/* oneDNN: eight lanes in rounds of two registers, then one register, and halves of it. */
static float onednn(const float *x, const float *y, int k)
{
    float l[8] = { 0 };
    int p = k / 16 * 16;
    add_lanes(l, 8, x, y, 0, p, false);
    float sum = joined(l, 8);
    for (int lanes = 8; lanes; lanes /= 2)
        if (k - p >= lanes) {
            float own[8] = { 0 };
            add_lanes(own, lanes, x, y, p, p + lanes, false);
            sum = sum + joined(own, lanes);
            p += lanes;
        }
    return sum;
}

/* --- results ---------------------------------------------------------------------- */

typedef float loop(const float *x, const float *y, int k);

/* A loop, others for the two outputs before the last and for the last, and panels of k; 0:
   none.  The last two panels
   share their k, the first a multiple of `half`. */
static const struct {
    const char *name;
    loop *loop, *edge, *last;
    int panel, half;
} kernels[] = {
    { "Prescott", prescott_rows, NULL, NULL, 128, 8 },
    { "Prescott with a last row", prescott_rows, NULL, prescott_last, 128, 8 },
    { "Prescott with three last columns", prescott_rows, prescott_row, prescott_last, 128, 8 },
    { "Prescott, two columns", prescott_row, NULL, NULL, 128, 8 },
    { "BLIS", blis, NULL, NULL, 0, 0 },
    { "oneDNN", onednn, NULL, NULL, 0, 0 },
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static float sum_of(loop *l, const float *x, const float *y, int k, int panel, int half)
{
    float sum = 0;
    for (int from = 0, length; from < k; from += length) {
        length = k - from;
        if (panel && length >= 2 * panel) length = panel;
        else if (panel && length > panel) length = (length / 2 + half - 1) / half * half;
        const float one = l(x + from, y + from, length);
        sum = from ? sum + one : one;
    }
    return sum;
}

static loop *loop_of(int kind, int i, int m)
{
    loop *const edge = i + 1 == m ? kernels[kind].last : kernels[kind].edge;
    return edge && i + 3 >= m ? edge : kernels[kind].loop;
}

static float normal(uint64_t *rng)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += ldexp((double)(test_bits(rng) >> 11), -53);
    return (float)(sum - 6);
}

START_TEST(finds_loops_of_libraries)
{
    static float a[M_MAX * K_MAX], b[K_MAX], d[M_MAX];
    uint64_t rng = test_seed();
    const int count = test_cases(24, 240);
    for (int n = 0; n < count; n++) {
        const int kind = n % KERNELS, m = test_between(&rng, 60, M_MAX),
                  k = test_between(&rng, kernels[kind].last ? 1000 : 200, K_MAX);
        for (int i = 0; i < m * k; i++) a[i] = normal(&rng);
        for (int p = 0; p < k; p++) b[p] = normal(&rng);
        for (int i = 0; i < m; i++)
            d[i] = sum_of(loop_of(kind, i, m), a + i * k, b, k, kernels[kind].panel,
                          kernels[kind].half);
        const struct bitcut_explain_options o = { .size = sizeof o, .effort = 0.1 };
        struct bitcut_explanation r = { .size = sizeof r };
        struct bitcut_gemm g, found;
        char why[BITCUT_TEXT_MAX] = "";
        bitcut_gemm_init(&g, sizeof g);
        bitcut_gemm_init(&found, sizeof found);
        g.m = (size_t)m, g.n = 1, g.k = (size_t)k;
        g.a.at = a, g.b.at = b, g.d.to = d;
        ck_assert_msg(bitcut_explain(&r, &found, &g, &o, 0, why) == BITCUT_OK, "%s", why);
        ck_assert_msg(r.found, "case %d, %s, %d x 1 x %d: %s", n, kernels[kind].name, m, k,
                      r.text);
    }
}
END_TEST

TEST_MAIN("order_trial", finds_loops_of_libraries)
