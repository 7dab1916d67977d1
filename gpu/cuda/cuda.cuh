/* SPDX-License-Identifier: BSD-3-Clause */
/* Code shared by the files of kernels: encodings, registers, launches. */
#ifndef BITCUT_GPU_CUDA_CUDA_CUH
#define BITCUT_GPU_CUDA_CUDA_CUH

#include "gpu/module/product.h"

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>

/* The architectures with code, by their compute capabilities, 10 major + minor, in the
   order of the module's table (gpu/cuda/cuda.cu). */
constexpr int capabilities[] = { 70, 72, 75,  80,  86,  87, 89,
                                 90, 100, 101, 103, 120, 121 };

/* The set of architectures from `least` to `most`. */
constexpr unsigned sm_between(int least, int most)
{
    unsigned set = 0, bit = 1;
    for (const int capability : capabilities) {
        if (least <= capability && capability <= most) set |= bit;
        bit <<= 1;
    }
    return set;
}

constexpr unsigned sm(int capability) { return sm_between(capability, capability); }
constexpr unsigned sm_from(int least) { return sm_between(least, INT_MAX); }

/* Number of devices whose properties are stored; properties of other devices are queried
   each time. */
constexpr int DEVICES_MAX = 64;

/* Makes a device the thread's current device during its lifetime. */
struct on_device {
    int before;
    rt_error status;

    explicit on_device(int device) : status(device_enter(&before, device)) {}
    ~on_device() { device_leave(before); }
    on_device(const on_device &) = delete;
};

/* The tables of instructions, one in each file. */
extern const struct gpu_instruction mma_sm80[], wgmma_sm90[];

/* The module's `sums`. */
int exact_sums(const struct exact_sums_to *to, size_t m, size_t n, size_t k,
               const uint32_t *a, const uint32_t *b, int device, char *fault);

extern const struct gpu_streams streams; /* gpu/cuda/streams.cu */

/* Attention by the module. */
extern const struct gpu_attention_kernel attention_kernels[];
int attention_run(const struct gpu_attention *attention, double *milliseconds, int repeats,
                  int device, char *fault);

/* FP64 GEMMs of the module. */
extern const struct gpu_fp64_kernel fp64_kernels[];
extern const struct gpu_fp64_peer fp64_peers[];
int fp64_run(const struct gpu_fp64 *gemm, double *milliseconds, int repeats, int device,
             char *fault);
size_t fp64_work_workspace(const struct gpu_fp64 *gemm, int device);
int fp64_work_start(const struct gpu_fp64 *gemm, void *workspace, int device, void *stream,
                    char *fault);

/* The integer that holds an encoding of each format, by the format's name in PTX. */
using encoding_f16 = uint16_t;
using encoding_bf16 = uint16_t;
using encoding_tf32 = uint32_t;
using encoding_e4m3 = uint8_t;
using encoding_e5m2 = uint8_t;
using encoding_s8 = uint8_t;
using encoding_u8 = uint8_t;
using encoding_s32 = uint32_t;
using encoding_f32 = uint32_t;
using encoding_f64 = uint64_t;

/* The architecture for which the file is compiled, 10 major + minor; 0 for the host. */
#ifdef __CUDA_ARCH__
constexpr int device_capability = __CUDA_ARCH__ / 10;
#else
constexpr int device_capability = 0;
#endif

/* An address as a 32-bit address of shared memory, as PTX needs it. */
static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* A position in a matrix. */
struct position {
    int row, column;
};

/* Fill registers from a row-major matrix.  Element q of a lane, counted through its
   registers from the low bits up, is at where(q). */
template <class T, class R, int COUNT, class Where>
__device__ void registers_load(R (&to)[COUNT], const T *from, int columns, Where where)
{
    constexpr int each = sizeof(R) / sizeof(T);
#pragma unroll
    for (int r = 0; r < COUNT; r++) {
        to[r] = 0;
#pragma unroll
        for (int e = 0; e < each; e++) {
            const position p = where(r * each + e);
            const R x = from[p.row * columns + p.column];
            to[r] |= x << (8 * sizeof(T) * e % (8 * sizeof(R)));
        }
    }
}

/* Store registers in the same way. */
template <class T, class R, int COUNT, class Where>
__device__ void registers_store(T *to, int columns, const R (&from)[COUNT], Where where)
{
    constexpr int each = sizeof(R) / sizeof(T);
#pragma unroll
    for (int r = 0; r < COUNT; r++) {
#pragma unroll
        for (int e = 0; e < each; e++) {
            const position p = where(r * each + e);
            to[p.row * columns + p.column] =
                (T)(from[r] >> (8 * sizeof(T) * e % (8 * sizeof(R))));
        }
    }
}

enum { THREADS = 128 };
constexpr size_t BLOCKS_MAX = 1 << 16;

/* Start a kernel with a block of THREADS for every `per_block` of `count` elements, at
   most BLOCKS_MAX blocks; its blocks loop. */
static inline int launch_blocks(void (*kernel)(gpu_batch), const gpu_batch *batch,
                                size_t per_block)
{
    const size_t blocks = (batch->count + per_block - 1) / per_block;
    if (!blocks) return RT_SUCCESS;
    kernel<<<(unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX), THREADS>>>(*batch);
    return rt_last_error();
}

#endif
