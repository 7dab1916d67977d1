/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of gpu/cuda/fp64_sm90.cu: what a block computes, the slots where it stores
   sums in s32, and the FP64 operations that make outputs of them. */
#ifndef BITCUT_GPU_CUDA_FP64_OUTPUT_SM90_CUH
#define BITCUT_GPU_CUDA_FP64_OUTPUT_SM90_CUH

#include "gpu/cuda/fp64_sm90.cuh"
#include "gpu/cuda/gemm_sm90.cuh"

namespace
{

using R = row<format_s8, format_s8, one, 256, 128, 4, 2, 1>;

/* Registers of a tile in a thread, in fours, and the threads that have them. */
enum { FOURS = R::registers / 4, OWNERS = CONSUMERS * GROUP };

/* Registers of a thread of the copying warpgroup, and of the others. */
enum { COPIER_REGISTERS = 40, OWNER_REGISTERS = 232 };

/* Stages between two waits of the lockstep, and how often a wait looks. */
enum { LOCKSTEP_STAGES = 8, LOOKS = 100 };

constexpr size_t slot_elements = (size_t)FOURS * OWNERS;

/* The arguments of the kernel, except the planes. */
struct fp64_output {
    struct output tiles;
    int whole;  /* tiles of clusters that are computed whole */
    int shares; /* number of shares of the other tiles       */
    int items;  /* whole tiles and shares of tiles           */
    fp64_elements<double> d;
    fp64_elements<const double> c;
    double alpha, beta;
    const uint64_t *largest_a, *largest_b;
    int4 *slots, *slots_of_shares;
    unsigned *come; /* steps of the lockstep to which clusters have come, all together */
    unsigned *arrived; /* for each divided tile: blocks that have stored their share */
    int blocks;        /* stages of a product */
    bool nearest, pairs;
};

/* The programs of whole tiles and of shares. */
struct programs {
    struct slice_program whole, divided;
};

struct planes_map {
    CUtensorMap a, b;
};

/* --- items ------------------------------------------------------------------------ */

/* What a block computes at a time: a tile, or a share of it. */
struct item {
    tile t;
    int share;    /* -1: the whole tile                                */
    int sequence; /* number of the block's item, counted from 0        */
    int divided;  /* number of the tile of a share, counted in blocks  */
};

/* Call f for every item of this block. */
template <class F> __device__ void each_item(const fp64_output &o, F f)
{
    const cluster_place<R> here;
    const int step = gridDim.x / R::cluster;
    int sequence = 0;
    for (int i = blockIdx.x / R::cluster; i < o.items; i += step, sequence++) {
        const int after = i - o.whole, of_shares = after / o.shares;
        const bool whole = after < 0;
        const tile t = cluster_tile(o.tiles, whole ? i : o.whole + of_shares);
        f(item{ { (t.row * R::cluster_m + here.row) * TILE_M,
                  (t.column * R::cluster_n + here.column) * R::n, 0, 0, true },
                whole ? -1 : after - of_shares * o.shares,
                sequence,
                of_shares * R::cluster + (int)(blockIdx.x % R::cluster) });
    }
}

__device__ __forceinline__ const slice_program &program_of(const programs &p, const item &x)
{
    return x.share < 0 ? p.whole : p.divided;
}

/* Call f(i, first) for every run i of an item; `first` is its first product. */
template <class F>
__device__ __forceinline__ void each_run(const slice_program &program, const item &x, F f)
{
    for (int i = 0, first = 0; i < program.runs; i++) {
        if (x.share < 0 || x.share == program.run[i].share) f(i, first);
        first += program.run[i].products;
    }
}

/* The slots of an item. */
struct slots {
    int4 *at;

    __device__ slots(const fp64_output &o, const slice_program &program, const item &x)
        : at(x.share < 0
                 ? o.slots + (size_t)blockIdx.x * program.slots * slot_elements
                 : o.slots_of_shares + (size_t)x.divided * program.slots * slot_elements)
    {
    }

