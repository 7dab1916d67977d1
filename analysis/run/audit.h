/* SPDX-License-Identifier: BSD-3-Clause */
/* The data that an audit records of a call: the values of the operands, and an excerpt of
   the product, from which some of its outputs can be computed later by any recipe. */
#ifndef BITCUT_ANALYSIS_RUN_AUDIT_H
#define BITCUT_ANALYSIS_RUN_AUDIT_H

#include "analysis/run/call.h"

struct audit {
    struct call_log_values values[2]; /* of all of A, and of all of B */
    struct call_log_excerpt excerpt;  /* of the first GEMM; number 0: there is none */
    size_t *row, *col;                /* rows and columns of D in the excerpt */
    uint32_t *a, *b, *c,
        *d;         /* [rows][k], [k][cols], [rows][cols]; c is NULL if it is not read */
    double seconds; /* time of the audit, a part of the call's own_seconds */
};

/* Call it before anything has written D.  If this call is audited, it records the
   operands and sets t->audit.  The first call of a call site is audited, and any other
   call while all audits together have taken no more than their share of the time since
   the first call.  The excerpt has at most 16 rows and columns, fewer for large k, spread
   evenly.  If D is stored by half, all of the excerpt is in that half, with one output on
   the diagonal.  Excerpts are written for the first, second, fourth, ... audited call of
   a call site. */
void audit_begin(struct call *t);

/* Call it when D is there: add its part to the excerpt and write the excerpt.  Nothing is
   written if D was not computed as the call site requests (CALL_FAILED, CALL_LEFT). */
void audit_end(struct call *t);

/* Add the values to the call site.  The caller holds the lock. */
void audit_note(struct call_log_site *p, const struct audit *a);

void audit_free(struct audit *a); /* a may be NULL */

#endif
