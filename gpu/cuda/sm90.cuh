/* SPDX-License-Identifier: BSD-3-Clause */
/* Hopper's own instructions: wgmma, barriers with transaction counts, clusters, TMA.  PTX
   ISA says what each does; addresses of shared memory are 32 bits. */
#ifndef BITCUT_GPU_CUDA_SM90_CUH
#define BITCUT_GPU_CUDA_SM90_CUH

#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

/* --- wgmma ------------------------------------------------------------------------ */

/* clang-format off */
#define NUMBERS_32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,"  \
    "%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define NUMBERS_40 NUMBERS_32 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define NUMBERS_48 NUMBERS_40 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define NUMBERS_64 NUMBERS_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,"\
    "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define NUMBERS_96 NUMBERS_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,"\
    "%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define NUMBERS_128 NUMBERS_96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,"    \
    "%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,"   \
    "%123,%124,%125,%126,%127"

#define LIST_4(in, i) in(d[i]), in(d[i + 1]), in(d[i + 2]), in(d[i + 3])
#define LIST_16(in, i) LIST_4(in, i), LIST_4(in, i + 4), LIST_4(in, i + 8), LIST_4(in, i + 12)
#define REGISTERS_32(in) LIST_16(in, 0), LIST_16(in, 16)
#define REGISTERS_40(in) REGISTERS_32(in), LIST_4(in, 32), LIST_4(in, 36)
#define REGISTERS_48(in) REGISTERS_32(in), LIST_16(in, 32)
#define REGISTERS_64(in) REGISTERS_32(in), LIST_16(in, 32), LIST_16(in, 48)
#define REGISTERS_96(in) REGISTERS_64(in), LIST_16(in, 64), LIST_16(in, 80)
#define REGISTERS_128(in) REGISTERS_96(in), LIST_16(in, 96), LIST_16(in, 112)

/* Positions of the operands after D: descriptors of A and B, and whether D is added. */
#define BEHIND_32(form) form(32, 33, 34)
#define BEHIND_40(form) form(40, 41, 42)
#define BEHIND_48(form) form(48, 49, 50)
#define BEHIND_64(form) form(64, 65, 66)
#define BEHIND_96(form) form(96, 97, 98)
#define BEHIND_128(form) form(128, 129, 130)
#define PREDICATE(a, b, p) "%" #p
#define OPERANDS(a, b, p) "%" #a ", %" #b ", p"
/* clang-format on */

/* Formats of parts, by their name in PTX, with the number of bytes of an element and the
   format of sums. */
struct format_f16 {
    using sum = float;
    static constexpr int parts = FORMAT_F16;
    static constexpr int bytes = 2;
    static constexpr CUtensorMapDataType tensor = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
};
struct format_bf16 {
    using sum = float;
    static constexpr int parts = FORMAT_BF16;
    static constexpr int bytes = 2;
    static constexpr CUtensorMapDataType tensor = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
};
struct format_tf32 {
    using sum = float;
    static constexpr int parts = FORMAT_TF32;
    static constexpr int bytes = 4;
    static constexpr CUtensorMapDataType tensor = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
};
struct format_e4m3 {
    using sum = float;
    static constexpr int parts = FORMAT_E4M3;
    static constexpr int bytes = 1;
    static constexpr CUtensorMapDataType tensor = CU_TENSOR_MAP_DATA_TYPE_UINT8;
};
struct format_s8 {
    using sum = int;
    static constexpr int parts = FORMAT_S8;
    static constexpr int bytes = 1;
    static constexpr CUtensorMapDataType tensor = CU_TENSOR_MAP_DATA_TYPE_UINT8;
};

/* D += A B, or D = A B if `counts` is 0: one m64nN instruction; the function does not
   wait for it. */
template <class Format, int REGISTERS> struct wgmma;

#define WGMMA_OF(FORMAT, N, K, REGISTERS, IN, SUM, MORE)                                 \
    template <> struct wgmma<format_##FORMAT, REGISTERS> {                               \
        using sum = format_##FORMAT::sum;                                                \
        static __device__ __forceinline__ void issue(sum (&d)[REGISTERS], uint64_t a,    \
                                                     uint64_t b, int counts)             \
        {                                                                                \
            asm volatile("{\n"                                                           \
                         ".reg .pred p;\n"                                               \
                         "setp.ne.b32 p, " BEHIND_##REGISTERS(                           \
                             PREDICATE) ", 0;\n"                                         \
                                        "wgmma.mma_async.sync.aligned.m64n" #N "k" #K    \
                                        "." SUM "." #FORMAT "." #FORMAT                  \
                                        " {" NUMBERS_##REGISTERS                         \
                         "}, " BEHIND_##REGISTERS(OPERANDS) MORE ";\n"                   \
                                                                 "}\n"                   \
                         : REGISTERS_##REGISTERS(IN)                                     \
                         : "l"(a), "l"(b), "r"(counts));                                 \
        }                                                                                \
    };
#define WGMMA(FORMAT, N, K, REGISTERS, LAYOUT)                                           \
    WGMMA_OF(FORMAT, N, K, REGISTERS, "+f", "f32", ", 1, 1" LAYOUT)
#define WGMMA_INTEGERS(FORMAT, N, K, REGISTERS)                                          \
    WGMMA_OF(FORMAT, N, K, REGISTERS, "+r", "s32", "")

