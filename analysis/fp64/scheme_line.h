/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of a scheme hold of a row of A or a column of B, exactly. */
#ifndef BITCUT_ANALYSIS_FP64_SCHEME_LINE_H
#define BITCUT_ANALYSIS_FP64_SCHEME_LINE_H

#include "emu/fp64/fp64_gemm.h"

#include <mpfr.h>

/* A slice of the k of a GEMM, with its operands, the exponents by which lines are scaled
   to integers (NULL: they are not), and A B in job.d. */
struct line_job {
    struct fp64_job job;
    double *a, *b, *d;
    int *shift; /* of the rows of A, then of the columns of B */
};

/* Compute A B of the range of k of g, as fp64_settle() chose; of a scheme that is
   `backward`, alpha A B + beta C.  line_job_clear() releases it after any status. */
enum bitcut_status line_job_make(struct line_job *to, const struct bitcut_gemm *g,
                                 const struct fp64_choice *by, struct fp64_range k,
                                 const double *c, const struct gemm_options *options,
                                 struct fault *f);
void line_job_clear(struct line_job *x);

/* A line in a slice of k. */
struct line_piece {
    struct slices slices; /* of a scheme by slices; digit is NULL otherwise          */
    double *lost;         /* parts less element p: the sum of lost[t k + p], t < terms,
                             exactly                                             */
    double *over;         /* of a scheme by residues, what the integers of the library
                             differ from the truncated element; NULL: nothing    */
    int terms, shift;
    bool is_integer; /* whether elements are scaled to integers */
};

struct scheme_line {
    const char *what; /* why outputs in it have no finite sum; NULL: they may have */
    size_t pieces;
    struct line_piece piece[];
};

/* Line i < m is row i of A, the others are the columns of B.  NULL: no memory. */
struct scheme_line *scheme_line_make(const struct line_job *piece, size_t pieces,
                                     size_t line);
void scheme_line_free(struct scheme_line *x);

/* Set to `digit` units of a slice of a single line, exactly. */
void line_set_digit(mpfr_t to, const struct slices *x, const struct cut *cut, int slice,
                    double digit);

#endif
