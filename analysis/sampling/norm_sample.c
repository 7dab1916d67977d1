/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/norm_sample.h"

#include "analysis/sampling/sampling.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>

enum {
    GROUPS = 8, /* of the jackknife                          */
    TAIL = 48,  /* groups whose largest errors estimate the tail */
    ERRORS = 3, /* distance of `high` from the estimate, in standard errors */
    STREAM = 96
};

/* --- drawing ---------------------------------------------------------------------- */

/* Rows or columns to draw, and from how many. */
struct lines {
    size_t *at;
    double *weight;
    size_t count, most;
    const double *square; /* squares of their norms, */
    size_t all;           /* and their number */
};

static void take(struct lines *l, size_t at, double weight)
{
    l->at[l->count] = at;
    l->weight[l->count++] = weight;
}

/* Include the rows or columns whose share exceeds one position.  Returns the sum of the
   squares of the others. */
static double take_large(struct lines *l, bool *taken)
{
    double sum = 0;
    for (size_t i = 0; i < l->all; i++) sum += l->square[i];
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < l->all && l->count < l->most; i++) {
            const double places = (double)(l->most - l->count);
            if (taken[i] || !(l->square[i] > 0) || l->square[i] * places < sum) continue;
            take(l, i, 1);
            taken[i] = more = true;
            sum = larger_double(sum - l->square[i], 0);
        }
    }
    return sum;
}

/* Draw the others at equal steps along their squares. */
static void take_steps(struct lines *l, const bool *taken, double sum, double start)
{
    const double step = sum / (double)(l->most - l->count);
    double passed = 0, next = start * step;
    for (size_t i = 0; i < l->all && l->count < l->most; i++) {
        if (taken[i]) continue;
        passed += l->square[i];
        if (passed <= next) continue;
        take(l, i, step / l->square[i]);
        next += step;
    }
}

struct ranked {
    double norm;
    size_t at;
};

static int by_norm(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->norm != b->norm) return a->norm < b->norm ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* Replace norms so that all rows or columns are equally likely, except that a quarter of
   the `most` drawn ones has the largest norms and a quarter the smallest nonzero norms,
   where parts overflow and underflow.  Returns false if memory runs out. */
static bool make_even(double *norm, size_t count, size_t most)
{
    struct ranked *const rank = memory_allocate(count, sizeof *rank);
    const size_t quarter = smaller(most, count) / 4 + 1;
    size_t zeros = 0;
    if (!rank) return false;
    for (size_t i = 0; i < count; i++) rank[i] = (struct ranked){ norm[i], i };
    qsort(rank, count, sizeof *rank, by_norm);
    while (zeros < count && !(rank[zeros].norm > 0)) zeros++;
    for (size_t i = 0; i < count; i++) norm[i] = 1;
    for (size_t i = 0; i < quarter && zeros + i < count; i++)
        norm[rank[zeros + i].at] = norm[rank[count - 1 - i].at] = (double)count;
    free(rank);
    return true;
}

/* Draw at most l->most rows or columns with those norms, which are overwritten.  Rows and
   columns of norm 0 have no errors; if there are no others, the first is taken.  Returns
   false if memory runs out. */
static bool choose(struct lines *l, double *norm, uint64_t bits)
{
    double most = 0;
    for (size_t i = 0; i < l->all; i++) most = larger_double(most, norm[i]);
    for (size_t i = 0; i < l->all; i++) norm[i] = norm[i] / most * (norm[i] / most);
    l->square = norm;
    if (l->most == l->all || most == 0) {
        for (size_t i = 0; i < l->most; i++) take(l, i, 1);
        return true;
    }
    bool *const taken = calloc(l->all, sizeof *taken);
    if (!taken) return false;
    const double sum = take_large(l, taken);
    if (sum > 0 && l->count < l->most) take_steps(l, taken, sum, rand_open(bits));
    free(taken);
    return true;
}

/* The largest magnitude of the factors of a line, which are `stride` apart; 1 without
   factors. */
static double largest_factor(const struct matrix *factors, size_t first, size_t stride,
                             size_t blocks)
{
    double most = factors->at ? 0 : 1;
    for (size_t b = 0; factors->at && b < blocks; b++) {
        const double x = fabs(value_of_float(factors->at[first + b * stride]));
        if (isfinite(x)) most = larger_double(most, x);
    }
    return most;
}

