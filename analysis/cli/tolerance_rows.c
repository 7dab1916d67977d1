/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/tolerance_rows.h"

#include "analysis/sampling/c_function.h"
#include "analysis/sampling/python_lines.h"
#include "lib/io/json_record.h"

#include <stdio.h>

/* The tests as lines of Python, for each library and for both limits. */
static void add_python(json_t *row, const struct tolerance *t,
                       const struct tolerance_problem *q)
{
    for (const struct python_library *l = python_libraries; l->name; l++)
        for (int observed = 1; observed >= 0; observed--) {
            char line[PYTHON_LINES][PYTHON_LINE_MAX], key[40];
            json_t *const list = json_array();
            const int count = python_lines(line, l, t, q, observed);
            for (int i = 0; i < count; i++)
                json_array_append_new(list, json_string(line[i]));
            snprintf(key, sizeof key, "%s%s", l->name, observed ? "" : "_bound");
            json_object_set_new(row, key, list);
        }
}

/* Of an FP64 GEMM, the test as a function in C. */
static void add_c(json_t *row, const struct tolerance *t,
                  const struct tolerance_problem *q)
{
    char line[C_LINES][C_LINE_MAX];
    json_t *const list = json_array();
    const int count = c_function(line, t, q);
    for (int i = 0; i < count; i++) json_array_append_new(list, json_string(line[i]));
    json_object_set_new(row, "c", list);
}

void tolerance_rows(json_t *row, const struct tolerance_answer *a, bool is_batch)
{
    record_json(row, tolerance_fields, &a->found->limits);
    if (!is_batch) add_python(row, a->found, a->problem);
    if (a->fp64) add_c(row, a->found, a->problem);
    if (!a->given) return;
    json_t *const given = json_object();
    record_json(given, given_fields, a->given);
    json_object_set_new(row, "given", given);
}
