/* SPDX-License-Identifier: BSD-3-Clause */
/* Explaining a result of a caller, as declared in lib/bitcut.h. */
#include "analysis/identify/integers.h"
#include "analysis/identify/result_pair.h"
#include "emu/unit.h"
#include "lib/base/size.h"
#include "lib/base/table.h"
#include "lib/gemm/sparsity.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- input ------------------------------------------------------------------------ */

enum bitcut_status explain_options_take(struct explain_options *to,
                                        const struct bitcut_explain_options *from,
                                        int threads, struct fault *f)
{
    struct bitcut_explain_options o = { .size = sizeof o };
    if (from) {
        static const size_t older[2] = { offsetof(struct bitcut_explain_options, effort),
                                         offsetof(struct bitcut_explain_options, chip) };
        const enum bitcut_status status =
            struct_check_since("options", from->size, sizeof o, older, f);
        if (status != BITCUT_OK) return status;
        memcpy(&o, from, from->size);
    }
    if (threads < 0 || !(o.seconds >= 0) || !(o.effort >= 0))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "threads, seconds and effort must not be negative");
    const struct chip *const chip = o.chip ? table_find(TABLE(chips), o.chip) : NULL;
    if (o.chip && !chip) return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown chip");
    *to = (struct explain_options){ .samples = o.samples ? o.samples : 4096,
                                    .effort = o.effort,
                                    .seconds = o.seconds,
                                    .seed = o.seed,
                                    .chip = chip,
                                    .threads = threads,
                                    .progress = progress_of_thread() };
    return BITCUT_OK;
}

/* Check a GEMM; *q has what is told of it, and g the steps that it leaves open. */
static enum bitcut_status check_gemm(struct problem *q, struct bitcut_gemm *g,
                                     const struct chip *chip, struct fault *f)
{
    if (g->a.prepared || g->b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "prepared operands are accepted by device calls only");
    struct bitcut_gemm told = *g; /* zero points: explained_find() */
    told.zero_a = told.zero_b = 0;
    if (chip && g->unit)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a GEMM with a unit has no chip");
    *q = (struct problem){ .unit = g->unit, .chip = chip };
    const enum bitcut_status status = problem_tell(q, &told, f);
    if (status != BITCUT_OK) return status;
    if (problem_is_told(q)) {
        memcpy(g->epilogue, q->told.epilogue, sizeof g->epilogue);
        g->scaling = q->told.scaling;
        g->amax = q->told.amax;
    }
    return gemm_check_matrices(g, true, f);
}

static void problem_clear(struct problem *q)
{
    matrix_clear(&q->a);
    matrix_clear(&q->b);
    matrix_clear(&q->c);
    matrix_clear(&q->d);
}

/* Matrix i of every GEMM, or the only one. */
static enum bitcut_status take(struct matrix *to, const struct bitcut_matrix *x,
                               const struct bitcut_gemm *g, size_t rows, size_t cols,
                               int threads, struct fault *f)
{
    const size_t count = x->each || x->stride ? g->count : 1, each = rows * cols;
    struct matrix all;
    size_t lines = 0;
    enum bitcut_status status =
        size_multiply(&lines, count, rows)
            ? matrix_init(&all, lines, cols, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; each && i < count && status == BITCUT_OK; i++) {
        struct matrix one;
        if (view_matrix(&one, x, i, rows, cols, threads))
            memcpy(all.at + i * each, one.at, each * sizeof *one.at);
        else
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
        if (status == BITCUT_OK) matrix_clear(&one);
    }
    if (status != BITCUT_OK) return matrix_clear(&all), status;
    *to = (struct matrix){ .rows = rows,
                           .cols = cols,
                           .at = all.at,
                           .format = matrix_format(x),
                           .is_batch = g->count != 1 && (count > 1 || !g->offsets),
                           .count = count };
    return BITCUT_OK;
}

