/* SPDX-License-Identifier: BSD-3-Clause */
/* Code shared by TENSOR and NATIVE: parts for the matrix cores, stages
   of them in shared memory, and the fragments and outputs of a warp.

   A block of 512 threads computes 128 x 128 outputs, and a warp 32 x 32.  A stage has 128
   bytes of every line.  For 16 bytes of a line, the fragments of mma.m16n8 have one
   register in each lane, for f16 and tf32 alike. */
#ifndef BITCUT_GPU_CUDA_EMULATE_PARTS_CUH
#define BITCUT_GPU_CUDA_EMULATE_PARTS_CUH

#include "gpu/cuda/emulate.cuh"

namespace
{

enum { TILE = 128, TILE_THREADS = 512, STAGE_BYTES = 128, CHUNKS = STAGE_BYTES / 16 };
constexpr unsigned ALL_LANES = 0xffffffff;

/* --- parts -------------------------------------------------------------------------- */

#define MMA_PTX(SHAPE, PART, A, B)                                                       \
    "mma.sync.aligned." SHAPE ".row.col.f32." PART "." PART ".f32 {%0,%1,%2,%3}, " A     \
    ", " B ", {%0,%1,%2,%3};"
#define MMA_ONE(SHAPE, PART)                                                             \
    asm volatile(MMA_PTX(SHAPE, PART, "{%4,%5}", "{%6}")                                 \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define MMA_TWO(SHAPE, PART)                                                             \
    asm volatile(MMA_PTX(SHAPE, PART, "{%4,%5,%6,%7}", "{%8,%9}")                        \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/* c += a b by the instruction for 16 or 32 bytes of k. */
template <int> struct part;
template <> struct part<FORMAT_F16> {
    using type = uint16_t;
    static __device__ type make(float x) { return __half_as_ushort(__float2half_rn(x)); }
    template <int TIMES>
    static __device__ void mma(float *c, const uint32_t *a, const uint32_t *b)
    {
        if constexpr (TIMES == 1) MMA_ONE("m16n8k8", "f16");
        else MMA_TWO("m16n8k16", "f16");
    }
};
template <> struct part<FORMAT_BF16> {
    using type = uint16_t;
    static __device__ type make(float x) { return (uint16_t)(__float_as_uint(x) >> 16); }
    template <int TIMES>
    static __device__ void mma(float *c, const uint32_t *a, const uint32_t *b)
    {
        if constexpr (TIMES == 1) MMA_ONE("m16n8k8", "bf16");
        else MMA_TWO("m16n8k16", "bf16");
    }
};
template <> struct part<FORMAT_TF32> {
    using type = uint32_t;
    static __device__ type make(float x) { return __float_as_uint(x); }
    template <int TIMES>
    static __device__ void mma(float *c, const uint32_t *a, const uint32_t *b)
    {
        if constexpr (TIMES == 1) MMA_ONE("m16n8k4", "tf32");
        else MMA_TWO("m16n8k8", "tf32");
    }
};

template <int FORMAT>
constexpr int stage_of = STAGE_BYTES / sizeof(typename part<FORMAT>::type);

/* The exponent field of a value in FP32; for f16 at least the field of its smallest
   exponent. */
template <int FORMAT> __device__ int exponent_field(float x)
{
    const int field = __float_as_int(x) >> 23 & 255;
    return FORMAT == FORMAT_F16 ? max(field, 127 - 14) : field;
}

/* --- what is derived of the values -------------------------------------------------- */

/* The position of the power of line `line` of 32, such that a lane reads the powers of
   its outputs at once. */
__device__ int power_place(int line, bool is_a)
{
    const int r = line & 31;
    return is_a ? (r & 7) * 4 + (r >> 4) * 2 + (r >> 3 & 1)
                : (r >> 1 & 3) * 8 + (r >> 3) * 2 + (r & 1);
}

enum { DERIVE_THREADS = 256, DERIVE_TILE = 32 };

/* Adjacent elements that are read or written at once. */
template <class T, int L>
struct alignas(sizeof(T) * L < 16 ? sizeof(T) * L : 16) aligned {
    T x[L];
};

/* One block of L values of a line: as parts; the power of two of their largest exponent,
   `up` higher, as bf16, 0 if all are zero; and for f16 also a code of each part, 0 for a
   zero and otherwise above 32, so that only a sum of two nonzero codes is above 65. */
template <int FORMAT, int L>
__device__ uint16_t derive_block(const emulate_operand &x, size_t line, size_t at, int up)
{
    using type = typename part<FORMAT>::type;
    const bool none = x.wild && x.wild[line];
    at += line * x.length;
    const auto values = *(const aligned<float, L> *)(x.value + at);
    aligned<type, L> parts;
    aligned<uint8_t, L> codes;
    int most = 0;
#pragma unroll
    for (int k = 0; k < L; k++) {
        const float v = none ? 0 : values.x[k];
        const int field = v ? exponent_field<FORMAT>(v) : 0;
        parts.x[k] = part<FORMAT>::make(v);
        codes.x[k] = field ? field - 127 + 15 + 32 : 0;
        most = max(most, field);
    }
    *(aligned<type, L> *)((type *)x.parts + at) = parts;
    if (FORMAT == FORMAT_F16) *(aligned<uint8_t, L> *)(x.code + at) = codes;
    return most ? (most + up) << 7 : 0;
}

/* Tiles of 32 lines and 32 blocks: a warp reads along a line, and writes powers along
   lines. */
template <int FORMAT, int L>
__global__ void __launch_bounds__(DERIVE_THREADS)
    derive(const __grid_constant__ emulate_operand x, int up, bool is_a)
{
    __shared__ __align__(16) uint16_t power[DERIVE_TILE][DERIVE_TILE + 8];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const size_t blocks = x.length / L, block = blockIdx.x * (size_t)DERIVE_TILE + lane;
    for (size_t i0 = blockIdx.y * (size_t)DERIVE_TILE; i0 < x.padded;
         i0 += gridDim.y * (size_t)DERIVE_TILE) {
        if (block < blocks)
#pragma unroll
            for (int line = warp; line < DERIVE_TILE; line += DERIVE_THREADS / 32)
                power[lane][power_place(line, is_a)] =
                    derive_block<FORMAT, L>(x, i0 + line, block * L, up);
        __syncthreads();
        const int row = threadIdx.x / 8, at = threadIdx.x % 8 * 4;
        const size_t b = blockIdx.x * (size_t)DERIVE_TILE + row;
        if (b < blocks)
            *(uint2 *)&x.power[b * x.padded + i0 + at] = *(const uint2 *)&power[row][at];
        __syncthreads();
    }
}

/* --- stages ------------------------------------------------------------------------- */

struct stage_of_parts {
    unsigned char a[TILE][STAGE_BYTES], b[TILE][STAGE_BYTES];
};

/* The position of 16 bytes of a line in a stage. */
__device__ int swizzled(int line, int chunk) { return (chunk ^ (line & 7)) * 16; }

template <class T>
__device__ const T *line_at(const void *parts, size_t line, size_t length, size_t k)
{
    return (const T *)parts + line * length + k;
}

template <int FORMAT, class STAGE>
__device__ void parts_load(STAGE *s, const emulate_chain &x, size_t i0, size_t j0,
                           size_t k)
{
    using type = typename part<FORMAT>::type;
    for (int i = threadIdx.x; i < TILE * CHUNKS; i += TILE_THREADS) {
        const int line = i / CHUNKS, chunk = i % CHUNKS, each = 16 / sizeof(type);
        copy16(&s->a[line][swizzled(line, chunk)],
               line_at<type>(x.a.parts, i0 + line, x.a.length, k + chunk * each));
        copy16(&s->b[line][swizzled(line, chunk)],
               line_at<type>(x.b.parts, j0 + line, x.b.length, k + chunk * each));
    }
}

/* --- fragments ---------------------------------------------------------------------- */

__device__ void ldmatrix(uint32_t *r, const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p)));
}

