/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/evidence/set_line.h"

#include "lib/io/json_lines.h"
#include "lib/io/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- lines ------------------------------------------------------------------------ */

/* The line that begins at `at`, without its end; NULL after the last line.  *next is the
   start of the following line. */
static const char *line_of(size_t *length, const char **next, const char *at,
                           const char *end)
{
    if (at == end) return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *length = (size_t)((stop ? stop : end) - at);
    *next = stop ? stop + 1 : end;
    return at;
}

enum bitcut_status set_lines(struct set_line **lines, size_t *count, const char *path,
                             struct fault *f)
{
    char *bytes;
    size_t size, length, most = 1, number = 0;
    enum bitcut_status status = stream_read_file(&bytes, &size, path, JSON_LINES_MAX, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < size; i++) most += bytes[i] == '\n';
    struct set_line *at = malloc(most * sizeof *at);
    *count = 0;
    if (!at) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (const char *x = bytes, *next; at && line_of(&length, &next, x, bytes + size);
         x = next) {
        number++;
        if (length && !*count && *x != '{')
            status = fault_set(
                f, BITCUT_BAD_FILE,
                "not a folder with meta.json, and line %zu is not a JSON object", number);
        if (status != BITCUT_OK) break;
        if (length)
            at[(*count)++] = (struct set_line){ number, (size_t)(x - bytes), length };
    }
    free(bytes);
    if (status == BITCUT_OK) *lines = at;
    else free(at);
    return status;
}

/* Split "FILE:N" into FILE and N.  Returns false if the name has another form, or the
   file does not exist. */
static bool line_name(char **path, size_t *number, const char *name)
{
    const char *colon = strrchr(name, ':');
    struct stat s;
    char *end;
    if (!colon || colon == name || colon[1] < '1' || colon[1] > '9') return false;
    *number = strtoull(colon + 1, &end, 10);
    if (*end || stat(name, &s) == 0) return false;
    *path = strndup(name, (size_t)(colon - name));
    if (*path && stat(*path, &s) == 0 && S_ISREG(s.st_mode)) return true;
    free(*path);
    return false;
}

static enum bitcut_status row_of(json_t **row, const char *text, size_t length,
                                 struct fault *f)
{
    json_error_t error;
    json_t *x = json_loadb(text, length, 0, &error);
    if (!x)
        return fault_set(f, BITCUT_BAD_FILE, "column %d: %s", error.column, error.text);
    if (json_is_object(x)) {
        *row = x;
        return BITCUT_OK;
    }
    json_decref(x);
    return fault_set(f, BITCUT_BAD_FILE, "expected a JSON object");
}

enum bitcut_status set_line_at(json_t **row, const char *path,
                               const struct set_line *line, struct fault *f)
{
    struct stream s;
    enum bitcut_status status = stream_open(&s, path, f);
    if (status != BITCUT_OK) return status;
    char *text = memory_allocate(line->length, 1);
    if (!text) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    else if (fseeko(s.file, (off_t)line->at, SEEK_SET) != 0)
        status = fault_set(f, BITCUT_UNSUPPORTED, "%s", strerror(errno));
    if (status == BITCUT_OK) status = stream_read(text, line->length, &s, f);
    if (status == BITCUT_OK) status = row_of(row, text, line->length, f);
    free(text);
    stream_close(&s);
    return status;
}

enum bitcut_status set_line_read(json_t **row, const char *name, struct fault *f)
{
    char *path, *bytes;
    size_t number, size, length;
    *row = NULL;
    if (!line_name(&path, &number, name)) return BITCUT_OK;
    enum bitcut_status status = stream_read_file(&bytes, &size, path, JSON_LINES_MAX, f);
    free(path);
    if (status != BITCUT_OK) return status;
    const char *at = bytes, *next = at, *line;
    while ((line = line_of(&length, &next, at, bytes + size)) && --number) at = next;
    status = line ? row_of(row, line, length, f)
                  : fault_set(f, BITCUT_UNSUPPORTED, "the file does not have this line");
    free(bytes);
    return status;
}

/* --- arrays ----------------------------------------------------------------------- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The shape and its number of elements; at most `most` dimensions. */
static bool shape_of(size_t dim[ARRAY_DIMS_MAX], int *dims, size_t *count,
                     const json_t *shape, size_t most)
{
    *dims = 0;
    *count = 1;
    if (!json_is_array(shape) || json_array_size(shape) > ARRAY_DIMS_MAX) return false;
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const json_t *x = json_array_get(shape, i);
        const json_int_t n = json_integer_value(x);
        if (n < 1 || (uint64_t)n > most / *count) return false;
        dim[(*dims)++] = (size_t)n;
        *count *= (size_t)n;
    }
    return true;
}

/* The encodings.  Returns false if a character is no digit. */
static bool take_digits(struct array *a, const char *hex)
{
    for (size_t i = 0; i < a->count; i++) {
        uint64_t encoding = 0;
        for (int d = 0; d < 2 * a->bytes; d++) {
            const int x = digit(*hex++);
            if (x < 0) return false;
            encoding = encoding << 4 | (uint64_t)x;
        }
        array_set(a, i, encoding);
    }
    return true;
}

enum bitcut_status set_line_array(struct array *a, const json_t *row, const char *key,
                                  struct fault *f)
{
    const json_t *x = json_object_get(row, key), *hex = json_object_get(x, "hex");
    const size_t digits = json_string_length(hex);
    size_t dim[ARRAY_DIMS_MAX], count;
    int dims;
    if (!x) return fault_set(f, BITCUT_BAD_FILE, "missing key \"%s\"", key);
    const bool shaped = shape_of(dim, &dims, &count, json_object_get(x, "shape"), digits);
    const size_t width = shaped ? digits / count : 0;
    if (!shaped || digits % count ||
        (width != 2 && width != 4 && width != 8 && width != 16))
        return fault_set(
            f, BITCUT_BAD_FILE,
            "\"%s\": \"shape\" does not match the number of digits of \"hex\"", key);
    struct array made;
    const enum bitcut_status status =
        array_init(&made, dims, dim, (int)width / 2, false, f);
    if (status != BITCUT_OK) return status;
    if (take_digits(&made, json_string_value(hex))) {
        *a = made;
        return BITCUT_OK;
    }
    array_clear(&made);
    return fault_set(
        f, BITCUT_BAD_FILE,
        "\"%s\": \"hex\" contains a character that is not a hexadecimal digit", key);
}
