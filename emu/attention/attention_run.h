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

/* bitcut_attention() and bitcut_attention_verify() with options. */
enum bitcut_status attention_call(const struct bitcut_attention *attention,
                                  const struct attention_options *options, char *why);
enum bitcut_status attention_verify_call(struct bitcut_difference *to,
                                         const struct bitcut_attention *attention,
                                         const struct attention_options *options,
                                         char *why);

#endif
