/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/fp32_bound.h"

#include "analysis/accuracy/accumulation_error.h"
#include "analysis/split/representation_error.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/exact/exact.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

#define U 0x1p-24

/* --- FP32 ------------------------------------------------------------------------- */

enum { ROWS = 8, COLUMNS = 128 }; /* of a tile, whose sums stay in the cache */
enum { CHUNK = 4096 };            /* limits that a thread computes at a time */

/* The limit of an element, from its exact sum and the sum of the squares of its partial
   sums. */
static double limit_of(const struct comparison *x, size_t at, double sum, double squares)
{
    const double alpha = value_of_float(x->alpha), product = alpha * sum;
    double all = alpha * alpha * squares;
    if (x->alpha != F32_ONE) all += product * product;
    if (x->beta << 1 != 0) {
        const double whole = product + value_of_float(x->beta) * value_of_float(x->c[at]);
        all += whole * whole;
    }
    return 4 * U * sqrt(all);
}

/* The exact sums of a tile, and the sums of the squares of their partial sums. */
struct sums {
    double sum[ROWS][COLUMNS], squares[ROWS][COLUMNS];
};

/* Add a times COLUMNS elements of a row of b; a fixed length makes the loop faster. */
static void sums_add(struct sums *s, size_t row, double a, const double b[COLUMNS])
{
    for (size_t c = 0; c < COLUMNS; c++) {
        const double sum = s->sum[row][c] + a * b[c];
        s->sum[row][c] = sum;
        s->squares[row][c] += sum * sum;
    }
}

/* The limits of rows x cols elements from (i, j). */
static void tile_fill(double *limit, const struct comparison *x, size_t i, size_t j,
                      size_t rows, size_t cols)
{
    struct sums s = { { { 0 } }, { { 0 } } };
    double b[COLUMNS] = { 0 };
    for (size_t p = 0; p < x->k; p++) {
        for (size_t c = 0; c < cols; c++) b[c] = value_of_float(x->b[p * x->n + j + c]);
        for (size_t r = 0; r < rows; r++)
            sums_add(&s, r, value_of_float(x->a[(i + r) * x->k + p]), b);
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) {
            const size_t at = (i + r) * x->n + j + c;
            limit[at] = limit_of(x, at, s.sum[r][c], s.squares[r][c]);
        }
}

/* The limits of the model, from sums that were computed elsewhere. */
static enum bitcut_status model_elsewhere(double *limit, const struct comparison *x,
                                          const struct exact_sums *sums, int threads,
                                          struct fault *f)
{
    const size_t count = x->m * x->n;
    double *const sum = memory_allocate(count, sizeof *sum);
    const struct exact_sums_to to = { .high = sum, .squares = limit };
    (void)threads;
    if (!sum) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    const enum bitcut_status status =
        sums->compute(&to, x->m, x->n, x->k, x->a, x->b, sums->context, f);
    const size_t chunks = status == BITCUT_OK ? divide_up(count, CHUNK) : 0;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, chunks))
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const size_t first = chunk * CHUNK, end = first + smaller(CHUNK, count - first);
        struct hostfp mode;
        hostfp_enter(&mode);
        for (size_t at = first; at < end; at++)
            limit[at] = limit_of(x, at, sum[at], limit[at]);
        hostfp_leave(&mode);
    }
    free(sum);
    return status;
}

static void model_here(double *limit, const struct comparison *x, int threads)
{
    const size_t across = divide_up(x->n, COLUMNS);
    const size_t tiles = divide_up(x->m, ROWS) * across;
    const int team = threads_for_work(threads, tiles, ROWS * COLUMNS * x->k);
    (void)team;
#pragma omp parallel for schedule(static) num_threads(team)
    for (size_t t = 0; t < tiles; t++) {
        const size_t i = t / across * ROWS, j = t % across * COLUMNS;
        struct hostfp mode;
        hostfp_enter(&mode);
        tile_fill(limit, x, i, j, smaller(ROWS, x->m - i), smaller(COLUMNS, x->n - j));
        hostfp_leave(&mode);
    }
}

