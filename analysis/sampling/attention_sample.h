/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of an attention on a part of its data with the keys in a random order: what errors
   a correct O has, compared with exact attention or with another attention. */
#ifndef BITCUT_ANALYSIS_SAMPLING_ATTENTION_SAMPLE_H
#define BITCUT_ANALYSIS_SAMPLING_ATTENTION_SAMPLE_H

#include "lib/base/progress.h"
#include "lib/base/status.h"

/* The matrices of one head in a run: copies, each one matrix. */
struct attention_copy {
    struct bitcut_attention a;
    void *q, *k, *v, *o;
};

/* A run: consecutive queries of one head and all keys up to the last that they see, in a
   random order.  `other` has the same queries and the same order of its keys. */
struct attention_run {
    struct attention_copy of, other;
    bool has_other;
    double *exact, *size; /* [query][value_dim]: exact attention, and the mean of |V| */
    size_t outputs;
    char vary[BITCUT_ATTENTION_MAX]; /* of `of` */
};

struct attention_test_sample {
    const struct bitcut_attention *a, *other; /* other: NULL: exact attention */
    uint64_t seed;
    bool any_tiles; /* whether runs also vary tiles, their order and splits */
    int threads;
};

/* Outputs of a run. */
size_t attention_run_outputs(const struct bitcut_attention *a);

/* Make run i; run 0 has the order of the data.  `of.o` has the row's O.  Statuses as for
   bitcut_attention(); attention_run_clear() after any. */
enum bitcut_status attention_run_make(struct attention_run *r,
                                      const struct attention_test_sample *s, size_t i,
                                      struct fault *f);
void attention_run_clear(struct attention_run *r);

/* The errors of all outputs relative to u times the mean of |V|: the largest; the norm of
   the errors, relative to that of u times the mean of |V|; outputs above `limit`; and
   `wrong`, those that are infinite or NaN and not the reference's Inf or NaN, or the
   reverse. */
struct attention_measure {
    double component, norm;
    size_t above, wrong, worst; /* worst: the output with the largest error */
    size_t numbers;             /* outputs that are numbers in both */
};

/* Outputs and their references, [count], with the mean of |V| in `size`. */
struct attention_pair {
    const struct bitcut_matrix *o, *other; /* other: NULL: `exact` */
    const double *exact, *size;
    size_t heads, queries, value_dim;
};

/* O replaced by zeros with `zeros`. */
struct attention_measure attention_measure(const struct attention_pair *x, double limit,
                                           bool zeros);

struct attention_pair attention_run_pair(const struct attention_run *r);

/* The mean of |V| by exact weights, and exact attention unless `exact` is NULL, [head]
   [query][value_dim]. */
enum bitcut_status attention_sizes(double *size, double *exact,
                                   const struct bitcut_attention *a, int threads,
                                   const struct progress *progress, struct fault *f);

#endif
