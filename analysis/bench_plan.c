#include "analysis/bench_plan.h"

#include <string.h>

const struct option_counts bench_sizes = { 5, { 1024, 2048, 4096, 8192, 16384 } };

const struct shape_set shape_sets[] = {
    /* clang-format off */
    { "square", "n x n x n",                                   true, NULL, { { 1, 1, 1 } } },
    { "wide",   "n x 4n x n (m, n, k), as LE-GEMM measures",   true, NULL, { { 1, 4, 1 } } },
    { "deep",   "n x n x 4n, as LE-GEMM measures",             true, NULL, { { 1, 1, 4 } } },
    { "splitk", "512 x 512 x 8192, as Huang et al. measure split-K", false, NULL,
      { { 512, 512, 8192 } } },
    { "kmeans", "K-means: points x 1024 clusters x 256 features (LE-GEMM gives no sizes)",
      false, NULL,
      { { 16384, 1024, 256 }, { 65536, 1024, 256 }, { 262144, 1024, 256 } } },
    { "bert",   "feed-forward layers of BERT-large (1024, 4096), 32 texts of 128 to 512 tokens",
      false, NULL,
      { { 4096, 4096, 1024 },  { 4096, 1024, 4096 }, { 8192, 4096, 1024 },
        { 16384, 4096, 1024 }, { 16384, 1024, 4096 } } },
    { "llm",    "linear layers of LLaMA 7B, 2048 tokens, values as LE-GEMM gives them",
      false, "urand(0.5,2.5)",
      { { 2048, 4096, 4096 }, { 2048, 12288, 4096 }, { 2048, 11008, 4096 },
        { 2048, 4096, 11008 } } },
    { 0 }
    /* clang-format on */
};

const struct bench_study bench_studies[] = {
    { "recipes",
      "the first kernel of every recipe, so every data format",
      { NULL },
      "square",
      { 1 } },
    { "tiles",
      "tile shapes of three recipes",
      { "sm80.plain.f16", "sm90.plain.f16", "sm80.ootomo.f16", "sm90.ootomo.f16",
        "sm80.legemm", "sm90.legemm" },
      "square",
      { 1 } },
    { "splitk",
      "1 to 16 slices of k, where D is small",
      { "sm80.ootomo.f16", "sm90.ootomo.f16" },
      "splitk",
      { 1, 2, 4, 8, 10, 16 } },
    { "stages",
      "with and without asynchronous copies",
      { "sm80.ootomo.f16.128x128x32" },
      "square",
      { 1 } },
    { "pipeline",
      "LE-GEMM with and without its pipeline",
      { "sm80.legemm.f16.128x128x32" },
      "square",
      { 1 } },
    { 0 }
};

/* The first of the recipe's kernels that the device can run. */
static const struct gpu_kernel *first(const struct recorder *r, const char *recipe)
{
    const struct gpu_kernel *k = NULL;
    while ((k = gpu_kernel_next(&r->gpu, k)))
        if (!strcmp(k->recipe, recipe) && gpu_kernel_fits(&r->device, k)) break;
    return k;
}

bool bench_wants(const struct gpu_kernel *kernel, const struct recorder *r,
                 const struct bench_study *study, const char *only)
{
    if (!gpu_kernel_fits(&r->device, kernel)) return false;
    if (only) return kernel_is_called(kernel, only);
    if (!study->kernels[0]) return kernel == first(r, kernel->recipe);
    for (int i = 0; i < SELECTIONS_MOST && study->kernels[i]; i++)
        if (kernel_is_called(kernel, study->kernels[i])) return true;
    return false;
}
