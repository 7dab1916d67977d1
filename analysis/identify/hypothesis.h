/* SPDX-License-Identifier: BSD-3-Clause */
/* Hypotheses on how a matrix was computed: a point in a space of few axes, each a table
   of what a kernel may do. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_HYPOTHESIS_H
#define BITCUT_ANALYSIS_IDENTIFY_HYPOTHESIS_H

#include "analysis/identify/problem.h"
#include "emu/gemm.h"

#include <stdint.h>

/* The axes, by position in `axes`. */
enum {
    AXIS_RECIPE,
    AXIS_UNIT,
    AXIS_PROMOTE,
    AXIS_WORDS,
    AXIS_TERMS,
    AXIS_TILE,
    AXIS_LINES,
    AXIS_ORDER,
    AXIS_FAULT,
    AXES
};

/* A point: of each axis a value, below its count.  Value 0 is what the recipe's row says,
   but of the first two axes, which have no such value. */
struct hypothesis {
    uint16_t at[AXES];
};

/* k from `first` up to `end`; none if they are equal. */
struct k_range {
    size_t first, end;
};

/* The words that a recipe may have: what is NULL or BITCUT_UNSET, is its own. */
struct words_choice {
    const struct bitcut_split *a, *b;
    const struct bitcut_rounding *high, *low;
    int scale;
};

enum { RANGES_MAX = 4, SUGGESTED_MAX = 4 };

struct kernel_fault;

/* A fault and which of its kinds. */
struct kernel_fault_choice {
    const struct kernel_fault *row;
    int kind;
};

/* What the axes range over; of one problem. */
struct space {
    const struct bitcut_unit **unit;
    struct words_choice *words;
    struct bitcut_order *order;
    struct kernel_fault_choice *fault; /* the first is none */
    struct k_range *range;       /* of k that may be lost or come twice */
    size_t units, words_count, orders, faults, ranges, k;
    size_t suggested[SUGGESTED_MAX],
        suggestions; /* faults that bring the exact product
                        far nearer to D, the nearest first */
    uint32_t start; /* a number that all outputs are too large by, 0: none              */
    const struct bitcut_format *format; /* of D */
    const struct bitcut_recipe *recipe; /* the only one, or NULL */
    uint32_t alpha, beta;
    bool reads_c;
};

/* The space for the outputs of a block: of faults that change the exact product those
   that bring it nearer.  BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status explain_space_make(struct space *to, const struct block *b,
                                      struct fault *f);
void explain_space_clear(struct space *s);

/* Add the orders that have lanes in the slices of one that the space has: as another
   kernel of the same library may, for what is left of tiles.  BITCUT_NO_MEMORY leaves the
   space as it was. */
enum bitcut_status explain_space_add_lanes(struct space *s,
                                           const struct bitcut_order *slices,
                                           struct fault *f);

struct candidate;

/* Lines of an operand, and elements of each. */
struct extent {
    size_t lines, k;
};

/* An element of an operand; k SIZE_MAX: a zero. */
struct spot {
    size_t line, k;
};

/* The words of an element, as FP32 encodings, and what they are made of. */
struct spelling {
    uint32_t *word;
    enum bitcut_operand operand;
    uint32_t element, other; /* other: of the other operand at the same line and k      */
    bool has_other;          /* it has so many lines                                    */
    const struct bitcut_split *split, *other_split;
    const struct candidate *x;
};

/* A hypothesis made definite: a GEMM, its plan, and what a kernel does besides. */
struct candidate {
    struct bitcut_gemm gemm;
    struct gemm_plan plan;
    struct bitcut_unit unit; /* what gemm.unit stands for: with a fault, another row */
    struct k_range lost;  /* k whose products are not added                           */
    struct k_range twice; /* k whose products are added again, right behind           */
    size_t gap;           /* zeros before these: k twice that fill no step or slice   */
    bool lost_are_zero;   /* lost k are taken as zeros; else the next k follows       */
    bool flushed;         /* subnormal elements of A and B are read as zeros          */
    const struct bitcut_format *through; /* what results go through first, or NULL ...  */
    const struct bitcut_rounding *through_by; /* ... and how                            */
    const struct bitcut_rounding *store;      /* of the result to the format of D */
    struct gemm_faults faults; /* what goes wrong between instructions, ... */
    bool slipped;            /* ... if anything does                      */

    /* NULL: as they should.  The k of the products at place p of all that are added,
       which are `places` of k; SIZE_MAX: zeros. */
    size_t (*k_at)(const struct candidate *x, size_t p, size_t k);
    size_t (*places)(const struct candidate *x, size_t k);

