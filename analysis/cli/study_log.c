/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/study_log.h"

#include "analysis/cli/command.h"
#include "analysis/study/row_digest.h"
#include "lib/io/json_lines.h"
#include "lib/io/json_value.h"
#include "lib/io/output.h"
#include "lib/io/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int study_scale_read(enum study_scale *scale, const char *name)
{
    *scale = STUDY_SMALL;
    if (!name) return EXIT_GOOD;
    const struct table_row *row = table_find(TABLE(study_scales), name);
    if (!row) return fail_unknown("--scale", name, TABLE(study_scales));
    *scale = (enum study_scale)(row - study_scales);
    return EXIT_GOOD;
}

static enum bitcut_status points_init(struct study_points *p, size_t count,
                                      struct fault *f)
{
    p->count = count;
    p->rows = memory_allocate(count, sizeof(json_t *));
    if (!p->rows) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    memset(p->rows, 0, count * sizeof(json_t *));
    return BITCUT_OK;
}

enum bitcut_status study_log_begin(struct study_log *book, enum study_scale scale,
                                   uint64_t seed, const char *version, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *book = (struct study_log){ .begun = true, .scale = scale, .seed = seed };
    snprintf(book->version, sizeof book->version, "%s", version);
    for (int i = 0; studies[i] && status == BITCUT_OK; i++)
        status = points_init(&book->of[i], studies[i]->points(studies[i], scale), f);
    return status;
}

/* A log without rows that has the points of another one: counting the points of a study
   may take milliseconds. */
static enum bitcut_status log_begin_like(struct study_log *book,
                                         const struct study_log *other, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *book = (struct study_log){ .begun = true };
    for (int i = 0; studies[i] && status == BITCUT_OK; i++)
        status = points_init(&book->of[i], other->of[i].count, f);
    return status;
}

void study_log_clear(struct study_log *book)
{
    for (int i = 0; i < LOG_STUDIES_MAX; i++) {
        struct study_points *p = &book->of[i];
        for (size_t at = 0; p->rows && at < p->count; at++) json_decref(p->rows[at]);
        free(p->rows);
    }
    memset(book, 0, sizeof *book);
}

static int study_number(const char *name)
{
    int i = 0;
    while (studies[i] && strcmp(studies[i]->name, name) != 0) i++;
    return i;
}

struct study_points *study_log_of(struct study_log *book, const struct study *study)
{
    return &book->of[study_number(study->name)];
}

/* --- lines ------------------------------------------------------------------------ */

#define SCHEMA "study"

static const char *const keys[] = { "study",   "scale",  "seed",   "point", "rows",
                                    "version", "schema", "digest", NULL };

json_t *study_log_line(const struct study_log *book, const struct study *study, size_t at,
                       size_t count, json_t *row)
{
    json_t *line =
        json_pack("{s:s, s:s, s:o, s:o, s:o}", "study", study->name, "scale",
                  study_scales[book->scale].name, "seed", json_seed(book->seed), "point",
                  json_count(at), "rows", json_count(count));
    json_object_update(line, row);
    if (*book->version && !book->unversioned)
        json_object_set_new(line, "version", json_string(book->version));
    emit_schema(line, SCHEMA);
    row_digest_set(line);
    return line;
}

/* --- reading ---------------------------------------------------------------------- */

static bool is_count(const json_t *x)
{
    return json_is_integer(x) && json_integer_value(x) >= 0;
}

static enum bitcut_status begin_by(struct study_log *book, const json_t *row,
                                   struct fault *f)
{
    const char *scale = json_string_value(json_object_get(row, "scale"));
    const json_t *seed = json_object_get(row, "seed");
    const struct table_row *found = scale ? table_find(TABLE(study_scales), scale) : NULL;
    if (!found || !(is_count(seed) || json_is_string(seed)))
        return fault_set(f, BITCUT_BAD_FILE, "expected a row of a study");
    return study_log_begin(book, (enum study_scale)(found - study_scales),
                           json_is_string(seed)
                               ? strtoull(json_string_value(seed), NULL, 10)
                               : (uint64_t)json_integer_value(seed),
                           "", f);
}

