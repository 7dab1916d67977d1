/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "lib/input/matrix_file.h"

#include "lib/base/text.h"
#include "lib/io/mtx.h"
#include "lib/io/npy.h"
#include "lib/io/safetensors.h"
#include "lib/io/torch.h"
#include "lib/number/round.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_BYTES = 16, ENDINGS_MAX = 4 };

/* --- one reader for each kind of file --------------------------------------------- */

/* What a reader needs beside the stream. */
struct request {
    const char *member; /* or NULL */
    const struct matrix_request *user;
};

static enum bitcut_status no_members(const struct request *r, struct fault *f)
{
    if (!r->member) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "the file has no members; omit ':%.*s'",
                     text_fit(r->member, 60), r->member);
}

static enum bitcut_status read_npy(struct tensor *t, struct stream *s,
                                   const struct request *r, struct fault *f)
{
    const enum bitcut_status status = no_members(r, f);
    return status ? status : npy_read_tensor(t, s, f);
}

static enum bitcut_status read_mtx(struct tensor *t, struct stream *s,
                                   const struct request *r, struct fault *f)
{
    struct matrix m;
    enum bitcut_status status = no_members(r, f);
    if (!status) status = mtx_read_stream(&m, s, f);
    if (status) return status;
    *t = (struct tensor){ .array = { .dims = 2,
                                     .dim = { m.rows, m.cols },
                                     .count = m.rows * m.cols,
                                     .bytes = 4,
                                     .floating = true,
                                     .data = m.at },
                          .format = &formats[FORMAT_F32],
                          .type = "real" };
    return BITCUT_OK;
}

static enum bitcut_status read_safetensors(struct tensor *t, struct stream *s,
                                           const struct request *r, struct fault *f)
{
    return safetensors_read(t, s, r->member, f);
}

/* Whether a member of an .npz is the array `name`: NAME.npy, as NumPy calls it, or NAME.
 */
static bool is_array(const struct zip_entry *e, const char *name)
{
    const size_t length = strlen(name);
    return e->name_length >= length && !memcmp(e->name, name, length) &&
           (e->name_length == length ||
            (e->name_length == length + 4 && !memcmp(e->name + length, ".npy", 4)));
}

/* Find the array, or the only member. */
static enum bitcut_status find_array(struct zip_entry *found, const struct zip *z,
                                     const char *name, struct fault *f)
{
    struct zip_entry e;
    char names[160] = "";
    size_t count = 0;
    for (size_t at = 0; zip_next(&e, &at, z);) {
        const size_t stem =
            e.name_length -
            4 * (e.name_length > 4 && !memcmp(e.name + e.name_length - 4, ".npy", 4));
        if (strlen(names) + stem + 8 < sizeof names)
            text_add(names, sizeof names, "%s%.*s", *names ? ", " : "", (int)stem,
                     e.name);
        if (name && !is_array(&e, name)) continue;
        *found = e;
        count++;
    }
    if (count == 1) return BITCUT_OK;
    if (!z->count) return fault_set(f, BITCUT_BAD_FILE, "the file has no arrays");
    return fault_set(f, BITCUT_BAD_FILE,
                     "%s; expected FILE:NAME, with a name such as: %s",
                     !name   ? "the file has several arrays"
                     : count ? "two arrays have this name"
                             : "no array of this name",
                     names);
}

static enum bitcut_status read_npz(struct tensor *t, const struct zip *z,
                                   const char *name, struct fault *f)
{
    struct zip_entry e;
    struct stream s;
    enum bitcut_status status = find_array(&e, z, name, f);
    if (!status) status = zip_member_open(&s, z, &e, f);
    if (status) return status;
    status = npy_read_tensor(t, &s, f);
    zip_member_close(&s);
    return status;
}

static enum bitcut_status read_zip(struct tensor *t, struct stream *s,
                                   const struct request *r, struct fault *f)
{
    struct zip z;
    enum bitcut_status status = zip_open(&z, s, f);
    if (status) return status;
    status = (torch_is(&z) ? torch_read : read_npz)(t, &z, r->member, f);
    zip_close(&z);
    return status;
}

static enum bitcut_status refuse_old_torch(struct tensor *t, struct stream *s,
                                           const struct request *r, struct fault *f)
{
    (void)t, (void)s, (void)r;
    return fault_set(
        f, BITCUT_BAD_FILE,
        "a PyTorch file without a zip archive, as before version 1.6; save it "
        "again with torch.save()");
}

