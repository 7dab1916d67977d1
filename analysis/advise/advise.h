/* SPDX-License-Identifier: BSD-3-Clause */
/* Which recipe on which chip multiplies given matrices accurately enough, for the fewest
   products. */
#ifndef BITCUT_ANALYSIS_ADVISE_ADVISE_H
#define BITCUT_ANALYSIS_ADVISE_ADVISE_H

#include "analysis/advise/weighed.h"
#include "emu/gemm.h"

/* The first chip of every architecture, into `place`; returns how many. */
enum { ADVISE_PLACES_MOST = 64 };
size_t advise_places(const char *place[ADVISE_PLACES_MOST]);

/* What is asked, of a product or of each of several.  Places are chips or units, as
   unit_find() takes them, all known. */
struct advise_question {
    const struct matrix *a, *b; /* of at least one output and one product each */
    const struct weighed_metric *metric;
    double want;                        /* in that metric, at most */
    const struct bitcut_recipe *recipe; /* NULL: any               */
    const char *const *place;
    size_t places;
    uint64_t seed;
};

/* Outputs that recipes are tried on, and others on which what is then said is checked, of
   one product. */
struct advise_samples {
    const struct weighed_metric *metric;
    uint32_t largest[2]; /* finite magnitudes of A and of B, or of more that are like
                            them: a caller may raise them                       */
    double outputs;               /* that there are in all                     */
    struct weighed first, second; /* the second has four times as many outputs */
    uint32_t *d;                  /* room for those of either                  */
};

/* BITCUT_NO_MEMORY, or BITCUT_CANNOT if asked to stop: nothing to clear. */
enum bitcut_status advise_samples_draw(struct advise_samples *to,
                                       const struct advise_question *q, int threads,
                                       const struct progress *progress, struct fault *f);
void advise_samples_clear(struct advise_samples *s);

/* A GEMM that is tried. */
struct advise_trial {
    size_t place;
    struct bitcut_gemm gemm; /* recipe, unit and what is varied */
    struct gemm_plan plan;
    double cost;                /* products of A B, as of f16 words there          */
    double tflops;              /* of A B there, by peak rates; 0: not known       */
    struct weighed_error error; /* of the first sample; `high` is the error of the
                                   second if that is larger; infinite if a word of
                                   `largest` overflows                             */
    double checked; /* that of the second; NaN: not looked at                     */
    double bound;   /* of that one, what it is at most for certain; NaN: nothing is */
    bool reaches;   /* it was checked, and error.high is at most what is wanted   */
};

/* Run t->gemm on the first samples of so many products, one at least; of several errors
   the largest counts.  BITCUT_NO_MEMORY; BITCUT_CANNOT if asked to stop, or as
   bitcut_gemm(). */
enum bitcut_status advise_try(struct advise_trial *t, const struct advise_samples *s,
                              size_t count, int threads, const struct progress *progress,
                              struct fault *f);

/* And on the second, which sets `checked` and `bound`. */
enum bitcut_status advise_check(struct advise_trial *t, const struct advise_samples *s,
                                size_t count, int threads,
                                const struct progress *progress, struct fault *f);

enum { ADVISE_NONE = -1 };

struct advise {
    struct advise_trial *trial; /* in the order in which they were tried */
    size_t trials;
    ptrdiff_t *best;  /* of each place the trial that is advised; ADVISE_NONE: no recipe
                         runs there                                                     */
    ptrdiff_t choice; /* the best of all places; ADVISE_NONE: none reaches it           */
};

/* Try recipes at every place, those of fewer products first, until one reaches what is
   wanted in each of `count` products; of those with as many products that errs least, and one with equilibrated lines
   only if no other reaches it.  A GEMM is one of a recipe's row; on words of f16 also
   with the scales 2^10 and 2^11, and with lines equilibrated.

   Each is run on the first sample, to the bit of the whole.  What seems to reach it is
   run on the second, and does if that says so as well.  The best of a place where nothing
   reaches it is what errs least.  The choice is the fastest by peak rates where any is
   known, else that of fewest products; of equal ones that which errs least.

   With the same samples the same for any number of threads.  BITCUT_NO_MEMORY, or
   BITCUT_CANNOT as advise_try(); nothing to clear then. */
enum bitcut_status advise_find(struct advise *to, const struct advise_question *q,
                               const struct advise_samples *s, size_t count,
                               int threads, const struct progress *progress,
                               struct fault *f);
void advise_clear(struct advise *x);

#endif
