/* SPDX-License-Identifier: BSD-3-Clause */
/* The result to explain, D = alpha A B + beta C, and blocks of it. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_PROBLEM_H
#define BITCUT_ANALYSIS_IDENTIFY_PROBLEM_H

#include "lib/gemm/epilogue.h"
#include "lib/gemm/matrix.h"
#include "lib/number/round.h"

struct integer_problem;

/* The given matrices, each of which may have to be read transposed. */
struct problem {
    struct matrix a, b, c, d;           /* c.at is NULL: there is no C */
    const struct bitcut_format *format; /* format of D, whose elements are widened */
    uint32_t alpha, beta;               /* FP32 encodings                       */
    int32_t zero[2]; /* zero points of A and B, which their elements are less; a unit of
                        integers reads the elements with them */
    bool transposed_a, transposed_b, transposed_c,
        transposed_d; /* how the matrices are read */
    bool by_columns; /* matrices that are read transposed have their own sizes, but are
                        column-major */
    /* the only recipe that may have computed D, or NULL */
    const struct bitcut_recipe *recipe;
    const struct bitcut_unit *unit; /* the only unit, or NULL */
    const struct chip *chip; /* the chip whose units, and those of no hardware, alone are
                                considered, or NULL */
    /* the units of the matrix instructions that were executed, which alone are considered
       in addition to those of no hardware; NULL: not known */
    const struct bitcut_unit *const *executed;
    size_t executed_count;
    /* recipe and unit that were said to have computed D, which are reported if they give
       it; or NULL */
    const struct bitcut_gemm *said;
    /* The bias, the factors, the start and the steps of the GEMM, set by problem_tell();
       size 0: D = alpha A B + beta C.  All matrices are read as they are then.  Whether
       the steps and the start, and where factors are applied, were given; otherwise they
       are the first of the search. */
    struct bitcut_gemm told;
    bool steps_told, scaling_told;
    const char *name;               /* name of D, or NULL */
    bool of_batch;                  /* whether this is one GEMM of a batch, or a group */
    bool of_groups; /* whether this is a group: only B may have to be read transposed */
    bool of_k;      /* whether this is a group of k: only D likewise */
    bool is_batch; /* whether the matrices belong to `gemms` GEMMs; each is a batch or
                      belongs to all */
    size_t gemms;
    const int32_t *offsets; /* the ends of groups of rows of A, C and D, one for each
                               GEMM, which are one matrix each then; or NULL */
    bool offsets_of_k;      /* the ends are those of groups of k; A of each group is
                               contiguous, see problem_pack() */
    const struct integer_problem *integers; /* instead of the matrices, if those of A, B
                                               and D are integers; or NULL */
};

/* GEMM i of a batch or of groups, with matrices whose elements stay the batch's. */
struct problem problem_nth(const struct problem *q, size_t i);

/* Set zero points of A and B, which have formats of integers, and subtract them.  The
   elements have to be those of q alone.  BITCUT_BAD_ARGUMENT: A or B has another format,
   A is sparse, or a zero point is not from -2^22 to 2^22. */
enum bitcut_status problem_set_zeros(struct problem *q, int32_t zero_a, int32_t zero_b,
                                     struct fault *f);

/* Store A of each group of k contiguously; A is row-major before.  BITCUT_NO_MEMORY
   leaves A as it is. */
enum bitcut_status problem_pack(struct problem *q, struct fault *f);

/* The first GEMM of a batch or of groups that has rows and k; q->gemms if there is none.
 */
size_t problem_first(const struct problem *q);

/* Set q->told: the bias, the factors, the start and the steps of a GEMM that gemm_take()
   accepted, whose sizes, number and matrices, except D, are those of q.  A plain GEMM
   tells nothing.  What the GEMM leaves open becomes the most usual: steps that read the
   limits and the scale of D if there are any; factors of blocks of k are applied by the
   unit, or at promotions.  BITCUT_BAD_ARGUMENT: a step has no operand, or an operand has
   no step; or as gemm_check_operands(). */
enum bitcut_status problem_tell(struct problem *q, const struct bitcut_gemm *g,
                                struct fault *f);

/* Leave the steps and the start open that problem_tell() set. */
void problem_leave_steps(struct problem *q);

/* Whether q->told has anything. */
static inline bool problem_is_told(const struct problem *q) { return q->told.size; }

