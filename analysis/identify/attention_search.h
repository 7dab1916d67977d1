/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for what computed the O of an attention. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ATTENTION_SEARCH_H
#define BITCUT_ANALYSIS_IDENTIFY_ATTENTION_SEARCH_H

#include "analysis/identify/attention_trial.h"
#include "analysis/identify/explain.h"

struct attention_explanation {
    struct bitcut_attention_explanation answer; /* must be first: the part for callers */
    struct bitcut_attention a;                  /* as it was given                     */
    struct attention_plan plan;                 /* of the hypothesis                   */
    const struct attention_fault *fault;
    bool varied; /* whether the hypothesis changes the fields of its row              */
    bool interrupted;  /* the result is as of then                                */
    double error, own; /* distances of O and of the nearest hypothesis without a
                          fault from the attention in FP32; of a hypothesis that was
                          found: 0                                                */
    double without;    /* distance of O from the nearest hypothesis without a fault */
    struct attention_place first; /* diagnosis "places": the first query that differs */
    double seconds;
};

/* bitcut_attention_explain() with options. */
enum bitcut_status attention_explain_run(struct attention_explanation *to,
                                         const struct bitcut_attention *attention,
                                         const struct explain_options *o,
                                         struct fault *f);

/* The search, for an attention that was checked and has outputs and keys.  Callers are in
   the mode of hostfp_enter(). */
enum bitcut_status attention_search(struct attention_explanation *to,
                                    const struct bitcut_attention *attention,
                                    const struct explain_options *o, struct fault *f);

extern const struct record_field attention_explain_fields[];
extern const struct record_line attention_explain_lines[];

#endif
