/* SPDX-License-Identifier: BSD-3-Clause */
/* SIMT: rounded products and sums of other units on the device's FP32 pipes.  A product
   of parts with at most 12 significant bits is exact, so the sum of two products is one
   multiplication and one fused multiply-add, rounded once.

   Launch: 256 threads for a tile, stages of k in shared memory. */
#include "gpu/cuda/emulate.cuh"

namespace
{

enum { CORE_THREADS = 256 };

enum kind { CHAIN, PRODUCT_SUM, PAIRS2, PAIRS4 };

template <kind KIND> constexpr int block_of = KIND == PAIRS4 ? 4 : KIND == PAIRS2 ? 2 : 1;

/* c = step(block of products, c). */
template <kind KIND> __device__ float step(const float *x, const float *y, float c)
{
    if constexpr (KIND == CHAIN) return __fmaf_rn(x[0], y[0], c);
    if constexpr (KIND == PRODUCT_SUM) return __fadd_rn(c, __fmul_rn(x[0], y[0]));
    const float p = __fmaf_rn(x[1], y[1], __fmul_rn(x[0], y[0]));
    if constexpr (KIND == PAIRS2) return __fadd_rn(c, p);
    return __fadd_rn(c, __fadd_rn(p, __fmaf_rn(x[3], y[3], __fmul_rn(x[2], y[2]))));
}

enum { SIMT_N = 128, SIMT_K = 16, SIMT_STAGES = 3 };

/* Rows of a tile; a thread has ROWS of them. */
template <int ROWS> constexpr int simt_m = 16 * ROWS;

/* The distance of lines of A spreads them over the banks. */
template <int ROWS> struct simt_stage {
    float a[simt_m<ROWS>][SIMT_K + 4], b[SIMT_K][SIMT_N];
};

template <int ROWS>
__device__ void simt_load(simt_stage<ROWS> *s, const emulate_chain &x, size_t i0,
                          size_t j0, size_t k)
{
    for (int i = threadIdx.x; i < simt_m<ROWS> * SIMT_K / 4; i += CORE_THREADS)
        copy16(&s->a[i / 4][i % 4 * 4],
               x.a.value + (i0 + i / 4) * x.a.length + k + i % 4 * 4);
    for (int i = threadIdx.x; i < SIMT_K * SIMT_N / 4; i += CORE_THREADS)
        copy16(&s->b[i / 32][i % 32 * 4],
               x.b.value + (k + i / 32) * x.b.padded + j0 + i % 32 * 4);
}

/* The position of a thread's outputs in a tile: rows from ROWS ty on, and columns from 4
   tx and from 64 + 4 tx on. */
struct simt_place {
    int tx, ty;
    __device__ int column(int j) const { return (j >> 2) * 64 + tx * 4 + (j & 3); }
};

/* Add a block of products of a stage, from k `q` on. */
template <kind KIND, int ROWS>
__device__ __forceinline__ void
simt_block(float (&c)[ROWS][8], const simt_stage<ROWS> &now, simt_place p, int q)
{
    constexpr int block = block_of<KIND>;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        float b[block];
#pragma unroll
        for (int e = 0; e < block; e++) b[e] = now.b[q + e][p.column(j)];
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            c[i][j] = step<KIND>(&now.a[p.ty * ROWS + i][q], b, c[i][j]);
    }
}

/* Add all products of a stage. */
template <kind KIND, int ROWS>
__device__ __forceinline__ void simt_whole(float (&c)[ROWS][8],
                                           const simt_stage<ROWS> &now, simt_place p)
{
#pragma unroll
    for (int k4 = 0; k4 < SIMT_K; k4 += 4) {
        float y[4][8];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            *(float4 *)&y[q][0] = *(const float4 *)&now.b[k4 + q][p.tx * 4];
            *(float4 *)&y[q][4] = *(const float4 *)&now.b[k4 + q][64 + p.tx * 4];
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float4 a = *(const float4 *)&now.a[p.ty * ROWS + i][k4];
            const float v[4] = { a.x, a.y, a.z, a.w };
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const float b[4] = { y[0][j], y[1][j], y[2][j], y[3][j] };
#pragma unroll
                for (int q = 0; q < 4; q += block_of<KIND>)
                    c[i][j] = step<KIND>(v + q, b + q, c[i][j]);
            }
        }
    }
}

