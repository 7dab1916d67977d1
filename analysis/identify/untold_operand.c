/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/untold_operand.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>

enum { SIDE_MAX = 16, SIDE_MIN = 4, OUTPUTS_MAX = SIDE_MAX * SIDE_MAX };

/* Some outputs: D less the exact value, and D over it.  Both are NaN where D is 0 and the
   exact value is not small, because nothing may have been written there; D over the exact
   value is NaN where terms cancel, too. */
struct outputs {
    size_t rows, cols;
    double rest[OUTPUTS_MAX], ratio[OUTPUTS_MAX], size[OUTPUTS_MAX];
};

static void take(struct outputs *to, const struct block *b, uint32_t alpha, uint32_t beta)
{
    to->rows = smaller(SIDE_MAX, b->rows);
    to->cols = smaller(SIDE_MAX, b->cols);
    for (size_t at = 0; at < to->rows * to->cols; at++) {
        const size_t i = at / to->cols, j = at % to->cols;
        const double c = b->c ? value_of_float(beta) *
                                    value_of_float(b->c[i * b->cols + j])
                              : 0,
                     d = value_of_float(b->d[i * b->cols + j]);
        double sum = 0, size = 0;
        for (size_t p = 0; p < b->k && !b->own; p++) {
            const double product = value_of_float(b->a[i * b->k + p]) *
                                   value_of_float(b->b[p * b->cols + j]);
            sum += product;
            size += fabs(product);
        }
        sum = sum * value_of_float(alpha) + c;
        size = size * fabs(value_of_float(alpha)) + fabs(c);
        if (b->own) {
            const struct exact_output v = block_exact(b, i, j);
            sum = v.value;
            size = v.magnitude;
        }
        const bool large = fabs(sum) * 32 >= size && sum != 0;
        to->size[at] = size;
        to->rest[at] = large && d == 0 ? (double)NAN : d - sum;
        to->ratio[at] = large && d != 0 ? d / sum : (double)NAN;
    }
}

/* The median of a column (or a row, or all) of numbers, NaN excluded; NaN if too few
   count. */
static double median_of(const double *x, size_t first, size_t step, size_t count)
{
    double some[OUTPUTS_MAX];
    for (size_t i = 0; i < count; i++) some[i] = x[first + i * step];
    const size_t finite = doubles_finite(some, count);
    return finite * 4 >= count ? doubles_median(some, finite) : (double)NAN;
}

static double median_magnitude(const double *x, size_t count)
{
    double some[OUTPUTS_MAX];
    for (size_t i = 0; i < count; i++) some[i] = fabs(x[i]);
    return doubles_median(some, doubles_finite(some, count));
}

/* Whether nine of ten outputs have the value that is expected, to this distance. */
static bool mostly(const struct outputs *o, const double *x, const double *expected,
                   double absolute, double relative)
{
    size_t count = 0, near = 0;
    for (size_t at = 0; at < o->rows * o->cols; at++) {
        if (isnan(x[at])) continue;
        count++;
        near += fabs(x[at] - expected[at]) <= absolute + relative * fabs(expected[at]);
    }
    return count * 4 >= o->rows * o->cols && near * 10 >= count * 9;
}

/* The lines along which a number is the same. */
enum lines { ALL, ROWS, COLUMNS, BOTH };

/* The medians of rows, or of columns, of numbers over those of the other lines. */
static void line_medians(double *to, const struct outputs *o, const double *x,
                         const double *other, bool columns)
{
    double left[OUTPUTS_MAX];
    for (size_t at = 0; at < o->rows * o->cols; at++)
        left[at] = x[at] / other[columns ? at / o->cols : at % o->cols];
    for (size_t line = 0; line < (columns ? o->cols : o->rows); line++)
        to[line] = columns ? median_of(left, line, o->cols, o->rows)
                           : median_of(left, line * o->cols, 1, o->cols);
}

