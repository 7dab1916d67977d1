/* GEMMs by mma.sync, sm_80 and later: every recipe of one, two or three words from one
   core.

   Instruction: m16n8k16 (f16, bf16) or m16n8k8 (tf32); either has 32 bytes of k in a row
   of A or a column of B, so tiles are counted in bytes of k, and fragments are the same
   bytes of any format (PTX ISA, "Matrix fragments for mma.m16n8k16", ldmatrix).

   Launch: a block of warps for each tile_m x tile_n of D and each slice of k, tiles in
   groups of GROUP rows so that those in flight share operands in the L2 cache.  A warp
   has warp_m x warp_n of the tile, all accumulators in registers.

   Layout of a stage in shared memory: for each word of A, then of B, lines of tile_bytes
   in which chunk c of 16 bytes lies at c ^ (line / lines in 128 bytes): the eight lines
   that ldmatrix reads at a time are in different banks.

   Stages: with more than one, cp.async fills the stages ahead while one is multiplied;
   with one, a tile is loaded through registers and multiplied in turn.

   Exact: each output is computed by one thread in the order of the recipe.  What the tile
   has beyond k is +0, and a step of zeros changes no accumulator: those of these units
   hold FP32 values, which they keep whole, and never -0.  Lines beyond m and n repeat the
   last one, and their outputs are dropped. */
#include "gpu/gemm.cuh"
#include "gpu/recipe.cuh"

#include <cmath>

namespace
{

/* --- a kernel's shape ------------------------------------------------------------- */

constexpr int CHUNK = 16, STEP = 32; /* bytes: of one copy, of k in an instruction */

template <gpu_format FORMAT, class RECIPE, int TILE_M, int TILE_N, int TILE_K, int WARP_M,
          int WARP_N, int STAGES>
struct shape {
    using R = RECIPE;
    static constexpr gpu_format format = FORMAT;
    static constexpr int tile_m = TILE_M, tile_n = TILE_N, tile_k = TILE_K;
    static constexpr int tile_bytes = TILE_K * (int)format_bytes(FORMAT);
    static constexpr int warp_m = WARP_M, warp_n = WARP_N, stages = STAGES;
    static constexpr int warps_m = TILE_M / WARP_M, warps_n = TILE_N / WARP_N;
    static constexpr int threads = 32 * warps_m * warps_n;
    static constexpr int fragments_m = WARP_M / 16, fragments_n = WARP_N / 8;
    static constexpr int a_bytes = R::words * TILE_M * tile_bytes; /* of a stage */
    static constexpr int b_bytes = R::words * TILE_N * tile_bytes;
    static constexpr int stage_bytes = a_bytes + b_bytes;
    static constexpr int shared_bytes = STAGES * stage_bytes;
    static_assert(R::promote <= 1, "never, or every k-step");
    static_assert(TILE_M % WARP_M == 0 && TILE_N % WARP_N == 0);
    static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0 && tile_bytes % STEP == 0);
    static_assert(a_bytes % (threads * CHUNK) == 0 && b_bytes % (threads * CHUNK) == 0);
};

struct arguments {
    const char *a, *b; /* words */
    size_t m, n, row_bytes;
    size_t k_bytes, slice_bytes; /* of whole k-steps */
    unsigned tiles_m, tiles_n;
    float unscale, alpha, beta;
    const float *c; /* NULL: beta is zero */
    size_t ldc;
    float *d;
    size_t ldd;
    float *partial; /* [slice][m][n], NULL for one slice */
};

/* --- shared memory ---------------------------------------------------------------- */

/* Where a chunk of a line is, in bytes. */
template <int TILE_BYTES> __device__ int chunk_at(int line, int chunk)
{
    constexpr int chunks = TILE_BYTES / CHUNK, lines = 128 / TILE_BYTES;
    return line * TILE_BYTES + (chunk ^ (line / lines % chunks)) * CHUNK;
}

__device__ unsigned shared_address(const void *x)
{
    return (unsigned)__cvta_generic_to_shared(x);
}

/* 16 bytes, or zeros if the source is not `there`; asynchronous or not. */
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

/* LINES lines of each word, from bytes [from, from + TILE_BYTES) of k that are before
   `end`. */
template <class S, int LINES>
__device__ void load_operand(char *to, const char *words, size_t first, size_t lines,
                             size_t row_bytes, size_t from, size_t end)
{
    constexpr int chunks = S::tile_bytes / CHUNK;
    constexpr int each = S::R::words * LINES * chunks / S::threads;
    const int chunk = threadIdx.x % chunks;
    const bool there = from + chunk * CHUNK < end;
#pragma unroll
    for (int i = 0; i < each; i++) {
        const int at = (threadIdx.x + i * S::threads) / chunks;
        const int word = at / LINES, line = at % LINES;
        const size_t row = first + line < lines ? first + line : lines - 1;
        copy_chunk<(S::stages > 1)>(
            to + word * LINES * S::tile_bytes + chunk_at<S::tile_bytes>(line, chunk),
            words + (word * lines + row) * row_bytes + from + chunk * CHUNK, there);
    }
}

