/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/predict/cublas.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t at;
} rows[CUBLAS_FIELDS_MAX] = {
    { "id", offsetof(struct cublas_fields, id) },
    { "tile", offsetof(struct cublas_fields, tile) },
    { "stages", offsetof(struct cublas_fields, stages) },
    { "splits", offsetof(struct cublas_fields, splits) },
    { "scheme", offsetof(struct cublas_fields, scheme) },
    { "swizzle", offsetof(struct cublas_fields, swizzle) },
    { "custom", offsetof(struct cublas_fields, custom) },
    { "inner", offsetof(struct cublas_fields, inner) },
    { "cluster", offsetof(struct cublas_fields, cluster) },
};

/* The row that an item such as "splits=9" names, and its value; an item without a name
   has the row at `place`. */
static int row_of(const char **value, const char *item, size_t length, int place)
{
    const char *const equals = memchr(item, '=', length);
    *value = equals ? equals + 1 : item;
    if (!equals) return place < CUBLAS_FIELDS_MAX ? place : -1;
    for (int i = 0; i < CUBLAS_FIELDS_MAX; i++)
        if (strlen(rows[i].name) == (size_t)(equals - item) &&
            !strncmp(rows[i].name, item, (size_t)(equals - item)))
            return i;
    return -1;
}

enum bitcut_status cublas_fields_read(struct cublas_fields *to, const char *line,
                                      struct fault *f)
{
    struct cublas_fields x = { .id = 0 };
    int items = 0, named = 0;
    for (const char *at = line; *at || items == 0; items++) {
        const size_t length = strcspn(at, ",");
        const char *value;
        char *end;
        const int row = row_of(&value, at, length, items);
        const unsigned long number = strtoul(value, &end, 10);
        if (row < 0 || *value < '0' || *value > '9' || end != at + length ||
            number > UINT32_MAX)
            return fault_option(f, "fields",
                                "%.*s is not one of id, tile, stages, splits, scheme, "
                                "swizzle, custom, inner, cluster, with a number",
                                (int)length, at);
        memcpy((char *)&x + rows[row].at, &(uint32_t){ (uint32_t)number },
               sizeof(uint32_t));
        named += value != at;
        at += length + (at[length] == ',');
    }
    if (named != items && (named || items != CUBLAS_FIELDS_MAX))
        return fault_option(f, "fields", "name each field, or give all nine");
    *to = x;
    return BITCUT_OK;
}
