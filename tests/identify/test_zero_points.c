/* SPDX-License-Identifier: BSD-3-Clause */
/* Zero points at the ends of their range, and long sums: no sum or product of them leaves
   its type, which the sanitizers check, and every result is that of 128-bit integers. */
#include "analysis/accuracy/integer_answer.h"
#include "analysis/identify/zero_points.h"
#include "emu/unit.h"
#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { M = 3, N = 2, K_MAX = 1 << 17 };

static const int32_t ends[] = { INT32_MIN, INT32_MIN + 1, -(1 << 22), -255, -1, 0, 1, 255,
                                1 << 22, INT32_MAX - 1, INT32_MAX };

enum { ENDS = sizeof ends / sizeof *ends };

struct integers {
    size_t k;
    int8_t *a;  /* M x k */
    uint8_t *b; /* N columns of k */
    int32_t za, zb, d[M * N];
    struct bitcut_gemm g;
};

static void fill(struct integers *x, int turn, uint64_t *random)
{
    static const size_t lengths[] = { 1, 3, 64, 1000, K_MAX };
    const bool extreme = test_between(random, 0, 1);
    x->k = lengths[turn % 5];
    x->a = malloc(M * x->k);
    x->b = malloc(N * x->k);
    x->za = ends[test_between(random, 0, ENDS - 1)];
    x->zb = ends[test_between(random, 0, ENDS - 1)];
    for (size_t i = 0; i < M * x->k; i++)
        x->a[i] = (int8_t)(extreme ? -128 : test_between(random, -128, 127));
    for (size_t i = 0; i < N * x->k; i++)
        x->b[i] = (uint8_t)(extreme ? 255 : test_between(random, 0, 255));
    bitcut_gemm_init(&x->g, sizeof x->g);
    x->g.recipe = bitcut_recipe_find("plain");
    x->g.unit = bitcut_unit_find(turn % 2 ? "ampere/mma.m16n8k32.s32.s8.u8"
                                          : "amx/tdpbsud.m16n16k64.s32.s8.u8", NULL);
    x->g.m = M, x->g.n = N, x->g.k = x->k;
    x->g.a = (struct bitcut_matrix){ .at = x->a, .format = bitcut_format_find("s8") };
    x->g.b = (struct bitcut_matrix){ .at = x->b,
                                     .format = bitcut_format_find("u8"),
                                     .layout = BITCUT_COLUMN_MAJOR };
    x->g.d = (struct bitcut_matrix){ .to = x->d, .format = bitcut_format_find("s32") };
    x->g.zero_a = x->za, x->g.zero_b = x->zb;
}

static void clear(struct integers *x)
{
    free(x->a);
    free(x->b);
}

/* The sum of (a - zero_a) (b - zero_b), element by element. */
static __int128 exact(const struct integers *x, size_t i, size_t j, int32_t za, int32_t zb)
{
    __int128 sum = 0;
    for (size_t p = 0; p < x->k; p++)
        sum += ((__int128)x->a[i * x->k + p] - za) * ((__int128)x->b[j * x->k + p] - zb);
    return sum;
}

START_TEST(sums_at_the_ends)
{
    uint64_t random = test_seed();
    for (int turn = 0; turn < test_cases(20, 100); turn++) {
        struct integers x;
        struct integer_outputs all;
        struct fault f;
        size_t right = 0;
        fill(&x, turn, &random);
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                const __int128 sum = exact(&x, i, j, x.za, x.zb);
                ck_assert_msg(x.d[i * N + j] == (int32_t)(uint32_t)sum,
                              "k %zu, zero points %d and %d", x.k, x.za, x.zb);
                right += sum >= INT32_MIN && sum <= INT32_MAX;
            }
        ck_assert_int_eq(integer_outputs_count(&all, &x.g, &f), BITCUT_OK);
        ck_assert_uint_eq(all.of[INTEGER_EXACT], right);
        ck_assert_uint_eq(all.of[INTEGER_WRAPPED], M * N - right);
        clear(&x);
    }
}
END_TEST

/* explain takes the same zero points, and names others that D does not have. */
START_TEST(explained_at_the_ends)
{
    const struct bitcut_explain_options o = { .size = sizeof o };
    uint64_t random = test_seed() + 1;
    for (int turn = 0; turn < test_cases(20, 100); turn++) {
        struct bitcut_explanation e = { .size = sizeof e };
        struct integers x;
        char why[BITCUT_TEXT_MAX] = "";
        fill(&x, turn % 4, &random);
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
        x.g.recipe = NULL, x.g.unit = NULL;
        ck_assert_msg(bitcut_explain(&e, NULL, &x.g, &o, 1, why) == BITCUT_OK, "%s", why);
        ck_assert_msg(e.found, "k %zu, zero points %d and %d: %s", x.k, x.za, x.zb, e.text);
        x.g.zero_a = x.g.zero_b = 0; /* searched for */
        ck_assert_msg(bitcut_explain(&e, NULL, &x.g, &o, 1, why) == BITCUT_OK, "%s", why);
        x.d[M * N - 1] ^= INT32_MIN;
        ck_assert_msg(bitcut_explain(&e, NULL, &x.g, &o, 1, why) == BITCUT_OK, "%s", why);
        clear(&x);
    }
}
END_TEST

