/* SPDX-License-Identifier: BSD-3-Clause */
/* Hypotheses on how a matrix was computed: points in a space with few axes.  Each axis is
   a table of choices of a kernel. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_HYPOTHESIS_H
#define BITCUT_ANALYSIS_IDENTIFY_HYPOTHESIS_H

#include "analysis/identify/problem.h"
#include "emu/gemm.h"

#include <stdatomic.h>
#include <stdint.h>

/* The axes, by position in `axes`. */
enum {
    AXIS_RECIPE,
    AXIS_UNIT,
    AXIS_PROMOTE,
    AXIS_PARTS,
    AXIS_TERMS,
    AXIS_TILE,
    AXIS_LINES,
    AXIS_ORDER,
    AXIS_EPILOGUE,
    AXIS_FAULT,
    AXES
};

/* A point: a value on each axis, below the axis's count.  Value 0 is the choice of the
   recipe's row, except on the first two axes, which have no such value, and for the
   epilogue, where it is what was given. */
struct hypothesis {
    uint16_t at[AXES];
};

/* k from `first` up to but excluding `end`; empty if they are equal. */
struct k_range {
    size_t first, end;
};

/* The changes of a recipe's parts.  NULL or BITCUT_UNSET: unchanged. */
struct parts_choice {
    const struct bitcut_split *a, *b;
    const struct bitcut_rounding *high, *low;
    int scale;
};

enum { RANGES_MAX = 4, SUGGESTED_MAX = 4 };

struct kernel_fault;
struct epilogue_choice;

/* A fault and one of its variants. */
struct kernel_fault_choice {
    const struct kernel_fault *row;
    int kind;
};

/* The ranges of the axes for one problem. */
struct space {
    const struct bitcut_unit **unit;
    struct parts_choice *parts;
    struct bitcut_order *order;
    struct kernel_fault_choice *fault; /* the first is: no fault */
    struct epilogue_choice *epilogue;  /* at least one */
    struct k_range *range; /* ranges of k that may be missing or added twice */
    size_t units, parts_count, orders, faults, epilogues, ranges, k;
    size_t products; /* of an output, which the order counts: k, or kept elements of A */
    size_t n; /* columns of B, all of them */
    size_t suggested[SUGGESTED_MAX],
        suggestions; /* faults that bring the exact product much nearer to D, the nearest
                        first */
    uint32_t start;  /* a number that is added to all outputs, 0: none */
    uint32_t larger; /* a number near 1 that all results are multiplied by, 0: none */
    const struct bitcut_format *format; /* of D */
    const struct bitcut_recipe *recipe; /* the only recipe, or NULL */
    const struct bitcut_gemm
        *told; /* what was given in addition (struct problem), or NULL
                */
    uint32_t alpha, beta;
    int32_t zero[2]; /* zero points (struct problem) */
    bool reads_c;
    bool negative;       /* an output of the block is negative                          */
    atomic_bool *failed; /* set when memory ran out while a hypothesis was tried        */
};

/* What the space of a block has before its axes have ranges. */
struct space explain_space_of(const struct block *b);

/* The space for the outputs of a block.  Faults that change the exact product are
   included if they bring it nearer.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status explain_space_make(struct space *to, const struct block *b,
                                      struct fault *f);
void explain_space_clear(struct space *s);

/* BITCUT_NO_MEMORY if a hypothesis could not be tried for lack of memory: then the result
   of a search is not that of all hypotheses. */
enum bitcut_status explain_space_status(const struct space *s, struct fault *f);

/* Whether a number of lanes is tried with a reduction.  Two lanes have only one sum. */
bool joins_lanes(int reduction, int lanes);

/* Add orders to the space.  BITCUT_NO_MEMORY leaves the space as it was. */
enum bitcut_status explain_space_add_orders(struct space *s,
                                            const struct bitcut_order *order,
                                            size_t count, struct fault *f);

/* Add to a space the orders that were added to another space of the same problem; those
   that it has already are the first of them.  False: no memory. */
bool explain_space_share_orders(struct space *to, const struct space *from);

struct candidate;

