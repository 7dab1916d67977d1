/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the GEMM kernels, from gpu/hip/gemm_rows.h, and their launch; the code is
   in gpu/hip/gemm_hip.h and gpu/hip/sums.hip. */
#include "gpu/hip/arguments.h"
#include "gpu/hip/gemm_program.h"
#include "gpu/hip/gemm_rows.h"
#include "gpu/hip/hip_tables.h"
#include "gpu/hip/mfma_rows.h"
#include "lib/base/size.h"

#include <math.h>
#include <string.h>

enum { BLOCKS_MAX = 65535 }; /* largest size of a grid along y and z */

/* --- what is passed --------------------------------------------------------------- */

/* Bytes of a line in a k-step of the kernel's instruction. */
static size_t step_bytes(const struct gpu_kernel *k)
{
    const struct gpu_instruction *i = mfma_table;
    while (i->name && strcmp(i->name, k->instruction) != 0) i++;
    return (size_t)i->k * part_bytes(k->format);
}

static struct k_cut cut_of(const struct gpu_product *p)
{
    return k_cut_of(p->k, p->slices, p->kernel->format, step_bytes(p->kernel));
}

static size_t partial_bytes(const struct gpu_product *p)
{
    const struct k_cut cut = cut_of(p);
    return cut.slices > 1 ? p->count * (size_t)cut.slices * p->m * p->n * sizeof(float)
                          : 0;
}

static struct hip_output output_of(const struct gpu_product *p)
{
    const struct elements *c = &p->c, *d = &p->d;
    return (struct hip_output){
        .c = { c->at, c->stride, c->turned ? 1 : c->ld, c->turned ? c->ld : 1 },
        .d = { d->at, d->stride, d->turned ? 1 : d->ld, d->turned ? d->ld : 1 },
        .lines_a = p->lines.a,
        .lines_b = p->lines.b,
        .lines_a_stride = p->lines.stride_a,
        .lines_b_stride = p->lines.stride_b,
        .target = p->lines.target,
        .alpha = p->alpha,
        .beta = p->beta,
    };
}

static struct hip_gemm arguments_of(const struct gpu_product *p, struct k_cut cut)
{
    return (struct hip_gemm){
        .a = p->a.at,
        .b = p->b.at,
        .a_stride = p->a.stride,
        .b_stride = p->b.stride,
        .m = p->m,
        .n = p->n,
        .row_bytes = p->a.row_bytes,
        .k_bytes = cut.bytes,
        .slice_bytes = cut.slice_bytes,
        .slice_reciprocal = ((uint64_t)1 << 32) / (unsigned)cut.slices + 1,
        .slices = (uint32_t)cut.slices,
        .partial = cut.slices > 1 ? p->workspace : NULL,
        .output = output_of(p),
        .unscale = ldexpf(1, -p->scale),
    };
}

/* --- starting --------------------------------------------------------------------- */

static rt_error add_sums(const struct gpu_product *p, int slices)
{
    const unsigned rows = (unsigned)smaller(p->m, BLOCKS_MAX);
    const struct hip_sums x = { p->workspace,     p->m,           p->n,
                                (uint32_t)slices, (uint32_t)rows, output_of(p) };
    const struct hip_launch launch = { (unsigned)divide_up(p->n, SUMS_THREADS), rows,
                                       (unsigned)p->count, SUMS_THREADS, p->stream };
    return hip_code_start("add_sums", &launch, &x, sizeof x);
}

/* Start as many rows of tiles at a time as fit a grid. */
static int start(const struct gpu_product *p)
{
    const struct gpu_kernel *k = p->kernel;
    const struct k_cut cut = cut_of(p);
    const size_t tiles_m = divide_up(p->m, (size_t)k->tile_m);
    struct hip_gemm x = arguments_of(p, cut);
    rt_error status = RT_SUCCESS;
    for (size_t first = 0; first < tiles_m && status == RT_SUCCESS;
         first += BLOCKS_MAX) {
        const struct hip_launch launch = {
            (unsigned)divide_up(p->n, (size_t)k->tile_n),
            (unsigned)smaller(tiles_m - first, BLOCKS_MAX),
            (unsigned)p->count * (unsigned)cut.slices, (unsigned)k->threads, p->stream
        };
        x.first_m = (uint32_t)first;
        status = hip_code_start(k->name, &launch, &x, sizeof x);
    }
    return status == RT_SUCCESS && x.partial ? add_sums(p, cut.slices) : status;
}

/* --- the rows --------------------------------------------------------------------- */

#define TERM(A, B, ACCUMULATOR) { A, B, ACCUMULATOR, false },
#define COUNT(...)              +1

