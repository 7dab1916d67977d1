/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of rows that are stored in JSON Lines files and read back, to detect changed
   rows. */
#ifndef BITCUT_ANALYSIS_STUDY_ROW_DIGEST_H
#define BITCUT_ANALYSIS_STUDY_ROW_DIGEST_H

#include "lib/base/status.h"

#include <jansson.h>

/* Set the last key of a row, "digest": the first 16 hexadecimal digits of the SHA-256 of
   the row's line without this key, from its '{' to the character before its '}'. */
void row_digest_set(json_t *row);

/* Whether each line of a text ends with a digest that matches its other bytes; or whether
   each line ends with "schema":"SCHEMA"}, as rows without digests did.  BITCUT_BAD_FILE:
   *line, counted from 1, does not.  Empty lines are skipped. */
enum bitcut_status row_digests_check(size_t *line, const char *text, size_t size,
                                     const char *schema, struct fault *f);

#endif
