/* Hypotheses on how a matrix was computed: a point in a space of few axes, each a table
   of what a kernel may do. */
#ifndef BITCUT_ANALYSIS_EXPLAIN_HYPOTHESIS_H
#define BITCUT_ANALYSIS_EXPLAIN_HYPOTHESIS_H

#include "analysis/explain/question.h"
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

struct defect;

/* A fault and which of its kinds. */
struct defect_choice {
    const struct defect *row;
    int kind;
};

/* What the axes range over; of one question. */
struct space {
    const struct bitcut_unit **unit;
    struct words_choice *words;
    struct bitcut_order *order;
    struct defect_choice *fault; /* the first is none */
    struct k_range *range;       /* of k that may be lost or come twice */
    size_t units, words_count, orders, faults, ranges, k;
    const struct bitcut_format *format; /* of D */
    const struct bitcut_recipe *recipe; /* the only one, or NULL */
    uint32_t alpha, beta;
    bool reads_c;
};

enum { RANGES_MOST = 4 };

/* The space for D of q, whose k may have lost such ranges.  BITCUT_NO_MEMORY leaves
   nothing to clear. */
enum bitcut_status explain_space_make(struct space *to, const struct question *q,
                                      const struct k_range *range, size_t ranges,
                                      struct fault *f);
void explain_space_clear(struct space *s);

/* Add the orders that have lanes in the slices of one that the space has: as another
   kernel of the same library may, for what is left of tiles.  BITCUT_NO_MEMORY leaves the
   space as it was. */
enum bitcut_status explain_space_add_lanes(struct space *s,
                                           const struct bitcut_order *slices,
                                           struct fault *f);

/* A hypothesis made definite: a GEMM, its plan, and what a kernel does besides. */
struct candidate {
    struct bitcut_gemm gemm;
    struct gemm_plan plan;
    struct bitcut_unit unit; /* what gemm.unit stands for: with a fault, another row */
    struct k_range lost;  /* k whose products are not added                           */
    struct k_range twice; /* k whose products are added again, right behind           */
    bool lost_are_zero;   /* lost k are taken as zeros; else the next k follow        */
    bool flushed;         /* subnormal elements of A and B are read as zeros          */
    const struct bitcut_format *through; /* what results are rounded to first, or NULL */
    const struct bitcut_rounding *store; /* of the result to the format of D */
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
    void (*say)(char *text, size_t size, const struct candidate *x, const struct space *s,
                size_t value);
};

extern const struct axis axes[AXES];

/* Whether all terms run on one unit: only then they can be changed. */
bool candidate_uniform(const struct candidate *x);

/* The name of a value of AXIS_FAULT other than 0. */
const char *fault_name(const struct space *s, size_t value);

/* Whether a value of AXIS_FAULT may change results by much; whether it is of a range of k
   that is a slice of an order. */
bool fault_is_coarse(const struct space *s, size_t value);
bool fault_is_of_slices(const struct space *s, size_t value, size_t order);

/* False: there is no such GEMM. */
bool candidate_make(struct candidate *x, const struct space *s, struct hypothesis h);

/* The outputs of a block as x computes them, FP32 encodings of values that D's format
   has. BITCUT_NO_MEMORY; BITCUT_CANNOT if progress asks to stop. */
enum bitcut_status candidate_run(uint32_t *d, const struct candidate *x,
                                 const struct space *s, const struct block *b,
                                 const struct gemm_options *options, struct fault *f);

/* How near a candidate comes to a block. */
struct nearness {
    size_t matched;  /* outputs that it gives to the bit                      */
    double distance; /* the median of the others and these, in ulps of FP32   */
};

/* `scratch` has room for the block's outputs; `words` are those of the block, or NULL.
   What cannot be run matches nothing. */
struct nearness candidate_match(const struct candidate *x, const struct space *s,
                                const struct block *b, uint32_t *scratch,
                                struct gemm_words *words);

#endif
