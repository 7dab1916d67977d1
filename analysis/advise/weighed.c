#include "analysis/advise/weighed.h"

#include "lib/bits.h"
#include "lib/hostfp.h"
#include "lib/rand.h"

#include <math.h>
#include <stdlib.h>

enum { GROUPS = 8, STREAM = 96 };

/* --- drawing ---------------------------------------------------------------------- */

/* `count` of `all` lines by the squares of their norms, and the weight of each. */
static void draw(size_t *line, double *weight, size_t count, const double *norm,
                 size_t all, double start)
{
    double sum = 0, passed = 0;
    size_t at = 0;
    for (size_t i = 0; i < all; i++) sum += norm[i] * norm[i];
    for (size_t j = 0; j < count; j++) {
        const double point = ((double)j + start) / (double)count * sum;
        while (at + 1 < all && passed + norm[at] * norm[at] <= point) {
            passed += norm[at] * norm[at];
            at++;
        }
        line[j] = at;
        weight[j] = sum / ((double)count * norm[at] * norm[at]);
    }
}

/* Lines of norm 0 have no errors; if there are only such, any will do. */
static void choose(size_t *line, double *weight, size_t count, double *norm, size_t all,
                   uint64_t bits)
{
    double most = 0;
    for (size_t i = 0; i < all; i++) most = norm[i] > most ? norm[i] : most;
    for (size_t i = 0; i < all; i++) norm[i] = most > 0 ? norm[i] / most : 1;
    if (count < all) {
        draw(line, weight, count, norm, all, rand_open(bits));
        return;
    }
    for (size_t i = 0; i < all; i++) line[i] = i, weight[i] = 1;
}

static enum bitcut_status pick_rows(struct matrix *to, const struct matrix *from,
                                    const size_t *row, size_t rows, struct fault *f)
{
    const enum bitcut_status status = matrix_init(to, rows, from->cols, f);
    for (size_t i = 0; status == BITCUT_OK && i < rows; i++)
        for (size_t j = 0; j < from->cols; j++)
            to->at[i * from->cols + j] = from->at[row[i] * from->cols + j];
    return status;
}

static enum bitcut_status pick_cols(struct matrix *to, const struct matrix *from,
                                    const size_t *col, size_t cols, struct fault *f)
{
    const enum bitcut_status status = matrix_init(to, from->rows, cols, f);
    for (size_t i = 0; status == BITCUT_OK && i < from->rows; i++)
        for (size_t j = 0; j < cols; j++)
            to->at[i * cols + j] = from->at[i * from->cols + col[j]];
    return status;
}

/* The lines that are chosen, into w. */
static enum bitcut_status choose_lines(struct weighed *w, size_t *row, size_t rows,
                                       size_t *col, size_t cols, const struct matrix *a,
                                       const struct matrix *b, uint64_t seed,
                                       struct fault *f)
{
    const struct comparison x = {
        .m = a->rows, .n = b->cols, .k = a->cols, .a = a->at, .b = b->at
    };
    double *const norm = memory_allocate(a->rows + b->cols, sizeof *norm);
    struct rng bits = rng_start(seed, STREAM);
    struct hostfp mode;
    if (!norm) return fault_set(f, BITCUT_NO_MEMORY, "out of memory for a sample");
    line_norms(norm, norm + a->rows, &x);
    hostfp_enter(&mode);
    choose(row, w->of_row, rows, norm, a->rows, rng_bits(&bits));
    choose(col, w->of_col, cols, norm + a->rows, b->cols, rng_bits(&bits));
    hostfp_leave(&mode);
    free(norm);
    enum bitcut_status status = pick_rows(&w->a, a, row, rows, f);
    if (status == BITCUT_OK) status = pick_cols(&w->b, b, col, cols, f);
    return status;
}

