/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `bench gpu --json` and `verify --kernel --json`, read back. */
#ifndef BITCUT_ANALYSIS_STUDY_RESULTS_H
#define BITCUT_ANALYSIS_STUDY_RESULTS_H

#include "lib/base/status.h"

#include <jansson.h>
#include <stdbool.h>

enum result_kind {
    RESULT_BENCH,  /* one part of a kernel or peer on one shape */
    RESULT_VERIFY, /* a kernel, or the split pass, compared with its model */
    RESULT_MEAN,   /* mean over shapes, for batches of small GEMMs */
    RESULT_BATCH,  /* a kernel or peer on batches of small GEMMs of one shape */
    RESULT_KINDS
};

enum { RESULTS_MAX = 4096 }; /* for each kind */

/* For each kind an array of objects, in the order in which they were read, as printed;
   the type of each value is checked.  NULL: none. */
struct results {
    json_t *rows[RESULT_KINDS];
};

void results_clear(struct results *r);

/* Add the results in a text, one JSON object per line, of any kind and in any order.
   Empty lines are skipped, and keys that no figure uses may have any value.  Returns
   BITCUT_BAD_FILE if a line is no result, or if there is none; BITCUT_NO_MEMORY.  Then
   *line is the wrong line, counted from 1, or 0 if there is no single one, and *r is
   unchanged. */
enum bitcut_status results_parse(struct results *r, size_t *line, const void *bytes,
                                 size_t size, struct fault *f);

/* The same for the file `path`.  Returns BITCUT_UNSUPPORTED if it cannot be read. */
enum bitcut_status results_read(struct results *r, size_t *line, const char *path,
                                struct fault *f);

/* Whether the value of a key is that text; whether two results have the same value. */
bool result_matches(const json_t *row, const char *key, const char *text);
bool result_same(const json_t *a, const json_t *b, const char *key);

/* The value of a key, 0 if it is no number. */
double result_number(const json_t *row, const char *key);

/* Whether operands were equilibrated; the number of GEMMs in a batch.  Results older than
   these keys have neither: not equilibrated, and one GEMM. */
bool result_is_equilibrated(const json_t *row);
json_int_t result_gemms(const json_t *row);

#endif
