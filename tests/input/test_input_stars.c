/* SPDX-License-Identifier: BSD-3-Clause */
/* Families of STARS-H: matrices with structure. */
#include "lib/number/rand.h"
#include "tests/input/input_matrix.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* Parts n and n + 1 of block `block` of the stream that A shares among elements. */
static double shared_uniform(uint64_t seed, uint64_t block, int n)
{
    const uint64_t low = rand_word(seed, 2, 4 * block + (uint64_t)n);
    const uint64_t high = rand_word(seed, 2, 4 * block + (uint64_t)n + 1);
    return ldexp((double)((high << 20 | low >> 12) * 2 + 1), -53);
}

/* |x - y| in ulp of FP32 at x. */
static double ulp_between(double x, double y)
{
    int e;
    frexp(x, &e);
    return fabs(x - y) / ldexp(1, e - 24);
}

START_TEST(cauchy_is_1_over_the_difference)
{
    enum { N = 70 };
    struct matrix m = input_filled("cauchy", INPUT_A, 3, N, N - 9, 0);
    struct matrix moved = input_filled("cauchy(0.5)", INPUT_A, 3, N, N - 9, 0);
    const double jitter = 0.5;
    for (size_t e = 0; e < N * (N - 9); e++) {
        const size_t i = e / (N - 9), j = e % (N - 9);
        mpfr_t x;
        mpfr_init2(x, 120);
        mpfr_set_si(x, (long)i - (long)j, MPFR_RNDN);
        if (i != j) mpfr_ui_div(x, 1, x, MPFR_RNDN);
        else mpfr_set_ui(x, 1, MPFR_RNDN);
        check_element((float)f32_value(m.at[e]) == mpfr_get_flt(x, MPFR_RNDN), "cauchy",
                      &m, e);

        mpfr_set_d(x, shared_uniform(3, i, 0), MPFR_RNDN);
        mpfr_sub_d(x, x, shared_uniform(3, j, 0), MPFR_RNDN);
        mpfr_mul_d(x, x, jitter, MPFR_RNDN);
        mpfr_add_si(x, x, (long)i - (long)j, MPFR_RNDN);
        mpfr_ui_div(x, 1, x, MPFR_RNDN);
        const double want = i == j ? 1 : mpfr_get_d(x, MPFR_RNDN);
        check_element(ulp_between(want, f32_value(moved.at[e])) <= 0.5001, "cauchy(0.5)",
                      &moved, e);
        mpfr_clear(x);
    }
    matrix_clear(&m);
    matrix_clear(&moved);
}
END_TEST

/* The cells of a side x side grid in Morton order, by sorting their interleaved bits. */
struct cell {
    unsigned morton, x, y;
};

static int by_morton(const void *a, const void *b)
{
    const struct cell *p = a, *q = b;
    return (p->morton > q->morton) - (p->morton < q->morton);
}

static void cells_sort(struct cell *cell, unsigned side)
{
    for (unsigned i = 0; i < side * side; i++) {
        cell[i] = (struct cell){ .x = i % side, .y = i / side };
        for (int bit = 7; bit >= 0; bit--)
            cell[i].morton = cell[i].morton << 2 | (cell[i].y >> bit & 1) << 1 |
                             (cell[i].x >> bit & 1);
    }
    qsort(cell, side * side, sizeof *cell, by_morton);
}

/* exp(-distance / beta), correct to 100 bits for the points' exact coordinates. */
static double kernel_exactly(const struct cell *p, size_t i, size_t j, unsigned side,
                             double beta)
{
    mpfr_t d, square;
    mpfr_inits2(120, d, square, (mpfr_ptr)NULL);
    mpfr_set_ui(square, 0, MPFR_RNDN);
    for (int axis = 0; axis < 2; axis++) {
        mpfr_set_d(d, shared_uniform(3, i, 2 * axis), MPFR_RNDN);
        mpfr_sub_d(d, d, shared_uniform(3, j, 2 * axis), MPFR_RNDN);
        mpfr_mul_d(d, d, 0.8, MPFR_RNDN);
        mpfr_add_si(d, d,
                    axis ? (long)p[i].y - (long)p[j].y : (long)p[i].x - (long)p[j].x,
                    MPFR_RNDN);
        mpfr_div_ui(d, d, side, MPFR_RNDN);
        mpfr_fma(square, d, d, square, MPFR_RNDN);
    }
    mpfr_sqrt(d, square, MPFR_RNDN);
    mpfr_div_d(d, d, -beta, MPFR_RNDN);
    mpfr_exp(d, d, MPFR_RNDN);
    const double y = mpfr_get_d(d, MPFR_RNDN);
    mpfr_clears(d, square, (mpfr_ptr)NULL);
    return y;
}

