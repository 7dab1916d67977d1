/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of an attention's O (bitcut_attention_judge() in lib/bitcut.h). */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_JUDGE_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_JUDGE_H

#include "lib/base/progress.h"
#include "lib/base/record.h"
#include "lib/base/status.h"

#include <math.h>

extern const struct record_field attention_error_fields[];

/* Whether two outputs are equal, or both are NaN. */
static inline bool attention_same(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y;
}

/* Outputs [head][query][value_dim] without gaps, and exact attention: rounded to their
   format, and in binary64. */
struct attention_compared {
    const struct bitcut_format *format;
    const void *o, *rounded;
    const double *exact;
    size_t heads, queries, value_dim;
};

/* Copy the outputs of O of these queries, or of all `count`, without gaps. */
void attention_outputs(void *to, const struct bitcut_attention *a, const size_t *query,
                       size_t count);

/* The errors of such outputs; positions are those in the arrays. */
void attention_errors(struct bitcut_attention_errors *to,
                      const struct attention_compared *x);

/* bitcut_attention_judge() with a progress. */
enum bitcut_status attention_judge(struct bitcut_attention_errors *to,
                                   const struct bitcut_attention *attention, int threads,
                                   const struct progress *progress, struct fault *f);

#endif
