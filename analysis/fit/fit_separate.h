/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs on which rows differ that explain the same outputs: candidates for the next
   recording. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_SEPARATE_H
#define BITCUT_ANALYSIS_FIT_FIT_SEPARATE_H

#include "analysis/fit/fit_search.h"

/* Cases that distinguish rows, and which rows they distinguish. */
struct separation {
    struct sample *cases;
    size_t count;
    size_t rows; /* the survivors that were compared: at most SEPARATE_ROWS_MAX; rows that
                    are equal because their blocks take the same k count once */
    size_t groups; /* rows of two groups differ on some case; rows of one group on none */
    size_t left;   /* rows in groups of more than one row */
    bool differ[FIELD_COUNT]; /* the fields in which the rows of such a group differ */
};

enum { SEPARATE_ROWS_MAX = 2048 };

/* Draw random samples of every class for the survivors of the search, and retain at most
   `most` samples that distinguish rows which the earlier samples do not.  The selection
   depends on the seed, not on the number of threads.  Returns BITCUT_UNSUPPORTED if asked
   to stop; *s is set only on success. */
enum bitcut_status separate_run(struct separation *s, const struct fit *fit,
                                const struct search *found, size_t most, uint64_t seed,
                                int threads, const struct progress *progress,
                                struct fault *f);
void separation_clear(struct separation *s);

/* Write the cases as a set without D, with m = n = 1, for the unit of the fit. */
enum bitcut_status separation_write(const char *folder, const struct separation *s,
                                    const struct bitcut_unit *unit, struct fault *f);

#endif
