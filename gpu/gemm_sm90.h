/* Whole GEMMs by wgmma: a recipe from words that lie ready in the device's memory. */
#ifndef BITCUT_GPU_GEMM_SM90_H
#define BITCUT_GPU_GEMM_SM90_H

#include <stddef.h>
#include <cuda_runtime.h>

/* The words of an operand.  A line is a row of A or a column of B: k elements of the
   row's format, tf32 as FP32 encodings whose low 13 bits are zero.  Word w of element x
   of line i is at[w word_stride + i line_stride + x], strides counted in elements.  `at`
   and both strides, in bytes, are multiples of 16, and the strides below 2^40.  What
   lies between lines is never used. */
struct gemm_sm90_words {
    const void *at;
    size_t line_stride, word_stride;
};

/* D = alpha A B + beta C, FP32, row-major, m x n; each of m, n and k below 2^31.  D may
   be C.  With beta = 0, C is not read and may be NULL. */
struct gemm_sm90_job {
    float *d;
    size_t ldd;
    struct gemm_sm90_words a, b;
    const float *c;
    size_t ldc;
    size_t m, n, k;
    float alpha, beta;
    float fold;  /* 2^-scale of the split                       */
    int promote; /* k-steps between promotions, as the row says */
};

/* A row of the table of kernels, which is ended by a row without a recipe.  A kernel
   gives, bit for bit, what gemm_run() (emu/gemm.h) gives for the recipe without a low*low
   term that it does not have itself, on hopper/wgmma.m64n8k16.f32.f16, ...f32.bf16 or
   m64n8k8.f32.tf32, whatever the words are: so it does for NaN, Inf and subnormals. */
struct gemm_sm90 {
    const char *recipe, *format; /* as lib/recipe.c and lib/format.c name them */
    int words, bytes;    /* of an operand; of an element                         */
    int promote;         /* 0: never, else job->promote is a multiple of this    */
    int m, n, k, stages; /* tile of D, k of a stage, stages of the ring          */
    int cluster;         /* blocks that share the columns of B they read         */

    /* Start the kernel: no memory is allocated, nothing waited for.  A cudaError_t:
       cudaErrorInvalidValue if words or job are not as above, cudaErrorNotSupported
       without a driver that has TMA. */
    int (*launch)(const struct gemm_sm90_job *job, cudaStream_t stream);
};

extern const struct gemm_sm90 gemm_sm90[];

#endif
