/* SPDX-License-Identifier: BSD-3-Clause */
/* The rung of factors of blocks of k that were not given.  With P_b the product of the k
   of block b, D_ij is the sum over b of f_ib g_jb P_b,ij.  The factors f of rows and g of
   columns follow by least squares: f with g = 1 first, as columns of one block of B have
   one factor; if that does not fit, g and f in turn.  Blocks count if they leave at most
   half of the misfit of longer blocks, and a quarter of that of one factor for each row.
   They also must leave at most half of the misfit of factors that are the same in all
   rows and columns, which are those of ranges of k with a fault. */
#include "analysis/identify/rung.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 64,
    COLS_MAX = 128,
    ROWS_MIN = 8,
    COLS_MIN = 32,
    BLOCKS_MAX = COLS_MAX / 2 /* half as many unknown factors as outputs of a row */
};

/* Blocks of k that quantizers have, the longest first. */
static const size_t lengths[] = { 256, 128, 64, 32, 16 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* What remains of D must be at most this, relative to D. */
static const double MISFIT_MAX = 0x1p-4;

/* The products of each shortest block: of output (i, j) and block b at [(i * cols + j) *
   blocks + b]. */
struct block_products {
    size_t length, blocks;
    double *of;
};

/* False: no memory, and nothing to free. */
static bool products_make(struct block_products *to, const struct block *b, size_t length)
{
    *to = (struct block_products){ .length = length, .blocks = divide_up(b->k, length) };
    to->of = calloc(b->rows * b->cols, to->blocks * sizeof *to->of);
    for (size_t i = 0; to->of && i < b->rows; i++)
        for (size_t p = 0; p < b->k; p++) {
            const double a = value_of_float(b->a[i * b->k + p]);
            for (size_t j = 0; j < b->cols; j++)
                to->of[(i * b->cols + j) * to->blocks + p / length] +=
                    a * value_of_float(b->b[p * b->cols + j]);
        }
    return to->of;
}

struct block_fit {
    size_t rows, cols, blocks, written; /* rows that are not zeros */
    double *sum;                        /* as in struct block_products */
    double *f, *g; /* rows x blocks, cols x blocks */
    double *size;  /* of each row, its root mean square */
    double *d;     /* D, each row divided by its size; NaN in rows of zeros */
};

static void fit_clear(struct block_fit *t)
{
    free(t->sum);
    free(t->f);
    free(t->g);
    free(t->size);
    free(t->d);
}

/* Blocks of that many shortest blocks. */
static bool fit_make(struct block_fit *t, const struct view *v,
                     const struct block_products *products, size_t each)
{
    *t = (struct block_fit){ .rows = v->b.rows,
                             .cols = v->b.cols,
                             .blocks = divide_up(products->blocks, each) };
    const size_t outputs = t->rows * t->cols;
    t->sum = calloc(outputs, t->blocks * sizeof *t->sum);
    t->f = calloc(t->rows, t->blocks * sizeof *t->f);
    t->g = calloc(t->cols, t->blocks * sizeof *t->g);
    t->size = calloc(t->rows, sizeof *t->size);
    t->d = calloc(outputs, sizeof *t->d);
    if (!t->sum || !t->f || !t->g || !t->size || !t->d) return false;
    for (size_t at = 0; at < outputs; at++)
        for (size_t b = 0; b < products->blocks; b++)
            t->sum[at * t->blocks + b / each] += products->of[at * products->blocks + b];
    for (size_t i = 0; i < t->rows; i++) {
        double square = 0;
        for (size_t j = 0; j < t->cols; j++)
            square += v->d[i * t->cols + j] * v->d[i * t->cols + j];
        const double size = t->size[i] = sqrt(square / (double)t->cols);
        t->written += size > 0;
        for (size_t j = 0; j < t->cols; j++)
            t->d[i * t->cols + j] = v->d[i * t->cols + j] / size;
    }
    for (size_t at = 0; at < t->cols * t->blocks; at++) t->g[at] = 1;
    return true;
}

/* --- least squares ---------------------------------------------------------------- */

/* Normal equations of one line, and their solution by Cholesky's method; a block without
   products gets 0. */
struct normal {
    double matrix[BLOCKS_MAX][BLOCKS_MAX], right[BLOCKS_MAX];
};

static void normal_add(struct normal *q, size_t count, const double *x, double y)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) q->matrix[i][j] += x[i] * x[j];
        q->right[i] += x[i] * y;
    }
}

