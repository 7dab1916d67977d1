/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/fp64.h"

#include <stdio.h>

const struct gpu_fp64_kernel *gpu_fp64_next(const struct gpu *g,
                                            const struct gpu_fp64_kernel *at)
{
    const struct gpu_fp64_kernel *const next = at ? at + 1 : g->module->fp64_kernels;
    return next && next->name ? next : NULL;
}

static const struct bitcut_unit *unit_of(const struct gpu_fp64_kernel *k,
                                         const struct gpu_architecture *a)
{
    char name[GPU_TEXT_MAX];
    snprintf(name, sizeof name, "%s/%s", a->units, k->instruction);
    return bitcut_unit_find(name, NULL);
}

enum bitcut_status gpu_fp64_gemm(struct bitcut_gemm *to, const struct gpu_fp64_kernel *k,
                                 const struct gpu_device *device, struct fault *f)
{
    const struct gpu_architecture *const a =
        gpu_architecture_for(device, k->architectures);
    if (!a)
        return fault_set(f, BITCUT_UNSUPPORTED, "%s does not run on %.60s", k->name,
                         device->name);
    bitcut_gemm_init(to, sizeof *to);
    to->scheme = bitcut_scheme_find(k->scheme);
    to->unit = unit_of(k, a);
    if (to->scheme && to->unit) return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s refers to an unknown %s: %.100s", k->name,
                     to->scheme ? "unit" : "scheme",
                     to->scheme ? k->instruction : k->scheme);
}

static enum bitcut_status check(const struct gpu_fp64 *g, struct fault *f)
{
    const struct gpu_fp64_kernel *const k = g->kernel;
    if (!k) return BITCUT_OK;
    if (g->m > k->size_most || g->n > k->size_most || g->k > k->size_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s supports m, n and k up to %zu",
                         k->name, k->size_most);
    if (g->parts < 1 || g->parts > k->parts_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s supports 1 to %d parts", k->name,
                         k->parts_most);
    return BITCUT_OK;
}

enum bitcut_status gpu_fp64_run(const struct gpu_fp64 *gemm, double *milliseconds,
                                int repeats, const struct gpu *g,
                                const struct gpu_device *device, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    const enum bitcut_status status = check(gemm, f);
    if (status != BITCUT_OK ||
        g->module->fp64(gemm, milliseconds, repeats, device->number, why) == 0)
        return status;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
}
