/* SPDX-License-Identifier: BSD-3-Clause */
/* D = A B by a matmul of oneDNN that may compute FP32 matrices in bf16, to compare
   with. */
#ifndef BITCUT_GPU_CPU_HOST_MATMUL_H
#define BITCUT_GPU_CPU_HOST_MATMUL_H

#include <stddef.h>

/* Whether the open library has all functions that are called here: versions 2 from 2.4
   on, and 3. */
int host_matmul_here(void *library);

/* A matmul of one shape, on row-major matrices without gaps. */
struct host_matmul;

/* Make a matmul; NULL: the library returned *status. */
struct host_matmul *host_matmul_make(int *status, void *library, size_t m, size_t n,
                                     size_t k);
void host_matmul_free(struct host_matmul *x); /* or NULL */

/* Whether the matmul has this shape. */
int host_matmul_is(const struct host_matmul *x, size_t m, size_t n, size_t k);

/* Compute D, and wait.  Returns the library's status; 0 is success. */
int host_matmul_run(const struct host_matmul *x, float *d, const void *a, const void *b);

#endif
