/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/operands.h"

#include "lib/input/source.h"

/* Complain about formats and shapes of files that are not read. */
static int check_unread(const struct setup_options *o)
{
    int status = EXIT_GOOD;
    if (o->files.format && !o->a && !o->b)
        return complain("--format", "requires -a or -b, a file");
    if (!o->a) status = matrix_unread("-a", &o->files);
    if (!o->b && status == EXIT_GOOD) status = matrix_unread("-b", &o->files);
    return !o->c && status == EXIT_GOOD ? matrix_unread("-c", &o->files) : status;
}

int operands_parse(struct input *a, struct input *b, struct setup *s,
                   const struct operand_options *o)
{
    static const char usual[] = "urand(-1,1)";
    struct fault f;
    if (check_unread(s->options) != EXIT_GOOD) return EXIT_USAGE;
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

/* A or B: from its file if there is one, otherwise rows x cols of the family. */
static int make_operand(struct setup *s, struct matrix *to, const char **from,
                        const char *path, const char *option, const struct input *input,
                        enum input_role role, size_t rows, size_t cols,
                        const struct context *x)
{
    struct fault f;
    if (path) {
        *from = path;
        return setup_read(to, option, path, &s->options->files);
    }
    s->drawn = true;
    if (source_generate(to, input, role, rows, cols, x->seed, x->threads, &f) ==
        BITCUT_OK)
        return EXIT_GOOD;
    return fail(option, &f);
}

int operands_make(struct setup *s, const struct operand_options *o,
                  const struct context *x)
{
    struct input a, b;
    const struct setup_options *const files = s->options;
    size_t k = o->k;
    int status = operands_parse(&a, &b, s, o);
    if (status == EXIT_GOOD)
        status =
            make_operand(s, &s->a, &s->input_a, files->a, "-a", &a, INPUT_A, o->m, k, x);
    if (files->a) k = s->a.cols;
    if (status == EXIT_GOOD)
        status =
            make_operand(s, &s->b, &s->input_b, files->b, "-b", &b, INPUT_B, k, o->n, x);
    return status == EXIT_GOOD ? setup_finish(s) : status;
}
