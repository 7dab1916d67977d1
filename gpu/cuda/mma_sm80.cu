/* SPDX-License-Identifier: BSD-3-Clause */
/* mma.sync: D = A B + C by one warp, operands and accumulator in registers.

   Launch: blocks of four warps.  Each warp takes a fragment, issues one instruction, and
   takes the next fragment.  Nothing else is computed: encodings are copied from memory
   into registers and back.  So every bit of D is the device's, NaNs and signs of zeros
   included.

   Layout of m16n8 and of f64 m8n8k4 (PTX ISA, "Matrix fragments for mma.m16n8k16" and the
   sections after it).  Let g = lane / 4, t = lane % 4, and let E be the number of
   elements of A or B in a register.
   - Register r of A holds row g + 8 (r % 2), columns from E (t + 4 (r / 2)) on.  For m8,
     it holds row g, with r instead of r / 2.
   - Register r of B holds rows from E (t + 4 r) on, column g.
   - Element q of C and D, counted through the registers, is row g + 8 (q / 2), column 2 t
     + q % 2.

   Layout of m8n8k4 with f16 operands.  Lanes 4 p to 4 p + 3, and the lanes 16 higher, are
   pair p of quads.  Each of the four pairs of a warp multiplies separately: one
   instruction computes four fragments.  A lane has row (of A) or column (of B) lane % 4,
   plus 4 in the upper half of the warp, with all four k.  An f16 accumulator is one row;
   an f32 accumulator is spread over two rows of the pair, see c() below.

   If an architecture does not have the operation that PTX names, the compiler generates
   other operations: for m8n8k4 with f16 operands multiply-add chains in FP32 from sm_80
   on; for fp8 on sm_90 and sm_100 two f16 operations and an addition; for f64 m16n8 from
   sm_100 on several m8n8k4.  A recording then shows the result of these operations.
   Architectures whose PTX lacks the instruction get a trap, and the rows prevent that it
   is run. */
#include "gpu/cuda/cuda.cuh"

/* --- where elements are ----------------------------------------------------------- */

/* One fragment for each warp. */
template <int M, int EACH> struct whole_warp {
    static constexpr int fragments = 1, halves = M / 8;
    static __device__ int fragment(int) { return 0; }
    static __device__ position a(int lane, int q)
    {
        const int r = q / EACH;
        return { lane / 4 + 8 * (r % halves),
                 EACH * (lane % 4 + 4 * (r / halves)) + q % EACH };
    }
    static __device__ position b(int lane, int q)
    {
        return { EACH * (lane % 4 + 4 * (q / EACH)) + q % EACH, lane / 4 };
    }
    static __device__ position c(int lane, int q)
    {
        return { lane / 4 + 8 * (q / 2), 2 * (lane % 4) + q % 2 };
    }
};

/* One fragment for each pair of quads; an element of the accumulator has C_BYTES. */
template <int C_BYTES> struct quad_pairs {
    static constexpr int fragments = 4;
    static __device__ int fragment(int lane) { return lane / 4 % 4; }
    static __device__ int line(int lane) { return lane % 4 + 4 * (lane / 16); }
    static __device__ position a(int lane, int q) { return { line(lane), q }; }
    static __device__ position b(int lane, int q) { return { q, line(lane) }; }
    static __device__ position c(int lane, int q)
    {
        if (C_BYTES == 2) return { line(lane), q };
        return { lane % 2 + (q & 2) + 4 * (lane / 16), (q & 4) + (lane & 2) + q % 2 };
    }
};

/* --- the kernel ------------------------------------------------------------------- */

