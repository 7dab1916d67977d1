/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/matrix_option.h"

#include <limits.h>
#include <stdio.h>

/* The names of the options of one matrix. */
static const struct names {
    const char *format, *shape;
} names[MATRICES] = {
    { "--format-a", "--shape-a" },
    { "--format-b", "--shape-b" },
    { "--format-c", "--shape-c" },
    { "--format-d", "--shape-d" },
};

int matrix_option_format(const struct bitcut_format **format,
                         const struct matrix_options *o, int matrix)
{
    const bool both = !o->format_of[matrix] && matrix <= MATRIX_B;
    const char *const name = both ? o->format : o->format_of[matrix];
    *format = bitcut_format_find(name);
    if (!name || *format) return EXIT_GOOD;
    return fail_unknown(both ? "--format" : names[matrix].format, name, TABLE(formats));
}

/* Read -x from the option's name. */
static int matrix_of(const char *option) { return option[1] - 'a'; }

static int shape_read(struct matrix_request *r, const char *text)
{
    int side[3];
    r->has_shape = text;
    if (!text) return EXIT_GOOD;
    if (!option_tile(side, text, 2, 1, INT_MAX) || side[2])
        return complain(r->shape_option, "must be rows and columns, for example 64x256");
    r->rows = (size_t)side[0];
    r->cols = (size_t)side[1];
    return EXIT_GOOD;
}

int matrix_read(struct encoded_matrix *m, const char *option, const char *path,
                const struct matrix_options *o)
{
    const int matrix = matrix_of(option);
    struct matrix_request r = { .format_option = names[matrix].format,
                                .shape_option = names[matrix].shape,
                                .vector = matrix == MATRIX_C };
    struct fault f;
    if (!path) return complain(option, "is required; give A, B and D, .npy or .mtx");
    int status = matrix_option_format(&r.format, o, matrix);
    if (status == EXIT_GOOD) status = shape_read(&r, o->shape_of[matrix]);
    if (status != EXIT_GOOD) return status;
    return matrix_file_read(m, path, &r, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

int matrix_unread(const char *option, const struct matrix_options *o)
{
    const int matrix = matrix_of(option);
    char why[40];
    snprintf(why, sizeof why, "requires %s, a file", option);
    if (o->format_of[matrix]) return complain(names[matrix].format, why);
    return o->shape_of[matrix] ? complain(names[matrix].shape, why) : EXIT_GOOD;
}
