/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of attention kernels: a search tries them as what computed an O, and the power
   of a test is how often it rejects them. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ATTENTION_FAULT_H
#define BITCUT_ANALYSIS_IDENTIFY_ATTENTION_FAULT_H

#include "emu/attention/attention_operands.h"

/* A computation before it is planned, as a fault changes it. */
struct attention_variant {
    struct bitcut_attention a; /* with all items in `vary` */
    struct attention_slips slips;
    size_t extra; /* keys of zeros that follow the last key */
    char items[BITCUT_ATTENTION_MAX];
};

/* A fault.  All members that are functions may be NULL. */
struct attention_fault {
    const char *key;  /* unique                                */
    const char *kind; /* several rows may be of one kind       */
    const char *what; /* a sentence                            */
    /* Change a variant whose fault-free plan is `plan`.  False: the fault does not apply,
       or changes nothing. */
    bool (*change)(struct attention_variant *v, const struct attention_plan *plan,
                   double number);
    double number;
    /* A search does not try it: it changes values as rounding does, or the operands. */
    bool planted_only;
    /* Change copies of K and V of one head before it is computed, and of O after. */
    void (*spoil_operands)(const struct bitcut_attention *a, void *k, void *v);
    void (*spoil_result)(const struct bitcut_attention *a, void *o);
};

/* The first row is no fault; those that are planted only are the last ones; a NULL key
   ends the table. */
extern const struct attention_fault attention_faults[];

/* Plan a fault.  v->a is an attention that attention_take() accepted, with v->items as
   its `vary`; the rest of *v is zero.  False: it cannot be computed, or the fault does
   not apply. */
bool attention_fault_plan(struct attention_plan *plan, struct attention_variant *v,
                          const struct attention_fault *fault);

/* The operands of such a plan, for all of its heads and with room for wider tiles; keys
   that a fault adds are zeros. */
enum bitcut_status attention_fault_operands(struct attention_operands *x,
                                            const struct attention_plan *plan,
                                            const struct attention_variant *v,
                                            int threads);

#endif
