/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs with a narrow D, of at most NARROW rows or columns, on Hopper: every FP32 value
   of the wide operand is read once, and split in registers.

   Instruction: mma.sync m16n8k16.  The wide operand, of which D has many rows or columns,
   is in its place of A, and the narrow operand in its place of B.  An output is the same
   sum, because a product does not depend on the order of its factors.

   Launch: a block of WARPS warps has LINES lines of the wide operand; slices of k are
   divided among the blocks of a cluster, along y, and among groups of warps of a block;
   matrices along z.  The warps of a slice take chunks of CHUNK_K of k in turn.  A warp
   splits its chunk, starts loading the chunk after its next one into the same place of
   its ring in shared memory, and computes the promoted products, which begin at +0.  Then
   it waits for its turn, takes the accumulators of the slice from shared memory, adds its
   chunk, and leaves them for the next warp.  So many loads are in flight, and each
   accumulator is still added in ascending order of k.

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

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace
{

/* --- parts -------------------------------------------------------------------------- */

/* Two values rounded to nearest even, the first one in the low half.  A NaN is a NaN,
   whose bits do not matter: the unit's NaN has always the same. */
template <int FORMAT> __device__ uint32_t round_two(float x, float y)
{
    if constexpr (FORMAT == FORMAT_F16) {
        const __half2 two = __floats2half2_rn(x, y);
        return *(const uint32_t *)&two;
    } else {
        const __nv_bfloat162 two = __floats2bfloat162_rn(x, y);
        return *(const uint32_t *)&two;
    }
}
template <int FORMAT> __device__ float2 values_of(uint32_t two)
{
    if constexpr (FORMAT == FORMAT_F16) return __half22float2(*(const __half2 *)&two);
    else return { __uint_as_float(two << 16), __uint_as_float(two & 0xffff0000) };
}

/* Split two values into parts, the residual of the last one being dropped. */
template <int FORMAT, int PARTS>
__device__ void split_two(uint32_t (&to)[PARTS], float x, float y, float scale)
{
#pragma unroll
    for (int w = 0; w < PARTS; w++) {
        to[w] = round_two<FORMAT>(x, y);
        if (w == PARTS - 1) break;
        const float2 high = values_of<FORMAT>(to[w]);
        x = __fmul_rn(__fadd_rn(x, -high.x), scale);
        y = __fmul_rn(__fadd_rn(y, -high.y), scale);
    }
}

/* The fragments of a chunk: register r of a tile of the wide operand has line 2 tile + r
   % 2 of the lane, and k from 2 (r / 2) on. */
template <class R, int FORMAT> struct fragments {
    uint32_t wide[STEPS][R::parts][TILES][4], narrow[STEPS][R::parts][2];

    __device__ void make(const values<EACH> &x, float x_scale, const values<1> &y,
                         float y_scale)
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
template <int FORMAT, bool TURNED, class R, class TERM>
__device__ void multiply(float (&d)[4], const fragments<R, FORMAT> &x, int s, int tile,
                         TERM)
{
    constexpr struct recipe_term t = TERM::row;
    mma<FORMAT>(d, x.wide[s][TURNED ? t.b : t.a][tile], x.narrow[s][TURNED ? t.a : t.b],
                d);
}

/* Promoted products of a chunk: the k-steps of an interval of accumulator 0. */
template <class R> struct promoted {
    static constexpr int steps = R::promote ? R::promote / R::in_first : STEPS,
                         count = STEPS / steps;
    static_assert(STEPS % steps == 0);
    float of[R::promote ? count : 1][TILES][4];

    template <int FORMAT, bool TURNED>
    __device__ void compute(const fragments<R, FORMAT> &x)
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

/* Add a chunk to the accumulators of its slice. */
template <class R, int FORMAT, bool TURNED>
__device__ void chunk_add(slice_sums<R> &sums, const fragments<R, FORMAT> &x,
                          const promoted<R> &products)
{
    float own[R::accumulators][TILES][4];
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int a = 0; a < R::accumulators; a++)
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            const float4 v = sums[a][i][lane];
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

/* --- a warp's chunks ------------------------------------------------------------------
 */

/* The slice of this warp, and its place among the warps of the slice. */
struct warp_place {
    int turns, slice, turn;
    size_t from, end;
    int chunks;

    __device__ explicit warp_place(const arguments &x)
        : turns(WARPS / x.in_block), slice(threadIdx.x / WARP / turns),
          turn(threadIdx.x / WARP % turns), from(0), end(0), chunks(0)
    {
        const int of_all = blockIdx.y * x.in_block + slice;
        if (slice >= x.in_block || of_all >= x.slices) return;
        from = of_all * x.slice_k;
        end = from + x.slice_k < x.k ? from + x.slice_k : x.k;
        chunks = from < end ? (int)((end - from + CHUNK_K - 1) / CHUNK_K) : 0;
    }
};

template <class R, int FORMAT, bool TURNED>
__device__ void chunks_add(slice_sums<R> &sums, warp_ring r, uint32_t turn_barriers,
                           const warp_place &w, const arguments &x, const maps &m)
{
    const uint32_t own = turn_barriers + 8 * (threadIdx.x / WARP);
    const uint32_t next =
        turn_barriers + 8 * (w.slice * w.turns + (w.turn + 1) % w.turns);
    const bool along = x.wide.along();
    const lane_places places(along, x.narrow.along());
    uint32_t parity = 0;
    const auto start = [&](int chunk, int place) {
        if (chunk < w.chunks)
            chunk_start(r, place, x, m, w.from + (size_t)chunk * CHUNK_K, w.end);
        copies_end();
    };
    for (int s = 0; s < RING; s++) start(w.turn + s * w.turns, s);
    for (int chunk = w.turn; chunk < w.chunks; chunk += w.turns) {
        const size_t left = w.end - w.from - (size_t)chunk * CHUNK_K;
        const int steps = left < CHUNK_K ? ((int)left + STEP_K - 1) / STEP_K : STEPS;
        fragments<R, FORMAT> parts;
        promoted<R> products;
        values<EACH> v;
        values<1> u;
        chunk_wait(r, x.mapped);
        if (along) values_read<true>(v, u, r.at[r.place], places);
        else values_read<false>(v, u, r.at[r.place], places);
        __syncwarp();
        start(chunk + RING * w.turns, r.place);
        r.advance();
        if (steps < STEPS) values_end(v, u, steps);
        parts.make(v, x.wide.scale, u, x.narrow.scale);
        products.template compute<FORMAT, TURNED>(parts);
        if (chunk && w.turns > 1) barrier_wait(own, parity), parity ^= 1;
        chunk_add<R, FORMAT, TURNED>(sums, parts, products);
        __syncwarp();
        if (w.turns > 1 && chunk + 1 < w.chunks && threadIdx.x % WARP == 0)
            barrier_arrive(next, blockIdx.y);
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

/* A number in shared memory of block `rank` of the cluster. */
__device__ __forceinline__ float number_of(const float *at, uint32_t rank)
{
    float v;
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %1, %2;\n"
                 "ld.shared::cluster.f32 %0, [there];\n"
                 "}\n"
                 : "=f"(v)
                 : "r"(shared_address(at)), "r"(rank)
                 : "memory");
    return v;
}

/* The sum of an output over all slices of the cluster, in the order of k. */
__device__ float total_of(const float (*folded)[OUTPUTS], int output, const arguments &x)
{
    enum { SOME = 8 }; /* numbers that are read before they are added */
    float total = 0;
    for (int first = 0; first < x.slices; first += SOME) {
        float some[SOME];
#pragma unroll
        for (int e = 0; e < SOME; e++) {
            const int s = first + e;
            some[e] = s < x.slices
                          ? number_of(&folded[s % x.in_block][output], s / x.in_block)
                          : 0;
        }
#pragma unroll
        for (int e = 0; e < SOME; e++)
            if (first + e < x.slices)
                total = first + e ? __fadd_rn(total, some[e]) : some[e];
    }
    return total;
}

__device__ void output_store(const arguments &x, float total, size_t line, size_t narrow)
{
    if (line >= x.wide.lines || narrow >= x.narrow.lines) return;
    const size_t matrix = blockIdx.z;
    x.d.at[matrix * x.d.stride + line * x.d.wide_step + narrow * x.d.narrow_step] =
        output_of(x.alpha, total, x.beta, x.c.at,
                  matrix * x.c.stride + line * x.c.wide_step + narrow * x.c.narrow_step);
}

/* The shared memory of a block. */
template <class R> struct shared_data {
    chunk ring[WARPS][RING];
    slice_sums<R> sums[WARPS];
    float folded[WARPS][OUTPUTS];
    uint64_t turns[WARPS], full[WARPS][RING];
};
constexpr int ALIGNMENT = 1024; /* of swizzled boxes */
template <class R> constexpr int shared_bytes = (int)sizeof(shared_data<R>) + ALIGNMENT;

template <class R> __device__ void shared_init(shared_data<R> &own)
{
    float4 *const sums = &own.sums[0][0][0][0];
    for (int i = threadIdx.x; i < (int)(sizeof own.sums / sizeof *sums);
         i += GROUP_THREADS)
        sums[i] = make_float4(0, 0, 0, 0);
    if (threadIdx.x < WARPS) {
        barrier_init(shared_address(&own.turns[threadIdx.x]), 1);
        for (int s = 0; s < RING; s++)
            barrier_init(shared_address(&own.full[threadIdx.x][s]), 1);
        barrier_init_done();
    }
    __syncthreads();
}

template <class R, int FORMAT, bool TURNED>
__global__ void __launch_bounds__(GROUP_THREADS, 2)
    gemv_kernel(const __grid_constant__ arguments x, const __grid_constant__ maps m)
{
    extern __shared__ char shared[];
    const uint32_t start = shared_address(shared);
    shared_data<R> &own =
        *(shared_data<R> *)(shared + (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT);
    const warp_place w(x);
    const int warp = threadIdx.x / WARP;
    if (threadIdx.x == 0 && x.mapped) parts_foresee(&m.wide), parts_foresee(&m.narrow);
    shared_init(own);
    chunks_add<R, FORMAT, TURNED>(own.sums[w.slice % WARPS],
                                  { own.ring[warp], shared_address(own.full[warp]) },
                                  shared_address(own.turns), w, x, m);
    __syncthreads();
    for (int i = threadIdx.x; i < OUTPUTS; i += GROUP_THREADS)
        for (int s = 0; s < x.in_block; s++)
            own.folded[s][i] = fold<R>(own.sums[s], i % LINES, i / LINES, x.unscale);
    if (gridDim.y > 1) cluster_sync();
    const int share = OUTPUTS / (int)gridDim.y, first = share * (int)blockIdx.y;
    for (int i = first + threadIdx.x; i < first + share; i += GROUP_THREADS)
        output_store(x, total_of(own.folded, i, x),
                     (size_t)blockIdx.x * LINES + i % LINES, i / LINES);
    if (gridDim.y > 1) cluster_sync(); /* others may still read its sums */
}

} // namespace

#endif