static void normal_solve(double *to, struct normal *q, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double before = q->matrix[i][i];
        for (size_t j = 0; j <= i; j++) {
            double left = q->matrix[i][j];
            for (size_t p = 0; p < j; p++) left -= q->matrix[i][p] * q->matrix[j][p];
            if (j < i) q->matrix[i][j] = q->matrix[j][j] > 0 ? left / q->matrix[j][j] : 0;
            else q->matrix[i][i] = left > before * 0x1p-40 ? sqrt(left) : 0;
        }
        double left = q->right[i];
        for (size_t p = 0; p < i; p++) left -= q->matrix[i][p] * q->right[p];
        q->right[i] = q->matrix[i][i] > 0 ? left / q->matrix[i][i] : 0;
    }
    for (size_t i = count; i-- > 0;) {
        double left = q->right[i];
        for (size_t p = i + 1; p < count; p++) left -= q->matrix[p][i] * to[p];
        to[i] = q->matrix[i][i] > 0 ? left / q->matrix[i][i] : 0;
    }
}

/* Whether an output tests the fit, as one in four does: it has no part in it. */
static bool is_held_out(const struct block_fit *t, size_t at)
{
    return (at / t->cols + at % t->cols) % 4 == 0;
}

/* The factors of all rows (or columns) from those of the other lines. */
static void solve_lines(struct block_fit *t, bool columns)
{
    const size_t lines = columns ? t->cols : t->rows,
                 others = columns ? t->rows : t->cols;
    for (size_t line = 0; line < lines; line++) {
        struct normal q = { .right = { 0 } };
        for (size_t other = 0; other < others; other++) {
            const size_t at = columns ? other * t->cols + line : line * t->cols + other;
            const double *const factor = &(columns ? t->f : t->g)[other * t->blocks];
            double x[BLOCKS_MAX];
            for (size_t b = 0; b < t->blocks; b++)
                x[b] = factor[b] * t->sum[at * t->blocks + b];
            if (isfinite(t->d[at]) && !is_held_out(t, at))
                normal_add(&q, t->blocks, x, t->d[at]);
        }
        normal_solve(&(columns ? t->g : t->f)[line * t->blocks], &q, t->blocks);
    }
}

/* The typical distance of a row of D from the fit, relative to the row, in the outputs
   that test it. */
static double fit_misfit(const struct block_fit *t)
{
    double off[ROWS_MAX];
    for (size_t i = 0; i < t->rows; i++) {
        double square = 0;
        size_t count = 0;
        for (size_t j = 0; j < t->cols; j++) {
            const size_t at = i * t->cols + j;
            if (!is_held_out(t, at)) continue;
            double left = t->d[at];
            for (size_t b = 0; b < t->blocks; b++)
                left -= t->f[i * t->blocks + b] * t->g[j * t->blocks + b] *
                        t->sum[at * t->blocks + b];
            square += left * left;
            count++;
        }
        off[i] = sqrt(square / (double)count);
    }
    return doubles_median(off, doubles_finite(off, t->rows));
}

/* --- the factors ------------------------------------------------------------------ */

/* The misfit of D with one factor for each block, the same in all rows and columns. */
static double fit_common(struct block_fit *t)
{
    struct normal q = { .right = { 0 } };
    double factor[BLOCKS_MAX];
    for (size_t at = 0; at < t->rows * t->cols; at++) {
        const size_t i = at / t->cols;
        double x[BLOCKS_MAX];
        for (size_t b = 0; b < t->blocks; b++)
            x[b] = t->sum[at * t->blocks + b] / t->size[i];
        if (isfinite(t->d[at]) && !is_held_out(t, at))
            normal_add(&q, t->blocks, x, t->d[at]);
    }
    normal_solve(factor, &q, t->blocks);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t b = 0; b < t->blocks; b++)
            t->f[i * t->blocks + b] = factor[b] / t->size[i];
    for (size_t at = 0; at < t->cols * t->blocks; at++) t->g[at] = 1;
    return fit_misfit(t);
}

