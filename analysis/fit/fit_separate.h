/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs on which rows differ that explain the same outputs: what to record next. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_SEPARATE_H
#define BITCUT_ANALYSIS_FIT_FIT_SEPARATE_H

#include "analysis/fit/fit_search.h"

/* Cases that tell rows apart, and how far they do. */
struct separation {
    struct sample *cases;
    size_t count;
    size_t rows; /* the survivors looked at: at most SEPARATE_ROWS_MAX, and of rows that
                    are equal because their blocks take the same k, one                 */
    size_t groups; /* rows of two groups differ on some case; those of one on none */
    size_t left; /* rows in groups of more than one                                     */
    bool differ[FIELD_COUNT]; /* the fields in which rows of such a group differ */
};

enum { SEPARATE_ROWS_MAX = 2048 };

/* Draw random samples of every class for the survivors of the search, and keep at most
   `most` of them that tell apart rows which those before do not.  The seed and not the
   number of threads decides which.  BITCUT_UNSUPPORTED if asked to stop; *s is set only
   on success. */
enum bitcut_status separate_run(struct separation *s, const struct fit *fit,
                                const struct search *found, size_t most, uint64_t seed,
                                int threads, const struct progress *progress,
                                struct fault *f);
void separation_clear(struct separation *s);

/* Write the cases as a set without D of m = n = 1 for the unit of the fit. */
enum bitcut_status separation_write(const char *folder, const struct separation *s,
                                    const struct bitcut_unit *unit, struct fault *f);

#endif