template <int ROWS>
__device__ __forceinline__ void simt_store(const emulate_chain &x, size_t i0, size_t j0,
                                           simt_place p, const float (&c)[ROWS][8],
                                           const float (&sum)[ROWS][8])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const size_t row = i0 + p.ty * ROWS + i, column = j0 + p.column(j);
            if (row < x.a.lines && column < x.b.lines)
                x.result[row * x.b.lines + column] = chain_result(c[i][j], sum[i][j], x);
        }
}

/* B is transposed. */
template <kind KIND, bool EVENTS, int ROWS>
__global__ void __launch_bounds__(CORE_THREADS, EVENTS || ROWS > 8 ? 1 : 2)
    simt(const __grid_constant__ emulate_chain x)
{
    extern __shared__ __align__(1024) char memory[];
    auto *const m = (simt_stage<ROWS> *)memory;
    const simt_place p = { (int)threadIdx.x & 15, (int)threadIdx.x >> 4 };
    int ti, tj;
    tile_place(&ti, &tj, (int)(x.a.padded / simt_m<ROWS>), (int)(x.b.padded / SIMT_N));
    const size_t i0 = (size_t)ti * simt_m<ROWS>, j0 = (size_t)tj * SIMT_N;
    emulate_events events(x);
    float c[ROWS][8], sum[ROWS][8];
#pragma unroll
    for (int i = 0; i < 8 * ROWS; i++) c[i / 8][i % 8] = sum[i / 8][i % 8] = 0;
    const auto happen = [&](uint32_t what) {
        events_apply<8 * ROWS>(&c[0][0], &sum[0][0], what, x);
    };
    simt_load(&m[0], x, i0, j0, 0);
    copy_commit();
    simt_load(&m[1], x, i0, j0, SIMT_K);
    copy_commit();
    for (uint32_t k = 0, turn = 0; k < x.products;
         k += SIMT_K, turn = turn == 2 ? 0 : turn + 1) {
        copy_wait<1>();
        __syncthreads();
        if (k + 2 * SIMT_K < x.products)
            simt_load(&m[turn == 0 ? 2 : turn - 1], x, i0, j0, k + 2 * SIMT_K);
        copy_commit();
        const auto &now = m[turn];
        if (EVENTS || k + SIMT_K > x.products) { /* one step at a time */
            const int end = (int)min(x.products - k, (uint32_t)SIMT_K);
#pragma unroll 1
            for (int q = 0; q < end; q += block_of<KIND>) {
                if (EVENTS && k + q == events.at) happen(events.take());
                simt_block<KIND, ROWS>(c, now, p, q);
            }
        } else if constexpr (!EVENTS) {
            simt_whole<KIND, ROWS>(c, now, p);
        }
    }
    while (EVENTS && events.at != UINT32_MAX) happen(events.take());
    simt_store<ROWS>(x, i0, j0, p, c, sum);
}

size_t simt_tiles(const emulate_chain &x, int rows)
{
    return x.a.padded / (16 * rows) * (x.b.padded / SIMT_N);
}

template <kind KIND, bool EVENTS, int ROWS>
rt_error simt_with(const emulate_chain &x, rt_stream stream)
{
    constexpr int bytes = SIMT_STAGES * sizeof(simt_stage<ROWS>);
    const rt_error status =
        rt_function_set(simt<KIND, EVENTS, ROWS>, RT_SHARED_BYTES, bytes);
    if (status != RT_SUCCESS) return status;
    simt<KIND, EVENTS, ROWS>
        <<<(unsigned)simt_tiles(x, ROWS), CORE_THREADS, bytes, stream>>>(x);
    return rt_last_error();
}

/* Tiles of 256 rows are faster if there are many tiles. */
template <kind KIND> rt_error simt_kind(const emulate_chain &x, rt_stream stream)
{
    enum { MANY = 256 };
    if (x.events) return simt_with<KIND, true, 8>(x, stream);
    return x.a.padded % simt_m<16> == 0 && simt_tiles(x, 16) >= MANY
               ? simt_with<KIND, false, 16>(x, stream)
               : simt_with<KIND, false, 8>(x, stream);
}

} // namespace

rt_error simt_start(const emulate_chain &x, rt_stream stream)
{
    if (x.rule.sum == RULE_FUSED) return simt_kind<CHAIN>(x, stream);
    switch (x.rule.block) {
    case 4: return simt_kind<PAIRS4>(x, stream);
    case 2: return simt_kind<PAIRS2>(x, stream);
    default: return simt_kind<PRODUCT_SUM>(x, stream);
    }
}
