/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a matrix of an emulated GEMM, for any format and layout:
   lib/gemm/view.h for the device. */
#ifndef BITCUT_GPU_CUDA_EMULATE_VIEW_CUH
#define BITCUT_GPU_CUDA_EMULATE_VIEW_CUH

#include "gpu/cuda/emulate.cuh"
#include "gpu/emulate/value.h"

/* A matrix line by line: rows of A, C and D, columns of B. */
struct view {
    const void *at;
    const void *const *each; /* NULL, or pointers to this matrix and the next ones */
    struct bitcut_format format;
    size_t across, along; /* elements from one line to the next, and along a line */
};

static inline view view_of(const struct bitcut_matrix *x, size_t i, bool columns)
{
    const bool down = (x->layout == BITCUT_COLUMN_MAJOR) != columns;
    const size_t bytes = x->format->bits <= 8 ? 1 : x->format->bits <= 16 ? 2 : 4;
    view v = { x->at, NULL, *x->format, down ? 1 : x->ld, down ? x->ld : 1 };
    if (x->each) v.each = x->each + i;
    else if (x->at) v.at = (const char *)x->at + i * x->stride * bytes;
    return v;
}

static inline __device__ const void *view_start(const view &v)
{
    return v.each ? *v.each : v.at;
}

/* The encoding of element i from view_start() on. */
static inline __device__ uint32_t view_encoding(const view &v, const void *start,
                                                size_t i)
{
    return v.format.bits <= 8    ? ((const uint8_t *)start)[i]
           : v.format.bits <= 16 ? ((const uint16_t *)start)[i]
                                 : ((const uint32_t *)start)[i];
}

/* Element p of a line as an FP32 encoding. */
static inline __device__ uint32_t view_get(const view &v, size_t line, size_t p)
{
    const uint32_t e = view_encoding(v, view_start(v), line * v.across + p * v.along);
    return emulate_decode(&v.format, e);
}

/* Set element p of a line to the value of x in the format. */
static inline __device__ void view_set(const view &v, size_t line, size_t p, uint32_t x)
{
    void *const at = (void *)view_start(v);
    const size_t i = line * v.across + p * v.along;
    const uint32_t e = (uint32_t)emulate_encode(&v.format, x);
    if (v.format.bits <= 8) ((uint8_t *)at)[i] = (uint8_t)e;
    else if (v.format.bits <= 16) ((uint16_t *)at)[i] = (uint16_t)e;
    else ((uint32_t *)at)[i] = e;
}

#endif
