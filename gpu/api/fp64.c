/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/fp64.h"

#include <stdio.h>
#include <string.h>

/* --- the kernel ------------------------------------------------------------------- */

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

const struct gpu_fp64_kernel *gpu_fp64_find(const struct gpu *g,
                                            const struct gpu_device *device,
                                            const struct bitcut_scheme *scheme)
{
    const struct gpu_fp64_kernel *k = NULL;
    while ((k = gpu_fp64_next(g, k)))
        if (!strcmp(k->scheme, scheme->name) &&
            gpu_architecture_for(device, k->architectures))
            return k;
    return NULL;
}

/* --- the GEMM --------------------------------------------------------------------- */

static enum bitcut_status check_matrices(const struct gpu_fp64 *w, struct fault *f)
{
    const struct bitcut_gemm *const g = &w->gemm;
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    const struct {
        const char *name;
        const struct bitcut_matrix *matrix;
    } all[] = { { "A", &g->a }, { "B", &g->b }, { "C", &g->c }, { "D", &g->d } };
    for (int i = 0; i < 4; i++) {
        const struct bitcut_format *const own = matrix_format(all[i].matrix);
        if (i == 2 && !gemm_reads_c(g)) continue;
        if (all[i].matrix->each)
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%s takes matrices at strides, not by pointers",
                             w->kernel->name);
        if (own != f64)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes %s in f64, not in %s",
                             w->kernel->name, all[i].name, own->name);
    }
    return BITCUT_OK;
}

static enum bitcut_status check_limits(const struct gpu_fp64 *w, struct fault *f)
{
    const struct bitcut_gemm *const g = &w->gemm;
    const struct gpu_fp64_kernel *const k = w->kernel;
    if (g->m > k->size_most || g->n > k->size_most || g->k > k->size_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s supports m, n and k up to %zu",
                         k->name, k->size_most);
    if (g->parts < 1 || g->parts > k->parts_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s supports 1 to %d parts", k->name,
                         k->parts_most);
    if (g->order.slices > 1)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not cut k into slices",
                         k->name);
    if (g->a.prepared || g->b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s accepts no prepared operands",
                         k->name);
    return BITCUT_OK;
}

/* Whether two units of an architecture multiply the same integers: their sums, which are
   exact, are the same then. */
static bool is_like(const struct bitcut_unit *x, const struct bitcut_unit *y)
{
    const size_t length = strcspn(x->name, "/") + 1;
    return x == y || (format_is_integer(x->c) && x->a == y->a && x->b == y->b &&
                      x->c == y->c && !strncmp(x->name, y->name, length));
}

/* The scheme and the unit that a GEMM asks for are those of the kernel. */
static enum bitcut_status take_kernel(struct bitcut_gemm *g,
                                      const struct gpu_fp64_kernel *k,
                                      const struct gpu_device *device, struct fault *f)
{
    struct bitcut_gemm own;
    const enum bitcut_status status = gpu_fp64_gemm(&own, k, device, f);
    if (status != BITCUT_OK) return status;
    if (g->scheme != own.scheme)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s computes scheme %s, not %s", k->name,
                         k->scheme, g->scheme->name);
    if (g->unit && !is_like(own.unit, g->unit))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s runs on %.70s, not %.70s", k->name,
                         own.unit->name, g->unit->name);
    g->unit = own.unit;
    g->kernel = NULL;
    return BITCUT_OK;
}

enum bitcut_status gpu_fp64_make(struct gpu_fp64 *to, const struct bitcut_gemm *gemm,
                                 const struct gpu_fp64_kernel *k,
                                 const struct gpu_device *device, struct fault *f)
{
    struct gpu_fp64 w = { .kernel = k, .gemm = *gemm };
    struct bitcut_gemm *const g = &w.gemm;
    int parts;
    enum bitcut_status status = take_kernel(g, k, device, f);
    if (status == BITCUT_OK) status = fp64_plan(&parts, g, f);
    if (status != BITCUT_OK) return status;
    g->parts = parts;
    g->a.ld = matrix_ld(&g->a, g->m, g->k);
    g->b.ld = matrix_ld(&g->b, g->k, g->n);
    g->c.ld = matrix_ld(&g->c, g->m, g->n);
    g->d.ld = matrix_ld(&g->d, g->m, g->n);
    status = check_limits(&w, f);
    if (status == BITCUT_OK) status = check_matrices(&w, f);
    if (status == BITCUT_OK) *to = w;
    return status;
}

