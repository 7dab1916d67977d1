#include "gpu/offload.h"

#include "lib/format.h"

/* A matrix, whose leading dimension is set, from the first element to the last.
   gemm_check_matrices() has counted them. */
static struct gpu_memory memory_of(const struct bitcut_matrix *x, size_t rows,
                                   size_t cols)
{
    const bool by_rows = x->layout == BITCUT_ROW_MAJOR;
    const size_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    if (!x->at || !rows || !cols) return (struct gpu_memory){ NULL, 0 };
    return (struct gpu_memory){ x->to, ((lines - 1) * x->ld + length) *
                                           (size_t)format_bytes(x->format) };
}

/* One at a time: the device's memory is for one. */
static enum bitcut_status run_work(struct gpu_offload *to, const struct gpu_work *w,
                                   struct fault *f)
{
    const struct bitcut_gemm *const g = &w->gemm;
    const struct gpu_memory memory[4] = {
        memory_of(&g->a, g->m, g->k), memory_of(&g->b, g->k, g->n),
        gemm_reads_c(g) ? memory_of(&g->c, g->m, g->n) : (struct gpu_memory){ NULL, 0 },
        memory_of(&g->d, g->m, g->n)
    };
    struct fault own;
    pthread_mutex_lock(&to->lock);
    const enum bitcut_status status = gpu_work_run(w, memory, to->gpu, to->device, &own);
    to->runs++;
    pthread_mutex_unlock(&to->lock);
    return status == BITCUT_OK
               ? status
               : fault_set(f, status, "%.80s: %s", to->device->name, own.text);
}

static enum bitcut_status run(bool *took, const struct bitcut_gemm *g,
                              const struct gemm_plan *plan, void *context,
                              struct fault *f)
{
    struct gpu_offload *const to = context;
    struct gpu_work w;
    *took = gpu_emulates(to->gpu) &&
            gpu_work_emulate_plan(&w, to->gpu, to->device, g, plan, NULL) == BITCUT_OK;
    return *took ? run_work(to, &w, f) : BITCUT_OK;
}

static enum bitcut_status sums(const struct exact_sums_to *sums, size_t m, size_t n,
                               size_t k, const uint32_t *a, const uint32_t *b,
                               void *context, struct fault *f)
{
    struct gpu_offload *const to = context;
    char why[GPU_FAULT_MOST];
    pthread_mutex_lock(&to->lock);
    const int failed =
        to->gpu->module->sums(sums, m, n, k, a, b, to->device->number, why);
    to->runs++;
    pthread_mutex_unlock(&to->lock);
    return failed ? fault_set(f, BITCUT_CANNOT, "%.80s: %s", to->device->name, why)
                  : BITCUT_OK;
}

/* Sums of fewer terms are sooner made here than brought there and back. */
enum { SUMS_LEAST = 1 << 26, SUMS_BYTES = 1 << 30 };

void gpu_offload_init(struct gpu_offload *to, const struct gpu *gpu,
                      const struct gpu_device *device)
{
    *to = (struct gpu_offload){ .gpu = gpu,
                                .device = device,
                                .offload = { .run = run, .context = to },
                                .sums = { sums, to, SUMS_LEAST, SUMS_BYTES },
                                .lock = PTHREAD_MUTEX_INITIALIZER };
    if (gpu->module->sums) to->offload.sums = &to->sums;
}
