/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a matrix of a GEMM, for any format and layout. */
#ifndef BITCUT_LIB_GEMM_VIEW_H
#define BITCUT_LIB_GEMM_VIEW_H

#include "lib/gemm/matrix.h"
#include "lib/gemm/plan.h"

/* A matrix line by line: rows of A, C and D, columns of B. */
struct view {
    const char *at;
    const struct bitcut_format *format;
    size_t across, along; /* elements from one line to the next, and along a line */
};

/* The rows, or the columns, of matrix i of a batch of matrices of rows x cols. */
struct view view_of(const struct bitcut_matrix *x, size_t i, size_t rows, size_t cols,
                    bool columns);

/* Element p of a line as an encoding of the view's format. */
uint64_t view_encoding(const struct view *v, size_t line, size_t p);

/* Element p of a line as an FP32 encoding: exact, except that a NaN of another format
   becomes the NaN of FP32. */
uint32_t view_get(const struct view *v, size_t line, size_t p);

/* Element p of a line as an FP64 value: exact; NaN and infinities are those of the host.
   view_set_f64() sets an element of a view in f64. */
double view_f64(const struct view *v, size_t line, size_t p);
void view_set_f64(const struct view *v, size_t line, size_t p, double x);

/* Element p of a line of a view whose format is an integer's. */
int32_t view_integer(const struct view *v, size_t line, size_t p);

/* Set element p of a line to the value of an FP32 encoding in the format: rounded once,
   to nearest even.  A NaN becomes the NaN with its leading bits, or the only NaN of the
   format.  For an integer format the value is rounded to an integer and taken modulo
   2^bits; NaN is 0. */
void view_set(const struct view *v, size_t line, size_t p, uint32_t x);

/* Set element p of a line to the low bits of an encoding: of an s32, modulo 2^bits. */
void view_set_encoding(const struct view *v, size_t line, size_t p, uint32_t x);

/* How elements are gathered from a view: lines as rows or as columns, each with `length`
   elements, and the position of element p of a line in the view. */
struct gathering {
    size_t lines, k, length;
    const size_t *element; /* NULL: every element is at its own position, and elements
                              from k on are +0                                    */
    bool columns;
};

/* Gather a matrix of FP32 encodings without gaps, which the caller frees; NULL: no
   memory.  Elements are exact, except that a NaN of another format becomes the NaN of
   FP32. */
uint32_t *view_gather(const struct view *v, const struct gathering *x, int threads);

/* Gather all of matrix i of a batch of matrices of rows x cols, in the same way.  False:
   no memory, and there is nothing to clear. */
bool view_matrix(struct matrix *to, const struct bitcut_matrix *from, size_t i,
                 size_t rows, size_t cols, int threads);

#endif
