/* SPDX-License-Identifier: BSD-3-Clause */
/* The softmax of a block of queries, one tile of keys after the other, in FP32 as a
   kernel computes it.  Callers are in the mode of hostfp_enter(). */
#ifndef BITCUT_EMU_ATTENTION_SOFTMAX_H
#define BITCUT_EMU_ATTENTION_SOFTMAX_H

#include "emu/attention/attention_plan.h"

enum { SOFTMAX_LANES_MAX = 32 };

/* The state of a query between tiles. */
struct softmax_row {
    float max;     /* of the scores, as the scaling of the row defines it */
    float rescale; /* by which O is multiplied before this tile           */
    float shift;   /* what is subtracted from the scaled scores of this tile */
    float sum[SOFTMAX_LANES_MAX]; /* of P, by each thread */
};

/* The scores of a query for a tile: `count` of them, of keys [from, to) that the query
   sees, counted from the first of the tile.  A score is s times the factors of INT8, if
   factor is not NULL: those of the keys. */
struct softmax_scores {
    const float *s;
    size_t count, from, to;
    float q_factor;
    const float *k_factor; /* [count]; NULL: not quantized */
    float *exponent; /* [count]: where the exponents of keys that the query sees go; NULL:
                        nowhere */
};

void softmax_start(struct softmax_row *row);

/* Compute P of a tile, and update the row.  `step`: the tiles of the split that were
   taken before. */
void softmax_tile(float *p, struct softmax_row *row, const struct attention_plan *plan,
                  const struct softmax_scores *x, size_t step);

/* Multiply O of a query, `count` values, by the rescale of the tile. */
void softmax_rescale(float *o, size_t count, const struct softmax_row *row,
                     const struct attention_plan *plan);

/* O = O x + y, or the rescale of O and then O + y, as the row fuses. */
void softmax_add(float *o, const float *y, size_t count, const struct softmax_row *row,
                 const struct attention_plan *plan, bool rescales);

/* The sum of P over all keys. */
float softmax_sum(const struct softmax_row *row, const struct attention_plan *plan);

/* Divide `count` values by the sum as the row says. */
void softmax_divide(float *o, size_t count, float sum, const struct attention_plan *plan);

/* The logarithm of the sum of exp(scaled scores); `none`: for a sum of 0 or NaN. */
float softmax_lse(const struct softmax_row *row, float sum, float none,
                  const struct attention_plan *plan);

#endif
