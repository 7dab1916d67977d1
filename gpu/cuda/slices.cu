/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a GEMM whose kernel leaves sums: D from the sums of its slices, or if C or D
   is column-major. */
#include "gpu/cuda/gemm.cuh"

namespace
{

struct arguments {
    const float *partial;
    int slices;
    size_t m, n;
    struct lines lines;
    float alpha, beta;
    struct elements c, d;
};

enum { SOME = 16 }; /* sums that a thread reads before it adds them */

/* The sum of output (i, j) of a matrix, in the order of k. */
__device__ float total_of(const arguments &x, size_t matrix, const struct lines &lines,
                          size_t i, size_t j)
{
    const size_t count = x.m * x.n;
    const float *partial = x.partial + matrix * x.slices * count + i * x.n + j;
    float total = *partial;
    for (int first = 1; first < x.slices; first += SOME) {
        float some[SOME];
#pragma unroll
        for (int e = 0; e < SOME; e++)
            some[e] = first + e < x.slices ? partial[(first + e) * count] : 0;
#pragma unroll
        for (int e = 0; e < SOME; e++)
            if (first + e < x.slices) total = __fadd_rn(total, some[e]);
    }
    return lines_restore(total, lines, i, j);
}

/* Row-major C and D.  Launch: any grid, matrices along y; a thread computes outputs whose
   distance is the size of the grid. */
__global__ void add_along(const arguments x)
{
    const size_t count = x.m * x.n, stride = (size_t)gridDim.x * blockDim.x;
    const size_t matrix = blockIdx.y;
    const struct lines lines = lines_of(x.lines, matrix);
    for (size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x; e < count;
         e += stride) {
        const size_t i = e / x.n, j = e % x.n;
        x.d.at[matrix * x.d.stride + i * x.d.ld + j] =
            output_of(x.alpha, total_of(x, matrix, lines, i, j), x.beta, x.c.at,
                      matrix * x.c.stride + i * x.c.ld + j);
    }
}

constexpr int SIDE = 32, ROWS = 8; /* side of a tile of outputs; rows of a block's
                                      threads                                    */

/* The position of a block, with thread (x, y) of SIDE x ROWS. */
struct corner {
    size_t matrix, i, j; /* of the first output of the tile */
};

/* Move column-major elements of a tile from or to memory: threads lie along columns. */
template <class Do>
__device__ void each_down(const arguments &x, const struct elements &of, corner t, Do do_)
{
    const size_t i = t.i + threadIdx.x;
    for (int c = threadIdx.y; c < SIDE; c += ROWS)
        if (i < x.m && t.j + c < x.n)
            do_(threadIdx.x, c, of.at + t.matrix * of.stride + (t.j + c) * of.ld + i);
}

__device__ void finish_tile(float (&tile)[SIDE][SIDE + 1], const arguments &x,
                            const struct lines &lines, corner t)
{
    const size_t j = t.j + threadIdx.x;
    for (int r = threadIdx.y; r < SIDE; r += ROWS) {
        const size_t i = t.i + r;
        if (i >= x.m || j >= x.n) continue;
        float *const here = &tile[r][threadIdx.x];
        const float *c = x.c.turned ? here : x.c.at;
        const size_t at = x.c.turned ? 0 : t.matrix * x.c.stride + i * x.c.ld + j;
        const float total = total_of(x, t.matrix, lines, i, j);
        const float v = output_of(x.alpha, total, x.beta, c, at);
        if (x.d.turned) *here = v;
        else x.d.at[t.matrix * x.d.stride + i * x.d.ld + j] = v;
    }
}

/* C or D, or both, are column-major.  Launch: blocks of SIDE x ROWS, any grid, matrices
   along y; a block computes tiles whose distance is the size of the grid.  Column-major
   data is transposed in shared memory. */
__global__ void __launch_bounds__(SIDE *ROWS) add_down(const arguments x)
{
    __shared__ float tile[SIDE][SIDE + 1];
    const size_t tiles_n = (x.n + SIDE - 1) / SIDE;
    const size_t tiles = (x.m + SIDE - 1) / SIDE * tiles_n;
    const struct lines lines = lines_of(x.lines, blockIdx.y);
    for (size_t e = blockIdx.x; e < tiles; e += gridDim.x) {
        const corner t = { blockIdx.y, e / tiles_n * SIDE, e % tiles_n * SIDE };
        if (x.c.turned)
            each_down(x, x.c, t, [&](int i, int j, const float *c) { tile[i][j] = *c; });
        __syncthreads();
        finish_tile(tile, x, lines, t);
        __syncthreads();
        if (x.d.turned)
            each_down(x, x.d, t, [&](int i, int j, float *d) { *d = tile[i][j]; });
        __syncthreads();
    }
}

constexpr size_t BLOCK = SIDE * ROWS, BLOCKS = 1024; /* threads of a block; largest number
                                                        of blocks               */

} // namespace

rt_error sums_add(const struct gpu_product *p, int slices)
{
    const arguments x = { (const float *)p->workspace,
                          slices,
                          p->m,
                          p->n,
                          p->lines,
                          p->alpha,
                          p->beta,
                          p->c,
                          p->d };
    const bool down = p->c.turned || p->d.turned;
    const size_t blocks = down ? divide_up(p->m, SIDE) * divide_up(p->n, SIDE)
                               : divide_up(p->m * p->n, BLOCK);
    const dim3 grid((unsigned)(blocks < BLOCKS ? blocks : BLOCKS), (unsigned)p->count);
    if (down) add_down<<<grid, dim3(SIDE, ROWS), 0, p->stream>>>(x);
    else add_along<<<grid, BLOCK, 0, p->stream>>>(x);
    return rt_last_error();
}
