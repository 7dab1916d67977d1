/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM by a kernel of somebody's own: code for an AMD GPU, executed by the model of the
   GPU (emu/gfx9/gfx9.h), called as a line of text says. */
#ifndef BITCUT_ANALYSIS_VERIFY_CODE_GEMM_H
#define BITCUT_ANALYSIS_VERIFY_CODE_GEMM_H

#include "emu/gfx9/gfx9.h"
#include "lib/gemm/matrix.h"
#include "lib/number/format.h"

/* How the kernel is called.

   `arguments` has a word for each that the kernel takes, with commas between.  The address
   of a matrix is a, b, c or d if that is row-major, at, bt, ct or dt if it is
   column-major; a:f16 or dt:bf16 is one whose elements have another format than f32, one
   that f32 holds, in whole bytes.  m, n and k are the sizes; lda, ldb, ldc and ldd the elements from one
   row, or column, of a matrix to the next, between which there are no gaps; alpha and beta
   are in FP32 or FP64, whichever has the argument's width; 0, 1, 2 and so on are numbers,
   of which an address takes 0 alone.  The result is d, or without d what was put into c.

   `grid` (of work-groups) and `block` (of work-items): 1 to 3 extents with commas
   between, each a product of factors with '*' between: a number, m, n, k, or one of these
   over a number, rounded up, as m/64. */
struct code_call {
    const char *symbol, *arguments, *grid, *block;
    size_t shared_bytes; /* of LDS, beside those that the kernel names */
    int threads;
    double seconds; /* that the kernel may run, 0: any */
    const struct progress *progress;
};

struct code_result {
    const struct gfx9_target *target; /* that the code is for        */
    struct matrix d;                  /* of values of the format, in f32 */
    const struct bitcut_format *format;
    struct gfx9_counts counts;
};

/* What the kernel makes of D = alpha A B + beta C.  Elements of A, B and C that their
   format lacks are rounded to nearest even, here and in the matrices given.  c->at is
   NULL: there is no C, and where the kernel has one lie NaNs, as in D before.
   BITCUT_BAD_ARGUMENT: the call does not fit the kernel or says no GEMM, the fault being
   of `arguments`, `grid`, `block` or the launch, as it says.  BITCUT_UNSUPPORTED: as
   gfx9_run(), no such kernel; BITCUT_NO_MEMORY.  *to is set only on success. */
enum bitcut_status code_gemm_run(struct code_result *to, struct matrix *a,
                                 struct matrix *b, struct matrix *c,
                                 const uint32_t scalars[2],
                                 const struct gfx9_object *object,
                                 const struct code_call *call, struct fault *f);

#endif
