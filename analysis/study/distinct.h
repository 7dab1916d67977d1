/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of rows with equal values. */
#ifndef BITCUT_ANALYSIS_STUDY_DISTINCT_H
#define BITCUT_ANALYSIS_STUDY_DISTINCT_H

#include <jansson.h>

/* Rows with the same values of some keys.  Groups are numbered in the order of their
   first rows. */
struct distinct {
    size_t *group; /* of each row                   */
    size_t *first; /* of each group, its first row  */
    size_t rows, groups;
};

/* Group `rows`, an array of objects, by the values of `keys`, ended by NULL.  A missing
   key counts as null.  The time and the memory are those of reading the rows once.  The
   memory comes from distinct_array(). */
void distinct_init(struct distinct *d, json_t *rows, const char *const *keys);
void distinct_clear(struct distinct *d);

/* The same by the values of one key. */
void distinct_of(struct distinct *d, json_t *rows, const char *key);

/* An array of zeros for `count` groups, which the caller frees.  It comes from Jansson's
   allocator: where that never fails, as in the program, this does not fail either, so
   that code between Jansson's builders needs no status for memory. */
void *distinct_array(size_t count, size_t size);

#endif
