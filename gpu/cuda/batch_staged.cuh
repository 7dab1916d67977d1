/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of small GEMMs through shared memory, and code shared by all kernels for
   batches. */
#ifndef BITCUT_GPU_CUDA_BATCH_STAGED_CUH
#define BITCUT_GPU_CUDA_BATCH_STAGED_CUH

#include "gpu/cuda/gemm.cuh"

#include <cuda_fp16.h>
#include <type_traits>

namespace
{

/* --- arguments -------------------------------------------------------------------- */

/* Vectors have 1 << v elements, v < VECTORS. */
enum { VECTORS = 4 };

/* The numbering of the vectors of matrices in memory: along rows, then from row to row,
   then from matrix to matrix. */
struct numbering {
    uint32_t row, matrix;       /* vectors in each               */
    uint32_t by_row, by_matrix; /* 2^31 over these, rounded up   */
};

/* An operand. */
struct panel {
    const uint16_t *at, *const *each;
    size_t stride, ld;
    int rows, columns; /* as it lies in memory */
    bool turned;       /* transposed           */
    uint32_t offsets;  /* bits that may be set in byte offsets from one address to
                          another                                                 */
    numbering by[VECTORS];
};

struct arguments {
    size_t count;
    int m, n, k;
    float alpha, beta;
    bool reads_c;
    panel a, b, c, d;
};

/* q / d by the reciprocal of d as above, q d < 2^31. */
__device__ uint32_t quotient(uint32_t q, uint32_t reciprocal)
{
    return __umulhi(2 * q, reciprocal);
}

__device__ const uint16_t *matrix_at(const panel &x, size_t i)
{
    return x.each ? x.each[i] : x.at + i * x.stride;
}

/* The address that a lane of a warp holds for matrices first to first + live - 1, at
   least one: with pointers the address of the lane's own matrix, otherwise the address of
   the first matrix. */
__device__ const uint16_t *own_place(const panel &x, size_t first, uint32_t live,
                                     int lane)
{
    return matrix_at(x, first + (x.each && lane < (int)live ? lane : 0));
}

/* The address of matrix i of these; all lanes call together. */
__device__ const uint16_t *place_of(const panel &x, const uint16_t *own, uint32_t i)
{
    if (!x.each) return own + i * x.stride;
    return (const uint16_t *)__shfl_sync(~0u, (unsigned long long)own, (int)i);
}

/* The longest vectors that the addresses in the matrices of a warp allow. */
__device__ int longest_vector(const panel &x, const uint16_t *own)
{
    uint32_t bits = x.offsets | 1 << VECTORS;
    if (x.each) bits |= __reduce_or_sync(~0u, (uint32_t)(uintptr_t)own);
    return __ffs(bits) - 2;
}

/* --- shared memory ---------------------------------------------------------------- */

/* The position of element (row, column) in a tile of SIZE rows.  In a row, chunks of 16
   bytes are permuted, so that the same chunks of eight successive rows lie in different
   banks. */
template <int SIZE> __device__ int place(int row, int column)
{
    constexpr int chunks = SIZE / 8;
    return row * SIZE + ((column / 8) ^ (row * chunks / 8 % chunks)) * 8 + column % 8;
}

/* Copy a vector to shared memory, asynchronously if it is long enough. */
template <int V> __device__ void copy_in(uint16_t *to, const uint16_t *from)
{
    if constexpr (V == 0) *to = *from;
    else if constexpr (V == 3)
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)),
            "l"(from)
            : "memory");
    else
        asm volatile(
            "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)),
            "l"(from), "n"(2 << V)
            : "memory");
}

