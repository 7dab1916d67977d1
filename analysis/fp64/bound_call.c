/* SPDX-License-Identifier: BSD-3-Clause */
/* The error budget and the bounds for a caller's GEMM, as declared in lib/bitcut.h. */
#include "analysis/accuracy/bound_run.h"
#include "analysis/accuracy/gemm_data.h"
#include "analysis/accuracy/short_result.h"
#include "analysis/fp64/dense.h"
#include "analysis/fp64/scheme_bound.h"
#include "analysis/fp64/scheme_budget.h"
#include "lib/exact/exact64.h"
#include "lib/base/table.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

const char *bitcut_budget_part(size_t i)
{
    return i < BUDGET_PARTS ? budget_rows[i].name : i == BUDGET_PARTS ? "error" : NULL;
}

const char *bitcut_bound_name(size_t i) { return i < BOUNDS ? bounds[i].name : NULL; }

/* GEMM i of the caller, its plan and its matrices; with a scheme, how it is computed. */
struct call {
    struct bitcut_gemm gemm;
    struct gemm_plan plan;
    struct gemm_data data;
    struct fp64_choice by;
};

static enum bitcut_status call_take(struct call *to, const struct bitcut_gemm *gemm,
                                    size_t i, int threads, struct fault *f)
{
    int parts;
    *to = (struct call){ .gemm = { .size = 0 } };
    enum bitcut_status status = gemm_take_any(&to->gemm, gemm, f);
    if (status == BITCUT_OK) epilogue_leave_amax(&to->gemm);
    if (status == BITCUT_OK)
        status = to->gemm.scheme ? fp64_plan(&parts, &to->gemm, f)
                                 : gemm_plan_on_values(&to->plan, &to->gemm, f);
    if (status == BITCUT_OK && (i >= to->gemm.count || threads < 0))
        status = fault_set(f, BITCUT_BAD_ARGUMENT, "invalid GEMM index or thread count");
    if (status == BITCUT_OK && (to->gemm.a.prepared || to->gemm.b.prepared))
        status = fault_set(f, BITCUT_BAD_ARGUMENT,
                           "prepared operands are accepted by device calls only");
    if (status == BITCUT_OK) status = gemm_check_operands(&to->gemm, f);
    if (status != BITCUT_OK) return status;
    if (to->gemm.scheme) {
        to->gemm = gemm_nth(&to->gemm, i);
        return fp64_settle(&to->by, &to->gemm, threads, f);
    }
    if (to->gemm.offsets) { /* a group is a GEMM of its own */
        to->gemm = gemm_nth(&to->gemm, i);
        i = 0;
    }
    return gemm_data_take(&to->data, &to->gemm, i, threads, f);
}

/* --- budgets ---------------------------------------------------------------------- */

static enum bitcut_status scheme_budget(struct budget_summary *to, const struct call *c,
                                        const struct gemm_options *options,
                                        struct fault *f)
{
    struct scheme_budgets *budgets;
    enum bitcut_status status =
        scheme_budgets_make(&budgets, &c->gemm, &c->by, options, f);
    if (status != BITCUT_OK) return status;
    status = scheme_budget_gemm(to, budgets, options, f);
    scheme_budgets_free(budgets);
    return status;
}

static enum bitcut_status fp32_budget(struct budget_summary *to, const struct call *c,
                                      const struct gemm_options *options, struct fault *f)
{
    const struct gemm_data *const d = &c->data;
    const struct budget_matrices matrices = { d->a.at,   d->b.at,   d->c.at, c->gemm.m,
                                              c->gemm.n, c->gemm.k, d,       d->a.kept };
    return budget_gemm(to, &c->gemm, &c->plan, &matrices, options->threads,
                       options->progress, f);
}

