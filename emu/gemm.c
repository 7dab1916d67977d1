/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/gemm.h"

#include "emu/fast/fast_integer.h"
#include "emu/fast/fast_tile.h"
#include "emu/job_run.h"
#include "emu/sparse_rows.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/gemm/sparsity.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>
#include <string.h>

/* --- making a recipe definite ----------------------------------------------------- */

struct bitcut_gemm gemm_of(const struct bitcut_recipe *recipe,
                           const struct bitcut_unit *unit)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = recipe;
    g.unit = unit;
    return g;
}

/* --- one GEMM --------------------------------------------------------------------- */

/* The rows of A or the columns of B, with k elements each, and their parts, `length`
   elements each. */
struct side {
    const struct bitcut_matrix *x;
    const struct bitcut_split *split;
    struct view view;
    size_t lines, k, length;
    const size_t *element; /* the k of each position of a line; NULL: the position */
    bool columns;
};

static struct parts_rule rule_of(const struct job *job, const struct side *s)
{
    return (struct parts_rule){ s->columns ? job->unit->b : job->unit->a, s->split,
                                job->splits, job->plan->equilibrate, s->element };
}

/* The factors that elements of an operand are multiplied by before the split, or NULL. */
static const struct scale_factors *factors_of_elements(const struct job *job,
                                                       const struct side *s)
{
    const struct scale_factors *const x =
        s->columns ? &job->epilogue.b : &job->epilogue.a;
    return x->at && job->plan->scaling == BITCUT_SCALING_OPERAND ? x : NULL;
}

/* Multiply gathered elements by their factors, except padding. */
static void multiply_elements(uint32_t *to, const struct job *job,
                              const struct scale_factors *factors,
                              const struct gathering *x)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t line = 0; line < x->lines; line++)
        for (size_t p = 0; p < x->length; p++) {
            const size_t k = x->element ? x->element[p] : p;
            uint32_t *const at =
                to + (x->columns ? p * x->lines + line : line * x->length + p);
            if (k < x->k)
                *at = job_fma(&job->schedule, *at, scale_factor(factors, line, k),
                              0x80000000u);
        }
    hostfp_leave(&saved);
}

/* Whether the parts of a single column are made as those of a row, in runs of k: a
   watched GEMM is computed by the engine, which reads both. */
static bool is_one_row(const struct job *job, const struct side *s, bool direct)
{
    return s->columns && s->lines == 1 && job->watch && !job->keep_b && !job->positions &&
           (!direct || s->view.along == 1);
}

/* Make the parts of an operand.  Row-major FP32 matrices are read where they are.  Other
   matrices, and matrices with another order of k, are copied first. */
static enum bitcut_status operand_make(struct parts *to, const struct job *job,
                                       const struct side *s, int threads)
{
    const size_t k = s->k, length = s->length;
    const struct parts_rule rule = rule_of(job, s);
    const struct gathering all = { s->lines, k, length, s->element, s->columns };
    const struct scale_factors *const factors = factors_of_elements(job, s);
    const bool direct = s->view.format == &formats[FORMAT_F32] && !all.element &&
                        !factors && s->x->layout == BITCUT_ROW_MAJOR;
    uint32_t *const own = direct ? NULL : view_gather(&s->view, &all, threads);
    if (!direct && !own) return BITCUT_NO_MEMORY;
    if (factors) multiply_elements(own, job, factors, &all);
    const bool columns = s->columns && !is_one_row(job, s, direct);
    const struct parts_source source =
        direct
            ? (struct parts_source){ (const uint32_t *)(const void *)s->view.at,
                                     columns ? s->view.along : s->view.across, columns }
            : (struct parts_source){ own, columns ? s->lines : length, columns };
    const enum bitcut_status status =
        parts_make(to, &rule, source, s->lines, direct ? k : length, length, threads);
    if (status == BITCUT_OK && job->plan->faults && job->plan->faults->respell)
        parts_respell(to, job->plan->faults, s->columns ? BITCUT_B : BITCUT_A,
                      all.element, k);
    free(own);
    return status;
}

/* Whether stored parts serve a side, in the order of k of the matrix or in another one.
 */
static bool is_stored(const struct kept_parts *kept, const struct job *job,
                      const struct side *s)
{
    const struct parts_rule rule = rule_of(job, s);
    return parts_serve(kept, &rule, s->view.at, s->lines, s->k) &&
           (s->element || kept->parts.length == s->length);
}

