/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of the GEMM kernels for sm_80 and later: everything except the multiplication.

   Launch: a block of warps for each tile_m x tile_n of D, for each slice of k, along y,
   and for each matrix of a batch, along z.  Tiles are taken in groups of GROUP rows, so
   that tiles in flight share operands in the L2 cache.  A warp has warp_m x warp_n of the
   tile, with all accumulators in registers.  It is a part, which is a type with these
   members:
   - S: its shape.
   - plainly, ahead: descriptions of such kernels, with one stage and with several.
   - start(): sets all accumulators to +0.
   - steps(stage): computes all k-steps of a stage.
   - store(x, i0, j0, shared): stores the outputs of the tile at (i0, j0), through shared
     memory that others may still read.

   A stage in shared memory has, for each part of A and then of B, lines of tile_bytes in
   a layout.  With several stages, cp.async fills the next stages while one is multiplied.
   With one stage, a tile is loaded through registers and then multiplied.

   Exact: each output is computed by one thread in the order of the recipe.  Elements of
   the tile beyond k are +0.  A step of zeros changes no accumulator, because accumulators
   of these units hold FP32 values, with all their bits, and never -0.  Lines beyond m and
   n repeat the last line, and their outputs are dropped. */
#ifndef BITCUT_GPU_CUDA_GEMM_SM80_CUH
#define BITCUT_GPU_CUDA_GEMM_SM80_CUH

#include "gpu/cuda/gemm.cuh"
#include "gpu/cuda/recipe.cuh"

#include <cmath>

namespace
{

/* --- a kernel's shape ------------------------------------------------------------- */

constexpr int CHUNK = 16; /* bytes of one copy */

/* The position of chunk c of 16 bytes of a line of TILE_BYTES in shared memory: at c ^
   (line / lines in 128 bytes), so that chunks with the same c in eight lines are in
   different banks. */
template <int TILE_BYTES> struct permuted {
    static constexpr int line_bytes = TILE_BYTES;
    static __device__ int at(int line, int chunk)
    {
        constexpr int chunks = TILE_BYTES / CHUNK, lines = 128 / TILE_BYTES;
        return line * line_bytes + (chunk ^ (line / lines % chunks)) * CHUNK;
    }
};

/* The layout without permutation, with one chunk of padding between lines. */
template <int TILE_BYTES> struct padded {
    static constexpr int line_bytes = TILE_BYTES + CHUNK;
    static __device__ int at(int line, int chunk)
    {
        return line * line_bytes + chunk * CHUNK;
    }
};

template <int FORMAT, class RECIPE, int TILE_M, int TILE_N, int TILE_K, int WARP_M,
          int WARP_N, int STAGES, template <int> class LAYOUT = permuted>
struct shape {
    using R = RECIPE;
    using layout = LAYOUT<TILE_K * (int)part_bytes(FORMAT)>;
    static constexpr int format = FORMAT;
    static constexpr int tile_m = TILE_M, tile_n = TILE_N, tile_k = TILE_K;
    static constexpr int tile_bytes = TILE_K * (int)part_bytes(FORMAT);
    static constexpr int warp_m = WARP_M, warp_n = WARP_N, stages = STAGES;
    static constexpr int warps_m = TILE_M / WARP_M, warps_n = TILE_N / WARP_N;
    static constexpr int threads = 32 * warps_m * warps_n;
    static constexpr int line_bytes = layout::line_bytes;
    static constexpr int a_bytes = R::parts * TILE_M * line_bytes; /* bytes of a stage */
    static constexpr int b_bytes = R::parts * TILE_N * line_bytes;
    static constexpr int stage_bytes = a_bytes + b_bytes;
    static constexpr int shared_bytes = STAGES * stage_bytes;

    /* A thread has accumulators, the fragments of a k-step, and addresses. */
    static constexpr int fragments = R::parts * (WARP_M / 4 + WARP_N / 4);
    static constexpr int registers =
        R::accumulators * WARP_M * WARP_N / 32 + fragments + 40;
    static constexpr int load_bytes =
        R::parts * (TILE_M + TILE_N) * (int)part_bytes(FORMAT);
    static constexpr int read_bytes = /* each warp reads its lines once for all terms */
        R::parts * warps_m * warps_n * (WARP_M + WARP_N) * (int)part_bytes(FORMAT);
    static_assert(!R::promote || (R::promote == 1 && R::in_first == 1),
                  "never, or every k-step");
    static_assert(TILE_M % WARP_M == 0 && TILE_N % WARP_N == 0);
    static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0 && tile_bytes % STEP_BYTES == 0);
    static_assert(TILE_M * tile_bytes % (threads * CHUNK) == 0);
    static_assert(TILE_N * tile_bytes % (threads * CHUNK) == 0);
};

