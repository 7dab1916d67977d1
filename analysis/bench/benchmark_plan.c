/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/bench/benchmark_plan.h"

#include "gpu/api/choose.h"

#include <string.h>

const struct shape_set shape_sets[] = {
    /* clang-format off */
    { "square", "n x n x n",                                     true, NULL, { { 1, 1, 1 } } },
    { "wide",   "n x 4n x n (m, n, k), as measured by LE-GEMM",  true, NULL, { { 1, 4, 1 } } },
    { "deep",   "n x n x 4n, as measured by LE-GEMM",            true, NULL, { { 1, 1, 4 } } },
    { "splitk", "512 x 512 x 8192, as measured by Huang et al. for split-K", false, NULL,
      { { 512, 512, 8192 } } },
    { "kmeans", "K-means: points x 1024 clusters x 256 features (LE-GEMM gives no sizes)",
      false, NULL,
      { { 16384, 1024, 256 }, { 65536, 1024, 256 }, { 262144, 1024, 256 } } },
    { "small",  "n x n x n, n from 4 to 64, for batches", false, NULL,
      { { 4, 4, 4 }, { 8, 8, 8 }, { 16, 16, 16 }, { 32, 32, 32 }, { 64, 64, 64 } } },
    { "bert",   "feed-forward layers of BERT-large (1024, 4096), 32 texts of 128 to 512 tokens",
      false, NULL,
      { { 4096, 4096, 1024 },  { 4096, 1024, 4096 }, { 8192, 4096, 1024 },
        { 16384, 4096, 1024 }, { 16384, 1024, 4096 } } },
    { "llm",    "linear layers of LLaMA 7B, 2048 tokens, with the range of values in "
                "LE-GEMM",
      false, "urand(0.5,2.5)",
      { { 2048, 4096, 4096 }, { 2048, 12288, 4096 }, { 2048, 11008, 4096 },
        { 2048, 4096, 11008 } } },
    { "heads",  "attention over 2048 tokens: Q K^T and P V of a head of 128", false, NULL,
      { { 2048, 2048, 128 }, { 2048, 128, 2048 } } },
    { 0 }
    /* clang-format on */
};

const struct bench_study bench_studies[] = {
    /* clang-format off */
    { .name = "recipes",  .matrices = FORMAT_F32, .shapes = "square", .slices = { 1 },
      .what = "the best kernel of every recipe for the shape, for all data formats" },
    { .name = "tiles",    .matrices = FORMAT_F32, .shapes = "square", .slices = { 1 },
      .what = "all tiles of every recipe: the tile model against exhaustive tuning",
      .kernels = { "sm80", "sm90", "mfma32x32x8", "amx", "avx512" } },
    { .name = "splitk",   .matrices = FORMAT_F32, .shapes = "splitk",
      .what = "1 to 16 slices of k, for small D", .slices = { 1, 2, 4, 8, 10, 16 },
      .kernels = { "sm80.ootomo.f16.128x128x32.3", "sm80.ootomo.f16.64x64x32.3",
                   "sm90.ootomo.f16.128x128x64.3.promote4",
                   "sm90.ootomo.f16.128x64x64.4.promote4" } },
    { .name = "cluster",  .matrices = FORMAT_F32, .shapes = "square",
      .what = "1 to 8 slices of k added within a cluster, for small n",
      .slices = { 1, 2, 3, 4, 8 },
      .kernels = { "sm90.ootomo.f16.128x64x64.4.promote4",
                   "sm90.ootomo.f16.128x64x64.4.1x1.promote4",
                   "sm90.ootomo.f16.128x128x64.3.1x1.promote4" } },
    { .name = "stages",   .matrices = FORMAT_F32, .shapes = "square", .slices = { 1 },
      .what = "with and without asynchronous copies",
      .kernels = { "sm80.ootomo.f16.128x128x32" } },
    { .name = "pipeline", .matrices = FORMAT_F32, .shapes = "square", .slices = { 1 },
      .what = "LE-GEMM with and without its pipeline",
      .kernels = { "sm80.legemm.f16.128x128x32",
                   "mfma32x32x8.legemm.f16.128x128x32" } },
    { .name = "batch",    .matrices = FORMAT_F16, .shapes = "small",  .slices = { 1 },
      .what = "batches of small f16 GEMMs (bitcut list kernels)",
      .batches = { 10000, 100000 } },
    { .name = "strided",  .matrices = FORMAT_F32, .shapes = "heads",  .slices = { 1 },
      .what = "batches of strided GEMMs, as for attention heads",
      .batches = { 32 } },
    { 0 }
    /* clang-format on */
};