static enum bitcut_status model(double *limit, const struct comparison *x,
                                const struct gemm_options *o, struct fault *f)
{
    const struct exact_sums *const sums =
        exact_sums_for(offload_sums(o->offload), x->m, x->n, x->k);
    if (sums) return model_elsewhere(limit, x, sums, o->threads, f);
    model_here(limit, x, o->threads);
    return BITCUT_OK;
}

/* Raise the limits to the errors of `loop`, the recipe's result.  Outputs that overflowed
   do not count. */
static void raise_limits(double *limit, const struct comparison *x, const uint32_t *loop,
                         int threads)
{
    const size_t count = x->m * x->n, chunks = divide_up(count, CHUNK);
    struct comparison of_loop = *x;
    of_loop.d = loop;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, chunks))
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const size_t first = chunk * CHUNK, end = first + smaller(CHUNK, count - first);
        struct hostfp mode;
        hostfp_enter(&mode);
        for (size_t i = first; i < end; i++) {
            const double error = fabs(metric_error(&of_loop, i));
            if (isfinite(error)) limit[i] = larger_double(limit[i], error);
        }
        hostfp_leave(&mode);
    }
}

enum bitcut_status error_bound_fp32(double *limit, const struct comparison *x,
                                    const struct gemm_options *o, struct fault *f)
{
    struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", &formats[FORMAT_F32]));
    const struct gemm_options options = { .threads = o->threads,
                                          .progress = o->progress,
                                          .offload = o->offload };
    g.alpha = x->alpha;
    g.beta = x->beta;
    uint32_t *loop = memory_allocate(x->m * x->n, sizeof *loop);
    if (!loop) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    gemm_set_dense(&g, loop, x->m, x->n, x->k, x->a, x->b, x->c);
    enum bitcut_status status = gemm_run(&g, &options, f);
    if (status == BITCUT_OK) status = model(limit, x, o, f);
    if (status == BITCUT_OK) raise_limits(limit, x, loop, o->threads);
    free(loop);
    return status;
}

/* --- a recipe --------------------------------------------------------------------- */

/* The error of parts of rows or columns in several norms, relative to the norm of the row
   or column; for several, the worst.  `aligned` is in 2-norms, with aligned parts. */
struct norms {
    struct retained one, two, aligned;
    size_t underflow, overflow; /* elements, as defined in struct error_bound */
};

/* The rows of A or the columns of B. */
struct side {
    const struct gemm_plan *plan;
    struct retained_reader reader;
    const uint32_t *at;
    size_t lines, k, line_stride, stride;
};

/* Add an element, which is aligned then. */
static void add_element(struct norms *sum, const struct side *s, struct retained *x,
                        struct retained_event event)
{
    for (int i = 0; i < RETAINED_FIELDS; i++) {
        sum->one.at[i] += x->at[i];
        sum->two.at[i] += x->at[i] * x->at[i];
    }
    retained_align(x, &s->reader);
    for (int i = 0; i < RETAINED_FIELDS; i++) sum->aligned.at[i] += x->at[i] * x->at[i];
    sum->underflow += event.small;
    sum->overflow += event.large;
}

/* NaN, from Inf - Inf or Inf 0, counts as infinite. */
static double known(double x) { return isnan(x) ? (double)INFINITY : x; }

static void relate(struct retained *x, double size, bool squares)
{
    for (int i = 0; i < RETAINED_FIELDS; i++) {
        const double part = known(x->at[i] / size);
        x->at[i] = squares ? sqrt(part) : part;
    }
}

/* Values that are not finite count as 0; they are found in the elements. */
static struct norms line_norms_of(const struct side *s, size_t line)
{
    const uint32_t *const at = s->at + line * s->line_stride;
    const int exponent = retained_exponent(s->plan, &s->reader, at, s->k, s->stride);
    struct norms sum = { .underflow = 0 };
    struct retained_block block = { .count = 0 };
    for (size_t p = 0; p < s->k; p++) {
        struct retained x;
        const struct retained_event event =
            retained_next(&x, &block, &s->reader, at, s->stride, s->k, p, exponent);
        if (f32_is_finite(at[p * s->stride])) add_element(&sum, s, &x, event);
    }
    if (sum.one.at[RETAINED_WHOLE] == 0) return (struct norms){ .underflow = 0 };
    relate(&sum.one, sum.one.at[RETAINED_WHOLE], false);
    relate(&sum.two, sum.two.at[RETAINED_WHOLE], true);
    relate(&sum.aligned, sum.aligned.at[RETAINED_WHOLE], true);
    return sum;
}

