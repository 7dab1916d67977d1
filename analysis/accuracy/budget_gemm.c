/* SPDX-License-Identifier: BSD-3-Clause */
/* Budgets of many outputs. */
#include "analysis/accuracy/budget_parts.h"
#include "analysis/accuracy/gemm_data.h"
#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

enum {
    CHUNK = 1024,           /* most outputs at a time              */
    ELEMENTS_MAX = 1 << 24, /* elements of their columns           */
    VALUES_MAX = 1 << 18,   /* elements that have values at a time */
    BLOCK_MIN = 64,         /* elements of a line among these      */
    LEAST_EXPONENT = -149,
    FRACTION = 23
};

/* --- one output ------------------------------------------------------------------- */

/* A row of A or a column of B, and the values of a part of it. */
struct prepared_line {
    bool used, wanted; /* by the outputs before, by the present outputs */
    uint32_t *column;  /* of B, contiguous                              */
    struct budget_line line;
    struct budget_values *values;
};

/* The lines of the present outputs, and the sums of each output. */
struct prepared {
    const struct budget_matrices *x;
    const struct gemm_plan *plan;
    struct prepared_line *line;   /* [m + n]                                           */
    struct budget_stages *stages; /* [CHUNK]                                           */
    size_t block;                 /* elements of each line that have values at a time */
};

static void prepared_clear(struct prepared *p)
{
    for (size_t i = 0; p->line && i < p->x->m + p->x->n; i++) {
        free(p->line[i].column);
        free(p->line[i].values);
    }
    free(p->line);
    free(p->stages);
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

static bool prepare(struct prepared *p, const struct gemm_plan *plan,
                    const struct budget_matrices *x)
{
    *p = (struct prepared){ .x = x, .plan = plan };
    p->line = calloc(x->m + x->n + 1, sizeof *p->line);
    p->stages = memory_allocate(CHUNK, sizeof *p->stages);
    return p->line && p->stages;
}

/* Want the lines of outputs from c->from on, and set c->to to their end: columns of B
   have at most ELEMENTS_MAX elements, unless there is one output. */
static void want_lines(struct prepared *p, struct piece *c)
{
    const struct budget_matrices *const x = p->x;
    const size_t end = smaller(c->from + CHUNK, c->sample.count);
    size_t columns = 0;
    for (size_t i = 0; i < x->m + x->n; i++) p->line[i].wanted = false;
    for (c->to = c->from; c->to < end; c->to++) {
        const size_t at = output_at(c, c->to);
        struct prepared_line *const column = &p->line[x->m + at % x->n];
        if (!column->wanted && columns && (columns + 1) * x->k > ELEMENTS_MAX) return;
        columns += !column->wanted;
        p->line[at / x->n].wanted = column->wanted = true;
    }
}

/* Make line i, a row of A or column i - m of B. */
static bool make_line(struct prepared *p, size_t i)
{
    const struct budget_matrices *const x = p->x;
    struct prepared_line *const to = &p->line[i];
    const bool row = i < x->m;
    const struct line_factors factors = row ? factors_a(x, i) : factors_b(x, i - x->m);
    const uint32_t *at = x->a + i * x->k;
    if (!row) {
        to->column = memory_allocate(x->k, sizeof *to->column);
        if (!to->column) return false;
        for (size_t k = 0; k < x->k; k++) to->column[k] = x->b[k * x->n + i - x->m];
        at = to->column;
    }
    to->line = budget_line_of(p->plan, row ? BITCUT_A : BITCUT_B, at, x->k, &factors,
                              row ? kept_of(x, i) : NULL);
    return true;
}

/* Make line i if it is wanted, and release it if not; its values have no elements yet. */
static bool take_line(struct prepared *p, size_t i)
{
    struct prepared_line *const to = &p->line[i];
    free(to->values);
    to->values = NULL;
    if (!to->wanted) {
        free(to->column);
        to->column = NULL;
    }
    const bool made = !to->wanted || to->used || make_line(p, i);
    to->used = to->wanted && made;
    if (!to->used || p->plan->integer) return made;
    return (to->values = budget_values_new(p->block));
}

static bool take_lines(struct prepared *p, int threads)
{
    const size_t lines = p->x->m + p->x->n;
    size_t wanted = 0;
    bool enough = true;
    (void)threads;
    for (size_t i = 0; i < lines; i++) wanted += p->line[i].wanted;
    p->block = larger(BLOCK_MIN, smaller(VALUES_MAX / larger(1, wanted), p->x->k));
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, lines))
    for (size_t i = 0; i < lines; i++) {
        if (take_line(p, i)) continue;
#pragma omp atomic write
        enough = false;
    }
    return enough;
}

