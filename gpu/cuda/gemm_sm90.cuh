/* SPDX-License-Identifier: BSD-3-Clause */
/* The GEMM on Hopper: wgmma on parts that TMA loads.

   Launch: one block of 384 threads for each multiprocessor, after a split pass that may
   still run (gpu/cuda/launch.cuh), or without one, if the blocks make the parts first
   (gpu/cuda/fused_sm90.cuh).  A block computes one tile after the other: tiles of
   D, or of the partial sums of the slices of k, for all matrices of a batch.  A block's
   first warpgroup loads the parts of a tile, `depth` of k at a time, into a ring of
   stages in shared memory.  The other two warpgroups multiply them, 64 rows of the tile
   each.  Blocks of a cluster have tiles below or next to each other.  Each block loads
   its share of the lines of A for the blocks next to it, and its share of the lines of B
   for the blocks below it.  A stage is full when the bytes that its barrier expects have
   arrived.  It is empty when every warp that reads data loaded by the block has arrived.

   Slices in clusters.  If blocks share no parts, few slices of k may be in one cluster: a
   cluster has one tile, each block of it one slice, and the grid has one y for each
   slice.  A block leaves its sums in the ring, and computes its share of the outputs from
   the rings of all slices.

   Exactness.  Each accumulator gets the recipe's terms in the recipe's order, k
   ascending, so it has the recipe's bits.  Accumulators are independent: the instructions
   for the promoted accumulator are issued before the others, which run while it is
   promoted.  TMA fills elements outside the operands, or beyond the slice, with +0, and
   products that are all zero change no accumulator.  So a slice is rounded up to whole
   stages, and its last promotion is at the end of a stage.

   Shared memory.  A part in a stage consists of lines of `row_bytes` = 64 or 128 bytes of
   k, swizzled (PTX ISA, "Shared memory matrix layout"): eight lines are one core, and an
   instruction takes 32 bytes of each line.  Registers are as in gpu/cuda/wgmma_sm90.cu.

   wgmma and setmaxnreg exist only in sm_90a, and this file is compiled only for it. */
#ifndef BITCUT_GPU_CUDA_GEMM_SM90_CUH
#define BITCUT_GPU_CUDA_GEMM_SM90_CUH

#include "gpu/cuda/fused_sm90.cuh"
#include "gpu/cuda/gemm.cuh"
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/output_sm90.cuh"
#include "gpu/cuda/row_sm90.cuh"
#include "gpu/cuda/sm90.cuh"

#include <type_traits>
#include <utility>

/* --- what a kernel is given ------------------------------------------------------- */

/* Parts of an operand: for all slices except the last, and for the last slice. */
template <class R> struct sources {
    CUtensorMap of[1 + is_mixed<R>][2];
    int step; /* from one matrix of a batch to the next: 1, or 0 if all share one
                 matrix                                                               */
};

/* --- tiles ------------------------------------------------------------------------ */

/* Tile `index` of a slice for a cluster, counted in tiles of clusters.  The order is down
   bands of `band` rows, column by column, so that tiles computed at the same time are
   near each other and share parts in the L2 cache. */
static __device__ tile cluster_tile(const output &o, int index)
{
    const int in_band = o.band * o.clusters_n, first = index / in_band * o.band;
    const int rows = min(o.band, o.clusters_m - first), rest = index % in_band;
    return { first + rest % rows, rest / rows, 0, 0, false };
}

/* The position of this block among the blocks of its cluster that share parts; they are
   counted down the columns. */
template <class R> struct cluster_place {
    int row = blockIdx.x % R::cluster_m,
        column = blockIdx.x / R::cluster_m % R::cluster_n;

    /* The blocks with the same lines of A, and with the same lines of B, one bit each. */
    __device__ uint32_t same_a() const
    {
        uint32_t set = 0;
#pragma unroll
        for (int j = 0; j < R::cluster_n; j++) set |= 1u << (row + j * R::cluster_m);
        return set;
    }
    __device__ uint32_t same_b() const
    {
        return ((1u << R::cluster_m) - 1) << column * R::cluster_m;
    }

    /* Block `i`, in the cluster, of the blocks that load data for this block, itself
       included. */
    __device__ int peer(int i) const
    {
        if (R::cluster == 1) return blockIdx.y;
        const int j = i - R::cluster_m;
        return j < 0 ? column * R::cluster_m + i
                     : (j + (j >= column)) * R::cluster_m + row;
    }
};

