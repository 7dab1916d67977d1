/* SPDX-License-Identifier: BSD-3-Clause */
/* The split pass: FP32 values are split into parts, bit for bit as by lib/number/split.c.

   Launch: a block of 2 THREADS for BLOCK_LINES lines by BLOCK_K of k of one matrix,
   matrices along y.  A thread makes the parts of EACH consecutive k of one line, and
   stores all values of one part at once.  A transposed operand is read along its own rows
   and transposed in shared memory.  Values are read 16 bytes at a time; if they are not
   aligned, from the 16-byte boundary before them on.  Every FP32 value is read from memory
   once, and then evicted from the L2 cache to make room for parts.  Positions of k beyond the
   operand are +0.  Both operands of a GEMM are split in one launch if they have the same
   roundings, are not equilibrated, and have the same number of matrices.

   Equilibrated lines that are contiguous in memory, with at most HELD_MAX elements, are
   also read once: one block holds one line in shared memory, each thread the elements
   that it reads, until the largest magnitude is known.  For other lines, a separate pass
   finds the largest magnitude, and they are read twice.

   Exact: a part is round_pack() of lib/number/round.c for FP32 values; the residual is an
   FP32 subtraction and an FP32 multiplication, to nearest; gpu/cuda/gemm.cuh scales. */
#include "gpu/cuda/launch.cuh"
#include "gpu/cuda/split_round.cuh"