static void expect(double *to, const struct outputs *o, const double *x, enum lines which)
{
    enum { ROUNDS = 4 };
    const size_t count = o->rows * o->cols;
    const double all = median_of(x, 0, 1, count);
    double of_row[SIDE_MAX], of_column[SIDE_MAX];
    for (size_t i = 0; i < SIDE_MAX; i++) of_row[i] = of_column[i] = 1;
    if (which == ROWS) line_medians(of_row, o, x, of_column, false);
    if (which == COLUMNS) line_medians(of_column, o, x, of_row, true);
    for (int round = 0; which == BOTH && round < ROUNDS; round++) {
        line_medians(of_row, o, x, of_column, false);
        line_medians(of_column, o, x, of_row, true);
    }
    for (size_t at = 0; at < count; at++)
        to[at] = which == ALL ? all : of_row[at / o->cols] * of_column[at % o->cols];
}

static bool is_factor(const struct outputs *o, enum lines which)
{
    double expected[OUTPUTS_MAX], one[OUTPUTS_MAX];
    for (size_t at = 0; at < OUTPUTS_MAX; at++) one[at] = 1;
    expect(expected, o, o->ratio, which);
    return mostly(o, o->ratio, expected, 0, 0x1p-5) &&
           !mostly(o, o->ratio, one, 0, 0x1p-4);
}

static bool is_bias(const struct outputs *o, enum lines which)
{
    const size_t count = o->rows * o->cols;
    const double much = median_magnitude(o->rest, count);
    double expected[OUTPUTS_MAX];
    expect(expected, o, o->rest, which);
    return much > 0x1p-9 * median_magnitude(o->size, count) &&
           mostly(o, o->rest, expected, much / 16, 0);
}

static bool has_factors(const struct bitcut_gemm *g)
{
    return gemm_has_scales(g) || g->scale_d != F32_ONE;
}

static const struct pattern {
    bool (*is)(const struct outputs *o, enum lines which);
    enum lines which;
    bool (*told)(const struct bitcut_gemm *g);
    const char *what, *otherwise; /* if nothing of the kind was told, and if it was */
} patterns[] = {
    { is_factor, ALL, has_factors,
      "D is a multiple of the exact result: a factor was not given",
      "D is a multiple of the exact result: a factor that was given is not applied, or not "
      "once" },
    { is_bias, COLUMNS, gemm_has_bias,
      "D less the exact result is the same in every row: a bias was not "
      "given, one number for each column",
      "D less the exact result is the same in every row: the bias that was given is not "
      "added, or not once" },
    { is_bias, ROWS, gemm_has_bias,
      "D less the exact result is the same in every column: a bias was not "
      "given, one number for each row",
      "D less the exact result is the same in every column: the bias that was given is not "
      "added, or not once" },
    { is_factor, ROWS, has_factors,
      "D over the exact result is the same in each row: factors of the "
      "rows of A were not given",
      "D over the exact result is the same in each row: the factors that were given are "
      "not applied, or not once" },
    { is_factor, COLUMNS, has_factors,
      "D over the exact result is the same in each column: factors of "
      "the columns of B were not given",
      "D over the exact result is the same in each column: the factors that were given are "
      "not applied, or not once" },
    { is_factor, BOTH, has_factors,
      "D over the exact result is a number of the row times one of the "
      "column: factors of rows of A and of columns of B were not given",
      "D over the exact result is a number of the row times one of the column: the factors "
      "that were given are not applied, or not once" },
};

const char *untold_operand_find(const struct block *b, const struct bitcut_gemm *told,
                                uint32_t alpha, uint32_t beta)
{
    struct outputs o;
    take(&o, b, alpha, beta);
    if (o.rows < SIDE_MIN || o.cols < SIDE_MIN) return NULL;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const struct pattern *const p = &patterns[i];
        if (p->is(&o, p->which)) return told && p->told(told) ? p->otherwise : p->what;
    }
    return NULL;
}