/* Add the mean square to each square. */
static void add_mean(double *norm, size_t count)
{
    double most = 0, mean = 0;
    for (size_t i = 0; i < count; i++) most = larger_double(most, norm[i]);
    for (size_t i = 0; i < count && most > 0; i++) {
        norm[i] /= most;
        mean += norm[i] * norm[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) norm[i] = sqrt(norm[i] * norm[i] + mean);
}

/* The norms of rows and columns of a GEMM that is more than A B. */
static void extend_norms(double *row, double *col, const struct gemm_data *x)
{
    const size_t m = x->a.rows, n = x->b.cols;
    for (size_t i = 0; i < m; i++)
        row[i] *= largest_factor(&x->scale_a, i * x->scale_a.cols, 1, x->scale_a.cols);
    for (size_t j = 0; j < n; j++)
        col[j] *= largest_factor(&x->scale_b, j, n, x->scale_b.rows);
    add_mean(row, m);
    add_mean(col, n);
}

/* Copy the selected rows or columns into w. */
static enum bitcut_status choose_lines(struct norm_sample *w, struct lines *row,
                                       struct lines *col, const struct gemm_data *all,
                                       bool extended, bool even, uint64_t seed,
                                       struct fault *f)
{
    const struct matrix *const a = &all->a, *const b = &all->b;
    const struct comparison x = {
        .m = a->rows, .n = b->cols, .k = a->cols, .a = a->at, .b = b->at
    };
    double *const norm = memory_allocate(a->rows + b->cols, sizeof *norm);
    struct rng bits = rng_start(seed, STREAM);
    struct hostfp mode;
    if (!norm) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    line_norms(norm, norm + a->rows, &x, 1);
    hostfp_enter(&mode);
    if (extended) extend_norms(norm, norm + a->rows, all);
    const bool chosen = (!even || (make_even(norm, a->rows, row->most) &&
                                   make_even(norm + a->rows, b->cols, col->most))) &&
                        choose(row, norm, rng_bits(&bits)) &&
                        choose(col, norm + a->rows, rng_bits(&bits));
    hostfp_leave(&mode);
    free(norm);
    if (!chosen) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    return gemm_data_pick(&w->data, all, row->at, row->count, col->at, col->count, f);
}

/* Whether a GEMM is more than A B. */
static bool is_more(const struct bitcut_gemm *g)
{
    return gemm_is_extended(g) || gemm_reads_c(g);
}

enum bitcut_status norm_sample_draw(struct norm_sample *to, const struct gemm_data *all,
                                    const struct bitcut_gemm *gemm, size_t rows,
                                    size_t cols, bool even, uint64_t seed, int threads,
                                    const struct progress *progress, struct fault *f)
{
    static const struct bitcut_gemm product = { .alpha = F32_ONE, .scale_d = F32_ONE };
    const struct bitcut_gemm *const g = gemm ? gemm : &product;
    const struct gemm_options options = { .threads = threads, .progress = progress };
    struct lines row = { .most = smaller(rows, all->a.rows), .all = all->a.rows },
                 col = { .most = smaller(cols, all->b.cols), .all = all->b.cols };
    struct norm_sample w = { .all = row.most == row.all && col.most == col.all };
    row.at = w.row = memory_allocate(row.most, sizeof *row.at);
    col.at = w.col = memory_allocate(col.most, sizeof *col.at);
    row.weight = w.of_row = memory_allocate(row.most, sizeof *w.of_row);
    col.weight = w.of_col = memory_allocate(col.most, sizeof *w.of_col);
    enum bitcut_status status =
        row.at && col.at && w.of_row && w.of_col
            ? choose_lines(&w, &row, &col, all, is_more(g), even, seed, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a sample");
    if (status == BITCUT_OK) status = gemm_data_judge(&w.judge, &w.data, g, &options, f);
    if (status == BITCUT_OK) {
        w.judge.comparison.format =
            NULL; /* errors of a short D are those of its values */
        *to = w;
        return BITCUT_OK;
    }
    gemm_data_clear(&w.data);
    free(w.row);
    free(w.col);
    free(w.of_row);
    free(w.of_col);
    return status;
}

void norm_sample_clear(struct norm_sample *w)
{
    if (w->of_row) judge_clear(&w->judge);
    gemm_data_clear(&w->data);
    free(w->row);
    free(w->col);
    free(w->of_row);
    free(w->of_col);
    *w = (struct norm_sample){ .of_row = NULL };
}

/* --- residuals -------------------------------------------------------------------- */

/* Sums of squares of errors and of exact values, by groups of rows and of columns; rows
   or columns that are certainly included form the last group. */
struct squares {
    double error[GROUPS + 1][GROUPS + 1], exact[GROUPS + 1][GROUPS + 1];
};

static double quotient(double error, double exact)
{
    return error > 0 ? sqrt(error / exact) : 0;
}

/* The estimate without group `left` of rows or columns, with the others of the `groups`
   scaled up; -1: with all groups. */
static double without(const struct squares *s, bool columns, int left, int groups)
{
    const double more = left < 0 ? 1 : (double)groups / (groups - 1);
    double error = 0, exact = 0;
    for (int i = 0; i <= GROUPS; i++)
        for (int j = 0; j <= GROUPS; j++) {
            const int group = columns ? j : i;
            const double times = group == left ? 0 : group < GROUPS ? more : 1;
            error += times * s->error[i][j];
            exact += times * s->exact[i][j];
        }
    return quotient(error, exact);
}

/* The variance by a jackknife over the groups of drawn rows or columns. */
static double variance(const struct squares *s, bool columns, size_t drawn)
{
    const int groups = drawn < GROUPS ? (int)drawn : GROUPS;
    double of[GROUPS], mean = 0, sum = 0;
    if (groups < 2) return 0;
    for (int g = 0; g < groups; g++)
        mean += (of[g] = without(s, columns, g, groups)) / groups;
    for (int g = 0; g < groups; g++) sum += (of[g] - mean) * (of[g] - mean);
    return sum * (groups - 1) / groups;
}

/* Whether a row or column was drawn, not certainly included. */
static bool is_drawn(double weight) { return weight > 1; }

static size_t count_drawn(const double *weight, size_t count)
{
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++) drawn += is_drawn(weight[i]);
    return drawn;
}

/* The group of a row or column, after `drawn` drawn ones. */
static int next_group(size_t *drawn, double weight)
{
    return is_drawn(weight) ? (int)((*drawn)++ % GROUPS) : GROUPS;
}

static double exact_value(const struct comparison *x, size_t i)
{
    const double value = double_of_bits(x->reference64[i]);
    return isfinite(value) ? value : 0;
}

static void add_squares(struct squares *s, const struct norm_sample *w, const uint32_t *d)
{
    struct comparison x = w->judge.comparison;
    size_t rows = 0;
    x.d = d;
    for (size_t i = 0; i < x.m; i++) {
        const int row = next_group(&rows, w->of_row[i]);
        size_t cols = 0;
        for (size_t j = 0; j < x.n; j++) {
            const double weight = w->of_row[i] * w->of_col[j];
            const double error = metric_error(&x, i * x.n + j);
            const double exact = exact_value(&x, i * x.n + j);
            const int col = next_group(&cols, w->of_col[j]);
            s->error[row][col] += weight * (error * error);
            s->exact[row][col] += weight * (exact * exact);
        }
    }
}

/* ||D - C||_F / ||C||_F, and an upper limit three standard errors above: by a jackknife
   over rows and one over columns. */
static struct norm_sample_error relres(const struct norm_sample *w, const uint32_t *d,
                                       double outputs)
{
    struct squares s = { .error = { { 0 } } };
    (void)outputs;
    add_squares(&s, w, d);
    const double value = without(&s, false, -1, 0);
    if (!(value < (double)INFINITY))
        return (struct norm_sample_error){ (double)INFINITY, (double)INFINITY };
    const double error =
        sqrt(variance(&s, false, count_drawn(w->of_row, w->data.a.rows)) +
             variance(&s, true, count_drawn(w->of_col, w->data.b.cols)));
    return (struct norm_sample_error){ value, value + ERRORS * error };
}

static double relres_limit(const struct norm_sample *w, const double *limit)
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
    return isnan(error) ? (double)NAN : quotient(error, exact);
}

