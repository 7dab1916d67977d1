/* SPDX-License-Identifier: BSD-3-Clause */
/* The split of both operands at the start of a product's kernel (gpu/cuda/gemm_sm90.cuh),
   so that a GEMM is one launch: parts of 16 bits, rounded to nearest even.

   Each warp of the launch splits its share of the squares of the operands: SQUARE lines
   by SQUARE of k.  It copies squares to shared memory, SQUARES of them at a time, and
   splits them in registers (gpu/cuda/split_two.cuh).  Then the loading warpgroup of a
   block waits until all blocks have split their shares.

   Progress.  A block may wait for blocks that have not begun, because other kernels
   occupy multiprocessors.  So a block that has waited for long makes all parts itself:
   parts written twice have the same bits.  No block depends on another one to begin.

   The gate counts blocks.  It is in the workspace, whose contents are anything at the
   start; so it has a token, a number that no other launch has, and the first block to
   come sets it.  The last block to leave clears it, so that a graph can start the launch
   again. */
#ifndef BITCUT_GPU_CUDA_FUSED_SM90_CUH
#define BITCUT_GPU_CUDA_FUSED_SM90_CUH

#include "gpu/cuda/cuda.cuh"
#include "gpu/cuda/row_sm90.cuh"
#include "gpu/cuda/sm90.cuh"
#include "gpu/cuda/split_two.cuh"

/* --- what a launch splits --------------------------------------------------------- */

constexpr int SQUARE = 32;

/* An operand: element p of line i is from[i ld + p], or from[p ld + i] if it lies across
   lines. */
struct split_from {
    const float *from;
    char *parts;
    long long ld;
    unsigned lines;
    float scale;
    bool across;
    bool fours; /* whether 16 bytes at a time are copied: rows are aligned, and their
                   lengths are multiples of four                                      */
};

/* The gate of a launch: its token, the number of blocks that need the gate no more, and
   the number of blocks that have split. */
using split_gate = unsigned long long;
constexpr int GATE_BITS = 10, TOKEN_BITS = 64 - 2 * GATE_BITS; /* bits of a number     */
constexpr unsigned GATE_MOST = (1 << GATE_BITS) - 1;           /* blocks               */

struct split_first {
    struct split_from of[2];
    unsigned k, runs;         /* k, and squares along k                            */
    unsigned second, squares; /* the first square of B; their number, 0: no splits */
    unsigned long long magic; /* 2^32 / runs, rounded up                           */
    split_gate *gate, open;   /* where it is, and its value when it opens         */
    int patience;             /* clocks that a block waits                         */
};

/* Largest number of squares, so that `magic` divides exactly. */
constexpr unsigned SQUARES_MAX = 1 << 16;

/* --- the gate --------------------------------------------------------------------- */

static __device__ __forceinline__ bool gate_has(split_gate gate, const split_first &x)
{
    return gate >> 2 * GATE_BITS == x.open >> 2 * GATE_BITS;
}

/* Most gates are 0, because a launch before had the same workspace. */
static __device__ __forceinline__ void gate_open(const split_first &x)
{
    for (split_gate seen = 0, is; !gate_has(seen, x); seen = is) {
        is = atomicCAS(x.gate, seen, x.open);
        if (is == seen) return;
    }
}

/* Count this block, whose threads have all split. */
static __device__ __forceinline__ void gate_count(const split_first &x)
{
    asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(x.gate) : "memory");
}

/* Wait for all blocks.  Returns whether they have split. */
static __device__ __forceinline__ bool gate_wait(const split_first &x)
{
    const long long from = clock64();
    split_gate gate;
    do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                     : "=l"(gate)
                     : "l"(x.gate)
                     : "memory");
        if ((gate & GATE_MOST) == gridDim.x) return true;
    } while (clock64() - from < x.patience);
    return false;
}

