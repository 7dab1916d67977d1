/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/evidence/set.h"

#include "analysis/evidence/set_line.h"
#include "emu/summation.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/io/json_value.h"
#include "lib/io/npy.h"
#include "lib/io/output.h"
#include "lib/io/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LENGTH_MAX = 4096, NAME_LENGTH_MAX = 128, META_MAX = 1 << 20 };

/* The arrays of a set, in the order of `files`, whose names are also their keys in a
   line. */
enum { A, B, C, D, SCALE_A, SCALE_B, FILES };

static const char *const keys[FILES] = { "A", "B", "C", "D", "scale_a", "scale_b" };
static const char *const files[FILES] = { "A.npy", "B.npy",       "C.npy",
                                          "D.npy", "scale_a.npy", "scale_b.npy" };

static void set_arrays(struct array *to[FILES], struct set *s)
{
    struct array *const arrays[FILES] = { &s->a, &s->b,       &s->c,
                                          &s->d, &s->scale_a, &s->scale_b };
    memcpy(to, arrays, sizeof arrays);
}

static bool path_join(char path[PATH_LENGTH_MAX], const char *folder, const char *file)
{
    const int n = snprintf(path, PATH_LENGTH_MAX, "%s/%s", folder, file);
    return n > 0 && n < PATH_LENGTH_MAX;
}

/* --- meta.json -------------------------------------------------------------------- */

static const char *part(const json_t *meta, const char *key)
{
    return json_string_value(json_object_get(meta, key));
}

/* Check that meta has the unit's name as "unit", or add it from its parts.  Returns false
   if a part is missing. */
static bool complete_name(json_t *meta)
{
    static const char *const parts[] = { "arch", "family", "shape", "output", "input" };
    if (part(meta, "unit")) return true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!part(meta, parts[i])) return false;
    json_object_set_new(meta, "unit",
                        json_sprintf("%s/%s.%s.%s.%s", part(meta, "arch"),
                                     part(meta, "family"), part(meta, "shape"),
                                     part(meta, "output"), part(meta, "input")));
    return true;
}

enum { FORMAT_A, FORMAT_B, FORMAT_C, FORMAT_SCALE, FORMAT_PARTS };

/* Formats from the parts of a name: family.shape.output.input[.input_b]. */
static void formats_of_name(const struct bitcut_format *to[FORMAT_PARTS],
                            const char *name)
{
    char copy[NAME_LENGTH_MAX], *word[5] = { 0 }, *rest = NULL;
    const char *slash = strchr(name, '/');
    snprintf(copy, sizeof copy, "%s", slash ? slash + 1 : name);
    word[0] = strtok_r(copy, ".", &rest);
    for (int i = 1; i < 5 && word[i - 1]; i++) word[i] = strtok_r(NULL, ".", &rest);
    if (!word[3]) return;
    to[FORMAT_C] = table_find(TABLE(formats), word[2]);
    to[FORMAT_A] = table_find(TABLE(formats), word[3]);
    to[FORMAT_B] = word[4] ? table_find(TABLE(formats), word[4]) : to[FORMAT_A];
}

/* A unit that is not in the table: the properties that the set itself gives. */
static enum bitcut_status describe_unknown(struct set *s, const char *name,
                                           struct fault *f)
{
    static const char *const parts[FORMAT_PARTS] = { "a", "b", "c", "scale" };
    const struct bitcut_format *format[FORMAT_PARTS] = { NULL };
    formats_of_name(format, name);
    for (int i = 0; i < FORMAT_PARTS; i++) {
        const char *given = part(s->meta, parts[i]);
        if (given) format[i] = table_find(TABLE(formats), given);
        if (given && !format[i])
            return fault_set(f, BITCUT_BAD_FILE, "unknown format \"%.*s\"",
                             text_fit(given, 60), given);
        if (!format[i] && i != FORMAT_SCALE)
            return fault_set(
                f, BITCUT_BAD_FILE,
                "unknown unit \"%.*s\", and key \"%s\" with a format is missing",
                text_fit(name, 100), name, parts[i]);
    }
    const json_int_t block = json_integer_value(json_object_get(s->meta, "scale_block"));
    if (format[FORMAT_SCALE] && (block < 1 || block > INT32_MAX))
        return fault_set(f, BITCUT_BAD_FILE, "\"scale\" requires \"scale_block\"");
    s->unit = (struct bitcut_unit){ .name = name,
                                    .a = format[FORMAT_A],
                                    .b = format[FORMAT_B],
                                    .c = format[FORMAT_C],
                                    .scale = format[FORMAT_SCALE],
                                    .scale_block = (int)block,
                                    .summation = summations[0] };
    return BITCUT_OK;
}

