/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs with a narrow D on Hopper: their launch, and their rows. */
#include "gpu/cuda/gemv_sm90.cuh"
#include "gpu/cuda/start_sm90.cuh"

#include <cmath>

namespace
{

/* --- launching ------------------------------------------------------------------------
 */

/* The distance of lines does not matter if there is one. */
side side_of(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct operand x = operand_of(w, which);
    const size_t ld = x.matrix->ld;
    const size_t line = x.lines == 1 ? divide_up(x.k, EACH) * EACH : x.across ? 1 : ld;
    return { (const float *)x.matrix->at, x.matrix->stride, line,
             x.across ? ld : 1,           x.lines,          ldexpf(1, x.split->scale) };
}

/* Whether TMA copies the matrices of an operand: rows begin at whole 16 bytes. */
bool is_mapped(const side &x, size_t k, size_t count)
{
    const size_t ld = x.along() ? x.line_step : x.k_step, most = (size_t)1 << 30;
    return k && k <= most && x.lines <= most && ld % EACH == 0 &&
           (count == 1 || x.stride % EACH == 0) && (uintptr_t)x.at % 16 == 0;
}

/* Make the map of boxes of `lines` lines and CHUNK_K of k. */
int map_make(CUtensorMap *map, const side &x, int lines, size_t k, size_t count)
{
    const bool along = x.along();
    const size_t ld = along ? x.line_step : x.k_step;
    const cuuint64_t size[] = { along ? k : x.lines, along ? x.lines : k,
                                x.stride ? count : 1 };
    const cuuint64_t strides[] = { ld * sizeof(float),
                                   (size[2] > 1 ? x.stride : ld) * sizeof(float) };
    const cuuint32_t box[] = { (cuuint32_t)(along ? CHUNK_K : lines),
                               (cuuint32_t)(along ? lines : CHUNK_K), 1 };
    const cuuint32_t every[] = { 1, 1, 1 };
    const auto swizzle = !along && lines == LINES ? CU_TENSOR_MAP_SWIZZLE_128B
                                                  : CU_TENSOR_MAP_SWIZZLE_NONE;
    const encode_function encode = encode_known();
    if (!encode) return cudaErrorNotSupported;
    return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)x.at, size, strides,
                  box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

outputs outputs_of(const struct bitcut_matrix &x, bool turned)
{
    const bool along = turned == (x.layout == BITCUT_ROW_MAJOR);
    return { (float *)x.to, x.stride, along ? 1 : x.ld, along ? x.ld : 1 };
}

/* Blocks of a cluster: as many as leave the fewest multiprocessors without work, for at
   most one block a slice, and all slices.  A multiprocessor holds two blocks, so that an
   H100 holds 132 clusters of two at a time, about 60 of four and 28 of eight
   (gpu/module/module.h). */
int cluster_of(size_t blocks, int slices)
{
    constexpr size_t most[] = { 264, 132, 60, 28 };
    int best = 1;
    double least = INFINITY;
    for (int i = 0; i < 4; i++) {
        const int cluster = 1 << i;
        const double rounds = (double)divide_up(blocks, most[i]) / cluster;
        if (cluster <= slices && slices <= cluster * WARPS && rounds < least)
            best = cluster, least = rounds;
    }
    return best;
}

arguments arguments_of(const struct gpu_work *w, bool turned)
{
    const struct bitcut_gemm &g = w->gemm;
    const k_cut cut = k_cut_of(g.k, w->plan.order.slices, w->kernel->format, STEP_BYTES);
    arguments x = {};
    x.wide = side_of(w, turned ? BITCUT_B : BITCUT_A);
    x.narrow = side_of(w, turned ? BITCUT_A : BITCUT_B);
    x.mapped = is_mapped(x.wide, g.k, g.count) && is_mapped(x.narrow, g.k, g.count);
    x.d = outputs_of(g.d, turned);
    if (gemm_reads_c(&g)) x.c = outputs_of(g.c, turned);
    x.k = g.k;
    x.slice_k = cut.slice_bytes / part_bytes(w->kernel->format);
    x.slices = cut.slices;
    x.unscale = ldexpf(1, -w->plan.scale);
    x.alpha = float_of(g.alpha);
    x.beta = float_of(g.beta);
    return x;
}

/* Start for `count` matrices from this one on. */
int start_some(void (*kernel)(arguments, maps), int bytes, const arguments &x,
               int cluster, size_t first, size_t count, void *stream)
{
    arguments now = x;
    now.wide.at += first * x.wide.stride;
    now.narrow.at += first * x.narrow.stride;
    now.d.at += first * x.d.stride;
    if (x.c.at) now.c.at += first * x.c.stride;
    const unsigned blocks = (unsigned)divide_up(x.wide.lines, LINES);
    maps m = {};
    int status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (!status && x.mapped) status = map_make(&m.wide, now.wide, LINES, x.k, count);
    if (!status && x.mapped) status = map_make(&m.narrow, now.narrow, NARROW, x.k, count);
    if (status) return status;
    return launch_kernel(kernel,
                         { dim3(blocks, (unsigned)cluster, (unsigned)count),
                           GROUP_THREADS, (size_t)bytes, dim3(1, (unsigned)cluster),
                           (cudaStream_t)stream, false },
                         now, m);
}

template <class R, int FORMAT> int start(const struct gpu_work *w, void *stream)
{
    const struct bitcut_gemm &g = w->gemm;
    const bool turned = g.m <= g.n;
    const size_t most = GPU_COUNT_MAX;
    arguments x = arguments_of(w, turned);
    const int cluster = cluster_of(divide_up(x.wide.lines, LINES) * g.count, x.slices);
    x.in_block = (int)divide_up(x.slices, cluster);
    const auto kernel =
        turned ? gemv_kernel<R, FORMAT, true> : gemv_kernel<R, FORMAT, false>;
    int status = cudaSuccess;
    for (size_t i = 0; i < g.count && !status; i += most)
        status = start_some(kernel, shared_bytes<R>, x, cluster, i,
                            g.count - i < most ? g.count - i : most, stream);
    return status;
}

/* --- the rows -------------------------------------------------------------------------
 */

/* Clocks of an instruction whose sum the next one needs, and of passing on accumulators.
 */
constexpr int MMA_CLOCKS = 34, TURN_CLOCKS = 90;

/* The number of instructions of a k-step that add to one accumulator in turn, at most. */
template <class R> constexpr int depth_of()
{
    int of[R::accumulators] = {}, depth = 0;
    for (const recipe_term t : R::at) of[t.accumulator] += t.accumulator || !R::promote;
    for (const int d : of) depth = d > depth ? d : depth;
    return depth;
}

template <class R, int FORMAT>
constexpr struct gpu_kernel row_of(const char *name, const char *recipe)
{
    struct gpu_kernel k = {};
    k.name = name;
    k.what = "mma.sync, FP32 values split in registers, D of up to 8 rows or columns";
    k.recipe = recipe;
    k.instruction =
        FORMAT == FORMAT_F16 ? "mma.m16n8k16.f32.f16" : "mma.m16n8k16.f32.bf16";
    k.matrices = FORMAT_F32;
    k.format = FORMAT;
    k.program = R::row;
    k.tile_m = NARROW;
    k.tile_n = LINES;
    k.tile_k = CHUNK_K;
    k.stages = RING;
    k.threads = GROUP_THREADS;
    k.shared_bytes = shared_bytes<R>;
    k.registers = 255;
    k.cluster_m = k.cluster_n = 1;
    k.load_bytes = (NARROW + LINES) * (int)sizeof(float);
    k.slices_most = WARPS * CLUSTER_MAX;
    k.side_most = NARROW;
    k.chain_clocks = STEPS * depth_of<R>() * MMA_CLOCKS + TURN_CLOCKS;
    k.architectures = sm(90);
    k.start = start<R, FORMAT>;
    return k;
}

} // namespace

#define ROW(RECIPE, TERMS, FORMAT, MORE)                                                 \
    row_of<TERMS, FORMAT>("gemv." RECIPE MORE, RECIPE)

const struct gpu_kernel gemv_sm90[] = {
    ROW("ootomo", main_last<4>, FORMAT_F16, ".f16.8x32x64.promote4"),
    ROW("ootomo", main_last<1>, FORMAT_F16, ".f16.8x32x64"),
    ROW("bf16x3", three<0>, FORMAT_BF16, ".bf16.8x32x64"),
    ROW("bf16x6", six<0>, FORMAT_BF16, ".bf16.8x32x64"),
    ROW("bf16x9", nine<0>, FORMAT_BF16, ".bf16.8x32x64"),
    {}
};
