/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded sets as lines of a file. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_SET_LINE_H
#define BITCUT_ANALYSIS_EVIDENCE_SET_LINE_H

#include "lib/gemm/matrix.h"

#include <jansson.h>

/* FILE:N is line N of FILE, counted from 1: a JSON object with all keys of meta.json, and
   for each array a key, its file's name without ".npy": {"shape": [...], "hex": "..."}.
   The encodings are written from their highest digit on, in C order, with 2, 4, 8 or 16
   digits each. */

/* A line of a file: its number, its position and its length in bytes. */
struct set_line {
    size_t number, at, length;
};

/* Find the lines of the regular file `path` that are not empty: *lines, which the caller
   frees, has `count` of them.  Returns BITCUT_UNSUPPORTED; BITCUT_BAD_FILE if the file is
   larger than JSON_LINES_MAX, or if its first line does not begin as an object;
   BITCUT_NO_MEMORY. */
enum bitcut_status set_lines(struct set_line **lines, size_t *count, const char *path,
                             struct fault *f);

/* The JSON object of a line that set_lines() found in `path`.  No other line is read.
   Returns BITCUT_UNSUPPORTED or BITCUT_BAD_FILE if the line no longer exists or is no
   object; BITCUT_NO_MEMORY. */
enum bitcut_status set_line_at(json_t **row, const char *path, const struct set_line *line,
                               struct fault *f);

/* The object of the line that `name` denotes, for which the whole file is read: *row, or
   NULL if `name` denotes no line.  Returns BITCUT_UNSUPPORTED or BITCUT_BAD_FILE if the
   file has no such line, or it is no object. */
enum bitcut_status set_line_read(json_t **row, const char *name, struct fault *f);

/* The array for a key of a line.  Returns BITCUT_BAD_FILE with the key in the text if it
   is missing, or if shape and digits do not match; BITCUT_NO_MEMORY. */
enum bitcut_status set_line_array(struct array *a, const json_t *row, const char *key,
                                  struct fault *f);

#endif
