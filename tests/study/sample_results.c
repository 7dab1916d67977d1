/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/study/sample_results.h"

#include "analysis/bench/benchmark_plan.h"
#include "analysis/cli/data_files.h"
#include "analysis/study/results_derive.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

json_t *sample_bench_row(const char *name, size_t m, size_t n, size_t k, double ms,
                         const char *more)
{
    json_t *row = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:n, s:f, s:n, s:n, s:n, s:f, s:n, s:n, s:f,"
        " s:n, s:n, s:n, s:n, s:n, s:i, s:n, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:s}",
        "name", name, "part", "whole", "m", (json_int_t)m, "n", (json_int_t)n, "k",
        (json_int_t)k, "ms", ms, "tflops", 100 / ms, "third", "relres", 1e-6, "compared",
        "mismatches", "fallback", "flops_per_byte", 8.0, "gb_per_second", "joules",
        "gflops_per_watt", 7.0, "pj_per_product", "recipe", "split", "tile", "stages",
        "split_k", 1, "fault", "study", "recipes", "input", "urand(-1,1)", "rounds", 5,
        "seed", 1, "device", "D1", "driver", "1.2", "runtime", "R", "library", "L");
    json_t *changes = json_loads(more, 0, NULL);
    ck_assert(row && changes);
    json_object_update(row, changes);
    json_decref(changes);
    return row;
}

enum bitcut_status sample_read_rows(struct results *r, size_t *line, json_t *rows,
                                    struct fault *f)
{
    static char text[1 << 16];
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        used += json_dumpb(json_array_get(rows, i), text + used, sizeof text - used, 0);
        text[used++] = '\n';
    }
    json_decref(rows);
    return results_parse(r, line, text, used, f);
}

struct results sample_results_of(json_t *rows)
{
    struct results r = { { NULL } };
    struct fault f;
    size_t line;
    ck_assert_msg(sample_read_rows(&r, &line, rows, &f) == BITCUT_OK, "line %zu: %s",
                  line, f.text);
    results_derive(&r, shape_set_of);
    return r;
}

void sample_read_kept(struct results *r)
{
    static struct data_files files;
    ck_assert_int_eq(data_files_find(&files, "results", ".jsonl", NULL), BITCUT_OK);
    for (const struct table_row *row = files.rows; row->name; row++) {
        char path[DATA_PATH_MAX + DATA_NAME_MAX + 8];
        size_t line;
        snprintf(path, sizeof path, "%s/%s.jsonl", files.folder, row->name);
        ck_assert_int_eq(results_read(r, &line, path, NULL), BITCUT_OK);
    }
    results_derive(r, shape_set_of);
}

json_t *sample_study_rows(const struct study *study)
{
    static char line[1 << 16];
    char path[4096];
    const char *data = getenv("BITCUT_DATA"), *source = getenv("srcdir");
    json_t *rows = json_array();
    snprintf(path, sizeof path, "%s%s/studies/%s.jsonl",
             data     ? data
             : source ? source
                      : "..",
             data ? "" : "/data", study->name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        json_t *row = json_loads(line, 0, NULL);
        ck_assert_msg(row != NULL, "%s: %.80s", path, line);
        if (study->renew) study->renew(row);
        json_array_append_new(rows, row);
    }
    if (f) fclose(f);
    return rows;
}
