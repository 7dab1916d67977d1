/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/field_json.h"

#include "lib/io/json_value.h"

json_t *field_json(const struct field *f, const struct bitcut_unit *u, int64_t value)
{
    char text[FIELD_TEXT_MAX];
    const enum bitcut_kind kind = field_value(text, f, u, value);
    return json_of_text(kind, text);
}
