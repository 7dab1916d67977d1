#include "gpu/choose.h"

#include "lib/size.h"

#include <string.h>

/* --- a device and a kernel as the models see them --------------------------------- */

/* Of an SM since compute capability 7.0 and of a CU since CDNA. */
enum { MATRIX_CORES = 4, WAVE = 32 };

/* What only limits tiles that are no kernels is left out. */
static struct tile_gpu gpu_of(const struct gpu_device *d)
{
    return (struct tile_gpu){ .units = d->units,
                              .registers = d->unit_registers,
                              .shared = d->unit_shared,
                              .shared_reserved = d->block_shared,
                              .matrix_cores = MATRIX_CORES,
                              .wave = WAVE,
                              .waves = d->unit_threads / WAVE,
                              .groups = d->unit_blocks,
                              .products = d->products,
                              .shared_rate = d->shared_rate,
                              .cache_rate = d->cache_rate };
}

static struct tile tile_of(const struct gpu_kernel *k)
{
    return (struct tile){ k->tile_m, k->tile_n, k->tile_k,
                          (int)divide_up((size_t)k->threads, WAVE), k->stages };
}

static struct tile_costs costs_of(const struct gpu_kernel *k)
{
    return (struct tile_costs){ .load = (uint64_t)k->load_bytes,
                                .read = (uint64_t)k->read_bytes,
                                .shared = (uint64_t)k->shared_bytes,
                                .registers = (uint64_t)k->registers,
                                .cluster = k->cluster };
}

static struct tile_task task_of(const struct tile_model *model,
                                const struct gpu_device *device,
                                const struct gpu_kernel *like, const struct bitcut_gemm *g)
{
    return (struct tile_task){
        .model = model,
        .gpu = gpu_of(device),
        .method = { .terms = like->program.terms,
                    .words = like->program.words,
                    .word_bytes = like->format == FORMAT_TF32 ? 4 : 2,
                    .accumulators = 1 },
        .problem = { g->m, g->n, g->k },
        .count = g->count,
        .slices = (uint64_t)g->order.slices,
    };
}

const struct tile_model *gpu_model(const struct gpu_device *device)
{
    const struct tile_gpu gpu = gpu_of(device);
    return tile_model_of(&gpu);
}

void gpu_kernel_judge(struct gpu_choice *choice, const struct gpu_kernel *k,
                      const struct gpu_device *device, const struct bitcut_gemm *g)
{
    const struct tile_task task = task_of(gpu_model(device), device, k, g);
    const struct tile tile = tile_of(k);
    const struct tile_costs costs = costs_of(k);
    choice->kernel = k;
    tile_judge(&choice->judged, &tile, &costs, &task);
}

/* --- ranking ---------------------------------------------------------------------- */

static bool same_program(const struct gpu_program *x, const struct gpu_program *y)
{
    if (x->words != y->words || x->terms != y->terms || x->promote != y->promote)
        return false;
    for (int i = 0; i < x->terms; i++)
        if (x->term[i].a != y->term[i].a || x->term[i].b != y->term[i].b ||
            x->term[i].accumulator != y->term[i].accumulator)
            return false;
    return true;
}

bool gpu_kernel_alike(const struct gpu_kernel *x, const struct gpu_kernel *y)
{
    return x->matrices == y->matrices && !strcmp(x->recipe, y->recipe) &&
           !strcmp(x->instruction, y->instruction) && x->format == y->format &&
           same_program(&x->program, &y->program);
}

static bool takes(const struct gpu_kernel *k, const struct bitcut_gemm *g)
{
    const size_t most = k->size_most ? k->size_most : SIZE_MAX;
    return g->m <= most && g->n <= most && g->k <= most &&
           g->order.slices <= k->slices_most;
}

size_t gpu_kernel_rank_by(struct gpu_choice choices[GPU_CHOICES_MOST],
                          const struct tile_model *model, const struct gpu *g,
                          const struct gpu_device *device, const struct gpu_kernel *like,
                          const struct bitcut_gemm *gemm)
{
    const struct tile_task task = task_of(model, device, like, gemm);
    const struct gpu_kernel *k = NULL, *kernel[GPU_CHOICES_MOST];
    struct tile tiles[GPU_CHOICES_MOST];
    struct tile_costs costs[GPU_CHOICES_MOST];
    struct tile_choice ranked[GPU_CHOICES_MOST];
    size_t count = 0;
    while ((k = gpu_kernel_next(g, k)) && count < GPU_CHOICES_MOST) {
        if (!k->tile_m || !gpu_kernel_alike(k, like) || !gpu_kernel_fits(device, k) ||
            !takes(k, gemm))
            continue;
        kernel[count] = k;
        tiles[count] = tile_of(k);
        costs[count++] = costs_of(k);
    }
    tile_rank(ranked, tiles, costs, count, &task);
    for (size_t i = 0; i < count; i++)
        choices[i] = (struct gpu_choice){ kernel[ranked[i].at], ranked[i] };
    return count;
}

size_t gpu_kernel_rank(struct gpu_choice choices[GPU_CHOICES_MOST], const struct gpu *g,
                       const struct gpu_device *device, const struct gpu_kernel *like,
                       const struct bitcut_gemm *gemm)
{
    return gpu_kernel_rank_by(choices, gpu_model(device), g, device, like, gemm);
}
