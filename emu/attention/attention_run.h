/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention on its units, to the bit. */
#ifndef BITCUT_EMU_ATTENTION_ATTENTION_RUN_H
#define BITCUT_EMU_ATTENTION_ATTENTION_RUN_H

#include "emu/attention/attention_operands.h"

/* Some queries of a head, one after the other. */
struct attention_place {
    size_t head, query, count;
};

/* How an attention is emulated.  No option changes a value. */
struct attention_options {
    int threads;                     /* 0: all processors                               */
    const struct simd_level *simd;   /* NULL: as in struct gemm_options                 */
    const struct progress *progress; /* or NULL                                         */
    const struct attention_place *only; /* compute these queries alone, or NULL         */
    size_t only_count;
    const struct attention_operands *operands; /* of the plan, or NULL: they are made   */
};

/* Run the plan of an attention whose matrices were checked. */
enum bitcut_status attention_run(const struct attention_plan *plan,
                                 const struct attention_options *options,
                                 struct fault *f);

/* The events of one query, for an observer.  Arrays are valid during the call. */

/* A tile of keys from `key` on: P was computed for keys [from, to) of the tile, which the
   query sees; its other elements are 0. */
struct attention_tile_event {
    size_t key, count, from, to;
    bool first;            /* whether it is the first tile of its split               */
    const float *s;        /* [count]: scores as the unit gives them                  */
    float q_factor;        /* their factors for INT8: 1 and NULL if not quantized     */
    const float *k_factor; /* [count]                                                 */
    const float *exponent; /* [count]: the arguments of the exponential               */
    float shift;           /* what was subtracted from the scaled scores              */
    const float *p;        /* [count]: their exponentials                             */
    float rescale;         /* the factor of O and of the sum so far; 1 for the first  */
};

/* A product of `count` keys from `key` on with V: d = c + P V, or d = P V, where c is
   NULL.  `p_divided`: P was divided by `sum` before. */
struct attention_product_event {
    size_t key, count;
    const float *p, *c, *d; /* [count], [value_dim], [value_dim] */
    float sum;
};

/* The end of a split: its sum of P, O before and after the division, and its log-sum-exp.
   `any`: whether it has tiles. */
struct attention_split_event {
    bool any;
    float sum, shift, lse;
    const float *undivided, *o; /* [value_dim] */
};

struct attention_watch {
    void *context;
    void (*tile)(void *context, const struct attention_tile_event *x);
    void (*product)(void *context, const struct attention_product_event *x);
    void (*split)(void *context, const struct attention_split_event *x);
};

/* Compute one query by the code that computes all of them, and report its events: tiles
   in their order, each followed by its products; the end of each split.  `merged` has
   room for value_dim values of O over all splits, before the factors of V and the
   rounding to the format of O, and `o` for their encodings; lse is not written. */
enum bitcut_status
attention_watch_query(float *merged, uint64_t *o, const struct attention_plan *plan,
                      const struct attention_operands *x, size_t head, size_t query,
                      const struct attention_watch *watch, struct fault *f);

/* bitcut_attention() and bitcut_attention_verify() with options. */
enum bitcut_status attention_call(const struct bitcut_attention *attention,
                                  const struct attention_options *options, char *why);
enum bitcut_status attention_verify_call(struct bitcut_difference *to,
                                         const struct bitcut_attention *attention,
                                         const struct attention_options *options,
                                         char *why);

#endif
