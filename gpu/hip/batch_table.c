/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the kernels for batches of small GEMMs, from gpu/hip/batch_rows.h, and
   their launch; the code is in gpu/hip/batch.hip. */
#include "gpu/hip/arguments.h"
#include "gpu/hip/batch_rows.h"
#include "gpu/hip/hip_tables.h"
#include "lib/base/size.h"

/* Largest number of blocks of a grid: more than a device holds at a time, so that all CUs
   have some.  A block computes several batches if there are more. */
enum { BATCH_BLOCKS_MAX = 1 << 14 };

/* Element (line, p) of an operand, with k along `p`, or (row, column) of C and D. */
static struct hip_panel panel_of(const struct bitcut_matrix *x, enum bitcut_layout along)
{
    const bool turned = x->layout != along;
    return (struct hip_panel){ x->at, (const void *const *)x->each, x->stride,
                               turned ? 1 : x->ld, turned ? x->ld : 1 };
}

static int start(const struct gpu_work *w, void *stream)
{
    const struct bitcut_gemm *g = &w->gemm;
    const struct gpu_kernel *k = w->kernel;
    const size_t each = (size_t)k->threads / 64 * (size_t)k->products;
    const size_t blocks = smaller(divide_up(g->count, each), BATCH_BLOCKS_MAX);
    const struct hip_launch launch = { (unsigned)blocks, 1, 1, (unsigned)k->threads,
                                       stream };
    struct hip_small x = { .a = panel_of(&g->a, BITCUT_ROW_MAJOR),
                           .b = panel_of(&g->b, BITCUT_COLUMN_MAJOR),
                           .d = panel_of(&g->d, BITCUT_ROW_MAJOR),
                           .count = g->count,
                           .step = blocks * each,
                           .m = (int32_t)g->m,
                           .n = (int32_t)g->n,
                           .k = (int32_t)g->k,
                           .reads_c = gemm_reads_c(g),
                           .alpha = float_of(g->alpha),
                           .beta = float_of(g->beta) };
    if (x.reads_c) x.c = panel_of(&g->c, BITCUT_ROW_MAJOR);
    return hip_code_start(k->name, &launch, &x, sizeof x);
}

#define WHAT_direct "MFMA, straight into registers"
#define WHAT_staged "MFMA, through shared memory"

/* A thread has accumulators, two operands of each fragment, and addresses. */
#define SMALL(SHAPE, NAME, SIZE, WAVES, HOW, STAGED)                                     \
    { .name = "batch.mfma" #NAME "." #SIZE "." #HOW,                                     \
      .what = WHAT_##HOW,                                                                \
      .recipe = "plain",                                                                 \
      .instruction = "mfma." #SHAPE ".f32.f16",                                          \
      .matrices = FORMAT_F16,                                                            \
      .format = FORMAT_F16,                                                              \
      .program = { 1, 1, { { 0, 0, 0, false } }, 0 },                                    \
      .products = BATCH_GEMMS(SIZE),                                                     \
      .warps = 1,                                                                        \
      .stages = STAGED,                                                                  \
      .threads = 64 * WAVES,                                                             \
      .shared_bytes = STAGED * WAVES * BATCH_SHARED(SIZE),                               \
      .registers = BATCH_GEMMS(SIZE) * SIZE * SIZE / 64 + 60,                            \
      .cluster_m = 1,                                                                    \
      .cluster_n = 1,                                                                    \
      .slices_most = 1,                                                                  \
      .size_most = SIZE,                                                                 \
      .architectures = ON_ALL,                                                           \
      .start = start },

const struct gpu_kernel mfma_batches[] = {
    /* clang-format off */
    BATCH_ROWS(SMALL)
    { 0 }
    /* clang-format on */
};
