/* Claims: what papers say, each beside what the rows of a study say of it.

   A verdict is computed from rows, and only from them:
     agrees   what was printed is what was computed.  Of a number: within the spread of
              the rows over seeds, sizes and whatever the paper leaves open, widened by
              the claim's tolerance.  MRED and Max_error have heavy tails, so one number
              is never compared with one, and of ten cases and more the spread is that of
              the middle eight tenths.  Of a sentence: it holds in every case that the
              claim is about, a case being a geometric mean over seeds;
     differs  it is not; the reason says by how much, and why;
     cannot   rows are missing, or it takes hardware that nobody ran for bitcut, or what
              the paper does not say; the reason names it.

   Speed and energy are a device's: what is printed of one is judged by rows of that one
   alone.  If there are none the verdict is cannot, and what the rows of others give
   stands beside it. */
#ifndef BITCUT_ANALYSIS_STUDY_CLAIM_H
#define BITCUT_ANALYSIS_STUDY_CLAIM_H

#include "lib/table.h"

#include <jansson.h>
#include <stdbool.h>

enum verdict { VERDICT_AGREES, VERDICT_DIFFERS, VERDICT_CANNOT, VERDICTS };

extern const struct table_row verdicts[]; /* by verdict, ended by {0} */

enum { REASON_MOST = 600, OURS_MOST = 120 };

#define OWN_QUESTION "a question of bitcut's own" /* in place of a paper */

/* What was found of a claim. */
struct judgement {
    enum verdict verdict;
    double ours, low, high;    /* a number and its spread; NaN: none      */
    char ours_text[OURS_MOST]; /* in place of the number, if not empty   */
    char reason[REASON_MOST];  /* one line                                */
};

/* A row of a study's claims. */
struct claim {
    const char *name, *what; /* what: the claim in one sentence                      */
    const char *paper;       /* whose it is, and where                               */
    const char *printed;     /* as it stands there, or NULL: it is ...               */
    double number;           /* ... this number                                      */
    double tolerance;        /* of a number: a factor that widens the spread; 0: as 1 */
    const char *device;      /* a word of the name of the device that was measured, such
                                as A800; NULL: it is of no device                    */
    const char *unit;        /* unit or chip whose model the rows are of, or NULL    */
    const char *beside;      /* what differs between the paper's runs and the rows,
                                or NULL                                              */
    const char *needs;       /* kernels or details, not published or not here, without
                                which the verdict is cannot, whatever stands beside
                                it; NULL: none                                       */
    void (*judge)(struct judgement *j, const struct claim *claim, json_t *rows);
    const void *about; /* of judge's own; both NULL: nothing stands beside it */
};

/* Judge a claim by the rows of its study.  "study", "name", "claim", "paper", "printed"
   and "ours" (a number or a text, or null), "low" and "high" (or null), "verdict",
   "reason", "device", "unit" and "evidence" (of the unit), or null.  `missing` is how
   many of `points` points have no rows: any makes the verdict "cannot". */
json_t *claim_verdict(const char *study, const struct claim *claim, json_t *rows,
                      size_t missing, size_t points);

#endif