/* A sparse A of every GEMM, or the only one, with its zeros and positions. */
static enum bitcut_status take_sparse(struct matrix *to, const struct bitcut_gemm *g,
                                      struct fault *f)
{
    const bool all = g->a.each || g->a.stride || g->positions.each || g->positions.stride;
    const size_t count = all ? g->count : 1, each = g->m * g->k;
    struct matrix x, one;
    size_t lines;
    enum bitcut_status status =
        size_multiply(&lines, count, g->m)
            ? matrix_init(&x, lines, g->k, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    if (status != BITCUT_OK) return status;
    x.kept = memory_allocate(lines, g->k / 2);
    for (size_t i = 0; i < count; i++) {
        const struct bitcut_gemm of = all ? gemm_nth(g, i) : *g;
        if (!x.kept || !sparsity_expand(&one, &of)) {
            matrix_clear(&x);
            return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
        }
        memcpy(x.at + i * each, one.at, each * sizeof *x.at);
        memcpy(x.kept + i * (each / 2), one.kept, each / 2);
        matrix_clear(&one);
    }
    x.rows = g->m;
    x.format = matrix_format(&g->a);
    x.is_batch = g->count != 1 && (count > 1 || !g->offsets);
    x.count = count;
    *to = x;
    return BITCUT_OK;
}

/* Take the matrices; *to has what is told. */
static enum bitcut_status problem_take(struct problem *to, const struct bitcut_gemm *g,
                                       int threads, struct fault *f)
{
    struct problem q = *to;
    q.format = matrix_format(&g->d);
    q.alpha = g->alpha;
    q.beta = g->beta;
    q.recipe = g->recipe;
    q.is_batch = g->count != 1;
    q.gemms = g->count;
    if (q.is_batch) q.offsets = g->offsets, q.offsets_of_k = g->offsets_of_k;
    enum bitcut_status status = g->sparsity
                                    ? take_sparse(&q.a, g, f)
                                    : take(&q.a, &g->a, g, g->m, g->k, threads, f);
    if (status == BITCUT_OK) status = take(&q.b, &g->b, g, g->k, g->n, threads, f);
    if (status == BITCUT_OK) status = take(&q.d, &g->d, g, g->m, g->n, threads, f);
    if (status == BITCUT_OK && gemm_reads_c(g))
        status = take(&q.c, &g->c, g, g->m, g->n, threads, f);
    if (status == BITCUT_OK && q.offsets && q.offsets_of_k) status = problem_pack(&q, f);
    if (status == BITCUT_OK) *to = q;
    else problem_clear(&q);
    return status;
}

/* A sparse A of integers with its zeros. */
static enum bitcut_status integers_expand(struct integer_matrix *to,
                                          const struct bitcut_gemm *g, struct fault *f)
{
    struct matrix x;
    if (!sparsity_expand(&x, g))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    const enum bitcut_status status = integer_matrix_of(to, &x, f);
    matrix_clear(&x);
    return status;
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
    if (g->count != 1 || g->offsets)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "explain takes one GEMM of integers, not a batch or groups");
    enum bitcut_status status = g->sparsity
                                    ? integers_expand(&to->a, g, f)
                                    : integer_matrix_take(&to->a, &g->a, g->m, g->k, f);
    if (status == BITCUT_OK) status = integer_matrix_take(&to->b, &g->b, g->k, g->n, f);
    if (status == BITCUT_OK) status = integer_matrix_take(&to->d, &g->d, g->m, g->n, f);
    if (status == BITCUT_OK && reads_c)
        status = integer_matrix_take(&to->c, &g->c, g->m, g->n, f);
    to->zero_a = g->zero_a, to->zero_b = g->zero_b, to->as_given = true;
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
    if (gemm_plan_on_values(&plan, &g, NULL) == BITCUT_OK) gemm_settle(&g, &plan);
    g.m = gemm_groups_rows(asked) ? asked->m : problem_m(&e->q);
    g.offsets = asked->offsets;
    g.offsets_of_k = asked->offsets_of_k;
    g.n = problem_n(&e->q);
    g.k = gemm_groups_k(asked) ? asked->k : problem_k(&e->q);
    g.count = asked->count;
    g.sparsity = asked->sparsity;
    g.positions = asked->positions;
    g.bias = asked->bias; /* those of one GEMM of a batch, so far */
    g.scale_a = asked->scale_a;
    g.scale_b = asked->scale_b;
    g.a = asked->a;
    g.b = asked->b;
    g.c = asked->c;
    g.d = asked->d;
    turn(&g.a, e->q.transposed_a);
    turn(&g.b, e->q.transposed_b);
    turn(&g.c, e->q.transposed_c);
    turn(&g.d, e->q.transposed_d);
    return g;
}