/* The rows of one file, by point as far as they were read. */
struct log_reader {
    struct study_log *log;
    const struct study *only; /* the study that they must belong to, or NULL */
    struct study_log file;    /* the points of this file */
};

/* The current schema of study_log_line(), in an object that the caller releases. */
static const char *schema_now(json_t **holder)
{
    *holder = json_object();
    emit_schema(*holder, SCHEMA);
    return json_string_value(json_object_get(*holder, "schema"));
}

static bool is_of_now(const json_t *row)
{
    json_t *now;
    const char *const schema = json_string_value(json_object_get(row, "schema"));
    const bool same = schema && !strcmp(schema, schema_now(&now));
    if (schema) json_decref(now);
    return same;
}

/* Rows of two versions may differ in what they compute. */
static enum bitcut_status check_version(struct study_log *book, const json_t *row,
                                        struct fault *f)
{
    const char *const version = json_string_value(json_object_get(row, "version"));
    if (!version) book->unversioned = true;
    else if (!*book->version && strlen(version) < sizeof book->version)
        strcpy(book->version, version);
    else if (strcmp(version, book->version) != 0)
        return fault_set(
            f, BITCUT_BAD_FILE,
            "the row was computed by bitcut %.40s, and others by %s; compute "
            "it again",
            version, book->version);
    return BITCUT_OK;
}

static enum bitcut_status check_line(const struct log_reader *r, const json_t *row,
                                     struct fault *f)
{
    struct study_log *const book = r->log;
    json_t *seed = json_seed(book->seed);
    const char *scale = json_string_value(json_object_get(row, "scale"));
    const bool same_seed = json_equal(seed, json_object_get(row, "seed"));
    json_decref(seed);
    if (!scale || strcmp(scale, study_scales[book->scale].name) != 0)
        return fault_set(f, BITCUT_BAD_FILE, "the scale of the row is not %s",
                         study_scales[book->scale].name);
    if (!same_seed)
        return fault_set(f, BITCUT_BAD_FILE, "the seed of the row is not %llu",
                         (unsigned long long)book->seed);
    if (r->only &&
        strcmp(r->only->name, json_string_value(json_object_get(row, "study"))) != 0)
        return fault_set(f, BITCUT_BAD_FILE, "the row does not belong to study %s",
                         r->only->name);
    if (!is_of_now(row))
        return fault_set(
            f, BITCUT_BAD_FILE,
            "the row was computed by another version of bitcut; compute it again");
    return check_version(book, row, f);
}

static enum bitcut_status take_line(void *context, json_t *row, struct fault *f)
{
    struct log_reader *r = context;
    const char *name = json_string_value(json_object_get(row, "study"));
    const json_t *at = json_object_get(row, "point"),
                 *count = json_object_get(row, "rows");
    const int i = name ? study_number(name) : 0;
    enum bitcut_status status = BITCUT_OK;
    if (!name || !studies[i] || !is_count(at) || !is_count(count))
        status = fault_set(f, BITCUT_BAD_FILE, "expected a row of a study");
    if (status == BITCUT_OK && !r->log->begun) status = begin_by(r->log, row, f);
    if (status == BITCUT_OK) status = check_line(r, row, f);
    if (status == BITCUT_OK && !r->file.begun)
        status = log_begin_like(&r->file, r->log, f);
    if (status == BITCUT_OK && (size_t)json_integer_value(at) >= r->file.of[i].count)
        status = fault_set(f, BITCUT_BAD_FILE, "%s has no point %lld", name,
                           (long long)json_integer_value(at));
    if (status == BITCUT_OK) {
        json_t **rows = &r->file.of[i].rows[json_integer_value(at)];
        if (!*rows) *rows = json_array();
        json_array_append(*rows, row);
    }
    json_decref(row);
    return status;
}

/* The rows of a point without the keys that only lines have; NULL: the point is
   incomplete. */