template <int V> __device__ void copy_out(uint16_t *to, const uint16_t *from)
{
    if constexpr (V == 0) *to = *from;
    else if constexpr (V == 1) *(uint32_t *)to = *(const uint32_t *)from;
    else if constexpr (V == 2) *(uint2 *)to = *(const uint2 *)from;
    else *(uint4 *)to = *(const uint4 *)from;
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING> __device__ void wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* The parameters of a kernel through shared memory: a group of WARPS computes PRODUCTS
   GEMMs of up to SIZE at a time, in STAGES tiles of each matrix. */
template <int SIZE, int WARPS, int PRODUCTS, int STAGES> struct shape {
    static constexpr int size = SIZE, warps = WARPS, products = PRODUCTS, stages = STAGES;
    static constexpr int group = 32 * WARPS, groups = THREADS / group;
    static constexpr int tile = SIZE * SIZE, tiles = PRODUCTS * tile;
    static constexpr int stage = 3 * tiles; /* elements: A, B, and C, which D replaces */
    static constexpr int shared_bytes = groups * STAGES * stage * (int)sizeof(uint16_t);
    static constexpr bool stays = SIZE == 8 || STAGES == 2; /* whether a block computes
                                                               several groups of GEMMs  */
    static constexpr int blocks_least = WARPS == 1 ? 0 : STAGES == 1 ? 8 : 4; /* 0: any */
    static_assert(SIZE == 8 ? PRODUCTS % 4 == 0 : PRODUCTS == 1 || WARPS == 1, "");
    static_assert(SIZE < 16 || SIZE % (16 * WARPS) == 0, "");
};

template <class S> __device__ void group_wait()
{
    if constexpr (S::warps == 1) __syncwarp();
    else __syncthreads();
}

/* Call do_(position in the tiles, address) for every vector of `live` matrices.  ACROSS
   is for single elements: the position is that of the transposed element. */
template <class S, int V, bool ACROSS = false, class Do>
__device__ void each_vector(const panel &x, const uint16_t *own, uint32_t live,
                            int thread, Do do_)
{
    constexpr int turns = S::tiles / (1 << V) / S::group;
    constexpr int unroll = turns < 1 ? 1 : turns < 8 ? turns : 8;
    const numbering &n = x.by[V];
    const uint32_t vectors = live * n.matrix;
#pragma unroll unroll
    for (int turn = 0; turn < (turns < 1 ? 1 : turns); turn++) {
        const uint32_t q = turn * S::group + thread;
        const uint32_t i = S::products == 1 ? 0 : quotient(q, n.by_matrix);
        const uint16_t *const matrix = S::products == 1 ? own : place_of(x, own, i);
        const uint32_t in = q - i * n.matrix, row = quotient(in, n.by_row);
        const uint32_t column = (in - row * n.row) << V;
        const int at =
            ACROSS ? place<S::size>(column, row) : place<S::size>(row, column);
        if (q < vectors) do_(i * S::tile + at, matrix + row * x.ld + column);
    }
}

/* The same for vectors of the length that the addresses allow. */
template <class S, class Do>
__device__ void each_longest(const panel &x, const uint16_t *own, uint32_t live,
                             int thread, Do do_)
{
    const auto by = [&](auto v) {
        constexpr int V = decltype(v)::value;
        each_vector<S, V>(x, own, live, thread,
                          [&](int at, const uint16_t *p) { do_(v, at, p); });
    };
    switch (longest_vector(x, own)) {
    case 3: return by(std::integral_constant<int, 3>());
    case 2: return by(std::integral_constant<int, 2>());
    case 1: return by(std::integral_constant<int, 1>());
    default: return by(std::integral_constant<int, 0>());
    }
}

template <class S>
__device__ void fetch_panel(uint16_t *tiles, const panel &x, const uint16_t *own,
                            uint32_t live, int thread)
{
    each_longest<S>(x, own, live, thread, [&](auto v, int at, const uint16_t *from) {
        copy_in<decltype(v)::value>(tiles + at, from);
    });
}

/* The same in the order in which D replaces it, row by row. */
template <class S>
__device__ void fetch_c(uint16_t *tiles, const panel &x, const uint16_t *own,
                        uint32_t live, int thread)
{
    if (!x.turned) return fetch_panel<S>(tiles, x, own, live, thread);
    each_vector<S, 0, true>(x, own, live, thread, [&](int at, const uint16_t *from) {
        copy_in<0>(tiles + at, from);
    });
}

/* The number of matrices from `first` on, at most PRODUCTS. */
template <class S> __device__ uint32_t live_from(const arguments &x, size_t first)
{
    if (first >= x.count) return 0;
    return x.count - first < S::products ? (uint32_t)(x.count - first) : S::products;
}

/* Begin to fill a stage. */
template <class S>
__device__ void fetch(uint16_t *stage, const arguments &x, size_t first, int thread)
{
    if (const uint32_t live = live_from<S>(x, first)) {
        const uint16_t *const a = own_place(x.a, first, live, thread % 32),
                              *const b = own_place(x.b, first, live, thread % 32);
        fetch_panel<S>(stage, x.a, a, live, thread);
        fetch_panel<S>(stage + S::tiles, x.b, b, live, thread);
        if (x.reads_c)
            fetch_c<S>(stage + 2 * S::tiles, x.c,
                       own_place(x.c, first, live, thread % 32), live, thread);
    }
    commit();
}

template <class S>
__device__ void store(const uint16_t *stage, const arguments &x, const uint16_t *own,
                      uint32_t live, int thread)
{
    const uint16_t *const tiles = stage + 2 * S::tiles;
    each_longest<S>(x.d, own, live, thread, [&](auto v, int at, const uint16_t *to) {
        copy_out<decltype(v)::value>((uint16_t *)to, tiles + at);
    });
}

/* --- the instruction -------------------------------------------------------------- */

/* Rows of a fragment are eight elements in shared memory.  Lane i has the address of row
   i % 8 of matrix i / 8. */
#define LDMATRIX(HOW)                                                                    \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" HOW ".shared.b16 {%0,%1,%2,%3}, [%4];"  \
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])                        \
                 : "r"(shared_address(at))                                               \
                 : "memory")