/* Call f for every tile of this block. */
template <class R, class F> static __device__ void each_tile(const output &o, F f)
{
    const int tiles = o.clusters_m * o.clusters_n;
    const cluster_place<R> here;
    for (int i = blockIdx.x / R::cluster; i < o.count * o.in_turn * tiles;
         i += gridDim.x / R::cluster) {
        const int sums = i / tiles, matrix = sums / o.in_turn;
        const int slice = sums - matrix * o.in_turn + blockIdx.y;
        const tile t = cluster_tile(o, i - sums * tiles);
        f(tile{ (t.row * R::cluster_m + here.row) * TILE_M,
                (t.column * R::cluster_n + here.column) * R::n, slice, matrix,
                slice == o.slices - 1 });
    }
}

/* The ring of stages, as the loading and the multiplying side traverse it.  Members are
   addresses. */
template <class R> struct ring {
    uint32_t stages, full, empty;
    int at = 0;
    uint32_t parity = 0;

    __device__ ring(uint32_t shared)
        : stages((shared + R::alignment - 1) / R::alignment * R::alignment),
          full(stages + R::stages * R::stage_bytes), empty(full + 8 * R::stages)
    {
    }
    __device__ uint32_t stage() const { return stages + at * R::stage_bytes; }
    __device__ uint32_t full_now() const { return full + 8 * at; }
    __device__ uint32_t empty_now() const { return empty + 8 * at; }
    __device__ void advance()
    {
        if (++at == R::stages) at = 0, parity ^= 1;
    }
};

/* --- the warpgroup that copies ---------------------------------------------------- */

/* This block's share of a stage: its share of the lines of A and of B. */
template <class R>
static __device__ void stage_fill(const ring<R> &r, const sources<R> &a,
                                  const sources<R> &b, tile t, int k)
{
    const int slice = t.last ? 0 : t.slice;
    const cluster_place<R> here;
    const int a_line = here.column * R::a_lines, b_line = here.row * R::b_lines;
    barrier_expect(r.full_now(), R::stage_bytes);
#pragma unroll
    for (int w = 0; w < R::parts; w++) {
        const int map = is_mixed<R> && w, in_map = w - map;
        copy<R::cluster_n>(r.stage() + R::at(w, TILE_M) + a_line * R::row_bytes(w),
                           &a.of[map][t.last], k, t.row + a_line, in_map, slice,
                           t.matrix * a.step, r.full_now(), here.same_a());
        copy<R::cluster_m>(r.stage() + R::a_bytes + R::at(w, R::n) +
                               b_line * R::row_bytes(w),
                           &b.of[map][t.last], k, t.column + b_line, in_map, slice,
                           t.matrix * b.step, r.full_now(), here.same_b());
    }
}

/* Executed by one thread. */
template <class R>
static __device__ void produce(ring<R> r, const sources<R> &a, const sources<R> &b,
                               const output &o)
{
    each_tile<R>(o, [&](tile t) {
        for (int block = 0; block < o.blocks[t.last]; block++) {
            barrier_wait(r.empty_now(), r.parity ^ 1);
            stage_fill(r, a, b, t, block * R::depth);
            r.advance();
        }
    });
}

/* --- the warpgroups that multiply ------------------------------------------------- */

/* Call f with 0 to COUNT - 1, each as the `value` of an argument. */
template <int VALUE> struct constant {
    static constexpr int value = VALUE;
};
template <int... I, class F>
static __device__ __forceinline__ void repeat(std::integer_sequence<int, I...>, F f)
{
    (f(constant<I>{}), ...);
}
template <int COUNT, class F> static __device__ __forceinline__ void repeat(F f)
{
    repeat(std::make_integer_sequence<int, COUNT>{}, f);
}

/* A thread's share of the accumulators, with the first one separate, and of the promoted
   sum. */
template <class R> struct sums {
    float first[R::registers];
    typename R::low::sum more[R::accumulators > 1 ? R::accumulators - 1 : 1]
                             [R::registers];
    float master[R::promote ? R::registers : 1];
};

template <class R> static __device__ __forceinline__ void sums_clear(sums<R> &s)
{
#pragma unroll
    for (int i = 0; i < R::registers; i++) {
#pragma unroll
        for (int j = 1; j < R::accumulators; j++) s.more[j - 1][i] = 0;
        s.first[i] = 0;
        if (R::promote) s.master[i] = 0;
    }
}

/* Accumulator 0 restarts from +0 with the next instruction. */
template <class R> static __device__ __forceinline__ void promote(sums<R> &s)
{
    pin(s.first);
#pragma unroll
    for (int i = 0; i < R::registers; i++)
        s.master[i] = __fadd_rn(s.master[i], s.first[i]);
}

/* Accumulator I. */
template <int I, class R> static __device__ __forceinline__ auto &sums_of(sums<R> &s)
{
    if constexpr (I == 0) return s.first;
    else return s.more[I - 1];
}

/* The fields of wgmma's matrix descriptor for the lines of a part, except their address:
   an offset that swizzled lines do not use, the distance of cores, the swizzle. */
