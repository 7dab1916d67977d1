/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM by a kernel of the user: code for an AMD GPU, executed by the model of the GPU
   (emu/gfx9/gfx9.h), and called as described by a line of text. */
#ifndef BITCUT_ANALYSIS_VERIFY_CODE_GEMM_H
#define BITCUT_ANALYSIS_VERIFY_CODE_GEMM_H

#include "emu/gfx9/gfx9.h"
#include "lib/gemm/matrix.h"
#include "lib/number/format.h"

/* The call of a kernel.  `arguments` has one part for each argument, separated by commas:
   - a, b, c or d is the address of a row-major matrix; at, bt, ct or dt of a column-major
     one;
   - a:f16 or dt:bf16 is a matrix whose elements have another format than f32; f32 must
     contain the format, and its elements have whole bytes;
   - m, n and k are the sizes;
   - lda, ldb, ldc and ldd are the elements from one row, or column, of a matrix to the
     next; there are no gaps;
   - alpha and beta are in FP32 or FP64, by the width of the argument;
   - 0, 1, 2 and so on are numbers; an address can only be 0.

   The result is d, or without d the matrix c.  `grid` (in work-groups) and `block` (in
   work-items) have 1 to 3 extents, separated by commas.  An extent is a product of
   factors, separated by '*': a number, m, n, k, or one of these divided by a number and
   rounded up, such as m/64. */
struct code_call {
    const char *symbol, *arguments, *grid, *block;
    size_t shared_bytes; /* dynamic LDS, in addition to the kernel's own */
    int threads;
    double seconds; /* time limit of the kernel, 0: none */
    const struct progress *progress;
};

struct code_result {
    const struct gfx9_target *target; /* the processor of the code */
    struct matrix d;                  /* values of the format, as f32 */
    const struct bitcut_format *format;
    struct gfx9_counts counts;
    const struct bitcut_unit
        *unit[GFX9_UNITS_MAX]; /* of the matrix instructions that were */
    size_t units;              /* executed                             */
};

/* Compute D = alpha A B + beta C by the kernel.  Elements of A, B and C that their format
   does not have are rounded to nearest even, in the computation and in the given
   matrices. c->at is NULL: there is no C; if the kernel reads C, it contains NaNs, as D
   does initially.  Returns
   - BITCUT_BAD_ARGUMENT: the call does not match the kernel or is no GEMM; the text names
     `arguments`, `grid`, `block` or the launch;
   - BITCUT_UNSUPPORTED: as gfx9_run(), or unknown kernel;
   - BITCUT_NO_MEMORY.

   *to is set only on success. */
enum bitcut_status code_gemm_run(struct code_result *to, struct matrix *a,
                                 struct matrix *b, struct matrix *c,
                                 const uint32_t scalars[2],
                                 const struct gfx9_object *object,
                                 const struct code_call *call, struct fault *f);

#endif