/* This block needs the gate no more. */
static __device__ __forceinline__ void gate_leave(const split_first &x)
{
    const split_gate before = atomicAdd(x.gate, (split_gate)1 << GATE_BITS);
    if ((before >> GATE_BITS & GATE_MOST) == gridDim.x - 1) atomicExch(x.gate, 0);
}

/* --- a square --------------------------------------------------------------------- */

/* A square in shared memory: rows as in memory, of eight fours.  Four i of row r is at i
   ^ r % 8, if rows are lines, or else at i ^ 2 (r / 8), so that the lanes of a warp read
   different banks. */
constexpr int SQUARE_FOURS = SQUARE / 4;
using split_square = float4[SQUARE * SQUARE_FOURS];

static __device__ __forceinline__ int four_at(bool across, int row, int i)
{
    return row * SQUARE_FOURS + (i ^ (across ? row / 8 * 2 : row % 8));
}

/* Square `i` of both operands: the operand, its first line and first k. */
struct split_place {
    const split_from &of;
    unsigned line, k;

    __device__ split_place(const split_first &x, unsigned i)
        : of(x.of[i >= x.second]), line(0), k(0)
    {
        i -= i >= x.second ? x.second : 0;
        line = (unsigned)(i * x.magic >> 32);
        k = (i - line * x.runs) * SQUARE;
        line *= SQUARE;
    }
};

/* Start copying a square, by a warp; values that do not exist become +0. */
static __device__ __forceinline__ void
square_start(split_square &to, const split_first &x, const split_place &p)
{
    const int lane = threadIdx.x % WARP;
    const bool across = p.of.across;
    const int lines = (int)(p.of.lines - p.line), ks = (int)(x.k - p.k);
    const int rows = across ? ks : lines, columns = across ? lines : ks;
    const float *const from =
        p.of.from + (across ? p.k * p.of.ld + p.line : p.line * p.of.ld + p.k);
    if (p.of.fours) {
        const int row = lane / SQUARE_FOURS, i = lane % SQUARE_FOURS;
#pragma unroll
        for (int r = row; r < SQUARE; r += WARP / SQUARE_FOURS) {
            const bool exists = r < rows && 4 * i < columns;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                             shared_address(&to[four_at(across, r, i)])),
                         "l"(exists ? from + r * p.of.ld + 4 * i : from),
                         "r"(exists ? 16 : 0)
                         : "memory");
        }
        return;
    }
#pragma unroll 4
    for (int r = 0; r < SQUARE; r++) {
        const bool exists = r < rows && lane < columns;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(
                         (float *)&to[four_at(across, r, lane / 4)] + lane % 4)),
                     "l"(exists ? from + r * p.of.ld + lane : from), "r"(exists ? 4 : 0)
                     : "memory");
    }
}

/* Eight consecutive k of line `line` of a square, from k 8 `group` on. */
static __device__ __forceinline__ void run_read(float (&v)[8], const split_square &from,
                                                bool across, int line, int group)
{
    if (across) {
        const float *const at = (const float *)&from[four_at(true, 8 * group, line / 4)];
#pragma unroll
        for (int e = 0; e < 8; e++) v[e] = at[e * SQUARE + line % 4];
        return;
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float4 four = from[four_at(false, line, 2 * group + h)];
        v[4 * h] = four.x, v[4 * h + 1] = four.y, v[4 * h + 2] = four.z,
              v[4 * h + 3] = four.w;
    }
}

/* Split eight values of a line of a square into PARTS parts, if the line exists. */
template <int FORMAT, int PARTS>
static __device__ __forceinline__ void
run_split(const float (&v)[8], const split_first &x, const split_place &p, int line,
          int group)
{
    const size_t run = x.runs * SQUARE;
    char *const to = p.of.parts + 2 * ((p.line + line) * run + p.k + 8 * group);
    uint32_t part[4][PARTS];
#pragma unroll
    for (int e = 0; e < 4; e++)
        split_two<FORMAT, PARTS>(part[e], v[2 * e], v[2 * e + 1], p.of.scale);
    if (p.line + line >= p.of.lines) return;
#pragma unroll
    for (int w = 0; w < PARTS; w++)
        *(uint4 *)(to + 2 * run * w * p.of.lines) =
            make_uint4(part[0][w], part[1][w], part[2][w], part[3][w]);
}

