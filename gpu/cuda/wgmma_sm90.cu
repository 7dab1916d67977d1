/* SPDX-License-Identifier: BSD-3-Clause */
/* wgmma: D = A B + C by one warpgroup, B in shared memory, A there or in registers.

   Launch: blocks of one warpgroup (128 threads).  A block takes a fragment, issues one
   instruction, waits for it, and takes the next fragment.  Nothing else is computed:
   encodings are copied from memory into shared memory or registers and back.  So every
   bit of D is the device's.  Variants of one instruction change the location of operands
   and immediate arguments of the instruction, never the data that is copied.

   Registers (PTX ISA, "Register fragments for wgmma").  Warp w has rows 16 w to 16 w +
   15.  In a warp, let g = lane / 4 and t = lane % 4.  Element q of D, counted through the
   registers, is row g + 8 (q / 2 % 2), column 8 (q / 4) + 2 t + q % 2.  Register r of A
   with E elements is row g + 8 (r % 2), columns from E (t + 4 (r / 2)) on.

   Shared memory, no swizzle (PTX ISA, "Matrix descriptor").  An operand consists of cores
   of 8 x 16 bytes.  Row i of a core is its bytes 16 i to 16 i + 15.  For an operand
   stored by k, a core has eight of its rows (A) or columns (B) with 16 bytes of k each.
   For a transposed operand, it has eight k with eight elements along m (A) or n (B) each.
   In both cases two cores cover k; they are 128 bytes apart, and the next eight rows or
   columns follow after 256 bytes.  The descriptor has these two distances.

   wgmma exists only in sm_90a, and this file is compiled only for it. */
#include "gpu/cuda/cuda.cuh"

/* --- shared memory ---------------------------------------------------------------- */

enum { K_BYTES = 32, CORE = 128, K_STEP = CORE, LINE_STEP = 2 * CORE };

/* Byte offset of an element of BYTES: `line` along m or n, `k` along k. */
template <int BYTES> __device__ int core_offset(int line, int k, bool transposed)
{
    const int far = LINE_STEP * (line / 8);
    if (transposed) return far + K_STEP * (k / 8) + 16 * (k % 8) + BYTES * (line % 8);
    return far + K_STEP * (BYTES * k / 16) + 16 * (line % 8) + BYTES * k % 16;
}

/* Copy `lines` x k elements into cores; `line_stride` and `k_stride` are the distances of
   elements. */
template <class T>
__device__ void cores_fill(unsigned char *to, const T *from, int lines, int k,
                           int line_stride, int k_stride, bool transposed)
{
    for (int i = threadIdx.x; i < lines * k; i += THREADS)
        *(T *)(to + core_offset<sizeof(T)>(i / k, i % k, transposed)) =
            from[i / k * line_stride + i % k * k_stride];
}

__device__ uint64_t descriptor(const unsigned char *cores)
{
    const uint64_t address = __cvta_generic_to_shared(cores);
    return (address & 0x3ffff) >> 4 | (uint64_t)(K_STEP >> 4) << 16 |
           (uint64_t)(LINE_STEP >> 4) << 32;
}

/* --- the kernel ------------------------------------------------------------------- */

template <class I, int VARIANT> __global__ void wgmma_kernel(gpu_batch batch)
{
    __shared__ __align__(128) unsigned char cores_a[I::m * K_BYTES];
    __shared__ __align__(128) unsigned char cores_b[I::n * K_BYTES];
    const int lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16;
    constexpr int each = 4 / sizeof(typename I::A);
    const auto at_a = [=](int q) -> position {
        const int r = q / each;
        return { top + lane / 4 + 8 * (r % 2),
                 each * (lane % 4 + 4 * (r / 2)) + q % each };
    };
    const auto at_c = [=](int q) -> position {
        return { top + lane / 4 + 8 * (q / 2 % 2), 8 * (q / 4) + 2 * (lane % 4) + q % 2 };
    };
    for (size_t at = blockIdx.x; at < batch.count; at += gridDim.x) {
        const auto *a = (const typename I::A *)batch.a + at * I::m * I::k;
        const auto *b = (const typename I::B *)batch.b + at * I::k * I::n;
        uint32_t a_parts[4], d[I::c_parts];
        cores_fill(cores_a, a, I::m, I::k, I::k, 1, VARIANT == GPU_A_TRANSPOSED);
        cores_fill(cores_b, b, I::n, I::k, 1, I::n, VARIANT == GPU_B_TRANSPOSED);
        registers_load(a_parts, a, I::k, at_a);
        registers_load(d, (const typename I::C *)batch.c + at * I::m * I::n, I::n, at_c);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if constexpr (VARIANT == GPU_A_REGISTERS)
            I::template issue_registers<VARIANT>(d, a_parts, descriptor(cores_b));
        else I::template issue<VARIANT>(d, descriptor(cores_a), descriptor(cores_b));
        __syncthreads();
        registers_store((typename I::C *)batch.d + at * I::m * I::n, I::n, d, at_c);
    }
}

