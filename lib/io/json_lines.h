/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON Lines: texts of one JSON value a line. */
#ifndef BITCUT_LIB_IO_JSON_LINES_H
#define BITCUT_LIB_IO_JSON_LINES_H

#include "lib/base/status.h"

#include <jansson.h>

enum { JSON_LINES_MAX = 1 << 28 }; /* bytes of a file */

/* Hand over the value of each line of a text, from the first on; lines without any
   character are passed over.  take() takes an array or object over, whatever becomes of
   it, and may refuse it.  BITCUT_BAD_FILE: a line is no JSON.  *line is the line at
   fault, counted from 1. */
enum bitcut_status json_lines_parse(size_t *line, const void *bytes, size_t size,
                                    enum bitcut_status (*take)(void *context, json_t *row,
                                                               struct fault *f),
                                    void *context, struct fault *f);

/* The same of the file `path`.  BITCUT_UNSUPPORTED, with *line 0: it cannot be read. */
enum bitcut_status json_lines_read(size_t *line, const char *path,
                                   enum bitcut_status (*take)(void *context, json_t *row,
                                                              struct fault *f),
                                   void *context, struct fault *f);

#endif
