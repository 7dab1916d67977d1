/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of small GEMMs, sm_80 and later: D_i = alpha A_i B_i + beta C_i, all f16.

   Results.  Sums are FP32.  In the kernels `mma`, an output is the chain of mma.sync
   m16n8k16 over k-steps of 16, ascending, from +0; the last k-step is padded with +0.  In
   the kernels `fma`, it is the chain fma(A[i][p], B[p][j], sum), p ascending, from +0.
   Then t = alpha sum; unless beta is zero, t = fma(beta, C, t); and D = t rounded to f16,
   to nearest even, with subnormals.  Two matrices never share a sum, so that NaNs and
   infinities of one affect no other.  Rows, columns and k of a fragment that a matrix
   does not have are +0.

   Launch: blocks of four warps.  With one stage of shared memory and sizes above 8, there
   is a block for every group of matrices that its warps compute at a time.  Otherwise
   there are as many blocks as the device holds at a time, and each takes matrices until
   there are none left.  All threads have equal work: the vectors of all matrices that are
   computed at a time have consecutive numbers, and thread t of a group moves vectors t, t
   + threads, and so on.  Vectors are as long as addresses, strides and rows allow, at
   most 16 bytes.  Each group of warps checks the addresses of its own matrices. */
#include "gpu/cuda/batch_direct.cuh"

#include <atomic>
#include <climits>

namespace
{

/* --- launches --------------------------------------------------------------------- */

constexpr uint32_t divide_up(uint32_t a, uint32_t b) { return a / b + (a % b != 0); }

uint32_t reciprocal(uint32_t d) { return d ? divide_up(1u << 31, d) : 0; }

numbering numbering_of(uint32_t rows, uint32_t row)
{
    return { row, rows * row, reciprocal(row), reciprocal(rows * row) };
}

/* A matrix of `rows` x `columns`, or its transpose, as it lies in memory. */
panel panel_of(const struct bitcut_matrix &x, size_t rows, size_t columns, size_t count,
               bool turned)
{
    panel p = {};
    p.turned = turned != (x.layout == BITCUT_COLUMN_MAJOR);
    p.rows = (int)(p.turned ? columns : rows);
    p.columns = (int)(p.turned ? rows : columns);
    p.at = (const uint16_t *)x.at;
    p.each = (const uint16_t *const *)x.each;
    p.stride = x.stride;
    p.ld = x.ld;
    const size_t between = p.rows > 1 ? p.ld : 0, apart = count > 1 ? p.stride : 0;
    p.offsets = 2 * (uint32_t)(between | (uint32_t)p.columns);
    if (!p.each) p.offsets |= (uint32_t)(uintptr_t)p.at | 2 * (uint32_t)apart;
    for (int v = 0; v < VECTORS; v++)
        p.by[v] = numbering_of((uint32_t)p.rows, (uint32_t)p.columns >> v);
    return p;
}

/* If D is column-major, D^T = B^T A^T is computed.  An output is the same sum, because a
   product does not depend on the order of its factors.  So D is never transposed, but C
   may be. */
arguments arguments_of(const struct bitcut_gemm &g)
{
    const bool turned = g.d.layout == BITCUT_COLUMN_MAJOR;
    const size_t m = turned ? g.n : g.m, n = turned ? g.m : g.n;
    arguments x = {};
    x.count = g.count;
    x.m = (int)m;
    x.n = (int)n;
    x.k = (int)g.k;
    x.alpha = float_of(g.alpha);
    x.beta = float_of(g.beta);
    x.reads_c = gemm_reads_c(&g);
    x.a = panel_of(turned ? g.b : g.a, m, g.k, g.count, turned);
    x.b = panel_of(turned ? g.a : g.b, g.k, n, g.count, turned);
    if (x.reads_c) x.c = panel_of(g.c, m, n, g.count, turned);
    x.d = panel_of(g.d, m, n, g.count, turned);
    return x;
}

/* The number of blocks that a device holds at a time; 0: it cannot run the kernel. */
int resident(const void *kernel, int device)
{
    int processors = 0, blocks = 0;
    if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) !=
            cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0) !=
            cudaSuccess)
        return 0;
    return processors * blocks;
}

/* Enough blocks of `each` GEMMs for all GEMMs, but at most `most`. */
unsigned blocks_for(size_t count, size_t each, int most)
{
    const size_t blocks = (count - 1) / each + 1;
    return (unsigned)(blocks < (size_t)most ? blocks : (size_t)most);
}

/* The same for the current device.  It is queried once, and again after a failure. */
template <auto KERNEL> int resident_of()
{
    static std::atomic<int> known[DEVICES_MAX];
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess) return 0;
    if (device >= DEVICES_MAX) return resident((const void *)KERNEL, device);
    if (!known[device]) known[device] = resident((const void *)KERNEL, device);
    return known[device];
}

template <class S> int staged_start(const struct gpu_work *w, void *stream)
{
    const struct bitcut_gemm &g = w->gemm;
    const int most = resident_of<staged_kernel<S>>();
    if (!most) return cudaErrorInvalidDeviceFunction;
    staged_kernel<S><<<blocks_for(g.count, S::groups * S::products,
                                  S::stays ? most : INT_MAX),
                       THREADS, 0, (cudaStream_t)stream>>>(arguments_of(g));
    return cudaGetLastError();
}

