/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs with a narrow D on Hopper: every FP32 value of the wide operand is read once for
   NARROW lines of the narrow one, and split in registers.

   Instruction: mma.sync m16n8k16.  The wide operand, of which D has many rows or columns,
   is in its place of A, and the narrow operand in its place of B.  An output is the same
   sum, because a product does not depend on the order of its factors.

   Launch: a block of WARPS warps has LINES lines of the wide operand and NARROW lines of
   the narrow one; blocks that differ in the latter are next to each other along x, so
   that they find values in the L2 cache.  Slices of k are divided among the blocks of a
   cluster, along y, and among groups of warps of a block; matrices along z.  The warps of
   a slice take chunks of k in turn.  A warp splits its chunk, starts loading the chunk
   after its next one into the same place of its ring in shared memory, and computes the
   promoted products, which begin at +0.  Then it waits for its turn, takes the
   accumulators of the slice from shared memory, adds its chunk, and leaves them for the
   next warp.  So many loads are in flight, and each accumulator is still added in
   ascending order of k.

   Registers: lane 4 g + t has lines 4 g to 4 g + 3 of the wide operand, line g of the
   narrow one, and of each k-step of 16 the k from 4 t to 4 t + 3.  The instruction calls
   these k 2 t, 2 t + 1, 2 t + 8 and 2 t + 9.  The unit adds all 16 products of an
   instruction at once, so that their order does not matter; this is so on Hopper, and
   not before.  So 16 bytes in a row are one load in either layout.

   Exact: each accumulator gets the recipe's terms in the recipe's order, k ascending.
   Values beyond the operands or the slice are +0, and change no accumulator.  The totals
   of slices are added in ascending order, as by gpu/cuda/slices.cu. */
#ifndef BITCUT_GPU_CUDA_GEMV_SM90_CUH
#define BITCUT_GPU_CUDA_GEMV_SM90_CUH

#include "gpu/cuda/gemm.cuh"
#include "gpu/cuda/gemv_load_sm90.cuh"
#include "gpu/cuda/mma.cuh"
#include "gpu/cuda/split_two.cuh"

namespace
{

/* --- parts -------------------------------------------------------------------------- */

/* The fragments of a chunk: register r of a tile of the wide operand has line 2 tile + r
   % 2 of the lane, and k from 2 (r / 2) on. */
template <class R, int FORMAT, int STEPS> struct fragments {
    uint32_t wide[STEPS][R::parts][TILES][4], narrow[STEPS][R::parts][2];

    __device__ void make(const values<STEPS, EACH> &x, float x_scale,
                         const values<STEPS, 1> &y, float y_scale)
    {
        uint32_t part[R::parts];
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    split_two<FORMAT>(part, x[s][i][2 * h], x[s][i][2 * h + 1], x_scale);
#pragma unroll
                    for (int w = 0; w < R::parts; w++)
                        wide[s][w][i / 2][i % 2 + 2 * h] = part[w];
                }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                split_two<FORMAT>(part, y[s][0][2 * h], y[s][0][2 * h + 1], y_scale);
#pragma unroll
                for (int w = 0; w < R::parts; w++) narrow[s][w][h] = part[w];
            }
        }
    }
};

/* --- sums --------------------------------------------------------------------------- */

/* D += a term of a k-step.  TURNED: the wide operand is B. */
template <int FORMAT, bool TURNED, class R, int STEPS, class TERM>
__device__ void multiply(float (&d)[4], const fragments<R, FORMAT, STEPS> &x, int s,
                         int tile, TERM)
{
    constexpr struct recipe_term t = TERM::row;
    mma<FORMAT>(d, x.wide[s][TURNED ? t.b : t.a][tile], x.narrow[s][TURNED ? t.a : t.b],
                d);
}

/* Promoted products of a chunk: the k-steps of an interval of accumulator 0. */
template <class R, int STEPS> struct promoted {
    static constexpr int steps = R::promote ? R::promote / R::in_first : STEPS,
                         count = STEPS / steps;
    static_assert(STEPS % steps == 0);
    float of[R::promote ? count : 1][TILES][4];

    template <int FORMAT, bool TURNED>
    __device__ void compute(const fragments<R, FORMAT, STEPS> &x)
    {
        if constexpr (R::promote != 0)
#pragma unroll
            for (int p = 0; p < count; p++) {
#pragma unroll
                for (int e = 0; e < TILES * 4; e++) of[p][e / 4][e % 4] = 0;
#pragma unroll
                for (int s = 0; s < steps; s++)
                    R::each([&](auto term) {
                        if constexpr (decltype(term)::accumulator == 0)
#pragma unroll
                            for (int i = 0; i < TILES; i++)
                                multiply<FORMAT, TURNED>(of[p][i], x, p * steps + s, i,
                                                         term);
                    });
            }
    }
};

/* The accumulators of a slice, in shared memory: four numbers of a tile for each lane. */
template <class R> using slice_sums = float4[R::accumulators][TILES][WARP];

