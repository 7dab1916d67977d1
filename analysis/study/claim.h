/* What papers say of whole runs, beside the recorded results. */
#ifndef BITCUT_ANALYSIS_STUDY_CLAIM_H
#define BITCUT_ANALYSIS_STUDY_CLAIM_H

#include <jansson.h>

enum claim_how { MEAN, MAXIMUM };

/* A row of the table of claims.  `who` and `over` are recipes or names of peers.  With
   `over` it is the time of that one over the time of `who`, else the column of `who`. */
struct claim {
    const char *what, *source, *gpu;
    double printed;
    const char *study, *shapes, *who, *over, *column;
    enum claim_how how;
};

extern const struct claim claims[]; /* ended by a row whose `what` is NULL */

/* Of results of `bench gpu` that results_derive() has seen, a row for each claim, device
   and kernel that has results for it: "claim", "how" (mean or maximum), "shapes",
   "source", "gpu", "printed", "device", "here", "kernel", "over", "points" (of how many
   results).  Equilibrated results and batches are left out.  To be released. */
json_t *claim_rows(json_t *bench);

#endif