/* Split a square, by a warp. */
template <int FORMAT, int PARTS>
static __device__ __forceinline__ void
square_split(const split_square &from, const split_first &x, const split_place &p)
{
    const int lane = threadIdx.x % WARP, group = lane % 4;
#pragma unroll
    for (int line = lane / 4; line < SQUARE; line += WARP / 4) {
        float v[8];
        run_read(v, from, p.of.across, line, group);
        run_split<FORMAT, PARTS>(v, x, p, line, group);
    }
}

/* --- all squares ------------------------------------------------------------------ */

constexpr int SPLIT_WARPS = GROUPS * GROUP / WARP, SQUARES = 3;
constexpr int SPLIT_SHARED = SPLIT_WARPS * SQUARES * (int)sizeof(split_square);

/* Split the share of this block, and open the gate while values come.  `shared`:
   SPLIT_SHARED bytes.  All threads of a block call this. */
template <int FORMAT, int PARTS>
static __device__ __forceinline__ void share_split(void *shared, const split_first &x)
{
    const int warp = threadIdx.x / WARP;
    split_square *const own = (split_square *)shared + warp * SQUARES;
    const unsigned step = SPLIT_WARPS * gridDim.x;
    unsigned first = warp * gridDim.x + blockIdx.x;
    bool opens = threadIdx.x == GROUPS * GROUP - 1;
    do {
#pragma unroll 1
        for (int s = 0; s < SQUARES; s++)
            if (first + s * step < x.squares)
                square_start(own[s], x, split_place(x, first + s * step));
        if (opens) gate_open(x);
        opens = false;
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncwarp();
#pragma unroll 1
        for (int s = 0; s < SQUARES; s++)
            if (first + s * step < x.squares)
                square_split<FORMAT, PARTS>(own[s], x, split_place(x, first + s * step));
        __syncwarp();
        first += SQUARES * step;
    } while (first < x.squares);
    __syncthreads();
    if (threadIdx.x == 0) gate_count(x);
}

/* Split all squares without shared memory, which other blocks may fill now.  All threads
   of the first warpgroup call this.  Not inlined, because it needs more registers than
   that warpgroup has. */
template <int FORMAT, int PARTS>
static __device__ __noinline__ void all_split(const split_first &x)
{
    constexpr unsigned runs = SQUARE * SQUARE / 8;
#pragma unroll 1
    for (unsigned u = threadIdx.x; u < x.squares * runs; u += GROUP) {
        const split_place p(x, u / runs);
        const int line = u % runs / 4, group = u % 4;
        const unsigned k = p.k + 8 * group;
        const float *const from =
            p.of.from +
            (p.of.across ? k * p.of.ld + p.line + line : (p.line + line) * p.of.ld + k);
        float v[8];
#pragma unroll
        for (int e = 0; e < 8; e++)
            v[e] = p.line + line < p.of.lines && k + e < x.k
                       ? from[p.of.across ? e * p.of.ld : e]
                       : 0;
        run_split<FORMAT, PARTS>(v, x, p, line, group);
    }
}

/* Wait for the parts: when this returns, thread 0 knows that they are there.  All threads
   of the first warpgroup call this, after share_split(). */
template <int FORMAT, int PARTS>
static __device__ __forceinline__ void parts_wait(const split_first &x)
{
    __shared__ bool alone;
    if (threadIdx.x == 0) alone = !gate_wait(x);
    loaders_sync();
    if (threadIdx.x == GROUP - 1) gate_leave(x);
    if (!alone) return;
    all_split<FORMAT, PARTS>(x);
    loaders_sync();
}

#endif
