/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for what computed D, and its confirmation on a sample. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_FIND_H
#define BITCUT_ANALYSIS_IDENTIFY_FIND_H

#include "analysis/identify/explain.h"

/* The outputs on which every hypothesis is tried; fewer rows if sums are long, and more
   of them if rows are short, or more columns if there are few rows. */
enum { SCREEN_COLS = 16, STREAM_SCREEN = 10, STREAM_SAMPLE = 20 };

static inline size_t screen_rows(const struct problem *q)
{
    const size_t rows = problem_k(q) > 1024 ? 2 : 4, n = problem_n(q);
    return n < SCREEN_COLS && n ? rows * SCREEN_COLS / n : rows;
}

static inline size_t screen_cols(const struct problem *q)
{
    const size_t rows = screen_rows(q), m = problem_m(q);
    return m < rows && m ? SCREEN_COLS * rows / m : SCREEN_COLS;
}

/* Rows and columns of part of D. */
struct window {
    size_t row, row_end, col, col_end;
};

/* At most that many rows and columns, drawn from the stream and the next one.  Returns
   BITCUT_NO_MEMORY if memory runs out. */
enum bitcut_status window_take(struct block *to, const struct problem *q, struct window w,
                               size_t rows, size_t cols, uint64_t seed, uint64_t stream,
                               struct fault *f);

/* Search, within the effort, for hypotheses that give all of the screen and of the
   sample; without an effort (NULL) only unchanged recipes are tried.  The
   rounding errors of the outputs `traced` suggest orders of k.  The search starts from
   `base` only, or from everything if that is NULL.  Sets the best hypothesis, its equals,
   the number tried, and whether the search was complete.  Returns BITCUT_NO_MEMORY if
   memory runs out. */
enum bitcut_status explain_find(struct explanation *e, const struct block *screen,
                                const struct block *sample, const struct block *traced,
                                const struct hypothesis *base, struct effort *effort,
                                const struct explain_options *o, struct fault *f);

/* Translate a hypothesis from one space to another space of the same problem, which may
   have other ranges of k and therefore other faults, and which receives its suggested
   orders.  Returns false if the other space does not have the hypothesis. */
bool hypothesis_carry(struct hypothesis *h, struct space *to, const struct space *from);

/* Try the explanation of o->like, and the equals of that explanation. */
enum bitcut_status explain_find_like(struct explanation *e, const struct block *sample,
                                     const struct explain_options *o, struct fault *f);

#endif