/* Only elements, whose format and number the user gives. */
static enum bitcut_status read_raw(struct tensor *t, struct stream *s,
                                   const struct request *r, struct fault *f)
{
    const struct matrix_request *const u = r->user;
    enum bitcut_status status = no_members(r, f);
    if (status) return status;
    if (!u->format)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s requires %s, the format of the elements", u->shape_option,
                         u->format_option);
    const struct tensor_type type = { "raw", format_bytes(u->format), NULL };
    size_t bytes;
    if (!tensor_bytes(&bytes, u->dims, u->dim, (size_t)type.bytes) || bytes != s->size) {
        char shape[80] = "";
        for (int i = 0; i < u->dims; i++)
            text_add(shape, sizeof shape, "%s%zu", i ? " x " : "", u->dim[i]);
        return fault_set(f, BITCUT_BAD_FILE,
                         "%s elements of %d bytes do not make the %" PRIu64
                         " bytes of the file",
                         shape, type.bytes, s->size);
    }
    struct tensor new;
    status = tensor_init(&new, u->dims, u->dim, &type, f);
    if (status) return status;
    status = tensor_read_elements(&new, s, f);
    if (status) tensor_clear(&new);
    else *t = new;
    return status;
}

/* --- the table of kinds ----------------------------------------------------------- */

static bool begins_with(const unsigned char *head, size_t size, const char *text,
                        size_t length)
{
    return size >= length && !memcmp(head, text, length);
}

static bool begins_npy(const unsigned char *head, size_t size, uint64_t whole)
{
    (void)whole;
    return begins_with(head, size, "\x93NUMPY", 6);
}

static bool begins_zip(const unsigned char *head, size_t size, uint64_t whole)
{
    (void)whole;
    return begins_with(head, size, "PK\3\4", 4) || begins_with(head, size, "PK\5\6", 4);
}

static bool begins_mtx(const unsigned char *head, size_t size, uint64_t whole)
{
    (void)whole;
    return begins_with(head, size, "%%Matrix", 8);
}

/* The number with which PyTorch began its files before version 1.6. */
static bool begins_old_torch(const unsigned char *head, size_t size, uint64_t whole)
{
    (void)whole;
    return begins_with(head, size, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", 8);
}

static const struct kind {
    bool (*begins)(const unsigned char *head, size_t size, uint64_t whole);
    const char *endings[ENDINGS_MAX];
    enum bitcut_status (*read)(struct tensor *t, struct stream *s,
                               const struct request *r, struct fault *f);
} kinds[] = {
    { begins_npy, { ".npy" }, read_npy },
    { begins_zip, { ".npz", ".pt", ".pth" }, read_zip },
    { begins_mtx, { ".mtx" }, read_mtx },
    { safetensors_begins, { ".safetensors" }, read_safetensors },
    { begins_old_torch, { NULL }, refuse_old_torch },
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const struct kind raw = { NULL, { ".bin", ".raw" }, read_raw };

static bool ends_with(const char *text, size_t length, const char *end)
{
    const size_t n = strlen(end);
    return length >= n && !memcmp(text + length - n, end, n);
}

static bool has_ending(const struct kind *k, const char *path, size_t length)
{
    for (int i = 0; i < ENDINGS_MAX && k->endings[i]; i++)
        if (ends_with(path, length, k->endings[i])) return true;
    return false;
}

/* The kind of an open file whose name has `length` characters. */
static enum bitcut_status kind_find(const struct kind **found, struct stream *s,
                                    const char *path, size_t length,
                                    const struct request *r, struct fault *f)
{
    unsigned char head[HEAD_BYTES];
    const size_t size = s->size < HEAD_BYTES ? (size_t)s->size : HEAD_BYTES;
    enum bitcut_status status = stream_read(head, size, s, f);
    if (!status) status = stream_seek(s, 0, f);
    if (status) return status;
    *found = NULL;
    for (int i = 0; i < KINDS && !*found; i++)
        if (kinds[i].begins(head, size, s->size)) *found = &kinds[i];
    for (int i = 0; i < KINDS && !*found && !r->user->has_shape; i++)
        if (has_ending(&kinds[i], path, length)) *found = &kinds[i];
    if (*found && r->user->has_shape)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the file has a shape of its own; omit %s",
                         r->user->shape_option);
    if (!*found && r->user->has_shape) *found = &raw;
    if (*found) return BITCUT_OK;
    if (has_ending(&raw, path, length))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the file has no shape; give %s ROWSxCOLUMNS and %s",
                         r->user->shape_option, r->user->format_option);
    return fault_set(
        f, BITCUT_BAD_ARGUMENT,
        "unknown kind of matrix file; expected .npy, .npz, .mtx, .safetensors, "
        ".pt, or raw elements with %s",
        r->user->shape_option);
}

