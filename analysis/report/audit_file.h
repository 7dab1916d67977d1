/* SPDX-License-Identifier: BSD-3-Clause */
/* Files written by `bitcut run --audit -o FILE`.  Their contents are not trusted. */
#ifndef BITCUT_ANALYSIS_REPORT_AUDIT_FILE_H
#define BITCUT_ANALYSIS_REPORT_AUDIT_FILE_H

#include "lib/base/status.h"

#include <jansson.h>

/* The columns of its lists of objects, each list ended by NULL.  Nothing else in these
   lists enters a report. */
extern const char *const audit_values_keys[], *const audit_kept_keys[],
    *const audit_bits_keys[], *const audit_chips_keys[], *const audit_scales_keys[];

/* Append the rows of call sites to *sites, each with a unique "call_site", and set *total
   to the row of the whole run, or NULL.  The caller releases both after any status.
   Returns BITCUT_BAD_FILE if line *line is no row of an audit or has a value of another
   type, or if there is no call site (*line 0).  The second function reads a file, and
   also returns BITCUT_UNSUPPORTED and BITCUT_NO_MEMORY. */
enum bitcut_status audit_parse(json_t *sites, json_t **total, size_t *line,
                               const void *bytes, size_t size, struct fault *f);
enum bitcut_status audit_read(json_t *sites, json_t **total, size_t *line,
                              const char *path, struct fault *f);

#endif