using kernel = void (*)(gpu_batch);

/* The kernel of a variant; NULL if the instruction does not have it. */
template <class I, int VARIANT> constexpr kernel kernel_of()
{
    if constexpr ((I::variants >> VARIANT & 1) != 0) return wgmma_kernel<I, VARIANT>;
    else return nullptr;
}

template <class I>
int wgmma_launch(const gpu_instruction *, const gpu_batch *batch, gpu_variant variant)
{
    static const kernel kernels[GPU_VARIANTS] = {
        kernel_of<I, GPU_PLAIN>(),        kernel_of<I, GPU_A_REGISTERS>(),
        kernel_of<I, GPU_A_TRANSPOSED>(), kernel_of<I, GPU_B_TRANSPOSED>(),
        kernel_of<I, GPU_NEGATE_A>(),     kernel_of<I, GPU_NEGATE_B>(),
        kernel_of<I, GPU_SCALE_D_0>(),
    };
    if (!kernels[variant]) return cudaErrorInvalidValue;
    return launch_blocks(kernels[variant], batch, 1);
}

/* --- the instructions ------------------------------------------------------------- */

/* clang-format off */
/* Lists of D's registers, in PTX and under a constraint, and the numbers of the operands
   after them. */
#define TEN_TEXT(t)                                                                      \
    ",%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t      \
    "8,%" #t "9"
#define TEXT_2 "{%0,%1}"
#define TEXT_4 "{%0,%1,%2,%3}"
#define TEXT_128                                                                         \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9" TEN_TEXT(1) TEN_TEXT(2) TEN_TEXT(3) TEN_TEXT(4)     \
        TEN_TEXT(5) TEN_TEXT(6) TEN_TEXT(7) TEN_TEXT(8) TEN_TEXT(9) TEN_TEXT(10)         \
            TEN_TEXT(11) ",%120,%121,%122,%123,%124,%125,%126,%127}"

#define LIST_4_AT(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define LIST_16_AT(i)                                                                    \
    LIST_4_AT(i), LIST_4_AT(i + 4), LIST_4_AT(i + 8), LIST_4_AT(i + 12)
#define LIST_2 "+r"(d[0]), "+r"(d[1])
#define LIST_4 LIST_4_AT(0)
#define LIST_128                                                                         \
    LIST_16_AT(0), LIST_16_AT(16), LIST_16_AT(32), LIST_16_AT(48), LIST_16_AT(64),       \
        LIST_16_AT(80), LIST_16_AT(96), LIST_16_AT(112)

#define BEHIND_2(form) form(2, 3, 4, 5, 6, 7, 8, 9, 10)
#define BEHIND_4(form) form(4, 5, 6, 7, 8, 9, 10, 11, 12)
#define BEHIND_128(form) form(128, 129, 130, 131, 132, 133, 134, 135, 136)

/* The operands after D, by number.  First the descriptors of A and B, or four registers
   and the descriptor of B; then whether C is added, the signs of A and B, and for
   elements of 16 bits which operand is transposed. */
#define SHARED_16(a, b, p, sa, sb, ta, tb, unused, unused_2)                             \
    "%" #a ", %" #b ", p, %" #sa ", %" #sb ", %" #ta ", %" #tb ";"
#define SHARED_8(a, b, p, sa, sb, ta, tb, unused, unused_2)                              \
    "%" #a ", %" #b ", p, %" #sa ", %" #sb ";"
#define SHARED_0(a, b, p, sa, sb, ta, tb, unused, unused_2) "%" #a ", %" #b ", p;"
#define REGISTERS_16(a0, a1, a2, a3, b, p, sa, sb, tb)                                   \
    "{%" #a0 ",%" #a1 ",%" #a2 ",%" #a3 "}, %" #b ", p, %" #sa ", %" #sb ", %" #tb ";"
#define REGISTERS_8(a0, a1, a2, a3, b, p, sa, sb, tb)                                    \
    "{%" #a0 ",%" #a1 ",%" #a2 ",%" #a3 "}, %" #b ", p, %" #sa ", %" #sb ";"