template <class S>
__device__ void load_stage(char *stage, const arguments &x, size_t i0, size_t j0,
                           size_t from, size_t end)
{
    load_operand<S, S::tile_m>(stage, x.a, i0, x.m, x.row_bytes, from, end);
    load_operand<S, S::tile_n>(stage + S::a_bytes, x.b, j0, x.n, x.row_bytes, from, end);
}

/* --- the instruction -------------------------------------------------------------- */

__device__ void load_matrices(uint32_t &x0, uint32_t &x1, uint32_t &x2, uint32_t &x3,
                              const char *at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x0), "=r"(x1), "=r"(x2), "=r"(x3)
                 : "r"(shared_address(at)));
}

#define MMA(FORMAT, SHAPE)                                                               \
    asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." FORMAT "." FORMAT ".f32 "     \
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"             \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),     \
                   "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]))

template <gpu_format FORMAT>
__device__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    const float (&c)[4])
{
    if constexpr (FORMAT == GPU_F16) MMA("f16", "m16n8k16");
    else if constexpr (FORMAT == GPU_BF16) MMA("bf16", "m16n8k16");
    else MMA("tf32", "m16n8k8");
}

/* --- a warp's part ---------------------------------------------------------------- */

/* What a warp computes.  With promotion accumulator 0 is the FP32 register, and the
   unit's starts from +0 in every k-step. */
template <class S> struct warp_part {
    float sum[S::R::accumulators][S::fragments_m][S::fragments_n][4];
    uint32_t a[S::R::words][S::fragments_m][4], b[S::R::words][S::fragments_n][2];
    int lane, i0, j0; /* where it is in the tile */

    __device__ void start()
    {
        const int warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        i0 = warp % S::warps_m * S::warp_m;
        j0 = warp / S::warps_m * S::warp_n;
#pragma unroll
        for (int s = 0; s < S::R::accumulators; s++)
#pragma unroll
            for (int i = 0; i < S::fragments_m; i++)
#pragma unroll
                for (int j = 0; j < S::fragments_n; j++)
#pragma unroll
                    for (int q = 0; q < 4; q++) sum[s][i][j][q] = 0;
    }

    /* Fragments of k-step `step` of a stage. */
    __device__ void load(const char *stage, int step)
    {
        const char *at_a =
            stage + chunk_at<S::tile_bytes>(i0 + lane % 16, 2 * step + lane / 16);
        const char *at_b = stage + S::a_bytes +
                           chunk_at<S::tile_bytes>(j0 + lane % 8 + lane / 16 * 8,
                                                   2 * step + lane / 8 % 2);
#pragma unroll
        for (int w = 0; w < S::R::words; w++) {
#pragma unroll
            for (int i = 0; i < S::fragments_m; i++)
                load_matrices(a[w][i][0], a[w][i][1], a[w][i][2], a[w][i][3],
                              at_a + (w * S::tile_m + 16 * i) * S::tile_bytes);
#pragma unroll
            for (int j = 0; j < S::fragments_n; j += 2)
                load_matrices(b[w][j][0], b[w][j][1], b[w][j + 1][0], b[w][j + 1][1],
                              at_b + (w * S::tile_n + 8 * j) * S::tile_bytes);
        }
    }

    template <int A, int B, int TO> __device__ void multiply(term<A, B, TO>)
    {
#pragma unroll
        for (int i = 0; i < S::fragments_m; i++)
#pragma unroll
            for (int j = 0; j < S::fragments_n; j++) {
                float(&to)[4] = sum[TO][i][j];
                if constexpr (TO == 0 && S::R::promote) {
                    const float zero[4] = { 0, 0, 0, 0 };
                    float product[4];
                    mma<S::format>(product, a[A][i], b[B][j], zero);
#pragma unroll
                    for (int q = 0; q < 4; q++) to[q] = __fadd_rn(to[q], product[q]);
                } else {
                    mma<S::format>(to, a[A][i], b[B][j], to);
                }
            }
    }

    __device__ void steps(const char *stage)
    {
#pragma unroll
        for (int step = 0; step < S::tile_bytes / STEP; step++) {
            load(stage, step);
            S::R::each([&](auto term) { multiply(term); });
        }
    }

    /* The accumulators of an output folded into one. */
    __device__ float fold(int i, int j, int q, float unscale) const
    {
        float v = sum[S::R::accumulators - 1][i][j][q];
#pragma unroll
        for (int s = S::R::accumulators - 2; s >= 0; s--)
            v = __fmaf_rn(v, unscale, sum[s][i][j][q]);
        return v;
    }
};