/* The length of FILE in FILE:NAME, if there is no file `path` but one called FILE. */
static size_t file_length(const char *path)
{
    struct stat about;
    const size_t whole = strlen(path);
    if (stat(path, &about) == 0) return whole;
    char *const copy = memory_allocate(whole + 1, 1);
    if (!copy) return whole;
    size_t length = whole;
    memcpy(copy, path, whole + 1);
    for (const char *colon = path; (colon = strchr(colon, ':')); colon++) {
        copy[colon - path] = 0;
        if (stat(copy, &about) == 0 && S_ISREG(about.st_mode)) {
            length = (size_t)(colon - path);
            break;
        }
        copy[colon - path] = ':';
    }
    free(copy);
    return length;
}

static enum bitcut_status tensor_read(struct tensor *t, const char *path,
                                      const struct matrix_request *user, struct fault *f)
{
    const size_t length = file_length(path);
    const struct request r = { path[length] ? path + length + 1 : NULL, user };
    const struct kind *kind;
    struct stream s;
    char *const file = memory_allocate(length + 1, 1);
    if (!file) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    memcpy(file, path, length);
    file[length] = 0;
    enum bitcut_status status = stream_open(&s, file, f);
    free(file);
    if (status) return status;
    status = kind_find(&kind, &s, path, length, &r, f);
    if (!status) status = kind->read(t, &s, &r, f);
    stream_close(&s);
    return status;
}

/* --- formats ---------------------------------------------------------------------- */

enum bitcut_status encoded_init(struct encoded_matrix *m, size_t rows, size_t cols,
                                const struct bitcut_format *format, struct fault *f)
{
    size_t count;
    const bool fits = size_multiply(&count, rows, cols);
    void *const at = fits ? memory_allocate(count, (size_t)format_bytes(format)) : NULL;
    if (!at)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for %zu x %zu elements",
                         rows, cols);
    *m = (struct encoded_matrix){ rows, cols, format, at, false, 0 };
    return BITCUT_OK;
}

enum bitcut_status encoded_init_batch(struct encoded_matrix *m, size_t count, size_t rows,
                                      size_t cols, const struct bitcut_format *format,
                                      struct fault *f)
{
    struct encoded_matrix all;
    size_t lines;
    if (!size_multiply(&lines, count, rows))
        return fault_set(f, BITCUT_NO_MEMORY,
                         "not enough memory for %zu matrices of %zu x %zu elements",
                         count, rows, cols);
    const enum bitcut_status status = encoded_init(&all, lines, cols, format, f);
    if (status) return status;
    *m = (struct encoded_matrix){ rows, cols, format, all.at, true, count };
    return BITCUT_OK;
}

/* One matrix or a batch, as another one is. */
static enum bitcut_status init_like(struct encoded_matrix *m,
                                    const struct encoded_matrix *like,
                                    const struct bitcut_format *format, struct fault *f)
{
    return like->is_batch
               ? encoded_init_batch(m, like->count, like->rows, like->cols, format, f)
               : encoded_init(m, like->rows, like->cols, format, f);
}

static size_t elements_of(const struct encoded_matrix *m)
{
    return (m->is_batch ? m->count : 1) * m->rows * m->cols;
}

/* Write the position of element i, such as "[0, 2]". */
static const char *position(char text[80], const struct encoded_matrix *m, size_t i)
{
    const size_t row = i / m->cols;
    *text = 0;
    text_add(text, 80, "[");
    if (m->is_batch) text_add(text, 80, "%zu, ", row / m->rows);
    text_add(text, 80, "%zu, %zu]", m->is_batch ? row % m->rows : row, i % m->cols);
    return text;
}

/* Whether y of one format is the value x of another; NaN is NaN. */
static bool is_same(const struct bitcut_format *to, uint64_t y,
                    const struct bitcut_format *from, uint64_t x)
{
    const struct number a = format_decode(from, x), b = format_decode(to, y);
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return a.kind == b.kind;
    return a.kind == b.kind && a.negative == b.negative &&
           format_to_double(from, x) == format_to_double(to, y);
}

/* Set *y to the value x; false if the format does not have it.  The conversion of numbers
   to integers gives no most negative integer, which integers have, too. */