__device__ void load_fragments(uint32_t (&x)[4], const uint16_t *at, bool turned)
{
    if (turned) LDMATRIX(".trans");
    else LDMATRIX("");
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* --- the end of an output --------------------------------------------------------- */

__device__ float half_value(uint16_t c) { return __half2float(__ushort_as_half(c)); }

__device__ uint16_t finish(float sum, const arguments &x, uint16_t c)
{
    float t = __fmul_rn(x.alpha, sum);
    if (x.reads_c) t = __fmaf_rn(x.beta, half_value(c), t);
    return __half_as_ushort(__float2half_rn(t));
}

/* Finish two outputs; the first is in the low half of the result. */
__device__ uint32_t finish_two(float sum0, float sum1, const arguments &x, uint32_t c)
{
    return finish(sum0, x, (uint16_t)c) | (uint32_t)finish(sum1, x, (uint16_t)(c >> 16))
                                              << 16;
}

/* --- through shared memory -------------------------------------------------------- */

/* Finish outputs 2 t and 2 t + 1 of row g of an 8 x 8 part at (row, column) of the tile,
   which holds C. */
template <class S>
__device__ void put(uint16_t *tile, const arguments &x, int row, int column, float sum0,
                    float sum1, int lane)
{
    auto *const at =
        (uint32_t *)(tile + place<S::size>(row + lane / 4, column + 2 * (lane % 4)));
    *at = finish_two(sum0, sum1, x, x.reads_c ? *at : 0);
}

/* Compute matrices of size up to 8: each is a quarter of a load, and a separate fragment
   whose remaining rows and k are +0. */
template <class S>
__device__ void compute_eights(uint16_t *stage, const arguments &x, int lane)
{
    const int at = lane / 8 * S::tile + lane % 8 * 8;
#pragma unroll
    for (int p = 0; p < S::products; p += 4) {
        uint32_t a[4], b[4];
        load_fragments(a, stage + p * S::tile + at, x.a.turned);
        load_fragments(b, stage + S::tiles + p * S::tile + at, !x.b.turned);
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const uint32_t whole[4] = { a[q], 0, 0, 0 };
            float d[4] = {};
            if (x.k) multiply(d, whole, b[q], 0);
            put<S>(stage + 2 * S::tiles + (p + q) * S::tile, x, 0, 0, d[0], d[1], lane);
        }
    }
}

