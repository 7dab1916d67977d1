/* SPDX-License-Identifier: BSD-3-Clause */
/* What may have computed the O of an attention: a row of the emulator, values of its
   fields, and a fault of the kernel. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ATTENTION_HYPOTHESIS_H
#define BITCUT_ANALYSIS_IDENTIFY_ATTENTION_HYPOTHESIS_H

#include "analysis/identify/attention_fault.h"

/* Items of bitcut_attention.vary that are tried, one at a time. */
struct attention_axis {
    const char *name, *what;
    const char *const *item; /* ended by NULL */
    bool likely;             /* tried in pairs, too */
};

enum { ATTENTION_AXES = 19 };
extern const struct attention_axis attention_axes[ATTENTION_AXES + 1];

struct attention_hypothesis {
    const struct bitcut_attention_row *row;
    const struct attention_fault *fault;
    unsigned char value[ATTENTION_AXES]; /* 0: as in the row, else the item from 1 on */
};

/* Plan a hypothesis for an attention that attention_take() accepted.  False: it cannot be
   computed, or its fault does not apply.  plan->a.vary is in *v. */
bool attention_hypothesis_plan(struct attention_plan *plan, struct attention_variant *v,
                               const struct attention_hypothesis *h,
                               const struct bitcut_attention *a);

/* Append the changes of a hypothesis to its row as items of `vary`. */
void attention_hypothesis_items(char *text, size_t size,
                                const struct attention_hypothesis *h);

#endif
