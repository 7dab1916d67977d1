/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/kernel_difference.h"

#include "gpu/api/choose.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"

#include <stdlib.h>
#include <string.h>

bool kernel_is_called(const char *kernel, const char *name)
{
    const size_t length = strlen(name);
    if (!strcmp(name, "all")) return true;
    return !strncmp(kernel, name, length) && (!kernel[length] || kernel[length] == '.');
}

enum bitcut_status kernel_gemm(struct bitcut_gemm *gemm, const struct recorder *r,
                               const struct gpu_kernel *k, struct fault *f)
{
    struct gpu_work w;
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.a.format = g.b.format = g.c.format = g.d.format = &formats[k->matrices];
    const enum bitcut_status status = gpu_work_make(&w, &g, k, &r->device, f);
    if (status != BITCUT_OK) return status;
    *gemm = w.gemm;
    gemm->a.ld = gemm->b.ld = gemm->c.ld = gemm->d.ld = 0;
    return BITCUT_OK;
}

bool kernel_trials_alike(const struct kernel_trial *x, const struct kernel_trial *y)
{
    return x->kernel == y->kernel || (x->kernel->instruction && y->kernel->instruction &&
                                      gpu_kernel_alike(x->kernel, y->kernel));
}

size_t kernel_trial_size(const struct kernel_trial *t) { return kernel_grid_size(t); }

/* --- a part of a grid at a time --------------------------------------------------- */

enum { CASES_MAX = 64 };

/* Elements of all matrices in the cases that exist at a time; a single case may have
   more. */
static const size_t elements_most = (size_t)1 << 24;

/* Trials in progress, and the present cases of the largest grid. */
struct trials {
    const struct kernel_trial *trial, *widest;
    size_t count, failed;
    struct kernel_result *result;
    const struct progress *progress;
    bool counted; /* the device counts what kernels do */
    struct kernel_case x[CASES_MAX];
    size_t cases;
};

static size_t elements_of(const struct configuration *c)
{
    const struct kernel_shape s = c->shape;
    size_t all, most = 1;
    if (s.m > most) most = s.m;
    if (s.n > most) most = s.n;
    if (s.k > most) most = s.k;
    return size_multiply(&all, most, most) && size_multiply(&all, all, 5 * c->count)
               ? all
               : SIZE_MAX;
}

/* The number of cases from `first` on that exist together. */
static size_t cases_from(const struct trials *t, size_t first, size_t all)
{
    size_t count = 0, elements = 0;
    while (count < CASES_MAX && first + count < all) {
        const struct configuration c = kernel_grid_at(t->widest, first + count);
        const size_t more = elements_of(&c);
        if (count && (more > elements_most || elements + more > elements_most)) break;
        elements += more;
        count++;
    }
    return count;
}

static enum bitcut_status make_case(struct kernel_case *x, const struct trials *t,
                                    size_t i, int threads, struct fault *f)
{
    const struct kernel_trial *const one = t->widest;
    if (progress_stopped(t->progress)) return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    const enum bitcut_status status =
        case_init(x, one, kernel_grid_at(one, i), threads, f);
    return status == BITCUT_OK ? case_run_models(x, f) : status;
}

/* Make their operands and the expected D: one thread for each case, or all threads for
   one. */
static enum bitcut_status make_cases(struct trials *t, size_t first, struct fault *f)
{
    const int threads = t->widest->threads;
    enum bitcut_status worst = BITCUT_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_for(threads, t->cases))
    for (size_t i = 0; i < t->cases; i++) {
        struct fault own;
        const enum bitcut_status status =
            make_case(&t->x[i], t, first + i, t->cases > 1 ? 1 : threads, &own);
        if (status == BITCUT_OK) continue;
#pragma omp critical(kernel_trial)
        worst = status, *f = own;
    }
    return worst;
}

/* The counts of the device since the last call.  A device without counts for the first
   run counts nothing. */
static void take_counts(struct trials *t, struct kernel_result *to)
{
    struct gpu_count now[GPU_COUNTS_MAX];
    const struct gpu_module *const module = t->trial->recorder->gpu.module;
    const int given = t->counted ? module->counts(now) : 0;
    t->counted = given > 0;
    for (int i = 0; i < given; i++) {
        to->count[i].name = now[i].name;
        to->count[i].value += now[i].value;
    }
    if (given > to->counts) to->counts = given;
}

/* Run a case on every kernel that supports it. */
static enum bitcut_status try_case(struct trials *t, struct kernel_case *x,
                                   struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < t->count && status == BITCUT_OK; i++) {
        if (!kernel_grid_has(&t->trial[i], &x->now)) continue;
        t->failed = i;
        x->trial = &t->trial[i];
        status = case_run(x, x->now.shape.k, f);
        if (status == BITCUT_OK) status = kernel_difference_add(&t->result[i], x, f);
        take_counts(t, &t->result[i]);
    }
    return status;
}

/* The device runs the cases one after the other, in the order of the grid. */
static enum bitcut_status try_cases(struct trials *t, size_t first, size_t all,
                                    struct fault *f)
{
    enum bitcut_status status = make_cases(t, first, f);
    if (status != BITCUT_OK) t->failed = (size_t)(t->widest - t->trial);
    for (size_t i = 0; i < t->cases && status == BITCUT_OK; i++) {
        progress_report(t->progress, first + i, all);
        status = progress_stopped(t->progress)
                     ? fault_set(f, BITCUT_UNSUPPORTED, "stopped")
                     : try_case(t, &t->x[i], f);
    }
    for (size_t i = 0; i < t->cases; i++) case_clear(&t->x[i]);
    return status;
}

static enum bitcut_status run_all(struct trials *t, struct fault *f)
{
    const struct gpu_module *const module = t->trial->recorder->gpu.module;
    const size_t all = kernel_grid_size(t->widest);
    enum bitcut_status status = BITCUT_OK;
    struct gpu_count before[GPU_COUNTS_MAX];
    t->counted = module->counts;
    if (t->counted) module->counts(before);
    for (size_t first = 0; first < all && status == BITCUT_OK; first += t->cases) {
        memset(t->x, 0, sizeof t->x);
        t->cases = cases_from(t, first, all);
        status = try_cases(t, first, all, f);
    }
    return status;
}

/* The kernel with the largest grid, which contains the grids of the others. */
static const struct kernel_trial *widest_of(const struct kernel_trial *trial,
                                            size_t count)
{
    const struct kernel_trial *widest = trial;
    for (size_t i = 1; i < count; i++)
        if (kernel_grid_size(&trial[i]) > kernel_grid_size(widest)) widest = &trial[i];
    return widest;
}

/* Set the results only if all are complete. */
static void finish(struct kernel_result *r, enum bitcut_status status)
{
    if (status == BITCUT_OK) return;
    kernel_failure_clear(&r->failure);
    *r = (struct kernel_result){ 0 };
}

enum bitcut_status kernel_trials_run(struct kernel_result *results, size_t *failed,
                                     const struct kernel_trial *trials, size_t count,
                                     const struct progress *progress, struct fault *f)
{
    struct trials *const t = calloc(1, sizeof *t);
    *failed = 0;
    if (!t) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    *t = (struct trials){ .trial = trials,
                          .widest = widest_of(trials, count),
                          .count = count,
                          .result = results,
                          .progress = progress };
    for (size_t i = 0; i < count; i++) results[i] = (struct kernel_result){ 0 };
    const enum bitcut_status status = run_all(t, f);
    for (size_t i = 0; i < count; i++) finish(&results[i], status);
    *failed = t->failed;
    free(t);
    return status;
}
