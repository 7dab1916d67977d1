/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims of papers, each compared with the rows of a study.  A verdict is computed from
   rows, and only from them:
   - agrees: the computed result agrees with the printed result.  A number lies within the
     readings of the rows: the choices of sizes and details that the paper leaves open,
     each by the paper's own statistic.  A sentence holds in every case that the claim
     covers.
   - differs: it does not.  The reason names the amount and the cause.
   - undecided: rows of other seeds could change the verdict: the bootstrap interval of a
     case covers the limit.
   - cannot: rows are missing, or the claim requires hardware on which bitcut was not run,
     or details that the paper does not give, or the inputs do not distinguish the claim
     from another one that is false.  The reason names the cause.

   A claim comes from a paper, or is a question asked by bitcut itself, about units,
   inputs or measures that no paper has.  Only the claims of papers count for or against
   papers.  Speed and energy belong to a device: a figure printed for a device is compared
   with rows of that device alone.  Without such rows the verdict is cannot, and the
   results of other devices are given for comparison. */
#ifndef BITCUT_ANALYSIS_STUDY_CLAIM_H
#define BITCUT_ANALYSIS_STUDY_CLAIM_H

#include "lib/base/table.h"

#include <jansson.h>
#include <stdbool.h>

enum claim_outcome {
    VERDICT_AGREES,
    VERDICT_DIFFERS,
    VERDICT_UNDECIDED,
    VERDICT_CANNOT,
    VERDICTS
};

extern const struct table_row verdicts[]; /* by verdict, ended by {0} */

/* The text for a verdict, from the name of its row. */
const char *verdict_label(const char *name);

/* The origin of a claim. */
enum claim_origin { ORIGIN_PAPER, ORIGIN_BITCUT, ORIGINS };

extern const struct table_row claim_origins[]; /* by origin, ended by {0} */

/* The meaning of the phrases of papers: one factor for each, in all claims. */
enum claim_criterion {
    CRITERION_NONE,  /* a number, or rows that are true or false */
    CRITERION_SAME,  /* factor SAME_ACCURACY                     */
    CRITERION_ORDER, /* factor 1                                 */
    CRITERION_STATED /* the limit is in the claim's own sentence */
};

#define SAME_ACCURACY 2.0

extern const struct table_row claim_criteria[]; /* by criterion, ended by {0} */

enum { REASON_MAX = 800, OURS_MAX = 120 };

/* The text in a row in place of a paper. */
#define OWN_QUESTION .paper = "bitcut's own question", .origin = ORIGIN_BITCUT

/* The result for a claim. */
struct judgement {
    enum claim_outcome verdict;
    double ours, low, high;    /* a number and its spread; NaN: none                 */
    double least, most;        /* ends of all bootstrap intervals; NaN: none */
    char ours_text[OURS_MAX];  /* in place of the number, if not empty */
    char reason[REASON_MAX];  /* one line                                           */
};

/* A row of a study's claims. */
struct claim {
    const char *name, *what; /* what: the claim in one sentence                      */
    const char *paper;       /* its source and the place there */
    enum claim_origin origin;
    const char *printed; /* the claim as printed, word for word, or NULL: it is the number
                            below. For bitcut's own question: the expected answer */
    double number;       /* the printed number */
    bool described; /* the printed claim is paraphrased, or computed from a table, formula
                       or curve */
    enum claim_criterion criterion; /* for a sentence */
    double tolerance; /* for a number: a factor that widens the spread; 0: as 1 */
    double doubt; /* a factor within which the ends of intervals are uncertain, so that a
                     case is undecided there; 0: as 1 */
    const char *device; /* a word in the name of the measured device, such as A800; NULL:
                           the claim is about no device */
    const char *unit;   /* the unit or chip whose model the rows have, or NULL */
    const char *beside; /* differences between the paper's runs and the rows, or NULL */
    /* assumptions of the rows that the paper does not state, or NULL */
    const char *assumes;
    const char *needs; /* kernels or details, unpublished or unavailable, without which
                          the verdict is cannot in any case; NULL: none */
    void (*judge)(struct judgement *j, const struct claim *claim, json_t *rows);
    const void *about; /* argument of judge; both NULL: there is no comparison */

    /* Rows with the same inputs for which the sentence is false.  If the judge finds it
       true for these rows as well, the inputs do not discriminate, and the verdict is
       cannot. */
    const void *other;
    const char *otherwise; /* what these rows are; for a sentence without `other`, why it
                              needs none */
};

/* Check a claim by the rows of its study.  The result has "study", "name", "claim",
   "paper", "printed" and "ours" (a number or a text, or null), "low" and "high" (or
   null), "verdict", "reason", "device", "unit" and "evidence" (of the unit), or null,
   "origin", "criterion" (or null), and "interval" (the least and the most of the
   bootstrap, or null).  `missing` of `points` points have no rows; any missing point
   makes the verdict "cannot". */
json_t *claim_verdict(const char *study, const struct claim *claim, json_t *rows,
                      size_t missing, size_t points);

#endif