/* clang-format off */
WGMMA(f16,   64, 16,  32, ", 0, 0")
WGMMA(f16,   96, 16,  48, ", 0, 0")
WGMMA(f16,  128, 16,  64, ", 0, 0")
WGMMA(f16,  192, 16,  96, ", 0, 0")
WGMMA(f16,  256, 16, 128, ", 0, 0")
WGMMA(bf16,  64, 16,  32, ", 0, 0")
WGMMA(bf16,  80, 16,  40, ", 0, 0")
WGMMA(bf16, 128, 16,  64, ", 0, 0")
WGMMA(bf16, 192, 16,  96, ", 0, 0")
WGMMA(bf16, 256, 16, 128, ", 0, 0")
WGMMA(tf32,  64,  8,  32, "")
WGMMA(tf32, 128,  8,  64, "")
WGMMA(tf32, 256,  8, 128, "")
WGMMA(e4m3,  64, 32,  32, "")
WGMMA(e4m3,  96, 32,  48, "")
WGMMA(e4m3, 128, 32,  64, "")
WGMMA_INTEGERS(s8,  64, 32, 32)
WGMMA_INTEGERS(s8,  96, 32, 48)
WGMMA_INTEGERS(s8, 128, 32, 64)
WGMMA_INTEGERS(s8, 256, 32, 128)
/* clang-format on */

/* Call this before the next wgmma if other instructions wrote registers of D. */
static __device__ __forceinline__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Wait until at most PENDING of the committed groups are running. */
template <int PENDING> static __device__ __forceinline__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/* The compiler may not move accesses to these registers across this point. */
template <int COUNT> static __device__ __forceinline__ void pin(float (&d)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <int COUNT> static __device__ __forceinline__ void pin(int (&d)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++) asm volatile("" : "+r"(d[i])::"memory");
}

/* Registers of a thread from now on: each warpgroup gives or takes registers. */
template <int COUNT> static __device__ __forceinline__ void registers_give()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT> static __device__ __forceinline__ void registers_take()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/* --- barriers, clusters, copies --------------------------------------------------- */

static __device__ __forceinline__ void barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(barrier), "r"(arrivals)
                 : "memory");
}

static __device__ __forceinline__ void barrier_expect(uint32_t barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}

/* Arrive at the barrier at the same offset in block `rank` of the cluster.  Writes of
   this thread are released only to its own block: it wrote nothing that others read, and
   a release to the cluster would wait for all memory of the device. */
static __device__ __forceinline__ void barrier_arrive(uint32_t barrier, uint32_t rank)
{
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}\n" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

/* Initialise barriers at which blocks of the cluster may arrive. */
static __device__ __forceinline__ void barrier_init_done()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Wait for the end of the phase with this parity. */
static __device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

static __device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
static __device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
static __device__ __forceinline__ void cluster_sync()
{
    cluster_arrive();
    cluster_wait();
}

/* Wait until all `threads` threads of the multiplying warpgroups are here. */
static __device__ __forceinline__ void multipliers_sync(int threads)
{
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
}

/* The same for the 128 threads of the loading warpgroup. */
static __device__ __forceinline__ void loaders_sync()
{
    asm volatile("bar.sync 2, 128;" ::: "memory");
}

/* Four numbers of shared memory at one offset, in this block and in block `rank` of the
   cluster: written in this block, read from the other. */
static __device__ __forceinline__ void shared_write(uint32_t to, const float (&v)[4])
{
    asm volatile("st.shared::cta.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(v[0]),
                 "f"(v[1]), "f"(v[2]), "f"(v[3])
                 : "memory");
}
static __device__ __forceinline__ void cluster_read(float (&v)[4], uint32_t from,
                                                    uint32_t rank)
{
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %4, %5;\n"
                 "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n"
                 "}\n"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                 : "r"(from), "r"(rank));
}

/* Prefetch the descriptor of the parts. */
static __device__ __forceinline__ void parts_foresee(const CUtensorMap *parts)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(parts) : "memory");
}

/* What this thread knows to be written or read, by any thread, comes before its next
   copies. */
static __device__ __forceinline__ void copies_fence()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

/* Bring consecutive bytes, a multiple of 16, to the L2 cache. */
static __device__ __forceinline__ void cache_foresee(const void *at, int bytes)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(at), "r"(bytes)
                 : "memory");
}

/* Copy a box from (k, line, part) of slice `slice` of matrix `matrix` of a map; its bytes
   count at `barrier`.  For several blocks of the cluster, the box goes to the same offset
   in each block of the set `blocks`, one bit each. */
template <int BLOCKS>
static __device__ __forceinline__ void copy(uint32_t to, const CUtensorMap *parts, int k,
                                            int line, int part, int slice, int matrix,
                                            uint32_t barrier, uint32_t blocks)
{
    if constexpr (BLOCKS == 1)
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                     :
                     : "r"(to), "l"(parts), "r"(k), "r"(line), "r"(part), "r"(slice),
                       "r"(matrix), "r"(barrier)
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;"
                     :
                     : "r"(to), "l"(parts), "r"(k), "r"(line), "r"(part), "r"(slice),
                       "r"(matrix), "r"(barrier), "h"((uint16_t)blocks)
                     : "memory");
}

#endif