static enum bitcut_status find_unit(struct set *s, struct fault *f)
{
    if (!json_is_object(s->meta) || !complete_name(s->meta))
        return fault_set(f, BITCUT_BAD_FILE, "missing key \"unit\"");
    const char *nan = part(s->meta, "nan");
    s->negative_nan = nan && !strcmp(nan, "negative");
    if (json_object_get(s->meta, "nan") && !s->negative_nan)
        return fault_set(f, BITCUT_BAD_FILE, "\"nan\" must be \"negative\"");
    const char *name = part(s->meta, "unit");
    const struct bitcut_unit *row = table_find(TABLE(units), name);
    if (!row) return describe_unknown(s, name, f);
    s->unit = *row;
    s->known = true;
    return BITCUT_OK;
}

static enum bitcut_status parse_meta(struct set *s, const char *bytes, size_t size,
                                     struct fault *f)
{
    json_error_t error;
    s->meta = json_loadb(bytes, size, 0, &error);
    if (!s->meta)
        return fault_set(f, BITCUT_BAD_FILE, "meta.json line %d: %s", error.line,
                         error.text);
    struct fault inner;
    const enum bitcut_status status = find_unit(s, &inner);
    return status == BITCUT_OK ? status
                               : fault_set(f, status, "meta.json: %.200s", inner.text);
}

/* The keys of a line other than its arrays. */
static enum bitcut_status take_meta(struct set *s, const json_t *line, struct fault *f)
{
    s->meta = json_copy((json_t *)line);
    if (!s->meta) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    for (int i = 0; i < FILES; i++) json_object_del(s->meta, keys[i]);
    return find_unit(s, f);
}

static enum bitcut_status read_meta(struct set *s, const char *folder, struct fault *f)
{
    char path[PATH_LENGTH_MAX], *bytes;
    size_t size;
    struct fault inner;
    if (!path_join(path, folder, "meta.json"))
        return fault_set(f, BITCUT_UNSUPPORTED, "the name is too long");
    enum bitcut_status status = stream_read_file(&bytes, &size, path, META_MAX, &inner);
    if (status != BITCUT_OK) return fault_set(f, status, "meta.json: %.200s", inner.text);
    status = parse_meta(s, bytes, size, f);
    free(bytes);
    return status;
}

/* --- arrays ----------------------------------------------------------------------- */

/* The source of a set: a folder, or, if `line` is not NULL, a line. */
struct source {
    const char *folder;
    json_t *line;
};

static bool is_there(const struct source *from, int i)
{
    char path[PATH_LENGTH_MAX];
    if (from->line) return json_object_get(from->line, keys[i]) != NULL;
    /* A file that cannot be examined counts as existing: reading it reports the reason.
     */
    return path_join(path, from->folder, files[i]) &&
           (access(path, F_OK) == 0 || errno != ENOENT);
}

static enum bitcut_status read_array(struct array *a, const struct source *from, int i,
                                     struct fault *f)
{
    const char *file = files[i];
    char path[PATH_LENGTH_MAX];
    struct fault inner;
    if (from->line) return set_line_array(a, from->line, keys[i], f);
    if (!path_join(path, from->folder, file))
        return fault_set(f, BITCUT_UNSUPPORTED, "the name is too long");
    const enum bitcut_status status = npy_read(a, path, &inner);
    return status == BITCUT_OK ? status
                               : fault_set(f, status, "%s: %s", file, inner.text);
}