/* The misfit of D with factors of blocks, infinite if D has none; *both: also of each
   column for itself.  One block of all k, which has factors of rows, always has them. */
static double fit_find(struct block_fit *t, bool *both)
{
    enum { ROUNDS = 12 };
    solve_lines(t, false);
    *both = !(fit_misfit(t) <= MISFIT_MAX) && t->blocks * 4 <= t->written;
    for (int round = 0; *both && round < ROUNDS; round++) {
        solve_lines(t, true);
        solve_lines(t, false);
    }
    const double misfit = fit_misfit(t);
    const bool is = t->blocks < 2 || misfit * 2 <= fit_common(t);
    return is && t->written >= ROWS_MIN ? misfit : (double)INFINITY;
}

static void describe(struct ladder_report *l, const struct rung_input *x, size_t length,
                     bool both)
{
    struct bitcut_finding *const to = ladder_add(l, x, "block factors");
    if (!to) return;
    text_add(to->text, sizeof to->text,
             "the products of each block of %zu k are multiplied by a factor of the "
             "block, one for each row%s: factors of blocks of k were not given",
             length, both ? " of A and each column of B" : " of A and each block of B");
    text_add(to->option, sizeof to->option, "--scale-a FILE --scale-b FILE");
    l->is_final = true;
}

/* Whether most outputs are far from the exact results. */
static bool is_far(const struct view *v)
{
    const double near = RESULT_NEAR / sqrt((double)v->b.k);
    const size_t count = v->b.rows * v->b.cols;
    size_t far = 0;
    for (size_t at = 0; at < count; at++)
        far += !(fabs(v->d[at] - v->exact[at]) <= near * v->size[at]);
    return far * 2 > count;
}

/* The length of the blocks, 0 if D has none.  False: no memory. */
static bool find_length(size_t *length, bool *both, const struct view *v,
                        const struct block_products *products)
{
    double least = MISFIT_MAX * 2;
    *length = 0;
    for (size_t i = 0; i <= LENGTHS; i++) {
        struct block_fit t;
        bool of_columns;
        const size_t each = i ? lengths[i - 1] / products->length : products->blocks;
        if (i && (!each || divide_up(products->blocks, each) < 2)) continue;
        const bool made = fit_make(&t, v, products, each);
        const double misfit = made ? fit_find(&t, &of_columns) : (double)NAN;
        fit_clear(&t);
        if (!made) return false;
        if (!i) least = fmin(least, misfit / 2);
        else if (misfit <= least / 2)
            least = misfit, *length = lengths[i - 1], *both = of_columns;
    }
    return true;
}

enum bitcut_status rung_blocks(struct ladder_report *l, const struct rung_input *x,
                               struct fault *f)
{
    const size_t cols = smaller(COLS_MAX, x->n);
    struct view v;
    struct block_products products;
    size_t length = 0, shortest = LENGTHS;
    bool both = false;
    while (shortest && lengths[shortest - 1] * (cols / 2) < x->k) shortest--;
    if (problem_is_told(x->q) || x->q->c.at || x->m < ROWS_MIN || x->n < COLS_MIN ||
        !shortest || !is_far(&x->sample))
        return BITCUT_OK;
    const enum bitcut_status status =
        view_take(&v, x->q, NULL, smaller(ROWS_MAX, x->m), NULL, cols, f);
    if (status != BITCUT_OK) return status;
    const bool made = products_make(&products, &v.b, lengths[shortest - 1]),
               found = made && find_length(&length, &both, &v, &products);
    view_clear(&v);
    if (made) free(products.of);
    if (!found)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for blocks of k");
    if (length) describe(l, x, length, both);
    return BITCUT_OK;
}
