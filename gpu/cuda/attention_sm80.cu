/* SPDX-License-Identifier: BSD-3-Clause */
/* FlashAttention 2 by mma.sync.m16n8k16, for sm_80 and later: to compare bits, not fast.
   Source of the algorithm: Dao, "FlashAttention-2: Faster Attention with Better
   Parallelism and Work Partitioning", 2023, Algorithm 1; the order of tiles and of sums
   is that of version 2.8 of its implementation.

   Launch: a block for each tile of queries, of each head and batch, and of each split of
   the keys; a warp for each 16 queries of the tile.  Then, if the keys are split, a warp
   of combine_splits for each query.  All sizes are arguments, so one kernel runs every
   shape of tiles.

   Layout: a warp has Q, the scores and O as fragments of m16n8k16 (gpu/cuda/mma_sm80.cu)
   in local memory.  A tile of K, and then of V, is in shared memory, with PADDING after
   each row.  A thread has columns 2 t and 2 t + 1 of every 8 of rows g and g + 8, where
   g = lane / 4, t = lane % 4.

   Exact: every operation is rounded as its name says, whatever the compiler's options.
   Scores are chains of instructions over the head's dimension, ascending, from 0.  All
   tiles of keys add to one accumulator of O.  A thread adds the P of its columns of a row
   in ascending order; the rescaling of its sum is fused with the first of these additions,
   or with one after them.  The four threads of a row add their sums at the end. */
#include "gpu/cuda/cuda.cuh"
#include "gpu/cuda/timed.cuh"

namespace
{

constexpr int ROWS = 16;   /* queries of a warp                                   */
constexpr int STEP = 16;   /* columns of A and rows of B of an instruction         */
constexpr int COLUMNS = 8; /* columns of its B                                     */
constexpr int PADDING = 8; /* elements after each row in shared memory             */
constexpr int D_MOST = 256, KEYS_MOST = 256, SHARED_MOST = 48 << 10;
constexpr unsigned ALL = 0xffffffff;
constexpr float LN2 = 0x1.62e43p-1f, LOG2_E = 0x1.715476p+0f;

/* --- operations ------------------------------------------------------------------- */

template <int FORMAT> struct operand;

#define OPERAND(FORMAT, NAME, CONVERT)                                                   \
    template <> struct operand<FORMAT> {                                                 \
        static __device__ void multiply_add(float (&d)[4], const uint32_t (&a)[4],       \
                                            uint32_t b0, uint32_t b1)                    \
        {                                                                                \
            asm("mma.sync.aligned.m16n8k16.row.col.f32." NAME "." NAME ".f32 "           \
                "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                  \
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                         \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));         \
        }                                                                                \
        static __device__ uint32_t pair(float low, float high)                           \
        {                                                                                \
            uint32_t x;                                                                  \
            asm(CONVERT " %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));                 \
            return x;                                                                    \
        }                                                                                \
    };

OPERAND(FORMAT_F16, "f16", "cvt.rn.f16x2.f32")
OPERAND(FORMAT_BF16, "bf16", "cvt.rn.bf16x2.f32")

/* A function of one, two or three floats: one instruction. */
#define UNARY(NAME, PTX)                                                                 \
    static __device__ float NAME(float a)                                                \
    {                                                                                    \
        float d;                                                                         \
        asm(PTX ".f32 %0, %1;" : "=f"(d) : "f"(a));                                      \
        return d;                                                                        \
    }