struct arguments {
    const char *a, *b; /* parts */
    size_t a_stride, b_stride;
    size_t m, n, row_bytes;
    size_t k_bytes, slice_bytes; /* whole k-steps    */
    unsigned tiles_m, tiles_n;
    float unscale, alpha, beta;
    const float *c; /* NULL: beta is zero */
    size_t ldc, stride_c;
    float *d;
    size_t ldd, stride_d;
    float *partial; /* [matrix][slice][m][n], NULL for one slice */
    struct lines lines;
};

/* --- shared memory ---------------------------------------------------------------- */

/* Copy 16 bytes, or zeros if the source is not `there`; asynchronously or not. */
template <bool ASYNCHRONOUS>
__device__ void copy_chunk(char *to, const char *from, bool there)
{
    if constexpr (ASYNCHRONOUS) {
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
            "l"(from), "r"(there ? CHUNK : 0));
    } else {
        *(uint4 *)to = there ? *(const uint4 *)from : uint4{ 0, 0, 0, 0 };
    }
}

/* Load LINES lines of each part, from bytes [from, from + TILE_BYTES) of k that are
   before `end`. */
template <class S, int LINES>
__device__ void load_operand(char *to, const char *parts, size_t first, size_t lines,
                             size_t row_bytes, size_t from, size_t end)
{
    constexpr int chunks = S::tile_bytes / CHUNK;
    constexpr int each = S::R::parts * LINES * chunks / S::threads;
    const int chunk = threadIdx.x % chunks;
    const bool there = from + chunk * CHUNK < end;
#pragma unroll
    for (int i = 0; i < each; i++) {
        const int at = (threadIdx.x + i * S::threads) / chunks;
        const int part = at / LINES, line = at % LINES;
        const size_t row = first + line < lines ? first + line : lines - 1;
        copy_chunk<(S::stages > 1)>(
            to + part * LINES * S::line_bytes + S::layout::at(line, chunk),
            parts + (part * lines + row) * row_bytes + from + chunk * CHUNK, there);
    }
}

template <class S>
__device__ void load_stage(char *stage, const arguments &x, size_t i0, size_t j0,
                           size_t from, size_t end)
{
    load_operand<S, S::tile_m>(stage, x.a + blockIdx.z * x.a_stride, i0, x.m, x.row_bytes,
                               from, end);
    load_operand<S, S::tile_n>(stage + S::a_bytes, x.b + blockIdx.z * x.b_stride, j0, x.n,
                               x.row_bytes, from, end);
}

/* --- outputs ---------------------------------------------------------------------- */

/* The address of output (i, j) of this block's slice and matrix. */
__device__ float *output_at(const arguments &x, size_t i, size_t j)
{
    const size_t matrix = blockIdx.z, sums = matrix * gridDim.y + blockIdx.y;
    return x.partial ? x.partial + (sums * x.m + i) * x.n + j
                     : x.d + matrix * x.stride_d + i * x.ldd + j;
}

/* Store outputs (i, j) and (i, j + 1) of a slice, if D has them. */
__device__ void store_pair(const arguments &x, float v0, float v1, size_t i, size_t j)
{
    if (i >= x.m || j >= x.n) return;
    const bool both = j + 1 < x.n;
    float *to = output_at(x, i, j);
    if (!x.partial) {
        const struct lines lines = lines_of(x.lines, blockIdx.z);
        const size_t at = blockIdx.z * x.stride_c + i * x.ldc + j;
        v0 = output_of(x.alpha, lines_restore(v0, lines, i, j), x.beta, x.c, at);
        if (both)
            v1 = output_of(x.alpha, lines_restore(v1, lines, i, j + 1), x.beta, x.c,
                           at + 1);
    }
    if (both && (uintptr_t)to % sizeof(float2) == 0) {
        *(float2 *)to = { v0, v1 };
    } else {
        to[0] = v0;
        if (both) to[1] = v1;
    }
}

/* --- the kernel ------------------------------------------------------------------- */

constexpr unsigned GROUP = 8;

__device__ void tile_of_block(size_t &i, size_t &j, const arguments &x)
{
    const unsigned per_group = GROUP * x.tiles_n, first = blockIdx.x / per_group * GROUP;
    const unsigned left = x.tiles_m - first, rows = left < GROUP ? left : GROUP;
    const unsigned at = blockIdx.x % per_group;
    i = first + at % rows;
    j = at / rows;
}

/* One stage: load and multiply alternate. */
template <class PART>
__device__ void run_plainly(PART &w, char *stage, const arguments &x, size_t i0,
                            size_t j0, size_t from, size_t end)
{
    using S = typename PART::S;
    for (; from < end; from += S::tile_bytes) {
        load_stage<S>(stage, x, i0, j0, from, end);
        __syncthreads();
        w.steps(stage);
        __syncthreads();
    }
}

