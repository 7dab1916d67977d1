/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_inputs.h"

#include "analysis/cli/recorded_results.h"
#include "lib/io/decimal.h"

#include <string.h>

/* The files that a report reads, in the order of the page. */
enum { INPUTS = 8 };

struct input_file {
    const char *option, *path; /* path: NULL if there is none */
};

/* A factor may be a number. */
static const char *factor_path(const char *text)
{
    uint32_t x;
    return text && decimal_read(&x, text) ? NULL : text;
}

static void list_inputs(struct input_file to[INPUTS],
                        const struct gemm_report_options *of)
{
    const struct setup_options *const o = &of->setup;
    const struct epilogue_options *const e = &o->epilogue;
    const struct input_file all[INPUTS] = { { "-a", o->a },
                                            { "-b", o->b },
                                            { "-c", o->c },
                                            { "-d", of->d },
                                            { "--bias", e->bias },
                                            { "--scale-a", factor_path(e->scale_a) },
                                            { "--scale-b", factor_path(e->scale_b) },
                                            { "--positions-a", o->files.positions } };
    memcpy(to, all, sizeof all);
}

static int check(const struct gemm_report_options *of)
{
    const struct setup_options *const o = &of->setup;
    if (!o->a || !o->b) return complain("-a, -b", "are both required, .npy or .mtx");
    if (o->recipe && !o->unit) return complain("--recipe", "requires --unit");
    if (o->recipe && !bitcut_recipe_find(o->recipe))
        return fail_unknown("--recipe", o->recipe, TABLE(recipes));
    if (o->unit && !table_find(TABLE(chips), o->unit) &&
        !table_find(TABLE(units), o->unit))
        return fail_unit(o->unit, true);
    return EXIT_GOOD;
}

int gemm_report_inputs(json_t *digests, const struct report *r,
                       const struct gemm_report_options *o)
{
    struct input_file input[INPUTS];
    int status = check(o);
    list_inputs(input, o);
    for (int i = 0; i < INPUTS && status == EXIT_GOOD; i++)
        if (input[i].path) status = report_check_files(r, input[i].option, input[i].path);
    for (int i = 0; i < INPUTS && status == EXIT_GOOD; i++)
        if (input[i].path) status = recorded_digest_file(digests, input[i].path);
    return status;
}
