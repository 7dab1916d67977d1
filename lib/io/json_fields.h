/* SPDX-License-Identifier: BSD-3-Clause */
/* What an object of a stranger's file has to hold, as a table. */
#ifndef BITCUT_LIB_IO_JSON_FIELDS_H
#define BITCUT_LIB_IO_JSON_FIELDS_H

#include "lib/base/status.h"

#include <jansson.h>
#include <stdbool.h>

/* A kind of values: whether a value is of it (NULL: there is none), and what it is in
   words, such as "a text or null". */
struct json_kind {
    bool (*holds)(const json_t *value);
    const char *what;
};

struct json_field {
    const char *name;
    const struct json_kind *kind;
};

/* Whether all fields, ended by {0}, are of their kinds.  BITCUT_BAD_FILE with the first
   that is not. */
enum bitcut_status json_check_fields(const json_t *row, const struct json_field *fields,
                                     struct fault *f);

#endif
