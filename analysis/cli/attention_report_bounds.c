/* SPDX-License-Identifier: BSD-3-Clause */
/* Rigorous bounds, the error budget, and the worst outputs with their parts. */
#include "analysis/cli/attention_report_answers.h"
#include "lib/base/size.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>

/* --- bounds ----------------------------------------------------------------------- */

/* The limits of one bound, compared with the result. */
static enum bitcut_status find_bound(struct attention_answers *a, int i, struct fault *f)
{
    const struct context *const x = a->context;
    struct attention_bound_result *const to = &a->answer.bound[i];
    *to = (struct attention_bound_result){ .row = &attention_bounds[i] };
    enum bitcut_status status = attention_bound_limits_of(
        a->bound, to->row, &a->by, a->x.query, a->x.queries, x->threads, &x->progress, f);
    if (status == BITCUT_UNSUPPORTED && !progress_stopped(&x->progress)) {
        text_add(to->why, sizeof to->why, "%s", f->text);
        return BITCUT_OK;
    }
    to->applies = status == BITCUT_OK;
    if (!to->applies) return status;
    return attention_bound_compare(to, matrix_format(&a->taken.o),
                                   attention_answers_result(a)->o, a->x.exact, a->bound,
                                   a->x.outputs, f);
}

/* The last bound is by weights, and its limits stay. */
enum bitcut_status attention_ask_bounds(struct attention_answers *a, struct fault *f)
{
    if (a->answer.bounded) return BITCUT_OK;
    enum bitcut_status status = attention_ask_errors(a, f);
    if (status != BITCUT_OK) return status;
    a->bound = memory_allocate(a->x.outputs, sizeof *a->bound);
    if (!a->bound)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the bounds");
    for (int i = 0; i < ATTENTION_BOUNDS && status == BITCUT_OK; i++)
        status = find_bound(a, i, f);
    a->answer.bounded = status == BITCUT_OK;
    if (a->answer.bounded && a->answer.bound[ATTENTION_WEIGHTED].applies) return status;
    free(a->bound);
    a->bound = NULL;
    return status;
}

/* --- where errors come from ------------------------------------------------------- */

enum bitcut_status attention_ask_budget(struct attention_answers *a, struct fault *f)
{
    const struct context *const x = a->context;
    struct attention_budget *const to = &a->answer.budget;
    if (a->answer.budgeted) return BITCUT_OK;
    enum bitcut_status status = attention_ask_errors(a, f);
    if (status == BITCUT_OK)
        status = attention_budget_find(to, &a->by, 0, x->threads, &x->progress, f);
    a->answer.budgeted = status == BITCUT_OK;
    if (status != BITCUT_OK) return status;
    to->total = a->x.total;
    to->head = a->x.head[to->head];
    return BITCUT_OK;
}

/* The outputs with the largest errors, those without a number first. */
static void find_worst(struct attention_answers *a)
{
    double error[ATTENTION_WORST];
    for (size_t i = 0; i < a->x.outputs; i++) {
        const double own = attention_answers_error(a, attention_answers_result(a), i),
                     e = isnan(own) ? INFINITY : own;
        size_t at = a->worst_count;
        while (at && e > error[at - 1]) at--;
        if (at == ATTENTION_WORST) continue;
        if (a->worst_count < ATTENTION_WORST) a->worst_count++;
        for (size_t j = a->worst_count - 1; j > at; j--)
            error[j] = error[j - 1], a->worst_at[j] = a->worst_at[j - 1];
        error[at] = e;
        a->worst_at[at] = i;
    }
}

enum bitcut_status attention_ask_worst(struct attention_answers *a, struct fault *f)
{
    const size_t dim = a->taken.value_dim;
    if (a->has_worst) return BITCUT_OK;
    enum bitcut_status status = attention_ask_errors(a, f);
    if (status == BITCUT_OK) status = attention_ask_bounds(a, f);
    if (status != BITCUT_OK) return status;
    const size_t per = a->x.queries * dim;
    find_worst(a);
    for (size_t i = 0; i < a->worst_count && status == BITCUT_OK; i++) {
        const size_t at = a->worst_at[i];
        const struct bitcut_attention one = attention_excerpt_head(&a->by, at / per);
        status = attention_budget_at(
            &a->worst[i], &one,
            (const size_t[]){ 0, a->x.query[at % per / dim], at % dim }, f);
        if (status == BITCUT_UNSUPPORTED) { /* a unit of integers for P V */
            a->worst[i].event = "the row has no error budget";
            status = BITCUT_OK;
        }
    }
    a->has_worst = status == BITCUT_OK;
    return status;
}
