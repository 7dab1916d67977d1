/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded sets as lines of a file. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_LINE_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_LINE_H

#include "lib/gemm/matrix.h"

#include <jansson.h>

/* FILE:N is line N of FILE, counted from 1: an object of JSON with all that meta.json
   holds, and for each array a key, its file's name without ".npy": {"shape": [...],
   "hex": "..."}, encodings from their highest digit on, in C order, each of 2, 4, 8 or 16
   digits. */

/* A line of a file: its number, where it begins and its length in bytes. */
struct set_line {
    size_t number, at, length;
};

/* How many lines of the regular file `path` are not empty: *lines, to be freed, has
   `count` of them.  BITCUT_UNSUPPORTED; BITCUT_BAD_FILE: it is larger than
   JSON_LINES_MAX, or the first of them does not begin as an object; BITCUT_NO_MEMORY. */
enum bitcut_status set_lines(struct set_line **lines, size_t *count, const char *path,
                             struct fault *f);

/* The JSON object of a line that set_lines() found in `path`.  No other line is read.
   BITCUT_UNSUPPORTED or BITCUT_BAD_FILE: the line is gone, or is no object;
   BITCUT_NO_MEMORY. */
enum bitcut_status set_line_at(json_t **row, const char *path, const struct set_line *line,
                               struct fault *f);

/* The object of the line that `name` means, for which all of the file is read: *row, or
   NULL if it means none. BITCUT_UNSUPPORTED or BITCUT_BAD_FILE: the file has no such
   line, or it is no object. */
enum bitcut_status set_line_read(json_t **row, const char *name, struct fault *f);

/* The array of a key of a line.  BITCUT_BAD_FILE with the key in the text: it is missing,
   or shape and digits do not agree; BITCUT_NO_MEMORY. */
enum bitcut_status set_line_array(struct array *a, const json_t *row, const char *key,
                                  struct fault *f);

#endif