#define REGISTERS_0(a0, a1, a2, a3, b, p, sa, sb, tb)                                    \
    "{%" #a0 ",%" #a1 ",%" #a2 ",%" #a3 "}, %" #b ", p;"
#define PREDICATE_SHARED(a, b, p, sa, sb, ta, tb, unused, unused_2) "%" #p
#define PREDICATE_REGISTERS(a0, a1, a2, a3, b, p, sa, sb, tb) "%" #p

#define PTX(N, K, LIMIT, D, A, B)                                                        \
    "wgmma.mma_async.sync.aligned.m64n" #N "k" #K LIMIT "." #D "." #A "." #B

/* One instruction, and the wait for it.  D's registers are not accessed in between. */
#define STATEMENT(N, K, LIMIT, D, A, B, RD, PREDICATE, OPERANDS)                         \
    "{\n"                                                                                \
    ".reg .pred p;\n"                                                                    \
    "setp.ne.b32 p, " BEHIND_##RD(PREDICATE) ", 0;\n"                                    \
    "wgmma.fence.sync.aligned;\n"                                                        \
    PTX(N, K, LIMIT, D, A, B) " " TEXT_##RD ", " BEHIND_##RD(OPERANDS) "\n"              \
    "wgmma.commit_group.sync.aligned;\n"                                                 \
    "wgmma.wait_group.sync.aligned 0;\n"                                                 \
    "}\n"

#define ARGUMENTS(V)                                                                     \
    "r"((int)(V != GPU_SCALE_D_0)), "n"(V == GPU_NEGATE_A ? -1 : 1),                     \
        "n"(V == GPU_NEGATE_B ? -1 : 1)

/* clang-format on */

enum {
    VARIANTS_0 = 1 << GPU_PLAIN | 1 << GPU_A_REGISTERS | 1 << GPU_SCALE_D_0,
    VARIANTS_8 = VARIANTS_0 | 1 << GPU_NEGATE_A | 1 << GPU_NEGATE_B,
    VARIANTS_16 = VARIANTS_8 | 1 << GPU_A_TRANSPOSED | 1 << GPU_B_TRANSPOSED
};

/* Rows are (n, k, formats of D, A and B, registers of D, arguments: 16 with arguments for
   transposed operands, 8 without them, 0 for integers, which have no signs either).
   INSTRUCTION makes the class, ROW the row; of integers, ..._LIMITED makes those of the
   instruction that limits sums. */
#define WGMMA(N, K, D, A, B) wgmma_m64n##N##k##K##_##D##_##A##_##B

#define INSTRUCTION(N, K, D, A, B, RD, WIDTH)                                            \
    INSTRUCTION_OF(WGMMA(N, K, D, A, B), "", N, K, D, A, B, RD, WIDTH)
