/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/source.h"

#include "lib/input/matrix_file.h"
#include "lib/io/mtx.h"
#include "lib/io/npy.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), e = strlen(end);
    return n >= e && !strcmp(text + n - e, end);
}

static enum bitcut_status write_npy(const char *path, const struct matrix *m,
                                    struct fault *f)
{
    const struct array a = { .dims = m->is_batch ? 3 : 2,
                             .dim = { m->is_batch ? m->count : m->rows,
                                      m->is_batch ? m->rows : m->cols, m->cols },
                             .count = matrix_count(m) * m->rows * m->cols,
                             .bytes = 4,
                             .floating = true,
                             .data = m->at };
    return npy_write(path, &a, f);
}

static enum bitcut_status write_mtx(const char *path, const struct matrix *m,
                                    struct fault *f)
{
    if (m->is_batch) return fault_set(f, BITCUT_BAD_ARGUMENT, MATRIX_FILE_NO_BATCH);
    return mtx_write(path, m, f);
}

/* --- the table of file types that are written ------------------------------------- */

struct file_type {
    const char *ending;
    enum bitcut_status (*write)(const char *, const struct matrix *, struct fault *);
};

static const struct file_type file_types[] = {
    { ".npy", write_npy },
    { ".mtx", write_mtx },
};

static const struct file_type *file_type(const char *path, struct fault *f)
{
    for (size_t i = 0; i < sizeof file_types / sizeof file_types[0]; i++)
        if (ends_with(path, file_types[i].ending)) return &file_types[i];
    fault_set(f, BITCUT_BAD_ARGUMENT,
              "the name of a matrix file must end in .npy or .mtx");
    return NULL;
}

enum bitcut_status source_read(struct matrix *m, const char *path, struct fault *f)
{
    static const struct matrix_request any = { .format_option = "a format",
                                               .shape_option = "a shape" };
    struct encoded_matrix x;
    const enum bitcut_status status = matrix_file_read(&x, path, &any, f);
    return status ? status : encoded_f32(m, &x, f);
}

enum bitcut_status source_check(const char *path, struct fault *f)
{
    return file_type(path, f) ? BITCUT_OK : BITCUT_BAD_ARGUMENT;
}

enum bitcut_status source_write(const char *path, const struct matrix *m, struct fault *f)
{
    const struct file_type *type = file_type(path, f);
    return type ? type->write(path, m, f) : BITCUT_BAD_ARGUMENT;
}

enum bitcut_status source_generate(struct matrix *m, const struct input *input,
                                   enum input_role role, size_t rows, size_t cols,
                                   uint64_t seed, int threads, struct fault *f)
{
    struct matrix x;
    enum bitcut_status status = matrix_init(&x, rows, cols, f);
    if (status != BITCUT_OK) return status;
    status = input_fill(&x, input, role, seed, threads, f);
    if (status != BITCUT_OK) {
        matrix_clear(&x);
        return status;
    }
    *m = x;
    return BITCUT_OK;
}
