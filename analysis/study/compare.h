/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of claims by comparing rows, for most claims. */
#ifndef BITCUT_ANALYSIS_STUDY_COMPARE_H
#define BITCUT_ANALYSIS_STUDY_COMPARE_H

#include "analysis/study/claim.h"

#include <stddef.h>

/* The next key of a list separated by blanks, into `key`.  Returns false at its end. */
bool row_next_key(char *key, size_t size, const char **list);

/* Whether a row has all values of a list "key=value key=this|that".  Numbers are compared
   in the format "%g".  NULL or an empty list: any row. */
bool row_is(const json_t *row, const char *where);

/* The number for a key: infinite for the text "inf", NaN if there is none. */
double row_number(const json_t *row, const char *key);

/* The first row for which row_is() is true; NULL: none. */
json_t *row_find(json_t *rows, const char *where);

/* --- numbers of rows -------------------------------------------------------------- */

/* Every row selected by `where` has a number `key`; together they form one spread. */
struct claim_values {
    const char *key, *where;
    double least, most; /* for a sentence: limits of all numbers; most 0: no limit */
    const char *cases;  /* keys that identify a row, separated by blanks, or NULL */
};

/* A number agrees if it is within their spread; a sentence if all are within its limits.
   `ours` is the median. */
void claim_judge_values(struct judgement *j, const struct claim *claim, json_t *rows);

/* --- ratios ----------------------------------------------------------------------- */

/* A part of the pairs, by their rows: a choice that a paper leaves open, or a size. */
struct claim_choice {
    const char *words, *top, *bottom; /* as for row_is(); NULL: any */
};

/* Ratios of rows.  Rows with the same values of the keys of `cases` form a case.  In each
   case, rows selected by `top` are compared with rows selected by `bottom`; a case
   without rows of both is ignored. 0 over 0 is 1.

   A case has one ratio, the mean of the key over the top rows over its mean over the
   bottom rows, with an interval by the key "round" of the rows, the number of their seed
   (analysis/study/bootstrap.h).  With `each` it has one ratio for each value of that key
   in the top rows and each value in the bottom rows: readings of what a paper leaves
   open.  The reason has the median for each of `choices`, which ends with a choice
   without words.  Readings whose top rows are not `judged` are used for these medians
   only.  Means are geometric, or, with `averages`, as in LE-GEMM: over its runs, of the
   numbers themselves. */
struct claim_ratios {
    const char *key, *top, *bottom;
    const char *cases;  /* keys, separated by blanks */
    double least, most; /* for a sentence: limits of all ratios; most 0: no limit */
    bool averages;
    const char *each; /* a key, or NULL */
    const struct claim_choice *choices;
    const char *judged; /* as for row_is(); NULL: all */
};

/* The same as for numbers, by the ratios. */
void claim_judge_ratios(struct judgement *j, const struct claim *claim, json_t *rows);

/* Check several ratios one after the other; `about` is an array ended by an entry without
   a key.  A sentence agrees if all agree, and differs if one differs.  `ours` belongs to
   the entry that decides, or to the last one. */
void claim_judge_all_ratios(struct judgement *j, const struct claim *claim, json_t *rows);

/* The rows of `where` with the largest value of the key `x` over the rows with the
   smallest, as ratios of means in each case.  A sentence agrees if all ratios are at
   least `least`.  With `falls` the ratio is inverted. */
struct claim_growth {
    const char *key, *where, *x, *cases;
    double least;
    bool averages, falls;
};
void claim_judge_growth(struct judgement *j, const struct claim *claim, json_t *rows);

/* --- flags ------------------------------------------------------------------------ */

/* A sentence agrees if all rows selected by `where` have true for `key`.  `ours` is the
   value of `tell` in those rows, if `tell` is not NULL and all rows have the same value;
   otherwise their number. */
struct claim_flags {
    const char *key, *where, *tell;
};
void claim_judge_flags(struct judgement *j, const struct claim *claim, json_t *rows);

/* --- hardware --------------------------------------------------------------------- */

/* Nothing is computed: `about` is the reason, a text. */
void claim_judge_cannot(struct judgement *j, const struct claim *claim, json_t *rows);

#endif
