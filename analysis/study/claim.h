/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims: what papers say, each beside what the rows of a study say of it.

   A verdict is computed from rows, and only from them:
     agrees     what was printed is what was computed.  A number lies within the readings
                of the rows: the sizes and details that the paper leaves open, each by the
                paper's own statistic.  A sentence holds in every case that the claim is
                about.
     differs    It is not.  The reason says by how much, and why.
     undecided  The rows of other seeds could say either: the bootstrap interval of a case
                covers the limit.
     cannot     Rows are missing, or it takes hardware that nobody ran for bitcut, or what
                the paper does not say, or the inputs do not tell the claim from another
                one that is not so; the reason names it.

   A claim is a paper's, or a problem of bitcut's own, about units, inputs or measures
   that no paper has.  Only the former count for or against papers.

   Speed and energy are a device's: what is printed of one is judged by rows of that one
   alone.  If there are none the verdict is cannot, and what the rows of others give
   stands beside it. */
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

/* The name of a verdict, by that of its row, as people read it. */
const char *verdict_label(const char *name);

/* Whose a claim is. */
enum claim_origin { ORIGIN_PAPER, ORIGIN_BITCUT, ORIGINS };

extern const struct table_row claim_origins[]; /* by origin, ended by {0} */

/* What the phrases of papers are taken to mean: one factor for each, in all claims. */
enum claim_criterion {
    CRITERION_NONE,  /* a number, or rows that are true or false */
    CRITERION_SAME,  /* factor SAME_ACCURACY                     */
    CRITERION_ORDER, /* factor 1                                 */
    CRITERION_STATED /* the limit is in the claim's own sentence */
};

#define SAME_ACCURACY 2.0

extern const struct table_row claim_criteria[]; /* by criterion, ended by {0} */

enum { REASON_MAX = 800, OURS_MAX = 120 };

/* In a row, in place of a paper. */
#define OWN_QUESTION .paper = "a question asked by bitcut itself", .origin = ORIGIN_BITCUT

/* What was found of a claim. */
struct judgement {
    enum claim_outcome verdict;
    double ours, low, high;    /* a number and its spread; NaN: none                 */
    double least, most;        /* the ends of all bootstrap intervals; NaN: none     */
    char ours_text[OURS_MAX]; /* in place of the number, if not empty               */
    char reason[REASON_MAX];  /* one line                                           */
};

/* A row of a study's claims. */
struct claim {
    const char *name, *what; /* what: the claim in one sentence                      */
    const char *paper;       /* whose it is, and where                               */
    enum claim_origin origin;
    const char *printed; /* as it stands there, word for word, or NULL: it is ...
                            Of bitcut's own problem: what was expected.         */
    double number;       /* ... this number                                      */
    bool described;      /* what is printed is told in other words, or computed
                            from what stands there: a table, formula or curve    */
    enum claim_criterion criterion; /* of a sentence                                 */
    double tolerance;    /* of a number: a factor that widens the spread; 0: as 1 */
    double doubt;        /* a factor within which the ends of intervals are unsure,
                            so that a case is undecided there; 0: as 1           */
    const char *device;  /* a word of the name of the device that was measured, such
                            as A800; NULL: it is of no device                    */
    const char *unit;    /* unit or chip whose model the rows are of, or NULL    */
    const char *beside;  /* what differs between the paper's runs and the rows,
                            or NULL                                              */
    const char *assumes; /* what the paper does not say and the rows need, or NULL */
    const char *needs;   /* kernels or details, not published or not here, without
                            which the verdict is cannot, whatever stands beside
                            it; NULL: none                                       */
    void (*judge)(struct judgement *j, const struct claim *claim, json_t *rows);
    const void *about; /* of judge's own; both NULL: nothing stands beside it */

    /* Other rows of the same inputs, for which the sentence is false.  If the judge finds
       it true for these as well, the inputs do not discriminate: the verdict is cannot. */
    const void *other;
    const char *otherwise; /* what these rows are; of a sentence without `other`, why it
                              needs none */
};

/* Judge a claim by the rows of its study.  "study", "name", "claim", "paper", "printed"
   and "ours" (a number or a text, or null), "low" and "high" (or null), "verdict",
   "reason", "device", "unit" and "evidence" (of the unit), or null, "origin", "criterion"
   (or null), and "interval" (the least and the most of the bootstrap, or null).
   `missing` is how many of `points` points have no rows: any makes the verdict
   "cannot". */
json_t *claim_verdict(const char *study, const struct claim *claim, json_t *rows,
                      size_t missing, size_t points);

#endif
