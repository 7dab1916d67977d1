/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by products of slices on Hopper: the cut of the operands, and the product.
   The definition is emu/fp64/slices.c, with cut_truncated and cut_nearest. */
#ifndef BITCUT_GPU_CUDA_FP64_SM90_CUH
#define BITCUT_GPU_CUDA_FP64_SM90_CUH

#include "gpu/cuda/gemm.cuh"
#include "gpu/module/slice_program.h"

/* An operand: element p of line i is at[i line_stride + p k_stride]; one of the strides
   is 1. */
struct fp64_lines {
    const double *at;
    size_t lines, line_stride, k_stride;
};

/* Element (i, j) is at[i row_stride + j column_stride]. */
template <class T> struct fp64_elements {
    T *at; /* NULL: it is not read */
    size_t row_stride, column_stride;
};

/* D = alpha A B + beta C. */
struct fp64_product {
    size_t m, n, k;
    struct fp64_lines a, b;
    double alpha, beta;
    fp64_elements<const double> c;
    fp64_elements<double> d;
    int parts;    /* slices of an element                                              */
    bool groups;  /* whether products of one weight are first added in s32             */
    bool nearest; /* cut_nearest; else cut_truncated, whose slices all have the sign of
                     the element                                                       */
};

/* The planes of an operand in device memory.  Element p of line i of a plane is at byte
   (plane lines + i) row_bytes + p; lines are padded with zeros. */
struct fp64_planes {
    uint8_t *at;
    uint64_t *largest; /* largest magnitude of each line, as an encoding */
    size_t row_bytes;
};

/* The parts of the workspace. */
struct fp64_areas {
    struct fp64_planes a, b;
    unsigned *progress; /* counters, after the largest magnitudes */
    int4 *slots;
    size_t zeroed; /* bytes at the start of the workspace, which are zero at first */
    size_t bytes;
};

/* TMA takes lines of multiples of 16 bytes. */
constexpr size_t fp64_row_bytes(size_t k) { return (k + 15) / 16 * 16; }

/* Start the cut of both operands into the planes of a program; the largest magnitudes are
   zero. */
int fp64_cut(const struct fp64_product *p, const struct slice_program *program,
             const struct fp64_areas *areas, cudaStream_t stream);

/* The scale of a line: as scale_truncated() in emu/fp64/cut.c, or 1 / inverse of
   cut_line_nearest(). */
enum { FP64_FRACTION = 52, FP64_FIELD_MAX = 0x7ff };

static __device__ __forceinline__ double fp64_of_field(int field)
{
    return __hiloint2double(field << (FP64_FRACTION - 32), 0);
}

/* exponent_above() in emu/fp64/cut.c. */
static __device__ __forceinline__ int fp64_exponent_above(double x)
{
    const uint64_t lifted = (uint64_t)__double_as_longlong(__dmul_rn(x, 0x1p54));
    const bool is_power = !(lifted << (64 - FP64_FRACTION));
    return (int)(lifted >> FP64_FRACTION & FP64_FIELD_MAX) - 1077 + !is_power;
}

static __device__ __forceinline__ double fp64_line_scale(uint64_t largest, bool nearest,
                                                         int width)
{
    const int field = (int)(largest >> FP64_FRACTION);
    if (nearest)
        return 1 / ldexp(1.0, width - 1 - fp64_exponent_above(__longlong_as_double(
                                               (long long)largest)));
    return fp64_of_field(field ? min(field + 1, FP64_FIELD_MAX) : 0);
}

/* Bytes of the workspace; start the GEMM. */
size_t fp64_workspace(const struct fp64_product *p);
int fp64_start(const struct fp64_product *p, void *workspace, cudaStream_t stream);

/* A library whose FP64 GEMM is a peer, on the default stream (gpu/cuda/fp64_peer_sm90.cu).
   Opening it reports a fault. */
struct fp64_library;
int fp64_library_open(struct fp64_library **x, const struct gpu_fp64_peer *peer,
                      char *fault);
int fp64_library_start(const struct fp64_library *x, const struct fp64_product *p);
void fp64_library_close(struct fp64_library *x);

#endif