static const struct gpu_fp64_kernel *kernel_named(const struct gpu *g, const char *name)
{
    const struct gpu_fp64_kernel *k = NULL;
    while ((k = gpu_fp64_next(g, k)))
        if (!strcmp(k->name, name)) break;
    return k;
}

enum bitcut_status gpu_fp64_choose(struct gpu_fp64 *to, const struct gpu *g,
                                   const struct gpu_device *device,
                                   const struct bitcut_gemm *gemm, struct fault *f)
{
    const char *const name = gemm->kernel;
    const struct gpu_fp64_kernel *const k =
        name ? kernel_named(g, name) : gpu_fp64_find(g, device, gemm->scheme);
    if (k) return gpu_fp64_make(to, gemm, k, device, f);
    if (name)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "no kernel of FP64 GEMMs is called \"%.60s\"; see bitcut list "
                         "fp64-kernels",
                         name);
    return fault_set(f, BITCUT_UNSUPPORTED,
                     "no kernel of %.60s computes scheme %s; see bitcut list "
                     "fp64-kernels",
                     device->name, gemm->scheme->name);
}

/* --- in host memory --------------------------------------------------------------- */

enum bitcut_status gpu_fp64_run(const struct gpu_fp64 *gemm, double *milliseconds,
                                int repeats, const struct gpu *g,
                                const struct gpu_device *device, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (g->module->fp64(gemm, milliseconds, repeats, device->number, why) == 0)
        return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
}

static struct bitcut_matrix dense(const double *at, enum bitcut_layout layout)
{
    return (struct bitcut_matrix){ .at = at,
                                   .format = &formats[FORMAT_F64],
                                   .layout = layout };
}

enum bitcut_status gpu_fp64_offload(bool *took, const struct fp64_job *job,
                                    const struct gpu_fp64_kernel *k, const struct gpu *g,
                                    const struct gpu_device *device, struct fault *f)
{
    struct bitcut_gemm gemm;
    struct gpu_fp64 w;
    int width[2];
    if (!k) k = gpu_fp64_find(g, device, job->scheme);
    *took = k && gpu_fp64_gemm(&gemm, k, device, NULL) == BITCUT_OK &&
            fp64_widths(width, job, NULL) == BITCUT_OK && fp64_sums_are_exact(job, width);
    if (!*took) return BITCUT_OK;
    gemm.parts = job->parts;
    gemm.m = job->m, gemm.n = job->n, gemm.k = job->k;
    gemm.a = dense(job->a, BITCUT_ROW_MAJOR);
    gemm.b = dense(job->b, BITCUT_COLUMN_MAJOR);
    gemm.d = dense(job->d, BITCUT_ROW_MAJOR);
    *took = gpu_fp64_make(&w, &gemm, k, device, NULL) == BITCUT_OK;
    return *took ? gpu_fp64_run(&w, NULL, 0, g, device, f) : BITCUT_OK;
}

/* --- in device memory ------------------------------------------------------------- */

size_t gpu_fp64_workspace(const struct gpu_fp64 *gemm, const struct gpu *g,
                          const struct gpu_device *device)
{
    return g->module->fp64_workspace(gemm, device->number);
}

static enum bitcut_status start_all(const struct gpu_fp64 *w, const struct gpu *g,
                                    const struct gpu_device *device,
                                    const struct gpu_room *room, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (!w->gemm.m || !w->gemm.n) return BITCUT_OK;
    for (size_t i = 0; i < w->gemm.count; i++) {
        const struct gpu_fp64 one = { .kernel = w->kernel,
                                      .gemm = gemm_nth(&w->gemm, i) };
        if (g->module->fp64_start(&one, room->workspace, device->number, room->stream,
                                  why))
            return fault_set(f, BITCUT_UNSUPPORTED, "%s: %s", w->kernel->name, why);
    }
    return BITCUT_OK;
}

enum bitcut_status gpu_fp64_start(const struct gpu_fp64 *w, const struct gpu *g,
                                  const struct gpu_device *device,
                                  const struct gpu_room *room, struct fault *f)
{
    const size_t needed = gpu_fp64_workspace(w, g, device);
    enum bitcut_status status = gemm_check_matrices(&w->gemm, false, f);
    if (status == BITCUT_OK)
        status = gpu_room_check(&w->gemm, room, needed, g, device, f);
    return status == BITCUT_OK ? start_all(w, g, device, room, f) : status;
}