/* --- the largest ------------------------------------------------------------------ */

/* max |D - C| / |A||B| in u, and an upper limit for all outputs in 99 % of cases, from
   the largest errors of groups, as in typical_range_find(). */
static struct norm_sample_error backward_max(const struct norm_sample *w,
                                             const uint32_t *d, double outputs)
{
    struct comparison x = w->judge.comparison;
    const size_t count = x.m * x.n, groups = smaller(TAIL, count);
    double square[TAIL];
    struct tail t;
    x.d = d;
    const double most = group_maxima(square, groups, &x, true);
    if (w->all || !(most < (double)INFINITY))
        return (struct norm_sample_error){ most, most };
    tail_fit(&t, square, groups);
    const double all = outputs / (double)count * (double)groups;
    const double high = sqrt(tail_guess(&t, share_above(all, 0.99)));
    return (struct norm_sample_error){ most, larger_double(most, high) };
}

static double backward_limit(const struct norm_sample *w, const double *limit)
{
    const struct comparison *const x = &w->judge.comparison;
    double most = 0;
    for (size_t i = 0; i < x->m * x->n; i++) {
        if (isnan(limit[i])) return (double)NAN;
        if (x->magnitude[i] > 0)
            most = larger_double(most, limit[i] / x->magnitude[i] * 0x1p24);
    }
    return most;
}

const struct norm_sample_metric norm_sample_metrics[] = {
    { "relres", "||D - C||_F / ||C||_F", false, 1e-6, relres, relres_limit },
    { "backward_max", "max |D - C| / |A||B|, in u = 2^-24", true, 16, backward_max,
      backward_limit },
    { 0 }
};