/* --- outputs ---------------------------------------------------------------------- */

__device__ float finish(const arguments &x, float total, size_t i, size_t j)
{
    const float v = __fmul_rn(x.alpha, total);
    return x.c ? __fmaf_rn(x.beta, x.c[i * x.ldc + j], v) : v;
}

/* Outputs (i, j) and (i, j + 1) of a slice, those that D has. */
__device__ void store_pair(const arguments &x, float v0, float v1, size_t i, size_t j)
{
    if (i >= x.m || j >= x.n) return;
    const bool both = j + 1 < x.n;
    float *to =
        x.partial ? x.partial + (blockIdx.y * x.m + i) * x.n + j : x.d + i * x.ldd + j;
    if (!x.partial) {
        v0 = finish(x, v0, i, j);
        if (both) v1 = finish(x, v1, i, j + 1);
    }
    if (both && (uintptr_t)to % sizeof(float2) == 0) {
        *(float2 *)to = { v0, v1 };
    } else {
        to[0] = v0;
        if (both) to[1] = v1;
    }
}

template <class S>
__device__ void store(const arguments &x, const warp_part<S> &w, size_t i0, size_t j0)
{
#pragma unroll
    for (int i = 0; i < S::fragments_m; i++)
#pragma unroll
        for (int j = 0; j < S::fragments_n; j++)
#pragma unroll
            for (int q = 0; q < 4; q += 2)
                store_pair(x, w.fold(i, j, q, x.unscale), w.fold(i, j, q + 1, x.unscale),
                           i0 + w.i0 + 16 * i + w.lane / 4 + 4 * q,
                           j0 + w.j0 + 8 * j + 2 * (w.lane % 4));
}