#define BINARY(NAME, PTX)                                                                \
    static __device__ float NAME(float a, float b)                                       \
    {                                                                                    \
        float d;                                                                         \
        asm(PTX ".f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));                          \
        return d;                                                                        \
    }
#define TERNARY(NAME, PTX)                                                               \
    static __device__ float NAME(float a, float b, float c)                              \
    {                                                                                    \
        float d;                                                                         \
        asm(PTX ".f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));              \
        return d;                                                                        \
    }

/* FP32 operations as nvcc compiles them. */
struct accurate {
    BINARY(add, "add.rn")
    BINARY(multiply, "mul.rn")
    TERNARY(fma, "fma.rn")
    UNARY(exp2, "ex2.approx")
    UNARY(log2, "lg2.approx")
    static __device__ float exp(float x) { return expf(x); }
    static __device__ float log(float x) { return logf(x); }
};

/* The same with -use_fast_math: subnormal operands and results are zeros. */
struct fast {
    BINARY(add, "add.rn.ftz")
    BINARY(multiply, "mul.rn.ftz")
    TERNARY(fma, "fma.rn.ftz")
    UNARY(exp2, "ex2.approx.ftz")
    UNARY(log2, "lg2.approx.ftz")
    static __device__ float exp(float x) { return exp2(multiply(x, LOG2_E)); }
    static __device__ float log(float x) { return multiply(log2(x), LN2); }
};

UNARY(approximate_reciprocal, "rcp.approx.ftz")

/* The maximum over `width` lanes, a power of two, and the sum: at distance width / 2
   first. */
__device__ float lanes_max(float x, int width)
{
    for (int d = width / 2; d; d /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, d));
    return x;
}

template <class A> __device__ float lanes_sum(float x, int width)
{
    for (int d = width / 2; d; d /= 2) x = A::add(x, __shfl_xor_sync(ALL, x, d));
    return x;
}

/* --- one tile of queries ---------------------------------------------------------- */

/* The part of a call that a block computes. */
struct tile {
    int head, batch, split;
    int first_row;              /* of the queries */
    int first_block, end_block; /* tiles of keys  */
};

__device__ tile tile_of(const gpu_attention &x)
{
    tile t;
    t.head = blockIdx.y, t.batch = blockIdx.z / x.splits, t.split = blockIdx.z % x.splits;
    t.first_row = blockIdx.x * x.tile_rows;
    const int blocks = (x.keys + x.tile_keys - 1) / x.tile_keys;
    const int each = (blocks + x.splits - 1) / x.splits;
    t.first_block = t.split * each;
    t.end_block = min(blocks, t.first_block + each);
    const int seen = max(0, t.first_row + x.tile_rows + x.keys - x.queries);
    if (x.causal) t.end_block = min(t.end_block, (seen + x.tile_keys - 1) / x.tile_keys);
    return t;
}

/* What a thread has of a tile of queries. */
template <class T, class A> struct flash {
    const gpu_attention &x;
    const tile at;
    uint16_t *const shared;
    const int g, t; /* position in the warp */
    int row[2];     /* queries              */
    uint32_t q[D_MOST / STEP][4];
    float s[KEYS_MOST / COLUMNS][4]; /* scores, then P */
    float o[D_MOST / COLUMNS][4];
    float max_of[2], sum_of[2];

    __device__ flash(const gpu_attention &call, uint16_t *memory)
        : x(call), at(tile_of(call)), shared(memory), g(threadIdx.x % 32 / 4),
          t(threadIdx.x % 4), o(), max_of(), sum_of()
    {
        row[0] = at.first_row + threadIdx.x / 32 * ROWS + g;
        row[1] = row[0] + 8;
        for (int k = 0; k < x.head_dim / STEP; k++)
            for (int r = 0; r < 4; r++)
                q[k][r] = load_q(row[r % 2], STEP * k + 2 * t + 8 * (r / 2));
    }

    /* The position of a query among all; split after split in the workspace. */
    __device__ size_t position(int i) const
    {
        return (((size_t)at.split * x.batch + at.batch) * x.heads + at.head) * x.queries + i;
    }

    __device__ uint32_t load_q(int i, int j) const
    {
        const size_t line = ((size_t)at.batch * x.heads + at.head) * x.queries + i;
        const uint16_t *const from = (const uint16_t *)x.q + line * x.head_dim + j;
        return i < x.queries ? *(const uint32_t *)from : 0;
    }

    __device__ uint16_t *shared_row(int i) const
    {
        return shared + i * (x.head_dim + PADDING);
    }

    /* Copy a tile of K or V to shared memory; rows beyond the last key are zeros. */
    __device__ void load(const void *matrix, int block)
    {
        const int head = at.head / (x.heads / x.kv_heads);
        const uint16_t *const from =
            (const uint16_t *)matrix +
            ((size_t)at.batch * x.kv_heads + head) * x.keys * x.head_dim;
        __syncthreads();
        for (int i = threadIdx.x; i < x.tile_keys * x.head_dim; i += blockDim.x) {
            const int line = i / x.head_dim, column = i % x.head_dim;
            const size_t key = (size_t)block * x.tile_keys + line;
            shared_row(line)[column] =
                key < x.keys ? from[key * x.head_dim + column] : 0;
        }
        __syncthreads();
    }

    /* Whether query `i` sees key `key`. */
    __device__ bool sees(int i, int key) const
    {
        return key < x.keys && (!x.causal || key <= i + x.keys - x.queries);
    }

    /* The scores of a tile of keys; -inf for keys that a query does not see. */
    __device__ void score(int block)
    {
        for (int j = 0; j < x.tile_keys / COLUMNS; j++) {
            float d[4] = {};
            for (int k = 0; k < x.head_dim / STEP; k++) {
                const uint16_t *const b = shared_row(COLUMNS * j + g) + STEP * k + 2 * t;
                T::multiply_add(d, q[k], *(uint32_t *)b, *(uint32_t *)(b + 8));
            }
            for (int e = 0; e < 4; e++) {
                const int key = block * x.tile_keys + COLUMNS * j + 2 * t + e % 2;
                const float y = x.scales ? A::multiply(d[e], x.scale_log2) : d[e];
                s[j][e] = sees(row[e / 2], key) ? y : -INFINITY;
            }
        }
    }

    /* scale_log2 y, unless the scores have this factor. */
    __device__ float scaled(float y) const
    {
        return x.scales ? y : A::multiply(y, x.scale_log2);
    }

    /* P of a score: 2^(scale_log2 score - shift). */
    __device__ float p_of(float score, float shift) const
    {
        return A::exp2(x.fuses ? A::fma(score, x.scale_log2, -shift)
                               : A::add(scaled(score), -shift));
    }

    /* Call visit(x) for each element of row r in fragments, in ascending columns. */
    template <class Visit>
    __device__ static void each(float (*fragment)[4], int columns, int r, Visit visit)
    {
        for (int j = 0; j < columns / COLUMNS; j++)
            for (int e = 2 * r; e < 2 * r + 2; e++) visit(fragment[j][e]);
    }

    /* Replace the scores of row r by P, and rescale its sum and O to the new maximum.
       `step` counts tiles in their order. */
    __device__ void exponentiate(int r, int step)
    {
        const float before = max_of[r];
        float top = step ? before : s[0][2 * r];
        each(s, x.tile_keys, r, [&](float score) { top = fmaxf(top, score); });
        top = lanes_max(top, 4);
        const float shift = top == -INFINITY ? 0 : scaled(top);
        const float now = step < x.guarded && top == -INFINITY ? 0 : top;
        const float factor = A::exp2(scaled(A::add(before, -now)));
        float sum = sum_of[r];
        bool first = true;
        each(s, x.tile_keys, r, [&](float &p) {
            p = p_of(p, shift);
            sum = !first ? A::add(sum, p) : step && !x.apart ? A::fma(sum, factor, p) : p;
            first = false;
        });
        if (step && x.apart) sum = A::fma(sum_of[r], factor, sum);
        if (step) each(o, x.head_dim, r, [&](float &d) { d = A::multiply(d, factor); });
        max_of[r] = top, sum_of[r] = sum;
    }

    /* O += P V, with P rounded to the format of V. */
    __device__ void accumulate()
    {
        for (int k = 0; k < x.tile_keys / STEP; k++) {
            const float(&low)[4] = s[2 * k], (&high)[4] = s[2 * k + 1];
            const uint32_t p[4] = { T::pair(low[0], low[1]), T::pair(low[2], low[3]),
                                    T::pair(high[0], high[1]),
                                    T::pair(high[2], high[3]) };
            for (int j = 0; j < x.head_dim / COLUMNS; j++) {
                const auto v = [&](int i) -> uint32_t {
                    return shared_row(STEP * k + 2 * t + i)[COLUMNS * j + g];
                };
                T::multiply_add(o[j], p, v(0) | v(1) << 16, v(8) | v(9) << 16);
            }
        }
    }

    __device__ float quad_sum(float y) const
    {
        const int first = x.neighbours ? 1 : 2;
        y = A::add(y, __shfl_xor_sync(ALL, y, first));
        return A::add(y, __shfl_xor_sync(ALL, y, 3 - first));
    }

    /* Store O / sum, and the logarithm of the sum of exp(scale score). */
    __device__ void store(int r)
    {
        const float sum = quad_sum(sum_of[r]);
        const bool none = sum == 0 || sum != sum;
        const float inverse =
            x.approximates ? approximate_reciprocal(sum) : __frcp_rn(sum);
        const float factor = none ? 1 : inverse;
        if (row[r] >= x.queries) return;
        const size_t line = position(row[r]);
        for (int j = 0; j < x.head_dim / COLUMNS; j++) {
            const size_t to = line * x.head_dim + COLUMNS * j + 2 * t;
            const float low = A::multiply(o[j][2 * r], factor);
            const float high = A::multiply(o[j][2 * r + 1], factor);
            if (x.splits > 1) x.partial_o[to] = low, x.partial_o[to + 1] = high;
            else *(uint32_t *)((uint16_t *)x.o + to) = T::pair(low, high);
        }
        const float empty = x.lse_nan && sum != sum ? sum : x.splits > 1 ? -INFINITY : INFINITY;
        (x.splits > 1 ? x.partial_lse : x.lse)[line] =
            none ? empty : A::fma(max_of[r], x.scales ? LN2 : x.scale, A::multiply(A::log2(sum), LN2));
    }
};

template <class T, class A> __global__ void attend(gpu_attention call)
{
    extern __shared__ uint16_t memory[];
    flash<T, A> f(call, memory);
    const int first = f.at.first_block, last = f.at.end_block - 1;
    for (int step = 0; first + step <= last; step++) {
        const int block = call.ascending ? first + step : last - step;
        f.load(call.k, block);
        f.score(block);
        for (int r = 0; r < 2; r++) f.exponentiate(r, step);
        f.load(call.v, block);
        f.accumulate();
    }
    for (int r = 0; r < 2; r++) f.store(r);
}

/* --- the merge of splits ---------------------------------------------------------- */

/* Threads that add the exponentials of a query, in the order of the original: a block
   of it takes `rows` queries, and has a slot for each of a power of two of splits. */
__device__ int width_of(int slots, int head_dim)
{
    const int rows = head_dim % 128 == 0 ? 4 : head_dim % 64 == 0 ? 8 : 16;
    return min(128 / rows, slots);
}

/* O of a query: the sum of the O of its splits, in ascending order, times exp(lse of the
   split - lse).  Lane l adds the exponentials of slots l, l + width, ...; lanes from
   `width` on do the same as those below. */
template <class T, class A> __global__ void combine_splits(gpu_attention x)
{
    const size_t query = blockIdx.x, queries = gridDim.x;
    int slots = 2;
    while (slots < x.splits) slots *= 2;
    const int width = width_of(slots, x.head_dim), own = threadIdx.x % width;
    const auto lse_of = [&](int i) {
        return i < x.splits ? x.partial_lse[i * queries + query] : -INFINITY;
    };
    float top = -INFINITY, sum = 0;
    for (int i = own; i < slots; i += width) top = fmaxf(top, lse_of(i));
    top = lanes_max(top, width);
    if (top == -INFINITY) top = 0;
    for (int i = own; i < slots; i += width) sum = A::add(sum, A::exp(A::add(lse_of(i), -top)));
    sum = lanes_sum<A>(sum, width);
    const float lse = sum == 0 || sum != sum ? INFINITY : A::add(A::log(sum), top);
    if (threadIdx.x == 0) x.lse[query] = lse;
    for (int j = 2 * threadIdx.x; j < x.head_dim; j += 64) {
        float low = 0, high = 0;
        for (int i = 0; i < x.splits; i++) {
            const float *const o = x.partial_o + (i * queries + query) * x.head_dim + j;
            const float weight = A::exp(A::add(lse_of(i), -lse));
            low = A::fma(weight, o[0], low), high = A::fma(weight, o[1], high);
        }
        *(uint32_t *)((uint16_t *)x.o + query * x.head_dim + j) = T::pair(low, high);
    }
}

/* --- the rows --------------------------------------------------------------------- */

template <class T, class A> void launch_as(const gpu_attention *x)
{
    const unsigned tiles = (x->queries + x->tile_rows - 1) / x->tile_rows;
    const dim3 blocks(tiles, x->heads, x->batch * x->splits);
    const size_t bytes = 2 * x->tile_keys * (x->head_dim + PADDING);
    attend<T, A><<<blocks, 32 * x->tile_rows / ROWS, bytes>>>(*x);
    if (x->splits > 1)
        combine_splits<T, A><<<x->batch * x->heads * x->queries, 32>>>(*x);
}

template <int FORMAT> int launch(const gpu_attention *x)
{
    if (x->fast) launch_as<operand<FORMAT>, fast>(x);
    else launch_as<operand<FORMAT>, accurate>(x);
    return rt_last_error();
}

} // namespace

#define ROW(FORMAT, NAME)                                                                \
    {                                                                                    \
        "sm80.flash2." NAME, "mma.sync, plain", FORMAT, "mma.m16n8k16.f32." NAME, STEP,  \
            D_MOST, KEYS_MOST, SHARED_MOST / 2 - KEYS_MOST * PADDING, sm_from(80),       \
            launch<FORMAT>                                                               \
    }

const struct gpu_attention_kernel attention_kernels[] = { ROW(FORMAT_F16, "f16"),
                                                          ROW(FORMAT_BF16, "bf16"),
                                                          {} };

/* --- a call on data of the host --------------------------------------------------- */

static int run(const gpu_attention *x, double *milliseconds, int repeats, char *fault)
{
    const size_t queries = (size_t)x->batch * x->heads * x->queries, element = 2;
    const size_t of_q = queries * x->head_dim * element;
    const size_t of_k = (size_t)x->batch * x->kv_heads * x->keys * x->head_dim * element;
    const size_t lse_bytes = queries * sizeof(float);
    const size_t partial = x->splits > 1 ? x->splits : 0;
    const device_bytes q(of_q), k(of_k), v(of_k), o(of_q), lse(lse_bytes);
    const device_bytes partial_o(partial * queries * x->head_dim * sizeof(float));
    const device_bytes partial_lse(partial * lse_bytes);
    for (const device_bytes *each : { &q, &k, &v, &o, &lse, &partial_o, &partial_lse })
        if (each->status != RT_SUCCESS) return fault_of(fault, each->status);
    gpu_attention there = *x;
    there.q = q.at, there.k = k.at, there.v = v.at, there.o = o.at;
    there.lse = (float *)lse.at;
    there.partial_o = (float *)partial_o.at, there.partial_lse = (float *)partial_lse.at;
    rt_error status = copy_there(q.at, x->q, of_q);
    if (status == RT_SUCCESS) status = copy_there(k.at, x->k, of_k);
    if (status == RT_SUCCESS) status = copy_there(v.at, x->v, of_k);
    if (status == RT_SUCCESS) status = rt_fill(o.at, 0x55, of_q); /* no result */
    if (status == RT_SUCCESS)
        status = (rt_error)time_starts(milliseconds, repeats,
                                       [&] { return x->kernel->launch(&there); });
    if (status == RT_SUCCESS) status = copy_back(x->o, o.at, of_q);
    if (status == RT_SUCCESS) status = copy_back(x->lse, lse.at, lse_bytes);
    return fault_of(fault, status);
}

int attention_run(const gpu_attention *x, double *milliseconds, int repeats, int device,
                  char *fault)
{
    const on_device on(device);
    return on.status == RT_SUCCESS ? run(x, milliseconds, repeats, fault)
                                   : fault_of(fault, on.status);
}