/* For a unit without a row: the shape given by the arrays. */
static void take_shape(struct set *s)
{
    if (s->known || s->a.dims < 2 || s->b.dims < 2) return;
    const size_t k = s->a.dim[s->a.dims - 1];
    s->unit.k = k <= INT32_MAX ? (int)k : 0;
    s->unit.m = (int)(s->a.dim[s->a.dims - 2] & INT32_MAX);
    s->unit.n = (int)(s->b.dim[s->b.dims - 1] & INT32_MAX);
}

static enum bitcut_status check_arrays(struct set *s, struct fault *f)
{
    const struct fragments x = set_fragments(s);
    struct fragments result = x;
    result.c = &s->d;
    take_shape(s);
    if (!s->c.count) return fault_set(f, BITCUT_BAD_FILE, "the set has no outputs");
    if (!s->known && s->unit.scale && s->unit.k % s->unit.scale_block)
        return fault_set(f, BITCUT_BAD_FILE, "meta.json: \"scale_block\" must divide k");
    enum bitcut_status status = fragments_check(&s->shape, &s->unit, &x, f);
    if (status == BITCUT_OK && s->recorded)
        status = fragments_check(&s->shape, &s->unit, &result, f);
    return status;
}

static enum bitcut_status read_arrays(struct set *s, const struct source *from,
                                      unsigned needs, struct fault *f)
{
    struct array *to[FILES];
    set_arrays(to, s);
    s->recorded = needs & SET_RECORDED || (!(needs & SET_OPERANDS) && is_there(from, D));
    for (int i = 0; i < FILES; i++) {
        if (i == D && !s->recorded) continue;
        if (i >= SCALE_A && !s->unit.scale) continue;
        const enum bitcut_status status = read_array(to[i], from, i, f);
        if (status != BITCUT_OK) return status;
    }
    const enum bitcut_status status = check_arrays(s, f);
    if (status == BITCUT_BAD_ARGUMENT) f->status = BITCUT_BAD_FILE;
    return status == BITCUT_OK ? status : BITCUT_BAD_FILE;
}

/* --- sets ------------------------------------------------------------------------- */

static enum bitcut_status read_source(struct set *s, const struct source *from,
                                      unsigned needs, struct fault *f)
{
    struct set x = { 0 };
    enum bitcut_status status =
        from->line ? take_meta(&x, from->line, f) : read_meta(&x, from->folder, f);
    if (status == BITCUT_OK && needs & SET_KNOWN && !x.known)
        status = fault_set(f, BITCUT_BAD_FILE, "%sunknown unit \"%s\"",
                           from->line ? "" : "meta.json: ", x.unit.name);
    if (status == BITCUT_OK) status = read_arrays(&x, from, needs, f);
    if (status == BITCUT_OK) *s = x;
    else set_clear(&x);
    return status;
}

enum bitcut_status set_read(struct set *s, const char *folder, unsigned needs,
                            struct fault *f)
{
    struct source from = { .folder = folder };
    enum bitcut_status status = set_line_read(&from.line, folder, f);
    if (status == BITCUT_OK) status = read_source(s, &from, needs, f);
    json_decref(from.line);
    return status;
}

enum bitcut_status set_read_line(struct set *s, json_t *line, unsigned needs,
                                 struct fault *f)
{
    return read_source(s, &(struct source){ .line = line }, needs, f);
}

void set_clear(struct set *s)
{
    struct array *arrays[FILES];
    set_arrays(arrays, s);
    for (int i = 0; i < FILES; i++) array_clear(arrays[i]);
    json_decref(s->meta);
    s->meta = NULL;
}

static bool is_negative_nan(const struct bitcut_format *f, uint64_t encoding)
{
    return format_decode(f, encoding).kind == NUMBER_NAN && encoding >> (f->bits - 1) & 1;
}

bool set_has(const struct set *s, size_t at, uint64_t got)
{
    const uint64_t want = array_get(&s->d, at);
    return got == want || (s->negative_nan && is_negative_nan(s->unit.c, want) &&
                           is_negative_nan(s->unit.c, got));
}

