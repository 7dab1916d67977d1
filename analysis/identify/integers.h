/* SPDX-License-Identifier: BSD-3-Clause */
/* Explaining results of integers: rules of sums and of results, tried one after the
   other.  No floating point takes part. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_INTEGERS_H
#define BITCUT_ANALYSIS_IDENTIFY_INTEGERS_H

#include "analysis/identify/explain.h"

/* A row-major matrix of integers. */
struct integer_matrix {
    size_t rows, cols;
    int32_t *at;                        /* NULL: there is no matrix */
    const struct bitcut_format *format; /* format that they had     */
};

/* D = alpha (A - zero_a) (B - zero_b) + beta C in integers. */
struct integer_problem {
    struct integer_matrix a, b, c, d;
    int32_t zero_a, zero_b; /* zero points */
    bool as_given;          /* the matrices had formats of integers */
};

/* Take a matrix whose format is an integer's.  BITCUT_NO_MEMORY leaves *to unchanged. */
enum bitcut_status integer_matrix_take(struct integer_matrix *to,
                                       const struct bitcut_matrix *from, size_t rows,
                                       size_t cols, struct fault *f);
/* The same for FP32 values that are integers of the format that the matrix had. */
enum bitcut_status integer_matrix_of(struct integer_matrix *to, const struct matrix *from,
                                     struct fault *f);
void integer_problem_clear(struct integer_problem *x);

/* The same for matrices of FP32 values: those of A and B are all integers of s8 or u8,
   those of C and D are integers.  *to has no matrices if they are not, and if the status
   is BITCUT_NO_MEMORY. */
enum bitcut_status integers_of_values(struct integer_problem *to, const struct problem *q,
                                      struct fault *f);

/* Explain D of these matrices, and alpha and beta of e->q.  Rules are tried on a sample of
   outputs; the first that gives the whole sample is compared with all of D, as far as the
   time allows.  BITCUT_BAD_ARGUMENT: the shapes do not match; alpha or beta is no integer; a
   recipe or unit is set; or an operand exceeds 16 bits. */
enum bitcut_status explain_integers(struct explanation *e, const struct integer_problem *x,
                                    const struct explain_options *o, struct fault *f);

/* Whether D is something else than the exact product, and known. */
bool integers_are_changed(const struct explanation *e);

#endif