/* Store the parts of a side in the order of k of the matrix. */
static enum bitcut_status operand_store(struct kept_parts *kept, const struct job *job,
                                        const struct side *s, int threads)
{
    const struct parts_rule rule = rule_of(job, s);
    struct side own = *s;
    own.element = NULL;
    parts_clear(&kept->parts);
    kept->operand = NULL;
    const enum bitcut_status status = operand_make(&kept->parts, job, &own, threads);
    if (status != BITCUT_OK) return status;
    *kept = (struct kept_parts){ kept->parts, *s->split, rule.operand,    s->view.at,
                                 s->lines,    s->k,      rule.equilibrate };
    return BITCUT_OK;
}

/* Make the parts of an operand, or borrow stored parts for the job, or gather them in
   another order of k.  The position of an element decides how it rounds
   stochastically. */
static enum bitcut_status operand_take(struct parts *to, struct kept_parts *kept,
                                       const struct job *job, const struct side *s,
                                       int threads)
{
    enum bitcut_status status = BITCUT_OK;
    if (!kept || job->positions || factors_of_elements(job, s) ||
        (s->element && split_is_stochastic(s->split)))
        return operand_make(to, job, s, threads);
    if (!is_stored(kept, job, s)) status = operand_store(kept, job, s, threads);
    if (status != BITCUT_OK) return status;
    if (s->element) return parts_gather(to, &kept->parts, s->element, s->length);
    *to = kept->parts;
    return BITCUT_OK;
}

/* Gathered parts have the magnitudes of the stored parts. */
static void operand_end(struct parts *w, const struct kept_parts *kept)
{
    if (!kept || w->magnitudes != kept->parts.magnitudes) parts_clear(w);
    else if (w->at[0] != kept->parts.at[0]) parts_clear_gathered(w);
}

void gemm_parts_clear(struct gemm_parts *w)
{
    parts_clear(&w->a.parts);
    parts_clear(&w->b.parts);
    *w = (struct gemm_parts){ 0 };
}

/* Make the parts of A and B.  The parts of B have the order of A's, unless A is sparse;
   `kept` has the kept elements of A then. */
static enum bitcut_status operands_take(struct job *job, const struct bitcut_gemm *g,
                                        const struct matrix *kept, int threads)
{
    const size_t length = job->parts.steps * (size_t)job->plan->k_step,
                 k = gemm_products(g);
    const size_t *const element = job->parts.element;
    const struct bitcut_matrix rows = { .at = kept->at };
    const struct bitcut_matrix *const x = kept->at ? &rows : &g->a;
    const bool sparse = job->positions;
    const struct side a = { .x = x,
                            .split = &job->plan->split_a,
                            .view = view_of(x, 0, g->m, k, false),
                            .lines = g->m,
                            .k = k,
                            .length = length,
                            .element = element },
                      b = { .x = &g->b,
                            .split = &job->plan->split_b,
                            .view = view_of(&g->b, 0, g->k, g->n, true),
                            .lines = g->n,
                            .k = g->k,
                            .length = sparse ? g->k : length,
                            .element = sparse ? NULL : element,
                            .columns = true };
    const enum bitcut_status status =
        operand_take(&job->a, job->keep_a, job, &a, threads);
    return status == BITCUT_OK ? operand_take(&job->b, job->keep_b, job, &b, threads)
                               : status;
}

/* Prepare the operands, C, and a separate D, so that D may be C and a stopped run leaves
   it unchanged. */
static enum bitcut_status job_prepare(struct job *job, const struct bitcut_gemm *g,
                                      int threads)
{
    struct matrix kept = { .at = NULL };
    size_t count;
    if (!size_multiply(&count, job->m, job->n) ||
        !(job->d = memory_allocate(count, sizeof *job->d)))
        return BITCUT_NO_MEMORY;
    if (!epilogue_make(&job->epilogue, g, 0, job->schedule.nan, job->plan->integer,
                       threads) ||
        !epilogue_take_zeros(&job->epilogue, g, &job->plan->split_a.part[0],
                             &job->plan->split_b.part[0], threads))
        return BITCUT_NO_MEMORY;
    if (job->epilogue.amax) *job->epilogue.amax = 0;
    if (g->sparsity && (!(job->positions = sparsity_positions(g)) ||
                        !sparsity_compress(&kept, g, job->positions)))
        return BITCUT_NO_MEMORY;
    const enum bitcut_status status = operands_take(job, g, &kept, threads);
    matrix_clear(&kept);
    return status;
}

