/* SPDX-License-Identifier: BSD-3-Clause */
/* Judging claims by comparing rows: what most claims need. */
#ifndef BITCUT_ANALYSIS_STUDY_COMPARE_H
#define BITCUT_ANALYSIS_STUDY_COMPARE_H

#include "analysis/study/claim.h"

#include <stddef.h>

/* The next of a list of keys, with blanks between, into `key`; false at its end. */
bool row_next_key(char *key, size_t size, const char **list);

/* Whether a row has all values of a list "key=value key=this|that"; numbers are compared
   as printf("%g") prints them.  NULL or an empty list: any row. */
bool row_is(const json_t *row, const char *where);

/* The number of a key: infinite for the text "inf", NaN if there is none. */
double row_number(const json_t *row, const char *key);

/* The first row for which row_is(); NULL: none. */
json_t *row_find(json_t *rows, const char *where);

/* --- numbers of rows -------------------------------------------------------------- */

/* Every row that `where` chooses has a number `key`: they are one number's spread. */
struct claim_values {
    const char *key, *where;
    double least, most; /* of a sentence: all lie in between, most 0: no limit     */
    const char *cases;  /* keys that tell rows apart, with blanks between, or NULL */
};

/* A number agrees if it is in their spread; a sentence if all are within its limits.
   `ours` is the median. */
void claim_judge_values(struct judgement *j, const struct claim *claim, json_t *rows);

/* --- ratios ----------------------------------------------------------------------- */

/* A part of the pairs, by what their rows are: what a paper leaves open, or a size. */
struct claim_choice {
    const char *words, *top, *bottom; /* as row_is(); NULL: any */
};

/* Rows that have the values of the keys of `cases` in common are a case, in which those
   that `top` chooses stand against those that `bottom` does.  A case without rows of both
   is none; 0 over 0 is 1.

   A case has one ratio: the mean of the key over the former, over that of the latter,
   with an interval by the key "round" of the rows, the number of their seed
   (analysis/study/bootstrap.h).  With `each` it has one for each value of that key on top
   and each below: readings of what a paper leaves open, of which the reason tells the
   median for each of `choices`, ended by one without words; those whose rows on top are
   not `judged` count for that alone.

   Means are geometric, or, with `averages`, as LE-GEMM has them: over its runs, of the
   number itself. */
struct claim_ratios {
    const char *key, *top, *bottom;
    const char *cases;  /* keys, with blanks between                           */
    double least, most; /* of a sentence: all ratios are; most 0: no limit     */
    bool averages;
    const char *each; /* a key, or NULL */
    const struct claim_choice *choices;
    const char *judged; /* as row_is(); NULL: all */
};

/* The same of the ratios. */
void claim_judge_ratios(struct judgement *j, const struct claim *claim, json_t *rows);

/* All of several in turn; `about` is an array of those ended by one without a key.  A
   sentence agrees if all do, and differs if one does; `ours` is that of the one that
   decides it, or of the last. */
void claim_judge_all_ratios(struct judgement *j, const struct claim *claim, json_t *rows);

/* The rows of `where` with the largest value of the key `x` over those with the least, as
   ratios of means as above, in each case: a sentence agrees if all are at least
   `least`, or, `falls`, those of the least x over those of the largest. */
struct claim_growth {
    const char *key, *where, *x, *cases;
    double least;
    bool averages, falls;
};
void claim_judge_growth(struct judgement *j, const struct claim *claim, json_t *rows);

/* --- flags ------------------------------------------------------------------------ */

/* A sentence agrees if all rows that `where` chooses have true for `key`.  `ours` is the
   value of `tell` of those rows, if it is not NULL and they have one, else their number.
 */
struct claim_flags {
    const char *key, *where, *tell;
};
void claim_judge_flags(struct judgement *j, const struct claim *claim, json_t *rows);

/* --- hardware --------------------------------------------------------------------- */

/* Nothing is computed: `about` is the reason, a text. */
void claim_judge_cannot(struct judgement *j, const struct claim *claim, json_t *rows);

#endif
