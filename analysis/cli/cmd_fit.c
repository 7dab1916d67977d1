/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut fit: find the rows that explain recorded sets. */
#include "analysis/cli/command.h"
#include "analysis/evidence/set_find.h"
#include "analysis/fit/fit_read.h"
#include "analysis/fit/fitted.h"
#include "lib/base/clock.h"
#include "lib/io/json_record.h"
#include "lib/io/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fit_options {
    size_t outputs, cases;
    const char *next;
    bool together;
};

static const struct fit_options defaults = { .outputs = 1000, .cases = 64 };

static const struct option_row options[] = {
    { "outputs", "number of outputs of each set, evenly spaced (default 1000; 0: all)",
      OPTION(fit, outputs, COUNT, "N") },
    { "together", "treat all sets as recordings of one instruction",
      OPTION(fit, together, FLAG, NULL) },
    { "next", "write inputs that distinguish the remaining rows to this folder",
      OPTION(fit, next, TEXT, "DIR") },
    { "cases", "maximum number of inputs (default 64)", OPTION(fit, cases, COUNT, "N") },
    { 0 }
};

static enum bitcut_status separate(struct fitted *a, const struct context *x,
                                   struct fault *f)
{
    const struct fit_options *const o = x->own;
    if (!o->next || a->fit.found.report.survivors == 0) return BITCUT_OK;
    const enum bitcut_status status =
        separate_run(&a->separation, &a->fit.fit, &a->fit.found, o->cases, x->seed,
                     x->threads, &x->progress, f);
    if (status != BITCUT_OK || a->separation.count == 0) return status;
    return separation_write(o->next, &a->separation, a->unit, f);
}

static void emit_fitted(struct emitter *e, const struct fitted *a, bool alone)
{
    json_t *const row = json_object();
    record_json(row,
                e->json ? fit_fields : alone ? fit_alone_fields : fit_table_fields, a);
    emit_row(e, row);
}

/* The sets that are recordings of one instruction, and the exit status. */
static int fit_sets(struct context *x, const struct set *sets, int count,
                    const char *name, bool alone)
{
    const struct fit_options *const o = x->own;
    struct fault f;
    struct fit fit;
    struct fitted a = {
        .set = name, .unit = &sets->unit, .known = sets->known, .next = o->next
    };
    const double start = seconds_now();
    enum bitcut_status status = fit_read(&fit, sets, count, o->outputs, &f);
    if (status != BITCUT_OK) return fail(name, &f);
    status = answer_find(&a.fit, &fit, a.unit, x->threads, &x->progress, &f);
    a.seconds = seconds_now() - start;
    if (status == BITCUT_OK) status = separate(&a, x, &f);
    if (status == BITCUT_OK) {
        fitted_look(&a);
        emit_fitted(&x->emitter, &a, alone);
    }
    const bool found = a.fit.found.report.survivors > 0;
    separation_clear(&a.separation);
    answer_clear(&a.fit);
    if (status != BITCUT_OK) return fail(name, &f);
    return found ? EXIT_GOOD : EXIT_FOUND;
}

/* Each set separately. */
static int fit_each(struct context *x, const struct found_list *list)
{
    static const struct fault stopped = { .status = BITCUT_UNSUPPORTED,
                                          .text = "stopped" };
    int worst = EXIT_GOOD;
    for (size_t i = 0; i < list->count; i++) {
        struct set s;
        struct fault f;
        const char *name = list->at[i].folder;
        if (progress_stopped(&x->progress)) return fail("fit", &stopped);
        const bool good = found_read(&s, &list->at[i], SET_RECORDED, &f) == BITCUT_OK;
        const int status =
            good ? fit_sets(x, &s, 1, name, list->count == 1) : fail(name, &f);
        if (good) set_clear(&s);
        if (status > worst) worst = status;
    }
    return worst;
}

/* The names of all sets with " + " between them, which the caller frees. */
static char *join_names(const struct found_list *list)
{
    size_t length = 1;
    for (size_t i = 0; i < list->count; i++) length += strlen(list->at[i].folder) + 3;
    char *names = calloc(length, 1), *to = names;
    for (size_t i = 0; names && i < list->count; i++)
        to += sprintf(to, "%s%s", i ? " + " : "", list->at[i].folder);
    return names;
}

static int fit_together(struct context *x, const struct found_list *list)
{
    struct set *sets = calloc(list->count + 1, sizeof *sets);
    char *names = join_names(list);
    struct fault f = { .status = BITCUT_NO_MEMORY, .text = "not enough memory" };
    int count = 0, status = EXIT_GOOD;
    if (!sets || !names) status = fail("fit", &f);
    while (status == EXIT_GOOD && count < (int)list->count) {
        if (found_read(&sets[count], &list->at[count], SET_RECORDED, &f) != BITCUT_OK)
            status = fail(list->at[count].folder, &f);
        else count++;
    }
    if (status == EXIT_GOOD) status = fit_sets(x, sets, count, names, true);
    while (count > 0) set_clear(&sets[--count]);
    free(sets);
    free(names);
    return status;
}

/* Check that --next does not replace a set, and that its folder can be written. */
static int check_next(const struct found_list *list, const struct fit_options *o)
{
    struct fault f;
    if (o->next && !o->together && list->count > 1)
        return complain("--next", "requires a single set or --together");
    for (size_t i = 0; o->next && i < list->count; i++)
        if (output_same(o->next, list->at[i].folder))
            return complain(o->next,
                            "is also an input set; choose another folder for --next");
    if (o->next && output_check_folder(o->next, &f) != BITCUT_OK)
        return fail(o->next, &f);
    return EXIT_GOOD;
}

static int run(struct context *x)
{
    const struct fit_options *const o = x->own;
    struct found_list list = { 0 };
    struct fault f;
    enum bitcut_status status = BITCUT_OK;
    if (x->operand_count == 0) return complain("fit", "requires at least one folder");
    if (o->next && o->cases == 0) return complain("--cases", "must be at least 1");
    for (int i = 0; i < x->operand_count && status == BITCUT_OK; i++)
        status = set_find(&list, x->operands[i], &x->progress, &f);
    int result = status == BITCUT_OK ? check_next(&list, o) : fail("fit", &f);
    if (result == EXIT_GOOD)
        result = o->together ? fit_together(x, &list) : fit_each(x, &list);
    found_clear(&list);
    return result;
}

const struct command command_fit = {
    .name = "fit",
    .what = "Find the unit parameters that explain recorded sets",
    .run = run,
    .own = options,
    .own_size = sizeof defaults,
    .defaults = &defaults,
    .operands = "SET...",
    .operands_most = OPERANDS_MAX,
    .task = TASK_RECORD,
    .examples = {
        { "Find the rows that explain a recording",
          "bitcut fit data/h200/mma_m16n8k16_f16_f32" },
        { "The same with only 200 of its outputs",
          "bitcut fit data/h200/mma_m16n8k8_f16_f32 --outputs 200" },
    },
};