/* --- the call --------------------------------------------------------------------- */

enum { RESULTS_MAX = 2 };

/* Results of one GEMM that are explained; too large for a thread's stack. */
struct explained {
    struct problem q[RESULTS_MAX];
    struct integer_problem integers[RESULTS_MAX];
    struct explanation e[RESULTS_MAX];
    int done; /* explanations that have to be cleared */
};

static void explained_clear(struct explained *x)
{
    while (x->done) explain_clear(&x->e[--x->done]);
    for (int i = 0; i < RESULTS_MAX; i++) {
        problem_clear(&x->q[i]);
        integer_problem_clear(&x->integers[i]);
    }
}

/* Explain the next result, D of a GEMM that check_gemm() accepted as *q.  *to, which is
   zero at first, has to be cleared for any status. */
static enum bitcut_status explained_find(struct explained *to, const struct problem *q,
                                         const struct bitcut_gemm *g,
                                         const struct explain_options *o, struct fault *f)
{
    const int i = to->done;
    struct integer_problem *const integers = &to->integers[i];
    struct problem all = *q;
    enum bitcut_status status = integers_take(integers, g, f);
    if (status == BITCUT_OK) status = problem_take(&all, g, o->threads, f);
    if (status != BITCUT_OK) return status;
    to->q[i] = all;
    if (integers->d.at) to->q[i].integers = integers;
    else status = problem_set_zeros(&to->q[i], g->zero_a, g->zero_b, f);
    if (status != BITCUT_OK) return status;
    status = explain_batch(&to->e[i], &to->q[i], o, f);
    to->done += status == BITCUT_OK;
    return status;
}

static void explained_give(struct bitcut_explanation *report, struct bitcut_gemm *found,
                           const struct explanation *e, const struct bitcut_gemm *g)
{
    const struct bitcut_gemm settled = gemm_found(e, g);
    gemm_give(found, &settled);
    if (!report) return;
    const size_t size = report->size;
    memcpy(report, &e->answer, size);
    report->size = size;
}

static enum bitcut_status explain_gemm(struct bitcut_explanation *report,
                                       struct bitcut_gemm *found, const struct problem *q,
                                       const struct bitcut_gemm *g,
                                       const struct explain_options *o, struct fault *f)
{
    struct explained *const x = calloc(1, sizeof *x);
    if (!x) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    const enum bitcut_status status = explained_find(x, q, g, o, f);
    if (status == BITCUT_OK) explained_give(report, found, &x->e[0], g);
    explained_clear(x);
    free(x);
    return status;
}

/* Places for the answer. */
static enum bitcut_status check_places(const struct bitcut_explanation *report,
                                       const struct bitcut_gemm *found, struct fault *f)
{
    static const size_t older[2] = { offsetof(struct bitcut_explanation, gemms),
                                     offsetof(struct bitcut_explanation, findings) };
    const enum bitcut_status status =
        report ? struct_check_since("reports", report->size, sizeof *report, older, f)
               : BITCUT_OK;
    return status == BITCUT_OK ? gemm_check_place(found, f) : status;
}

