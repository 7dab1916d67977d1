/* SPDX-License-Identifier: BSD-3-Clause */
/* What `bitcut run --audit -o FILE` wrote, which may come from anybody. */
#ifndef BITCUT_ANALYSIS_REPORT_AUDIT_FILE_H
#define BITCUT_ANALYSIS_REPORT_AUDIT_FILE_H

#include "lib/base/status.h"

#include <jansson.h>

/* The columns of its lists of objects, each list ended by NULL: nothing else that is in
   them goes into a report. */
extern const char *const audit_values_keys[], *const audit_kept_keys[],
    *const audit_bits_keys[], *const audit_chips_keys[], *const audit_scales_keys[];

/* Append the rows of places to *places, each with a "place" unlike all others, and set *total to the row of the whole run, or NULL.  Both
   are to be released, whatever comes back.  BITCUT_BAD_FILE: what *line has is no row of
   an audit, or has a value of another kind; or there is no place (*line 0).  The same of
   a file: BITCUT_UNSUPPORTED and BITCUT_NO_MEMORY, too. */
enum bitcut_status audit_parse(json_t *places, json_t **total, size_t *line,
                               const void *bytes, size_t size, struct fault *f);
enum bitcut_status audit_read(json_t *places, json_t **total, size_t *line,
                              const char *path, struct fault *f);

#endif
