/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for what computed a GEMM, by its published statistics. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_STATISTIC_SEARCH_H
#define BITCUT_ANALYSIS_IDENTIFY_STATISTIC_SEARCH_H

#include "analysis/identify/explain.h"
#include "analysis/identify/statistic.h"

enum { STATISTIC_EQUALS_MAX = 8, STATISTIC_NAME_MAX = 200 };

struct statistic_problem {
    struct matrix a, b; /* FP32; each is one matrix or a batch, of one number */
    struct published published[STATISTICS]; /* at least one is given, or `agreement` */
    const struct bitcut_format *format;     /* of D; NULL: f32 */
    /* NULL, or in place of statistics: the part of D that is as it was published, 0 to 1,
       of all outputs as FP32 encodings; called by several threads */
    double (*agreement)(const uint32_t *d, const void *context);
    const void *context;
    const struct bitcut_recipe *recipe;     /* as in struct problem */
    const struct bitcut_unit *unit;
    const struct chip *chip;
    double effort; /* factor of WORK_SEARCH, above 0 */
    int threads;
    const struct progress *progress; /* or NULL */
};

/* A statistic, as published and as the hypothesis gives it. */
struct statistic_pair {
    const struct statistic *row;
    struct published published;
    double ours;
    bool agrees;
};

struct statistic_answer {
    bool found;    /* whether a hypothesis gives every printed digit */
    bool complete; /* whether all hypotheses of the level were tried, within the work */
    size_t m, n, k, gemms, outputs;
    size_t tried, gives; /* hypotheses that were tried, and that give every digit */
    size_t results;      /* different D among the latter, by a digest */
    struct verdict best; /* the likeliest that gives every digit (prior.h), or the
                            nearest; not set if no hypothesis could be run */
    bool named;          /* whether `best` is set */
    char name[STATISTIC_NAME_MAX + CHANGES_MAX]; /* it, as "RECIPE on UNIT, but ..." */
    struct statistic_pair pair[STATISTICS];      /* those that were given */
    int pairs;
    double miss; /* relative difference of the first of them */
    /* Other hypotheses that give every digit, with the D of the best. */
    char equal[STATISTIC_EQUALS_MAX][STATISTIC_NAME_MAX];
    size_t equals; /* their number; the first STATISTIC_EQUALS_MAX have a name */
};

/* The fields and the line (lib/base/record.h). */
extern const struct record_field statistic_fields[], statistic_pair_fields[];
extern const struct record_line statistic_lines[];

/* Try the hypotheses of explain (hypothesis.h), without faults: every recipe on every
   unit; the same with other splits and roundings of operands; then a change of one other
   axis, among them every order of k, of one hypothesis after the other: in turn the
   likeliest without a change and the nearest with other operands.  The search ends after
   the first of these levels, or hypotheses, that has an answer with every printed digit,
   or when the work is spent.  The answer does not depend on threads.

   Returns BITCUT_BAD_ARGUMENT: the matrices have no outputs, or no statistic is given;
   BITCUT_UNSUPPORTED: asked to stop; BITCUT_NO_MEMORY. */
enum bitcut_status statistic_search(struct statistic_answer *to,
                                    const struct statistic_problem *p, struct fault *f);

#endif