template <int SIZE, int PRODUCTS>
int direct_start(const struct gpu_work *w, void *stream)
{
    const struct bitcut_gemm &g = w->gemm;
    const int most = resident_of<direct_kernel<SIZE, PRODUCTS>>();
    if (!most) return cudaErrorInvalidDeviceFunction;
    direct_kernel<SIZE, PRODUCTS><<<blocks_for(g.count, THREADS / 32 * PRODUCTS, most),
                                    THREADS, 0, (cudaStream_t)stream>>>(arguments_of(g));
    return cudaGetLastError();
}

int chain_start(const struct gpu_work *w, void *stream)
{
    const struct bitcut_gemm &g = w->gemm;
    const int most = resident_of<chain_kernel>();
    if (!most) return cudaErrorInvalidDeviceFunction;
    const arguments x = arguments_of(g);
    const numbering quads = numbering_of((uint32_t)x.m, divide_up((uint32_t)x.n, 4));
    const uint32_t products = quads.matrix < THREADS ? THREADS / quads.matrix : 1;
    chain_kernel<<<blocks_for(g.count, products, most), THREADS, 0,
                   (cudaStream_t)stream>>>(x, products, quads);
    return cudaGetLastError();
}

/* --- the rows --------------------------------------------------------------------- */

/* The members that all kernels share.  A split of f16 values into one f16 part changes
   nothing. */
constexpr struct gpu_kernel row_of(const char *name, const char *what, int size)
{
    struct gpu_kernel k = {};
    k.name = name;
    k.what = what;
    k.matrices = FORMAT_F16;
    k.program = { 1, 1, { { 0, 0, 0, false } }, 0 };
    k.products = k.warps = 1;
    k.threads = THREADS;
    k.cluster_m = k.cluster_n = 1;
    k.slices_most = 1;
    k.size_most = (size_t)size;
    k.architectures = sm_from(80);
    return k;
}

constexpr struct gpu_kernel mma_row(const char *name, const char *what, int size)
{
    struct gpu_kernel k = row_of(name, what, size);
    k.recipe = "plain";
    k.instruction = "mma.m16n8k16.f32.f16";
    k.format = FORMAT_F16;
    return k;
}

template <int SIZE, int WARPS, int PRODUCTS, int STAGES>
constexpr struct gpu_kernel staged_row(const char *name)
{
    using S = shape<SIZE, WARPS, PRODUCTS, STAGES>;
    struct gpu_kernel k = mma_row(name, "mma.sync, through shared memory", SIZE);
    k.products = PRODUCTS;
    k.warps = WARPS;
    k.stages = STAGES;
    k.shared_bytes = S::shared_bytes;
    k.start = staged_start<S>;
    return k;
}

template <int SIZE, int PRODUCTS>
constexpr struct gpu_kernel direct_row(const char *name)
{
    struct gpu_kernel k = mma_row(name, "mma.sync, straight into registers", SIZE);
    k.products = PRODUCTS;
    k.start = direct_start<SIZE, PRODUCTS>;
    return k;
}

constexpr struct gpu_kernel chain_row(const char *name, int size)
{
    struct gpu_kernel k =
        row_of(name, "chains of fused multiply-adds in FP32", size);
    k.recipe = "fp32";
    k.format = FORMAT_F32;
    k.start = chain_start;
    return k;
}

} // namespace

#define STAGED(SIZE, WARPS, PRODUCTS, STAGES, PART)                                      \
    staged_row<SIZE, WARPS, PRODUCTS, STAGES>("batch.mma." #SIZE "." PART ".s" #STAGES)
#define DIRECT(SIZE, PRODUCTS)                                                           \
    direct_row<SIZE, PRODUCTS>("batch.mma." #SIZE ".x" #PRODUCTS ".direct")

const struct gpu_kernel batch_kernels[] = {
    /* clang-format off */
    /* size, warps, products, stages; xN: N products for each warp; wN: N warps for each
       product.  The fastest kernel of a size for 100000 GEMMs on an H200 comes first. */
    STAGED( 8, 1, 16, 1, "x16"),
    STAGED( 8, 1,  8, 1, "x8"),
    STAGED( 8, 1,  8, 2, "x8"),
    STAGED( 8, 1,  4, 1, "x4"),
    DIRECT( 8, 4),
    STAGED(16, 1,  4, 1, "x4"),
    STAGED(16, 1,  2, 1, "x2"),
    STAGED(16, 1,  2, 2, "x2"),
    DIRECT(16, 2),
    STAGED(32, 2,  1, 1, "w2"),
    STAGED(32, 1,  1, 1, "x1"),
    STAGED(32, 1,  1, 2, "x1"),
    STAGED(64, 4,  1, 1, "w4"),
    STAGED(64, 4,  1, 2, "w4"),
    chain_row("batch.fma.64", 64),
    {}
    /* clang-format on */
};
