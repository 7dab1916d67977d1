/* The batches of small GEMMs on a GPU that lib/bitcut.h declares. */
#include "gpu/batched.h"
#include "gpu/gemm_cuda.h"
#include "lib/text.h"

#include <stdio.h>
#include <string.h>

static struct gpu_batched_operand operand_of(const struct bitcut_cuda_matrices *x)
{
    return (struct gpu_batched_operand){ x->at, x->stride,
                                         (const uint16_t *const *)x->each, x->ld,
                                         x->transposed };
}

/* Sizes must have been checked. */
static struct gpu_batched batched_of(const struct bitcut_cuda_hgemm *g, size_t count)
{
    struct gpu_batched x = {
        .count = count,
        .m = (int)g->m,
        .n = (int)g->n,
        .k = (int)g->k,
        .alpha = g->alpha,
        .beta = g->beta,
        .a = operand_of(&g->a),
        .b = operand_of(&g->b),
        .d = { g->d, g->stride_d, (const uint16_t *const *)g->each_d, g->ldd, false },
    };
    if (g->beta & 0x7fffffff)
        x.c = (struct gpu_batched_operand){ g->c, g->stride_c,
                                            (const uint16_t *const *)g->each_c, g->ldc,
                                            false };
    return x;
}

/* The kernel asked for, or the first that fits; the fault is that of the last tried. */
static enum bitcut_status choose(const struct gpu_batched_kernel **to,
                                 const struct bitcut_cuda *x,
                                 const struct bitcut_cuda_hgemm *g, struct fault *f)
{
    const struct gpu_batched_kernel *k = NULL;
    if (!x || !g) return fault_set(f, BITCUT_BAD_ARGUMENT, "no device or GEMM");
    enum bitcut_status status =
        g->kernel ? fault_set(f, BITCUT_BAD_ARGUMENT, "there is no kernel %.*s",
                              text_fit(g->kernel, 100), g->kernel)
                  : fault_set(f, BITCUT_CANNOT, "there is no kernel for batches");
    while ((k = gpu_batched_next(&x->gpu, k))) {
        if (g->kernel && strcmp(k->name, g->kernel) != 0) continue;
        if (!gpu_batched_fits(&x->device, k)) {
            status = fault_set(f, BITCUT_CANNOT, "%.100s cannot run %s", x->device.name,
                               k->name);
            continue;
        }
        status = gpu_batched_suits(g->m, g->n, g->k, k, f);
        if (status == BITCUT_OK) break;
    }
    *to = k;
    return status;
}

enum bitcut_status bitcut_hgemm_cuda_kernel(char *name, char *unit,
                                            const struct bitcut_cuda *x,
                                            const struct bitcut_cuda_hgemm *g, char *why)
{
    const struct gpu_batched_kernel *k;
    struct fault f;
    enum bitcut_status status = cuda_place(name && unit, &f);
    if (status == BITCUT_OK) status = choose(&k, x, g, &f);
    if (status != BITCUT_OK) return cuda_told(why, status, &f);
    snprintf(name, BITCUT_TEXT_MOST, "%s", k->name);
    gpu_batched_unit(unit, BITCUT_TEXT_MOST, x->architecture, k);
    return BITCUT_OK;
}

static enum bitcut_status start(const struct bitcut_cuda *x, const struct gpu_batched *g,
                                const struct gpu_batched_kernel *k, void *stream,
                                struct fault *f)
{
    char why[GPU_FAULT_MOST];
    if (x->gpu.module->batched->start(g, k, stream, why) == 0) return BITCUT_OK;
    return fault_set(f, BITCUT_CANNOT, "%s: %s", k->name, why);
}

enum bitcut_status bitcut_hgemm_cuda_batch(const struct bitcut_cuda *x,
                                           const struct bitcut_cuda_hgemm *g,
                                           size_t count, void *stream, char *why)
{
    const struct gpu_batched_kernel *k;
    struct fault f;
    enum bitcut_status status = choose(&k, x, g, &f);
    if (status != BITCUT_OK) return cuda_told(why, status, &f);
    const struct gpu_batched batch = batched_of(g, count);
    status = gpu_batched_check(&batch, k, &f);
    if (status == BITCUT_OK) status = start(x, &batch, k, stream, &f);
    return cuda_told(why, status, &f);
}