static json_t *whole_point(const struct study *study, json_t *lines)
{
    const json_int_t count =
        json_integer_value(json_object_get(json_array_get(lines, 0), "rows"));
    if ((json_int_t)json_array_size(lines) != count) return NULL;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        json_t *const row = json_array_get(lines, i);
        for (const char *const *key = keys; *key; key++) json_object_del(row, *key);
        if (study->renew) study->renew(row);
    }
    return json_incref(lines);
}

/* Move a point of a file into the log, if it is complete. */
static enum bitcut_status move_point(const struct log_reader *r, int i, size_t at,
                                     struct fault *f)
{
    json_t *lines = r->file.of[i].rows[at], **to = &r->log->of[i].rows[at],
           *rows = lines ? whole_point(studies[i], lines) : NULL;
    const bool other = rows && *to && !json_equal(rows, *to);
    if (rows && !*to) *to = rows;
    else json_decref(rows);
    if (other)
        return fault_set(f, BITCUT_BAD_FILE,
                         "point %zu of %s has different rows in another file", at,
                         studies[i]->name);
    if (lines && !rows && r->only)
        return fault_set(f, BITCUT_BAD_FILE, "point %zu of %s is incomplete", at,
                         studies[i]->name);
    return BITCUT_OK;
}

static enum bitcut_status move_points(const struct log_reader *r, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = 0; studies[i]; i++)
        for (size_t at = 0; at < r->file.of[i].count && status == BITCUT_OK; at++)
            status = move_point(r, i, at, f);
    return status;
}

/* First check the keys of the rows, since that message names another version or study. */
static enum bitcut_status read_lines(size_t *line, struct log_reader *r, const char *path,
                                     struct fault *f)
{
    char *bytes;
    size_t size;
    json_t *now;
    *line = 0;
    enum bitcut_status status = stream_read_file(&bytes, &size, path, JSON_LINES_MAX, f);
    if (status != BITCUT_OK) return status;
    status = json_lines_parse(line, bytes, size, take_line, r, f);
    if (status == BITCUT_OK) {
        status = row_digests_check(line, bytes, size, schema_now(&now), f);
        json_decref(now);
    }
    free(bytes);
    return status;
}

int study_log_read(struct study_log *book, const struct study *only, const char *path)
{
    static struct log_reader r;
    char where[4096];
    size_t line;
    struct fault f;
    r.log = book;
    r.only = only;
    enum bitcut_status status = read_lines(&line, &r, path, &f);
    snprintf(where, sizeof where, status != BITCUT_OK && line ? "%s:%zu" : "%s", path,
             line);
    if (status == BITCUT_OK && r.file.begun) status = move_points(&r, &f);
    study_log_clear(&r.file);
    return status == BITCUT_OK ? EXIT_GOOD : fail(where, &f);
}

/* --- writing ---------------------------------------------------------------------- */

static void write_point(FILE *to, const struct study_log *book, int i, size_t at)
{
    json_t *rows = book->of[i].rows[at];
    for (size_t r = 0; r < json_array_size(rows); r++) {
        json_t *line = study_log_line(book, studies[i], at, json_array_size(rows),
                                      json_array_get(rows, r));
        json_dumpf(line, to, JSON_COMPACT | JSON_REAL_PRECISION(17));
        fputc('\n', to);
        json_decref(line);
    }
}

enum bitcut_status study_log_write(const struct study_log *book, const char *path,
                                   struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status != BITCUT_OK) return status;
    for (int i = 0; studies[i]; i++)
        for (size_t at = 0; at < book->of[i].count; at++)
            write_point(o.file, book, i, at);
    return output_commit(&o, f);
}

json_t *study_log_rows(size_t *missing, const struct study_points *points)
{
    json_t *all = json_array();
    *missing = 0;
    for (size_t at = 0; at < points->count; at++)
        if (points->rows[at]) json_array_extend(all, points->rows[at]);
        else ++*missing;
    return all;
}