enum bitcut_status bitcut_explain(struct bitcut_explanation *report,
                                  struct bitcut_gemm *found,
                                  const struct bitcut_gemm *gemm,
                                  const struct bitcut_explain_options *options,
                                  int threads, char *why)
{
    struct explain_options o;
    struct bitcut_gemm g;
    struct problem q;
    struct hostfp saved;
    struct fault f;
    enum bitcut_status status = check_places(report, found, &f);
    if (status == BITCUT_OK) status = explain_options_take(&o, options, threads, &f);
    if (status == BITCUT_OK) status = gemm_take(&g, gemm, &f);
    if (status == BITCUT_OK) status = check_gemm(&q, &g, o.chip, &f);
    hostfp_enter(&saved); /* host doubles decide what is tried */
    if (status == BITCUT_OK) status = explain_gemm(report, found, &q, &g, &o, &f);
    hostfp_leave(&saved);
    return fault_write(why, status, &f);
}

/* --- two results ------------------------------------------------------------------ */

/* Explain both results, and compare them. */
static enum bitcut_status
explain_both(struct bitcut_result_pair *pair, struct bitcut_explanation *const report[2],
             struct bitcut_gemm *const found[2], const struct problem q[2],
             const struct bitcut_gemm g[2], struct explain_options *o, struct fault *f)
{
    struct explained *const x = calloc(1, sizeof *x);
    struct result_pair t;
    if (!x) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = explained_find(x, &q[0], &g[0], o, f);
    o->like = &x->e[0];
    if (status == BITCUT_OK) status = explained_find(x, &q[1], &g[1], o, f);
    if (status == BITCUT_OK) status = result_pair_compare(&t, x->e, o, f);
    for (int i = 0; i < RESULTS_MAX && status == BITCUT_OK; i++)
        explained_give(report ? report[i] : NULL, found ? found[i] : NULL, &x->e[i],
                       &g[i]);
    if (status == BITCUT_OK && pair) {
        const size_t size = pair->size;
        memcpy(pair, &t.answer, size);
        pair->size = size;
    }
    explained_clear(x);
    free(x);
    return status;
}

/* One GEMM, whose results are numbers. */
static enum bitcut_status check_pair(const struct bitcut_gemm g[2], struct fault *f)
{
    for (int i = 0; i < RESULTS_MAX; i++)
        if (g[i].count != 1 || g[i].offsets || format_is_integer(matrix_format(&g[i].d)))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "two results must be of one GEMM, without groups and "
                             "integers");
    return BITCUT_OK;
}

enum bitcut_status bitcut_explain_pair(struct bitcut_result_pair *pair,
                                       struct bitcut_explanation *const report[2],
                                       struct bitcut_gemm *const found[2],
                                       const struct bitcut_gemm *gemm,
                                       const struct bitcut_matrix *second,
                                       const struct bitcut_explain_options *options,
                                       int threads, char *why)
{
    struct explain_options o;
    struct bitcut_gemm g[2];
    struct problem q[2];
    struct hostfp saved;
    struct fault f;
    enum bitcut_status status =
        !second ? fault_set(&f, BITCUT_BAD_ARGUMENT, "there is no second result")
        : pair  ? struct_check("pairs", pair->size, sizeof *pair, &f)
                : BITCUT_OK;
    if (status == BITCUT_OK) status = explain_options_take(&o, options, threads, &f);
    for (int i = 0; i < RESULTS_MAX && status == BITCUT_OK; i++) {
        status = check_places(report ? report[i] : NULL, found ? found[i] : NULL, &f);
        if (status == BITCUT_OK) status = gemm_take(&g[i], gemm, &f);
        if (status == BITCUT_OK && i) g[i].d = *second;
        if (status == BITCUT_OK) status = check_gemm(&q[i], &g[i], o.chip, &f);
    }
    if (status == BITCUT_OK) status = check_pair(g, &f);
    hostfp_enter(&saved); /* host doubles decide what is tried */
    if (status == BITCUT_OK) status = explain_both(pair, report, found, q, g, &o, &f);
    hostfp_leave(&saved);
    return fault_write(why, status, &f);
}