/* Number of rows or columns of an operand, and elements in each. */
struct extent {
    size_t lines, k;
};

/* An element of an operand. k = SIZE_MAX: a zero. */
struct spot {
    size_t line, k;
};

/* The parts of an element, as FP32 encodings, and their source. */
struct spelling {
    uint32_t *part;
    enum bitcut_operand operand;
    uint32_t element, other; /* other: element of the other operand in the row or column
                                with the same number, at the same k */
    bool has_other;          /* the other operand has that row or column */
    const struct bitcut_split *split, *other_split;
    const struct candidate *x;
};

/* A hypothesis in executable form: a GEMM, its plan, and deviations of a kernel. */
struct candidate {
    struct bitcut_gemm gemm;
    struct gemm_plan plan;
    /* the unit that gemm.unit points to: with a fault, a changed row */
    struct bitcut_unit unit;
    struct k_range lost;  /* k whose products are missing */
    struct k_range twice; /* k whose products are added again, directly afterwards */
    size_t gap; /* zeros before these: products added twice fill no step or slice */
    bool lost_are_zero;   /* missing k are read as zeros; else the next k follows */
    int32_t zero[2];      /* zero points that are added to the elements of the block */
    bool flushed;         /* subnormal elements of A and B are read as zeros          */
    /* results are first rounded to this format, or NULL, */
    const struct bitcut_format *through;
    const struct bitcut_rounding *through_by; /* by this rounding */
    bool clipped; /* negative results become +0, before the rounding to the format of D */
    const struct bitcut_rounding *store; /* rounding of the result to the format of D */
    struct gemm_faults faults;           /* faults between instructions, */
    bool slipped;                        /* if there are any */

    /* NULL: no deviation.  The k of the products at position p of all products that are
       added.  There are `places` positions for k products.  SIZE_MAX: zeros. */
    size_t (*k_at)(const struct candidate *x, size_t p, size_t k);
    size_t (*places)(const struct candidate *x, size_t k);

    /* NULL: no deviation.  The element that is read in place of element k of a row of A
       or a column of B. */
    struct spot (*spot[2])(const struct candidate *x, const struct extent *e, size_t line,
                           size_t k);
    bool moves_c; /* C moves with the rows of A and columns of B: outputs were moved */

    /* NULL: no deviation.  D from the product; c is 0 if there is no C. */
    uint32_t (*finish)(const struct candidate *x, uint32_t product, uint32_t c);
    bool c_by_columns; /* C is read as if it were column-major */

    /* NULL: no deviation.  Change the parts of an element. */
    void (*respell)(const struct spelling *s);

    /* NULL: no deviation.  Change what was told, for its exact value.  Only part_finish()
       (analysis/identify/part_sums.h) does it. */
    void (*retell)(const struct candidate *x, struct epilogue_values *v);

    int by[3]; /* parameters of the fault for these functions */

    /* The product of term t is multiplied by 2^power[t].  Only part_values()
       (analysis/identify/part_sums.h) does it. */
    int power[RECIPE_TERMS_MAX];
};

/* A row of the table of axes. */
struct axis {
    const char *name, *what;
    size_t (*count)(const struct space *s);

    /* Apply a value to x; one of the functions is NULL.  `vary` is called before there is
       a plan, `alter` after it.  Returns false if the GEMM is invalid, or equal to
       value 0. */
    bool (*vary)(struct candidate *x, const struct space *s, size_t value);
    bool (*alter)(struct candidate *x, const struct space *s, size_t value);

    /* Describe a value other than 0: a part of a sentence after "D is RECIPE on UNIT, but
       ". */
    void (*describe)(char *text, size_t size, const struct candidate *x,
                     const struct space *s, size_t value);
};

extern const struct axis axes[AXES + 1]; /* ended by a row whose name is NULL */

/* Whether the fault computes D from the product of A and B itself.  It knows no steps,
   but alpha and C. */
bool candidate_takes_products(const struct candidate *x);

/* Whether all terms run on one unit.  Only then the terms can be changed. */
bool candidate_uniform(const struct candidate *x);

