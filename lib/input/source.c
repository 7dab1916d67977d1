/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/source.h"

#include "lib/io/mtx.h"
#include "lib/io/npy.h"
#include "lib/number/round.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), e = strlen(end);
    return n >= e && !strcmp(text + n - e, end);
}

/* --- .npy ------------------------------------------------------------------------- */

/* The format of numbers with this many bytes. */
static const struct bitcut_format *element_format(const struct array *a)
{
    return &formats[a->bytes == 2   ? FORMAT_F16
                    : a->bytes == 4 ? FORMAT_F32
                                    : FORMAT_F64];
}

/* Set *x to the FP32 encoding of element i; false if its value is not an FP32 value. */
static bool element_f32(uint32_t *x, const struct array *a,
                        const struct bitcut_format *format, size_t i)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct bitcut_rounding *rn = &roundings[ROUND_RN];
    const uint64_t bits = array_get(a, i);
    *x = (uint32_t)(format == f32 ? bits : bitcut_format_convert(f32, rn, format, bits));
    return format_decode(format, bits).kind == NUMBER_NAN ||
           bitcut_format_convert(format, rn, f32, *x) == bits;
}

/* If the elements are FP32 encodings already, the matrix takes over the memory, so that a
   large file is not in memory twice. */
static enum bitcut_status matrix_of_array(struct matrix *m, struct array *a,
                                          struct fault *f)
{
    const struct bitcut_format *format = element_format(a);
    if (a->dims != 2)
        return fault_set(f, BITCUT_BAD_FILE, "expected a 2-D array, found %d-D", a->dims);
    if (format == &formats[FORMAT_F32]) {
        *m = (struct matrix){ .rows = a->dim[0], .cols = a->dim[1], .at = a->data };
        a->data = NULL;
        return BITCUT_OK;
    }
    struct matrix x;
    const enum bitcut_status status = matrix_init(&x, a->dim[0], a->dim[1], f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < a->count; i++) {
        if (element_f32(&x.at[i], a, format, i)) continue;
        matrix_clear(&x);
        return fault_set(f, BITCUT_BAD_FILE,
                         "element [%zu, %zu] is not an FP32 value; convert the array to "
                         "f4 (NumPy: astype('f4'))",
                         i / a->dim[1], i % a->dim[1]);
    }
    *m = x;
    return BITCUT_OK;
}

static enum bitcut_status read_npy(struct matrix *m, const char *path, struct fault *f)
{
    struct array a;
    enum bitcut_status status = npy_read_numbers(&a, path, f);
    if (status != BITCUT_OK) return status;
    status = matrix_of_array(m, &a, f);
    array_clear(&a);
    return status;
}

static enum bitcut_status write_npy(const char *path, const struct matrix *m,
                                    struct fault *f)
{
    const struct array a = { .dims = 2,
                             .dim = { m->rows, m->cols },
                             .count = m->rows * m->cols,
                             .bytes = 4,
                             .floating = true,
                             .data = m->at };
    return npy_write(path, &a, f);
}

/* --- the table of file types ------------------------------------------------------ */

struct file_type {
    const char *ending;
    enum bitcut_status (*read)(struct matrix *, const char *, struct fault *);
    enum bitcut_status (*write)(const char *, const struct matrix *, struct fault *);
};

static const struct file_type file_types[] = {
    { ".npy", read_npy, write_npy },
    { ".mtx", mtx_read, mtx_write },
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
    const struct file_type *type = file_type(path, f);
    return type ? type->read(m, path, f) : BITCUT_BAD_ARGUMENT;
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
