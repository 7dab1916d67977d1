#include "analysis/device/kernel_difference.h"

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

static enum bitcut_status try_one(struct kernel_result *r, const struct kernel_trial *t,
                                  struct configuration now, struct fault *f)
{
    struct kernel_case x;
    enum bitcut_status status = case_init(&x, t, now, f);
    if (status == BITCUT_OK) status = case_run(&x, now.shape.k, f);
    if (status == BITCUT_OK) status = case_run_models(&x, f);
    if (status == BITCUT_OK) status = kernel_difference_add(r, &x, f);
    case_clear(&x);
    return status;
}

enum bitcut_status kernel_trial_run(struct kernel_result *result,
                                    const struct kernel_trial *t,
                                    const struct progress *progress, struct fault *f)
{
    const size_t all = kernel_grid_size(t);
    struct kernel_result r = { 0 };
    enum bitcut_status status = BITCUT_OK;
    for (size_t i = 0; i < all && status == BITCUT_OK; i++) {
        progress_report(progress, i, all);
        status = progress_stopped(progress) ? fault_set(f, BITCUT_CANNOT, "stopped")
                                            : try_one(&r, t, kernel_grid_at(t, i), f);
    }
    if (status != BITCUT_OK) json_decref(r.first), kernel_failure_clear(&r.failure);
    else if (!r.first) r.first = json_null();
    if (status == BITCUT_OK) *result = r;
    return status;
}

void kernel_failure_clear(struct kernel_failure *x)
{
    matrix_clear(&x->a);
    matrix_clear(&x->b);
    matrix_clear(&x->c);
    matrix_clear(&x->d);
}
