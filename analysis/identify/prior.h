/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of several hypotheses is the likelier one before D is compared: what libraries
   and chips compute by default comes before what few people run.  Of hypotheses that give
   the same bits the likeliest is named, and the likeliest are tried first. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_PRIOR_H
#define BITCUT_ANALYSIS_IDENTIFY_PRIOR_H

#include "analysis/identify/hypothesis.h"

/* What is known of the problem. */
struct prior {
    bool vector;                        /* D has one row or one column */
    bool integers;                      /* A and B had formats of integers */
    const struct bitcut_format *format; /* of D */
    uint64_t fits; /* formats that contain all of A and B in the sample, as bits;
                      integers are in all formats, so they show no format below 16 bits */
    int bits; /* size of the shortest such format of a unit's operands, see prior.c */
};

struct prior prior_of(const struct block *sample);

/* A hypothesis with its candidate. */
struct contender {
    const struct candidate *x;
    const struct hypothesis *h;
    bool stored; /* its sums become D only by the rounding to the format of D, and D has
                    that format only because it contains all of D */
};

/* Negative: the first is likelier; positive: the second is; 0: neither. */
int prior_compare(const struct prior *p, struct contender first, struct contender second);

/* Whether A and B fit a format of operands that is shorter than FP32. */
bool prior_shows_short(const struct prior *p);

/* Whether a recipe and unit are what a library computes by default for such operands. */
bool prior_is_default(const struct prior *p, const struct candidate *x);

/* Whether a matrix unit belongs to an architecture that few programs run on. */
bool prior_unit_is_rare(const struct bitcut_unit *u);

#endif
