/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs with a narrow D on Hopper: their launch, and their rows. */
#include "gpu/cuda/gemv_sm90.cuh"
#include "gpu/cuda/launch.cuh"

#include <atomic>
#include <cmath>

namespace
{

/* --- launching ------------------------------------------------------------------------
 */

/* The distance of lines does not matter if there is one.  Values along k of the narrow
   operand, and of the wide one in either layout, are copied in fours if they are aligned
   in each matrix, and the last four of a row exist: a copy of less than four is one of
   four to tools that check addresses. */
side side_of(const struct gpu_work *w, enum bitcut_operand which, bool is_wide)
{
    const struct operand x = operand_of(w, which);
    const struct bitcut_matrix &m = *x.matrix;
    const size_t line = x.lines == 1 ? divide_up(x.k, EACH) * EACH : x.across ? 1 : m.ld;
    const size_t k_step = x.across ? m.ld : 1;
    const size_t row = k_step == 1 ? line : k_step;
    const size_t length = k_step == 1 ? x.k : x.lines;
    const bool fours = (is_wide || k_step == 1) && row % EACH == 0 && length % EACH == 0 &&
                       (w->gemm.count == 1 || m.stride % EACH == 0) &&
                       (uintptr_t)m.at % sizeof(float4) == 0;
    return { (const float *)m.at,       m.stride, line, k_step, x.lines,
             ldexpf(1, x.split->scale), fours };
}

outputs outputs_of(const struct bitcut_matrix &x, bool turned)
{
    const bool along = turned == (x.layout == BITCUT_ROW_MAJOR);
    return { (float *)x.to, x.stride, along ? 1 : x.ld, along ? x.ld : 1 };
}

arguments arguments_of(const struct gpu_work *w, bool turned)
{
    const struct bitcut_gemm &g = w->gemm;
    const k_cut cut = k_cut_of(g.k, w->plan.order.slices, w->kernel->format, STEP_BYTES);
    arguments x = {};
    x.wide = side_of(w, turned ? BITCUT_B : BITCUT_A, true);
    x.narrow = side_of(w, turned ? BITCUT_A : BITCUT_B, false);
    x.d = outputs_of(g.d, turned);
    if (gemm_reads_c(&g)) x.c = outputs_of(g.c, turned);
    x.k = g.k;
    x.slice_k = cut.slice_bytes / part_bytes(w->kernel->format);
    x.slices = cut.slices;
    x.groups = (int)divide_up(x.narrow.lines, NARROW);
    x.unscale = ldexpf(1, -w->plan.scale);
    x.alpha = float_of(g.alpha);
    x.beta = float_of(g.beta);
    return x;
}

/* Settings belong to the context; a device may have several contexts in succession. */
int settings_make(void (*kernel)(arguments), int bytes, int cluster)
{
    const int status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    return status || cluster <= CLUSTER_MAX
               ? status
               : (int)cudaFuncSetAttribute(
                     kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

/* Start for `count` matrices from this one on. */
int start_some(void (*kernel)(arguments), int bytes, const arguments &x, int cluster,
               size_t first, size_t count, void *stream)
{
    arguments now = x;
    now.wide.at += first * x.wide.stride;
    now.narrow.at += first * x.narrow.stride;
    now.d.at += first * x.d.stride;
    if (x.c.at) now.c.at += first * x.c.stride;
    const unsigned blocks = (unsigned)(divide_up(x.wide.lines, LINES) * x.groups);
    const int status = settings_make(kernel, bytes, cluster);
    if (status) return status;
    return launch_kernel(kernel,
                         { dim3(blocks, (unsigned)cluster, (unsigned)count),
                           GROUP_THREADS, (size_t)bytes, dim3(1, (unsigned)cluster),
                           (cudaStream_t)stream, false },
                         now);
}

/* The largest cluster of a kernel, queried once for each device: a device may have room
   for larger clusters than every device has. */
template <auto KERNEL> int cluster_most(int *most, int bytes)
{
    static std::atomic<int> known[DEVICES_MAX];
    int device = 0, clusters = 0;
    const int status = cudaGetDevice(&device);
    *most = !status && device < DEVICES_MAX ? known[device].load() : 0;
    if (status || *most) return status;
    const launch_config config({ dim3(1, GPU_NARROW_CLUSTER), GROUP_THREADS,
                                 (size_t)bytes, dim3(1, GPU_NARROW_CLUSTER), NULL,
                                 false });
    if (settings_make(KERNEL, bytes, GPU_NARROW_CLUSTER) ||
        cudaOccupancyMaxActiveClusters(&clusters, KERNEL, &config.is))
        cudaGetLastError();
    *most = clusters ? GPU_NARROW_CLUSTER : CLUSTER_MAX;
    if (device < DEVICES_MAX) known[device] = *most;
    return status;
}

/* The logarithm of the smallest power of two that is not less than this. */
constexpr int log_up(size_t x)
{
    int log = 0;
    while (((size_t)1 << log) < x) log++;
    return log;
}

/* Divide the slices among the blocks of a cluster and the warps of a block.  Returns the
   number of blocks of a cluster. */
int cluster_make(arguments *x, int wanted, int most, int in_block)
{
    const int least = (int)divide_up(x->slices, in_block);
    int cluster = wanted < most ? wanted : most;
    cluster = cluster < x->slices ? cluster : x->slices;
    cluster = cluster > least ? cluster : least;
    x->in_block = (int)divide_up(x->slices, cluster);
    cluster = (int)divide_up(x->slices, x->in_block);
    x->turns = log_up(WARPS / x->in_block + 1) - 1;
    x->outputs = log_up(LINES * (x->narrow.lines < NARROW ? x->narrow.lines : NARROW));
    x->share = log_up(divide_up((size_t)1 << x->outputs, cluster));
    return cluster;
}

template <class R, int FORMAT, bool TURNED, int STEPS>
int start_with(const struct gpu_work *w, arguments x, int wanted, void *stream)
{
    constexpr auto kernel = gemv_kernel<R, FORMAT, TURNED, STEPS>;
    constexpr int bytes = shared_bytes<R, STEPS>;
    const size_t most = GPU_COUNT_MAX, count = w->gemm.count;
    int cluster = CLUSTER_MAX, status = cudaSuccess;
    if (wanted > CLUSTER_MAX) status = cluster_most<kernel>(&cluster, bytes);
    cluster = cluster_make(&x, wanted, cluster, in_block_most<R>);
    for (size_t i = 0; i < count && !status; i += most)
        status = start_some(kernel, bytes, x, cluster, i,
                            count - i < most ? count - i : most, stream);
    return status;
}

/* Whether chunks have 64 of k: they take fewer turns, but a multiprocessor has room for
   one block, not two.  They are faster in fewer rounds of blocks; with one round, if
   there is one slice, or a warp has several chunks. */
bool takes_long_chunks(const arguments &x, size_t blocks, int cluster)
{
    enum { MULTIPROCESSORS = 132, CHUNKS = 4 };
    const size_t rounds = divide_up(blocks * cluster, MULTIPROCESSORS),
                 rounds_of_two = 2 * divide_up(blocks * cluster, 2 * MULTIPROCESSORS);
    if (rounds > 1) return rounds < rounds_of_two;
    return x.k >= (x.slices == 1 ? 2 : WARPS * CHUNKS * cluster) * (size_t)BLOCK_K;
}

template <class R, int FORMAT, bool TURNED>
int start_turned(const struct gpu_work *w, void *stream)
{
    const arguments x = arguments_of(w, TURNED);
    const size_t blocks = divide_up(x.wide.lines, LINES) * x.groups * w->gemm.count;
    const int wanted = gpu_narrow_cluster(blocks, x.k);
    if constexpr (R::promote <= 2 * R::in_first)
        if (!takes_long_chunks(x, blocks, wanted < x.slices ? wanted : x.slices))
            return start_with<R, FORMAT, TURNED, 2>(w, x, wanted, stream);
    return start_with<R, FORMAT, TURNED, 4>(w, x, wanted, stream);
}

template <class R, int FORMAT> int start(const struct gpu_work *w, void *stream)
{
    return w->gemm.m <= w->gemm.n ? start_turned<R, FORMAT, true>(w, stream)
                                  : start_turned<R, FORMAT, false>(w, stream);
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
    k.what = "mma.sync, FP32 values split in registers, D of up to 64 rows or columns";
    k.recipe = recipe;
    k.instruction =
        FORMAT == FORMAT_F16 ? "mma.m16n8k16.f32.f16" : "mma.m16n8k16.f32.bf16";
    k.matrices = FORMAT_F32;
    k.format = FORMAT;
    k.program = R::row;
    k.tile_m = NARROW;
    k.tile_n = LINES;
    k.tile_k = 4 * STEP_K;
    k.stages = RING;
    k.threads = GROUP_THREADS;
    k.shared_bytes = shared_bytes<R, 4>;
    k.registers = 255;
    k.cluster_m = k.cluster_n = 1;
    k.load_bytes = (NARROW + LINES) * (int)sizeof(float);
    k.slices_most = in_block_most<R> * CLUSTER_MAX;
    k.side_most = 8 * NARROW;
    k.chain_clocks = 4 * depth_of<R>() * MMA_CLOCKS + TURN_CLOCKS;
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