enum bitcut_status weighed_draw(struct weighed *to, const struct matrix *a,
                                const struct matrix *b, size_t rows, size_t cols,
                                uint64_t seed, int threads,
                                const struct progress *progress, struct fault *f)
{
    if (rows > a->rows) rows = a->rows;
    if (cols > b->cols) cols = b->cols;
    struct weighed w = { .all = rows == a->rows && cols == b->cols };
    size_t *const row = memory_allocate(rows, sizeof *row), *const col = memory_allocate(
                                                                cols, sizeof *col);
    w.of_row = memory_allocate(rows, sizeof *w.of_row);
    w.of_col = memory_allocate(cols, sizeof *w.of_col);
    enum bitcut_status status =
        row && col && w.of_row && w.of_col
            ? choose_lines(&w, row, rows, col, cols, a, b, seed, f)
            : fault_set(f, BITCUT_NO_MEMORY, "out of memory for a sample");
    free(row);
    free(col);
    if (status == BITCUT_OK)
        status =
            judge_init(&w.judge, &references[0], &w.a, &w.b, NULL, threads, progress, f);
    if (status == BITCUT_OK) {
        *to = w;
        return BITCUT_OK;
    }
    matrix_clear(&w.a);
    matrix_clear(&w.b);
    free(w.of_row);
    free(w.of_col);
    return status;
}

void weighed_clear(struct weighed *w)
{
    if (w->of_row) judge_clear(&w->judge);
    matrix_clear(&w->a);
    matrix_clear(&w->b);
    free(w->of_row);
    free(w->of_col);
    *w = (struct weighed){ .of_row = NULL };
}

/* --- residuals -------------------------------------------------------------------- */

/* Sums of squares, of errors and of exact values, by groups of rows and of columns. */
struct squares {
    double error[GROUPS][GROUPS], exact[GROUPS][GROUPS];
};

static double quotient(double error, double exact)
{
    return error > 0 ? sqrt(error / exact) : 0;
}

/* Without group `left` of rows, or of columns; -1: with all. */
static double without(const struct squares *s, bool columns, int left)
{
    double error = 0, exact = 0;
    for (int i = 0; i < GROUPS; i++)
        for (int j = 0; j < GROUPS; j++) {
            if ((columns ? j : i) == left) continue;
            error += s->error[i][j];
            exact += s->exact[i][j];
        }
    return quotient(error, exact);
}

/* The variance of a jackknife over the groups that there are. */
static double variance(const struct squares *s, bool columns, size_t lines)
{
    const int groups = lines < GROUPS ? (int)lines : GROUPS;
    double of[GROUPS], mean = 0, sum = 0;
    for (int g = 0; g < groups; g++) mean += (of[g] = without(s, columns, g)) / groups;
    for (int g = 0; g < groups; g++) sum += (of[g] - mean) * (of[g] - mean);
    return groups > 1 ? sum * (groups - 1) / groups : 0;
}

static double exact_value(const struct comparison *x, size_t i)
{
    const double value = double_of_bits(x->reference64[i]);
    return isfinite(value) ? value : 0;
}

struct weighed_relres weighed_relres(const struct weighed *w, const uint32_t *d)
{
    struct squares s = { .error = { { 0 } } };
    struct comparison x = w->judge.comparison;
    x.d = d;
    for (size_t i = 0; i < x.m; i++)
        for (size_t j = 0; j < x.n; j++) {
            const double weight = w->of_row[i] * w->of_col[j];
            const double error = metric_error(&x, i * x.n + j);
            const double exact = exact_value(&x, i * x.n + j);
            s.error[i % GROUPS][j % GROUPS] += weight * (error * error);
            s.exact[i % GROUPS][j % GROUPS] += weight * (exact * exact);
        }
    struct weighed_relres r = { .value = without(&s, false, -1) };
    if (!(r.value < (double)INFINITY)) r.value = (double)INFINITY;
    if (!w->all && isfinite(r.value))
        r.error = sqrt(variance(&s, false, x.m) + variance(&s, true, x.n));
    return r;
}

double weighed_limit(const struct weighed *w, const double *limit)
{
    const struct comparison *const x = &w->judge.comparison;
    double error = 0, exact = 0;
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            const double weight = w->of_row[i] * w->of_col[j], at = limit[i * x->n + j];
            const double value = exact_value(x, i * x->n + j);
            error += weight * (at * at);
            exact += weight * (value * value);
        }
    return quotient(error, exact);
}
