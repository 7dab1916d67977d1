/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense matrices of FP32 encodings and arrays of encodings of any width. */
#ifndef BITCUT_LIB_GEMM_MATRIX_H
#define BITCUT_LIB_GEMM_MATRIX_H

#include "lib/base/status.h"

/* A row-major matrix of FP32 encodings without gaps: element (i, j) is at[i * cols +
   j]. */
struct matrix {
    size_t rows, cols;
    uint32_t *at;
    const struct bitcut_format *format; /* format from which the elements were widened,
                                           such as f16 of a file of f2; NULL: f32 */
    bool is_batch; /* whether there are `count` such matrices, one after the other */
    size_t count;  /* read only of a batch */
    uint8_t *kept; /* positions of the kept elements of a 2:4 sparse A (lib/bitcut.h,
                      "Sparsity"), rows x cols / 2 of each matrix; other elements are +0.
                      NULL: not sparse */
};

/* The number of matrices: 1 unless it is a batch. */
static inline size_t matrix_count(const struct matrix *m)
{
    return m->is_batch ? m->count : 1;
}

/* Keep matrix i of a batch, or of one matrix the matrix itself. */
void matrix_select(struct matrix *m, size_t i);

/* Allocate one matrix of rows x cols elements without setting them.  BITCUT_NO_MEMORY
   leaves *m unchanged. */
enum bitcut_status matrix_init(struct matrix *m, size_t rows, size_t cols,
                               struct fault *f);
void matrix_clear(struct matrix *m);

/* Copy one matrix without its format, with the positions of a sparse one; `at` NULL gives
   NULL.  False: no memory, and *to is unchanged. */
bool matrix_copy(struct matrix *to, const struct matrix *from);

/* The largest magnitude of a zero point of a GEMM that is compared with real numbers:
   integers of 16 bits less it are FP32 values. */
enum { MATRIX_ZERO_MAX = 1 << 22 };

static inline bool matrix_zero_fits(int32_t zero)
{
    return zero >= -MATRIX_ZERO_MAX && zero <= MATRIX_ZERO_MAX;
}

/* Subtract a zero point from integers of at most 16 bits, in all matrices of a batch,
   which is exact for zero points that fit. */
void matrix_subtract(struct matrix *m, int32_t zero);

/* The same for A and B; without zero points they stay as they are.  BITCUT_BAD_ARGUMENT:
   A or B has no format of integers, A is sparse, or a zero point does not fit. */
enum bitcut_status matrix_subtract_both(struct matrix *a, struct matrix *b,
                                        const int32_t zero[2], struct fault *f);

/* Write the transpose of rows x cols elements. */
void matrix_transpose(uint32_t *to, const uint32_t *from, size_t rows, size_t cols);

enum { ARRAY_DIMS_MAX = 8 };

/* An n-dimensional array of elements of 1, 2, 4 or 8 bytes, in C order, as raw bits. */
struct array {
    int dims;
    size_t dim[ARRAY_DIMS_MAX];
    size_t count;  /* the product of the dimensions                          */
    int bytes;     /* of an element: 1, 2, 4 or 8                            */
    bool integers; /* whether the file has i1, i2 or i4, two's complement */
    bool floating; /* whether the file has f2, f4 or f8, not u1, u2, u4 or u8 */
    void *data;    /* count * bytes, in host byte order                      */
};

/* Allocate an array of zeros.  BITCUT_NO_MEMORY leaves *a unchanged. */
enum bitcut_status array_init(struct array *a, int dims, const size_t *dim, int bytes,
                              bool floating, struct fault *f);
void array_clear(struct array *a);

/* Read element i of the flattened array as an unsigned integer, and write it. */
uint64_t array_get(const struct array *a, size_t i);
void array_set(struct array *a, size_t i, uint64_t bits);

#endif
