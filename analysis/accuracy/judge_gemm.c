/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison of a GEMM in the form of a caller's, as declared in lib/bitcut.h. */
#include "analysis/accuracy/epilogue_reference.h"
#include "analysis/accuracy/gemm_data.h"
#include "emu/unit.h"
#include "lib/gemm/sparsity.h"
#include "lib/gemm/view.h"

#include <math.h>
#include <stdlib.h>

const char *bitcut_metric_name(size_t i) { return i < METRICS ? metrics[i].name : NULL; }

/* The matrices of one GEMM: FP32, row-major and contiguous. */
struct dense {
    struct matrix a, b, c, d;
};

static void dense_clear(struct dense *x)
{
    matrix_clear(&x->a);
    matrix_clear(&x->b);
    matrix_clear(&x->c);
    matrix_clear(&x->d);
}

static bool gather_all(struct dense *x, const struct bitcut_gemm *g, int threads)
{
    return (g->sparsity ? sparsity_expand(&x->a, g)
                        : view_matrix(&x->a, &g->a, 0, g->m, g->k, threads)) &&
           view_matrix(&x->b, &g->b, 0, g->k, g->n, threads) &&
           view_matrix(&x->d, &g->d, 0, g->m, g->n, threads) &&
           (!gemm_reads_c(g) || view_matrix(&x->c, &g->c, 0, g->m, g->n, threads));
}

static bool has_integers(const struct bitcut_gemm *g)
{
    return g->unit && format_is_integer(g->unit->c);
}

static enum bitcut_status judge(double *values, size_t count, const struct bitcut_gemm *g,
                                const struct dense *x, int threads, struct fault *f)
{
    const struct exact_update update = { g->alpha, g->beta, x->c.at };
    const bool extended = gemm_is_extended(g) || has_integers(g);
    struct error_bound error;
    const struct gemm_options options = { .threads = threads,
                                          .progress = progress_of_thread() };
    struct judge j;
    double all[METRICS];
    enum bitcut_status status = judge_init(&j, &references[0], &x->a, &x->b,
                                           extended ? NULL : &update, &options, f);
    if (status != BITCUT_OK) return status;
    if (extended) status = judge_extend(&j, g, 0, &options, f);
    else if (g->unit) status = judge_grade(&j, &error, g, &options, f);
    if (status == BITCUT_OK) {
        j.comparison.d = x->d.at;
        j.comparison.format = g->d.format;
        metrics_find(all, &j.comparison, ~0u, threads);
        for (size_t p = 0; p < count; p++) values[p] = p < METRICS ? all[p] : NAN;
    }
    judge_clear(&j);
    return status;
}

/* --- FP64 ------------------------------------------------------------------------- */

static double *gather_f64(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    const struct view v = view_of(x, 0, rows, cols, false);
    size_t count;
    double *const to =
        size_multiply(&count, rows, cols) ? memory_allocate(count, sizeof *to) : NULL;
    for (size_t i = 0; to && i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[i * cols + j] = view_f64(&v, i, j);
    return to;
}

static enum bitcut_status judge_f64(double *values, size_t count,
                                    const struct bitcut_gemm *g, int threads,
                                    struct fault *f)
{
    const bool reads_c = gemm_reads_c(g);
    double *const a = gather_f64(&g->a, g->m, g->k),
                  *const b = gather_f64(&g->b, g->k, g->n),
                  *const c = reads_c ? gather_f64(&g->c, g->m, g->n) : NULL,
                  *const d = gather_f64(&g->d, g->m, g->n);
    const struct matrices64 x = {
        g->m, g->n, g->k, a, b, c, d, g->alpha_f64, g->beta_f64
    };
    const struct gemm_options options = { .threads = threads,
                                          .progress = progress_of_thread() };
    struct judge j;
    double all[METRICS];
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (!a || !b || (reads_c && !c) || !d)
        fault_set(f, status, "not enough memory for the matrices");
    else status = judge64_init(&j, &references[0], &x, &options, f);
    if (status == BITCUT_OK) {
        status = judge64_grade(&j, &options, f);
        if (status == BITCUT_OK) metrics_find(all, &j.comparison, ~0u, threads);
        for (size_t p = 0; p < count && status == BITCUT_OK; p++)
            values[p] = p < METRICS ? all[p] : NAN;
        judge_clear(&j);
    }
    free(a);
    free(b);
    free(c);
    free(d);
    return status;
}

/* --- the call --------------------------------------------------------------------- */

/* Whether the GEMM exists, and all required arrays are given. */
static enum bitcut_status check(const struct bitcut_gemm *g, size_t i, int threads,
                                struct fault *f)
{
    struct gemm_plan plan;
    if (i >= g->count || threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "invalid GEMM index or thread count");
    if (g->a.prepared || g->b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "prepared operands are accepted by device calls only");
    if (!g->unit && gemm_has_zeros(g))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "zero points of A and B require a unit of integers");
    const enum bitcut_status status =
        g->unit && !g->scheme ? gemm_plan_on_values(&plan, g, f) : BITCUT_OK;
    return status == BITCUT_OK ? gemm_check_matrices(g, true, f) : status;
}

enum bitcut_status bitcut_gemm_judge(double *values, size_t count,
                                     const struct bitcut_gemm *gemm, size_t i,
                                     int threads, char *why)
{
    struct bitcut_gemm g;
    struct dense x = { 0 };
    struct fault f;
    enum bitcut_status status = gemm_take_any(&g, gemm, &f);
    if (status == BITCUT_OK && !g.scheme && !g.recipe &&
        matrix_format(&g.d) == &formats[FORMAT_F64])
        g.scheme = bitcut_scheme_find("fp64"); /* any scheme has the same exact result */
    if (status == BITCUT_OK) status = check(&g, i, threads, &f);
    if (status == BITCUT_OK && count && !values)
        status =
            fault_set(&f, BITCUT_BAD_ARGUMENT, "the array of values must not be NULL");
    if (status == BITCUT_OK) g = gemm_nth(&g, i);
    if (status == BITCUT_OK && g.scheme)
        return fault_write(why, judge_f64(values, count, &g, threads, &f), &f);
    if (status == BITCUT_OK && !gather_all(&x, &g, threads))
        status = fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    if (status == BITCUT_OK && has_integers(&g)) {
        matrix_subtract(&x.a, g.zero_a);
        matrix_subtract(&x.b, g.zero_b);
    }
    if (status == BITCUT_OK) status = judge(values, count, &g, &x, threads, &f);
    dense_clear(&x);
    return fault_write(why, status, &f);
}
