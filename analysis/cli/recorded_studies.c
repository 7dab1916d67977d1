/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/recorded_studies.h"

#include "analysis/cli/command.h"
#include "analysis/cli/recorded_results.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

static const char folder[] = "studies", ending[] = ".jsonl";

/* The study after which a file is named, or NULL. */
static const struct study *study_of_file(const char *path)
{
    enum { NAME_LENGTH_MAX = 64 };
    char name[NAME_LENGTH_MAX];
    const char *const slash = strrchr(path, '/'), *const base = slash ? slash + 1 : path;
    const size_t length = text_stem(base, ending);
    if (!length || length >= NAME_LENGTH_MAX) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, base);
    return table_find(TABLE(studies), name);
}

static int read_file(void *to, const char *path)
{
    struct recorded_studies *recorded = to;
    const struct study *study = study_of_file(path);
    struct fault f;
    if (!study) {
        fault_set(&f, BITCUT_BAD_FILE, "unknown study; see bitcut list studies");
        return fail(path, &f);
    }
    const int status = study_log_read(&recorded->log, study, path);
    if (status != EXIT_GOOD) return status;
    json_t *file = json_array();
    json_object_set_new(recorded->files, study->name, file);
    return recorded_digest_file(file, path);
}

int recorded_studies_read(struct recorded_studies *recorded)
{
    struct fault f;
    recorded->files = json_object();
    if (study_log_begin(&recorded->log, (enum study_scale)RECORDED_SCALE, RECORDED_SEED,
                        "", &f) != BITCUT_OK)
        return fail(folder, &f);
    return recorded_folder(folder, folder, true, read_file, recorded);
}

void recorded_studies_clear(struct recorded_studies *recorded)
{
    json_decref(recorded->files);
    study_log_clear(&recorded->log);
    recorded->files = NULL;
}

/* Whether two rows have the same keys, in any order. */
static bool same_keys(json_t *a, json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach(a, key, value)
    {
        if (!json_object_get(b, key)) return false;
    }
    return json_object_size(a) == json_object_size(b);
}

int recorded_studies_check(struct recorded_studies *recorded, const struct study *study,
                           json_t *rows)
{
    char name[80];
    struct fault f;
    const struct study_points *points = study_log_of(&recorded->log, study);
    bool same = true;
    for (size_t at = 0; at < points->count; at++)
        for (size_t i = 0; i < json_array_size(points->rows[at]); i++)
            same &=
                same_keys(json_array_get(points->rows[at], i), json_array_get(rows, 0));
    if (same) return EXIT_GOOD;
    snprintf(name, sizeof name, "%s/%s%s", folder, study->name, ending);
    fault_set(&f, BITCUT_BAD_FILE,
              "its keys do not match the rows of %s; compute it again", study->name);
    return fail(name, &f);
}
