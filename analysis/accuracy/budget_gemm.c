/* SPDX-License-Identifier: BSD-3-Clause */
/* Budgets of many outputs of an FP32 GEMM. */
#include "analysis/accuracy/budget_parts.h"
#include "analysis/accuracy/gemm_data.h"
#include "lib/base/threads.h"

#include <stdlib.h>

enum {
    VALUES_MAX = 1 << 18, /* elements that have values at a time */
    BLOCK_MIN = 64        /* elements of a line among these      */
};

/* --- one output ------------------------------------------------------------------- */

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

/* --- many outputs ----------------------------------------------------------------- */

/* A row of A or a column of B, and the values of a part of it. */
struct prepared_line {
    uint32_t *column; /* of B, contiguous */
    struct budget_line line;
    struct budget_values *values;
};

/* The GEMM, and the sums of the outputs of a piece. */
struct source {
    const struct bitcut_gemm *gemm;
    const struct gemm_plan *plan;
    const struct budget_matrices *x;
    struct budget_stages *stages; /* [BUDGET_PIECE_MAX] */
};

static void release_line(void *line)
{
    struct prepared_line *const x = line;
    free(x->column);
    free(x->values);
    free(x);
}

/* Row i of A or column i - m of B; its values have no elements yet. */
static void *make_line(const void *context, size_t i)
{
    const struct source *const s = context;
    const struct budget_matrices *const x = s->x;
    struct prepared_line *const to = calloc(1, sizeof *to);
    const bool row = i < x->m;
    const struct line_factors factors = row ? factors_a(x, i) : factors_b(x, i - x->m);
    const uint32_t *at = x->a + i * x->k;
    if (to && !row) {
        to->column = memory_allocate(x->k, sizeof *to->column);
        if (!to->column) {
            free(to);
            return NULL;
        }
        for (size_t k = 0; k < x->k; k++) to->column[k] = x->b[k * x->n + i - x->m];
        at = to->column;
    }
    if (to)
        to->line = budget_line_of(s->plan, row ? BITCUT_A : BITCUT_B, at, x->k, &factors,
                                  row ? kept_of(x, i) : NULL);
    return to;
}

static struct prepared_line *row_of(const struct budget_piece *c, size_t t)
{
    return c->line[budget_row(c, t)];
}

static struct prepared_line *column_of(const struct budget_piece *c, size_t t)
{
    return c->line[budget_column(c, t)];
}

/* Elements of each line that have values at a time. */
static size_t block_of(const struct budget_piece *c, size_t k)
{
    size_t used = 0;
    for (size_t i = 0; i < c->m + c->n; i++) used += c->line[i] != NULL;
    return larger(BLOCK_MIN, smaller(VALUES_MAX / larger(1, used), k));
}

/* Make room for the values of a block of every line.  False: no memory. */
static bool make_values(const struct budget_piece *c, size_t block)
{
    for (size_t i = 0; i < c->m + c->n; i++) {
        struct prepared_line *const x = c->line[i];
        if (!x) continue;
        free(x->values);
        if (!(x->values = budget_values_new(block))) return false;
    }
    return true;
}

/* Make the values of elements [from, from + count) of all lines, and add their products
   to the sums of all outputs. */
static bool add_block(const struct source *s, const struct budget_piece *c, size_t from,
                      size_t count, int threads)
{
    const size_t lines = c->m + c->n;
    bool enough = true;
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, lines))
    for (size_t i = 0; i < lines; i++) {
        struct prepared_line *const x = c->line[i];
        if (!x || budget_values_fill(x->values, &x->line, from, count)) continue;
#pragma omp atomic write
        enough = false;
    }
    if (!enough) return false;
#pragma omp parallel for schedule(static)                                                \
    num_threads(threads_for(threads, c->to - c->from))
    for (size_t t = c->from; t < c->to; t++)
        budget_stages_add(&s->stages[t - c->from], row_of(c, t)->values,
                          column_of(c, t)->values);
    return true;
}

/* Find the sums of all outputs of a piece. */
static bool find_stages(const void *context, const struct budget_piece *c, int threads,
                        const struct progress *progress)
{
    const struct source *const s = context;
    const size_t block = block_of(c, s->x->k);
    bool enough = make_values(c, block);
    for (size_t t = c->from; t < c->to && enough; t++)
        budget_stages_start(&s->stages[t - c->from], &row_of(c, t)->line,
                            &column_of(c, t)->line);
    for (size_t k = 0; k < s->x->k && enough && !progress_stopped(progress); k += block)
        enough = add_block(s, c, k, smaller(block, s->x->k - k), threads);
    return enough;
}

static enum bitcut_status output_budget(struct budget_output *to, const void *context,
                                        const struct budget_piece *c, size_t t,
                                        struct fault *f)
{
    const struct source *const s = context;
    struct budget_lines lines = lines_of(s->x, column_of(c, t)->column, budget_row(c, t),
                                         budget_column(c, t) - c->m);
    lines.stages = &s->stages[t - c->from];
    return budget_one(to, s->gemm, s->plan, &lines, false, f);
}

enum bitcut_status budget_gemm(struct budget_summary *to, const struct bitcut_gemm *g,
                               const struct gemm_plan *plan,
                               const struct budget_matrices *x, int threads,
                               const struct progress *progress, struct fault *f)
{
    struct source s = { .gemm = g, .plan = plan, .x = x };
    const struct budget_work w = { .m = x->m,
                                   .n = x->n,
                                   .k = x->k,
                                   .kinds = budget_kinds(g),
                                   .context = &s,
                                   .line = make_line,
                                   .release = release_line,
                                   .start = plan->integer ? NULL : find_stages,
                                   .output = output_budget };
    s.stages = memory_allocate(BUDGET_PIECE_MAX, sizeof *s.stages);
    if (!s.stages)
        return fault_set(f, BITCUT_NO_MEMORY,
                         "not enough memory for the budgets of outputs");
    const enum bitcut_status status = budget_summarize(to, &w, threads, progress, f);
    free(s.stages);
    return status;
}
