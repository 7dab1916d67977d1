/* SPDX-License-Identifier: BSD-3-Clause */
/* An excerpt of an attention: queries of some heads, beside exact attention.  It has all
   outputs if they take few products; otherwise blocks of queries, spread evenly over up
   to 16 heads, and the block of the first output of O that is infinite or NaN. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ATTENTION_EXCERPT_H
#define BITCUT_ANALYSIS_SAMPLING_ATTENTION_EXCERPT_H

#include "analysis/sampling/attention_sample.h"

struct attention_excerpt {
    struct bitcut_attention whole; /* as it was given                               */
    struct bitcut_attention a;     /* the heads of the excerpt, with all their queries */
    size_t heads, queries;         /* of the excerpt                                */
    size_t outputs, total;         /* outputs of the excerpt, and of the attention  */
    size_t *head, *query;          /* [heads], [queries]: their positions           */
    double *exact, *size; /* [head][query][value_dim]: exact attention, and the mean of
                             |V| by its weights                                     */
    void *rounded;        /* exact attention in the format of O                     */
    const void **pointer; /* the matrices of `a`                                    */
};

/* Products of the excerpts of reports: a few seconds on two processors. */
#define ATTENTION_EXCERPT_PRODUCTS 0x1p31

/* Choose an excerpt of about so many products, and compute it exactly.  The attention was
   accepted by attention_take(); its matrices are row-major and were checked.  With
   `given`, O is read.  BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if stopped.
   attention_excerpt_clear() has to be called after any status. */
enum bitcut_status attention_excerpt_make(struct attention_excerpt *x,
                                          const struct bitcut_attention *a, bool given,
                                          double products, int threads,
                                          const struct progress *progress,
                                          struct fault *f);
void attention_excerpt_clear(struct attention_excerpt *x);

/* The attention of the excerpt's heads by a row, with all that the row leaves to sizes as
   in the whole attention.  `line` holds its variations.  Statuses of
   bitcut_attention(): the row cannot compute it. */
enum bitcut_status attention_excerpt_plan(struct bitcut_attention *to,
                                          char line[BITCUT_ATTENTION_MAX],
                                          const struct attention_excerpt *x,
                                          const struct bitcut_attention_row *row,
                                          const char *vary, struct fault *f);

/* Head h of such an attention alone. */
struct bitcut_attention attention_excerpt_head(const struct bitcut_attention *a,
                                               size_t h);

/* The outputs of the excerpt by such an attention, as [head][query][value_dim]: a new
   array, which the caller frees. */
enum bitcut_status attention_excerpt_run(void **to, const struct attention_excerpt *x,
                                         const struct bitcut_attention *a, int threads,
                                         const struct progress *progress,
                                         struct fault *f);

#endif
