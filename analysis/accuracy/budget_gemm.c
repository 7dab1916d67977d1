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

/* The plan, and the matrices with contiguous columns of B. */
struct source {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct budget_matrices *x;
    uint32_t *column; /* [n][k] */
};

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

static bool source_make(struct source *s, const struct bitcut_gemm *g,
                        const struct gemm_plan *plan, const struct budget_matrices *x)
{
    *s = (struct source){ g, plan, x, memory_allocate(x->n, x->k * sizeof *s->column) };
    if (!s->column) return false;
    for (size_t i = 0; i < x->k; i++)
        for (size_t j = 0; j < x->n; j++) s->column[j * x->k + i] = x->b[i * x->n + j];
    return true;
}

/* The values of the parts of a line. */
static void *line_values(const void *context, size_t line)
{
    const struct source *const s = context;
    const struct budget_matrices *const x = s->x;
    const bool of_a = line < x->m;
    const size_t i = of_a ? line : line - x->m;
    const struct line_factors factors = of_a ? factors_a(x, i) : factors_b(x, i);
    return of_a ? budget_values_make(s->plan, BITCUT_A, x->a + i * x->k, x->k, &factors,
                                     kept_of(x, i))
                : budget_values_make(s->plan, BITCUT_B, s->column + i * x->k, x->k,
                                     &factors, NULL);
}

static enum bitcut_status output_budget(struct budget_output *to, const void *context,
                                        const void *row, const void *column, size_t i,
                                        size_t j, struct fault *f)
{
    const struct source *const s = context;
    struct budget_lines lines = lines_of(s->x, s->column + j * s->x->k, i, j);
    lines.values_a = row;
    lines.values_b = column;
    return budget_one(to, s->gemm, s->plan, &lines, false, f);
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
static double ulp_at(const struct budget_output *out, double x)
{
    int exponent;
    if (out->is_f64) return format_ulp(&formats[FORMAT_F64], x);
    if (result_is_short(out->format)) return format_ulp(out->format, x);
    if (x == 0) return ldexp(1, LEAST_EXPONENT);
    frexp(x, &exponent);
    return ldexp(1, larger_int(exponent - 1 - FRACTION, LEAST_EXPONENT));
}

/* The unit of a part; for |A||B| = 0 there is no error. */
static double unit_of(const struct budget_output *x, enum budget_measure measure)
{
    const double unit = measure == BUDGET_U ? ldexp(x->size, budget_unit_exponent(x))
                                            : ulp_at(x, x->value);
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

static void finish(struct budget_summary *x, unsigned kinds)
{
    const double count = (double)(x->outputs - x->without);
    for (int i = 0; i <= BUDGET_PARTS; i++)
        for (int measure = 0; measure < BUDGET_MEASURES; measure++) {
            struct budget_statistics *const s = &x->part[i][measure];
            if (i < BUDGET_PARTS && !(budget_rows[i].kinds & kinds)) continue;
            s->mean /= count;
            s->rms = sqrt(s->rms / count);
            if (count == 0) s->most = (double)NAN;
        }
}

/* --- all -------------------------------------------------------------------------- */

/* What the outputs of a chunk need of their rows and columns, and all budgets of it. */
struct prepared {
    const struct budget_work *w;
    void **line; /* [m + n]: NULL if no output of the chunk has it */
    bool *used;  /* [m + n]                                        */
    struct budget_output *out;
};

static bool prepare(struct prepared *p, const struct budget_work *w)
{
    const size_t lines = w->m + w->n;
    *p = (struct prepared){ .w = w,
                            .line = calloc(lines + 1, sizeof *p->line),
                            .used = calloc(lines + 1, sizeof *p->used),
                            .out = memory_allocate(CHUNK, sizeof *p->out) };
    return p->line && p->used && p->out;
}

static void prepared_clear(struct prepared *p)
{
    for (size_t i = 0; p->line && i < p->w->m + p->w->n; i++) p->w->release(p->line[i]);
    free(p->line);
    free(p->used);
    free(p->out);
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

/* Make the lines of the outputs, and release the others. */
static bool make_lines(struct prepared *p, const struct piece *c, int threads)
{
    const size_t m = p->w->m, n = p->w->n, lines = m + n;
    bool enough = true;
    (void)threads;
    for (size_t i = 0; i < lines; i++) p->used[i] = false;
    for (size_t t = c->from; t < c->to; t++)
        p->used[output_at(c, t) / n] = p->used[m + output_at(c, t) % n] = true;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, lines))
    for (size_t i = 0; i < lines; i++) {
        if (!p->used[i]) {
            p->w->release(p->line[i]);
            p->line[i] = NULL;
        }
        if (!p->used[i] || p->line[i]) continue;
        p->line[i] = p->w->line(p->w->context, i);
        if (p->line[i]) continue;
#pragma omp atomic write
        enough = false;
    }
    return enough;
}

/* Number of outputs at a time: their rows and columns have at most twice ELEMENTS_MAX
   elements. */
static size_t chunk_of(const struct budget_work *w)
{
    const size_t most = w->k ? ELEMENTS_MAX / w->k : CHUNK;
    return most < 1 ? 1 : smaller(most, CHUNK);
}

static enum bitcut_status run_chunk(struct prepared *p, const struct piece *c,
                                    int threads, const struct progress *progress,
                                    struct fault *f)
{
    const struct budget_work *const w = p->w;
    enum bitcut_status worst = BITCUT_OK;
    (void)threads;
    if (!make_lines(p, c, threads))
        return fault_set(f, BITCUT_NO_MEMORY,
                         "not enough memory for the budgets of outputs");
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads_for(threads, c->to - c->from))
    for (size_t t = c->from; t < c->to; t++) {
        const size_t i = output_at(c, t) / w->n, j = output_at(c, t) % w->n;
        struct fault own;
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status = w->output(
            &p->out[t - c->from], w->context, p->line[i], p->line[w->m + j], i, j, &own);
        if (status == BITCUT_OK) continue;
#pragma omp critical(bitcut_budget)
        {
            worst = status;
            if (f) *f = own;
        }
    }
    return worst;
}

