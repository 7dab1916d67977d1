/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer target for the reader of recorded results, and for all figures of accepted
   results; data/results has seeds. clang -fsanitize=fuzzer,address,undefined. */
#include "analysis/bench/benchmark_plan.h"
#include "analysis/report/figure.h"
#include "analysis/study/results_derive.h"
#include "tests/fuzz.h"

/* Flat objects with the keys of the first. */
static void rows_check(json_t *rows)
{
    const char *key;
    json_t *value, *first = json_array_get(rows, 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        must(json_object_size(row) == json_object_size(first));
        json_object_foreach(first, key, value) must(json_object_get(row, key) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct results results = { { NULL } };
    struct fault f = { .status = BITCUT_OK, .text = "" };
    size_t line;
    const enum bitcut_status status = results_parse(&results, &line, bytes, size, &f);
    if (status) {
        must(status == BITCUT_BAD_FILE);
        for (int i = 0; i < RESULT_KINDS; i++) must(!results.rows[i]);
        fault_check(&f, status);
        return 0;
    }
    results_derive(&results, shape_set_of);
    for (const struct figure *g = figures; g->name; g++) {
        json_t *rows = figure_rows(g, &results), *origin = figure_origin(g, &results);
        rows_check(rows);
        must(json_is_string(origin));
        json_decref(rows);
        json_decref(origin);
    }
    results_clear(&results);
    return 0;
}
