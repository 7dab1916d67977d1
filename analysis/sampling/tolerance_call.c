/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits for tests of a caller's GEMM, as declared in lib/bitcut.h. */
#include "analysis/sampling/checked_result.h"

#include <stddef.h>
#include <string.h>

static enum bitcut_status take_options(struct bitcut_tolerance_options *to,
                                       const struct bitcut_tolerance_options *from,
                                       int threads, struct fault *f)
{
    struct bitcut_tolerance_options o = { .size = sizeof o };
    if (from) {
        const enum bitcut_status status =
            struct_check("options", from->size, sizeof o, f);
        if (status != BITCUT_OK) return status;
        o = *from;
    }
    if (!o.runs) o.runs = 100;
    if (o.false_alarm == 0) o.false_alarm = 1e-6;
    if (threads < 0 || !(o.false_alarm > 0 && o.false_alarm < 1))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "threads must not be negative, and the false-alarm rate must be "
                         "between 0 and 1");
    *to = o;
    return BITCUT_OK;
}

/* Whether there are limits of an FP64 GEMM by a scheme. */
static enum bitcut_status check_scheme(const struct bitcut_gemm *g, struct fault *f)
{
    int parts;
    if (g->count != 1 || !g->m || !g->n || !g->k)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "limits with a scheme are those of one GEMM; m, n and k must be "
                         "at least 1");
    const enum bitcut_status status = fp64_plan(&parts, g, f);
    return status == BITCUT_OK ? gemm_check_operands(g, f) : status;
}

static enum bitcut_status check_gemm(const struct bitcut_gemm *g, struct fault *f)
{
    struct gemm_plan plan;
    if (g->scheme) return check_scheme(g, f);
    if (!g->recipe || !g->unit)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "recipe and unit are required");
    if (!g->count || !g->m || !g->n || !g->k)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the number of GEMMs, m, n and k must be at least 1");
    if (g->a.prepared || g->b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "prepared operands are accepted by device calls only");
    const enum bitcut_status status = gemm_plan_on_values(&plan, g, f);
    return status == BITCUT_OK ? gemm_check_operands(g, f) : status;
}

/* Limits with the present size of the struct, or with the size before later members were
   added. */
static enum bitcut_status check_size(size_t size, struct fault *f)
{
    static const size_t older[] = { offsetof(struct bitcut_tolerances, with_underflow),
                                    offsetof(struct bitcut_tolerances, false_alarm) };
    return struct_check_since("tolerances", size, sizeof(struct bitcut_tolerances), older, f);
}

static enum bitcut_status find64(struct bitcut_tolerances *to,
                                 const struct bitcut_gemm *g,
                                 const struct bitcut_tolerance_options *o, int threads,
                                 struct fault *f)
{
    struct dense data;
    struct tolerance t;
    enum bitcut_status status =
        o->two ? fault_set(f, BITCUT_BAD_ARGUMENT,
                           "limits of FP64 GEMMs require the exact reference")
        : dense_make(&data, g, threads)
            ? BITCUT_OK
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the limits");
    if (o->two) return status;
    const struct shuffled_source64 source = { &data, o->seed };
    const struct tolerance_problem q = { .gemm = g,
                                         .source = shuffled_runs64(&source),
                                         .m = g->m,
                                         .n = g->n,
                                         .k = g->k,
                                         .any_order = o->any_order,
                                         .runs = o->runs,
                                         .alarm = o->false_alarm };
    if (status == BITCUT_OK)
        status = tolerance_find(&t, &q, threads, progress_of_thread(), f);
    if (status == BITCUT_OK) *to = t.limits;
    dense_clear(&data);
    return status;
}

static enum bitcut_status find(struct bitcut_tolerances *to, const struct bitcut_gemm *g,
                               const struct bitcut_tolerance_options *o, int threads,
                               struct fault *f)
{
    const bool is_batch = g->count != 1 || g->offsets;
    struct gemm_data data = { 0 };
    struct tolerance t;
    enum bitcut_status status =
        is_batch ? BITCUT_OK : gemm_data_take(&data, g, 0, threads, f);
    if (status != BITCUT_OK) return status;
    const struct shuffled_source source = { &data, o->seed, is_batch ? g : NULL };
    struct bitcut_gemm one = *g; /* as each GEMM is computed */
    one.count = 1;
    one.offsets = NULL;
    const struct tolerance_problem q = { .gemm = &one,
                                         .source = shuffled_runs(&source),
                                         .m = gemm_fewest_rows(g),
                                         .n = g->n,
                                         .k = gemm_largest_k(g),
                                         .batch = source.batch,
                                         .any_order = o->any_order,
                                         .two = o->two,
                                         .runs = o->runs,
                                         .alarm = o->false_alarm };
    status = tolerance_find(&t, &q, threads, progress_of_thread(), f);
    if (status == BITCUT_OK) *to = t.limits;
    gemm_data_clear(&data);
    return status;
}