START_TEST(spatial_is_the_exponential_kernel)
{
    enum { GRID = 10, FULL = GRID * GRID, LESS = GRID * GRID - 15, N = 60 };
    struct cell cell[GRID * GRID];
    cells_sort(cell, GRID);
    struct matrix m = input_filled("spatial", INPUT_A, 3, FULL, N, 0);
    struct matrix far = input_filled("spatial(0.02)", INPUT_A, 3, N, LESS, 0);
    for (size_t e = 0; e < FULL * N; e++) {
        const size_t i = e / N, j = e % N;
        const double want = kernel_exactly(cell, i, j, GRID, 0.1f);
        check_element(ulp_between(want, f32_value(m.at[e])) <= 0.5001, "spatial", &m, e);
        check_element(i != j || m.at[e] == 0x3f800000, "spatial", &m, e);
    }
    for (size_t e = 0; e < N * LESS; e++) {
        const double want_far = kernel_exactly(cell, e / LESS, e % LESS, GRID, 0.02f);
        check_element(ulp_between(want_far, f32_value(far.at[e])) <= 0.5001,
                      "spatial(0.02)", &far, e);
    }
    matrix_clear(&m);
    matrix_clear(&far);
}
END_TEST

/* Product of the n x n tiles at (i, j) and (k, l) of m, element (r, c). */
static double tile_product(const struct matrix *m, size_t n, const size_t tile[4],
                           size_t r, size_t c)
{
    double sum = 0;
    for (size_t q = 0; q < n; q++)
        sum += f32_value(m->at[(tile[0] * n + r) * m->cols + tile[1] * n + q]) *
               f32_value(m->at[(tile[2] * n + q) * m->cols + tile[3] * n + c]);
    return sum;
}

/* 1 + r + r^2 + ... + r^(n-1) */
static double geometric_sum(double r, int n)
{
    double sum = 0;
    while (n-- > 0) sum = 1 + r * sum;
    return sum;
}

/* With T_IJ = U_I S U_J^T and orthonormal U: T_IJ T_JI = T_II T_II for all I, J; the
   trace of T_II is that of S, the sum of squares of any tile that of S^2. */
static void check_tiles(const char *text, double decay)
{
    enum { TILE = 20, TILES = 3 };
    struct matrix m = input_filled(text, INPUT_A, 3, TILE * TILES, TILE * TILES, 0);
    for (size_t i = 0; i < TILES; i++)
        for (size_t j = 0; j < TILES; j++) {
            double trace = 0, squares = 0;
            for (size_t r = 0; r < TILE; r++)
                for (size_t c = 0; c < TILE; c++) {
                    const double one =
                        tile_product(&m, TILE, (size_t[]){ i, j, j, i }, r, c);
                    const double two =
                        tile_product(&m, TILE, (size_t[]){ i, i, i, i }, r, c);
                    ck_assert_msg(fabs(one - two) < 1e-6, "tiles %zu %zu: %g %g", i, j,
                                  one, two);
                    const double x =
                        f32_value(m.at[(i * TILE + r) * m.cols + j * TILE + c]);
                    squares += x * x;
                    trace += r == c ? x : 0;
                }
            const double want = geometric_sum(decay * decay, TILE);
            const double want_trace = geometric_sum(decay, TILE);
            ck_assert_msg(fabs(squares - want) < 1e-6, "%g", squares);
            if (i == j) ck_assert_msg(fabs(trace - want_trace) < 1e-6, "%g", trace);
        }
    matrix_clear(&m);
}

START_TEST(randtlr_has_tiles_of_given_singular_values)
{
    check_tiles("randtlr(20,0.7,0)", 0.7f);
    check_tiles("randtlr(20,0.25,0)", 0.25);
    check_tiles("randtlr(20,1,0)", 1);
}
END_TEST

START_TEST(randtlr_adds_its_diagonal)
{
    struct matrix m = input_filled("randtlr(8,0,0)", INPUT_B, 3, 21, 30, 0);
    struct matrix with = input_filled("randtlr(8,0,4)", INPUT_B, 3, 21, 30, 0);
    for (size_t i = 0; i < 21 * 30; i++) {
        const double x = f32_value(m.at[i]), y = f32_value(with.at[i]);
        check_element(i / 30 == i % 30 ? fabs(y - x - 4) < 1e-6 : x == y, "randtlr",
                      &with, i);
        /* decay 0: rank 1, so every 2 x 2 minor inside a tile is 0 */
        if (i / 30 % 8 < 4 && i / 30 + 4 < 21 && i % 30 % 8 < 4 && i % 30 + 4 < 30)
            check_element(fabs(x * f32_value(m.at[i + 4 * 30 + 4]) -
                               f32_value(m.at[i + 4]) * f32_value(m.at[i + 4 * 30])) <
                              1e-7,
                          "randtlr", &m, i);
    }
    matrix_clear(&m);
    matrix_clear(&with);
}
END_TEST

TEST_MAIN("input stars", cauchy_is_1_over_the_difference,
          spatial_is_the_exponential_kernel, randtlr_has_tiles_of_given_singular_values,
          randtlr_adds_its_diagonal)
