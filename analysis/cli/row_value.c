/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/row_value.h"

#include <math.h>

const char *text_at(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

long long whole_at(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

double real_at(const json_t *row, const char *key)
{
    const json_t *const x = json_object_get(row, key);
    return json_is_number(x) ? json_number_value(x) : (double)INFINITY;
}
