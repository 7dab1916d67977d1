/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/attention_report_answers.h"

#include "emu/attention/attention_plan.h"
#include "lib/base/text.h"

#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------- */

/* The row and its variations, if they were given, can compute this attention. */
static int check_row(struct attention_answers *a)
{
    struct attention_plan plan;
    struct fault f;
    if (!a->s.a.row) return EXIT_GOOD;
    if (attention_plan_make(&plan, &a->taken, &f) != BITCUT_OK)
        return fail_about("--row", &f);
    return EXIT_GOOD;
}

int attention_answers_read(struct attention_answers *a)
{
    struct fault f;
    a->s.o = a->o;
    a->given = a->o->path[O];
    if (a->o->vary && !a->o->row) return complain("--vary", "requires --row");
    int status = attention_check_mask(a->o);
    if (status == EXIT_GOOD) status = attention_setup_make(&a->s, a->context);
    if (status != EXIT_GOOD) return status;
    if (attention_take(&a->taken, &a->s.a, &f) != BITCUT_OK ||
        attention_check_matrices(&a->taken, &f) != BITCUT_OK)
        return fail_about("attention", &f);
    if (!a->taken.heads || !a->taken.queries || !a->taken.value_dim || !a->taken.keys)
        return complain("-q, -k, -v", "must not be empty");
    return check_row(a);
}

void attention_answers_clear(struct attention_answers *a)
{
    attention_excerpt_clear(&a->x);
    attention_setup_free(&a->s);
    free(a->own.o);
    free(a->model.o);
    free(a->bound);
    for (size_t i = 0; i < a->worst_count; i++) attention_output_clear(&a->worst[i]);
}

/* --- what computed O -------------------------------------------------------------- */

enum bitcut_status attention_ask_explanation(struct attention_answers *a, struct fault *f)
{
    const struct context *const x = a->context;
    const struct explain_options how = { .effort = 1,
                                         .seconds = a->seconds,
                                         .seed = x->seed,
                                         .threads = x->threads,
                                         .progress = &x->progress };
    struct bitcut_attention any = a->taken;
    if (a->has_explanation) return BITCUT_OK;
    any.row = NULL;
    any.vary = NULL;
    enum bitcut_status status = attention_explain_run(&a->explanation, &any, &how, f);
    if (status == BITCUT_OK && a->explanation.interrupted)
        status = fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    a->has_explanation = status == BITCUT_OK;
    return status;
}

/* The row by whose limits a kernel for this format is judged if nothing else is known. */
static const struct bitcut_attention_row *standard_row(const struct attention_answers *a)
{
    static const struct {
        int bits; /* of the format of Q, at most */
        const char *row;
    } standard[] = { { 15, "flash-attention-3-fp8" },
                     { 16, "flash-attention-2" },
                     { 64, "plain" } };
    const int bits = matrix_format(&a->taken.q)->bits;
    int i = 0;
    while (bits > standard[i].bits) i++;
    return bitcut_attention_find(standard[i].row);
}

/* Whether the explanation has a row to which O belongs, perhaps with a fault. */
static bool is_explained(const struct attention_answers *a)
{
    const struct bitcut_attention_explanation *const e = &a->explanation.answer;
    return a->has_explanation && e->row &&
           (e->found || e->fault || !strcmp(e->diagnosis, "places"));
}

enum bitcut_status attention_ask_row(struct attention_answers *a, struct fault *f)
{
    const struct attention_setup_options *const o = a->o;
    struct attention_plan plan;
    struct bitcut_attention own = a->taken;
    if (a->row) return BITCUT_OK;
    if (a->given && !o->row) {
        const enum bitcut_status status = attention_ask_explanation(a, f);
        if (status != BITCUT_OK) return status;
    }
    a->choice = o->row ? ROW_TOLD : is_explained(a) ? ROW_FOUND : ROW_STANDARD;
    a->any_tiles = o->any_tiles || (a->choice == ROW_STANDARD && a->given);
    const char *const vary = a->choice == ROW_TOLD    ? o->vary
                             : a->choice == ROW_FOUND ? a->explanation.answer.vary
                                                      : NULL;
    text_add(a->vary, sizeof a->vary, "%s", vary ? vary : "");
    own.row = a->choice == ROW_TOLD    ? a->taken.row
              : a->choice == ROW_FOUND ? bitcut_attention_find(a->explanation.answer.row)
                                       : standard_row(a);
    own.vary = a->vary;
    const enum bitcut_status status = attention_plan_make(&plan, &own, f);
    if (status == BITCUT_OK) a->row = own.row;
    return status;
}

struct bitcut_attention attention_answers_by_row(const struct attention_answers *a)
{
    struct bitcut_attention own = a->taken;
    own.row = a->row;
    own.vary = a->vary;
    return own;
}