/* Add a chunk to the accumulators of its slice, or to +0 if it is the first one. */
template <class R, int FORMAT, bool TURNED, int STEPS>
__device__ void chunk_add(slice_sums<R> &sums, const fragments<R, FORMAT, STEPS> &x,
                          const promoted<R, STEPS> &products, bool is_first)
{
    float own[R::accumulators][TILES][4];
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int a = 0; a < R::accumulators; a++)
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            const float4 v = is_first ? float4{} : sums[a][i][lane];
            own[a][i][0] = v.x, own[a][i][1] = v.y, own[a][i][2] = v.z,
            own[a][i][3] = v.w;
        }
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        R::each([&](auto term) {
            constexpr int a = decltype(term)::accumulator;
            if constexpr (a != 0 || !R::promote)
#pragma unroll
                for (int i = 0; i < TILES; i++)
                    multiply<FORMAT, TURNED>(own[a][i], x, s, i, term);
        });
    if constexpr (R::promote != 0)
#pragma unroll
        for (int p = 0; p < products.count; p++)
#pragma unroll
            for (int e = 0; e < TILES * 4; e++)
                own[0][e / 4][e % 4] =
                    __fadd_rn(own[0][e / 4][e % 4], products.of[p][e / 4][e % 4]);
#pragma unroll
    for (int a = 0; a < R::accumulators; a++)
#pragma unroll
        for (int i = 0; i < TILES; i++)
            sums[a][i][lane] =
                make_float4(own[a][i][0], own[a][i][1], own[a][i][2], own[a][i][3]);
}

template <class R> __device__ void sums_clear(slice_sums<R> &sums)
{
#pragma unroll
    for (int a = 0; a < R::accumulators; a++)
#pragma unroll
        for (int i = 0; i < TILES; i++) sums[a][i][threadIdx.x % WARP] = float4{};
}

/* --- a warp's chunks ------------------------------------------------------------------
 */

/* The slice of this warp, and its place among the warps of the slice. */
template <int CHUNK_K> struct warp_place {
    int slice, turn, turns;
    size_t from, end;
    int chunks;

    __device__ explicit warp_place(const arguments &x)
        : slice(threadIdx.x / WARP >> x.turns), turn(0), turns(1 << x.turns), from(0),
          end(0), chunks(0)
    {
        const int of_all = blockIdx.y * x.in_block + slice;
        turn = (int)(threadIdx.x / WARP) & (turns - 1);
        if (slice >= x.in_block || of_all >= x.slices) return;
        from = of_all * x.slice_k;
        end = from + x.slice_k < x.k ? from + x.slice_k : x.k;
        chunks = from < end ? (int)((end - from + CHUNK_K - 1) / CHUNK_K) : 0;
    }
};

constexpr int RING = 2; /* chunks of a warp in shared memory */

/* The shared memory of a block: at most IN_BLOCK slices; totals of slices of its share of
   the outputs of a cluster, which is less than twice as much as it would be without
   powers of two; and a barrier for each warp's turn. */
template <class R> constexpr int in_block_most = R::accumulators > 2 ? 4 : WARPS;
template <class R, int STEPS> struct shared_data {
    chunk<STEPS> ring[WARPS][RING];
    slice_sums<R> sums[in_block_most<R>];
    float folded[2 * in_block_most<R> * OUTPUTS];
    uint64_t turns[WARPS];
};

template <class R, int FORMAT, bool TURNED, int STEPS>
__device__ void chunks_add(shared_data<R, STEPS> &own, const arguments &x)
{
    constexpr int CHUNK_K = STEPS * STEP_K;
    const warp_place<CHUNK_K> w(x);
    const corner at(x);
    const int warp = threadIdx.x / WARP,
              next = (warp & -w.turns) + ((w.turn + 1) & (w.turns - 1));
    const lines_from wide(x.wide, at.matrix, at.wide);
    const lines_from narrow(x.narrow, at.matrix, at.narrow);
    const uint32_t turn = shared_address(&own.turns[warp]);
    auto &ring = own.ring[warp];
    auto &sums = own.sums[w.slice % in_block_most<R>];
    const auto start = [&](int chunk, int place) {
        if (chunk < w.chunks)
            chunk_start(ring[place], x, wide, narrow, w.from + (size_t)chunk * CHUNK_K,
                        w.end);
        copies_end();
    };
    for (int s = 0; s < RING; s++) start(w.turn + s * w.turns, s);
    if (w.turns > 1) {
        if (threadIdx.x % WARP == 0) barrier_init(turn, 1);
        __syncthreads();
    }
    if (!w.chunks && !w.turn && w.slice < x.in_block) sums_clear<R>(sums);
    uint32_t parity = 0;
    for (int chunk = w.turn, place = 0; chunk < w.chunks;
         chunk += w.turns, place = place + 1 == RING ? 0 : place + 1) {
        fragments<R, FORMAT, STEPS> parts;
        promoted<R, STEPS> products;
        values<STEPS, EACH> v;
        values<STEPS, 1> u;
        copies_wait<RING - 1>();
        __syncwarp(); /* the copies of all lanes */
        if (x.wide.along()) values_read<true>(v, u, ring[place]);
        else values_read<false>(v, u, ring[place]);
        __syncwarp();
        start(chunk + RING * w.turns, place);
        parts.make(v, x.wide.scale, u, x.narrow.scale);
        products.template compute<FORMAT, TURNED>(parts);
        if (chunk && w.turns > 1) barrier_wait(turn, parity), parity ^= 1;
        chunk_add<R, FORMAT, TURNED>(sums, parts, products, !chunk);
        __syncwarp();
        if (w.turns > 1 && chunk + 1 < w.chunks && threadIdx.x % WARP == 0)
            barrier_expect(shared_address(&own.turns[next]), 0);
    }
}

