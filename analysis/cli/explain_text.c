/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/explain_text.h"

#include "analysis/cli/terminal.h"

int explain_briefly(struct brief_explanation *to, const struct problem *q,
                    const struct block *part, size_t seconds, const struct context *x)
{
    const struct explain_options o = { .samples = 4096,
                                       .effort = 0.25,
                                       .seconds =
                                           seconds == SIZE_MAX ? 0 : (double)seconds,
                                       .seed = x->seed,
                                       .threads = x->threads,
                                       .progress = &x->progress,
                                       .offload = x->offload,
                                       .part = part };
    static struct explanation e;
    struct fault f;
    *to = (struct brief_explanation){ .level = DIAGNOSIS_NONE };
    if (!seconds) return EXIT_GOOD;
    terminal_label("explain");
    if (explain_run(&e, q, &o, &f) != BITCUT_OK) return fail("explain", &f);
    explain_describe(to->sentence, &e);
    to->level = e.diagnosis.level;
    to->faulty = e.answer.fault != NULL;
    const bool stopped = e.interrupted;
    explain_clear(&e);
    if (!stopped) return EXIT_GOOD;
    fault_set(&f, BITCUT_UNSUPPORTED, "stopped");
    return fail("explain", &f);
}