static bool value_set(uint64_t *y, const struct bitcut_format *to,
                      const struct bitcut_format *from, uint64_t x)
{
    *y = bitcut_format_convert(to, &roundings[ROUND_RN], from, x);
    if (is_same(to, *y, from, x)) return true;
    *y = UINT64_C(1) << (to->bits - 1);
    return format_is_integer(to) && is_same(to, *y, from, x);
}

/* The elements of an array of encodings, whatever their number of dimensions. */
static struct array array_of(const struct encoded_matrix *m)
{
    const struct bitcut_format *const x = m->format, *const f32 = &formats[FORMAT_F32];
    return (struct array){
        .dims = m->is_batch ? 3 : 2,
        .dim = { m->is_batch ? m->count : m->rows, m->is_batch ? m->rows : m->cols,
                 m->cols },
        .count = elements_of(m),
        .bytes = format_bytes(x),
        .integers = format_is_integer(x) && x->has_sign,
        .floating = x == &formats[FORMAT_F16] || x == &formats[FORMAT_F64] ||
                    (x->bits == f32->bits && x->exponent_bits == f32->exponent_bits),
        .data = m->at
    };
}

/* Convert element by element.  BITCUT_BAD_FILE names the first element that is no value
   of the format. */
static enum bitcut_status convert_each(struct encoded_matrix *to,
                                       const struct encoded_matrix *m, const char *option,
                                       struct fault *f)
{
    const struct array a = array_of(m);
    struct array b = array_of(to);
    uint64_t y;
    char at[80];
    size_t i = 0;
    for (; i < a.count && value_set(&y, to->format, m->format, array_get(&a, i)); i++)
        array_set(&b, i, y);
    if (i == a.count) return BITCUT_OK;
    const double x = format_to_double(m->format, array_get(&a, i));
    if (!option)
        return fault_set(f, BITCUT_BAD_FILE,
                         "element %s is not an FP32 value; convert the array to "
                         "f4 (NumPy: astype('f4'))",
                         position(at, m, i));
    return fault_set(f, BITCUT_BAD_FILE,
                     "element %s, %.9g, is not a value of %s; "
                     "%s must name a format that has every value of the file",
                     position(at, m, i), x, to->format->name, option);
}

/* Convert all elements; every one must keep its value.  On success *m has the format. */
static enum bitcut_status convert(struct encoded_matrix *m,
                                  const struct bitcut_format *to, const char *option,
                                  struct fault *f)
{
    struct encoded_matrix new;
    size_t changed;
    if (m->format == to) return BITCUT_OK;
    enum bitcut_status status = init_like(&new, m, to, f);
    if (status) return status;
    status = bitcut_format_convert_array(&changed, new.at, to, &roundings[ROUND_RN],
                                         m->at, m->format, elements_of(m));
    if (!status && changed) status = convert_each(&new, m, option, f);
    encoded_clear(status ? &new : m);
    if (!status) *m = new;
    return status;
}

/* Check that elements are encodings of a format; m has their positions. */
static enum bitcut_status encodings_check(const struct tensor *t,
                                          const struct encoded_matrix *m,
                                          const struct bitcut_format *format,
                                          struct fault *f)
{
    const struct array *const a = &t->array;
    char at[80];
    if (a->bytes != format_bytes(format))
        return fault_set(
            f, BITCUT_BAD_FILE,
            "elements of type %s have %d bytes, but an encoding of %s has %d", t->type,
            a->bytes, format->name, format_bytes(format));
    for (size_t i = 0; format->bits < 8 * a->bytes && i < a->count; i++)
        if (array_get(a, i) >> format->bits)
            return fault_set(f, BITCUT_BAD_FILE,
                             "element %s, 0x%" PRIx64 ", is not an encoding of %s",
                             position(at, m, i), array_get(a, i), format->name);
    return BITCUT_OK;
}

/* The file does not name the format of its elements, and neither does the user. */
static enum bitcut_status no_format(const struct tensor *t, const char *option,
                                    struct fault *f)
{
    if (*t->type == 'V')
        return fault_set(f, BITCUT_BAD_FILE,
                         "elements of type %s have no format; give %s, such as %s for "
                         "%s of ml_dtypes",
                         t->type, option, t->array.bytes == 2 ? "bf16" : "e4m3",
                         t->array.bytes == 2 ? "bfloat16" : "float8_e4m3fn");
    return fault_set(f, BITCUT_BAD_FILE,
                     "elements of type %s: a matrix takes f4, f2 or f8; convert numbers "
                     "(NumPy: astype('f4')), or give %s if they are encodings",
                     t->type, option);
}

