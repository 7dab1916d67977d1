/* SPDX-License-Identifier: BSD-3-Clause */
/* Hypotheses of an attention on a sample of queries, and on all of O. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ATTENTION_TRIAL_H
#define BITCUT_ANALYSIS_IDENTIFY_ATTENTION_TRIAL_H

#include "analysis/identify/attention_hypothesis.h"
#include "emu/attention/attention_run.h"

/* How a result agrees with O. */
struct attention_agreement {
    size_t matched, compared; /* outputs with equal bits (all NaN are equal), and all */
    double distance; /* root mean square, over the queries, of ||O - result|| / ||O||;
                        at most 4 for a query */
    double ulps; /* largest distance of finite outputs, in ulps                       */
    size_t wild; /* outputs that differ and are not finite in both results            */
};

/* Sums of an agreement. */
struct attention_agreement_sums {
    size_t matched, compared, queries, wild;
    double squares, ulps;
};

/* Queries of some heads, with the operands that the last hypotheses had. */
enum { ATTENTION_SAMPLE_HEADS = 8, ATTENTION_SAMPLE_MAX = 64, ATTENTION_CACHE = 4 };

struct attention_cached; /* operands, and what they are made of */

struct attention_sample {
    const struct bitcut_attention *a; /* accepted by attention_take() */
    int threads;
    const volatile sig_atomic_t *stop; /* or NULL                               */
    size_t head[ATTENTION_SAMPLE_HEADS], heads;         /* heads of O         */
    struct attention_place place[ATTENTION_SAMPLE_MAX]; /* of these heads, by position */
    size_t places, queries;         /* of all places                             */
    struct attention_cached *cache; /* [ATTENTION_CACHE], the most recent one first */
    void *own;         /* [head][query][value_dim]: the last result          */
    double *reference; /* [query of a place][value_dim]: of attention_sample_refer()    */
};

/* Take up to `queries` queries, spread over the heads and over O by `seed`.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status attention_sample_make(struct attention_sample *s,
                                         const struct bitcut_attention *a, size_t queries,
                                         uint64_t seed, struct fault *f);
void attention_sample_clear(struct attention_sample *s);

/* Add queries of a head of O, unless the first one is there or there is no room. */
enum bitcut_status attention_sample_add(struct attention_sample *s,
                                        struct attention_place place, struct fault *f);

/* Compute a plan of attention_hypothesis_plan() on the sample, and compare.
   BITCUT_UNSUPPORTED: stopped, or the plan cannot be computed. */
enum bitcut_status attention_sample_try(struct attention_agreement *to,
                                        struct attention_sample *s,
                                        const struct attention_plan *plan,
                                        const struct attention_variant *v,
                                        struct fault *f);

/* Keep the last result as the reference; the distances of O and of the last result from
   it. */
void attention_sample_refer(struct attention_sample *s);
double attention_sample_error(const struct attention_sample *s, bool of_o);

/* Compute a plan and compare it with O, one group of heads after the other, until `work`
   products are spent.  `differing`: the first queries of different heads or rows that
   differ, at most *differ_count, which is set. */
enum bitcut_status
attention_compare(struct attention_agreement *to, struct attention_place *differing,
                  size_t *differ_count, const struct bitcut_attention *a,
                  const struct attention_plan *plan, const struct attention_variant *v,
                  double work, int threads, const volatile sig_atomic_t *stop,
                  struct fault *f);

/* Products of a plan for `queries` queries of one head. */
double attention_work(const struct attention_plan *plan, size_t queries);

#endif
