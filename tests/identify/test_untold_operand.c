/* SPDX-License-Identifier: BSD-3-Clause */
/* A bias or factors of D that were not given are found in D and the exact result; nothing is
   found in a D of an inaccurate kernel, nor in one of other numbers. */
#include "analysis/identify/untold_operand.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 24, COLS_MAX = 20, K_MAX = 60 };

/* A block with numbers of rows and columns. */
struct drawn {
    uint32_t a[ROWS_MAX * K_MAX], b[K_MAX * COLS_MAX], c[ROWS_MAX * COLS_MAX],
        d[ROWS_MAX * COLS_MAX];
    double of_row[ROWS_MAX], of_column[COLS_MAX];
    struct block block;
};

static double uniform(uint64_t *rng, double low, double high)
{
    return low + (high - low) * ldexp((double)(test_bits(rng) >> 11), -53);
}

static uint32_t f32(double x) { return bits_of_float((float)x); }

static void draw(struct drawn *x, uint64_t *rng)
{
    struct block *const b = &x->block;
    *b = (struct block){ .rows = (size_t)test_between(rng, 4, ROWS_MAX),
                         .cols = (size_t)test_between(rng, 4, COLS_MAX),
                         .k = (size_t)test_between(rng, 1, K_MAX),
                         .a = x->a,
                         .b = x->b,
                         .d = x->d };
    if (test_between(rng, 0, 1)) b->c = x->c;
    for (size_t i = 0; i < b->rows * b->k; i++) x->a[i] = f32(uniform(rng, -1, 1));
    for (size_t i = 0; i < b->k * b->cols; i++) x->b[i] = f32(uniform(rng, -1, 1));
    for (size_t i = 0; i < b->rows * b->cols; i++) x->c[i] = f32(uniform(rng, -1, 1));
    for (size_t i = 0; i < b->rows; i++) x->of_row[i] = uniform(rng, 1, 3);
    for (size_t j = 0; j < b->cols; j++) x->of_column[j] = uniform(rng, 1, 3);
}

enum {
    NOTHING,
    ALL,
    BIAS_COLUMNS,
    BIAS_ROWS,
    FACTOR_ROWS,
    FACTOR_COLUMNS,
    FACTOR_BOTH,
    NOISE,
    MOSTLY_ZEROS,
    KINDS
};

/* D with an operand of a kind, and with errors like those of f16 parts. */
static void compute(struct drawn *x, int kind, double alpha, double beta, uint64_t *rng)
{
    const struct block *const b = &x->block;
    for (size_t at = 0; at < b->rows * b->cols; at++) {
        const size_t i = at / b->cols, j = at % b->cols;
        const double row = x->of_row[i], column = x->of_column[j];
        double v = 0, size = 0;
        for (size_t p = 0; p < b->k; p++) {
            const double product =
                value_of_float(x->a[i * b->k + p]) * value_of_float(x->b[p * b->cols + j]);
            v += product;
            size += fabs(product);
        }
        v = alpha * v + (b->c ? beta * value_of_float(x->c[at]) : 0);
        v += uniform(rng, -0x1p-12, 0x1p-12) * size;
        v = kind == ALL              ? 2.5 * v
            : kind == BIAS_COLUMNS   ? v + column
            : kind == BIAS_ROWS      ? v + row
            : kind == FACTOR_ROWS    ? v * row
            : kind == FACTOR_COLUMNS ? v * column
            : kind == FACTOR_BOTH    ? v * row * column
            : kind == NOISE          ? uniform(rng, -2, 2)
            : kind == MOSTLY_ZEROS   ? (i % 16 ? 0 : v)
                                     : v;
        x->d[at] = f32(v);
    }
}

START_TEST(operands_are_found)
{
    static const char *const names[KINDS] = {
        NULL,           "is a multiple",    "for each column", "for each row",
        "rows of A were", "columns of B were", "rows of A and of columns", NULL, NULL
    };
    static struct drawn x;
    uint64_t rng = test_seed();
    size_t found[KINDS] = { 0 }, tried[KINDS] = { 0 };
    for (int i = 0; i < test_cases(4000, 40000); i++) {
        const int kind = i % KINDS;
        const uint32_t alpha = f32(uniform(&rng, 0.5, 2)), beta = f32(uniform(&rng, -1, 1));
        draw(&x, &rng);
        compute(&x, kind, value_of_float(alpha), value_of_float(beta), &rng);
        const char *const what = untold_operand_find(&x.block, NULL, alpha, beta);
        tried[kind]++;
        found[kind] += what != NULL;
        ck_assert_msg(!what || (names[kind] && strstr(what, names[kind])),
                      "kind %d, %zu x %zu x %zu: %s", kind, x.block.rows, x.block.cols,
                      x.block.k, what);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        const bool some = names[kind] != NULL;
        ck_assert_msg(some ? found[kind] * 100 >= tried[kind] * 97 : found[kind] == 0,
                      "kind %d: %zu of %zu", kind, found[kind], tried[kind]);
    }
}
END_TEST

/* Of an operand that was given the sentence says that D does not have it. */
START_TEST(given_operands)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    struct bitcut_gemm told;
    bitcut_gemm_init(&told, sizeof told);
    do draw(&x, &rng);
    while (x.block.rows < 12 || x.block.cols < 12);
    x.block.c = NULL;
    compute(&x, BIAS_COLUMNS, 1, 0, &rng);
    const char *what = untold_operand_find(&x.block, &told, 0x3f800000, 0);
    ck_assert_msg(what && strstr(what, "was not given"), "%s", what);
    told.bias.at = x.c;
    what = untold_operand_find(&x.block, &told, 0x3f800000, 0);
    ck_assert_msg(what && strstr(what, "the bias that was given is not added"), "%s", what);
    compute(&x, FACTOR_ROWS, 1, 0, &rng);
    what = untold_operand_find(&x.block, &told, 0x3f800000, 0);
    ck_assert_msg(what && strstr(what, "rows of A were not given"), "%s", what);
    told.scale_a.at.at = x.c;
    what = untold_operand_find(&x.block, &told, 0x3f800000, 0);
    ck_assert_msg(what && strstr(what, "that were given are not applied"), "%s", what);
}
END_TEST

/* Few outputs have no pattern. */
START_TEST(few_outputs)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    draw(&x, &rng);
    x.block.c = NULL;
    compute(&x, ALL, 1, 0, &rng);
    ck_assert(untold_operand_find(&x.block, NULL, 0x3f800000, 0));
    x.block.rows = 3;
    ck_assert(!untold_operand_find(&x.block, NULL, 0x3f800000, 0));
}
END_TEST

TEST_MAIN("untold operand", operands_are_found, given_operands,
          few_outputs)