static struct prepared_line *row_of(const struct prepared *p, const struct piece *c,
                                    size_t t)
{
    return &p->line[output_at(c, t) / p->x->n];
}

static struct prepared_line *column_of(const struct prepared *p, const struct piece *c,
                                       size_t t)
{
    return &p->line[p->x->m + output_at(c, t) % p->x->n];
}

/* Make the values of elements [from, from + count) of all lines, and add their products
   to the sums of all outputs. */
static bool add_block(struct prepared *p, const struct piece *c, size_t from,
                      size_t count, int threads)
{
    const size_t lines = p->x->m + p->x->n;
    bool enough = true;
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, lines))
    for (size_t i = 0; i < lines; i++) {
        struct prepared_line *const x = &p->line[i];
        if (!x->used || budget_values_fill(x->values, &x->line, from, count)) continue;
#pragma omp atomic write
        enough = false;
    }
    if (!enough) return false;
#pragma omp parallel for schedule(static)                                                \
    num_threads(threads_for(threads, c->to - c->from))
    for (size_t t = c->from; t < c->to; t++)
        budget_stages_add(&p->stages[t - c->from], row_of(p, c, t)->values,
                          column_of(p, c, t)->values);
    return true;
}

/* Find the sums of all outputs. */
static bool find_stages(struct prepared *p, const struct piece *c, int threads,
                        const struct progress *progress)
{
    bool enough = true;
    for (size_t t = c->from; t < c->to; t++)
        budget_stages_start(&p->stages[t - c->from], &row_of(p, c, t)->line,
                            &column_of(p, c, t)->line);
    for (size_t k = 0; k < p->x->k && enough && !progress_stopped(progress);
         k += p->block)
        enough = add_block(p, c, k, smaller(p->block, p->x->k - k), threads);
    return enough;
}

static enum bitcut_status output_budget(struct budget_output *to,
                                        const struct bitcut_gemm *g,
                                        const struct prepared *p, const struct piece *c,
                                        size_t t)
{
    const size_t i = output_at(c, t) / p->x->n, j = output_at(c, t) % p->x->n;
    struct budget_lines lines = lines_of(p->x, column_of(p, c, t)->column, i, j);
    lines.stages = &p->stages[t - c->from];
    return budget_one(to, g, p->plan, &lines, false, NULL);
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

/* Compute the budgets of the outputs of a piece, and report progress. */
static enum bitcut_status run_piece(struct budget_output *out,
                                    const struct bitcut_gemm *g, struct prepared *p,
                                    struct piece *c, int threads,
                                    const struct progress *progress)
{
    enum bitcut_status worst = BITCUT_OK;
    size_t done = c->from;
    want_lines(p, c);
    if (!take_lines(p, threads) ||
        (!p->plan->integer && !find_stages(p, c, threads, progress)))
        return BITCUT_NO_MEMORY;
#pragma omp parallel for schedule(dynamic)                                               \
    num_threads(threads_for(threads, c->to - c->from))
    for (size_t t = c->from; t < c->to; t++) {
        size_t now;
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status = output_budget(&out[t - c->from], g, p, c, t);
#pragma omp atomic capture
        now = ++done;
        if (threads_number() == 0) progress_report(progress, now, c->sample.count);
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
    const size_t total = x->m * x->n;
    struct piece c = { .sample = spread_evenly(total,
                                               0x1p27 / larger_double(1, (double)x->k)) };
    struct budget_output *const out = memory_allocate(CHUNK, sizeof *out);
    struct prepared p;
    double worst = 0;
    enum bitcut_status status =
        prepare(&p, plan, x) && out ? BITCUT_OK : BITCUT_NO_MEMORY;
    *to = (struct budget_summary){ .total = total, .first = total, .worst = total };
    for (; c.from < c.sample.count && status == BITCUT_OK; c.from = c.to) {
        status = run_piece(out, g, &p, &c, threads, progress);
        if (progress_stopped(progress)) break;
        for (size_t t = c.from; t < c.to && status == BITCUT_OK; t++)
            take_output(to, &out[t - c.from], output_at(&c, t), &worst);
    }
    free(out);
    prepared_clear(&p);
    finish(to, g);
    return status == BITCUT_OK
               ? BITCUT_OK
               : fault_set(f, status, "not enough memory for the budgets of outputs");
}