static void keep_worst(struct retained *worst, const struct retained *x)
{
    for (int i = 0; i < RETAINED_FIELDS; i++)
        worst->at[i] = larger_double(worst->at[i], x->at[i]);
}

static struct norms worst_of(const struct side *s, int threads)
{
    struct norms worst = { .underflow = 0 };
    const int team = threads_for_work(threads, s->lines, 20 * s->k);
    (void)team;
#pragma omp parallel for schedule(static) num_threads(team)
    for (size_t i = 0; i < s->lines; i++) {
        struct hostfp mode;
        hostfp_enter(&mode);
        const struct norms x = line_norms_of(s, i);
        hostfp_leave(&mode);
#pragma omp critical
        {
            keep_worst(&worst.one, &x.one);
            keep_worst(&worst.two, &x.two);
            keep_worst(&worst.aligned, &x.aligned);
            worst.underflow += x.underflow;
            worst.overflow += x.overflow;
        }
    }
    return worst;
}

/* The rows of A or the columns of B of x.  Without elements a size may be huge. */
static struct side side_of(const struct gemm_plan *p, const struct comparison *x,
                           enum bitcut_operand which)
{
    const bool of_a = which == BITCUT_A, empty = x->m == 0 || x->n == 0;
    return (struct side){ .plan = p,
                          .reader = retained_reader_of(p, which),
                          .at = of_a ? x->a : x->b,
                          .lines = empty  ? 0
                                   : of_a ? x->m
                                          : x->n,
                          .k = x->k,
                          .line_stride = of_a ? x->k : 1,
                          .stride = of_a ? 1 : x->n };
}

/* Compute all of *e except the counts. */
static void add_up(struct error_bound *e, const struct bitcut_gemm *g,
                   const struct gemm_plan *p, const struct accumulation *path,
                   const struct norms *a, const struct norms *b)
{
    const struct accumulation_error way =
        accumulation_error_of(p, path, g->alpha, g->beta);
    const double alpha = fabs(value_of_float(g->alpha));
    double all = retained_lost(p, &a->two, &b->two);
    for (int t = 0; t < p->terms; t++)
        all += a->aligned.at[RETAINED_PART + p->term[t].a] *
               b->aligned.at[RETAINED_PART + p->term[t].b] * way.term[t];
    if (p->equilibrate)
        all += way.before * 0x1p-28; /* rows and columns have at least 2^14 */
    e->parts = known(retained_lost(p, &a->one, &b->one)) / U;
    e->all = known(larger_double(all, way.update)) / U;
    e->least = way.after + (p->equilibrate ? 0 : alpha * way.before);
}

enum bitcut_status error_bound_recipe(struct error_bound *e, const struct bitcut_gemm *g,
                                      const struct comparison *x, int threads,
                                      struct fault *f)
{
    struct gemm_plan p;
    struct accumulation path;
    struct hostfp mode;
    enum bitcut_status status = gemm_plan_on_unit(&p, g, f);
    if (status != BITCUT_OK) return status;
    if (accumulation_of(&path, &p, x->m && x->n ? comparison_products(x) : 0) !=
        BITCUT_OK)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    const struct side rows = side_of(&p, x, BITCUT_A), columns = side_of(&p, x, BITCUT_B);
    const struct norms a = worst_of(&rows, threads), b = worst_of(&columns, threads);
    *e = (struct error_bound){ .underflow = { a.underflow, b.underflow },
                               .overflow = { a.overflow, b.overflow } };
    hostfp_enter(&mode);
    add_up(e, g, &p, &path, &a, &b);
    hostfp_leave(&mode);
    return BITCUT_OK;
}

double error_bound_share(const struct comparison *x, const struct error_bound *e)
{
    double most = 0;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; x->n && i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            const double error = fabs(metric_error(x, i * x->n + j));
            const double allowed = e->all * U * lines_at(x, i, j) + e->least;
            if (error > 0) most = larger_double(most, error / allowed);
        }
    hostfp_leave(&mode);
    return most;
}
