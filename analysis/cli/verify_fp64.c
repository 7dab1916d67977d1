/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/verify_fp64.h"

#include "analysis/cli/terminal.h"
#include "analysis/verify/verified.h"
#include "lib/io/json_record.h"

#include <string.h>

bool has_fp64_kernel(const struct recorder *r, const char *name)
{
    const struct gpu_fp64_kernel *k = NULL;
    while ((k = gpu_fp64_next(&r->gpu, k)))
        if (kernel_is_called(k->name, name)) return true;
    return false;
}

static int print(struct context *x, const struct verified_kernel *v)
{
    json_t *const row = json_object();
    record_json(row, verified_on_fields, v);
    json_object_set_new(row, "scheme",
                        json_string(bitcut_row_name(v->on.gemm.gemm->scheme)));
    json_object_set_new(row, "unit",
                        json_string(bitcut_unit_name(v->on.gemm.gemm->unit)));
    record_json(row, verified_kernel_fields, v);
    emit_answer(&x->emitter, row, verified_fp64_lines, v);
    return v->result.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

static int try_kernel(struct context *x, const struct recorder *r,
                      const struct gpu_fp64_kernel *kernel,
                      const struct kernel_shape *shape, struct shard shard)
{
    struct verified_kernel v = { .on = { .kernel = kernel->name,
                                         .device = r->device.name,
                                         .driver = r->device.driver,
                                         .seed = x->seed } };
    const struct fp64_trial trial = { .recorder = r,
                                      .kernel = kernel,
                                      .threads = x->threads,
                                      .shape = shape,
                                      .seed = x->seed,
                                      .shard = shard };
    struct bitcut_gemm gemm;
    struct fault f;
    if (!fp64_trial_size(&trial)) return EXIT_GOOD;
    terminal_label(kernel->name);
    if (gpu_fp64_gemm(&gemm, kernel, &r->device, &f) != BITCUT_OK ||
        fp64_trial_run(&v.result, &trial, &x->progress, &f) != BITCUT_OK)
        return fail(progress_stopped(&x->progress) ? "verify" : kernel->name, &f);
    date_today(v.on.date);
    v.on.gemm.gemm = &gemm;
    return print(x, &v);
}

int verify_fp64_kernels(struct context *x, const struct recorder *r, const char *name,
                        const struct kernel_shape *shape, struct shard shard)
{
    const struct gpu_fp64_kernel *k = NULL, *last = NULL;
    int worst = EXIT_GOOD;
    bool tried = false;
    while ((k = gpu_fp64_next(&r->gpu, k)) && worst < EXIT_USAGE) {
        if (!kernel_is_called(k->name, name)) continue;
        last = k;
        if (!gpu_architecture_for(&r->device, k->architectures)) continue;
        const int status = try_kernel(x, r, k, shape, shard);
        tried = true;
        if (status > worst) worst = status;
    }
    return tried || !last ? worst : try_kernel(x, r, last, shape, shard);
}