enum bitcut_status budget_summarize(struct budget_summary *to,
                                    const struct budget_work *w, int threads,
                                    const struct progress *progress, struct fault *f)
{
    const size_t total = w->m * w->n, chunk = chunk_of(w);
    struct piece c = { .sample = spread_evenly(total,
                                               0x1p27 / larger_double(1, (double)w->k)) };
    const size_t count = c.sample.count;
    struct prepared p;
    double worst = 0;
    enum bitcut_status status =
        prepare(&p, w) ? BITCUT_OK
                       : fault_set(f, BITCUT_NO_MEMORY,
                                   "not enough memory for the budgets of outputs");
    *to = (struct budget_summary){
        .total = total, .first = total, .worst = total, .is_f64 = w->is_f64
    };
    for (; c.from < count && status == BITCUT_OK; c.from = c.to) {
        c.to = smaller(c.from + chunk, count);
        status = run_chunk(&p, &c, threads, progress, f);
        if (progress_stopped(progress)) break;
        for (size_t t = c.from; t < c.to && status == BITCUT_OK; t++)
            take_output(to, &p.out[t - c.from], output_at(&c, t), &worst);
        progress_report(progress, c.to, count);
    }
    prepared_clear(&p);
    finish(to, w->kinds);
    return status;
}

enum bitcut_status budget_gemm(struct budget_summary *to, const struct bitcut_gemm *g,
                               const struct gemm_plan *plan,
                               const struct budget_matrices *x, int threads,
                               const struct progress *progress, struct fault *f)
{
    struct source s;
    const struct budget_work w = { .m = x->m,
                                   .n = x->n,
                                   .k = x->k,
                                   .kinds = BUDGET_OF_FP32 |
                                            (gemm_is_extended(g) ? BUDGET_OF_STEPS : 0),
                                   .context = &s,
                                   .line = line_values,
                                   .release = free,
                                   .output = output_budget };
    if (!source_make(&s, g, plan, x))
        return fault_set(f, BITCUT_NO_MEMORY,
                         "not enough memory for the budgets of outputs");
    const enum bitcut_status status = budget_summarize(to, &w, threads, progress, f);
    free(s.column);
    return status;
}
