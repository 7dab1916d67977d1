/* SPDX-License-Identifier: BSD-3-Clause */
/* From the sums of a tile in gpu/cuda/gemm_sm90.cuh to outputs: each thread's elements of
   D, from its registers, or from the registers of all slices of k in a cluster. */
#ifndef BITCUT_GPU_CUDA_OUTPUT_SM90_CUH
#define BITCUT_GPU_CUDA_OUTPUT_SM90_CUH

#include "gpu/cuda/gemm.cuh"
#include "gpu/cuda/row_sm90.cuh"
#include "gpu/cuda/sm90.cuh"

/* The arguments of a kernel, except the parts. */
struct output {
    float *d;
    long long slice_stride; /* distance of the sums of two slices */
    const float *c;         /* NULL: beta is zero */
    long long ldd, ldc, stride_d, stride_c;
    int m, n;
    int slices, count;          /* slices of k, and matrices                */
    int in_turn;                /* number of slices of which a block has tiles */
    int blocks[2];              /* stages that a slice fills, as in struct sources */
    int clusters_m, clusters_n; /* numbers of tiles of clusters in D        */
    int band;                   /* rows of such tiles in a band             */
    float alpha, beta, fold;
    bool pairs; /* whether pairs of elements of D are aligned */
    struct lines lines;
};

/* A tile of D, given by its first element, in one slice of one matrix. */
struct tile {
    int row, column, slice, matrix;
    bool last; /* whether it is the last slice */
};

/* --- elements --------------------------------------------------------------------- */

/* A thread's elements of a matrix.  Element i is at[i / 2 % 2][8 (i / 4) + i % 2], and
   exists if this column is below `columns`. */
template <class T> struct place {
    T *at[2];
    int columns[2];

    __device__ place(T *matrix, long long ld, const output &o, int row, int column)
        : at{ matrix + row * ld + column, matrix + (row + 8) * ld + column }, columns{
              row < o.m ? o.n - column : 0, row + 8 < o.m ? o.n - column : 0
          }
    {
    }
    static __device__ constexpr int half(int i) { return i / 2 % 2; }
    static __device__ constexpr int column(int i) { return i / 4 * 8 + i % 2; }
    __device__ bool has(int i) const { return column(i) < columns[half(i)]; }
    __device__ T *of(int i) const { return at[half(i)] + column(i); }
};

/* Scale back a thread's elements by the exponents of their rows and columns. */
template <int COUNT>
static __device__ __forceinline__ void elements_restore(const output &o,
                                                        float (&v)[COUNT], tile t)
{
    using at = place<float>;
    const struct lines lines = lines_of(o.lines, t.matrix);
    const auto exponent = [&](const uint32_t *largest, int line, int count) {
        return line < count ? line_exponent(largest[line], lines.target) : 0;
    };
    const int rows[] = { exponent(lines.a, t.row, o.m),
                         exponent(lines.a, t.row + 8, o.m) };
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        v[i] = scale_once(v[i], -rows[at::half(i)] -
                                    exponent(lines.b, t.column + at::column(i), o.n));
}

/* D = alpha v + beta C for a thread's elements, from the first element of t on.  `pairs`:
   all elements exist, and pairs of them are aligned. */
template <int COUNT>
static __device__ __forceinline__ void elements_store(const output &o, float (&v)[COUNT],
                                                      tile t, bool pairs)
{
    const place<float> d(o.d + t.matrix * o.stride_d + t.slice * o.slice_stride, o.ldd, o,
                         t.row, t.column);
    if (o.lines.a) elements_restore(o, v, t);
    if (o.alpha != 1) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) v[i] = __fmul_rn(o.alpha, v[i]);
    }
    if (o.c) {
        const place<const float> c(o.c + t.matrix * o.stride_c, o.ldc, o, t.row,
                                   t.column);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (c.has(i)) v[i] = __fmaf_rn(o.beta, *c.of(i), v[i]);
    }
    if (pairs) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 2)
            *(float2 *)d.of(i) = make_float2(v[i], v[i + 1]);
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (d.has(i)) *d.of(i) = v[i];
    }
}

/* The first element of a thread among the 64 rows of a warpgroup from t on. */
static __device__ tile thread_tile(tile t)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x % GROUP / WARP;
    t.row += 16 * warp + lane / 4;
    t.column += 2 * (lane % 4);
    return t;
}

/* The 64 rows of a warpgroup from tile t on. */
template <class R>
static __device__ __forceinline__ void tile_store(const output &o,
                                                  float (&v)[R::registers], tile t)
{
    const bool all = t.row + INSTRUCTION_M <= o.m && t.column + R::n <= o.n;
    elements_store(o, v, thread_tile(t), o.pairs && all);
}

/* A thread's elements in groups of four, each from 8 columns of the tile, in the order in
   which slices of a cluster leave them in the rings.  Each block adds and stores a share
   of the groups, a few at a time. */
template <class R> struct fours {
    static constexpr int size = 4, count = R::registers / size, few = 4;
    static constexpr int bytes = size * sizeof(float), threads = CONSUMERS * GROUP;
    uint32_t own;

    __device__ fours(uint32_t ring) : own(ring + (threadIdx.x - GROUP) * bytes) {}
    __device__ uint32_t at(int i) const { return own + i * threads * bytes; }

    /* Read some of this block's groups, from group `first` on, of a slice. */
    __device__ __forceinline__ void read(float (&to)[few][size], int first,
                                         int slice) const
    {
#pragma unroll
        for (int i = 0; i < few; i++) {
            const int four = first + i * gridDim.y;
            if (four < count) cluster_read(to[i], at(four), slice);
        }
    }
};

/* The same if the slices of k are in one cluster: v belongs to this block's slice.  They
   are added in the order of k.  All data in the rings of the cluster has been read. */
template <class R>
static __device__ __forceinline__ void
tile_add_store(const output &o, float (&v)[R::registers], tile t, uint32_t ring)
{
    const bool all = t.row + INSTRUCTION_M <= o.m && t.column + R::n <= o.n;
    const fours<R> x(ring);
    multipliers_sync(x.threads);
#pragma unroll
    for (int i = 0; i < x.count; i++)
        shared_write(x.at(i), { v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3] });
    cluster_sync();
    t = thread_tile(t);
    t.slice = 0;
#pragma unroll 1
    for (int first = blockIdx.y; first < x.count; first += x.few * gridDim.y) {
        float total[x.few][x.size], slice[x.few][x.size];
        x.read(total, first, 0);
        for (int s = 1; s < o.slices; s++) {
            x.read(slice, first, s);
#pragma unroll
            for (int i = 0; i < x.few * x.size; i++)
                total[i / 4][i % 4] = __fadd_rn(total[i / 4][i % 4], slice[i / 4][i % 4]);
        }
        for (int i = 0; i < x.few; i++) {
            const int four = first + i * gridDim.y;
            tile part = t;
            part.column += 8 * four;
            if (four < x.count) elements_store(o, total[i], part, o.pairs && all);
        }
    }
}

#endif
