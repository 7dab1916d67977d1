/* SPDX-License-Identifier: BSD-3-Clause */
/* The one shape of every table: rows that begin with `name` and `what`, ended by a row
   whose name is NULL.  Where rows lie in files of their own, the table has a pointer to
   each, ended by NULL.  One lookup serves all. */
#ifndef BITCUT_LIB_BASE_TABLE_H
#define BITCUT_LIB_BASE_TABLE_H

#include "lib/bitcut.h"

/* How every row begins. */
struct table_row {
    const char *name, *what;
};

/* A table: its rows, or pointers to them, and the size of one: no row is as small as a
   pointer. */
struct table {
    const void *rows;
    size_t row_size;
};

#define TABLE(rows) ((struct table){ (rows), sizeof(rows)[0] })

/* The row after `row`, or the first when `row` is NULL; NULL at the end. */
const void *table_next(struct table t, const void *row);

/* The row called `name`, or NULL. */
const void *table_find(struct table t, const char *name);

/* Write the names nearest to `name` in edit distance, or sharing a piece of it, in small
   or capital letters, into `text` (at most `size` bytes with the 0), separated by ", ".
   Empty if nothing is near. */
void table_near(char *text, size_t size, struct table t, const char *name);

/* Write all names likewise, or nothing if they are too many for `size`. */
void table_names(char *text, size_t size, struct table t);

/* The hint that follows an unknown name: "; did you mean a, b?" if similar names exist,
   else "; choose one of a, b, c" if all names fit, else nothing. */
enum { TABLE_HINT_MAX = 200 };
void table_hint(char text[TABLE_HINT_MAX], struct table t, const char *name);

#endif
