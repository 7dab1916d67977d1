/* SPDX-License-Identifier: BSD-3-Clause */
/* One GEMM, struct bitcut_gemm (lib/bitcut.h): what it leaves open decided by the rows of
   the tables, and where the elements of its matrices lie. */
#ifndef BITCUT_LIB_GEMM_PLAN_H
#define BITCUT_LIB_GEMM_PLAN_H

#include "lib/base/status.h"
#include "lib/gemm/recipe.h"
#include "lib/number/bits.h"

/* --- what is computed ------------------------------------------------------------- */

enum { GEMM_SCALE_MAX = 60 };

/* What kernels do that no recipe says, by mistake; all zeros: nothing. */
struct gemm_faults {
    uint32_t start; /* FP32 encoding, in place of +0, of accumulator 0 of every slice */
    const struct bitcut_format *kept; /* what an accumulator goes through after each
                                         instruction, rounded by ...                  */
    const struct bitcut_rounding *kept_by;
    const struct bitcut_format *moved;  /* what accumulator 0 goes through before it is
                                           promoted, to nearest even                    */
    const struct bitcut_format *held;   /* and the register afterwards                  */
    const struct bitcut_rounding *adds; /* of the addition to the register; NULL: RN   */
    bool stays; /* accumulator 0 is not cleared when it is promoted                    */
    bool replaces; /* it is stored in the register, not added */
    bool forgets;  /* what was not yet promoted at the end never is  */

    /* Change the words of element k of a line, FP32 encodings of numbers that their
       formats have before and after.  NULL: they stay. */
    void (*respell)(uint32_t *word, const void *context, enum bitcut_operand operand,
                    size_t line, size_t k);
    const void *context;
};

/* All that fixes the bits of a GEMM on a unit, with nothing left open. */
struct gemm_plan {
    const struct bitcut_recipe *recipe;
    struct bitcut_split split_a, split_b;
    struct recipe_term term[RECIPE_TERMS_MAX]; /* in order, low*low in its place   */
    int terms;
    int accumulators; /* used: of these the terms have all                 */
    int scale;        /* of the low words of both, 0 if neither has any    */
    int round_seed; /* splits have twice that, and in B 1 more */
    bool dropped_term, equilibrate;
    int target;                /* t of equilibrated rows of A (lib/number/equilibrate.h);
                                  of B as well where a kernel has words of both alike */
    int promote, tile_k;       /* as in struct bitcut_recipe                        */
    struct bitcut_order order; /* slices and lanes are 1 or more; sums: NULL if f32 */
    const struct bitcut_unit *unit[RECIPE_TERMS_MAX]; /* what each term runs on ...  */
    int k_step; /* ... and k of a k-step; 0 where a kernel decides   */
    const struct gemm_faults *faults; /* NULL: there are none                          */
};

/* Copy a caller's GEMM, which may be shorter than this library's: what it lacks is left
   open.  BITCUT_BAD_ARGUMENT: it is NULL, of no size that a library had, of a later one,
   or of numbers that no GEMM has, whatever its recipe. */
enum bitcut_status gemm_take(struct bitcut_gemm *to, const struct bitcut_gemm *from,
                             struct fault *f);

/* The same for a place where a GEMM is to be given back, which may be NULL. */
enum bitcut_status gemm_check_place(const struct bitcut_gemm *to, struct fault *f);

/* Give g back there. */
void gemm_give(struct bitcut_gemm *to, const struct bitcut_gemm *g);

/* Whether lines of g, which has a recipe, are equilibrated: that is asked for, or words
   of its splits are integers. */
bool gemm_equilibrates(const struct bitcut_gemm *g);

/* The plan of g, whose recipe is set, for a unit or a kernel with operands A and B of
   these formats.  BITCUT_BAD_ARGUMENT says what does not fit together: the recipe cannot have
   such words (recipe_takes()); it scales or zeroes accumulators between tiles and there
   are none, or promotes besides; equilibrated words overflow, or sums of integers over
   the k of a slice may. */
enum bitcut_status gemm_plan_make(struct gemm_plan *plan, const struct bitcut_gemm *g,
                                  const struct bitcut_format *a,
                                  const struct bitcut_format *b, struct fault *f);

/* The unit that reads a word of A or of B: of the first term that has it; others read it
   alike (emu/unit.h).  NULL: no term has it. */
const struct bitcut_unit *gemm_plan_reader(const struct gemm_plan *plan,
                                           enum bitcut_operand operand, int word);

/* Say in g what the plan says: nothing of it is open any more.  Its splits are
   g->split_a and g->split_b as they were set, else the plan's own recipe's; roundings
   that were left open are those of each split. */
void gemm_settle(struct bitcut_gemm *g, const struct gemm_plan *plan);

/* --- where elements are ----------------------------------------------------------- */

/* Set the sizes, and matrices of FP32 encodings that are row-major without gaps.  C may
   be NULL if it is not read. */
void gemm_set_dense(struct bitcut_gemm *g, uint32_t *d, size_t m, size_t n, size_t k,
                    const uint32_t *a, const uint32_t *b, const uint32_t *c);

/* Whether beta C is added. */
static inline bool gemm_reads_c(const struct bitcut_gemm *g)
{
    return !f32_is_zero(g->beta);
}

/* The format of a matrix. */
const struct bitcut_format *matrix_format(const struct bitcut_matrix *x);

/* Elements from one line in memory to the next, of a matrix of rows x cols. */
size_t matrix_ld(const struct bitcut_matrix *x, size_t rows, size_t cols);

/* The first element of matrix i of a batch, whose pointers can be read here. */
const void *matrix_nth(const struct bitcut_matrix *x, size_t i);

/* GEMM i of a batch by itself. */
struct bitcut_gemm gemm_nth(const struct bitcut_gemm *g, size_t i);

/* Whether the matrices that the GEMM reads and writes can be where it says.
   BITCUT_BAD_ARGUMENT: a leading dimension is too small; a size in bytes does not fit
   64 bits; one is missing, though it has elements, or misaligned; its format is not one
   that a GEMM takes; matrices of D may overlap, or D is C in another place, layout or
   format.  With `pointers` arrays of pointers are looked into. */
enum bitcut_status gemm_check_matrices(const struct bitcut_gemm *g, bool pointers,
                                       struct fault *f);

/* The same of what it reads alone, with pointers. */
enum bitcut_status gemm_check_operands(const struct bitcut_gemm *g, struct fault *f);

#endif
