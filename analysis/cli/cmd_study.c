/* bitcut study: the rows of one study. */
#include "analysis/cli/command.h"
#include "analysis/study/study.h"

static const struct option_row options[] = { { 0 } };

static void emit(void *context, json_t *row) { emit_row(context, row); }

static int run(struct context *x)
{
    struct fault f;
    if (x->operand_count == 0) return complain("study", "name one (bitcut list studies)");
    const struct study *study = table_find(TABLE(studies), x->operands[0]);
    if (!study) return fail_unknown("study", x->operands[0], TABLE(studies));
    struct study_run r = { .seed = x->seed,
                           .threads = x->threads,
                           .progress = &x->progress,
                           .row = emit,
                           .context = &x->emitter };
    return study->run(&r, &f) == BITCUT_OK ? EXIT_GOOD : fail(study->name, &f);
}

const struct command command_study = {
    .name = "study",
    .what = "Compute the numbers of one study (bitcut list studies)",
    .run = run,
    .own = options,
    .operands = "NAME",
    .operand_table = "studies",
    .operands_most = 1,
};