/* Load 16 lines by 16 of k as fragments; a row of A, or a column of B, is a line.  `swap`
   says which of two 8 x 8 parts comes second: the part of the next lines (A), or of the
   next k (B). */
template <class S>
__device__ void load_sixteens(uint32_t (&to)[4], const uint16_t *tile, int line, int k,
                              bool along, bool swap, int lane)
{
    const int high = lane / 16 * 8, low = lane / 8 % 2 * 8;
    const int l = line + (swap ? high : low), p = k + (swap ? low : high);
    const int turn = lane % 8;
    load_fragments(
        to, tile + (along ? place<S::size>(l + turn, p) : place<S::size>(p + turn, l)),
        !along);
}

template <class S>
__device__ void compute_one(uint16_t *stage, const arguments &x, int warp, int lane)
{
    constexpr int parts_m = S::size / 16 / S::warps, parts_n = S::size / 8;
    const int row = 16 * parts_m * warp;
    float d[parts_m][parts_n][4] = {};
#pragma unroll
    for (int k = 0; k < S::size; k += 16) {
        if (k >= x.k) break;
        uint32_t a[parts_m][4];
#pragma unroll
        for (int i = 0; i < parts_m; i++)
            load_sixteens<S>(a[i], stage, row + 16 * i, k, !x.a.turned, false, lane);
#pragma unroll
        for (int j = 0; j < parts_n; j += 2) {
            uint32_t b[4];
            load_sixteens<S>(b, stage + S::tiles, 8 * j, k, x.b.turned, true, lane);
#pragma unroll
            for (int i = 0; i < parts_m; i++) {
                multiply(d[i][j], a[i], b[0], b[1]);
                multiply(d[i][j + 1], a[i], b[2], b[3]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < parts_m; i++)
#pragma unroll
        for (int j = 0; j < parts_n; j++)
#pragma unroll
            for (int q = 0; q < 4; q += 2)
                put<S>(stage + 2 * S::tiles, x, row + 16 * i + 4 * q, 8 * j, d[i][j][q],
                       d[i][j][q + 1], lane);
}

template <class S>
__device__ void compute(uint16_t *stage, const arguments &x, int thread)
{
    const int warp = thread / 32, lane = thread % 32;
    if constexpr (S::size == 8) {
        compute_eights<S>(stage, x, lane);
    } else {
#pragma unroll
        for (int p = 0; p < S::products; p++)
            compute_one<S>(stage + p * S::tile, x, warp, lane);
    }
}

template <class S>
__global__ void __launch_bounds__(THREADS, S::blocks_least)
    staged_kernel(const __grid_constant__ arguments x)
{
    __shared__ alignas(128) uint16_t memory[S::groups][S::stages][S::stage];
    const int number = threadIdx.x / S::group, thread = threadIdx.x % S::group;
    uint16_t(*const stages)[S::stage] = memory[number];
    const size_t step = (size_t)gridDim.x * S::groups * S::products;
    size_t first = ((size_t)blockIdx.x * S::groups + number) * S::products;
    for (int i = thread; i < S::stages * S::stage / 8; i += S::group)
        ((uint4 *)stages)[i] = {}; /* elements around the matrices stay +0   */
    group_wait<S>();
    if constexpr (S::stages == 2) fetch<S>(stages[0], x, first, thread);
    for (int now = 0; first < x.count; first += step) {
        fetch<S>(stages[S::stages - 1 - now], x, first + (S::stages - 1) * step, thread);
        const uint32_t live = live_from<S>(x, first);
        const uint16_t *const d = own_place(x.d, first, live, thread % 32);
        wait<S::stages - 1>();
        group_wait<S>();
        compute<S>(stages[now], x, thread);
        group_wait<S>();
        store<S>(stages[now], x, d, live, thread);
        group_wait<S>();
        if constexpr (S::stages == 2) now = 1 - now;
    }
    wait<0>();
}

} // namespace

#endif
