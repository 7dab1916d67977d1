/* SPDX-License-Identifier: BSD-3-Clause */
/* One GEMM or batch of a trial, as the kernel runs it and as it should be. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_CASE_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_CASE_H

#include "analysis/verify/kernel_grid.h"

/* Matrices of a batch as the kernel finds them. */
struct stored {
    struct bitcut_matrix is; /* at strides or by pointers */
    size_t rows, cols, bytes, elements;
    unsigned char *memory;
    size_t *begin; /* of every matrix, elements in memory */
    const void **each;
};

/* A batch on its way.  C, where D is to be, lies as D does. */
struct kernel_case {
    const struct kernel_trial *trial; /* whose kernel runs; others of the same model may
                                         take its place */
    int threads;                      /* to fill and to emulate */
    struct configuration now;
    struct stored a, b, c, d;
    struct stored want;   /* as D should become              */
    unsigned char *known; /* of every element of it: whether */
};

/* Allocate and fill the matrices, by so many threads.  *x is cleared also after a
   failure.  BITCUT_NO_MEMORY. */
enum bitcut_status case_init(struct kernel_case *x, const struct kernel_trial *trial,
                             struct configuration now, int threads, struct fault *f);
void case_clear(struct kernel_case *x);

/* The element of D that is output (i, j) of a matrix; and an element of memory like it.
 */
size_t case_element(const struct kernel_case *x, size_t matrix, size_t i, size_t j);
uint32_t stored_get(const struct stored *s, size_t element);

/* Allocate *to and fill it with the numbers of a matrix, in FP32.  BITCUT_NO_MEMORY. */
enum bitcut_status stored_read(struct matrix *to, const struct stored *s, size_t matrix,
                               struct fault *f);

/* Whether the kernel finds C where D goes. */
bool case_is_in_place(const struct kernel_case *x);

/* D by the kernel, of the first k of A and B.  As gpu_work_run(). */
enum bitcut_status case_run(struct kernel_case *x, size_t k, struct fault *f);

/* What D's memory should be: whole, or of large ones in some rows and columns. */
enum bitcut_status case_run_models(struct kernel_case *x, struct fault *f);

/* The same of output (i, j) of every matrix, of the first k of A and B; by pointers of
   all outputs. */
enum bitcut_status case_run_model_at(struct kernel_case *x, size_t i, size_t j, size_t k,
                                     struct fault *f);

#endif
