/* SPDX-License-Identifier: BSD-3-Clause */
/* What an audit sees of a call: the values of the operands, and an excerpt of the
   product, enough to compute some of its outputs in any way afterwards. */
#ifndef BITCUT_ANALYSIS_RUN_AUDIT_H
#define BITCUT_ANALYSIS_RUN_AUDIT_H

#include "analysis/run/call.h"

struct audit {
    struct call_log_values values[2]; /* of all of A, and of B */
    struct call_log_excerpt excerpt;  /* of the first GEMM; number 0: none is taken */
    size_t *row, *col;                /* of D: those of the excerpt             */
    uint32_t *a, *b, *c, *d;          /* [rows][k], [k][cols], [rows][cols]; c is NULL if
                                         it is not read                         */
    double seconds;                   /* that watching took, of the turn's own_seconds */
};

/* Before anything has written D: look at the operands, if this call is watched, which
   sets t->audit.  So is the first call of a place, and any other while all that audits
   did has taken no more than its share of the time since the first call.  The excerpt has
   at most 16 rows and columns, fewer of a long k, spread evenly; of a half all of it is
   within, and one output on the diagonal.  One is written for the first, second, fourth,
   ... call of a place that is watched. */
void audit_begin(struct call *t);

/* When D is there: take its part of the excerpt, and write that down; none of a D that is
   not computed as the place says (CALL_FAILED, CALL_LEFT). */
void audit_end(struct call *t);

/* With the lock: add what was seen to the place. */
void audit_note(struct call_log_site *p, const struct audit *a);

void audit_free(struct audit *a); /* or NULL */

#endif