template <class R>
static __host__ __device__ constexpr uint64_t descriptor_fields(int part)
{
    const uint64_t swizzle = R::row_bytes(part) == 128 ? 1 : 2;
    return 1 << 16 | (uint64_t)(8 * R::row_bytes(part) >> 4) << 32 | swizzle << 62;
}

/* Descriptors of the `LINES` lines of a stage from a given line on: the descriptor of the
   first part, and the offset of the second part, which is a constant if all parts have
   one format. */
template <class R, int LINES> struct stage_part {
    uint64_t first, second;

    __device__ stage_part(uint32_t address, int line)
        : first(((address + line * R::row_bytes(0)) & 0x3ffff) >> 4 |
                descriptor_fields<R>(0)),
          second(
              descriptor_fields<R>(1) - descriptor_fields<R>(0) +
              (int64_t)((R::at(1, LINES) + line * (R::row_bytes(1) - R::row_bytes(0))) >>
                        4))
    {
    }

    /* The descriptor k_bytes into the lines of a part. */
    template <int PART> __device__ uint64_t at(int k_bytes) const
    {
        if (PART == 0) return first + (k_bytes >> 4);
        return first + second + ((R::at(PART, LINES) - R::at(1, LINES) + k_bytes) >> 4);
    }
};
template <class R> using part_of_a = stage_part<R, TILE_M>;
template <class R> using part_of_b = stage_part<R, R::n>;

/* Sets of terms that are issued together. */
struct every_term {
    static __device__ constexpr bool takes(recipe_term) { return true; }
};
struct promoted_terms {
    static __device__ constexpr bool takes(recipe_term t) { return t.accumulator == 0; }
};
struct other_terms {
    static __device__ constexpr bool takes(recipe_term t) { return t.accumulator != 0; }
};

/* The first term of accumulator 0, which restarts it after a promotion. */
template <class R> static __host__ __device__ constexpr int first_promoted()
{
    int i = 0;
    while (R::recipe::at[i].accumulator) i++;
    return i;
}

/* The instruction for the format of a part. */
template <class R, int PART>
using part_wgmma =
    wgmma<std::conditional_t<PART == 0, typename R::format, typename R::low>,
          R::registers>;

/* Issue and commit R::together k-steps of these terms, from k-step FIRST of a stage. */
template <class R, class Terms, int FIRST>
static __device__ __forceinline__ void issue(sums<R> &s, const part_of_a<R> &a,
                                             const part_of_b<R> &b)
{
    repeat<R::together>([&](auto step) {
        repeat<R::recipe::terms>([&](auto i) {
            constexpr recipe_term t = R::recipe::at[i.value];
            static_assert(!is_mixed<R> || !t.a == !t.b);
            if constexpr (Terms::takes(t))
                repeat<R::times(t)>([&](auto part) {
                    constexpr int k = (FIRST + step.value) * R::step_k * R::bytes(t.a) +
                                      part.value * INSTRUCTION_K_BYTES;
                    constexpr bool starts = R::promote && step.value == 0 &&
                                            part.value == 0 &&
                                            i.value == first_promoted<R>();
                    part_wgmma<R, t.a>::issue(sums_of<t.accumulator>(s),
                                              a.template at<t.a>(k),
                                              b.template at<t.b>(k), !starts);
                });
        });
    });
    wgmma_commit();
}

/* This warp has finished a stage: notify the blocks that fill it. */
template <class R> static __device__ __forceinline__ void stage_free(uint32_t empty)
{
    const int lane = threadIdx.x % WARP;
    if (lane < R::peers) barrier_arrive(empty, cluster_place<R>().peer(lane));
}

/* Multiply a stage without promotion.  Free the stage before, unless it is 0, as soon as
   it is finished. */
template <class R>
static __device__ __forceinline__ void
stage_multiply(sums<R> &s, const part_of_a<R> &a, const part_of_b<R> &b, uint32_t before)
{
    wgmma_fence();
    issue<R, every_term, 0>(s, a, b);
    wgmma_wait<1>();
    if (before) stage_free<R>(before);
}

/* The same with promotion.  The terms of accumulator 0 are waited for while the other
   terms run, so that the multipliers are always busy. */
template <class R>
static __device__ __forceinline__ void
stage_promote(sums<R> &s, const part_of_a<R> &a, const part_of_b<R> &b, uint32_t before)
{
    constexpr int others = R::accumulators > 1;
    repeat<R::steps / R::together>([&](auto part) {
        constexpr int first = part.value * R::together;
        wgmma_fence();
        issue<R, promoted_terms, first>(s, a, b);
        if constexpr (others) issue<R, other_terms, first>(s, a, b);
        if constexpr (part.value == 0) {
            wgmma_wait<1 + others>();
            if (before) stage_free<R>(before);
        }
        wgmma_wait<others>();
        promote(s);
    });
}

