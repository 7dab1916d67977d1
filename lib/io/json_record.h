/* SPDX-License-Identifier: BSD-3-Clause */
/* A described struct as JSON. */
#ifndef BITCUT_LIB_IO_JSON_RECORD_H
#define BITCUT_LIB_IO_JSON_RECORD_H

#include "lib/base/record.h"

#include <jansson.h>

/* Set the keys of a record in `to`, an object, in the order of the table.  The key of a
   text or row that is NULL becomes null. */
void record_json(json_t *to, const struct record_field *field, const void *record);

/* The same for some keys only, ended by NULL, in their order. */
void record_json_keys(json_t *to, const struct record_field *field, const void *record,
                      const char *const *key);

/* Append the items of one key, which is a list, to an array. */
void record_json_items(json_t *to, const struct record_field *field, const void *record,
                       const char *key);

#endif