    /* NULL: as they should.  What is read in place of element k of a line, a row of A or
       a column of B. */
    struct spot (*spot[2])(const struct candidate *x, const struct extent *e, size_t line,
                           size_t k);
    bool moves_c; /* C is read where the lines of A and B are, too: outputs were moved  */

    /* NULL: as it should.  D from the product; c is 0 if there is none. */
    uint32_t (*finish)(const struct candidate *x, uint32_t product, uint32_t c);
    bool c_by_columns; /* C is read as if it were stored by columns                     */

    /* NULL: as it should.  Change the words of an element. */
    void (*respell)(const struct spelling *s);

    int by[3]; /* numbers of the fault, for these functions                             */
};

/* A row of the table of axes. */
struct axis {
    const char *name, *what;
    size_t (*count)(const struct space *s);

    /* Make x what the value says; one is NULL.  `vary` before there is a plan, `alter`
       after it.  False: there is no such GEMM, or it is the same as value 0. */
    bool (*vary)(struct candidate *x, const struct space *s, size_t value);
    bool (*alter)(struct candidate *x, const struct space *s, size_t value);

    /* Say a value other than 0: a part of a sentence after "D is RECIPE on UNIT, but ".
     */
    void (*describe)(char *text, size_t size, const struct candidate *x,
                     const struct space *s, size_t value);
};

extern const struct axis axes[AXES + 1]; /* ended by a row whose name is NULL */

/* Whether all terms run on one unit: only then they can be changed. */
bool candidate_uniform(const struct candidate *x);

/* The name of a value of AXIS_FAULT other than 0. */
const char *fault_name(const struct space *s, size_t value);

/* Whether a value of AXIS_FAULT may change results by much; whether it is one of
   promotion, of how results are stored, or of words that are changed once they are made;
   whether it is of a range of k that is a slice of an order. */
bool fault_is_coarse(const struct space *s, size_t value);
bool fault_is_of_store(const struct space *s, size_t value);
bool fault_is_of_promotion(const struct space *s, size_t value);
bool fault_is_of_words(const struct space *s, size_t value);
bool fault_is_of_slices(const struct space *s, size_t value, size_t order);

/* What a candidate that has no recipe yet has besides one: nothing. */
void candidate_clean(struct candidate *x, const struct space *s);

/* Element k of a line as the candidate reads it, SIZE_MAX: zero; and C of an output. */
uint32_t candidate_element(const struct candidate *x, const struct problem *q,
                           enum bitcut_operand operand, size_t line, size_t k);
uint32_t candidate_c(const struct candidate *x, const struct problem *q, size_t i,
                     size_t j);

/* Which of k is at place p, and of how many places. */
size_t candidate_k_at(const struct candidate *x, size_t p, size_t k);
size_t candidate_places(const struct candidate *x, size_t k);

/* D from the product as the candidate finishes. */
uint32_t candidate_finish(const struct candidate *x, uint32_t product, uint32_t c);

/* Whether a value of AXIS_ORDER cuts k into slices and does no more. */
bool order_is_of_slices(const struct space *s, size_t value);

/* Whether it is that of the recipe; or has few slices, as long as each other, in tiles of
   so many k, the last of which is 0: what is asked for as split-K; or a few lanes, whose
   turns are as many k as tiles or steps are; in FP32 or the format of D. */
enum { TYPICAL_SLICES_MAX = 64 };
extern const size_t typical_tiles[];
bool order_is_typical(const struct space *s, size_t value);

/* Whether no more of the words is changed than how the high ones are rounded. */
bool words_are_typical(const struct space *s, size_t value);

/* False: there is no such GEMM. */
bool candidate_make(struct candidate *x, const struct space *s, struct hypothesis h);

/* The outputs of a block as x computes them, FP32 encodings of values that D's format
   has. BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if progress asks to stop. */
enum bitcut_status candidate_run(uint32_t *d, const struct candidate *x,
                                 const struct space *s, const struct block *b,
                                 const struct gemm_options *options, struct fault *f);

/* How near a candidate comes to a block. */
struct nearness {
    size_t matched;  /* outputs that it gives to the bit                      */
    double distance; /* the median of the others and these, in ulps of FP32   */
};

/* What runs on the same block, one after the other, need not make again.  All zeros at
   first; candidate_forget() ends it. */
struct candidate_memory {
    struct gemm_words words;
    struct gemm_scratch scratch;
};

void candidate_forget(struct candidate_memory *m);

/* `scratch` has room for the block's outputs; `memory` is that of the block, or NULL.
   What cannot be run matches nothing. */
struct nearness candidate_match(const struct candidate *x, const struct space *s,
                                const struct block *b, uint32_t *scratch,
                                struct candidate_memory *memory);

#endif