/* Write D as FP32 encodings of the values of its format; the NaN of a short format is
   that of FP32, as when a file of that format is read. */
static void store_widened(const struct bitcut_gemm *g, size_t first_row,
                          const struct job *job)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const struct bitcut_format *const format = matrix_format(&g->d);
    uint32_t *const to = job->widened_d + first_row * g->n;
    for (size_t at = 0; at < g->m * g->n; at++) {
        const uint32_t x = f32_through(format, &roundings[ROUND_RN], job->d[at]);
        to[at] = format != f32 && f32_is_nan(x) ? (uint32_t)f32->nan : x;
    }
}

static void store(const struct bitcut_gemm *g, const struct job *job)
{
    const struct view d = view_of(&g->d, 0, g->m, g->n, false);
    const bool whole = d.format == &formats[FORMAT_F32] && d.along == 1;
    bool integers = job->epilogue.integer;
    for (const unsigned char *s = job->epilogue.step; *s; s++)
        integers &= *s != BITCUT_STEP_FLOAT;
    for (size_t line = 0; line < g->m; line++) {
        const uint32_t *const from = job->d + line * g->n;
        uint32_t *const to = (uint32_t *)(uintptr_t)d.at + (whole ? line * d.across : 0);
        if (whole) memcpy(to, from, g->n * sizeof *to);
        for (size_t p = 0; !whole && p < g->n; p++)
            (integers ? view_set_encoding : view_set)(&d, line, p, from[p]);
    }
}

/* A sparse GEMM makes the integers of B with its parts. */
static enum bitcut_status make_integers(struct job *job)
{
    job->integers_a = fast_integer_lines(&job->a);
    if (job->integers_a && job->positions) return BITCUT_OK;
    if (job->integers_a) job->integers_b = fast_integer_lines(&job->b);
    return job->integers_b ? BITCUT_OK : BITCUT_NO_MEMORY;
}

/* Run GEMM i of a batch, with a job that is the same for all. */
static enum bitcut_status run_one(const struct bitcut_gemm *all, size_t i,
                                  const struct job *same, int threads)
{
    struct job job = *same;
    const struct bitcut_gemm one = gemm_nth(all, i);
    job.m = one.m;
    enum bitcut_status status = job_prepare(&job, &one, threads);
    if (status == BITCUT_OK && fast_integer_takes(&job)) status = make_integers(&job);
    if (status == BITCUT_OK && one.m)
        status = (one.sparsity ? sparse_rows_run : job_run)(&job, threads);
    if (status == BITCUT_OK && job.unrounded)
        memcpy(job.widened_d + gemm_first_row(all, i) * one.n, job.d,
               one.m * one.n * sizeof *job.d);
    else if (status == BITCUT_OK && job.widened)
        store_widened(&one, gemm_first_row(all, i), &job);
    else if (status == BITCUT_OK) store(&one, &job);
    operand_end(&job.a, job.keep_a);
    operand_end(&job.b, job.keep_b);
    free(job.d);
    free(job.integers_a);
    free(job.integers_b);
    free(job.positions);
    epilogue_clear(&job.epilogue);
    return status;
}

/* --- all of them ------------------------------------------------------------------ */

/* GEMMs with fewer products are not divided; each thread computes whole GEMMs. */
static bool are_small(const struct bitcut_gemm *g)
{
    return g->count > 1 && (double)g->m * (double)g->n * (double)g->k < 1 << 21;
}

/* Run GEMM i, unless a GEMM has failed. */
static void run_nth(enum bitcut_status *worst, const struct bitcut_gemm *g, size_t i,
                    const struct job *job, int threads)
{
    enum bitcut_status now;
#pragma omp atomic read
    now = *worst;
    if (now != BITCUT_OK) return;
    now = run_one(g, i, job, threads);
    if (now == BITCUT_OK) return;
#pragma omp atomic write
    *worst = now;
}

