/* What papers say of whole runs, beside the recorded results. */
#ifndef BITCUT_ANALYSIS_CLAIM_H
#define BITCUT_ANALYSIS_CLAIM_H

#include <jansson.h>

/* Of results of `bench gpu` that results_derive() has seen, a row for each claim, device
   and kernel that has results for it: "claim", "how" (mean or maximum), "shapes",
   "source", "gpu", "printed", "device", "here", "kernel", "over", "points" (of how many
   results).  Equilibrated results and batches are left out.  To be released. */
json_t *claim_rows(json_t *bench);

#endif
