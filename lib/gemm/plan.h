/* SPDX-License-Identifier: BSD-3-Clause */
/* One GEMM, struct bitcut_gemm (lib/bitcut.h): everything that it leaves open, decided by
   the rows of the tables, and the addresses of the elements of its matrices. */
#ifndef BITCUT_LIB_GEMM_PLAN_H
#define BITCUT_LIB_GEMM_PLAN_H

#include "lib/base/status.h"
#include "lib/gemm/epilogue.h"
#include "lib/gemm/recipe.h"
#include "lib/number/bits.h"

/* --- what is computed ------------------------------------------------------------- */

enum { GEMM_SCALE_MAX = 60 };

/* Faults of a kernel, which no recipe has.  All zeros: no fault. */
struct gemm_faults {
    uint32_t start; /* FP32 encoding that accumulator 0 of every slice starts from,
                       instead of +0                                                  */
    const struct bitcut_format *kept; /* format to which an accumulator is rounded after
                                         each instruction, and its rounding           */
    const struct bitcut_rounding *kept_by;
    const struct bitcut_format *moved;  /* format to which accumulator 0 is rounded, to
                                           nearest even, before it is promoted          */
    const struct bitcut_format *held;   /* format to which the register is rounded after
                                           the promotion                                */
    const struct bitcut_rounding *adds; /* rounding of the addition to the register; NULL:
                                           RN                                          */
    bool stays; /* accumulator 0 is not cleared when it is promoted                    */
    bool replaces; /* accumulator 0 is stored in the register, not added */
    bool forgets;  /* the part that is not yet promoted at the end is lost */

    /* Change the parts of element k of a line.  They are FP32 encodings of numbers that
       the formats of the parts can represent, before and after.  NULL: no change. */
    void (*respell)(uint32_t *part, const void *context, enum bitcut_operand operand,
                    size_t line, size_t k);
    const void *context;
};

/* Everything that determines the bits of a GEMM on a unit.  Nothing is open. */
struct gemm_plan {
    const struct bitcut_recipe *recipe;
    struct bitcut_split split_a, split_b;
    struct recipe_term term[RECIPE_TERMS_MAX]; /* in order, with the product of low parts
                                                  at its position                  */
    int terms;
    int accumulators; /* number of accumulators; the terms use all of them */
    int scale;        /* scale of the low parts of A and B; 0 if neither has low parts */
    int round_seed;   /* the splits have twice that; the split of B has 1 more      */
    const struct bitcut_rounding *sum_rounding; /* NULL: the units' own rule         */
    bool dropped_term, equilibrate;
    int target;                /* t of equilibrated rows of A (lib/number/equilibrate.h);
                                  also of columns of B if a kernel has the same split for
                                  both                                                */
    int promote, tile_k;       /* as in struct bitcut_recipe                        */
    struct bitcut_order order; /* slices and lanes are at least 1; partial_format: NULL if
                                  f32; partial_store: only with partial_format; unroll:
                                  only with several lanes                           */
    enum bitcut_start start;
    enum bitcut_scaling scaling;
    unsigned char epilogue[BITCUT_EPILOGUE_MAX];
    char epilogue_name[EPILOGUE_TEXT_MAX]; /* as epilogue_name() writes it */
    bool integer; /* products of integers: sums are s32, until a step makes them FP32  */
    const struct bitcut_unit *unit[RECIPE_TERMS_MAX]; /* unit of each term           */
    int k_step; /* k of a k-step; 0 if a kernel decides it           */
    const struct gemm_faults *faults; /* NULL: no faults                               */
};

/* Copy a caller's GEMM.  The struct may be shorter than this library's struct; missing
   members are left open.  BITCUT_BAD_ARGUMENT: it is NULL; its size is unknown or belongs
   to a later version; or a number is invalid for every recipe. */
enum bitcut_status gemm_take(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                             struct fault *f);

/* The same for a call that also takes schemes. */
enum bitcut_status gemm_take_any(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                                 struct fault *f);

/* The same as gemm_take() for a call, `who` ("bound"), that only takes D = alpha A B +
   beta C. BITCUT_BAD_ARGUMENT also if the GEMM has steps, a bias, factors or a start,
   groups, or a sparse A. */
enum bitcut_status gemm_take_plain(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                                   const char *who, struct fault *f);

/* Check a struct to which a GEMM will be returned.  It may be NULL. */
enum bitcut_status gemm_check_place(const struct bitcut_gemm *to, struct fault *f);

/* Return g in this struct. */
void gemm_give(struct bitcut_gemm *to, const struct bitcut_gemm *g);

/* Whether the lines of g, which has a recipe, are equilibrated: because g asks for it, or
   because its splits have integer parts. */
bool gemm_equilibrates(const struct bitcut_gemm *g);

