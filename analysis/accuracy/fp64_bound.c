/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/fp64_bound.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>

#define U 0x1p-53

enum { ROWS = 8, COLUMNS = 128 }; /* of a tile, whose sums stay in the cache */

/* The sums of a tile by the loop, and the sums of the squares of their partial sums, each
   times the scale of its row and of its column, by which no square overflows. */
struct sums {
    double sum[ROWS][COLUMNS], squares[ROWS][COLUMNS], row[ROWS], col[COLUMNS];
};

/* Add a times COLUMNS elements of a row of b; a fixed length makes the loop faster. */
static void sums_add(struct sums *s, size_t row, double a, const double b[COLUMNS])
{
    for (size_t c = 0; c < COLUMNS; c++) {
        const double sum = s->sum[row][c] + a * b[c];
        const double scaled = sum * s->row[row] * s->col[c];
        s->sum[row][c] = sum;
        s->squares[row][c] += scaled * scaled;
    }
}

/* The exponent of a power of two near the norm of a row or a column, within the range of
   normal numbers. */
static int exponent_of(double norm)
{
    int exponent;
    frexp(norm, &exponent);
    return larger_int(-1000, smaller_int(1000, exponent));
}

/* The root of the sum of three squares. */
static double norm_of(double a, double b, double c)
{
    const double most = larger_double(larger_double(fabs(a), fabs(b)), fabs(c));
    if (most == 0 || isinf(most)) return most;
    const double x = a / most, y = b / most, z = c / most;
    return most * sqrt(x * x + y * y + z * z);
}

/* The limit of element `at`, from its sum by the loop, and from the root of the sum of
   the squares of its partial sums. */
static double limit_of(const struct comparison *x, size_t at, double sum, double root)
{
    const double product = x->alpha64 * sum, partial = x->alpha64 * root;
    const double whole = x->beta64 == 0 ? product : product + x->beta64 * x->c64[at];
    if (!isfinite(whole) || !isfinite(partial)) return (double)INFINITY;
    const double model =
        4 * U *
        norm_of(partial, x->alpha64 == 1 ? 0 : product, x->beta64 == 0 ? 0 : whole);
    return larger_double(model,
                         fabs(whole - double_of_bits(x->reference64[at]) - x->low64[at]));
}

/* The limits of rows x cols elements from (i, j). */
static void tile_fill(double *limit, const struct comparison *x, size_t i, size_t j,
                      size_t rows, size_t cols)
{
    struct sums s = { { { 0 } }, { { 0 } }, { 0 }, { 0 } };
    double b[COLUMNS] = { 0 };
    for (size_t r = 0; r < rows; r++)
        s.row[r] = ldexp(1, -exponent_of(x->row_norm[i + r]));
    for (size_t c = 0; c < cols; c++)
        s.col[c] = ldexp(1, -exponent_of(x->col_norm[j + c]));
    for (size_t p = 0; p < x->k; p++) {
        for (size_t c = 0; c < cols; c++) b[c] = x->b64[p * x->n + j + c];
        for (size_t r = 0; r < rows; r++) sums_add(&s, r, x->a64[(i + r) * x->k + p], b);
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) {
            const size_t at = (i + r) * x->n + j + c;
            const int up =
                exponent_of(x->row_norm[i + r]) + exponent_of(x->col_norm[j + c]);
            limit[at] = limit_of(x, at, s.sum[r][c], ldexp(sqrt(s.squares[r][c]), up));
        }
}

enum bitcut_status error_bound_fp64(double *limit, const struct comparison *x,
                                    int threads, const struct progress *progress,
                                    struct fault *f)
{
    const size_t across = divide_up(x->n, COLUMNS);
    const size_t tiles = divide_up(x->m, ROWS) * across;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, tiles))
    for (size_t t = 0; t < tiles; t++) {
        const size_t i = t / across * ROWS, j = t % across * COLUMNS;
        struct hostfp mode;
        if (progress_stopped(progress)) continue;
        hostfp_enter(&mode);
        tile_fill(limit, x, i, j, smaller(ROWS, x->m - i), smaller(COLUMNS, x->n - j));
        hostfp_leave(&mode);
    }
    return progress_end(BITCUT_OK, progress, f);
}