/* Whether x is the shape, or, for scaled sets, a multiple of it. */
static bool is_shape(struct kernel_shape x, struct kernel_shape shape, bool scaled)
{
    const size_t n = scaled ? x.m / shape.m : 1;
    return x.m == shape.m * n && x.n == shape.n * n && x.k == shape.k * n;
}

const char *shape_set_of(size_t m, size_t n, size_t k)
{
    const struct kernel_shape x = { .m = m, .n = n, .k = k };
    for (const struct shape_set *set = shape_sets; set->name; set++)
        for (const struct kernel_shape *shape = set->shape; shape->m; shape++)
            if (is_shape(x, *shape, set->scaled)) return set->name;
    return NULL;
}

bool bench_has_tile(const struct gpu_kernel *k, const struct bench_filter *filter)
{
    const int side[3] = { k->tile_m, k->tile_n, k->tile_k };
    for (int i = 0; i < 3; i++)
        if (filter->tile[i] && filter->tile[i] != side[i]) return false;
    return true;
}

/* The first of the recipe's kernels with the tile that the device can run. */
static const struct gpu_kernel *first(const struct recorder *r, const char *recipe,
                                      const struct bench_filter *filter)
{
    const struct gpu_kernel *k = NULL;
    while ((k = gpu_kernel_next(&r->gpu, k)))
        if (gpu_kernel_splits(k) && !strcmp(k->recipe, recipe) &&
            gpu_kernel_fits(&r->device, k) && bench_has_tile(k, filter))
            break;
    return k;
}

/* The best of the kernels with the tile that give the same bits as that one. */
static const struct gpu_kernel *chosen(const struct recorder *r, const char *recipe,
                                       const struct bench_filter *filter,
                                       const struct bitcut_gemm *gemm)
{
    const struct gpu_kernel *like = first(r, recipe, filter);
    struct gpu_choice x[GPU_CHOICES_MAX];
    const size_t count = like ? gpu_kernel_rank(x, &r->gpu, &r->device, like, gemm) : 0;
    for (size_t i = 0; i < count; i++)
        if (bench_has_tile(x[i].kernel, filter)) return x[i].kernel;
    return like;
}

/* Whether the device runs the kernel on matrices of that format and size. */
static bool takes(const struct gpu_kernel *k, const struct recorder *r, int matrices,
                  const struct bitcut_gemm *g)
{
    return k->matrices == matrices && gpu_kernel_fits(&r->device, k) &&
           gpu_kernel_takes_sizes(k, g->m, g->n, g->k);
}

/* Whether no kernel with the same instruction is made for smaller sizes and supports the
   GEMM. */
static bool is_smallest(const struct gpu_kernel *k, const struct recorder *r,
                        const struct bitcut_gemm *g)
{
    const struct gpu_kernel *other = NULL;
    while ((other = gpu_kernel_next(&r->gpu, other)))
        if (!other->instruction == !k->instruction && other->size_most < k->size_most &&
            takes(other, r, k->matrices, g))
            return false;
    return true;
}

bool bench_wants(const struct gpu_kernel *kernel, const struct recorder *r,
                 const struct bench_study *study, const struct bench_filter *filter,
                 const struct bitcut_gemm *gemm)
{
    if (!takes(kernel, r, study->matrices, gemm) || !bench_has_tile(kernel, filter))
        return false;
    if (filter->kernel) return kernel_is_called(kernel->name, filter->kernel);
    if (!gpu_kernel_splits(kernel)) return is_smallest(kernel, r, gemm);
    if (!study->kernels[0]) return kernel == chosen(r, kernel->recipe, filter, gemm);
    for (int i = 0; i < SELECTIONS_MAX && study->kernels[i]; i++)
        if (kernel_is_called(kernel->name, study->kernels[i])) return true;
    return false;
}