/* Several stages: copies of the next tiles are in progress while one is multiplied. */
template <class PART>
__device__ void run_ahead(PART &w, char *stages, const arguments &x, size_t i0, size_t j0,
                          size_t from, size_t end)
{
    using S = typename PART::S;
    size_t ahead = from;
    const auto fetch = [&](int stage) {
        if (ahead < end)
            load_stage<S>(stages + stage * S::stage_bytes, x, i0, j0, ahead, end);
        ahead += S::tile_bytes;
        asm volatile("cp.async.commit_group;");
    };
    for (int s = 0; s < S::stages - 1; s++) fetch(s);
    for (int now = 0, next = S::stages - 1; from < end; from += S::tile_bytes) {
        asm volatile("cp.async.wait_group %0;" ::"n"(S::stages - 2));
        __syncthreads();
        fetch(next);
        w.steps(stages + now * S::stage_bytes);
        next = now;
        now = now + 1 == S::stages ? 0 : now + 1;
    }
}

template <class PART>
__global__ void __launch_bounds__(PART::S::threads) gemm_kernel(const arguments x)
{
    using S = typename PART::S;
    extern __shared__ __align__(128) char shared[];
    PART w;
    size_t i0, j0;
    tile_of_block(i0, j0, x);
    i0 *= S::tile_m;
    j0 *= S::tile_n;
    const size_t from = blockIdx.y * x.slice_bytes;
    const size_t end =
        from + x.slice_bytes < x.k_bytes ? from + x.slice_bytes : x.k_bytes;
    w.start();
    if constexpr (S::stages == 1) run_plainly(w, shared, x, i0, j0, from, end);
    else run_ahead(w, shared, x, i0, j0, from, end);
    w.store(x, i0, j0, shared);
}

/* --- launching -------------------------------------------------------------------- */

template <class S> k_cut cut_of(const struct gpu_product *p)
{
    return k_cut_of(p->k, p->slices, S::format, STEP_BYTES);
}

template <class S> size_t sums_left(const struct gpu_product *p)
{
    const k_cut cut = cut_of<S>(p);
    return makes_sums(p, cut) ? sums_bytes(p, cut) : 0;
}

template <class PART> int launch(const struct gpu_product *p)
{
    using S = typename PART::S;
    const k_cut cut = cut_of<S>(p);
    arguments x = {};
    x.a = (const char *)p->a.at;
    x.b = (const char *)p->b.at;
    x.a_stride = p->a.stride;
    x.b_stride = p->b.stride;
    x.m = p->m;
    x.n = p->n;
    x.row_bytes = p->a.row_bytes;
    x.k_bytes = cut.bytes;
    x.slice_bytes = cut.slice_bytes;
    x.tiles_m = (unsigned)divide_up(p->m, S::tile_m);
    x.tiles_n = (unsigned)divide_up(p->n, S::tile_n);
    x.unscale = ldexpf(1, -p->scale);
    x.alpha = p->alpha;
    x.beta = p->beta;
    x.c = p->c.at;
    x.ldc = p->c.ld;
    x.stride_c = p->c.stride;
    x.d = p->d.at;
    x.ldd = p->d.ld;
    x.stride_d = p->d.stride;
    x.lines = p->lines;
    if (makes_sums(p, cut)) x.partial = (float *)p->workspace;
    const dim3 grid(x.tiles_m * x.tiles_n, cut.slices, (unsigned)p->count);
    const cudaError_t status = cudaFuncSetAttribute(
        gemm_kernel<PART>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::shared_bytes);
    if (status != cudaSuccess) return status;
    gemm_kernel<PART><<<grid, S::threads, S::shared_bytes, p->stream>>>(x);
    const cudaError_t started = cudaGetLastError();
    return started == cudaSuccess && x.partial ? sums_add(p, cut.slices) : started;
}

/* --- the rows --------------------------------------------------------------------- */

template <int FORMAT>
constexpr const char *instruction = FORMAT == FORMAT_F16    ? "mma.m16n8k16.f32.f16"
                                    : FORMAT == FORMAT_BF16 ? "mma.m16n8k16.f32.bf16"
                                                         : "mma.m16n8k8.f32.tf32";

template <class PART>
constexpr struct gpu_kernel row_of(const char *name, const char *recipe)
{
    using S = typename PART::S;
    struct gpu_kernel k = {};
    k.name = name;
    k.what = S::stages == 1 ? PART::plainly : PART::ahead;
    k.recipe = recipe;
    k.instruction = instruction<S::format>;
    k.matrices = FORMAT_F32;
    k.format = S::format;
    k.program = S::R::row;
    k.tile_m = S::tile_m;
    k.tile_n = S::tile_n;
    k.tile_k = S::tile_k;
    k.stages = S::stages;
    k.threads = S::threads;
    k.shared_bytes = S::shared_bytes;
    k.registers = S::registers < 255 ? S::registers : 255;
    k.cluster_m = k.cluster_n = 1;
    k.load_bytes = S::load_bytes;
    k.read_bytes = S::read_bytes;
    k.slices_most = SLICES_MAX;
    k.architectures = sm_from(80);
    k.workspace = sums_left<S>;
    k.launch = launch<PART>;
    return k;
}

} // namespace

#endif
