/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for what computed D, and its confirmation on a sample. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_FIND_H
#define BITCUT_ANALYSIS_IDENTIFY_FIND_H

#include "analysis/identify/explain.h"

/* Outputs on which every hypothesis is tried: of long sums fewer rows. */
enum { SCREEN_COLS = 16, STREAM_SCREEN = 10, STREAM_SAMPLE = 20 };

static inline size_t screen_rows(const struct problem *q)
{
    return problem_k(q) > 1024 ? 2 : 4;
}

/* Rows and columns of part of D. */
struct window {
    size_t row, row_end, col, col_end;
};

/* At most so many of them, drawn from the stream and the next one.  BITCUT_NO_MEMORY. */
enum bitcut_status window_take(struct block *to, const struct problem *q, struct window w,
                               size_t rows, size_t cols, uint64_t seed, uint64_t stream,
                               struct fault *f);

/* Search for what gives all of the screen and of the sample, for so long, or with 0
   seconds only what changes nothing in a recipe; from `base` on only, or all if that is
   NULL.  Sets the best, its equals, how many were tried and
   whether that was all.  BITCUT_NO_MEMORY. */
enum bitcut_status explain_find(struct explanation *e, const struct block *screen,
                                const struct block *sample, const struct hypothesis *base,
                                double seconds, const struct explain_options *o,
                                struct fault *f);

/* Say a hypothesis of one space in another of the same problem, which may know other
   ranges of k, and so other faults.  False: it has none. */
bool hypothesis_carry(struct hypothesis *h, const struct space *to,
                      const struct space *from);

/* Try what o->like was found to be, and what else gave that one. */
enum bitcut_status explain_find_like(struct explanation *e, const struct block *sample,
                                     const struct explain_options *o, struct fault *f);

#endif
