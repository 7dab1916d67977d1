/* SPDX-License-Identifier: BSD-3-Clause */
/* What `bench gpu --json` and `verify --kernel --json` printed, read back. */
#ifndef BITCUT_ANALYSIS_STUDY_RESULTS_H
#define BITCUT_ANALYSIS_STUDY_RESULTS_H

#include "lib/base/status.h"

#include <jansson.h>
#include <stdbool.h>

enum result_kind {
    RESULT_BENCH,  /* a part of a kernel or peer on one shape              */
    RESULT_VERIFY, /* a kernel, or the split pass, with its model          */
    RESULT_MEAN,   /* of batches of small GEMMs, the mean over shapes      */
    RESULT_BATCH,  /* a kernel or peer on batches of small GEMMs of a shape */
    RESULT_KINDS
};

enum { RESULTS_MAX = 4096 }; /* of a kind */

/* For each kind an array of objects, in the order in which they were read: as printed,
   each value of the kind that its key promises.  NULL: none. */
struct results {
    json_t *rows[RESULT_KINDS];
};

void results_clear(struct results *r);

/* Add the results of a text, one JSON object a line, of any kind and in any order;
   lines without any character are passed over, and keys that no figure draws may have any
   value.  BITCUT_BAD_FILE: a line is no result, or there is none; BITCUT_NO_MEMORY.  Then
   *line is the line at fault, counted from 1, or 0 if it is no single one, and *r is
   unchanged. */
enum bitcut_status results_parse(struct results *r, size_t *line, const void *bytes,
                                 size_t size, struct fault *f);

/* The same for the file `path`.  BITCUT_UNSUPPORTED: it cannot be read. */
enum bitcut_status results_read(struct results *r, size_t *line, const char *path,
                                struct fault *f);

/* Whether the value of a key is that text; whether two results have the same there. */
bool result_matches(const json_t *row, const char *key, const char *text);
bool result_same(const json_t *a, const json_t *b, const char *key);

/* The value of a key, 0 if it is no number. */
double result_number(const json_t *row, const char *key);

/* Whether its operands were equilibrated; how many GEMMs ran at a time.  Results older
   than either key are plain and of one. */
bool result_is_equilibrated(const json_t *row);
json_int_t result_gemms(const json_t *row);

#endif