enum bitcut_status bitcut_tolerance(struct bitcut_tolerances *to,
                                    const struct bitcut_gemm *gemm,
                                    const struct bitcut_tolerance_options *options,
                                    int threads, char *why)
{
    struct bitcut_tolerance_options o = { .size = sizeof o };
    struct bitcut_tolerances t;
    struct bitcut_gemm g;
    struct fault f;
    enum bitcut_status status =
        to ? check_size(to->size, &f)
           : fault_set(&f, BITCUT_BAD_ARGUMENT, "the array of limits must not be NULL");
    if (status == BITCUT_OK) status = take_options(&o, options, threads, &f);
    if (status == BITCUT_OK) status = gemm_take_any(&g, gemm, &f);
    if (status == BITCUT_OK) epilogue_leave_amax(&g);
    if (status == BITCUT_OK) status = check_gemm(&g, &f);
    if (status == BITCUT_OK && g.scheme)
        status = runs_plan64(&g, o.any_order, threads, &f);
    if (status == BITCUT_OK) status = (g.scheme ? find64 : find)(&t, &g, &o, threads, &f);
    if (status == BITCUT_OK) {
        t.size = to->size;
        memcpy(to, &t, to->size);
    }
    return fault_write(why, status, &f);
}

/* --- a D and limits --------------------------------------------------------------- */

static enum bitcut_status judge(struct bitcut_tolerance_verdict *to,
                                const struct bitcut_tolerances *limits,
                                const struct bitcut_gemm *g,
                                const struct bitcut_tolerance_options *o, int threads,
                                struct fault *f)
{
    struct tolerance_given given;
    if (g->scheme) {
        const enum bitcut_status status =
            tolerance_judge64(&given, limits, g, threads, progress_of_thread(), f);
        if (status == BITCUT_OK) *to = given.verdict;
        return status;
    }
    struct bitcut_gemm one = *g; /* as each GEMM is computed */
    one.count = 1;
    one.offsets = NULL;
    const struct tolerance_problem q = { .gemm = &one,
                                         .m = g->m,
                                         .n = g->n,
                                         .k = gemm_largest_k(g),
                                         .batch = g,
                                         .any_order = o->any_order };
    const enum bitcut_status status =
        tolerance_judge_batch(&given, limits, &q, threads, progress_of_thread(), f);
    if (status == BITCUT_OK) *to = given.verdict;
    return status;
}

enum bitcut_status bitcut_tolerance_judge(struct bitcut_tolerance_verdict *to,
                                          const struct bitcut_tolerances *limits,
                                          const struct bitcut_gemm *gemm,
                                          const struct bitcut_tolerance_options *options,
                                          int threads, char *why)
{
    struct bitcut_tolerance_options o = { .size = sizeof o };
    static const size_t older[2] = { offsetof(struct bitcut_tolerance_verdict, worst_at),
                                     offsetof(struct bitcut_tolerance_verdict, gemm) };
    struct bitcut_tolerance_verdict v;
    struct bitcut_gemm g;
    struct fault f;
    enum bitcut_status status =
        to && limits
            ? struct_check_since("verdicts", to->size, sizeof *to, older, &f)
            : fault_set(&f, BITCUT_BAD_ARGUMENT, "verdict and limits must not be NULL");
    if (status == BITCUT_OK) status = struct_check_since("tolerances", limits->size, sizeof *limits,
                                    (const size_t[2]){ offsetof(struct bitcut_tolerances,
                                                                false_alarm) }, &f);
    if (status == BITCUT_OK) status = take_options(&o, options, threads, &f);
    if (status == BITCUT_OK && o.two)
        status = fault_set(&f, BITCUT_BAD_ARGUMENT, "D requires the exact reference");
    if (status == BITCUT_OK) status = gemm_take_any(&g, gemm, &f);
    if (status == BITCUT_OK) epilogue_leave_amax(&g);
    if (status == BITCUT_OK && g.scheme && !g.order.slices) g.order.slices = 1;
    if (status == BITCUT_OK) status = check_gemm(&g, &f);
    if (status == BITCUT_OK) status = gemm_check_matrices(&g, true, &f);
    if (status == BITCUT_OK) status = judge(&v, limits, &g, &o, threads, &f);
    if (status == BITCUT_OK) {
        v.size = to->size;
        memcpy(to, &v, to->size);
    }
    return fault_write(why, status, &f);
}
