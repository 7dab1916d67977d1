/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of gpu/cuda/gemv_sm90.cuh: from FP32 matrices to a lane's registers,
   through rings in shared memory.  A warp copies its own chunks: 16 bytes at a time, or
   value by value if they are not aligned, 128 bytes of a row by neighbouring lanes.
   Values that do not exist are +0. */
#ifndef BITCUT_GPU_CUDA_GEMV_LOAD_SM90_CUH
#define BITCUT_GPU_CUDA_GEMV_LOAD_SM90_CUH

#include "gpu/cuda/row_sm90.cuh"
#include "gpu/cuda/sm90.cuh"

namespace
{

constexpr int WARPS = 8, GROUP_THREADS = WARP * WARPS;
constexpr int NARROW = 8, TILES = 2, LINES = 16 * TILES, EACH = 4, STEP_K = 16;
constexpr int OUTPUTS = LINES * NARROW;
static_assert(LINES == 8 * EACH && STEP_K == 4 * EACH);

/* An operand: element p of line i is at[i line_step + p k_step].  Its k is contiguous in
   memory, or its lines are: k_step or line_step is 1. */
struct side {
    const float *at;
    size_t stride, line_step, k_step, lines;
    float scale;
    bool fours; /* whether it is copied 16 bytes at a time */

    __host__ __device__ bool along() const { return k_step == 1; }
};

/* C or D: output (line of the wide operand, line of the narrow operand). */
struct outputs {
    float *at;
    size_t stride, wide_step, narrow_step;
};

struct arguments {
    struct side wide, narrow;
    struct outputs c, d; /* c.at is NULL: beta is zero */
    size_t k, slice_k;
    int slices, in_block;      /* slices of k, and of a block                           */
    int groups;                /* groups of at most NARROW lines of the narrow operand  */
    int turns, outputs, share; /* powers of two, as logarithms: warps that take turns in a
                                  slice; outputs of a block; outputs that a block of a
                                  cluster sums                                       */
    float unscale, alpha, beta;
};

/* The outputs of a block: its first lines. */
struct corner {
    size_t wide, narrow, matrix;

    __device__ explicit corner(const arguments &x)
        : wide((size_t)(blockIdx.x / x.groups) * LINES),
          narrow((size_t)(blockIdx.x % x.groups) * NARROW), matrix(blockIdx.z)
    {
    }
};

/* --- copies --------------------------------------------------------------------------
 */

/* The values of STEPS k-steps in shared memory, in blocks of BLOCK_K of k: of the wide
   operand as in memory, rows of 32 values, each a line or a k; of the narrow operand
   lines of k.  The 16 bytes p of a row are at p ^ mirrored(x), where x is a row of the
   narrow operand, or a group of four rows of the wide one: so that eight lanes write and
   read different banks. */
constexpr int BLOCK_K = GPU_NARROW_K, FOURS = BLOCK_K / 4;
static_assert(LINES == BLOCK_K);
template <int STEPS> struct chunk {
    static constexpr int blocks = STEPS * STEP_K / BLOCK_K;
    float4 wide[blocks][LINES * FOURS], narrow[blocks][NARROW * FOURS];
};

/* The number with its three bits in reverse order. */
__device__ __forceinline__ constexpr int mirrored(int x)
{
    return (x & 1) << 2 | (x & 2) | (x >> 2 & 1);
}

__device__ __forceinline__ int from_0_to(int most, long long x)
{
    return (int)(x < 0 ? 0 : x < most ? x : most);
}

/* Copy `count` of four values, or one value; the others become +0. */
__device__ __forceinline__ void four_start(float4 *to, const float *from, int count)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(4 * count)
                 : "memory");
}
__device__ __forceinline__ void value_start(float *to, const float *from, bool exists)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(exists ? 4 : 0)
                 : "memory");
}

/* Copy a block of the wide operand, of which `rows` rows of `count` values exist. */
__device__ __forceinline__ void wide_start(float4 *to, const float *from, size_t step,
                                           int rows, int count, bool fours)
{
    const int lane = threadIdx.x % WARP, p = lane % FOURS, row = lane / FOURS;
    if (fours) {
        const int here = from_0_to(4, count - 4 * p);
        from += row * step + 4 * p;
#pragma unroll
        for (int j = 0; j < FOURS; j++, from += 4 * step)
            four_start(&to[(4 * j + row) * FOURS + (p ^ mirrored(j))], from,
                       4 * j + row < rows ? here : 0);
        return;
    }
    from += lane;
#pragma unroll 8
    for (int j = 0; j < LINES; j++, from += step)
        value_start((float *)&to[j * FOURS + (lane / 4 ^ mirrored(j / 4))] + lane % 4,
                    from, j < rows && lane < count);
}

