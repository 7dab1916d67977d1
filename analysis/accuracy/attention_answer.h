/* SPDX-License-Identifier: BSD-3-Clause */
/* An attention that was computed or compared: its keys and its sentences. */
#ifndef BITCUT_ANALYSIS_ACCURACY_ATTENTION_ANSWER_H
#define BITCUT_ANALYSIS_ACCURACY_ATTENTION_ANSWER_H

#include "analysis/accuracy/attention_bound.h"
#include "analysis/accuracy/attention_budget.h"

enum { ATTENTION_SEED_TEXT = 24 };

struct attention_answer {
    const char *row, *evidence;
    const char *unit_qk, *unit_pv;
    char line[BITCUT_ATTENTION_MAX]; /* as bitcut_attention_write() writes it           */
    size_t heads, kv_heads, queries, keys, head_dim, value_dim;
    int64_t window_left, window_right; /* -1: no limit */
    double scale;
    const struct bitcut_format *format, *format_o;
    const char *input;     /* the family of Q, K and V; NULL: files                     */
    double seconds;        /* of the emulator; NaN: O is from a file                    */
    bool judged, verified; /* what follows is set                                       */
    bool bounded, budgeted, budgeted_one;
    struct attention_bound_result bound[ATTENTION_BOUNDS];
    struct bitcut_attention_errors errors;
    struct attention_budget budget;
    struct attention_output_budget one; /* attention_output_clear() releases it */
    struct bitcut_difference found;
    double given, expected; /* the first outputs that differ */
};

/* Set what an attention says of itself. */
enum bitcut_status attention_describe(struct attention_answer *to,
                                      const struct bitcut_attention *a, struct fault *f);

extern const struct record_field attention_fields[];
extern const struct record_line attention_lines[];

#endif
