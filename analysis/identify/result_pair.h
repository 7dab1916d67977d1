/* SPDX-License-Identifier: BSD-3-Clause */
/* Two results of the same A, B and C: where they differ, why, and which one is nearer to
   the exact result. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_RESULT_PAIR_H
#define BITCUT_ANALYSIS_IDENTIFY_RESULT_PAIR_H

#include "analysis/identify/explain.h"

enum { WHY_MAX = 800 };

struct result_pair {
    struct bitcut_result_pair answer;   /* must be first: the part for callers */
    const struct bitcut_format *format; /* whose ulps are counted */
    struct box part[PARTS_MAX]; /* regions where they differ, the largest first */
    size_t parts;               /* number of regions, including those not stored */
    char why[WHY_MAX]; /* how the nearest hypotheses differ; empty: they do not, or one
                          result has none */
    const char *name[2]; /* names of the results, or NULL */
};

/* Its fields (lib/base/record.h). */
extern const struct record_field result_pair_fields[], result_pair_place_fields[],
    result_pair_largest_fields[];

/* Compare two results that were explained.  Returns BITCUT_BAD_ARGUMENT if they have
   different shapes as they were read.  The exact result comes from lib/exact, for
   o->samples outputs, with A and B as they were read for each result; exact outputs that
   are not finite are left out.  Returns BITCUT_NO_MEMORY; BITCUT_UNSUPPORTED if progress
   asks to stop. */
enum bitcut_status result_pair_compare(struct result_pair *t,
                                       const struct explanation e[2],
                                       const struct explain_options *o, struct fault *f);

#endif