/* --- outputs --------------------------------------------------------------------------
 */

/* Output (line, narrow line) of a slice: its accumulators folded into one. */
template <class R>
__device__ float fold(const slice_sums<R> &sums, int line, int narrow, float unscale)
{
    const int lane = line / EACH * 4 + narrow / 2, i = line % EACH;
    const auto sum = [&](int a) {
        return ((const float *)&sums[a][i / 2][lane])[i % 2 * 2 + narrow % 2];
    };
    float v = sum(R::accumulators - 1);
#pragma unroll
    for (int a = R::accumulators - 2; a >= 0; a--) v = __fmaf_rn(v, unscale, sum(a));
    return v;
}

/* Write a number to shared memory of block `rank` of the cluster. */
__device__ __forceinline__ void number_send(float *to, uint32_t rank, float v)
{
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "st.shared::cluster.f32 [there], %2;\n"
                 "}\n" ::"r"(shared_address(to)),
                 "r"(rank), "f"(v)
                 : "memory");
}

/* The sum of output `i` of a block's share over all slices, in the order of k. */
__device__ float total_of(const float *folded, const arguments &x, int i)
{
    float total = folded[i];
#pragma unroll 16
    for (int s = 1; s < x.slices; s++)
        total = __fadd_rn(total, folded[(s << x.share) + i]);
    return total;
}

/* Store output `i` of a block, if it exists. */
__device__ void output_store(const arguments &x, const corner &at, float total, int i)
{
    const size_t line = at.wide + i % LINES, narrow = at.narrow + i / LINES;
    if (line >= x.wide.lines || narrow >= x.narrow.lines) return;
    x.d.at[at.matrix * x.d.stride + line * x.d.wide_step + narrow * x.d.narrow_step] =
        output_of(x.alpha, total, x.beta, x.c.at,
                  at.matrix * x.c.stride + line * x.c.wide_step +
                      narrow * x.c.narrow_step);
}

/* Store the outputs of a block, or send the slices' outputs to the blocks of the cluster
   that sum them. */
template <class R, int STEPS>
__device__ void outputs_add(shared_data<R, STEPS> &own, const arguments &x)
{
    const corner at(x);
    const int outputs = 1 << x.outputs, share = 1 << x.share;
    for (int e = threadIdx.x; e < x.in_block << x.outputs; e += GROUP_THREADS) {
        const int s = e >> x.outputs, i = e & (outputs - 1);
        const float v = fold<R>(own.sums[s], i % LINES, i / LINES, x.unscale);
        float *const to =
            &own.folded[((blockIdx.y * x.in_block + s) << x.share) + (i & (share - 1))];
        if (x.slices == 1) output_store(x, at, v, i);
        else if (gridDim.y == 1) *to = v;
        else number_send(to, i >> x.share, v);
    }
    if (x.slices == 1) return;
    if (gridDim.y > 1) cluster_sync();
    else __syncthreads();
    const int i = (blockIdx.y << x.share) + threadIdx.x;
    if (threadIdx.x < share && i < outputs)
        output_store(x, at, total_of(own.folded, x, threadIdx.x), i);
}

template <class R, int STEPS>
constexpr int shared_bytes = (int)sizeof(shared_data<R, STEPS>);
template <class R, int STEPS>
constexpr int blocks_most = shared_bytes<R, STEPS> > 113 * 1024 ? 1 : 2;

template <class R, int FORMAT, bool TURNED, int STEPS>
__global__ void __launch_bounds__(GROUP_THREADS, blocks_most<R, STEPS>)
    gemv_kernel(const __grid_constant__ arguments x)
{
    extern __shared__ float4 shared[];
    auto &own = *(shared_data<R, STEPS> *)shared;
    if (gridDim.y > 1) cluster_arrive();
    chunks_add<R, FORMAT, TURNED>(own, x);
    if (gridDim.y > 1) cluster_wait(); /* all blocks run */
    __syncthreads();
    outputs_add(own, x);
}

} // namespace

#endif