static enum bitcut_status matrix_of_tensor(struct encoded_matrix *m, struct tensor *t,
                                           const struct matrix_request *r,
                                           struct fault *f)
{
    const bool integers =
        !t->format && !r->format && t->array.bytes == 1 && *t->type != 'V';
    const struct bitcut_format *const f32 = &formats[FORMAT_F32],
                                      *from = integers ? &formats[FORMAT_U8] : t->format,
                                      *to = r->format ? r->format : from;
    const char *const option = r->format ? r->format_option : NULL;
    if (t->array.dims == 1 && r->vector) {
        t->array.dims = 2;
        t->array.dim[1] = t->array.dim[0];
        t->array.dim[0] = 1;
    }
    const bool is_batch = t->array.dims == 3 && r->batch;
    if (t->array.dims != 2 && !is_batch)
        return fault_set(f, BITCUT_BAD_FILE, "expected a 2-D array%s, found %d-D",
                         r->batch ? ", or 3-D for a batch" : "", t->array.dims);
    const size_t *const dim = t->array.dim + is_batch;
    struct encoded_matrix new = { dim[0],        dim[1],   from,
                                  t->array.data, is_batch, t->array.dim[0] };
    if (!to) return no_format(t, r->format_option, f);
    if (!from) {
        const enum bitcut_status status = encodings_check(t, &new, to, f);
        if (status) return status;
        new.format = to;
    } else if (!r->format && from == &formats[FORMAT_F64]) to = f32;
    t->array.data = NULL;
    const enum bitcut_status status = convert(&new, to, option, f);
    if (status) encoded_clear(&new);
    else *m = new;
    return status;
}

enum bitcut_status matrix_file_read(struct encoded_matrix *m, const char *path,
                                    const struct matrix_request *r, struct fault *f)
{
    struct tensor t;
    enum bitcut_status status = tensor_read(&t, path, r, f);
    if (status) return status;
    status = matrix_of_tensor(m, &t, r, f);
    tensor_clear(&t);
    return status;
}

/* --- encoded matrices ------------------------------------------------------------- */

void encoded_clear(struct encoded_matrix *m)
{
    free(m->at);
    *m = (struct encoded_matrix){ 0 };
}

enum bitcut_status encoded_copy(struct encoded_matrix *m,
                                const struct encoded_matrix *from, struct fault *f)
{
    const enum bitcut_status status = init_like(m, from, from->format, f);
    if (status) return status;
    memcpy(m->at, from->at, elements_of(from) * (size_t)format_bytes(from->format));
    return BITCUT_OK;
}

struct bitcut_matrix encoded_view(const struct encoded_matrix *m)
{
    return (struct bitcut_matrix){ .at = m->at, .format = m->format };
}

enum bitcut_status encoded_f32(struct matrix *m, struct encoded_matrix *from,
                               struct fault *f)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32], *const was =
                                                                      from->format;
    const enum bitcut_status status = convert(from, f32, NULL, f);
    if (status == BITCUT_OK)
        *m = (struct matrix){ .rows = from->rows,
                              .cols = from->cols,
                              .at = from->at,
                              .format = was == f32 ? NULL : was,
                              .is_batch = from->is_batch,
                              .count = from->count };
    else encoded_clear(from);
    *from = (struct encoded_matrix){ 0 };
    return status;
}

/* The values of the matrix as text. */
static enum bitcut_status write_text(const char *path, const struct encoded_matrix *m,
                                     struct fault *f)
{
    struct matrix values;
    size_t changed;
    if (m->is_batch) return fault_set(f, BITCUT_BAD_ARGUMENT, MATRIX_FILE_NO_BATCH);
    enum bitcut_status status = matrix_init(&values, m->rows, m->cols, f);
    if (status) return status;
    status = bitcut_format_convert_array(&changed, values.at, &formats[FORMAT_F32],
                                         &roundings[ROUND_RN], m->at, m->format,
                                         m->rows * m->cols);
    if (!status && changed)
        status = fault_set(f, BITCUT_BAD_ARGUMENT,
                           ".mtx stores FP32 values, which cannot hold these of %s",
                           m->format->name);
    if (!status) status = mtx_write(path, &values, f);
    matrix_clear(&values);
    return status;
}

enum bitcut_status encoded_write(const char *path, const struct encoded_matrix *m,
                                 struct fault *f)
{
    const struct array a = array_of(m);
    return ends_with(path, strlen(path), ".mtx") ? write_text(path, m, f)
                                                 : npy_write(path, &a, f);
}
