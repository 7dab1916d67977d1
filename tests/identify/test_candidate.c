/* SPDX-License-Identifier: BSD-3-Clause */
/* A candidate gives a column of outputs the same bits alone, where it may be computed as a
   row, as among other columns. */
#include "analysis/identify/hypothesis.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 20, COLS = 3, K_MAX = 80 };

struct drawn {
    uint32_t a[ROWS_MAX * K_MAX], b[K_MAX * COLS], c[ROWS_MAX * COLS], d[ROWS_MAX * COLS];
    struct problem q;
};

/* Mostly numbers of similar size; sometimes any encoding. */
static uint32_t draw_number(uint64_t *rng, bool any)
{
    const uint32_t x = (uint32_t)test_bits(rng);
    return any && !test_between(rng, 0, 30) ? x : (x & 0x80ffffffu) | 0x3f000000u;
}

static void draw(struct drawn *x, uint64_t *rng)
{
    const size_t m = (size_t)test_between(rng, 2, ROWS_MAX),
                 k = (size_t)test_between(rng, 1, K_MAX);
    const bool any = !test_between(rng, 0, 2), reads_c = test_between(rng, 0, 1);
    for (size_t i = 0; i < m * k; i++) x->a[i] = draw_number(rng, any);
    for (size_t i = 0; i < k * COLS; i++) x->b[i] = draw_number(rng, any);
    for (size_t i = 0; i < m * COLS; i++) x->c[i] = draw_number(rng, any);
    for (size_t i = 0; i < m * COLS; i++) x->d[i] = draw_number(rng, false);
    x->q = (struct problem){ .a = { .rows = m, .cols = k, .at = x->a },
                             .b = { .rows = k, .cols = COLS, .at = x->b },
                             .c = { .rows = m, .cols = COLS, .at = reads_c ? x->c : NULL },
                             .d = { .rows = m, .cols = COLS, .at = x->d },
                             .format = &formats[FORMAT_F32],
                             .alpha = 0x3f800000,
                             .beta = reads_c ? 0x3fc00000 : 0 };
    if (test_between(rng, 0, 1)) x->q.alpha = 0xbfa00000;
}

static struct hypothesis draw_hypothesis(uint64_t *rng, const struct space *s)
{
    struct hypothesis h = { { 0 } };
    for (int i = 0; i < AXES; i++)
        if (i <= AXIS_UNIT || !test_between(rng, 0, 3))
            h.at[i] = (uint16_t)test_between(rng, 0, (int)axes[i].count(s) - 1);
    return h;
}

START_TEST(column_alone)
{
    static struct drawn x;
    static const size_t all[ROWS_MAX] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                          10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };
    static uint32_t wide[ROWS_MAX * COLS], one[ROWS_MAX];
    const struct gemm_options options = { .threads = 1 };
    uint64_t rng = test_seed();
    const int count = test_cases(60, 1000);
    int compared = 0;
    for (int n = 0; n < count; n++) {
        struct block full, column;
        struct space s;
        draw(&x, &rng);
        const size_t m = problem_m(&x.q), j = (size_t)test_between(&rng, 0, COLS - 1);
        ck_assert_int_eq(block_take(&full, &x.q, all, m, all, COLS, NULL), BITCUT_OK);
        ck_assert_int_eq(block_take(&column, &x.q, all, m, &j, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(explain_space_make(&s, &full, NULL), BITCUT_OK);
        for (int h = 0; h < 200; h++) {
            const struct hypothesis now = draw_hypothesis(&rng, &s);
            struct candidate y;
            if (!candidate_make(&y, &s, now) ||
                candidate_run(wide, &y, &s, &full, &options, NULL) != BITCUT_OK)
                continue;
            ck_assert_int_eq(candidate_run(one, &y, &s, &column, &options, NULL),
                             BITCUT_OK);
            for (size_t i = 0; i < m; i++)
                ck_assert_msg(one[i] == wide[i * COLS + j],
                              "case %d, %s on %s: D[%zu, %zu] is %08x, alone %08x", n,
                              y.gemm.recipe->name, y.gemm.unit->name, i, j,
                              (unsigned)wide[i * COLS + j], (unsigned)one[i]);
            compared++;
        }
        explain_space_clear(&s);
        block_clear(&full);
        block_clear(&column);
    }
    printf("# %d candidates compared\n", compared);
    ck_assert_int_gt(compared, 5 * count);
}
END_TEST

TEST_MAIN("candidate", column_alone)