static enum bitcut_status find_budget(struct bitcut_part *parts, size_t count,
                                      const struct call *c, int threads, struct fault *f)
{
    struct budget_summary b;
    const struct progress *const progress = progress_of_thread();
    const struct gemm_options options = { .threads = threads, .progress = progress };
    const enum bitcut_status status = progress_end(
        (c->gemm.scheme ? scheme_budget : fp32_budget)(&b, c, &options, f), progress, f);
    for (size_t p = 0; status == BITCUT_OK && p < count; p++) {
        parts[p] = (struct bitcut_part){ NAN, NAN, NAN };
        if (p > BUDGET_PARTS) continue;
        const struct budget_statistics *const s = &b.part[p][BUDGET_U];
        parts[p] = (struct bitcut_part){ s->mean, s->rms, s->most };
    }
    return status;
}

enum bitcut_status bitcut_budget(struct bitcut_part *parts, size_t count,
                                 const struct bitcut_gemm *gemm, size_t i, int threads,
                                 char *why)
{
    struct call c;
    struct fault f;
    enum bitcut_status status = call_take(&c, gemm, i, threads, &f);
    if (status == BITCUT_OK && count && !parts)
        status =
            fault_set(&f, BITCUT_BAD_ARGUMENT, "the array of parts must not be NULL");
    if (status == BITCUT_OK) status = find_budget(parts, count, &c, threads, &f);
    gemm_data_clear(&c.data);
    return fault_write(why, status, &f);
}

/* --- bounds ----------------------------------------------------------------------- */

/* `size`: as in bound_limits(). */
static enum bitcut_status find_limits(double *limit, double *size,
                                      const struct bound_row *row, const struct call *c,
                                      const struct comparison *x, int threads,
                                      struct fault *f)
{
    struct bound_problem problem;
    char why[BOUND_WHY_MAX];
    const enum bitcut_status status =
        bound_problem_make(&problem, &c->gemm, &c->plan, x, false, f);
    if (status != BITCUT_OK) return status;
    if (!bound_applies(why, row, &problem))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
    return bound_limits(limit, size, row, &problem, threads, progress_of_thread(), f);
}

/* Add the rounding of D to a short format: |D| before it is at most |C| plus the limit,
   or `size`, unless that is NULL.  An output that may overflow has no limit. */
static void add_rounding(double *limit, const double *size, const struct bitcut_gemm *g,
                         const uint64_t *exact)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; i < g->m * g->n; i++) {
        const double most =
            size ? size[i] : (fabs(double_of_bits(exact[i])) + limit[i]) * (1 + 0x1p-50);
        const double rounding =
            isfinite(most) ? format_rounding_error(g->d.format, most) : (double)NAN;
        limit[i] =
            isfinite(rounding) ? (limit[i] + rounding) * (1 + 0x1p-50) : (double)NAN;
    }
    hostfp_leave(&mode);
}

/* The limits of a GEMM with steps. */
static enum bitcut_status find_extended(double *limit, const struct bound_row *row,
                                        const struct call *c, int threads,
                                        struct fault *f)
{
    const struct bitcut_gemm *const g = &c->gemm;
    const struct gemm_options options = { .threads = threads,
                                          .progress = progress_of_thread() };
    double *const size = memory_allocate(g->m, g->n * sizeof *size);
    struct judge j;
    if (!size) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    enum bitcut_status status = gemm_data_judge(&j, &c->data, g, &options, f);
    if (status == BITCUT_OK) {
        status = find_limits(limit, size, row, c, &j.comparison, threads, f);
        if (status == BITCUT_OK && result_is_short(g->d.format))
            add_rounding(limit, size, g, NULL);
        judge_clear(&j);
    }
    free(size);
    return status;
}

