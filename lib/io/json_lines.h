/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON Lines: texts with one JSON value on each line. */
#ifndef BITCUT_LIB_IO_JSON_LINES_H
#define BITCUT_LIB_IO_JSON_LINES_H

#include "lib/base/status.h"

#include <jansson.h>

enum { JSON_LINES_MAX = 1 << 28 }; /* largest file, bytes */

/* Pass the value of each line of a text to take(), from the first on; empty lines are
   skipped.  take() owns the array or object in any case, and may refuse it.
   BITCUT_BAD_FILE: a line is not JSON.  *line is the number of the wrong line, counted
   from 1. */
enum bitcut_status json_lines_parse(size_t *line, const void *bytes, size_t size,
                                    enum bitcut_status (*take)(void *context, json_t *row,
                                                               struct fault *f),
                                    void *context, struct fault *f);

/* The same for the file `path`.  BITCUT_UNSUPPORTED, with *line 0: the file cannot be
   read. */
enum bitcut_status json_lines_read(size_t *line, const char *path,
                                   enum bitcut_status (*take)(void *context, json_t *row,
                                                              struct fault *f),
                                   void *context, struct fault *f);

#endif