#include <cmath>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace
{

enum { BLOCK_LINES = 32, BLOCK_K = 64, EACH = 8 };
static_assert(THREADS * EACH * 2 == BLOCK_LINES * BLOCK_K && GPU_PARTS_RUN % EACH == 0);

/* --- the kernel ------------------------------------------------------------------- */

struct arguments {
    char *parts;
    const float *from;
    size_t prepared_stride, stride; /* bytes, and elements, to the next matrix */
    size_t lines, k, ld;
    bool across;
    int count, copy; /* number of parts; index of the part that is a copy, 0: none */
    float scale;
    bitcut_rounding high, low;
    uint32_t *largest; /* largest magnitude of each line; NULL: not equilibrated   */
    int target;        /* t of equilibrated lines                                  */
};

/* Elements in a run of a part. */
__device__ size_t run_of(const arguments &a)
{
    return (a.k + GPU_PARTS_RUN - 1) / GPU_PARTS_RUN * GPU_PARTS_RUN;
}

/* The values of this block's matrix. */
__device__ const float *values(const arguments &a)
{
    return a.from + blockIdx.y * a.stride;
}
__device__ uint32_t *largest_of(const arguments &a)
{
    return a.largest + blockIdx.y * (a.prepared_stride / sizeof *a.largest);
}

/* Make the parts of EACH values. */
template <int F, rule R>
__device__ void make_parts(uint32_t (&part)[EACH], const float (&x)[EACH],
                           const bitcut_rounding &any)
{
    if constexpr (F == FORMAT_E4M3 && R == RN_SAT) {
#pragma unroll
        for (int e = 0; e < EACH; e += 2) {
            const uint32_t two = __nv_cvt_float2_to_fp8x2(make_float2(x[e], x[e + 1]),
                                                          __NV_SATFINITE, __NV_E4M3);
            part[e] = two & 0xff;
            part[e + 1] = two >> 8;
        }
    } else if constexpr (F == FORMAT_S8 && R == RN_SAT) {
        constexpr int most = format<F>::most; /* cvt.rni.s32.f32 gives 0 for a NaN */
#pragma unroll
        for (int e = 0; e < EACH; e++)
            part[e] = (uint32_t)min(most, max(-most, __float2int_rn(x[e]))) & 0xff;
    } else {
#pragma unroll
        for (int e = 0; e < EACH; e++) part[e] = make_part<F, R>(x[e], any);
    }
}

/* Store the parts of EACH values at element `at` of these parts, all of a thread at once;
   the compiler would store them in pairs. */
template <int F>
__device__ void store_run(char *parts, size_t at, const uint32_t (&w)[EACH])
{
    char *const to = parts + at * sizeof(typename format<F>::part);
    if constexpr (format<F>::bits == 32) {
        *(uint4 *)to = make_uint4(w[0], w[1], w[2], w[3]);
        *((uint4 *)to + 1) = make_uint4(w[4], w[5], w[6], w[7]);
    } else if constexpr (format<F>::bits == 16) {
        *(uint4 *)to = make_uint4(w[0] | w[1] << 16, w[2] | w[3] << 16, w[4] | w[5] << 16,
                                  w[6] | w[7] << 16);
    } else {
        *(uint2 *)to = make_uint2(w[0] | w[1] << 8 | w[2] << 16 | w[3] << 24,
                                  w[4] | w[5] << 8 | w[6] << 16 | w[7] << 24);
    }
}

/* Make the parts of values x of line `line` from element p on: the first part in format
   F, the others in L. */
template <int F, int L, rule HIGH, rule LOW>
__device__ void split_run(const arguments &a, const float (&x)[EACH], size_t line,
                          size_t p)
{
    const size_t run = run_of(a);
    const size_t at = line * run + p, all = a.lines * run;
    char *parts = a.parts + blockIdx.y * a.prepared_stride;
    uint32_t part[EACH];
    float rest[EACH];
    make_parts<F, HIGH>(part, x, a.high);
#pragma unroll
    for (int e = 0; e < EACH; e++)
        rest[e] = __fmul_rn(__fadd_rn(x[e], -part_value<F>(part[e])), a.scale);
    store_run<F>(parts, at, part);
    parts += all * sizeof(typename format<F>::part);
#pragma unroll
    for (int j = 1; j < SPLIT_PARTS_MAX; j++) {
        if (j >= a.count) break;
        if (j == a.copy) make_parts<L, LOW>(part, x, a.low);
        else make_parts<L, LOW>(part, rest, a.low);
        if constexpr (L == F) {
#pragma unroll
            for (int e = 0; e < EACH; e++)
                rest[e] = __fmul_rn(__fadd_rn(rest[e], -part_value<L>(part[e])), a.scale);
        }
        store_run<L>(parts, (j - 1) * all + at, part);
    }
}

/* Values of a block's matrix, in rows of `length` as in memory. */
struct rows_of {
    const float *first, *end;
    size_t ld, rows, length;

    __device__ explicit rows_of(const arguments &a)
        : first(values(a)), end(NULL), ld(a.ld), rows(a.across ? a.k : a.lines),
          length(a.across ? a.lines : a.k)
    {
        end = first + (rows - 1) * ld + length;
    }
};

__device__ void read_four(float *x, const float *from)
{
    const float4 four = __ldcs((const float4 *)from);
    x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
}

/* Read EACH values of row `row` from number `at` on; values beyond the row are +0.  If
   they are not aligned, they are read from the 16-byte boundary before them on, and
   shifted; if that extends beyond the matrix, they are read one by one.  Elements between
   rows may be read too, and are not used. */
__device__ void read_run(float (&x)[EACH], const rows_of &m, size_t row, size_t at)
{
    constexpr int fours = EACH + 4;
    const float *const from = m.first + row * m.ld + at;
    const int shift = (int)((uintptr_t)from / sizeof(float) % 4);
    const int count = row >= m.rows || at >= m.length ? 0
                      : m.length - at < EACH          ? (int)(m.length - at)
                                                      : EACH;
    if (count == EACH && !shift) {
#pragma unroll
        for (int e = 0; e < EACH; e += 4) read_four(x + e, from + e);
        return;
    }
    if (count && from - shift >= m.first && from - shift + fours <= m.end) {
        float v[fours];
#pragma unroll
        for (int e = 0; e < fours; e += 4) read_four(v + e, from - shift + e);
#pragma unroll
        for (int e = 0; e + 2 < fours; e++) v[e] = shift & 2 ? v[e + 2] : v[e];
#pragma unroll
        for (int e = 0; e < EACH; e++)
            x[e] = e >= count ? 0 : shift & 1 ? v[e + 1] : v[e];
        return;
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) x[e] = e < count ? from[e] : 0;
}

/* Read all values of a block that lie across lines: a thread reads EACH of one row. */
using across_tile = float[BLOCK_K][BLOCK_LINES + 1];

__device__ void read_across(across_tile &tile, const rows_of &m, size_t first, size_t p0)
{
    static_assert(BLOCK_K * BLOCK_LINES == 2 * THREADS * EACH);
    const int p = threadIdx.x / (BLOCK_LINES / EACH),
              line = threadIdx.x % (BLOCK_LINES / EACH) * EACH;
    float x[EACH];
    read_run(x, m, p0 + p, first + line);
#pragma unroll
    for (int e = 0; e < EACH; e++) tile[p][line + e] = x[e];
}

/* --- equilibration ---------------------------------------------------------------- */

/* Numbers of k: in a line that a block can hold on every device; and in the range that a
   block searches. */
enum { HELD_MAX = 24576, SEARCHED = 512 };

__device__ uint32_t larger(uint32_t magnitude, float x)
{
    const uint32_t other = __float_as_uint(x) & 0x7fffffff;
    return other < 0x7f800000 ? max(magnitude, other) : magnitude;
}

__device__ void equilibrate(float (&x)[EACH], uint32_t largest, int target)
{
    const int exponent = line_exponent(largest, target);
#pragma unroll
    for (int e = 0; e < EACH; e++) x[e] = scale_once(x[e], exponent);
}

__global__ void __launch_bounds__(2 * THREADS) clear_kernel(const arguments a)
{
    const size_t line = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (line < a.lines) largest_of(a)[line] = 0;
}

/* Find the largest magnitudes of BLOCK_LINES lines in SEARCHED of k, and merge them into
   the results so far. */
__global__ void __launch_bounds__(2 * THREADS) search_kernel(const arguments a)
{
    __shared__ uint32_t largest[BLOCK_LINES];
    const size_t parts = (a.k + SEARCHED - 1) / SEARCHED;
    const size_t first = blockIdx.x / parts * BLOCK_LINES;
    const size_t from = blockIdx.x % parts * SEARCHED, left = a.k - from;
    const int end = left < SEARCHED ? (int)left : SEARCHED;
    const int in_turn = 2 * THREADS / BLOCK_LINES, thread = threadIdx.x;
    const int line = a.across ? thread % BLOCK_LINES : thread / in_turn;
    const size_t step = a.across ? a.ld : 1;
    uint32_t mine = 0;
    if (thread < BLOCK_LINES) largest[thread] = 0;
    __syncthreads();
    if (first + line < a.lines) {
        const float *x = values(a) + (first + line) * (a.across ? 1 : a.ld) + from * step;
#pragma unroll 8
        for (int p = a.across ? thread / BLOCK_LINES : thread % in_turn; p < end;
             p += in_turn)
            mine = larger(mine, x[p * step]);
    }
    atomicMax(&largest[line], mine);
    __syncthreads();
    if (thread < BLOCK_LINES && first + thread < a.lines)
        atomicMax(&largest_of(a)[first + thread], largest[thread]);
}

/* A contiguous line in a block of whole warps. */
template <int F, int L, rule HIGH, rule LOW>
__global__ void __launch_bounds__(2 * THREADS) held_kernel(const arguments a)
{
    extern __shared__ float4 held[];
    __shared__ uint32_t largest;
    const size_t run = run_of(a);
    const rows_of rows(a);
    const int first = threadIdx.x * EACH, step = blockDim.x * EACH;
    uint32_t mine = 0;
    float x[EACH];
    float4 *here = held + threadIdx.x;
    if (threadIdx.x == 0) largest = 0;
    __syncthreads();
    for (size_t p = first; p < run; p += step) {
        read_run(x, rows, blockIdx.x, p);
#pragma unroll
        for (int e = 0; e < EACH; e += 4, here += blockDim.x)
            *here = make_float4(x[e], x[e + 1], x[e + 2], x[e + 3]);
#pragma unroll
        for (int e = 0; e < EACH; e++) mine = larger(mine, x[e]);
    }
    atomicMax(&largest, mine);
    __syncthreads();
    if (threadIdx.x == 0) largest_of(a)[blockIdx.x] = largest;
    here = held + threadIdx.x;
    for (size_t p = first; p < run; p += step) {
#pragma unroll
        for (int e = 0; e < EACH; e += 4, here += blockDim.x) {
            const float4 four = *here;
            x[e] = four.x, x[e + 1] = four.y, x[e + 2] = four.z, x[e + 3] = four.w;
        }
        equilibrate(x, largest, a.target);
        split_run<F, L, HIGH, LOW>(a, x, blockIdx.x, p);
    }
}

/* --- each value for itself -------------------------------------------------------- */

/* The operands of one launch: blocks from `blocks` on have the second operand. */
struct operands {
    arguments of[2];
    unsigned blocks;
};

template <int F, int L, rule HIGH, rule LOW>
__global__ void __launch_bounds__(2 * THREADS)
    split_kernel(const __grid_constant__ operands x)
{
    __shared__ across_tile tile;
    const bool second = blockIdx.x >= x.blocks;
    const arguments &a = x.of[second];
    const unsigned block = blockIdx.x - (second ? x.blocks : 0);
    const unsigned runs = (unsigned)((a.k + BLOCK_K - 1) / BLOCK_K);
    const size_t first = (size_t)(block / runs) * BLOCK_LINES;
    const size_t p0 = (size_t)(block % runs) * BLOCK_K;
    let_next_come();
    const int line = threadIdx.x / EACH, p = threadIdx.x % EACH * EACH;
    const rows_of rows(a);
    float value[EACH];
    if (a.across) {
        read_across(tile, rows, first, p0);
        __syncthreads();
        for (int e = 0; e < EACH; e++) value[e] = tile[p + e][line];
    }
    if (first + line >= a.lines || p0 + p >= run_of(a)) return;
    if (!a.across) read_run(value, rows, first + line, p0 + p);
    if (a.largest) equilibrate(value, largest_of(a)[first + line], a.target);
    split_run<F, L, HIGH, LOW>(a, value, first + line, p0 + p);
}

/* --- launching -------------------------------------------------------------------- */

/* The kernels for two rules, of the first part and of the others. */
struct pair {
    void (*split)(operands), (*held)(arguments);
};

template <int F, rule HIGH, rule LOW, int L = F>
constexpr pair pair_of = { split_kernel<F, L, HIGH, LOW>, held_kernel<F, L, HIGH, LOW> };

/* A row of the table of rules with separate kernels. */
struct fast_split {
    int format, low_format;
    bitcut_rounding high, low;
    pair kernels;
};

constexpr bitcut_rounding rounding(enum direction direction, int bit = 0,
                                   enum overflow overflow = OVERFLOW_IEEE,
                                   enum flush flush = FLUSH_NONE)
{
    return { NULL, NULL, direction, bit, overflow, flush, 0, 0, NULL };
}

constexpr bitcut_rounding rn = rounding(TO_NEAREST_EVEN),
                          sat = rounding(TO_NEAREST_EVEN, 0, OVERFLOW_SATURATE),
                          rna = rounding(TO_NEAREST_AWAY), rz = rounding(TO_ZERO),
                          cut = rounding(TO_ZERO, 0, OVERFLOW_INF, FLUSH_SUBNORMAL),
                          feng21 = rounding(BY_BIT, 21), feng22 = rounding(BY_BIT, 22);

const fast_split fast_splits[] = {
    { FORMAT_F16, FORMAT_F16, rn, rn, pair_of<FORMAT_F16, RN, RN> },
    { FORMAT_F16, FORMAT_F16, cut, rz, pair_of<FORMAT_F16, CUT, RZ> },
    { FORMAT_F16, FORMAT_F16, rz, rz, pair_of<FORMAT_F16, RZ, RZ> },
    { FORMAT_F16, FORMAT_F16, feng21, rn, pair_of<FORMAT_F16, BIT21, RN> },
    { FORMAT_F16, FORMAT_F16, feng22, rn, pair_of<FORMAT_F16, BIT22, RN> },
    { FORMAT_BF16, FORMAT_BF16, rn, rn, pair_of<FORMAT_BF16, RN, RN> },
    { FORMAT_TF32, FORMAT_TF32, rna, rna, pair_of<FORMAT_TF32, RNA, RNA> },
    { FORMAT_F16, FORMAT_E4M3, rn, sat, pair_of<FORMAT_F16, RN, RN_SAT, FORMAT_E4M3> },
    { FORMAT_F16, FORMAT_S8, rn, sat, pair_of<FORMAT_F16, RN, RN_SAT, FORMAT_S8> },
};

bool same(const bitcut_rounding &x, const bitcut_rounding &y)
{
    return x.direction == y.direction && x.bit == y.bit && x.overflow == y.overflow &&
           x.flush == y.flush;
}

pair kernels_of(const struct bitcut_split &s)
{
    const int format = format_of(s.part[0].format), low = format_low_of(&s);
    for (const fast_split &row : fast_splits)
        if (row.format == format && row.low_format == low &&
            same(row.high, *s.part[0].rounding) && same(row.low, *split_low(&s)))
            return row.kernels;
    return low == FORMAT_S8        ? pair_of<FORMAT_F16, ANY, ANY, FORMAT_S8>
           : low != format         ? pair_of<FORMAT_F16, ANY, ANY, FORMAT_E4M3>
           : format == FORMAT_F16  ? pair_of<FORMAT_F16, ANY, ANY>
           : format == FORMAT_BF16 ? pair_of<FORMAT_BF16, ANY, ANY>
                                   : pair_of<FORMAT_TF32, ANY, ANY>;
}

unsigned blocks_of(const arguments &a, int k_each)
{
    return (unsigned)(divide_up(a.lines, BLOCK_LINES) * divide_up(a.k, k_each));
}

/* Start for one operand, or for both. */
rt_error split_start(void (*kernel)(operands), const operands &x, int count,
                     unsigned matrices, rt_stream stream)
{
    const unsigned more = count > 1 ? blocks_of(x.of[1], BLOCK_K) : 0;
    const dim3 grid(x.blocks + more, matrices);
    if (grid.x && grid.y) kernel<<<grid, 2 * THREADS, 0, stream>>>(x);
    return rt_last_error();
}

rt_error search_start(const arguments &a, unsigned count, rt_stream stream)
{
    const dim3 all((unsigned)divide_up(a.lines, 2 * THREADS), count);
    const dim3 grid(blocks_of(a, SEARCHED), count);
    clear_kernel<<<all, 2 * THREADS, 0, stream>>>(a);
    const rt_error status = rt_last_error();
    if (grid.x && status == RT_SUCCESS)
        search_kernel<<<grid, 2 * THREADS, 0, stream>>>(a);
    return status == RT_SUCCESS ? rt_last_error() : status;
}

rt_error held_start(void (*kernel)(arguments), const arguments &a, unsigned count,
                    rt_stream stream)
{
    const int most = 2 * THREADS, wanted = (int)(divide_up(a.k, 32 * EACH) * 32);
    const int threads = wanted < most ? wanted : most;
    const size_t held = divide_up(a.k, threads * EACH) * threads * EACH;
    const rt_error status =
        rt_function_set(kernel, RT_SHARED_BYTES, HELD_MAX * sizeof(float));
    if (status != RT_SUCCESS) return status;
    const dim3 grid((unsigned)a.lines, count);
    kernel<<<grid, threads, held * sizeof(float), stream>>>(a);
    return rt_last_error();
}

/* The index of the part that is a copy; 0: none. */
int copy_of(const struct bitcut_split *s)
{
    int copy = 0;
    for (int i = 1; i < s->parts; i++)
        if (s->part[i].copy) copy = i;
    return copy;
}

arguments arguments_of(const struct to_split &t)
{
    const struct operand &x = t.operand;
    return { (char *)t.parts,
             (const float *)x.matrix->at,
             prepared_stride(&x),
             x.matrix->stride,
             x.lines,
             x.k,
             x.matrix->ld,
             x.across,
             x.split->parts,
             copy_of(x.split),
             ldexpf(1, x.split->scale),
             *x.split->part[0].rounding,
             *split_low(x.split),
             (uint32_t *)parts_largest(t.parts, &x),
             x.target };
}

/* Start for one operand, or for two with the same number of matrices, by the kernels for
   the first. */
rt_error start(const struct to_split *of, int count, const pair &kernels,
               rt_stream stream)
{
    operands x = {};
    for (int i = 0; i < count; i++) x.of[i] = arguments_of(of[i]);
    x.blocks = blocks_of(x.of[0], BLOCK_K);
    const arguments &a = x.of[0];
    const unsigned matrices = (unsigned)of[0].count;
    if (!a.largest || !a.lines)
        return split_start(kernels.split, x, count, matrices, stream);
    if (!a.across && a.k && a.k <= HELD_MAX)
        return held_start(kernels.held, a, matrices, stream);
    const rt_error status = search_start(a, matrices, stream);
    return status == RT_SUCCESS ? split_start(kernels.split, x, count, matrices, stream)
                                : status;
}

} // namespace

/* Whether one launch may split both operands. */
static bool go_together(const struct to_split &a, const struct to_split &b)
{
    return a.count == b.count && !a.operand.equilibrate && !b.operand.equilibrate &&
           kernels_of(*a.operand.split).split == kernels_of(*b.operand.split).split;
}

rt_error split_launch(const struct to_split *of, int count, rt_stream stream)
{
    rt_error status = RT_SUCCESS;
    if (count == 2 && go_together(of[0], of[1]))
        return start(of, 2, kernels_of(*of[0].operand.split), stream);
    for (int i = 0; i < count && status == RT_SUCCESS; i++)
        status = start(&of[i], 1, kernels_of(*of[i].operand.split), stream);
    return status;
}
