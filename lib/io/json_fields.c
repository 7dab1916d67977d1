/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/json_fields.h"

enum bitcut_status json_check_fields(const json_t *row, const struct json_field *fields,
                                     struct fault *f)
{
    for (const struct json_field *field = fields; field->name; field++) {
        const json_t *value = json_object_get(row, field->name);
        if (field->kind->holds(value)) continue;
        return value ? fault_set(f, BITCUT_BAD_FILE, "\"%s\" is not %s", field->name,
                                 field->kind->what)
                     : fault_set(f, BITCUT_BAD_FILE, "missing key \"%s\", %s",
                                 field->name, field->kind->what);
    }
    return BITCUT_OK;
}
