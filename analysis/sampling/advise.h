/* SPDX-License-Identifier: BSD-3-Clause */
/* Which recipe on which chip multiplies given matrices accurately enough, for the fewest
   products. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ADVISE_H
#define BITCUT_ANALYSIS_SAMPLING_ADVISE_H

#include "analysis/sampling/advise_values.h"
#include "analysis/sampling/norm_sample.h"
#include "emu/gemm.h"

/* The first chip of every architecture, into `place`; returns how many. */
enum { ADVISE_PLACES_MAX = 64 };
size_t advise_places(const char *place[ADVISE_PLACES_MAX]);

/* What is asked, of one product or each of several.  Places are chips or units, as
   unit_find() takes them, all known. */
struct advise_problem {
    const struct matrix *a, *b; /* of at least one output and one product each */
    size_t pairs;
    uint32_t largest[2]; /* finite magnitudes that A and B have elsewhere, or 0: words
                            are to hold these as well                                  */
    const struct norm_sample_metric *metric;
    double want;                        /* in that metric, at most */
    const struct bitcut_recipe *recipe; /* NULL: any               */
    const char *const *place;
    size_t places; /* ADVISE_PLACES_MAX at most */
    uint64_t seed;
    const char *input_a, *input_b; /* where the last pair is from, to be said; input_b is
                                      NULL: B is A transposed                           */
    bool values; /* look at the values, at what splits keep of them, and at scales, too */
};

/* A GEMM that is tried. */
struct advise_trial {
    struct bitcut_advice advice; /* first: the answer.  `checked` is NaN unless the second
                                    sample was looked at; what is infinite has words that
                                    overflow; `reaches`: it was checked, and `high` is at
                                    most what is wanted                                */
    const char *place;
    struct bitcut_gemm gemm; /* recipe, unit and what is varied */
    struct gemm_plan plan;
    double tflops;   /* of A B there, by peak rates; 0: not known           */
    double products; /* of two numbers, in all terms of all products        */
};

extern const struct record_field advise_trial_fields[];

/* One way to scale words of f16: what it errs by, and what words keep of A and of B. */
struct advise_scale {
    const struct bitcut_recipe *recipe;
    const struct bitcut_unit *unit;
    int scale;
    bool equilibrate;
    double error;
    struct retention kept[2];
};

extern const struct record_field advise_scale_fields[];

enum { ADVISE_WAYS = 3, ADVISE_SCALES_MAX = 2 * ADVISE_WAYS };

/* The answer.  It points to what the problem points to. */
struct advise {
    struct advise_problem problem;
    size_t m, n, k; /* of the last product */
    size_t outputs, checks; /* of all samples that GEMMs were tried and checked on */
    bool all;               /* the first are all outputs                           */
    struct advise_trial *trial; /* in the order in which they were tried */
    size_t trials;
    const struct advise_trial *best[ADVISE_PLACES_MAX]; /* what is advised at each place
                                                            where a recipe runs           */
    size_t bests;
    const struct advise_trial *choice; /* the best of these; NULL: none reaches it */
    struct advise_values values[2];    /* of A and B                               */
    struct advise_retained_list kept;
    struct advise_scale scale[ADVISE_SCALES_MAX]; /* of ootomo and then of legemm: 2^10,
                                                      2^11, and equilibrated             */
    size_t scales;
};

/* Its fields (lib/base/record.h). */
extern const struct record_field advise_fields[];

/* Try recipes at every place, those of fewer products first, until one reaches what is
   wanted in each product; of those with as many products that errs least, and one with
   equilibrated lines only if no other reaches it.  A GEMM is one of a recipe's row; on
   words of f16 also with the scales 2^10 and 2^11, and with lines equilibrated.

   Each is run on the first sample, to the bit of the whole.  What seems to reach it is
   run on the second, and does if that says so as well.  The best of a place where nothing
   reaches it is what errs least.  The choice is the fastest by peak rates where any is
   known, else that of fewest products; of equal ones that which errs least.

   With the same seed the same for any number of threads.  BITCUT_NO_MEMORY, or
   BITCUT_UNSUPPORTED if asked to stop, or as bitcut_gemm(); nothing to clear then. */
enum bitcut_status advise_find(struct advise *to, const struct advise_problem *q,
                               int threads, const struct progress *progress,
                               struct fault *f);
void advise_clear(struct advise *x);

/* The choice, or else what errs least; NULL: no recipe runs anywhere. */
const struct advise_trial *advise_best(const struct advise *x);

#endif
