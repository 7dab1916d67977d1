/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/gemm_report_inputs.h"

#include "lib/io/decimal.h"

/* A factor may be a number. */
static const char *factor_path(const char *text)
{
    uint32_t x;
    return text && decimal_read(&x, text) ? NULL : text;
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

int gemm_report_inputs(struct result_report *r, const struct gemm_report_options *of)
{
    const struct setup_options *const o = &of->setup;
    const struct epilogue_options *const e = &o->epilogue;
    const struct used_file files[] = { { "-a", o->a, false },
                                       { "-b", o->b, false },
                                       { "-c", o->c, false },
                                       { "-d", of->d, false },
                                       { "--bias", e->bias, false },
                                       { "--scale-a", factor_path(e->scale_a), false },
                                       { "--scale-b", factor_path(e->scale_b), false },
                                       { "--positions-a", o->files.positions, false },
                                       { 0 } };
    const int status = check(of);
    return status == EXIT_GOOD ? result_report_inputs(r, files) : status;
}
