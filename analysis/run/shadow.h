/* SPDX-License-Identifier: BSD-3-Clause */
/* The second result of a call, computed in another way: compared with what the program
   gets. */
#ifndef BITCUT_ANALYSIS_RUN_SHADOW_H
#define BITCUT_ANALYSIS_RUN_SHADOW_H

#include "analysis/run/call.h"

struct shadow {
    bool swaps;            /* the program gets this one, and the original is compared  */
    struct product result; /* with D in memory of its own, row by row without gaps     */
    struct call_log_difference difference;
};

/* Before anything has written D: compute what the original is compared with, or what is
   compared with it.  t->shadow stays NULL if there is nothing to compare, or no memory.
 */
void shadow_begin(struct call *t);

/* When D is there: compare, and give the program what it is to have.  In the mode of
   hostfp_enter(). */
void shadow_end(struct call *t);

void shadow_free(struct shadow *s); /* or NULL */

#endif