    /* Four accumulators of this thread. */
    __device__ int4 &four(int slot, int i) const
    {
        return at[((size_t)slot * FOURS + i) * OWNERS + threadIdx.x - GROUP];
    }
};

/* --- sums in FP64 ----------------------------------------------------------------- */

/* x as a double: 2^52 + 2^31 + x, whose encoding is known, less 2^52 + 2^31. */
__device__ __forceinline__ double double_of(int x)
{
    return __dsub_rn(__hiloint2double(0x43300000, x ^ (int)0x80000000), 0x1.000008p52);
}

/* The scales of a thread's elements: of two rows and two columns, in the order of a
   four. */
struct scales {
    double row[2], column[2];
};

/* The weight of a level: of the truncated cut, times the 2^44 by which `end` divides
   again; of the other cut. */
__device__ __forceinline__ double weight_of(int level, int width, bool nearest)
{
    const int exponent = nearest ? 0 : 32 + 2 * (7 - width);
    return fp64_of_field(1023 + exponent - width * level);
}

/* A weighted sum is added: product by a power of two, exact for the truncated cut. */
template <bool NEAREST>
__device__ __forceinline__ double add(double sum, int x, double weight, double a, double b)
{
    double product = double_of(x);
    if (NEAREST) product = __dmul_rn(__dmul_rn(product, a), b);
    return __fma_rn(product, weight, sum);
}

template <bool NEAREST>
__device__ __forceinline__ void add_four(double (&sum)[4], int4 x, double weight,
                                         const scales &s)
{
    sum[0] = add<NEAREST>(sum[0], x.x, weight, s.row[0], s.column[0]);
    sum[1] = add<NEAREST>(sum[1], x.y, weight, s.row[0], s.column[1]);
    sum[2] = add<NEAREST>(sum[2], x.z, weight, s.row[1], s.column[0]);
    sum[3] = add<NEAREST>(sum[3], x.w, weight, s.row[1], s.column[1]);
}

/* The number of sums that are read at a time. */
enum { AT_ONCE = 8 };

/* PAIRS: whether sums may be of two slots. */
template <bool PAIRS>
__device__ __forceinline__ int4 sum_of(const slots &from, struct slice_sum sum, int four)
{
    int4 x = __ldcs(&from.four(sum.slot, four));
    if (PAIRS) {
        const bool has = sum.second != SLICE_NO_SLOT;
        const int4 y = __ldcs(&from.four(has ? sum.second : sum.slot, four));
        x.x += has ? y.x : 0, x.y += has ? y.y : 0;
        x.z += has ? y.z : 0, x.w += has ? y.w : 0;
    }
    return x;
}

template <bool NEAREST, bool PAIRS>
__device__ __forceinline__ void sums_add(double (&sum)[4], const slots &from,
                                         const slice_program &program, int four,
                                         const scales &s)
{
    for (int first = 0; first < program.sums; first += AT_ONCE) {
        int4 x[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (first + i < program.sums)
                x[i] = sum_of<PAIRS>(from, program.sum[first + i], four);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (first + i < program.sums)
                add_four<NEAREST>(
                    sum, x[i],
                    weight_of(program.sum[first + i].level, program.width, NEAREST), s);
    }
}

/* One element of D. */
template <bool NEAREST>
__device__ __forceinline__ double element_of(const fp64_output &o, double sum, double a,
                                             double b, size_t row, size_t column)
{
    if (!NEAREST) sum = __dmul_rn(__dmul_rn(__dmul_rn(sum, 0x1p-44), a), b);
    sum = __dmul_rn(o.alpha, sum);
    if (!o.c.at) return sum;
    return __fma_rn(o.beta, o.c.at[row * o.c.row_stride + column * o.c.column_stride],
                    sum);
}

template <bool NEAREST>
__device__ __forceinline__ void store_row(const fp64_output &o, const double *sum,
                                          double a, const double (&b)[2], int row,
                                          int column)
{
    if (row >= o.tiles.m || column >= o.tiles.n) return;
    double *const to = o.d.at + row * o.d.row_stride + column * o.d.column_stride;
    const double first = element_of<NEAREST>(o, sum[0], a, b[0], row, column);
    if (column + 1 >= o.tiles.n) {
        *to = first;
        return;
    }
    const double second = element_of<NEAREST>(o, sum[1], a, b[1], row, column + 1);
    if (o.pairs) *(double2 *)to = make_double2(first, second);
    else *to = first, to[o.d.column_stride] = second;
}

template <bool NEAREST>
__device__ __forceinline__ double scale_of(const uint64_t *largest, int line, int count,
                                           int width)
{
    return line < count ? fp64_line_scale(largest[line], NEAREST, width) : 0;
}

/* D of this thread's elements of a tile. */
template <bool NEAREST, bool PAIRS>
__device__ __forceinline__ void finish(const fp64_output &o, const slice_program &program,
                                       const slots &from, tile t)
{
    const int width = program.width;
    scales s;
    s.row[0] = scale_of<NEAREST>(o.largest_a, t.row, o.tiles.m, width);
    s.row[1] = scale_of<NEAREST>(o.largest_a, t.row + 8, o.tiles.m, width);
#pragma unroll 2
    for (int i = 0; i < FOURS; i++) {
        const int column = t.column + 8 * i;
        double sum[4] = {};
        s.column[0] = scale_of<NEAREST>(o.largest_b, column, o.tiles.n, width);
        s.column[1] = scale_of<NEAREST>(o.largest_b, column + 1, o.tiles.n, width);
        sums_add<NEAREST, PAIRS>(sum, from, program, i, s);
        store_row<NEAREST>(o, sum, s.row[0], s.column, t.row, column);
        store_row<NEAREST>(o, sum + 2, s.row[1], s.column, t.row + 8, column);
    }
}

} // namespace

#endif
