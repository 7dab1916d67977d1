/* SPDX-License-Identifier: BSD-3-Clause */
/* Budgets of many outputs. */
#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/gemm_data.h"
#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1024, ELEMENTS_MAX = 1 << 24, LEAST_EXPONENT = -149, FRACTION = 23 };

/* --- one output ------------------------------------------------------------------- */

/* Columns of B, contiguous, and the values of the rows and columns of the present
   outputs. */
struct prepared {
    const struct budget_matrices *x;
    uint32_t *column;              /* [n][k]                                      */
    struct budget_values **a, **b; /* [m], [n]: NULL if no present output has it */
    bool *used;                    /* [m + n]                                     */
};

static void prepared_clear(struct prepared *p)
{
    for (size_t i = 0; p->a && i < p->x->m; i++) free(p->a[i]);
    for (size_t j = 0; p->b && j < p->x->n; j++) free(p->b[j]);
    free(p->a);
    free(p->b);
    free(p->used);
    free(p->column);
}

/* Outputs `from` to `to` of the sample. */
struct piece {
    size_t from, to;
    struct spread_evenly sample;
};

static size_t output_at(const struct piece *c, size_t t)
{
    return spread_place(&c->sample, t);
}

/* The factors of row i of A, and of column j of B. */
static struct line_factors factors_a(const struct budget_matrices *x, size_t i)
{
    const struct gemm_data *const g = x->extra;
    if (!g || !g->scale_a.at) return (struct line_factors){ .at = NULL };
    return (struct line_factors){ g->scale_a.at + i * g->scale_a.cols, 1, g->depth_a };
}

static struct line_factors factors_b(const struct budget_matrices *x, size_t j)
{
    const struct gemm_data *const g = x->extra;
    if (!g || !g->scale_b.at) return (struct line_factors){ .at = NULL };
    return (struct line_factors){ g->scale_b.at + j, g->scale_b.cols, g->depth_b };
}

/* The positions of the kept elements of row i of a sparse A. */
static const uint8_t *kept_of(const struct budget_matrices *x, size_t i)
{
    return x->kept ? x->kept + i * (x->k / 2) : NULL;
}

/* Output (i, j), whose column of B is contiguous. */
static struct budget_lines lines_of(const struct budget_matrices *x,
                                    const uint32_t *column, size_t i, size_t j)
{
    const struct gemm_data *const g = x->extra;
    return (struct budget_lines){ .a = x->a + i * x->k,
                                  .b = column,
                                  .k = x->k,
                                  .c = x->c ? x->c[i * x->n + j] : 0,
                                  .bias = g && g->bias.at
                                              ? g->bias.at[g->bias_rows ? i : j]
                                              : 0,
                                  .factors_a = factors_a(x, i),
                                  .factors_b = factors_b(x, j),
                                  .kept = kept_of(x, i) };
}

/* Make the values of the rows and columns of the outputs, and release the others. */
static bool make_values(struct prepared *p, const struct gemm_plan *plan,
                        const struct piece *c, int threads)
{
    const size_t m = p->x->m, n = p->x->n, k = p->x->k, lines = m + n;
    bool enough = true;
    (void)threads;
    for (size_t i = 0; i < lines; i++) p->used[i] = false;
    for (size_t t = c->from; t < c->to; t++)
        p->used[output_at(c, t) / n] = p->used[m + output_at(c, t) % n] = true;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, lines))
    for (size_t i = 0; i < lines; i++) {
        struct budget_values **const to = i < m ? &p->a[i] : &p->b[i - m];
        if (!p->used[i]) {
            free(*to);
            *to = NULL;
        }
        if (!p->used[i] || *to) continue;
        const struct line_factors factors =
            i < m ? factors_a(p->x, i) : factors_b(p->x, i - m);
        *to = i < m ? budget_values_make(plan, BITCUT_A, p->x->a + i * k, k, &factors,
                                         kept_of(p->x, i))
                    : budget_values_make(plan, BITCUT_B, p->column + (i - m) * k, k,
                                         &factors, NULL);
        if (*to) continue;
#pragma omp atomic write
        enough = false;
    }
    return enough;
}

static bool prepare(struct prepared *p, const struct budget_matrices *x)
{
    *p = (struct prepared){ .x = x };
    p->column = memory_allocate(x->n, x->k * sizeof *p->column);
    p->a = calloc(x->m + 1, sizeof(struct budget_values *));
    p->b = calloc(x->n + 1, sizeof(struct budget_values *));
    p->used = calloc(x->m + x->n + 1, sizeof *p->used);
    if (!p->column || !p->a || !p->b || !p->used) return false;
    for (size_t i = 0; i < x->k; i++)
        for (size_t j = 0; j < x->n; j++) p->column[j * x->k + i] = x->b[i * x->n + j];
    return true;
}

static enum bitcut_status output_budget(struct budget_output *to,
                                        const struct bitcut_gemm *g,
                                        const struct gemm_plan *plan,
                                        const struct prepared *p, size_t at)
{
    const struct budget_matrices *const x = p->x;
    const size_t i = at / x->n, j = at % x->n;
    struct budget_lines lines = lines_of(x, p->column + j * x->k, i, j);
    lines.values_a = p->a[i];
    lines.values_b = p->b[j];
    return budget_one(to, g, plan, &lines, false, NULL);
}