/* Multiply the part of a tile that belongs to warpgroup `consumer` of this block. */
template <class R>
static __device__ __forceinline__ void tile_multiply(sums<R> &s, ring<R> &r, int blocks,
                                                     int consumer)
{
    uint32_t before = 0;
    sums_clear(s);
    for (int block = 0; block < blocks; block++) {
        const part_of_a<R> a(r.stage(), consumer * INSTRUCTION_M);
        const part_of_b<R> b(r.stage() + R::a_bytes, 0);
        barrier_wait(r.full_now(), r.parity);
        if constexpr (R::promote) stage_promote(s, a, b, before);
        else stage_multiply(s, a, b, before);
        before = r.empty_now();
        r.advance();
    }
    wgmma_wait<0>();
#pragma unroll
    for (int j = 1; j < R::accumulators; j++) pin(s.more[j - 1]);
    pin(s.first);
    if (before) stage_free<R>(before);
}

/* --- the epilogue ----------------------------------------------------------------- */

/* A sum in FP32. */
static __device__ __forceinline__ float sum_read(float x) { return x; }
static __device__ __forceinline__ float sum_read(int x) { return __int2float_rn(x); }

/* Fold register i as in the recipe, from the last accumulator down. */
template <class R>
static __device__ __forceinline__ float sums_fold(const sums<R> &s, int i, float fold)
{
    constexpr int last = R::accumulators - 1;
    const float first = R::promote ? s.master[i] : s.first[i];
    float v = last == 0 ? first : sum_read(s.more[last > 0 ? last - 1 : 0][i]);
#pragma unroll
    for (int j = last - 1; j >= 0; j--)
        v = __fmaf_rn(v, fold, j == 0 ? first : sum_read(s.more[j > 0 ? j - 1 : 0][i]));
    return v;
}

template <class R>
static __device__ void consume(ring<R> r, const output &o, int consumer)
{
    each_tile<R>(o, [&](tile t) {
        sums<R> s;
        float v[R::registers];
        tile_multiply(s, r, o.blocks[t.last], consumer);
#pragma unroll
        for (int i = 0; i < R::registers; i++) v[i] = sums_fold(s, i, o.fold);
        t.row += consumer * INSTRUCTION_M;
        if constexpr (R::slices_together > 0)
            if (o.in_turn != o.slices) return tile_add_store<R>(o, v, t, r.stages);
        tile_store<R>(o, v, t);
    });
}

/* --- the kernel ------------------------------------------------------------------- */

template <class R> static __device__ void barriers_init(const ring<R> &r)
{
    if (threadIdx.x == 0) {
        for (int i = 0; i < R::stages; i++) {
            barrier_init(r.full + 8 * i, 1);
            barrier_init(r.empty + 8 * i, R::peers * CONSUMERS * GROUP / WARP);
        }
        barrier_init_done();
    }
}

template <class R> static __device__ void ring_init(const ring<R> &r)
{
    barriers_init(r);
    cluster_sync();
}

/* Whether a launch can make the parts: where the ring will be. */
template <class R>
constexpr bool can_split = R::format::bytes == 2 && !is_mixed<R> &&
                           SPLIT_SHARED <= R::stages * R::stage_bytes;

template <class R>
static __global__ void __launch_bounds__(GROUPS *GROUP, 1)
    gemm_kernel(const __grid_constant__ sources<R> a,
                const __grid_constant__ sources<R> b, const __grid_constant__ output o,
                const __grid_constant__ split_first x)
{
    extern __shared__ unsigned char shared[];
    const ring<R> r(shared_address(shared));
    const int group = threadIdx.x / GROUP;
    if (threadIdx.x == 0)
        for (int i = 0; i < 1 + is_mixed<R>; i++)
            parts_foresee(&a.of[i][1]), parts_foresee(&b.of[i][1]);
    barriers_init(r);
    if constexpr (can_split<R>)
        if (x.squares)
            share_split<R::format::parts, R::parts>(
                shared + (r.stages - shared_address(shared)), x);
    cluster_sync();
    wait_for_before();
    if (group == 0) {
        if constexpr (can_split<R>)
            if (x.squares) parts_wait<R::format::parts, R::parts>(x);
        registers_give<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) {
            if (x.squares) copies_fence();
            produce(r, a, b, o);
        }
        if (R::slices_together && o.in_turn != o.slices) cluster_sync();
    } else {
        registers_take<CONSUMER_REGISTERS>();
        consume(r, o, group - 1);
    }
    /* No block may exit while others may still write to it or arrive at its barriers. */
    cluster_sync();
}

#endif