/* Whether A and B had formats of integers. */
static inline bool problem_has_integers(const struct problem *q)
{
    return q->a.format && format_is_integer(q->a.format) && q->b.format &&
           format_is_integer(q->b.format);
}

/* Sizes of the GEMM for the matrices as they are read. */
size_t problem_m(const struct problem *q);
size_t problem_n(const struct problem *q);
size_t problem_k(const struct problem *q);

/* The number of products of an output: k, or the kept elements of a row of a sparse A. */
static inline size_t problem_products(const struct problem *q)
{
    return q->a.kept ? problem_k(q) / 2 : problem_k(q);
}

/* Whether a format contains all of these FP32 values; every format contains NaN. */
bool format_has_all(const struct bitcut_format *format, const uint32_t *x, size_t count);

/* Element k of `line`, a row of A or a column of B; and C of an output. */
uint32_t problem_element(const struct problem *q, enum bitcut_operand operand,
                         size_t line, size_t k);
uint32_t problem_c(const struct problem *q, size_t i, size_t j);

/* The positions of the kept elements of a row of a sparse A. */
static inline const uint8_t *problem_kept(const struct problem *q, size_t row)
{
    return q->a.kept + row * (q->a.cols / 2);
}

/* The format of D if D has one; otherwise the first of bf16, f16 and f32 that contains
   every number of D. */
const struct bitcut_format *problem_format(const struct matrix *d);

/* Whether D has a format of fewer bits than FP32. */
static inline bool problem_is_short(const struct problem *q)
{
    return q->format != &formats[FORMAT_F32];
}

/* Whether D is short only because a shorter format contains all of D. */
static inline bool problem_infers_format(const struct problem *q)
{
    return problem_is_short(q) && (!q->d.format || q->d.format == &formats[FORMAT_F32]);
}

/* Whether the sizes match for the matrices as they are read. */
bool problem_fits(const struct problem *q);

/* D as it is read, row-major and contiguous, which the caller frees.  Returns NULL if
   memory runs out. */
uint32_t *problem_result(const struct problem *q);

/* The bias and the factors of the rows and columns of a block, of a problem with
   something told. */
struct block_operands {
    struct bitcut_gemm gemm;            /* with these operands */
    uint32_t *bias, *scale_a, *scale_b; /* or NULL */
    struct epilogue_values values;
};

/* Outputs of selected rows and columns, with their operands.  Matrices are row-major and
   contiguous. */
struct block {
    size_t rows, cols, k;
    size_t *row, *col;       /* positions in D as it is read */
    uint32_t *a, *b, *c, *d; /* rows x k, k x cols, rows x cols twice; c may be NULL */
    const struct problem *q; /* the problem, which must stay at its address */
    const struct bitcut_gemm *extra; /* with the bias and the factors of these rows and
                                        columns, which every hypothesis reads; or NULL */
    struct block_operands *own; /* what `extra` consists of, if block_take() made it */
};

/* The block of those rows and columns.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status block_take(struct block *to, const struct problem *q,
                              const size_t *row, size_t rows, const size_t *col,
                              size_t cols, struct fault *f);
void block_clear(struct block *b);

/* Set b->own and b->extra, if everything else is set; block_operands_clear() frees *own,
   also after a failure.  False: no memory. */
bool block_operands_take(struct block *b);
void block_operands_clear(struct block_operands *own);

/* Output (i, j) of a block of a problem with something told, from its exact sum v and sum
   of magnitudes.  Up to roundings of binary64. */
struct exact_output block_finish(const struct block *b, struct exact_output v, size_t i,
                                 size_t j);

/* Whether factors of A or B are applied to products, and the factor of a row of A or a
   column of B at a k; 1 if there is none. */
bool block_has_factors(const struct block *b);
double block_factor(const struct block *b, enum bitcut_operand operand, size_t line,
                    size_t k);

/* The same from the products of the block. */
struct exact_output block_exact(const struct block *b, size_t i, size_t j);

/* Output i of `count` spread over the block, in steps of an odd number of positions. */
size_t block_spread(const struct block *b, size_t i, size_t count);

/* At most `most` different numbers below `count`, ascending: all, or a draw from the
   stream.  Returns their number. */
size_t lines_draw(size_t *to, size_t most, size_t count, uint64_t seed, uint64_t stream);

/* The same with the last number among them: kernels have other code for the last lines.
 */
size_t lines_draw_last(size_t *to, size_t most, size_t count, uint64_t seed,
                       uint64_t stream);

#endif
