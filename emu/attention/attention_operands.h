/* SPDX-License-Identifier: BSD-3-Clause */
/* Q, K and V of an attention as FP32 matrices for the products of its plan. */
#ifndef BITCUT_EMU_ATTENTION_ATTENTION_OPERANDS_H
#define BITCUT_EMU_ATTENTION_ATTENTION_OPERANDS_H

#include "emu/attention/attention_plan.h"

/* All heads, one after the other.  Keys are padded with +0 to whole tiles. */
struct attention_operands {
    uint32_t *q;  /* [head][query][head_dim]                                          */
    uint32_t *kt; /* [kv head][head_dim][padded key]                                  */
    uint32_t *v;  /* [kv head][padded key][value_dim]                                 */
    size_t padded;
    float *q_factor; /* [head][query]: factors of INT8; NULL: not quantized           */
    float *k_factor; /* [kv head][padded key]                                         */
    float *v_factor; /* [kv head][value_dim]; NULL: none                              */
};

/* Make the operands, with keys padded to at least `padded`.  BITCUT_NO_MEMORY leaves *x
   cleared. */
enum bitcut_status attention_operands_make(struct attention_operands *x,
                                           const struct attention_plan *plan,
                                           size_t padded, int threads);
void attention_operands_clear(struct attention_operands *x);

#endif
