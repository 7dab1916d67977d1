/* SPDX-License-Identifier: BSD-3-Clause */
/* One GEMM or batch of a trial: the kernel's result and the expected one. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_CASE_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_CASE_H

#include "analysis/verify/kernel_grid.h"

/* Matrices of a batch in memory, as the kernel reads them. */
struct stored {
    struct bitcut_matrix is; /* by strides or by pointers */
    size_t rows, cols, bytes, elements;
    unsigned char *memory;
    size_t *begin; /* start of every matrix, in elements */
    const void **each;
};

/* A batch in progress.  C has the layout of D, which replaces it. */
struct kernel_case {
    const struct kernel_trial *trial; /* the trial of the kernel; kernels with the same
                                         model may be substituted */
    int threads;                      /* for filling and emulating */
    struct configuration now;
    struct stored a, b, c, d;
    struct stored want;   /* the expected D */
    unsigned char *known; /* for every element of it: whether it is known */
};

/* Allocate and fill the matrices with this number of threads.  *x has to be cleared even
   after a failure.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status case_init(struct kernel_case *x, const struct kernel_trial *trial,
                             struct configuration now, int threads, struct fault *f);
void case_clear(struct kernel_case *x);

/* The element of D that is output (i, j) of a matrix; and a memory element with the same
   layout. */
size_t case_element(const struct kernel_case *x, size_t matrix, size_t i, size_t j);
uint32_t stored_get(const struct stored *s, size_t element);

/* Allocate *to and fill it with the numbers of a matrix, in FP32.  Returns
   BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status stored_read(struct matrix *to, const struct stored *s, size_t matrix,
                               struct fault *f);

/* Whether the kernel reads C from the memory of D. */
bool case_is_in_place(const struct kernel_case *x);

/* Compute D by the kernel, with the first k of A and B.  Statuses as for gpu_work_run().
 */
enum bitcut_status case_run(struct kernel_case *x, size_t k, struct fault *f);

/* Compute the expected memory of D: whole, or for large matrices some rows and columns.
 */
enum bitcut_status case_run_models(struct kernel_case *x, struct fault *f);

/* The same for output (i, j) of every matrix, with the first k of A and B; for batches by
   pointers all outputs. */
enum bitcut_status case_run_model_at(struct kernel_case *x, size_t i, size_t j, size_t k,
                                     struct fault *f);

#endif