struct fragments set_fragments(const struct set *s)
{
    return (struct fragments){ &s->a, &s->b, &s->c, s->unit.scale ? &s->scale_a : NULL,
                               s->unit.scale ? &s->scale_b : NULL };
}

static int bytes_of(const struct bitcut_format *f) { return (f->bits + 7) / 8; }

enum bitcut_status set_init(struct set *s, const struct bitcut_unit *u,
                            struct fragment_shape shape, bool recorded, struct fault *f)
{
    const size_t blocks = u->scale ? shape.k / (size_t)u->scale_block : 0;
    const struct {
        bool wanted;
        size_t rows, cols;
        const struct bitcut_format *format;
    } array[FILES] = {
        [A] = { true, shape.m, shape.k, u->a },
        [B] = { true, shape.k, shape.n, u->b },
        [C] = { true, shape.m, shape.n, u->c },
        [D] = { recorded, shape.m, shape.n, u->c },
        [SCALE_A] = { u->scale != NULL, shape.m, blocks, u->scale },
        [SCALE_B] = { u->scale != NULL, blocks, shape.n, u->scale },
    };
    struct set x = { .unit = *u, .known = true, .recorded = recorded, .shape = shape };
    struct array *to[FILES];
    enum bitcut_status status = BITCUT_OK;
    set_arrays(to, &x);
    for (int i = 0; i < FILES && status == BITCUT_OK; i++) {
        const size_t dim[3] = { shape.count, array[i].rows, array[i].cols };
        if (array[i].wanted)
            status = array_init(to[i], 3, dim, bytes_of(array[i].format), false, f);
    }
    if (status == BITCUT_OK && !(x.meta = json_pack("{s:s}", "unit", u->name)))
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (status == BITCUT_OK) *s = x;
    else set_clear(&x);
    return status;
}

/* --- writing ---------------------------------------------------------------------- */

/* Make the folder and its missing parents.  Returns false with errno set. */
static bool make_folders(const char *folder)
{
    char path[PATH_LENGTH_MAX];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST) return false;
        *at = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

enum bitcut_status folder_make(const char *folder, struct fault *f)
{
    if (!*folder)
        return fault_set(f, BITCUT_UNSUPPORTED, "the name of the folder is empty");
    if (strlen(folder) >= PATH_LENGTH_MAX)
        return fault_set(f, BITCUT_UNSUPPORTED, "the name is too long");
    if (!make_folders(folder))
        return fault_set(f, BITCUT_UNSUPPORTED, "cannot create the folder: %s",
                         strerror(errno));
    return BITCUT_OK;
}

static enum bitcut_status begin_folder(const char *folder, struct fault *f)
{
    char path[PATH_LENGTH_MAX];
    const enum bitcut_status status = folder_make(folder, f);
    if (status != BITCUT_OK) return status;
    if (!path_join(path, folder, "meta.json"))
        return fault_set(f, BITCUT_UNSUPPORTED, "the name is too long");
    if (unlink(path) != 0 && errno != ENOENT)
        return fault_set(f, BITCUT_UNSUPPORTED, "meta.json: %s", strerror(errno));
    return BITCUT_OK;
}

static enum bitcut_status write_meta(const char *path, const json_t *meta,
                                     struct fault *f)
{
    struct output o;
    char *text = json_dumps(meta, JSON_INDENT(1));
    if (!text) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = output_open(&o, path, f);
    if (status == BITCUT_OK) {
        json_put(o.file, text);
        fputc('\n', o.file);
        status = output_commit(&o, f);
    }
    free(text);
    return status;
}

enum bitcut_status set_write(const char *folder, const struct set *s, struct fault *f)
{
    struct set copy = *s; /* the same arrays, for a pointer to each */
    struct array *from[FILES];
    char path[PATH_LENGTH_MAX];
    set_arrays(from, &copy);
    enum bitcut_status status = begin_folder(folder, f);
    for (int i = 0; i < FILES && status == BITCUT_OK; i++)
        if (from[i]->data && path_join(path, folder, files[i]))
            status = npy_write(path, from[i], f);
    if (status == BITCUT_OK && path_join(path, folder, "meta.json"))
        status = write_meta(path, s->meta, f);
    return status;
}
