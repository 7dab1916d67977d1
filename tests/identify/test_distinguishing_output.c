/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs that distinguish hypotheses: their selection, and blocks of them. */
#include "analysis/identify/distinguishing_output.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, COLS = 30 };

/* Two results that differ where `at` says, i COLS + j, and lie where row and col say. */
struct results {
    uint32_t d[ROWS * COLS], h[ROWS * COLS];
    size_t row[ROWS], col[COLS];
};

static struct compared compared_of(struct results *x, const size_t *at, size_t count)
{
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < ROWS; i++) x->row[i] = 3 * i + 1;
    for (size_t j = 0; j < COLS; j++) x->col[j] = 2 * j + 5;
    for (size_t n = 0; n < count; n++) x->h[at[n]] = 1;
    return (struct compared){ x->d, x->h, ROWS, COLS, x->row, x->col };
}

/* Those that lie spread are taken, as many as are asked for, over all of them. */
START_TEST(spread_outputs)
{
    const size_t at[] = { 0, 45, 100, 199, 333, 598 };
    struct results x;
    struct distinguishing t = { .taken = 0 };
    struct compared c = compared_of(&x, at, 6);
    ck_assert(distinguishing_take(&t, &c, 3));
    ck_assert_uint_eq(t.taken, 3);
    for (size_t n = 0; n < 3; n++) {
        ck_assert_uint_eq(t.row[n], 3 * (at[2 * n] / COLS) + 1);
        ck_assert_uint_eq(t.col[n], 2 * (at[2 * n] % COLS) + 5);
    }
    c.row = c.col = NULL;
    ck_assert(distinguishing_take(&t, &c, 6));
    ck_assert_uint_eq(t.taken, 9);
    ck_assert_uint_eq(t.row[0], 598 / COLS); /* the first is forgotten */
    ck_assert_uint_eq(t.col[0], 598 % COLS);
    ck_assert_uint_eq(t.row[3], 0);
}
END_TEST

/* What a kernel got wrong as a whole, or everywhere, tells no order. */
START_TEST(parts_and_all)
{
    size_t at[ROWS * COLS];
    struct results x;
    struct distinguishing t = { .taken = 0 };
    struct compared c = compared_of(&x, NULL, 0);
    ck_assert(!distinguishing_take(&t, &c, 4));
    for (size_t n = 0; n < 16; n++) at[n] = (4 + n / 4) * COLS + 8 + n % 4;
    c = compared_of(&x, at, 16);
    ck_assert(!distinguishing_take(&t, &c, 4));
    for (size_t n = 0; n < COLS; n++) at[n] = 7 * COLS + n;
    c = compared_of(&x, at, COLS);
    ck_assert(!distinguishing_take(&t, &c, 4));
    for (size_t n = 0; n < ROWS * COLS / 4; n++)
        at[n] = n / (COLS / 2) * 2 * COLS + n % (COLS / 2) * 2;
    c = compared_of(&x, at, ROWS * COLS / 4);
    ck_assert(!distinguishing_take(&t, &c, 4));
    ck_assert_uint_eq(t.taken, 0);
}
END_TEST

/* A block has their rows and columns, then of another's as many as are wanted, each
   once and ascending. */
START_TEST(blocks_of_them)
{
    uint32_t a[8 * 2], b[2 * 9], d[8 * 9];
    const size_t row[] = { 0, 2, 4, 6 }, col[] = { 1, 3, 5 };
    const struct distinguishing t = { .row = { 5, 2, 5 },
                                      .col = { 8, 8, 0 },
                                      .taken = 3 };
    struct block other, made;
    for (uint32_t i = 0; i < 16; i++) a[i] = i;
    for (uint32_t i = 0; i < 18; i++) b[i] = 100 + i;
    for (uint32_t i = 0; i < 72; i++) d[i] = 1000 + i;
    const struct problem q = { .a = { 8, 2, a },
                               .b = { 2, 9, b },
                               .d = { 8, 9, d },
                               .format = &formats[FORMAT_F32] };
    ck_assert_int_eq(block_take(&other, &q, row, 4, col, 3, NULL), BITCUT_OK);
    ck_assert_int_eq(distinguishing_block(&made, &t, &other, 4, 3, NULL), BITCUT_OK);
    const size_t rows[] = { 0, 2, 4, 5 }, cols[] = { 0, 1, 8 };
    ck_assert_uint_eq(made.rows, 4);
    ck_assert_uint_eq(made.cols, 3);
    for (size_t i = 0; i < 4; i++) ck_assert_uint_eq(made.row[i], rows[i]);
    for (size_t j = 0; j < 3; j++) ck_assert_uint_eq(made.col[j], cols[j]);
    for (size_t i = 0; i < 12; i++)
        ck_assert_uint_eq(made.d[i], 1000 + rows[i / 3] * 9 + cols[i % 3]);
    block_clear(&other);
    block_clear(&made);
}
END_TEST

TEST_MAIN("telling", spread_outputs, parts_and_all, blocks_of_them)