/* Make the plan of g, whose recipe is set, for a unit or a kernel with operands A and B
   of these formats.

   BITCUT_BAD_ARGUMENT says what does not fit together: a GEMM of integers has something
   that only FP32 sums have, or the other way round; the recipe cannot use such parts
   (recipe_takes()); it scales or clears accumulators between tiles, and there are no
   tiles, or a promotion interval is set too; equilibrated parts overflow; sums of
   integers over the k of a slice may overflow; or the order has an unrolled loop, and the
   recipe's accumulator cannot start from a sum. */
enum bitcut_status gemm_plan_make(struct gemm_plan *plan, const struct bitcut_gemm *g,
                                  const struct bitcut_format *a,
                                  const struct bitcut_format *b, struct fault *f);

/* The unit that reads a part of A or of B: the unit of the first term with this part;
   units of other terms read it in the same way (emu/unit.h).  NULL: no term has this
   part. */
const struct bitcut_unit *gemm_plan_reader(const struct gemm_plan *plan,
                                           enum bitcut_operand operand, int part);

/* Write the decisions of the plan to g, so that nothing of it is open.  Its splits are
   g->split_a and g->split_b if they were set, otherwise the splits of the plan's recipe.
   Roundings that were left open are the roundings of each split. */
void gemm_settle(struct bitcut_gemm *g, const struct gemm_plan *plan);

/* --- where elements are ----------------------------------------------------------- */

/* The number of products of an output of g: k, or half of it if A is 2:4 sparse. */
static inline size_t gemm_products(const struct bitcut_gemm *g)
{
    return g->sparsity ? g->k / 2 : g->k;
}

/* The columns of the matrix A. */
static inline size_t gemm_columns_of_a(const struct bitcut_gemm *g)
{
    return g->sparsity == BITCUT_COMPRESSED_A ? g->k / 2 : g->k;
}

/* Set the sizes, and matrices of FP32 encodings that are row-major without gaps.  C may
   be NULL if it is not read. */
void gemm_set_dense(struct bitcut_gemm *g, uint32_t *d, size_t m, size_t n, size_t k,
                    const uint32_t *a, const uint32_t *b, const uint32_t *c);

/* Whether beta C is added. */
static inline bool gemm_reads_c(const struct bitcut_gemm *g)
{
    return g->scheme ? g->beta_f64 != 0 : !f32_is_zero(g->beta);
}

/* Whether every FP32 value, NaN included, can be rounded to a format and read back. */
bool format_is_result(const struct bitcut_format *format);

/* The format of a matrix. */
const struct bitcut_format *matrix_format(const struct bitcut_matrix *x);

/* The number of elements from the start of one line in memory to the next, for a matrix
   of rows x cols. */
size_t matrix_ld(const struct bitcut_matrix *x, size_t rows, size_t cols);

/* The first element of matrix i of a batch whose pointers can be read here. */
const void *matrix_nth(const struct bitcut_matrix *x, size_t i);

/* Whether the offsets of g cut rows, or k. */
static inline bool gemm_groups_rows(const struct bitcut_gemm *g)
{
    return g->offsets && !g->offsets_of_k;
}

static inline bool gemm_groups_k(const struct bitcut_gemm *g)
{
    return g->offsets && g->offsets_of_k;
}

/* GEMM i of a batch or of groups, as a single GEMM. */
struct bitcut_gemm gemm_nth(const struct bitcut_gemm *g, size_t i);

/* Let *one, a copy of g, be the GEMM of its rows from `first` on, with the factors and
   the bias of these rows.  `first` is a multiple of the lines that share a factor of A.
 */
void gemm_take_rows(struct bitcut_gemm *one, const struct bitcut_gemm *g, size_t first,
                    size_t rows);

/* The row of all D, one under the other, at which D of GEMM i begins; i may be g->count.
 */
size_t gemm_first_row(const struct bitcut_gemm *g, size_t i);

/* The fewest rows of a D that has rows; 0 if there is none. */
size_t gemm_fewest_rows(const struct bitcut_gemm *g);

/* The largest k of a GEMM; 0 if there is none. */
size_t gemm_largest_k(const struct bitcut_gemm *g);

/* The GEMM to which a row of all D belongs. */
size_t gemm_of_row(const struct bitcut_gemm *g, size_t row);

/* Check the addresses of the matrices that the GEMM reads and writes.

   BITCUT_BAD_ARGUMENT: a leading dimension is too small; a size in bytes does not fit 64
   bits; a matrix with elements is missing, or misaligned; a GEMM does not accept its
   format; matrices of D may overlap; or D and C share memory but differ in position,
   layout or format.  With `pointers`, the arrays of pointers are checked too. */
enum bitcut_status gemm_check_matrices(const struct bitcut_gemm *g, bool pointers,
                                       struct fault *f);

/* Check only the matrices that the GEMM reads, with their pointers. */
enum bitcut_status gemm_check_operands(const struct bitcut_gemm *g, struct fault *f);

#endif
