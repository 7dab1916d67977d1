/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/distinct.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *distinct_array(size_t count, size_t size)
{
    json_malloc_t allocate;
    json_get_alloc_funcs(&allocate, NULL);
    if (count == 0) count = 1;
    if (count > SIZE_MAX / size) return allocate(SIZE_MAX);
    return memset(allocate(count * size), 0, count * size);
}

/* The values of the keys as a text, which the caller frees. */
static char *text_of(const json_t *row, const char *const *keys)
{
    json_t *values = json_array();
    for (; *keys; keys++) {
        json_t *value = json_object_get(row, *keys);
        json_array_append_new(values, value ? json_incref(value) : json_null());
    }
    char *text = json_dumps(values, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(values);
    return text;
}

/* Put row `at` into its group; `known` maps texts to group numbers. */
static void add(struct distinct *d, json_t *known, const json_t *row, size_t at,
                const char *const *keys)
{
    char *text = text_of(row, keys);
    const json_t *number = json_object_get(known, text);
    d->group[at] = number ? (size_t)json_integer_value(number) : d->groups;
    if (!number) {
        d->first[d->groups] = at;
        json_object_set_new(known, text, json_integer((json_int_t)d->groups++));
    }
    free(text);
}

void distinct_init(struct distinct *d, json_t *rows, const char *const *keys)
{
    json_t *known = json_object();
    *d = (struct distinct){ .rows = json_array_size(rows) };
    d->group = distinct_array(d->rows, sizeof *d->group);
    d->first = distinct_array(d->rows, sizeof *d->first);
    for (size_t i = 0; i < d->rows; i++) add(d, known, json_array_get(rows, i), i, keys);
    json_decref(known);
}

void distinct_of(struct distinct *d, json_t *rows, const char *key)
{
    distinct_init(d, rows, (const char *const[]){ key, NULL });
}

void distinct_clear(struct distinct *d)
{
    free(d->group);
    free(d->first);
    *d = (struct distinct){ .rows = 0 };
}