/* The terms are those of (a - zero_a) (b - zero_b) modulo 2^64, for every k. */
START_TEST(terms_are_modular)
{
    static const size_t lengths[] = { 1, 2, 1 << 20, UINT32_MAX, SIZE_MAX / 2, SIZE_MAX };
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int i = 0; i < ENDS; i++)
            for (int j = 0; j < ENDS; j++) {
                struct zero_terms to[ZERO_TERMS_MAX];
                char text[1000] = "";
                const size_t count = zero_terms_of(to, ends[i], ends[j], lengths[l]);
                ck_assert(count && count <= ZERO_TERMS_MAX);
                ck_assert_uint_eq(to[0].rows, (uint64_t)-(__int128)ends[j]);
                ck_assert_uint_eq(to[0].cols, (uint64_t)-(__int128)ends[i]);
                ck_assert_uint_eq(to[0].constant, (uint64_t)((__int128)ends[i] * ends[j] *
                                                             (__int128)lengths[l]));
                for (size_t t = 0; t < count; t++)
                    zero_terms_describe(text, sizeof text, &to[t], lengths[l]);
            }
}
END_TEST

/* The terms that three outputs have: for those of zero points the same outputs again; no
   output, however large, leaves its type. */
START_TEST(fits_at_the_ends)
{
    static const int64_t all[] = { INT64_MIN, INT64_MIN + 1, INT32_MIN, -1, 0, 1, INT32_MAX,
                                   INT64_MAX };
    enum { ALL = sizeof all / sizeof *all };
    uint64_t random = test_seed() + 2;
    for (int turn = 0; turn < test_cases(20000, 200000); turn++) {
        struct zero_outputs x;
        struct zero_terms to = { 0 };
        char text[1000] = "";
        const bool fitting = turn % 2;
        const int32_t za = ends[test_between(&random, 0, ENDS - 1)],
                      zb = ends[test_between(&random, 0, ENDS - 1)];
        const size_t k = (size_t)test_between(&random, 1, K_MAX);
        for (int i = 0; i < 2; i++) {
            x.row_sum[i] = fitting ? test_between(&random, -1000, 1000) : all[test_between(&random, 0, ALL - 1)];
            x.col_sum[i] = fitting ? test_between(&random, -1000, 1000) : all[test_between(&random, 0, ALL - 1)];
        }
        for (int o = 0; o < 3; o++)
            x.excess[o] = fitting ? (int64_t)(uint64_t)(-(__int128)zb * x.row_sum[o == 1] -
                                                        (__int128)za * x.col_sum[o == 2] +
                                                        (__int128)za * zb * (__int128)k)
                                  : all[test_between(&random, 0, ALL - 1)];
        zero_terms_fit(&to, &x, k);
        zero_terms_describe(text, sizeof text, &to, k);
        if (!fitting) continue;
        for (int o = 0; o < 3; o++)
            ck_assert_int_eq((int64_t)(to.rows * (uint64_t)x.row_sum[o == 1] +
                                       to.cols * (uint64_t)x.col_sum[o == 2] + to.constant),
                             x.excess[o]);
    }
}
END_TEST

/* Dequantized, with the largest zero points of a metric: it accepts what the emulator gives. */
START_TEST(metrics_at_the_ends)
{
    uint64_t random = test_seed() + 3;
    for (int turn = 0; turn < test_cases(8, 40); turn++) {
        struct integers x;
        float d[M * N];
        double metric[1];
        fill(&x, turn % 4, &random);
        x.g.zero_a = turn & 1 ? 1 << 22 : -(1 << 22);
        x.g.zero_b = turn & 2 ? 1 << 22 : -(1 << 22);
        x.g.d = (struct bitcut_matrix){ .to = d };
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
        for (size_t i = 0; i < M * N; i++) {
            const int32_t sum = (int32_t)(uint32_t)exact(&x, i / N, i % N, x.g.zero_a, x.g.zero_b);
            ck_assert(d[i] == (float)sum);
        }
        ck_assert_int_eq(bitcut_gemm_judge(metric, 1, &x.g, 0, 1, NULL), BITCUT_OK);
        x.g.zero_a = turn & 1 ? INT32_MAX : INT32_MIN;
        ck_assert_int_eq(bitcut_gemm_judge(metric, 1, &x.g, 0, 1, NULL), BITCUT_BAD_ARGUMENT);
        clear(&x);
    }
}
END_TEST

TEST_MAIN("zero_points", sums_at_the_ends, explained_at_the_ends, terms_are_modular,
          fits_at_the_ends, metrics_at_the_ends)