/* D of several slices, added in order. */
__global__ void add_slices(const arguments x, int slices)
{
    const size_t count = x.m * x.n, stride = (size_t)gridDim.x * blockDim.x;
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < count;
         e += stride) {
        float total = x.partial[e];
        for (int s = 1; s < slices; s++)
            total = __fadd_rn(total, x.partial[s * count + e]);
        x.d[e / x.n * x.ldd + e % x.n] = finish(x, total, e / x.n, e % x.n);
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

/* One stage: load, multiply, load, ... */
template <class S>
__device__ void run_plainly(warp_part<S> &w, char *stage, const arguments &x, size_t i0,
                            size_t j0, size_t from, size_t end)
{
    for (; from < end; from += S::tile_bytes) {
        load_stage<S>(stage, x, i0, j0, from, end);
        __syncthreads();
        w.steps(stage);
        __syncthreads();
    }
}

/* Several: copies of the tiles ahead are under way while one is multiplied. */
template <class S>
__device__ void run_ahead(warp_part<S> &w, char *stages, const arguments &x, size_t i0,
                          size_t j0, size_t from, size_t end)
{
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

template <class S>
__global__ void __launch_bounds__(S::threads) gemm_kernel(const arguments x)
{
    extern __shared__ __align__(128) char shared[];
    warp_part<S> w;
    size_t i0, j0;
    tile_of_block(i0, j0, x);
    i0 *= S::tile_m;
    j0 *= S::tile_n;
    const size_t from = blockIdx.y * x.slice_bytes;
    const size_t end =
        from + x.slice_bytes < x.k_bytes ? from + x.slice_bytes : x.k_bytes;
    w.start();
    if constexpr (S::stages == 1) run_plainly<S>(w, shared, x, i0, j0, from, end);
    else run_ahead<S>(w, shared, x, i0, j0, from, end);
    store<S>(x, w, i0, j0);
}

/* --- launching -------------------------------------------------------------------- */

enum { SLICES_MOST = 65535 }; /* of a grid's second dimension */

/* How k is cut, in bytes of a line; as many slices as are not empty, but one at least. */
struct k_cut {
    size_t bytes, slice_bytes;
    int slices;
};

k_cut cut_of(const struct gpu_product *p, enum gpu_format format)
{
    const size_t steps = divide_up(p->k * format_bytes(format), STEP);
    const size_t each = divide_up(steps, p->slices);
    return { steps * STEP, each * STEP, steps ? (int)divide_up(steps, each) : 1 };
}

template <class S> size_t workspace(const struct gpu_product *p)
{
    const int slices = cut_of(p, S::format).slices;
    return slices > 1 ? slices * p->m * p->n * sizeof(float) : 0;
}

template <class S> int launch(const struct gpu_product *p)
{
    const k_cut cut = cut_of(p, S::format);
    arguments x = {};
    x.a = (const char *)p->a.at;
    x.b = (const char *)p->b.at;
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
    x.c = p->c;
    x.ldc = p->ldc;
    x.d = p->d;
    x.ldd = p->ldd;
    if (cut.slices > 1) x.partial = (float *)p->workspace;
    const dim3 grid(x.tiles_m * x.tiles_n, cut.slices);
    const cudaError_t status = cudaFuncSetAttribute(
        gemm_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::shared_bytes);
    if (status != cudaSuccess) return status;
    gemm_kernel<S><<<grid, S::threads, S::shared_bytes, p->stream>>>(x);
    if (x.partial) add_slices<<<1024, 256, 0, p->stream>>>(x, cut.slices);
    return cudaGetLastError();
}

/* --- the rows --------------------------------------------------------------------- */

template <gpu_format FORMAT>
constexpr const char *instruction = FORMAT == GPU_F16    ? "mma.m16n8k16.f32.f16"
                                    : FORMAT == GPU_BF16 ? "mma.m16n8k16.f32.bf16"
                                                         : "mma.m16n8k8.f32.tf32";

template <class S>
constexpr struct gpu_kernel row_of(const char *name, const char *recipe)
{
    return { name,
             S::stages == 1 ? "mma.sync, no asynchronous copy" : "mma.sync, cp.async",
             recipe,
             instruction<S::format>,
             S::format,
             S::R::row,
             S::tile_m,
             S::tile_n,
             S::tile_k,
             S::stages,
             S::threads,
             S::shared_bytes,
             SLICES_MOST,
             80,
             0,
             workspace<S>,
             launch<S> };
}

} // namespace

#define f16  GPU_F16
#define bf16 GPU_BF16
#define tf32 GPU_TF32

#define ROW(RECIPE, TERMS, FORMAT, M, N, K, WARP_M, WARP_N, STAGES)                      \
    row_of<shape<FORMAT, TERMS, M, N, K, WARP_M, WARP_N, STAGES>>(                       \
        "sm80." RECIPE "." #FORMAT "." #M "x" #N "x" #K "." #STAGES, RECIPE)

const struct gpu_kernel gemm_sm80[] = {
    /* clang-format off */
    /* recipe, terms, format, tile m, n, k, warp m, n, stages; of a recipe the fastest row
       first (measured on an H200), then one that fits the shared memory of every device,
       then the one without asynchronous copy */
    ROW("plain",       one,        f16,  128, 256, 64, 64, 64, 3),
    ROW("plain",       one,        f16,  128, 256, 32, 64, 64, 3),
    ROW("plain",       one,        bf16, 128, 256, 64, 64, 64, 3),
    ROW("plain",       one,        bf16, 128, 256, 32, 64, 64, 3),
    ROW("plain",       one,        tf32, 128, 256, 32, 64, 64, 3),
    ROW("plain",       one,        tf32, 128, 256, 16, 64, 64, 3),
    ROW("markidis",    four,       f16,  128, 128, 32, 64, 32, 3),
    ROW("feng",        four,       f16,  128, 128, 32, 64, 32, 3),
    ROW("ootomo",      main_last<1>,  f16,  128, 128, 64, 64, 32, 2),
    ROW("ootomo",      main_last<1>,  f16,  128, 128, 32, 64, 32, 3),
    ROW("ootomo",      main_last<1>,  f16,  128, 128, 32, 64, 32, 1),
    ROW("ootomo-tf32", main_last<1>,  tf32, 128, 128, 32, 64, 32, 2),
    ROW("ootomo-tf32", main_last<1>,  tf32, 128, 128, 16, 64, 32, 3),
    ROW("legemm",      main_first<0>, f16,  128, 128, 64, 64, 32, 3),
    ROW("legemm",      main_first<0>, f16,  128, 128, 32, 64, 32, 3),
    ROW("legemm",      main_first<0>, f16,  128, 128, 32, 64, 32, 1),
    ROW("tf32x3",      three,      tf32, 128, 256, 16, 64, 64, 3),
    ROW("tf32x3",      three,      tf32, 128, 128, 16, 64, 32, 3),
    ROW("bf16x3",      three,      bf16, 128, 256, 32, 64, 64, 3),
    ROW("bf16x3",      three,      bf16, 128, 128, 32, 64, 32, 3),
    ROW("bf16x6",      six,        bf16, 128, 256, 32, 64, 64, 2),
    ROW("bf16x6",      six,        bf16, 128, 128, 32, 64, 32, 2),
    ROW("bf16x9",      nine,       bf16, 128,  64, 32, 32, 32, 2),
    {}
    /* clang-format on */
};
