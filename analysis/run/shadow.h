/* SPDX-License-Identifier: BSD-3-Clause */
/* The shadow computation of a call: the same product in another configuration, compared
   with the program's result. */
#ifndef BITCUT_ANALYSIS_RUN_SHADOW_H
#define BITCUT_ANALYSIS_RUN_SHADOW_H

#include "analysis/run/call.h"

struct shadow {
    bool swaps; /* the program gets this result, and the original is compared */
    struct product result; /* D has its own memory, row-major and contiguous */
    struct call_log_difference difference;
};

/* Call it before anything has written D: compute the result to compare with. t->shadow
   stays NULL if there is nothing to compare, or no memory. */
void shadow_begin(struct call *t);

/* Call it when D is there: compare, and give the program its result.  The caller is under
   hostfp_enter(). */
void shadow_end(struct call *t);

void shadow_free(struct shadow *s); /* s may be NULL */

#endif
