#include "gpu/batched.h"

#include <stdio.h>

/* --- the kernels ------------------------------------------------------------------ */

const struct gpu_batched_kernel *gpu_batched_next(const struct gpu *g,
                                                  const struct gpu_batched_kernel *at)
{
    const struct gpu_batched_part *part = g->module->batched;
    if (!part) return NULL;
    at = at ? at + 1 : part->kernels;
    return at->name ? at : NULL;
}

bool gpu_batched_fits(const struct gpu_device *device, const struct gpu_batched_kernel *k)
{
    return gpu_is_capable(device, k->least, k->most) &&
           k->shared_bytes <= device->shared_bytes;
}

const struct bitcut_recipe *gpu_batched_recipe(const struct gpu_batched_kernel *k)
{
    return &recipes[k->instruction ? RECIPE_PLAIN : RECIPE_FP32];
}

void gpu_batched_unit(char *name, size_t size,
                      const struct gpu_architecture *architecture,
                      const struct gpu_batched_kernel *k)
{
    if (k->instruction) snprintf(name, size, "%s/%s", architecture->name, k->instruction);
    else snprintf(name, size, "fma/f32");
}

/* --- what they take --------------------------------------------------------------- */

enum bitcut_status gpu_batched_suits(size_t m, size_t n, size_t k,
                                     const struct gpu_batched_kernel *kernel,
                                     struct fault *f)
{
    const size_t most = (size_t)kernel->size_most;
    if (m <= most && n <= most && k <= most) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes m, n and k up to %zu",
                     kernel->name, most);
}

static bool is_aligned(const void *at, size_t bytes)
{
    return (uintptr_t)at % bytes == 0;
}

/* Whether the last of `count` matrices ends where 64 bits can tell. */
static bool strides_fit(const struct gpu_batched_operand *x, size_t count, size_t rows,
                        size_t cols)
{
    size_t apart, before, bytes;
    return size_multiply(&apart, x->each ? 0 : count - 1, x->stride) &&
           size_multiply(&before, rows - 1, x->ld) && before <= SIZE_MAX - cols &&
           apart <= SIZE_MAX - cols - before &&
           size_multiply(&bytes, apart + before + cols, sizeof(uint16_t));
}

/* A matrix of `rows` rows in memory. */
static enum bitcut_status check_operand(const char *name,
                                        const struct gpu_batched_operand *x, size_t count,
                                        size_t rows, size_t cols, struct fault *f)
{
    const void *const at = x->each ? (const void *)x->each : x->at;
    if (x->ld < cols)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: leading dimension %zu is below the row length, %zu", name,
                         x->ld, cols);
    if (!count || !rows || !cols) return BITCUT_OK;
    if (!strides_fit(x, count, rows, cols))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s does not fit any memory", name);
    if (!at) return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is missing", name);
    if (!is_aligned(at, x->each ? sizeof *x->each : sizeof *x->at))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is not aligned to %zu bytes", name,
                         x->each ? sizeof *x->each : sizeof *x->at);
    return BITCUT_OK;
}

static enum bitcut_status check_read(const char *name,
                                     const struct gpu_batched_operand *x, size_t count,
                                     int rows, int cols, struct fault *f)
{
    const int height = x->transposed ? cols : rows, row = x->transposed ? rows : cols;
    return check_operand(name, x, count, (size_t)height, (size_t)row, f);
}

static enum bitcut_status check_outputs(const struct gpu_batched *g, struct fault *f)
{
    const struct gpu_batched_operand *c = &g->c, *d = &g->d;
    const bool reads_c = (g->beta & 0x7fffffff) != 0;
    enum bitcut_status status = BITCUT_OK;
    if (d->transposed || (reads_c && c->transposed))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "C and D are never transposed");
    if (reads_c) status = check_read("C", c, g->count, g->m, g->n, f);
    if (status == BITCUT_OK) status = check_read("D", d, g->count, g->m, g->n, f);
    if (status != BITCUT_OK) return status;
    if (!d->each &&
        !gpu_outputs_apart(g->count, d->stride, (size_t)g->m, (size_t)g->n, d->ld))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the matrices of D overlap");
    if (!reads_c || c->each != d->each || (!c->each && c->at != d->at)) return BITCUT_OK;
    if (c->ld != d->ld)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "D is C with another leading dimension");
    if (!c->each && g->count > 1 && c->stride != d->stride)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "D is C with another stride");
    return BITCUT_OK;
}

enum bitcut_status gpu_batched_check(const struct gpu_batched *g,
                                     const struct gpu_batched_kernel *kernel,
                                     struct fault *f)
{
    enum bitcut_status status =
        gpu_batched_suits((size_t)g->m, (size_t)g->n, (size_t)g->k, kernel, f);
    if (status == BITCUT_OK) status = check_read("A", &g->a, g->count, g->m, g->k, f);
    if (status == BITCUT_OK) status = check_read("B", &g->b, g->count, g->k, g->n, f);
    return status == BITCUT_OK ? check_outputs(g, f) : status;
}

enum bitcut_status gpu_batched_run(const struct gpu_batched *batch, const struct gpu *g,
                                   const struct gpu_batched_kernel *kernel,
                                   const struct gpu_memory memory[4], struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (g->module->batched->run(batch, kernel, memory, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "%s", why);
}
