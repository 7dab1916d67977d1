/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows put together by the values that they have. */
#ifndef BITCUT_ANALYSIS_STUDY_DISTINCT_H
#define BITCUT_ANALYSIS_STUDY_DISTINCT_H

#include <jansson.h>

/* Which rows have the same values of some keys.  Groups are numbered in the order of
   their first rows. */
struct distinct {
    size_t *group; /* of each row                   */
    size_t *first; /* of each group, its first row  */
    size_t rows, groups;
};

/* Group `rows`, an array of objects, by the values of `keys`, ended by NULL; a key that
   is absent is as null.  Time and memory are those of reading the rows once, whatever
   they hold; the memory is that of distinct_array(). */
void distinct_init(struct distinct *d, json_t *rows, const char *const *keys);
void distinct_clear(struct distinct *d);

/* The same by the values of one key. */
void distinct_of(struct distinct *d, json_t *rows, const char *key);

/* An array of zeros for `count` groups, to be freed.  It comes from Jansson's allocator:
   where that never fails, as in the program, this does not, so that work between
   Jansson's builders needs no status for memory either. */
void *distinct_array(size_t count, size_t size);

#endif
