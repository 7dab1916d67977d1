/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of gpu/cuda/gemv_sm90.cuh: from FP32 matrices to a lane's registers,
   through rings in shared memory.  TMA copies boxes of a chunk, if rows begin at whole 16
   bytes; else lanes copy value by value.  Values that do not exist are +0. */
#ifndef BITCUT_GPU_CUDA_GEMV_LOAD_SM90_CUH
#define BITCUT_GPU_CUDA_GEMV_LOAD_SM90_CUH

#include "gpu/cuda/row_sm90.cuh"
#include "gpu/cuda/sm90.cuh"

namespace
{

constexpr int WARPS = 4, GROUP_THREADS = WARP * WARPS;
constexpr int NARROW = 8, TILES = 2, LINES = 16 * TILES, EACH = 4;
constexpr int STEP_K = 16, STEPS = 4, CHUNK_K = STEP_K * STEPS;
constexpr int OUTPUTS = LINES * NARROW;
static_assert(OUTPUTS % GROUP_THREADS == 0 && LINES == 8 * EACH);

/* An operand: element p of line i is at[i line_step + p k_step].  Its k is contiguous in
   memory, or its lines are: k_step or line_step is 1. */
struct side {
    const float *at;
    size_t stride, line_step, k_step, lines;
    float scale;

    __host__ __device__ bool along() const { return k_step == 1; }
};

/* How TMA copies boxes of a chunk of both operands. */
struct maps {
    CUtensorMap wide, narrow;
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
    int slices, in_block; /* slices of k, and of a block */
    bool mapped;          /* whether there are maps      */
    float unscale, alpha, beta;
};

/* --- loads -------------------------------------------------------------------------- */

/* The values of a chunk in shared memory, which rings of RING chunks for each warp have:
   lines of CHUNK_K values, or CHUNK_K rows of one value for each line.  In rows of the
   wide operand, chunk c of 16 bytes of row k is at c ^ k % 8, as TMA swizzles them. */
constexpr int RING = 2;
struct chunk {
    float wide[LINES * CHUNK_K], narrow[NARROW * CHUNK_K];
};
constexpr int CHUNK_STRIDE = 10 * 1024;
static_assert(sizeof(chunk) == CHUNK_STRIDE && sizeof(chunk::wide) % 1024 == 0);

__device__ __forceinline__ int wide_at(bool along, int line, int k)
{
    return along ? line * CHUNK_K + k
                 : k * LINES + ((line / EACH ^ k % 8) * EACH + line % EACH);
}
__device__ __forceinline__ int narrow_at(bool along, int line, int k)
{
    return along ? line * CHUNK_K + k : k * NARROW + line;
}

/* Copy the box from (column, row) of a matrix; its bytes count at the barrier. */
__device__ __forceinline__ void box_start(uint32_t to, const CUtensorMap *map, int column,
                                          int row, int matrix, uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                 :
                 : "r"(to), "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(barrier)
                 : "memory");
}

/* Copy a value, or +0 if it does not exist. */
__device__ __forceinline__ void value_start(float *to, const float *from, bool exists)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(exists ? 4 : 0)
                 : "memory");
}

/* Copy `COUNT` lines from `line` on, one value after the other; a warp copies values that
   are next to each other in memory. */
template <int COUNT, class At>
__device__ void values_start(float *to, const side &x, const float *from, size_t line,
                             size_t k, size_t end, At at)
{
    const int lane = threadIdx.x % WARP;
    const long long lines = (long long)x.lines - (long long)line;
    const long long left = (long long)end - (long long)k;
    from += line * x.line_step + k * x.k_step;
    if (x.along()) {
#pragma unroll 8
        for (int i = 0; i < COUNT; i++, from += x.line_step)
#pragma unroll
            for (int p = lane; p < CHUNK_K; p += WARP)
                value_start(to + at(true, i, p), from + p, i < lines && p < left);
    } else {
        constexpr int ROWS = WARP / COUNT;
        const int i = lane % COUNT;
        from += i + lane / COUNT * x.k_step;
#pragma unroll 8
        for (int p = lane / COUNT; p < CHUNK_K; p += ROWS, from += ROWS * x.k_step)
            value_start(to + at(false, i, p), from, i < lines && p < left);
    }
}