#define INSTRUCTION_LIMITED(N, K, D, A, B, RD, WIDTH)                                    \
    INSTRUCTION_OF(WGMMA(N, K, limited_##D, A, B), ".satfinite", N, K, D, A, B, RD,      \
                   WIDTH)
#define INSTRUCTION_OF(CLASS, LIMIT, N, K, D_, A_, B_, RD, WIDTH)                        \
    struct CLASS {                                                                       \
        using A = encoding_##A_;                                                         \
        using B = encoding_##B_;                                                         \
        using C = encoding_##D_;                                                         \
        static constexpr int m = 64, n = N, k = K, c_parts = RD;                         \
        static constexpr unsigned variants = VARIANTS_##WIDTH;                           \
        static_assert(K * sizeof(A) == K_BYTES && K * sizeof(B) == K_BYTES);             \
        static_assert(m * N * sizeof(C) == RD * 4 * THREADS);                            \
        template <int V>                                                                 \
        static __device__ void issue(uint32_t (&d)[RD], uint64_t a, uint64_t b)          \
        {                                                                                \
            asm volatile(                                                                \
                STATEMENT(N, K, LIMIT, D_, A_, B_, RD, PREDICATE_SHARED, SHARED_##WIDTH) \
                : LIST_##RD                                                              \
                : "l"(a), "l"(b), ARGUMENTS(V), "n"((int)(V == GPU_A_TRANSPOSED)),       \
                  "n"((int)(V == GPU_B_TRANSPOSED))                                      \
                : "memory");                                                             \
        }                                                                                \
        template <int V>                                                                 \
        static __device__ void issue_registers(uint32_t (&d)[RD],                        \
                                               const uint32_t (&a)[4], uint64_t b)       \
        {                                                                                \
            asm volatile(                                                                \
                STATEMENT(N, K, LIMIT, D_, A_, B_, RD, PREDICATE_REGISTERS,              \
                          REGISTERS_##WIDTH)                                             \
                : LIST_##RD                                                              \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), ARGUMENTS(V),      \
                  "n"((int)(V == GPU_B_TRANSPOSED))                                      \
                : "memory");                                                             \
        }                                                                                \
    };

/* clang-format off */
/* A name has the format of the second operand only if it differs from the first. */
#define ROW_NAMED(NAME, CLASS, LIMIT, N, K, D, A, B, WIDTH)                              \
    { NAME, PTX(N, K, LIMIT, D, A, B), 64, N, K, sizeof(encoding_##A),                   \
      sizeof(encoding_##B), sizeof(encoding_##D), sm(90), VARIANTS_##WIDTH,              \
      wgmma_launch<CLASS> },
#define ROW(N, K, D, A, B, RD, WIDTH)                                                    \
    ROW_NAMED("wgmma.m64n" #N "k" #K "." #D "." #A, WGMMA(N, K, D, A, B), "", N, K, D,   \
              A, B, WIDTH)
#define ROW_MIXED(N, K, D, A, B, RD, WIDTH)                                              \
    ROW_NAMED("wgmma.m64n" #N "k" #K "." #D "." #A "." #B, WGMMA(N, K, D, A, B), "", N,  \
              K, D, A, B, WIDTH)
#define ROW_LIMITED(N, K, D, A, B, RD, WIDTH)                                            \
    ROW_NAMED("wgmma-sat.m64n" #N "k" #K "." #D "." #A,                            \
              WGMMA(N, K, limited_##D, A, B), ".satfinite", N, K, D, A, B, WIDTH)
#define ROW_LIMITED_MIXED(N, K, D, A, B, RD, WIDTH)                                      \
    ROW_NAMED("wgmma-sat.m64n" #N "k" #K "." #D "." #A "." #B,                     \
              WGMMA(N, K, limited_##D, A, B), ".satfinite", N, K, D, A, B, WIDTH)

#define INSTRUCTIONS(X)                        \
    X(  8, 16, f32, f16,  f16,    4, 16)       \
    X(  8, 16, f16, f16,  f16,    2, 16)       \
    X(  8, 16, f32, bf16, bf16,   4, 16)       \
    X(  8,  8, f32, tf32, tf32,   4,  8)       \
    X(  8, 32, f32, e4m3, e4m3,   4,  8)       \
    X(  8, 32, f32, e5m2, e5m2,   4,  8)       \
    X(  8, 32, f16, e4m3, e4m3,   2,  8)       \
    X(  8, 32, f16, e5m2, e5m2,   2,  8)       \
    X(256, 16, f32, f16,  f16,  128, 16)

#define INSTRUCTIONS_MIXED(X)                  \
    X(  8, 32, f32, e4m3, e5m2,   4,  8)       \
    X(  8, 32, f32, e5m2, e4m3,   4,  8)       \
    X(  8, 32, f16, e4m3, e5m2,   2,  8)       \
    X(  8, 32, f16, e5m2, e4m3,   2,  8)

#define INTEGERS(X)                            \
    X(  8, 32, s32, s8,   s8,     4,  0)       \
    X(  8, 32, s32, u8,   u8,     4,  0)

#define INTEGERS_MIXED(X)                      \
    X(  8, 32, s32, s8,   u8,     4,  0)       \
    X(  8, 32, s32, u8,   s8,     4,  0)
/* clang-format on */

INSTRUCTIONS(INSTRUCTION)
INSTRUCTIONS_MIXED(INSTRUCTION)
INTEGERS(INSTRUCTION)
INTEGERS(INSTRUCTION_LIMITED)
INTEGERS_MIXED(INSTRUCTION)
INTEGERS_MIXED(INSTRUCTION_LIMITED)

/* --- the rows --------------------------------------------------------------------- */

const struct gpu_instruction wgmma_sm90[] = {
    /* clang-format off */
    INSTRUCTIONS(ROW)
    INSTRUCTIONS_MIXED(ROW_MIXED)
    INTEGERS(ROW)
    INTEGERS(ROW_LIMITED)
    INTEGERS_MIXED(ROW_MIXED)
    INTEGERS_MIXED(ROW_LIMITED_MIXED)
    {}
    /* clang-format on */
};