/* The limits with |A||B|, from which they are computed. */
static enum bitcut_status find_bound(double *limit, const struct bound_row *row,
                                     const struct call *c, int threads, struct fault *f)
{
    const struct bitcut_gemm *const g = &c->gemm;
    const bool rounds = result_is_short(g->d.format) && !row->underflow;
    double *const size = memory_allocate(g->m, g->n * sizeof *size);
    uint64_t *const exact = rounds ? memory_allocate(g->m, g->n * sizeof *exact) : NULL;
    const struct comparison x = { .m = g->m,
                                  .n = g->n,
                                  .k = g->k,
                                  .a = c->data.a.at,
                                  .b = c->data.b.at,
                                  .kept = c->data.a.kept,
                                  .c = c->data.c.at,
                                  .alpha = g->alpha,
                                  .beta = g->beta,
                                  .magnitude = size };
    const struct exact_update update = { g->alpha, g->beta, x.c };
    const struct exact_options options = { .threads = threads,
                                           .progress = progress_of_thread(),
                                           .update = &update };
    enum bitcut_status status =
        size && (exact || !rounds)
            ? exact_gemm(NULL, exact, size, NULL, &options, x.m, x.n, x.k, x.a, x.b, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    if (status == BITCUT_OK) status = find_limits(limit, NULL, row, c, &x, threads, f);
    if (status == BITCUT_OK && rounds) add_rounding(limit, NULL, g, exact);
    free(exact);
    free(size);
    return status;
}

/* The limits of an FP64 GEMM by a scheme; NaN where there is none. */
static enum bitcut_status find_scheme(double *limit, const struct call *c, int threads,
                                      struct fault *f)
{
    const struct gemm_options options = { .threads = threads };
    const struct exact_options exact = { .threads = threads,
                                         .progress = progress_of_thread() };
    struct fp64_job job = fp64_job_of(&c->gemm, &c->by, &options);
    struct exact64_update update = { job.alpha, job.beta, NULL };
    struct dense x;
    if (c->by.slices > 1)
        return fault_set(f, BITCUT_UNSUPPORTED, "there is no bound for k in slices");
    enum bitcut_status status =
        dense_make(&x, &c->gemm, threads)
            ? BITCUT_OK
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    update.c = x.c;
    if (!x.c) update.beta = 0;
    dense_set_job(&job, &x);
    if (status == BITCUT_OK) /* x.d takes |A||B| */
        status = exact64_gemm(NULL, NULL, x.d, NULL, &exact, &update, x.m, x.n, x.k, x.a,
                              x.b, f);
    if (status == BITCUT_OK) status = scheme_bound(limit, &job, x.d, f);
    for (size_t i = 0; i < x.m * x.n && status == BITCUT_OK; i++)
        if (!isfinite(limit[i])) limit[i] = NAN;
    dense_clear(&x);
    return status;
}

enum bitcut_status bitcut_bound(double *limit, const struct bitcut_gemm *gemm, size_t i,
                                const char *name, int threads, char *why)
{
    const struct bound_row *const row =
        name ? table_find(TABLE(bounds), name) : &bounds[BOUND_ALIGNED];
    struct call c;
    struct fault f;
    enum bitcut_status status = call_take(&c, gemm, i, threads, &f);
    if (status == BITCUT_OK && (c.gemm.scheme ? name != NULL : !row))
        status =
            fault_set(&f, BITCUT_BAD_ARGUMENT,
                      row ? "a scheme has one bound, without a name" : "unknown bound");
    if (status == BITCUT_OK && !limit && c.gemm.m && c.gemm.n)
        status =
            fault_set(&f, BITCUT_BAD_ARGUMENT, "the array of limits must not be NULL");
    if (status == BITCUT_OK && c.gemm.scheme)
        status = c.gemm.m && c.gemm.n ? find_scheme(limit, &c, threads, &f) : BITCUT_OK;
    else if (status == BITCUT_OK && c.gemm.m && c.gemm.n)
        status = gemm_is_extended(&c.gemm) || c.plan.integer
                     ? find_extended(limit, row, &c, threads, &f)
                     : find_bound(limit, row, &c, threads, &f);
    gemm_data_clear(&c.data);
    return fault_write(why, status, &f);
}