/* Numbers of the programs, by their names. */
#define NUMBERS(NAME, PARTS, ACCUMULATORS, PROMOTE)                                      \
    PARTS_##NAME = (PARTS), SUMS_##NAME = (ACCUMULATORS), PROMOTE_##NAME = (PROMOTE),
enum { GEMM_PROGRAMS(NUMBERS) PROGRAMS_END };

#define WHAT_1       "MFMA, one buffer"
#define WHAT_1r      "MFMA, one buffer, the next tile in registers"
#define WHAT_2       "MFMA, two buffers"
#define WHAT_2r      "MFMA, two buffers, the next tile in registers"
#define END          ""
#define END_promote0 ".promote0"

/* Bytes of a part. */
enum {
    BYTES_f16 = 2,
    BYTES_bf16 = 2,
    BYTES_bf16_1k = 2,
    BYTES_fp8_fp8 = 1,
    BYTES_bf8_bf8 = 1
};

/* A thread has accumulators, the fragments of a k-step, the data that it loads, and
   addresses. */
#define REGISTERS(PROGRAM, BYTES, M, N, K, WAVE_M, WAVE_N, THREADS, AHEAD)               \
    (SUMS_##PROGRAM * WAVE_M * WAVE_N / 64 + PARTS_##PROGRAM * (WAVE_M + WAVE_N) / 16 +  \
     AHEAD * PARTS_##PROGRAM * (M + N) * K * BYTES / 4 / THREADS + 60)

#define GEMM(SET, FORMAT, FAMILY, SIDE, DEPTH, INPUT, RECIPE, PROGRAM, M, N, K, WAVE_M,  \
             WAVE_N, PIPELINE, BUFFERS, AHEAD, MORE)                                     \
    { .name =                                                                            \
          #FAMILY "." #RECIPE "." #INPUT "." #M "x" #N "x" #K "." #PIPELINE END##MORE,   \
      .what = WHAT_##PIPELINE,                                                           \
      .recipe = #RECIPE,                                                                 \
      .instruction = "mfma." #SIDE "x" #SIDE "x" #DEPTH ".f32." TEXT_##INPUT,            \
      .matrices = FORMAT_F32,                                                            \
      .format = FORMAT,                                                                  \
      .program = { PARTS_##PROGRAM,                                                      \
                   0 TERMS_##PROGRAM(COUNT),                                             \
                   { TERMS_##PROGRAM(TERM) },                                            \
                   PROMOTE_##PROGRAM },                                                  \
      .tile_m = M,                                                                       \
      .tile_n = N,                                                                       \
      .tile_k = K,                                                                       \
      .stages = BUFFERS,                                                                 \
      .threads = 64 * (M / WAVE_M) * (N / WAVE_N),                                       \
      .shared_bytes = BUFFERS * PARTS_##PROGRAM * (M + N) * K * BYTES_##INPUT,           \
      .registers = REGISTERS(PROGRAM, BYTES_##INPUT, M, N, K, WAVE_M, WAVE_N,            \
                             (64 * (M / WAVE_M) * (N / WAVE_N)), AHEAD),                 \
      .cluster_m = 1,                                                                    \
      .cluster_n = 1,                                                                    \
      .load_bytes = PARTS_##PROGRAM * (M + N) * BYTES_##INPUT,                           \
      .read_bytes = PARTS_##PROGRAM * (M / WAVE_M) * (N / WAVE_N) * (WAVE_M + WAVE_N) *  \
                    BYTES_##INPUT,                                                       \
      .slices_most = SLICES_MAX,                                                        \
      .architectures = SET,                                                              \
      .workspace = partial_bytes,                                                        \
      .launch = start },
#define F16_ANY(...)     GEMM(ON_ALL, FORMAT_F16, __VA_ARGS__)
#define BF16_OLD(...)    GEMM(ON_GFX908 | ON_GFX90A, FORMAT_BF16, __VA_ARGS__)
#define BF16_SECOND(...) GEMM(ON_GFX90A, FORMAT_BF16, __VA_ARGS__)
#define BF16_THIRD(...)  GEMM(ON_GFX942, FORMAT_BF16, __VA_ARGS__)
#define FP8_THIRD(...)   GEMM(ON_GFX942, FORMAT_E4M3FNUZ, __VA_ARGS__)
#define BF8_THIRD(...)   GEMM(ON_GFX942, FORMAT_E5M2FNUZ, __VA_ARGS__)

const struct gpu_kernel mfma_gemms[] = {
    /* clang-format off */
    GEMM_F16(F16_ANY)
    GEMM_BF16_1K(BF16_SECOND, bf16_1k)
    GEMM_BF16_1K(BF16_THIRD, bf16)
    GEMM_BF16(BF16_OLD)
    GEMM_FP8(FP8_THIRD, fp8_fp8)
    GEMM_FP8(BF8_THIRD, bf8_bf8)
    { 0 }
    /* clang-format on */
};
