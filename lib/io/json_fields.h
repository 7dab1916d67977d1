/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields that an object in a file from outside must have, as a table. */
#ifndef BITCUT_LIB_IO_JSON_FIELDS_H
#define BITCUT_LIB_IO_JSON_FIELDS_H

#include "lib/base/status.h"

#include <jansson.h>
#include <stdbool.h>

/* A kind of values: a function that tests whether a value belongs to it (NULL: the key is
   missing), and its description, such as "a text or null". */
struct json_kind {
    bool (*holds)(const json_t *value);
    const char *what;
};

struct json_field {
    const char *name;
    const struct json_kind *kind;
};

/* Check that all fields, ended by {0}, have values of their kinds.  BITCUT_BAD_FILE names
   the first field that does not. */
enum bitcut_status json_check_fields(const json_t *row, const struct json_field *fields,
                                     struct fault *f);

#endif
