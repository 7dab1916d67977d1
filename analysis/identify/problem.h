/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be explained, D = alpha A B + beta C, and blocks of it. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_PROBLEM_H
#define BITCUT_ANALYSIS_IDENTIFY_PROBLEM_H

#include "lib/gemm/matrix.h"
#include "lib/number/round.h"

/* Matrices as they were given, any of which may have been meant the other way round. */
struct problem {
    struct matrix a, b, c, d;           /* c.at is NULL: there is none          */
    const struct bitcut_format *format; /* of D, whose elements are widened     */
    uint32_t alpha, beta;               /* FP32 encodings                       */
    bool transposed_a, transposed_b, transposed_d; /* how they are read           */
    bool by_columns; /* what is read transposed has its own sizes, but is stored by
                        columns */
    const struct bitcut_recipe *recipe; /* what alone may have computed D, or NULL */
    const struct bitcut_unit *unit;     /* likewise                                */
    const char *name;                   /* of D, where it has one                  */
};

/* Sizes of the GEMM as the matrices are read. */
size_t problem_m(const struct problem *q);
size_t problem_n(const struct problem *q);
size_t problem_k(const struct problem *q);

/* Whether a format has all of these FP32 values; NaN are in all. */
bool format_has_all(const struct bitcut_format *format, const uint32_t *x, size_t count);

/* Element k of line `line`, a row of A or a column of B; and C of an output. */
uint32_t problem_element(const struct problem *q, enum bitcut_operand operand,
                         size_t line, size_t k);
uint32_t problem_c(const struct problem *q, size_t i, size_t j);

/* The first of bf16, f16 and f32 that has every number of D. */
const struct bitcut_format *problem_format(const struct matrix *d);

/* Whether D has a format of fewer bits than FP32. */
static inline bool problem_is_short(const struct problem *q)
{
    return q->format != &formats[FORMAT_F32];
}

/* Whether the sizes fit together as the matrices are read. */
bool problem_fits(const struct problem *q);

/* D as it is read, row-major and without gaps, which the caller frees; NULL: no memory.
 */
uint32_t *problem_result(const struct problem *q);

/* Outputs of chosen rows and columns, with all that they are computed from.  Matrices are
   row-major and without gaps. */
struct block {
    size_t rows, cols, k;
    size_t *row, *col;       /* of D as it is read                      */
    uint32_t *a, *b, *c, *d; /* rows x k, k x cols, rows x cols twice; c may be NULL */
    const struct problem *q; /* what it is a part of, which stays where it is      */
};

/* The block of those rows and columns.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status block_take(struct block *to, const struct problem *q,
                              const size_t *row, size_t rows, const size_t *col,
                              size_t cols, struct fault *f);
void block_clear(struct block *b);

/* Output i of `count` spread over the block, in steps of an odd number of places. */
size_t block_spread(const struct block *b, size_t i, size_t count);

/* At most `most` different numbers below `count`, ascending: all, or drawn from the
   stream.  Returns how many. */
size_t lines_draw(size_t *to, size_t most, size_t count, uint64_t seed, uint64_t stream);

#endif