/* The fragments of two times 16 rows, a[mi], and of 32 columns, b[ni], each from 16 bytes
   of a line; `at_a` and `at_b` are the lane's addresses. */
struct fragments {
    uint32_t a[2][4], b[2][4];
};

/* A warp's 32 x 32 outputs: register r = 16 mi + 4 ni + 2 h + e of a lane is row 16 mi +
   8 h + lane / 4, column 8 ni + lane % 4 * 2 + e. */
struct place {
    int lane, warp, g, t, i, j; /* i, j: the warp's first output in the tile */
};

__device__ place place_of()
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    return { lane, warp, lane >> 2, lane & 3, (warp >> 2) * 32, (warp & 3) * 32 };
}

template <class STAGE>
__device__ __forceinline__ void fragments_load(fragments &f, const STAGE &s,
                                               const place &p, int at_a, int at_b)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int a = p.i + i * 16 + (p.lane & 15),
                  b = p.j + i * 16 + (p.lane & 7) + (p.lane >> 4) * 8;
        ldmatrix(f.a[i], &s.a[a][swizzled(a, at_a)]);
        ldmatrix(f.b[i], &s.b[b][swizzled(b, at_b)]);
    }
}

/* Add the products of their fragments to all outputs. */
template <int FORMAT, int TIMES>
__device__ __forceinline__ void fragments_multiply(float *c, const fragments &f)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        part<FORMAT>::template mma<TIMES>(c + i * 4, f.a[i >> 2],
                                          &f.b[i >> 1 & 1][(i & 1) * 2]);
}

__device__ void outputs_store(const emulate_chain &x, const place &p, size_t i0,
                              size_t j0, const float *c, const float *sum, float unit)
{
#pragma unroll
    for (int r = 0; r < 32; r++) {
        const size_t row = i0 + p.i + (r >> 4) * 16 + (r >> 1 & 1) * 8 + p.g,
                     column = j0 + p.j + (r >> 2 & 3) * 8 + p.t * 2 + (r & 1);
        if (row < x.a.lines && column < x.b.lines)
            x.result[row * x.b.lines + column] = chain_result(c[r] * unit, sum[r], x);
    }
}

/* --- starting ----------------------------------------------------------------------- */

unsigned tiles_of(const emulate_chain &x)
{
    return (unsigned)(x.a.padded / TILE * (x.b.padded / TILE));
}

template <int FORMAT, int L>
void derive_start(const emulate_operand &x, int up, bool is_a, rt_stream stream)
{
    const size_t tiles = x.padded / DERIVE_TILE;
    const dim3 grid((unsigned)divide_up(x.length / L, (size_t)DERIVE_TILE),
                    (unsigned)(tiles < GRID_Y_MAX ? tiles : GRID_Y_MAX));
    derive<FORMAT, L><<<grid, DERIVE_THREADS, 0, stream>>>(x, up, is_a);
}

} // namespace

#endif