/* The ring of a warp, with a barrier for each place. */
struct warp_ring {
    chunk *at;
    uint32_t full;
    int place = 0;
    uint32_t parity = 0;

    __device__ warp_ring(chunk *ring, uint32_t barriers) : at(ring), full(barriers) {}
    __device__ void advance()
    {
        if (++place == RING) place = 0, parity ^= 1;
    }
};

/* Start loading a chunk from k on into a place of the ring. */
__device__ void chunk_start(const warp_ring &r, int place, const arguments &x,
                            const maps &m, size_t k, size_t end)
{
    const size_t line = (size_t)blockIdx.x * LINES, matrix = blockIdx.z;
    chunk &to = r.at[place];
    if (!x.mapped) {
        values_start<LINES>(to.wide, x.wide, x.wide.at + matrix * x.wide.stride, line, k,
                            end, wide_at);
        values_start<NARROW>(to.narrow, x.narrow, x.narrow.at + matrix * x.narrow.stride,
                             0, k, end, narrow_at);
    } else if (threadIdx.x % WARP == 0) {
        const uint32_t full = r.full + 8 * place;
        const int p = (int)k, i = (int)line, along = x.wide.along();
        barrier_expect(full, sizeof(chunk));
        box_start(shared_address(to.wide), &m.wide, along ? p : i, along ? i : p,
                  x.wide.stride ? (int)matrix : 0, full);
        box_start(shared_address(to.narrow), &m.narrow, x.narrow.along() ? p : 0,
                  x.narrow.along() ? 0 : p, x.narrow.stride ? (int)matrix : 0, full);
    }
}

/* End a chunk's copies without TMA, and wait for the oldest chunk. */
__device__ __forceinline__ void copies_end() { asm volatile("cp.async.commit_group;"); }
__device__ __forceinline__ void chunk_wait(const warp_ring &r, bool mapped)
{
    if (mapped) barrier_wait(r.full + 8 * r.place, r.parity);
    else asm volatile("cp.async.wait_group %0;" ::"n"(RING - 1) : "memory");
    __syncwarp();
}

/* A lane's values of a chunk: `COUNT` lines and four k of each k-step. */
template <int COUNT> using values = float[STEPS][COUNT][EACH];

/* Where a lane's values of a chunk are: of the wide operand 16 bytes for each i, four k
   of line i or four lines of k i; of the narrow one each k.  A k-step is a step further.
 */
struct lane_places {
    int wide[EACH], narrow[EACH], wide_step, narrow_step;

    __device__ lane_places(bool along, bool narrow_along)
        : wide_step(wide_at(along, 0, STEP_K)),
          narrow_step(narrow_at(narrow_along, 0, STEP_K))
    {
        const int g = threadIdx.x % WARP / 4, k = EACH * (threadIdx.x % 4);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            wide[i] =
                along ? wide_at(true, EACH * g + i, k) : wide_at(false, EACH * g, k + i);
            narrow[i] = narrow_at(narrow_along, g, k + i);
        }
    }
};

/* Read a lane's values. */
template <bool ALONG>
__device__ __forceinline__ void values_read(values<EACH> &v, values<1> &u,
                                            const chunk &from, const lane_places &at)
{
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const float4 w = *(const float4 *)&from.wide[at.wide[i] + s * at.wide_step];
            const float four[EACH] = { w.x, w.y, w.z, w.w };
#pragma unroll
            for (int j = 0; j < EACH; j++) (ALONG ? v[s][i][j] : v[s][j][i]) = four[j];
            u[s][0][i] = from.narrow[at.narrow[i] + s * at.narrow_step];
        }
}

/* K-steps from `steps` on, which belong to the next slice, become +0. */
__device__ __forceinline__ void values_end(values<EACH> &v, values<1> &u, int steps)
{
#pragma unroll
    for (int s = 1; s < STEPS; s++) {
        if (s < steps) continue;
#pragma unroll
        for (int e = 0; e < EACH * EACH; e++) v[s][e / EACH][e % EACH] = 0;
#pragma unroll
        for (int e = 0; e < EACH; e++) u[s][0][e] = 0;
    }
}

} // namespace

#endif
