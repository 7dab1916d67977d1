/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_line.h"

#include "analysis/cli/option.h"
#include "emu/gemm_text.h"
#include "lib/base/text.h"
#include "lib/gemm/configuration.h"
#include "lib/io/json_value.h"

#include <string.h>

enum { LINE_LENGTH_MAX = 1 << 12, WITHOUT_MAX = 8 };

/* The options of the report that the command does not take, or that its line has in
   another place, ended by NULL.  A GEMM that is selected has its own recipe, unit, start,
   steps and scaling, and so has the FP32 loop. */
#define SELECTED "recipe", "unit", "epilogue", "start", "scaling", "want", "seconds"

static const struct {
    const char *command;
    enum { NO_GEMM, SELECTED_GEMM, FP32_LOOP } gemm; /* the GEMM that the line has */
    bool takes_d;             /* whether it has D; otherwise it has D's format */
    const char *worst, *more; /* further words of the command: of budgets, and others */
    const char *without[WITHOUT_MAX + 1];
} lines[QUESTIONS] = {
    /* clang-format off */
    [ASK_ADVISE]    = { "advise",    NO_GEMM, false, "", "", { "recipe", "seconds" } },
    [ASK_EXPLAIN]   = { "explain",   NO_GEMM, true, "", "", { "recipe", "unit", "want" } },
    [ASK_GEMM]      = { "gemm",      SELECTED_GEMM, false, " --worst 8", "", { SELECTED } },
    [ASK_FP32]      = { "gemm",      FP32_LOOP, false, "", "", { SELECTED } },
    [ASK_VERIFY]    = { "verify",    SELECTED_GEMM, true,  " --worst 8", " --seconds 0", { SELECTED } },
    [ASK_BOUND]     = { "bound",     SELECTED_GEMM, true, "", "", { SELECTED } },
    [ASK_TOLERANCE] = { "tolerance", SELECTED_GEMM, true, "", "", { SELECTED } },
    /* clang-format on */
};

/* The variations of a GEMM: items of its line (emu/gemm_text.h), NAME or NAME=VALUE, as
   options; the items of the order of k as one option. */
static void add_variations(char *line, const struct bitcut_gemm *g)
{
    char items[CONFIGURATION_LINE_MAX], order[ORDER_TEXT_MAX];
    configuration_line_write(items, g);
    char *item = strchr(items, ',');
    for (char *next; item; item = next) {
        struct bitcut_order one = { .slices = 0 };
        next = strchr(++item, ',');
        if (next) *next = 0;
        if (order_read(&one, item, NULL) == BITCUT_OK) continue;
        char *const value = strchr(item, '=');
        if (value) *value = ' ';
        text_add(line, LINE_LENGTH_MAX, " --%s", item);
    }
    order_write(order, &g->order);
    if (*order) text_add(line, LINE_LENGTH_MAX, " --order %s", order + 1);
}

/* Recipe, unit and variations. */
static void add_choice(char *line, const struct gemm_answers *a)
{
    const struct setup_options *const o = &a->o->setup;
    text_add(line, LINE_LENGTH_MAX, " --recipe %s --unit %s",
             o->recipe ? o->recipe : a->s.gemm.recipe->name,
             o->recipe ? o->unit : a->s.gemm.unit->name);
    add_variations(line, &a->s.gemm);
}

/* The FP32 loop, with its steps, its start and its scaling. */
static void add_fp32_loop(char *line, const struct gemm_answers *a)
{
    const struct bitcut_gemm loop = gemm_answers_fp32_loop(a);
    text_add(line, LINE_LENGTH_MAX, " --recipe %s --unit %s", loop.recipe->name,
             loop.unit->name);
    add_variations(line, &loop);
}

/* The options of A, B, C, D and of what else was given. */
static void add_given(char *line, const struct gemm_answers *a,
                      const char *const *without)
{
    const struct context *const x = a->context;
    options_write(line, LINE_LENGTH_MAX, x->own, x->given, x->options, 0,
                  sizeof(struct gemm_report_options), without);
}

/* The format of D in a command that does not read D, or that would take integers. */
static void add_format(char *line, const struct gemm_answers *a, bool takes_d,
                       bool integer)
{
    const struct bitcut_format *const format =
        a->d.format ? a->d.format : &formats[FORMAT_F32];
    const bool given = takes_d && a->o->setup.files.format_of[MATRIX_D];
    if (!given && (integer || (!takes_d && format != &formats[FORMAT_F32])))
        text_add(line, LINE_LENGTH_MAX, " --format-d %s", format->name);
}

json_t *gemm_question_line(const struct gemm_answers *a, enum gemm_problem problem)
{
    static const char *const of_d[] = { "d", "format-d", "shape-d" }, *const zeros[] = {
        "zero-a", "zero-b"
    };
    const char *without[WITHOUT_MAX + 6] = { NULL };
    const struct bitcut_gemm loop = gemm_answers_fp32_loop(a),
                             *const g = lines[problem].gemm == SELECTED_GEMM ? &a->s.gemm
                                        : lines[problem].gemm == FP32_LOOP   ? &loop
                                                                             : NULL;
    const bool subtract = g && gemm_answers_subtract(a, g);
    char line[LINE_LENGTH_MAX] = "";
    size_t count = 0;
    if (subtract)
        text_add(line, LINE_LENGTH_MAX, "with A and B less their zero points in files: ");
    text_add(line, LINE_LENGTH_MAX, "bitcut ");
    text_add(line, LINE_LENGTH_MAX, "%s", lines[problem].command);
    while (lines[problem].without[count]) count++;
    memcpy(without, lines[problem].without, count * sizeof *without);
    if (subtract) {
        memcpy(without + count, zeros, sizeof zeros);
        count += 2;
    }
    if (!lines[problem].takes_d) memcpy(without + count, of_d, sizeof of_d);
    if (lines[problem].gemm == SELECTED_GEMM) add_choice(line, a);
    if (lines[problem].gemm == FP32_LOOP) add_fp32_loop(line, a);
    add_given(line, a, without);
    if (a->batch.count && problem != ASK_TOLERANCE)
        text_add(line, LINE_LENGTH_MAX, " --index %zu",
                 gemm_report_batch_shown(&a->batch));
    add_format(line, a, lines[problem].takes_d, g && format_is_integer(g->unit->c));
    text_add(line, LINE_LENGTH_MAX, "%s%s", lines[problem].worst, lines[problem].more);
    if (problem == ASK_GEMM && !gemm_answers_are_many(a))
        text_add(line, LINE_LENGTH_MAX, " --budget");
    return json_text(line);
}
