/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/say.h"

#include "analysis/evidence/json_value.h"
#include "lib/text.h"

#include <math.h>
#include <stdio.h>

bool say_verbose;

/* --- values ----------------------------------------------------------------------- */

const char *say_number(char text[SAY_NUMBER_MOST], const json_t *row, const char *key,
                       int digits)
{
    const json_t *value = json_object_get(row, key);
    const char *word = json_string_value(value);
    if (json_is_integer(value))
        snprintf(text, SAY_NUMBER_MOST, "%lld", (long long)json_integer_value(value));
    else if (json_is_number(value))
        snprintf(text, SAY_NUMBER_MOST, "%.*g", digits, json_number_value(value));
    else snprintf(text, SAY_NUMBER_MOST, "%s", word ? word : "?");
    return text;
}

bool say_value(char *text, size_t size, const struct emit_line *line, const json_t *row)
{
    const json_t *value = json_object_get(row, line->key);
    char number[SAY_NUMBER_MOST];
    say_more(text, size, "%s",
             json_is_string(value) ? json_string_value(value)
                                   : say_number(number, row, line->key, 3));
    return true;
}

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
