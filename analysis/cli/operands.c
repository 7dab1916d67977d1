/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/operands.h"

#include "lib/file/source.h"

struct operand_options operand_options = { .m = 256, .n = 256, .k = 256 };

int operands_parse(struct input *a, struct input *b, struct setup *s)
{
    static const char usual[] = "urand(-1,1)";
    const struct operand_options *const o = &operand_options;
    struct fault f;
    s->input_a = o->input_a ? o->input_a : usual;
    s->input_b = o->input_b ? o->input_b : usual;
    if (o->pair) {
        s->input_a = s->input_b = o->pair;
        if (input_pair_parse(a, b, o->pair, &f) == BITCUT_OK) return EXIT_GOOD;
        return fail_input("--pair", "pairs", &f);
    }
    if (input_parse(a, s->input_a, &f) != BITCUT_OK)
        return fail_input("--input-a", "inputs", &f);
    if (input_parse(b, s->input_b, &f) != BITCUT_OK)
        return fail_input("--input-b", "inputs", &f);
    return EXIT_GOOD;
}

/* A or B: from its file if there is one, else rows x cols of the family. */
static int make_operand(struct matrix *to, const char **from, const char *path,
                        const char *option, const struct input *input,
                        enum input_role role, size_t rows, size_t cols,
                        const struct context *x)
{
    struct fault f;
    if (path) {
        *from = path;
        return setup_read(to, option, path);
    }
    if (source_generate(to, input, role, rows, cols, x->seed, x->threads, &f) ==
        BITCUT_OK)
        return EXIT_GOOD;
    return fail(option, &f);
}

int operands_make(struct setup *s, const struct context *x)
{
    struct input a, b;
    struct operand_options *const o = &operand_options;
    const struct setup_options *const files = &setup_options;
    int status = operands_parse(&a, &b, s);
    if (status == EXIT_GOOD)
        status =
            make_operand(&s->a, &s->input_a, files->a, "-a", &a, INPUT_A, o->m, o->k, x);
    if (status == EXIT_GOOD && files->a && !files->b) o->k = s->a.cols;
    if (status == EXIT_GOOD)
        status =
            make_operand(&s->b, &s->input_b, files->b, "-b", &b, INPUT_B, o->k, o->n, x);
    return status == EXIT_GOOD ? setup_finish(s) : status;
}