template <class I> __global__ void mma_kernel(gpu_batch batch)
{
    using L = typename I::layout;
    const int lane = threadIdx.x % 32;
    const size_t warps = (size_t)gridDim.x * (THREADS / 32);
    size_t first =
        ((size_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * L::fragments;
    const auto at_a = [=](int q) { return L::a(lane, q); };
    const auto at_b = [=](int q) { return L::b(lane, q); };
    const auto at_c = [=](int q) { return L::c(lane, q); };
    for (; first < batch.count; first += warps * L::fragments) {
        const size_t mine = first + L::fragment(lane);
        const size_t last = batch.count - 1; /* a lane without a fragment computes, too */
        const size_t at = mine < last ? mine : last;
        typename I::part a[I::a_parts], b[I::b_parts], d[I::c_parts];
        registers_load(a, (const typename I::A *)batch.a + at * I::m * I::k, I::k, at_a);
        registers_load(b, (const typename I::B *)batch.b + at * I::k * I::n, I::n, at_b);
        registers_load(d, (const typename I::C *)batch.c + at * I::m * I::n, I::n, at_c);
        if constexpr (device_capability >= I::least) I::issue(d, a, b);
        else __trap();
        if (mine == at)
            registers_store((typename I::C *)batch.d + at * I::m * I::n, I::n, d, at_c);
    }
}

template <class I>
int mma_launch(const gpu_instruction *, const gpu_batch *batch, gpu_variant)
{
    return launch_blocks(mma_kernel<I>, batch, THREADS / 32 * I::layout::fragments);
}

/* --- the instructions ------------------------------------------------------------- */

/* Operands of the PTX statement, by the number of registers of D, A and B; C is in D's
   registers. */
#define R_8_2_2                                                                          \
    "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, {%0,%1,%2,%3,%4,%5,%6,%7};"
#define R_4_8_4                                                                          \
    "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
#define R_4_4_2 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#define R_4_2_2 "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3};"
#define R_4_2_1 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
#define R_2_4_2 "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
#define R_2_2_1 "{%0,%1}, {%2,%3}, {%4}, {%0,%1};"
#define R_2_1_1 "{%0,%1}, {%2}, {%3}, {%0,%1};"

/* Lists of this number of registers under a constraint. */
#define LIST_1(how, x) how(x[0])
#define LIST_2(how, x) how(x[0]), how(x[1])
#define LIST_4(how, x) LIST_2(how, x), how(x[2]), how(x[3])
#define LIST_8(how, x) LIST_4(how, x), how(x[4]), how(x[5]), how(x[6]), how(x[7])

/* Rows are (least capability, m, n, k, formats of D, A and B, layout, bits of a register,
   number of registers of D, A and B).  INSTRUCTION makes the class, ROW the row; of
   integers, ..._LIMITED makes those of the instruction that limits sums. */
#define MMA(M, N, K, D, A, B) mma_m##M##n##N##k##K##_##D##_##A##_##B
#define PTX(M, N, K, LIMIT, D, A, B)                                                     \
    "mma.sync.aligned.m" #M "n" #N "k" #K ".row.col" LIMIT "." #D "." #A "." #B "." #D

#define INSTRUCTION(least, M, N, K, D, A, B, ...)                                        \
    INSTRUCTION_OF(MMA(M, N, K, D, A, B), "", least, M, N, K, D, A, B, __VA_ARGS__)
#define INSTRUCTION_LIMITED(least, M, N, K, D, A, B, ...)                                \
    INSTRUCTION_OF(MMA(M, N, K, limited_##D, A, B), ".satfinite", least, M, N, K, D, A,  \
                   B, __VA_ARGS__)
#define INSTRUCTION_OF(CLASS, LIMIT, least_, M, N, K, D_, A_, B_, LAYOUT, BITS, RD, RA,  \
                       RB)                                                               \
    struct CLASS {                                                                       \
        using A = encoding_##A_;                                                         \
        using B = encoding_##B_;                                                         \
        using C = encoding_##D_;                                                         \
        using part = uint##BITS##_t;                                                     \
        using layout = LAYOUT(M, A, C, part);                                            \
        static constexpr int m = M, n = N, k = K, least = least_;                        \
        static constexpr int a_parts = RA, b_parts = RB, c_parts = RD;                   \
        static_assert(M * K * sizeof(A) * layout::fragments == RA * 32 * sizeof(part));  \
        static_assert(K * N * sizeof(B) * layout::fragments == RB * 32 * sizeof(part));  \
        static_assert(M * N * sizeof(C) * layout::fragments == RD * 32 * sizeof(part));  \
        static __device__ void issue(part (&d)[RD], const part (&a)[RA],                 \
                                     const part (&b)[RB])                                \
        {                                                                                \
            asm volatile(PTX(M, N, K, LIMIT, D_, A_, B_) " " R_##RD##_##RA##_##RB        \
                         : LIST_##RD(INOUT_##BITS, d)                                    \
                         : LIST_##RA(IN_##BITS, a), LIST_##RB(IN_##BITS, b));            \
        }                                                                                \
    };

#define INOUT_32(x) "+r"(x)
#define INOUT_64(x) "+l"(x)
#define IN_32(x)    "r"(x)
#define IN_64(x)    "l"(x)

#define WARP(M, A, C, part)  whole_warp<M, sizeof(part) / sizeof(A)>
#define QUADS(M, A, C, part) quad_pairs<sizeof(C)>

/* clang-format off */
/* A name has the format of the second operand only if it differs from the first. */
#define ROW_NAMED(NAME, CLASS, LIMIT, least, M, N, K, D, A, B)                           \
    { NAME, PTX(M, N, K, LIMIT, D, A, B), M, N, K, sizeof(encoding_##A),                 \
      sizeof(encoding_##B), sizeof(encoding_##D), sm_from(least), 1u << GPU_PLAIN,       \
      mma_launch<CLASS> },
#define ROW(least, M, N, K, D, A, B, ...)                                                \
    ROW_NAMED("mma.m" #M "n" #N "k" #K "." #D "." #A, MMA(M, N, K, D, A, B), "", least,  \
              M, N, K, D, A, B)
#define ROW_MIXED(least, M, N, K, D, A, B, ...)                                          \
    ROW_NAMED("mma.m" #M "n" #N "k" #K "." #D "." #A "." #B, MMA(M, N, K, D, A, B), "",  \
              least, M, N, K, D, A, B)
#define ROW_LIMITED(least, M, N, K, D, A, B, ...)                                        \
    ROW_NAMED("mma-sat.m" #M "n" #N "k" #K "." #D "." #A,                          \
              MMA(M, N, K, limited_##D, A, B), ".satfinite", least, M, N, K, D, A, B)
#define ROW_LIMITED_MIXED(least, M, N, K, D, A, B, ...)                                  \
    ROW_NAMED("mma-sat.m" #M "n" #N "k" #K "." #D "." #A "." #B,                   \
              MMA(M, N, K, limited_##D, A, B), ".satfinite", least, M, N, K, D, A, B)

#define INSTRUCTIONS(X)                                                                  \
    X(70,  8, 8,  4, f32, f16,  f16,  QUADS, 32, 8, 2, 2)                                \
    X(70,  8, 8,  4, f16, f16,  f16,  QUADS, 32, 4, 2, 2)                                \
    X(75, 16, 8,  8, f32, f16,  f16,  WARP,  32, 4, 2, 1)                                \
    X(75, 16, 8,  8, f16, f16,  f16,  WARP,  32, 2, 2, 1)                                \
    X(80, 16, 8, 16, f32, f16,  f16,  WARP,  32, 4, 4, 2)                                \
    X(80, 16, 8, 16, f16, f16,  f16,  WARP,  32, 2, 4, 2)                                \
    X(80, 16, 8,  8, f32, bf16, bf16, WARP,  32, 4, 2, 1)                                \
    X(80, 16, 8, 16, f32, bf16, bf16, WARP,  32, 4, 4, 2)                                \
    X(80, 16, 8,  4, f32, tf32, tf32, WARP,  32, 4, 2, 1)                                \
    X(80, 16, 8,  8, f32, tf32, tf32, WARP,  32, 4, 4, 2)                                \
    X(89, 16, 8, 32, f32, e4m3, e4m3, WARP,  32, 4, 4, 2)                                \
    X(89, 16, 8, 32, f32, e5m2, e5m2, WARP,  32, 4, 4, 2)                                \
    X(80,  8, 8,  4, f64, f64,  f64,  WARP,  64, 2, 1, 1)                                \
    X(90, 16, 8,  4, f64, f64,  f64,  WARP,  64, 4, 2, 1)                                \
    X(90, 16, 8,  8, f64, f64,  f64,  WARP,  64, 4, 4, 2)                                \
    X(90, 16, 8, 16, f64, f64,  f64,  WARP,  64, 4, 8, 4)

#define INSTRUCTIONS_MIXED(X)                                                            \
    X(89, 16, 8, 32, f32, e4m3, e5m2, WARP,  32, 4, 4, 2)                                \
    X(89, 16, 8, 32, f32, e5m2, e4m3, WARP,  32, 4, 4, 2)

#define INTEGERS(X)                                                                      \
    X(75,  8, 8, 16, s32, s8,   s8,   WARP,  32, 2, 1, 1)                                \
    X(75,  8, 8, 16, s32, u8,   u8,   WARP,  32, 2, 1, 1)                                \
    X(80, 16, 8, 16, s32, s8,   s8,   WARP,  32, 4, 2, 1)                                \
    X(80, 16, 8, 16, s32, u8,   u8,   WARP,  32, 4, 2, 1)                                \
    X(80, 16, 8, 32, s32, s8,   s8,   WARP,  32, 4, 4, 2)                                \
    X(80, 16, 8, 32, s32, u8,   u8,   WARP,  32, 4, 4, 2)

#define INTEGERS_MIXED(X)                                                                \
    X(75,  8, 8, 16, s32, s8,   u8,   WARP,  32, 2, 1, 1)                                \
    X(75,  8, 8, 16, s32, u8,   s8,   WARP,  32, 2, 1, 1)                                \
    X(80, 16, 8, 16, s32, s8,   u8,   WARP,  32, 4, 2, 1)                                \
    X(80, 16, 8, 16, s32, u8,   s8,   WARP,  32, 4, 2, 1)                                \
    X(80, 16, 8, 32, s32, s8,   u8,   WARP,  32, 4, 4, 2)                                \
    X(80, 16, 8, 32, s32, u8,   s8,   WARP,  32, 4, 4, 2)

/* fp8 with an f16 accumulator or k = 16 came with PTX ISA 8.7. */
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
#define INSTRUCTIONS_PTX87(X)                                                            \
    X(89, 16, 8, 32, f16, e4m3, e4m3, WARP,  32, 2, 4, 2)                                \
    X(89, 16, 8, 32, f16, e5m2, e5m2, WARP,  32, 2, 4, 2)                                \
    X(89, 16, 8, 16, f32, e4m3, e4m3, WARP,  32, 4, 2, 1)                                \
    X(89, 16, 8, 16, f32, e5m2, e5m2, WARP,  32, 4, 2, 1)                                \
    X(89, 16, 8, 16, f16, e4m3, e4m3, WARP,  32, 2, 2, 1)                                \
    X(89, 16, 8, 16, f16, e5m2, e5m2, WARP,  32, 2, 2, 1)

#define INSTRUCTIONS_PTX87_MIXED(X)                                                      \
    X(89, 16, 8, 32, f16, e4m3, e5m2, WARP,  32, 2, 4, 2)                                \
    X(89, 16, 8, 32, f16, e5m2, e4m3, WARP,  32, 2, 4, 2)                                \
    X(89, 16, 8, 16, f32, e4m3, e5m2, WARP,  32, 4, 2, 1)                                \
    X(89, 16, 8, 16, f32, e5m2, e4m3, WARP,  32, 4, 2, 1)                                \
    X(89, 16, 8, 16, f16, e4m3, e5m2, WARP,  32, 2, 2, 1)                                \
    X(89, 16, 8, 16, f16, e5m2, e4m3, WARP,  32, 2, 2, 1)
#else
#define INSTRUCTIONS_PTX87(X)
#define INSTRUCTIONS_PTX87_MIXED(X)
#endif
/* clang-format on */

INSTRUCTIONS(INSTRUCTION)
INSTRUCTIONS_MIXED(INSTRUCTION)
INTEGERS(INSTRUCTION)
INTEGERS(INSTRUCTION_LIMITED)
INTEGERS_MIXED(INSTRUCTION)
INTEGERS_MIXED(INSTRUCTION_LIMITED)
INSTRUCTIONS_PTX87(INSTRUCTION)
INSTRUCTIONS_PTX87_MIXED(INSTRUCTION)

/* --- the rows --------------------------------------------------------------------- */

const struct gpu_instruction mma_sm80[] = {
    /* clang-format off */
    INSTRUCTIONS(ROW)
    INSTRUCTIONS_MIXED(ROW_MIXED)
    INTEGERS(ROW)
    INTEGERS(ROW_LIMITED)
    INTEGERS_MIXED(ROW_MIXED)
    INTEGERS_MIXED(ROW_LIMITED_MIXED)
    INSTRUCTIONS_PTX87(ROW)
    INSTRUCTIONS_PTX87_MIXED(ROW_MIXED)
    {}
    /* clang-format on */
};
