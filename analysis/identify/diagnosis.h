/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnosis by the residual: what the distance of D from the exact result consists of,
   for kernels whose bits no model has. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DIAGNOSIS_H
#define BITCUT_ANALYSIS_IDENTIFY_DIAGNOSIS_H

#include "analysis/identify/problem.h"
#include "lib/base/progress.h"
#include "lib/base/record.h"

/* What is known of D, by position in diagnosis_levels. */
enum diagnosis_level {
    DIAGNOSIS_NONE,       /* no diagnosis was made                                      */
    DIAGNOSIS_IDENTICAL,  /* a hypothesis gives every bit                               */
    DIAGNOSIS_ROUNDING,   /* the error is that of a correct kernel                      */
    DIAGNOSIS_OPERANDS,   /* so is the error of D from the product of rounded operands,
                             or of parts                                                */
    DIAGNOSIS_FAULT,      /* so is the rest without the effect of faults                */
    DIAGNOSIS_UNEXPLAINED /* larger, and no row of the tables has such an effect       */
};

/* Their rows, ended by a row whose name is NULL. */
struct diagnosis_level_row {
    const char *name;
    const char *next; /* what to do for such a D; "": nothing, or that is for the command
                         to say */
};

extern const struct diagnosis_level_row diagnosis_levels[];

enum { DIAGNOSED_FAULTS_MAX = 3, DIAGNOSIS_TEXT_MAX = 300, DIAGNOSED_SAME_MAX = 3 };

struct diagnosed_fault {
    const char *name;              /* of the row of its table                 */
    char what[DIAGNOSIS_TEXT_MAX]; /* such as "the product low(A) high(B) is missing" */
    size_t k_first, k_end;         /* the range of k; equal: the fault has none */
};

/* The answer.  Errors are medians over the outputs of the sample, in u |A||B| with u =
   2^-24; |A||B| includes alpha and beta C, or what was told. */
struct diagnosis {
    enum diagnosis_level level;
    size_t outputs;       /* of the sample that are finite                            */
    double before, after; /* of D from the exact result; from the same with the effects */
    /* both operands are rounded so; NULL: they are not */
    const struct bitcut_format *format;
    const struct bitcut_rounding *rounding;
    double largest;       /* error of D from the exact result, of operands so rounded, in
                             outputs of the sample that are right                     */
    double limit;         /* largest error of a correct kernel in this median         */
    double agreeing;      /* share of outputs on which two correct orders agree       */
    const struct sum_bias *bias; /* of the errors; NULL: none is seen                  */
    double bias_share; /* its size, as a share of that of a chain of sums that are
                          rounded in this direction                                */
    char operands[DIAGNOSIS_TEXT_MAX]; /* what became of the operands; "": nothing     */
    struct diagnosed_fault fault[DIAGNOSED_FAULTS_MAX];
    size_t faults;
    char same[DIAGNOSED_SAME_MAX][DIAGNOSIS_TEXT_MAX]; /* other faults with an effect that
                                                          is the same on these data    */
    size_t sames;
    size_t outside; /* outputs of the sample to which the faults are limited; 0: they hold
                       for all outputs                                              */
    char place[DIAGNOSIS_TEXT_MAX]; /* the region of these outputs; "": none */
    bool of_rest; /* of the outputs that the nearest hypothesis does not give: `outside`
                     among the `outputs` that were compared */
};

/* Whether the error is that of a correct kernel. */
static inline bool diagnosis_is_correct(const struct diagnosis *d)
{
    return d->level == DIAGNOSIS_ROUNDING || d->level == DIAGNOSIS_OPERANDS;
}

/* Diagnose D of q, whose matrices are read as it says, on a sample of its outputs with at
   most about 2^20 products, and on outputs with about 2^27 products if those of the
   sample are right; seeded, and the same for any number of threads.  If no output is
   finite, the level is DIAGNOSIS_NONE.  Returns BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if
   progress asks to stop. */
enum bitcut_status diagnosis_find(struct diagnosis *to, const struct problem *q,
                                  uint64_t seed, const struct progress *progress,
                                  struct fault *f);

/* Rows [row, row_end) and columns [col, col_end) of D. */
struct diagnosis_region {
    size_t row, row_end, col, col_end;
};

/* The same of a sample of the outputs of a region, which has some; `parts`: also of some
   of the sample, if these alone are far from the rest. */
enum bitcut_status diagnosis_find_in(struct diagnosis *to, const struct problem *q,
                                     struct diagnosis_region r, bool parts, uint64_t seed,
                                     const struct progress *progress, struct fault *f);

/* The diagnosis in one sentence; nothing is appended for DIAGNOSIS_NONE. */
record_describe diagnosis_describe;

extern const struct record_field diagnosis_fields[], diagnosed_fault_fields[];

#endif
