/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs of a sample that are far from what the others show: where they are, and whether
   D has their values elsewhere. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_DIAGNOSIS_PLACE_H
#define BITCUT_ANALYSIS_IDENTIFY_DIAGNOSIS_PLACE_H

#include "analysis/identify/guess.h"

struct diagnosed_place {
    size_t outside;                    /* number of such outputs                      */
    size_t row, row_end, col, col_end; /* the smallest region of D with all of them   */
    size_t row_step, col_step;         /* of whose rows and columns, from the first on */
    bool filled;                       /* every output of the sample in them is outside */
    bool constant;                     /* all have one value                          */
    uint32_t value;
    bool moved; /* D has their values `down` rows and `right`
                   columns away                                */
    ptrdiff_t down, right;
    bool foreign; /* their values are unrelated to the product */
};

/* Find the smallest region of D with all outputs of a block that belong together: `has`
   says of an output whether it is one of them.  Values elsewhere are not looked for. */
typedef bool place_has(const void *about, size_t at);
void diagnosis_place_region(struct diagnosed_place *to, const struct block *b,
                            place_has *has, const void *about);

/* Find the place of the outputs that are at least OUTSIDE levels away from a guess. */
void diagnosis_place_find(struct diagnosed_place *to, const struct residuals *e,
                          const struct guess *g);

/* Whether an output is one of them. */
bool diagnosis_place_is_outside(const struct residuals *e, const struct guess *g,
                                size_t at);

/* Append what is known of the values of these outputs, if anything is; and where they
   are, such as "rows 0 to 15, columns 16 to 31". */
void diagnosis_place_describe(char *text, size_t size, const struct diagnosed_place *p);
void diagnosis_place_describe_region(char *text, size_t size,
                                     const struct diagnosed_place *p);

/* The median distance from guess `of` of the outputs that are outside guess g, or of the
   others; and the largest error of these, from a result.  Both in u |A||B|. */
double diagnosis_place_median(const struct residuals *e, const struct guess *of,
                              const struct guess *g, bool outside);
double diagnosis_place_largest(const struct residuals *e, const double *error,
                               const struct guess *g);

#endif
