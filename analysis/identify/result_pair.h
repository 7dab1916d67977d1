/* SPDX-License-Identifier: BSD-3-Clause */
/* Two results of the same A, B and C: where they part, why, and which is nearer to the
   exact one. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_RESULT_PAIR_H
#define BITCUT_ANALYSIS_IDENTIFY_RESULT_PAIR_H

#include "analysis/identify/explain.h"

enum { WHY_MAX = 800 };

struct result_pair {
    size_t differ, total;               /* outputs, all of them */
    const struct bitcut_format *format; /* whose ulps are counted: that of both, or f32 */
    bool measured;               /* some are numbers in both, and so there is ... */
    uint64_t ulps;               /* ... the largest distance ...                  */
    size_t row, col;             /* ... and where it is first                     */
    struct box part[PARTS_MAX]; /* where they differ, the largest first          */
    size_t parts;                /* so many, also beyond those kept               */
    char why[WHY_MAX]; /* how the nearest hypotheses differ; empty: they do not, or one
                           result has none                                              */
    size_t sampled, nearer[2]; /* outputs, and those in which each is nearer to the exact
                                  result than the other                                 */
    double error[2]; /* median distance to it, in 2^-24 (|alpha| |A||B| + |beta C|) */
    const char *name[2];      /* of the results, where they have them */
    char text[SENTENCE_MAX]; /* the one sentence of it               */
};

/* Its fields (lib/base/record.h). */
extern const struct record_field result_pair_fields[], result_pair_place_fields[],
    result_pair_largest_fields[];

/* Compare two results that were explained, of the same shape as they were read:
   BITCUT_BAD_ARGUMENT else.  The exact result is that of lib/exact, of o->samples outputs
   as A and B were read for each; those that are not finite there are left out.
   BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if progress asks to stop. */
enum bitcut_status result_pair_compare(struct result_pair *t,
                                       const struct explanation e[2],
                                       const struct explain_options *o, struct fault *f);

#endif