/* The name of a value of AXIS_FAULT other than 0. */
const char *fault_name(const struct space *s, size_t value);

/* Properties of a value of AXIS_FAULT: whether it may change results by much; whether it
   belongs to the storing of results, to promotion, or to parts changed after they were
   computed; whether it belongs to a range of k that is a slice of an order. */
bool fault_is_coarse(const struct space *s, size_t value);
bool fault_is_of_store(const struct space *s, size_t value);
bool fault_is_of_promotion(const struct space *s, size_t value);
bool fault_is_of_parts(const struct space *s, size_t value);
bool fault_is_of_slices(const struct space *s, size_t value, size_t order);

/* Set a candidate without a recipe to no deviation. */
void candidate_clean(struct candidate *x, const struct space *s);

/* Element k of a row or column as the candidate reads it, SIZE_MAX: zero; and C of an
   output. */
uint32_t candidate_element(const struct candidate *x, const struct problem *q,
                           enum bitcut_operand operand, size_t line, size_t k);
uint32_t candidate_c(const struct candidate *x, const struct problem *q, size_t i,
                     size_t j);

/* candidate_element() of a line of a block, from the block's own elements where no line
   moves. */
uint32_t candidate_block_element(const struct candidate *x, const struct block *b,
                                 enum bitcut_operand operand, size_t line, size_t from);

/* The k at position p, and the number of positions. */
size_t candidate_k_at(const struct candidate *x, size_t p, size_t k);
size_t candidate_places(const struct candidate *x, size_t k);

/* D from the product, as the candidate computes it. */
uint32_t candidate_finish(const struct candidate *x, uint32_t product, uint32_t c);

/* Whether a value of AXIS_ORDER cuts k into slices and nothing more. */
bool order_is_of_slices(const struct space *s, size_t value);

/* Whether the order is the recipe's order, or a typical one: a few slices of equal
   length, in tiles with one of these lengths (0 ends the list), as requested by split-K;
   or a few lanes with chunks of a tile or a step; with sums in FP32 or the format of D.
 */
enum { TYPICAL_SLICES_MAX = 64 };
extern const size_t typical_tiles[];
bool order_is_typical(const struct space *s, size_t value);

/* Whether the epilogue is also tried with other changes; whether it is the first that
   applies factors where it does, and can so be that of a basis. */
bool epilogue_is_usual(const struct space *s, size_t value);
bool epilogue_leads(const struct space *s, size_t value);

/* Whether at most the rounding of the high part is changed. */
bool parts_are_typical(const struct space *s, size_t value);

/* Make the candidate of a hypothesis.  Returns false if its GEMM is invalid. */
bool candidate_make(struct candidate *x, const struct space *s, struct hypothesis h);

/* The outputs of a block as x computes them: FP32 encodings of values in D's format.
   Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if progress asks to stop. */
enum bitcut_status candidate_run(uint32_t *d, const struct candidate *x,
                                 const struct space *s, const struct block *b,
                                 const struct gemm_options *options, struct fault *f);

/* The distance of a candidate from a block. */
struct nearness {
    size_t matched;  /* outputs with the same bits */
    double distance; /* median distance of the other outputs, in ulps of FP32 */
    double work;     /* work of computing them (effort.h) */
    uint64_t misfit; /* sum of 4 log2 of the distances, about: small ones count as much as
                        large ones */
};

/* The work of computing `outputs` outputs of a candidate, about: every product of parts,
   the packing of parts, and a constant for each candidate. */
double candidate_work(const struct candidate *x, size_t outputs, size_t k);

/* Results that candidates on the same block can share.  All zeros at first;
   candidate_forget() releases it. */
struct candidate_memory {
    struct gemm_parts parts;
    struct gemm_scratch scratch;
};

void candidate_forget(struct candidate_memory *m);

/* Compute the distance.  `scratch` has room for the block's outputs; `memory` belongs to
   the block, or is NULL.  A candidate that cannot be run matches nothing. */
struct nearness candidate_match(const struct candidate *x, const struct space *s,
                                const struct block *b, uint32_t *scratch,
                                struct candidate_memory *memory);

#endif
