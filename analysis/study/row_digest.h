/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of rows that are kept in files of JSON Lines and read back: they tell a row that
   was damaged from one that was not. */
#ifndef BITCUT_ANALYSIS_STUDY_ROW_DIGEST_H
#define BITCUT_ANALYSIS_STUDY_ROW_DIGEST_H

#include "lib/base/status.h"

#include <jansson.h>

/* Set the last key of a row, "digest": the first 16 hexadecimal digits of the SHA-256 of the
   line that the row is without it, from its '{' to what stands before its '}'. */
void row_digest_set(json_t *row);

/* Whether each line of a text ends with a digest, which is that of its other bytes; or each
   ends with "schema":"SCHEMA"}, as rows did that had none.  BITCUT_BAD_FILE: *line, counted
   from 1, does not.  Empty lines are passed over. */
enum bitcut_status row_digests_check(size_t *line, const char *text, size_t size,
                                     const char *schema, struct fault *f);

#endif