static enum bitcut_status run_all(const struct bitcut_gemm *g, const struct job *job,
                                  int threads)
{
    const int team = are_small(g) ? threads_for(threads, g->count) : 1;
    enum bitcut_status worst = BITCUT_OK;
    if (team == 1) {
        for (size_t i = 0; i < g->count; i++) run_nth(&worst, g, i, job, threads);
        return worst;
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(team)
    for (size_t i = 0; i < g->count; i++) run_nth(&worst, g, i, job, 1);
    return worst;
}

/* Whether there are faults other than changed parts.  Only the engine computes those. */
static bool faults_in_sums(const struct gemm_faults *s)
{
    return s && (s->start || s->kept || s->moved || s->held || s->adds || s->stays ||
                 s->replaces || s->forgets);
}

/* Choose the kernels of a job: the kernels of the requested level, if they take the unit
   and the unit takes all parts. */
static enum bitcut_status choose_kernels(struct job *job, const struct simd_level *level,
                                         struct fault *f)
{
    const enum bitcut_status status = level ? BITCUT_OK : simd_choose(&level, f);
    if (status != BITCUT_OK) return status;
    job->splits = level->kernels;
    if (!job->watch && gemm_unit_takes_parts(job->unit, job->plan) &&
        fast_takes(job->unit) && !faults_in_sums(job->plan->faults) && fast_starts(job))
        job->kernels = level->kernels;
    return BITCUT_OK;
}

/* Whether there are enough products to offer them to a device, and nothing that only the
   engine computes. */
static bool is_for_device(const struct bitcut_gemm *g, const struct gemm_plan *plan,
                          const struct gemm_options *o)
{
    const double products = (double)g->m * (double)g->n * (double)g->k;
    return o->offload && !o->watch && !plan->faults && !plan->integer &&
           !gemm_is_extended(g) && !g->sparsity && !gemm_groups_k(g) && g->count &&
           products > 0 && products >= o->offload->least;
}

/* Run the GEMMs one after the other.  *took is false: the device runs none of them. */
static enum bitcut_status run_on_device(bool *took, const struct bitcut_gemm *g,
                                        const struct gemm_plan *plan,
                                        const struct gemm_options *o, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *took = true;
    for (size_t i = 0; i < g->count && *took && status == BITCUT_OK; i++) {
        const struct bitcut_gemm one = gemm_nth(g, i);
        if (!one.m) continue;
        status = progress_stopped(o->progress)
                     ? fault_set(f, BITCUT_UNSUPPORTED, "stopped")
                     : o->offload->run(took, &one, plan, o->offload->context, f);
        progress_report(o->progress, i + 1, g->count);
    }
    return status;
}

/* The sequence that contains k number 0: it begins with it. */
static size_t first_sequence(const struct job *job)
{
    const struct k_parts *const x = &job->parts;
    const size_t step = (size_t)job->plan->k_step;
    size_t i = 0;
    while (x->element && i < x->count && x->element[x->first[i] * step]) i++;
    return i;
}

/* Whether factors are applied to sums of k-steps, not to whole products. */
static bool scales_sums(const struct bitcut_gemm *g)
{
    return g->scaling == BITCUT_SCALING_UNIT || gemm_scales_promotions(g);
}

/* Check that every sequence of k begins with a block of the factors that are applied to
   its sums. */
static enum bitcut_status check_blocks(const struct k_parts *parts, size_t step,
                                       const struct bitcut_gemm *g, struct fault *f)
{
    const size_t depth[] = { factor_depth(&g->scale_a), factor_depth(&g->scale_b) };
    if (!scales_sums(g)) return BITCUT_OK;
    bool fits = !parts->element;
    for (int x = 0; x < 2; x++)
        for (size_t i = 0; depth[x] && i < parts->count; i++)
            fits &= parts->first[i] * step % depth[x] == 0 &&
                    (g->scaling == BITCUT_SCALING_UNIT || depth[x] % step == 0 ||
                     depth[x] >= g->k);
    return fits ? BITCUT_OK
                : fault_set(f, BITCUT_BAD_ARGUMENT,
                            "blocks of factors must consist of k-steps, and slices of k "
                            "must consist of blocks");
}

enum bitcut_status gemm_check_order(const struct bitcut_gemm *g,
                                    const struct gemm_plan *plan, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    if (!gemm_has_scales(g) || !scales_sums(g)) return BITCUT_OK;
    for (size_t i = 0; i < (gemm_groups_k(g) ? g->count : 1) && status == BITCUT_OK;
         i++) {
        const struct bitcut_gemm one = gemm_groups_k(g) ? gemm_nth(g, i) : *g;
        struct k_parts parts;
        status =
            k_parts_make(&parts, &plan->order, gemm_products(&one), (size_t)plan->k_step);
        if (status != BITCUT_OK)
            return fault_set(f, status, "not enough memory for the order of k");
        status = check_blocks(&parts, (size_t)plan->k_step, &one, f);
        k_parts_clear(&parts);
    }
    return status;
}

/* Set the sequences of k of a job.  k_parts_clear() frees them for any status. */
static enum bitcut_status take_k(struct job *job, const struct gemm_plan *plan,
                                 const struct bitcut_gemm *g, struct fault *f)
{
    const enum bitcut_status status =
        k_parts_make(&job->parts, &plan->order, gemm_products(g), (size_t)plan->k_step);
    job->schedule = schedule_make(plan, g->unit, job->parts.steps);
    if (status != BITCUT_OK) return status;
    job->first = first_sequence(job);
    return check_blocks(&job->parts, (size_t)plan->k_step, g, f);
}

/* Run the groups one after the other, each with its own sequences of k. */
static enum bitcut_status run_groups_of_k(const struct bitcut_gemm *g,
                                          const struct gemm_plan *plan,
                                          const struct job *same, int threads,
                                          struct fault *f)
{
    enum bitcut_status status = gemm_check_order(g, plan, f);
    for (size_t i = 0; i < g->count && status == BITCUT_OK; i++) {
        const struct bitcut_gemm one = gemm_nth(g, i);
        struct job job = *same;
        status = take_k(&job, plan, &one, f);
        if (status == BITCUT_OK) status = run_one(g, i, &job, threads);
        k_parts_clear(&job.parts);
    }
    return status;
}

enum bitcut_status gemm_run_plan(const struct bitcut_gemm *g,
                                 const struct gemm_plan *plan,
                                 const struct gemm_options *o, struct fault *f)
{
    if (is_for_device(g, plan, o)) {
        bool took;
        const enum bitcut_status there = run_on_device(&took, g, plan, o, f);
        if (took) return there;
    }
    struct gemm_plan rounded;
    struct bitcut_unit own[RECIPE_TERMS_MAX], high;
    if (plan->sum_rounding) {
        rounded = *plan;
        gemm_plan_round_sums(&rounded, own);
        high = *g->unit;
        high.rounding.direction = plan->sum_rounding->direction;
    }
    struct job job = { .plan = plan->sum_rounding ? &rounded : plan,
                       .unit = plan->sum_rounding ? &high : g->unit,
                       .m = g->m,
                       .n = g->n,
                       .ldd = g->n,
                       .watch = o->watch,
                       .scratch = g->count == 1 && o->threads == 1 ? o->scratch : NULL,
                       .keep_a = o->parts ? &o->parts->a : NULL,
                       .keep_b = o->parts ? &o->parts->b : NULL,
                       .widened = o->widened,
                       .unrounded = o->unrounded,
                       .widened_d = g->d.to,
                       .progress = o->progress };
    enum bitcut_status status = choose_kernels(&job, o->simd, f);
    if (status != BITCUT_OK || !g->m || !g->n || !g->count) return status;
    if (gemm_groups_k(g)) status = run_groups_of_k(g, plan, &job, o->threads, f);
    else status = take_k(&job, plan, g, f);
    if (status == BITCUT_OK && !gemm_groups_k(g)) status = run_all(g, &job, o->threads);
    if (status == BITCUT_NO_MEMORY)
        fault_set(f, status, "not enough memory for the operands");
    if (status == BITCUT_UNSUPPORTED) fault_set(f, status, "stopped");
    k_parts_clear(&job.parts);
    return status;
}

enum bitcut_status gemm_run(const struct bitcut_gemm *g, const struct gemm_options *o,
                            struct fault *f)
{
    struct gemm_plan plan;
    enum bitcut_status status =
        (o->widened ? gemm_plan_on_values : gemm_plan_on_any)(&plan, g, f);
    if (status == BITCUT_OK) status = gemm_check_matrices(g, true, f);
    return status == BITCUT_OK ? gemm_run_plan(g, &plan, o, f) : status;
}
