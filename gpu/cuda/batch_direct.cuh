/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of small GEMMs without shared memory: by mma.sync, and by chains of fused
   multiply-adds in FP32. */
#ifndef BITCUT_GPU_CUDA_BATCH_DIRECT_CUH
#define BITCUT_GPU_CUDA_BATCH_DIRECT_CUH

#include "gpu/cuda/batch_staged.cuh"

namespace
{

/* --- straight into registers ------------------------------------------------------ */

/* Elements p and p + 1 of a line; +0 for missing elements.  Lines lie along the rows in
   memory, or across them. */
struct line_reader {
    const uint16_t *at;
    size_t ld;
    int lines, k;
    bool along, pairs; /* pairs: whether two elements can be loaded at once */

    __device__ line_reader(const panel &x, size_t i, bool along_)
        : at(matrix_at(x, i)), ld(x.ld), lines(along_ ? x.rows : x.columns),
          k(along_ ? x.columns : x.rows), along(along_),
          pairs(((uint32_t)(uintptr_t)at | x.offsets) % 4 == 0)
    {
    }

    __device__ uint32_t operator()(int line, int p) const
    {
        if (line >= lines || p >= k) return 0;
        const size_t step = along ? 1 : ld;
        const uint16_t *const from = at + (along ? line * ld : line) + p * step;
        if (along && pairs) return *(const uint32_t *)from;
        return from[0] | (p + 1 < k ? (uint32_t)from[step] << 16 : 0);
    }
};

__device__ void put_two(const arguments &x, size_t i, int row, int column, float sum0,
                        float sum1)
{
    if (row >= x.m || column >= x.n) return;
    const uint32_t c = x.reads_c ? line_reader(x.c, i, !x.c.turned)(row, column) : 0;
    const uint32_t two = finish_two(sum0, sum1, x, c);
    uint16_t *const at = (uint16_t *)matrix_at(x.d, i) + row * x.d.ld + column;
    if (((uint32_t)(uintptr_t)at | x.d.offsets) % 4 == 0) {
        *(uint32_t *)at = two;
        return;
    }
    at[0] = (uint16_t)two;
    if (column + 1 < x.n) at[1] = (uint16_t)(two >> 16);
}

/* The fragments of one GEMM; for sizes up to 8, the remaining rows and k are +0. */
template <int SIZE> struct fragments {
    static constexpr int parts_m = SIZE < 16 ? 1 : SIZE / 16, parts_n = SIZE / 8,
                         steps = parts_m, registers_a = SIZE < 16 ? 1 : 4,
                         registers_b = SIZE < 16 ? 1 : 2;
    uint32_t a[steps][parts_m][registers_a], b[steps][parts_n][registers_b];

    __device__ void load(const arguments &x, size_t i, int lane)
    {
        const line_reader read_a(x.a, i, !x.a.turned), read_b(x.b, i, x.b.turned);
        const int g = lane / 4, t = 2 * (lane % 4);
#pragma unroll
        for (int s = 0; s < steps; s++) {
#pragma unroll
            for (int j = 0; j < parts_m * registers_a; j++)
                a[s][j / registers_a][j % registers_a] =
                    read_a(16 * (j / registers_a) + g + 8 * (j % 2),
                           16 * s + t + 8 * (j % registers_a / 2));
#pragma unroll
            for (int j = 0; j < parts_n * registers_b; j++)
                b[s][j / registers_b][j % registers_b] =
                    read_b(8 * (j / registers_b) + g, 16 * s + t + 8 * (j % registers_b));
        }
    }

    __device__ void compute(const arguments &x, size_t i, int lane) const
    {
        const int g = lane / 4, t = 2 * (lane % 4);
#pragma unroll
        for (int r = 0; r < parts_m; r++)
#pragma unroll
            for (int j = 0; j < parts_n; j++) {
                float d[4] = {};
#pragma unroll
                for (int s = 0; s < steps; s++) {
                    if (16 * s >= x.k) break;
                    uint32_t whole[4] = {};
#pragma unroll
                    for (int q = 0; q < registers_a; q++) whole[q] = a[s][r][q];
                    multiply(d, whole, b[s][j][0], registers_b > 1 ? b[s][j][1] : 0);
                }
                put_two(x, i, 16 * r + g, 8 * j + t, d[0], d[1]);
                if (SIZE > 8) put_two(x, i, 16 * r + g + 8, 8 * j + t, d[2], d[3]);
            }
    }
};

/* One warp computes one GEMM at a time, and loads PRODUCTS GEMMs before it computes the
   first. */
template <int SIZE, int PRODUCTS>
__global__ void __launch_bounds__(THREADS)
    direct_kernel(const __grid_constant__ arguments x)
{
    const int lane = threadIdx.x % 32;
    const size_t step = (size_t)gridDim.x * (THREADS / 32) * PRODUCTS;
    size_t first = ((size_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * PRODUCTS;
    for (; first < x.count; first += step) {
        fragments<SIZE> f[PRODUCTS];
#pragma unroll
        for (int p = 0; p < PRODUCTS; p++)
            if (first + p < x.count) f[p].load(x, first + p, lane);
#pragma unroll
        for (int p = 0; p < PRODUCTS; p++)
            if (first + p < x.count) f[p].compute(x, first + p, lane);
    }
}

/* --- chains of FP32 --------------------------------------------------------------- */

/* Load four elements, `step` apart; +0 from `count` on. */
__device__ void load_quad(float (&to)[4], const uint16_t *at, size_t step, int count,
                          bool whole)
{
    alignas(8) uint16_t x[4] = {};
    if (whole && count >= 4) *(uint2 *)x = *(const uint2 *)at;
    else
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (e < count) x[e] = at[e * step];
#pragma unroll
    for (int e = 0; e < 4; e++) to[e] = half_value(x[e]);
}

__device__ bool takes_quads(const panel &x, const uint16_t *matrix, bool along)
{
    return along && ((uint32_t)(uintptr_t)matrix | x.offsets) % 8 == 0;
}

/* Compute four outputs of a row of GEMM i, from column j on. */
__device__ void chain_quad(const arguments &x, size_t i, int row, int j)
{
    const uint16_t *const a = matrix_at(x.a, i), *const b = matrix_at(x.b, i);
    const bool quads_a = takes_quads(x.a, a, !x.a.turned),
               quads_b = takes_quads(x.b, b, !x.b.turned);
    const size_t step_a = x.a.turned ? x.a.ld : 1, line_a = x.a.turned ? 1 : x.a.ld;
    const size_t step_b = x.b.turned ? x.b.ld : 1, line_b = x.b.turned ? 1 : x.b.ld;
    const int columns = x.n - j;
    float sum[4] = {};
    for (int p = 0; p < x.k; p += 4) {
        float some[4];
        load_quad(some, a + row * line_a + p * step_a, step_a, x.k - p, quads_a);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            float four[4];
            if (p + e >= x.k) break;
            load_quad(four, b + (p + e) * line_b + j * step_b, step_b, columns, quads_b);
#pragma unroll
            for (int c = 0; c < 4; c++) sum[c] = __fmaf_rn(some[e], four[c], sum[c]);
        }
    }
    put_two(x, i, row, j, sum[0], sum[1]);
    put_two(x, i, row, j + 2, sum[2], sum[3]);
}

/* A thread computes four outputs of a row.  A block computes as many GEMMs as it has
   threads for, at least one. */
__global__ void __launch_bounds__(THREADS)
    chain_kernel(const __grid_constant__ arguments x, uint32_t products, numbering quads)
{
    const size_t step = (size_t)gridDim.x * products;
    for (size_t first = (size_t)blockIdx.x * products; first < x.count; first += step)
        for (uint32_t q = threadIdx.x; q < products * quads.matrix; q += THREADS) {
            const uint32_t i = quotient(q, quads.by_matrix), in = q - i * quads.matrix;
            const uint32_t row = quotient(in, quads.by_row);
            if (first + i < x.count)
                chain_quad(x, first + i, row, 4 * (in - row * quads.row));
        }
}

} // namespace

#endif