enum bitcut_status budget_at(struct budget_output *to, const struct bitcut_gemm *g,
                             const struct gemm_plan *plan,
                             const struct budget_matrices *x, size_t i, size_t j,
                             struct fault *f)
{
    uint32_t *const column = memory_allocate(x->k, sizeof *column);
    if (!column) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a budget");
    for (size_t p = 0; p < x->k; p++) column[p] = x->b[p * x->n + j];
    const struct budget_lines lines = lines_of(x, column, i, j);
    const enum bitcut_status status = budget_one(to, g, plan, &lines, true, f);
    free(column);
    return status;
}

/* --- statistics ------------------------------------------------------------------- */

/* The distance of values of the format of D at x. */
static double ulp_at(const struct bitcut_format *format, double x)
{
    int exponent;
    if (result_is_short(format)) return format_ulp(format, x);
    if (x == 0) return ldexp(1, LEAST_EXPONENT);
    frexp(x, &exponent);
    return ldexp(1, larger_int(exponent - 1 - FRACTION, LEAST_EXPONENT));
}

/* The unit of a part; for |A||B| = 0 there is no error. */
static double unit_of(const struct budget_output *x, enum budget_measure measure)
{
    const double unit = measure == BUDGET_U
                            ? ldexp(x->size, result_unit_exponent(x->format))
                            : ulp_at(x->format, x->value);
    return unit > 0 ? unit : 1;
}

static void take_part(struct budget_statistics *to, double x)
{
    to->mean += x;
    to->rms += x * x;
    to->most = larger_double(to->most, fabs(x));
}

static void take_output(struct budget_summary *to, const struct budget_output *x,
                        size_t at, double *worst)
{
    to->outputs++;
    if (x->event.what) {
        if (!to->without++) to->first = at, to->event = x->event;
        return;
    }
    for (int measure = 0; measure < BUDGET_MEASURES; measure++) {
        const double unit = unit_of(x, (enum budget_measure)measure);
        for (int i = 0; i <= BUDGET_PARTS; i++)
            take_part(&to->part[i][measure],
                      (i < BUDGET_PARTS ? x->part[i] : x->error) / unit);
    }
    const double error = fabs(x->error) / unit_of(x, BUDGET_U);
    if (to->worst == to->total || error > *worst) to->worst = at, *worst = error;
}

static void finish(struct budget_summary *x, const struct bitcut_gemm *g)
{
    const double count = (double)(x->outputs - x->without);
    for (int i = 0; i <= BUDGET_PARTS; i++)
        for (int measure = 0; measure < BUDGET_MEASURES; measure++) {
            struct budget_statistics *const s = &x->part[i][measure];
            if (i < BUDGET_PARTS && !budget_has_part(g, (enum budget_part)i)) continue;
            s->mean /= count;
            s->rms = sqrt(s->rms / count);
            if (count == 0) s->most = (double)NAN;
        }
}

/* --- all -------------------------------------------------------------------------- */

/* Number of outputs at a time: their rows and columns have at most twice ELEMENTS_MAX
   elements. */
static size_t chunk_of(const struct budget_matrices *x)
{
    const size_t most = x->k ? ELEMENTS_MAX / x->k : CHUNK;
    return most < 1 ? 1 : smaller(most, CHUNK);
}

static enum bitcut_status run_chunk(struct budget_output *out, const struct bitcut_gemm *g,
                                    const struct gemm_plan *plan, struct prepared *p,
                                    const struct piece *c, int threads,
                                    const struct progress *progress)
{
    enum bitcut_status worst = BITCUT_OK;
    (void)threads;
    if (!make_values(p, plan, c, threads)) return BITCUT_NO_MEMORY;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_for(threads, c->to - c->from))
    for (size_t t = c->from; t < c->to; t++) {
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status =
            output_budget(&out[t - c->from], g, plan, p, output_at(c, t));
        if (status == BITCUT_OK) continue;
#pragma omp atomic write
        worst = status;
    }
    return worst;
}

enum bitcut_status budget_gemm(struct budget_summary *to, const struct bitcut_gemm *g,
                               const struct gemm_plan *plan,
                               const struct budget_matrices *x, int threads,
                               const struct progress *progress, struct fault *f)
{
    const size_t total = x->m * x->n, chunk = chunk_of(x);
    struct piece c = { .sample = spread_evenly(total,
                                               0x1p27 / larger_double(1, (double)x->k)) };
    const size_t count = c.sample.count;
    struct budget_output *const out = memory_allocate(CHUNK, sizeof *out);
    struct prepared p;
    double worst = 0;
    enum bitcut_status status =
        prepare(&p, x) && out ? BITCUT_OK : BITCUT_NO_MEMORY;
    *to = (struct budget_summary){ .total = total, .first = total, .worst = total };
    for (; c.from < count && status == BITCUT_OK; c.from = c.to) {
        c.to = smaller(c.from + chunk, count);
        status = run_chunk(out, g, plan, &p, &c, threads, progress);
        if (progress_stopped(progress)) break;
        for (size_t t = c.from; t < c.to && status == BITCUT_OK; t++)
            take_output(to, &out[t - c.from], output_at(&c, t), &worst);
        progress_report(progress, c.to, count);
    }
    free(out);
    prepared_clear(&p);
    finish(to, g);
    return status == BITCUT_OK
               ? BITCUT_OK
               : fault_set(f, status, "not enough memory for the budgets of outputs");
}
