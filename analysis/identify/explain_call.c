/* SPDX-License-Identifier: BSD-3-Clause */
/* Explaining a result of a caller, as declared in lib/bitcut.h. */
#include "analysis/identify/integers.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>

/* --- input ------------------------------------------------------------------------ */

/* Options with defaults filled in. */
static enum bitcut_status take_options(struct explain_options *to,
                                       const struct bitcut_explain_options *from,
                                       int threads, struct fault *f)
{
    struct bitcut_explain_options o = { .size = sizeof o };
    if (from) {
        const enum bitcut_status status = struct_check("options", from->size, sizeof o, f);
        if (status != BITCUT_OK) return status;
        o = *from;
    }
    if (threads < 0 || !(o.seconds >= 0))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "threads and seconds must not be negative");
    *to = (struct explain_options){ .samples = o.samples ? o.samples : 4096,
                                    .seconds = o.seconds > 0 ? o.seconds : 60,
                                    .seed = o.seed,
                                    .threads = threads,
                                    .progress = progress_of_thread() };
    return BITCUT_OK;
}

static enum bitcut_status check_gemm(const struct bitcut_gemm *g, struct fault *f)
{
    if (g->count != 1)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the number of GEMMs must be 1, found %zu", g->count);
    if (g->a.prepared || g->b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "prepared operands are accepted by device calls only");
    return gemm_check_matrices(g, true, f);
}

static void problem_clear(struct problem *q)
{
    matrix_clear(&q->a);
    matrix_clear(&q->b);
    matrix_clear(&q->c);
    matrix_clear(&q->d);
}

static enum bitcut_status problem_take(struct problem *to, const struct bitcut_gemm *g,
                                       int threads, struct fault *f)
{
    struct problem q = { .format = matrix_format(&g->d),
                         .alpha = g->alpha,
                         .beta = g->beta,
                         .recipe = g->recipe,
                         .unit = g->unit };
    if (!view_matrix(&q.a, &g->a, 0, g->m, g->k, threads) ||
        !view_matrix(&q.b, &g->b, 0, g->k, g->n, threads) ||
        !view_matrix(&q.d, &g->d, 0, g->m, g->n, threads) ||
        (gemm_reads_c(g) && !view_matrix(&q.c, &g->c, 0, g->m, g->n, threads))) {
        problem_clear(&q);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    }
    *to = q;
    return BITCUT_OK;
}

/* Take the matrices as integers if A, B and D have formats of integers.  Other matrices
   do not hold every s32. */
static enum bitcut_status integers_take(struct integer_problem *to,
                                        const struct bitcut_gemm *g, struct fault *f)
{
    const bool all = format_is_integer(matrix_format(&g->a)) &&
                     format_is_integer(matrix_format(&g->b)) &&
                     format_is_integer(matrix_format(&g->d)),
               reads_c = gemm_reads_c(g);
    *to = (struct integer_problem){ .a = { .rows = 0 } };
    if (all != format_is_integer(matrix_format(&g->d)) ||
        (reads_c && all != format_is_integer(matrix_format(&g->c))))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "C and D must have integers if A and B have integers, and only then");
    if (!all) return BITCUT_OK;
    enum bitcut_status status = integer_matrix_take(&to->a, &g->a, g->m, g->k, f);
    if (status == BITCUT_OK) status = integer_matrix_take(&to->b, &g->b, g->k, g->n, f);
    if (status == BITCUT_OK) status = integer_matrix_take(&to->d, &g->d, g->m, g->n, f);
    if (status == BITCUT_OK && reads_c)
        status = integer_matrix_take(&to->c, &g->c, g->m, g->n, f);
    if (status != BITCUT_OK) integer_problem_clear(to);
    return status;
}

/* --- output ----------------------------------------------------------------------- */

static void turn(struct bitcut_matrix *x, bool transposed)
{
    if (transposed)
        x->layout =
            x->layout == BITCUT_ROW_MAJOR ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
}

/* The hypothesis as a GEMM on the caller's matrices, as they were read. */
static struct bitcut_gemm gemm_found(const struct explanation *e,
                                     const struct bitcut_gemm *asked)
{
    struct bitcut_gemm g = *asked;
    struct gemm_plan plan;
    if (!e->best.sampled) return g;
    g = e->best.x.gemm;
    if (gemm_plan_on_unit(&plan, &g, NULL) == BITCUT_OK) gemm_settle(&g, &plan);
    g.m = problem_m(&e->q);
    g.n = problem_n(&e->q);
    g.k = problem_k(&e->q);
    g.a = asked->a;
    g.b = asked->b;
    g.c = asked->c;
    g.d = asked->d;
    turn(&g.a, e->q.transposed_a);
    turn(&g.b, e->q.transposed_b);
    turn(&g.c, e->q.transposed_d);
    turn(&g.d, e->q.transposed_d);
    return g;
}

/* --- the call --------------------------------------------------------------------- */

static enum bitcut_status explain_gemm(struct bitcut_explanation *report,
                                       struct bitcut_gemm *found,
                                       const struct bitcut_gemm *g,
                                       const struct explain_options *o, struct fault *f)
{
    struct explanation *const e = malloc(sizeof *e); /* too large for a thread's stack */
    struct integer_problem integers;
    struct problem q;
    if (!e) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = integers_take(&integers, g, f);
    if (status == BITCUT_OK) status = problem_take(&q, g, o->threads, f);
    if (status != BITCUT_OK) return free(e), integer_problem_clear(&integers), status;
    if (integers.d.at) q.integers = &integers;
    status = explain_run(e, &q, o, f);
    if (status == BITCUT_OK) {
        const struct bitcut_gemm settled = gemm_found(e, g);
        gemm_give(found, &settled);
        if (report) *report = e->answer;
        explain_clear(e);
    }
    free(e);
    problem_clear(&q);
    integer_problem_clear(&integers);
    return status;
}

enum bitcut_status bitcut_explain(struct bitcut_explanation *report,
                                  struct bitcut_gemm *found,
                                  const struct bitcut_gemm *gemm,
                                  const struct bitcut_explain_options *options,
                                  int threads, char *why)
{
    struct explain_options o;
    struct bitcut_gemm g;
    struct hostfp saved;
    struct fault f;
    enum bitcut_status status =
        report ? struct_check("reports", report->size, sizeof *report, &f) : BITCUT_OK;
    if (status == BITCUT_OK) status = gemm_check_place(found, &f);
    if (status == BITCUT_OK) status = take_options(&o, options, threads, &f);
    if (status == BITCUT_OK) status = gemm_take_plain(&g, gemm, "explain", &f);
    if (status == BITCUT_OK) status = check_gemm(&g, &f);
    hostfp_enter(&saved); /* host doubles decide what is tried */
    if (status == BITCUT_OK) status = explain_gemm(report, found, &g, &o, &f);
    hostfp_leave(&saved);
    return fault_write(why, status, &f);
}
