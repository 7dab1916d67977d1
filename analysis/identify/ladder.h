/* SPDX-License-Identifier: BSD-3-Clause */
/* The ladder: cheap checks of D against the exact result, before any hypothesis is tried.
   Each check is a rung, a row of a table, and has its own sentence. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_LADDER_H
#define BITCUT_ANALYSIS_IDENTIFY_LADDER_H

#include "analysis/identify/problem.h"
#include "lib/base/record.h"

enum { ULPS_COUNT = 4 };

/* Some rows or columns, ascending; at == NULL: all. */
struct some_lines {
    size_t *at, count;
};

/* The findings, the lowest rung first.  A finding has the name of no row of `rungs`: one
   rung may find several things. */
struct ladder_report {
    struct bitcut_finding finding[BITCUT_FINDINGS_MAX];
    size_t findings;
    /* Rows and columns without outputs that were not written. */
    struct some_lines rows, cols;
    size_t unwritten; /* outputs of D that were not written, as far as that is known */
    /* The problem that remains if the findings hold, and whether it differs: a search on
       it finds the same bits.  `gathered` are its own elements of A and B, or NULL. */
    bool has_rest;
    bool is_guess; /* whether its alpha is a short number that the factor of D is near to,
                      and the search has to confirm it */
    uint32_t alpha;
    int32_t zero[2]; /* zero points that `gathered` is less, in its place */
    bool has_zero;   /* whether there are such */
    uint32_t *gathered[2];
    /* Whether the findings show that no hypothesis gives D until an option is given. */
    bool is_final;
    /* Whether the outputs of each tile hold the results of positions that were found. */
    bool has_map;
    /* Whether negative results are zeros. */
    bool clipped;
    /* Outputs of a sample, and those within 0, 1, 2 and 8 ulps of the correctly rounded
       exact result. */
    size_t rounded, within[ULPS_COUNT];
};

/* A row of the table, which ends with a NULL name. */
struct rung_input;
struct rung {
    const char *name, *what;
    /* Append findings.  Returns BITCUT_NO_MEMORY if memory runs out. */
    enum bitcut_status (*find)(struct ladder_report *l, const struct rung_input *x,
                               struct fault *f);
    bool ends;  /* whether no higher rung is climbed after its finding */
    bool moves; /* whether other elements of A are read, which have no positions if A is
                   sparse */
};
extern const struct rung rungs[];

/* Climb all rungs for D of *q, whose matrices have been read (quick_check_read()) and are
   not empty.  The work is proportional to the sizes of A, B and D, and to a bounded
   number of products.  The findings depend on the seed alone.  Returns BITCUT_NO_MEMORY,
   which leaves nothing to clear. */
enum bitcut_status ladder_report_make(struct ladder_report *l, const struct problem *q,
                                      uint64_t seed, struct fault *f);
void ladder_report_clear(struct ladder_report *l);

/* At most that many rows and columns of those that were written, drawn from the stream
   and the next one.  Returns BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status ladder_take(struct block *to, const struct ladder_report *l,
                               const struct problem *q, size_t rows, size_t cols,
                               uint64_t seed, uint64_t stream, struct fault *f);

/* The problem that remains: q with another alpha, or with rows of A and columns of B in
   another order.  Its elements belong to q and *l. */
struct problem ladder_rest(const struct ladder_report *l, const struct problem *q);

/* The sentences of all findings, with the options that they name. */
void ladder_describe(char *text, size_t size, const struct ladder_report *l);

/* The shares of outputs near the exact result, as a sentence. */
void ladder_describe_ulps(char *text, size_t size, const struct ladder_report *l);

extern const struct record_field ladder_finding_fields[];

#endif