/* Copy a block of the narrow operand, of which `lines` lines of `count` values exist. */
__device__ __forceinline__ void narrow_start(float4 *to, const side &x, const float *from,
                                             int lines, int count)
{
    const int lane = threadIdx.x % WARP;
    if (x.fours) {
        const int p = lane % FOURS, line = lane / FOURS;
        const int here = from_0_to(4, count - 4 * p);
        from += line * x.line_step + 4 * p;
#pragma unroll
        for (int j = 0; j < 2; j++, from += 4 * x.line_step)
            four_start(&to[(4 * j + line) * FOURS + (p ^ mirrored(line) ^ j)], from,
                       4 * j + line < lines ? here : 0);
        return;
    }
    const int line = lane % NARROW, k = lane / NARROW;
    from += line * x.line_step + k * x.k_step;
#pragma unroll
    for (int j = 0; j < FOURS; j++, from += 4 * x.k_step)
        value_start((float *)&to[line * FOURS + (j ^ mirrored(line))] + k, from,
                    line < lines && 4 * j + k < count);
}

/* What a warp copies: the first value of k 0, and how many lines exist. */
struct lines_from {
    const float *from;
    int lines;

    __device__ lines_from(const side &x, size_t matrix, size_t line)
        : from(x.at + matrix * x.stride + line * x.line_step),
          lines(from_0_to(LINES, (long long)x.lines - (long long)line))
    {
    }
};

/* Start copying a chunk from k on. */
template <int STEPS>
__device__ __forceinline__ void
chunk_start(chunk<STEPS> &to, const arguments &x, const lines_from &wide,
            const lines_from &narrow, size_t k, size_t end)
{
    const bool along = x.wide.along();
#pragma unroll
    for (int b = 0; b < chunk<STEPS>::blocks; b++, k += BLOCK_K) {
        const int count = from_0_to(BLOCK_K, (long long)end - (long long)k);
        wide_start(to.wide[b], wide.from + k * x.wide.k_step,
                   along ? x.wide.line_step : x.wide.k_step, along ? wide.lines : count,
                   along ? count : wide.lines, x.wide.fours);
        narrow_start(to.narrow[b], x.narrow, narrow.from + k * x.narrow.k_step,
                     narrow.lines, count);
    }
}

/* Let the copies since the last call be a group, and wait for all but the last PENDING
   groups. */
__device__ __forceinline__ void copies_end() { asm volatile("cp.async.commit_group;"); }
template <int PENDING> __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* --- reads ------------------------------------------------------------------------ */

/* A lane's values of a chunk: `COUNT` lines and four k of each k-step. */
template <int STEPS, int COUNT> using values = float[STEPS][COUNT][EACH];

template <bool ALONG, int STEPS>
__device__ __forceinline__ void values_read(values<STEPS, EACH> &v, values<STEPS, 1> &u,
                                            const chunk<STEPS> &from)
{
    const int g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
    const int narrow = g * FOURS + (t ^ mirrored(g));
    const int wide =
        ALONG ? 4 * g * FOURS + (t ^ mirrored(g)) : 4 * t * FOURS + (g ^ mirrored(t));
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        const int b = s / 2, odd = s % 2;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const float4 w =
                from.wide[b][(ALONG ? wide ^ 4 * odd : (wide ^ odd) + 16 * FOURS * odd) +
                             FOURS * i];
            const float four[EACH] = { w.x, w.y, w.z, w.w };
#pragma unroll
            for (int j = 0; j < EACH; j++) (ALONG ? v[s][i][j] : v[s][j][i]) = four[j];
        }
        const float4 n = from.narrow[b][narrow ^ 4 * odd];
        u[s][0][0] = n.x, u[s][0][1] = n.y, u[s][0][2] = n.z, u[s][0][3] = n.w;
    }
}

} // namespace

#endif
