/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/recorded_results.h"

#include "analysis/bench/benchmark_plan.h"
#include "analysis/cli/command.h"
#include "analysis/cli/data_files.h"
#include "analysis/cli/gpu_file.h"
#include "analysis/study/results_derive.h"
#include "lib/io/json_lines.h"
#include "lib/io/sha256.h"

#include <stdio.h>
#include <string.h>

enum { PATH_LENGTH_MAX = DATA_PATH_MAX + DATA_NAME_MAX + 8 };

static int fail_line(const char *path, size_t line, const struct fault *f)
{
    char where[PATH_LENGTH_MAX + 24];
    snprintf(where, sizeof where, line ? "%s:%zu" : "%s", path, line);
    return fail(where, f);
}

int recorded_read_file(struct results *r, const char *path)
{
    size_t line;
    struct fault f;
    if (results_read(r, &line, path, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail_line(path, line, &f);
}

int recorded_folder(const char *folder, const char *what, bool optional,
                    int (*read)(void *to, const char *path), void *to)
{
    static struct data_files kept;
    struct fault f;
    int status = EXIT_GOOD;
    if (data_files_find(&kept, folder, ".jsonl", &f) != BITCUT_OK)
        return optional && kept.missing ? EXIT_GOOD : fail(what, &f);
    for (size_t i = 0; kept.rows[i].name && status == EXIT_GOOD; i++) {
        char path[PATH_LENGTH_MAX];
        snprintf(path, sizeof path, "%s/%s.jsonl", kept.folder, kept.rows[i].name);
        status = read(to, path);
    }
    return status;
}

static int read_results(void *to, const char *path)
{
    return recorded_read_file(to, path);
}

int recorded_read_results(struct results *r)
{
    return recorded_folder("results", "recorded results", false, read_results, r);
}

static enum bitcut_status append(void *rows, json_t *row, struct fault *f)
{
    (void)f;
    json_array_append_new(rows, row);
    return BITCUT_OK;
}

static int read_libraries(void *rows, const char *path)
{
    size_t line;
    struct fault f;
    if (json_lines_read(&line, path, append, rows, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail_line(path, line, &f);
}

/* The descriptions of GPUs that come with bitcut. */
static int read_gpus(const struct study_gpu **gpus)
{
    static struct data_files kept;
    static struct study_gpu all[DATA_FILES_MAX + 1];
    char path[PATH_LENGTH_MAX];
    struct fault f;
    if (gpu_files_find(&kept, &f) != BITCUT_OK) return fail("GPUs", &f);
    for (size_t i = 0; kept.rows[i].name; i++) {
        snprintf(path, sizeof path, "%s/%s.json", kept.folder, kept.rows[i].name);
        if (gpu_file_read(&all[i].gpu, path, &f) != BITCUT_OK) return fail(path, &f);
        all[i].name = kept.rows[i].name;
    }
    *gpus = all;
    return EXIT_GOOD;
}

static int read_all_libraries(json_t **rows)
{
    *rows = json_array();
    return recorded_folder("libraries", "recorded libraries", false, read_libraries,
                           *rows);
}

static int read_all_results(const struct results **to, struct results *results)
{
    const int status = recorded_read_results(results);
    if (status != EXIT_GOOD) return status;
    results_derive(results, shape_set_of);
    *to = results;
    return EXIT_GOOD;
}

int recorded_sources(struct study_sources *to, struct results *results, unsigned reads)
{
    int status = EXIT_GOOD;
    *to = (struct study_sources){ .results = NULL };
    if (reads & READS_RESULTS) status = read_all_results(&to->results, results);
    if (status == EXIT_GOOD && reads & READS_GPUS) status = read_gpus(&to->gpus);
    if (status == EXIT_GOOD && reads & READS_LIBRARIES)
        status = read_all_libraries(&to->libraries);
    return status;
}

/* --- digests ---------------------------------------------------------------------- */

int recorded_digest_file(json_t *to, const char *path)
{
    char digest[SHA256_TEXT];
    struct fault f;
    if (sha256_of_file(digest, path, &f) != BITCUT_OK) return fail(path, &f);
    const char *const slash = strrchr(path, '/');
    json_array_append_new(to, json_pack("{s:o, s:s}", "file",
                                        json_text(slash ? slash + 1 : path), "sha256",
                                        digest));
    return EXIT_GOOD;
}

static int digest(void *to, const char *path) { return recorded_digest_file(to, path); }

int recorded_digests(json_t *to, const char *folder)
{
    return recorded_folder(folder, folder, false, digest, to);
}
