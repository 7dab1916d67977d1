/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits for a test of O, and the verdict of the test. */
#include "analysis/cli/attention_report_answers.h"

static struct bitcut_attention_options options_of(const struct attention_answers *a)
{
    return (struct bitcut_attention_options){ .size =
                                                  sizeof(struct bitcut_attention_options),
                                              .seed = a->context->seed,
                                              .any_tiles = a->any_tiles };
}

enum bitcut_status attention_ask_verdict(struct attention_answers *a, struct fault *f)
{
    const struct context *const x = a->context;
    const struct bitcut_attention_options how = options_of(a);
    struct attention_tolerance_answer *const to = &a->test;
    if (a->has_limits) return BITCUT_OK;
    enum bitcut_status status = attention_ask_errors(a, f);
    if (status != BITCUT_OK) return status;
    const struct bitcut_attention own = attention_answers_by_row(a);
    *to = (struct attention_tolerance_answer){ .row = a->row->name,
                                               .format_o = matrix_format(&own.o),
                                               .limits = { .size = sizeof to->limits } };
    status =
        attention_tolerance(&to->limits, &own, NULL, &how, x->threads, &x->progress, f);
    a->has_limits = status == BITCUT_OK;
    to->judged = a->has_limits && a->given;
    if (!to->judged) return status;
    struct bitcut_matrix o;
    const struct attention_pair pair = attention_result_pair(a, &o, a->own.o);
    attention_verdict(&to->verdict, &to->limits, &pair);
    to->verdict.head = a->x.head[to->verdict.head];
    to->verdict.row = a->x.query[to->verdict.row];
    return BITCUT_OK;
}

bool attention_answers_accepts(const struct attention_answers *a)
{
    const struct bitcut_attention_tolerances *const t = &a->test.limits;
    const struct bitcut_attention_verdict *const v = &a->test.verdict;
    return v->component <= t->limit && v->norm <= t->norm_limit &&
           a->wrong <= (a->any_tiles ? attention_wrong_limit(t, a->x.outputs) : 0);
}

enum bitcut_status attention_ask_power(struct attention_answers *a, struct fault *f)
{
    enum { RUNS = 4 };
    const struct context *const x = a->context;
    if (a->has_power) return BITCUT_OK;
    enum bitcut_status status = attention_ask_verdict(a, f);
    if (status != BITCUT_OK) return status;
    const struct bitcut_attention_options how = options_of(a);
    const struct bitcut_attention own = attention_answers_by_row(a);
    status = attention_power(a->test.power, &a->test.powers, &a->test.limits, &own, NULL,
                             &how, RUNS, x->threads, &x->progress, f);
    a->has_power = status == BITCUT_OK;
    return status;
}
