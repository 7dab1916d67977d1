/* Batches of small GEMMs, sm_80 and later: D_i = alpha A_i B_i + beta C_i, all f16.

   Sums are FP32.  Of the kernels `mma` an output is the chain of mma.sync m16n8k16 over
   k-steps of 16, ascending, from +0, the last one padded with +0; of `fma` the chain
   fma(A[i][p], B[p][j], sum), p ascending, from +0.  Then t = alpha sum, unless beta is
   zero t = fma(beta, C, t), and D = t rounded to f16, to nearest even, subnormals kept. A
   matrix never shares a sum with another, so that its NaNs and infinities stay its own:
   what a fragment has no rows, columns or k for is +0.

   Launch: blocks of four warps; with one stage of shared memory and sizes above 8 a block
   for what its warps do in one turn, otherwise as many as the device holds at a time,
   which take matrices until there are none.  Threads have equal work: vectors of all
   matrices of a turn are numbered through, and thread t of a group moves numbers t, t +
   threads, ...; vectors are as long as addresses, strides and rows allow, 16 bytes at
   most, and each group of warps looks at its own matrices' addresses. */
#include "gpu/batch_direct.cuh"

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

panel panel_of(const struct gpu_batched_operand *x, int rows, int columns, size_t count)
{
    panel p = {};
    p.turned = x->transposed;
    p.rows = p.turned ? columns : rows;
    p.columns = p.turned ? rows : columns;
    p.at = x->at;
    p.each = x->each;
    p.stride = x->stride;
    p.ld = x->ld;
    const size_t between = p.rows > 1 ? p.ld : 0, apart = count > 1 ? p.stride : 0;
    p.offsets = 2 * (uint32_t)(between | (uint32_t)p.columns);
    if (!p.each) p.offsets |= (uint32_t)(uintptr_t)p.at | 2 * (uint32_t)apart;
    for (int v = 0; v < VECTORS; v++)
        p.by[v] = numbering_of((uint32_t)p.rows, (uint32_t)p.columns >> v);
    return p;
}

arguments arguments_of(const struct gpu_batched *g)
{
    arguments x = {};
    x.count = g->count;
    x.m = g->m;
    x.n = g->n;
    x.k = g->k;
    x.alpha = float_of(g->alpha);
    x.beta = float_of(g->beta);
    x.reads_c = !is_zero(g->beta);
    x.a = panel_of(&g->a, g->m, g->k, g->count);
    x.b = panel_of(&g->b, g->k, g->n, g->count);
    if (x.reads_c) x.c = panel_of(&g->c, g->m, g->n, g->count);
    x.d = panel_of(&g->d, g->m, g->n, g->count);
    return x;
}

/* Blocks that the device holds at a time; 0: it cannot run the kernel. */
int resident(const void *kernel)
{
    int device = 0, processors = 0, blocks = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) !=
            cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, 0) !=
            cudaSuccess)
        return 0;
    return processors * blocks;
}

/* Enough blocks of `each` GEMMs for all of them, but no more than `most`. */
unsigned blocks_for(size_t count, size_t each, int most)
{
    const size_t blocks = (count - 1) / each + 1;
    return (unsigned)(blocks < (size_t)most ? blocks : (size_t)most);
}

/* Whether there is nothing to write. */
bool is_empty(const struct gpu_batched *g) { return !g->count || !g->m || !g->n; }

/* The same, asked once; after a failure again. */
template <auto KERNEL> int resident_of()
{
    static std::atomic<int> most;
    if (!most) most = resident((const void *)KERNEL);
    return most;
}

template <class S> int staged_launch(const struct gpu_batched *g, void *stream)
{
    const int most = resident_of<staged_kernel<S>>();
    if (is_empty(g)) return cudaSuccess;
    if (!most) return cudaErrorInvalidDeviceFunction;
    staged_kernel<S>
        <<<blocks_for(g->count, S::groups * S::products, S::stays ? most : INT_MAX),
           THREADS, 0, (cudaStream_t)stream>>>(arguments_of(g));
    return cudaGetLastError();
}

template <int SIZE, int PRODUCTS>
int direct_launch(const struct gpu_batched *g, void *stream)
{
    const int most = resident_of<direct_kernel<SIZE, PRODUCTS>>();
    if (is_empty(g)) return cudaSuccess;
    if (!most) return cudaErrorInvalidDeviceFunction;
    direct_kernel<SIZE, PRODUCTS><<<blocks_for(g->count, THREADS / 32 * PRODUCTS, most),
                                    THREADS, 0, (cudaStream_t)stream>>>(arguments_of(g));
    return cudaGetLastError();
}

int chain_launch(const struct gpu_batched *g, void *stream)
{
    const int most = resident_of<chain_kernel>();
    if (is_empty(g)) return cudaSuccess;
    if (!most) return cudaErrorInvalidDeviceFunction;
    const numbering quads = numbering_of((uint32_t)g->m, divide_up((uint32_t)g->n, 4));
    const uint32_t products = quads.matrix < THREADS ? THREADS / quads.matrix : 1;
    chain_kernel<<<blocks_for(g->count, products, most), THREADS, 0,
                   (cudaStream_t)stream>>>(arguments_of(g), products, quads);
    return cudaGetLastError();
}

} // namespace

/* --- the rows --------------------------------------------------------------------- */

#define UNIT "mma.m16n8k16.f32.f16"

#define STAGED(SIZE, WARPS, PRODUCTS, STAGES, PART)                                      \
    {                                                                                    \
        "batch.mma." #SIZE "." PART ".s" #STAGES, "mma.sync, through shared memory",     \
            UNIT, SIZE, PRODUCTS, WARPS, STAGES, THREADS,                                \
            shape<SIZE, WARPS, PRODUCTS, STAGES>::shared_bytes, 80, 0,                   \
            staged_launch<shape<SIZE, WARPS, PRODUCTS, STAGES>>                          \
    }

#define DIRECT(SIZE, PRODUCTS)                                                           \
    {                                                                                    \
        "batch.mma." #SIZE ".x" #PRODUCTS ".direct",                                     \
            "mma.sync, straight into registers", UNIT, SIZE, PRODUCTS, 1, 0, THREADS, 0, \
            80, 0, direct_launch<SIZE, PRODUCTS>                                         \
    }

const struct gpu_batched_kernel batched_kernels[] = {
    /* clang-format off */
    /* size, warps, products, stages; xN: N products a warp; wN: N warps a product.  Of a
       size the fastest for 100000 GEMMs on an H200 first. */
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
    { "batch.fma.64", "chains of fused multiply-adds in FP32", NULL, GPU_BATCHED_MOST, 1, 1,
      0, THREADS, 0, 80, 0, chain_launch },
    {}
    /* clang-format on */
};
