/* SPDX-License-Identifier: BSD-3-Clause */
/* The common shape of every table: rows that begin with `name` and `what`, ended by a row
   whose name is NULL.  If the rows lie in files of their own, the table has a pointer to
   each row, and ends with NULL.  One lookup serves all tables. */
#ifndef BITCUT_LIB_BASE_TABLE_H
#define BITCUT_LIB_BASE_TABLE_H

#include "lib/bitcut.h"

/* The first members of every row. */
struct table_row {
    const char *name, *what;
};

/* A table: its rows, or pointers to its rows, and the size of one entry.  A size equal to
   the size of a pointer means pointers, because every row is larger than a pointer. */
struct table {
    const void *rows;
    size_t row_size;
};

#define TABLE(rows) ((struct table){ (rows), sizeof(rows)[0] })

/* The row after `row`, or the first when `row` is NULL; NULL at the end. */
const void *table_next(struct table t, const void *row);

/* The row called `name`, or NULL. */
const void *table_find(struct table t, const char *name);

/* Write the names that are nearest to `name` in edit distance, or that share a part of
   it, ignoring the case of letters, into `text` (at most `size` bytes with the 0),
   separated by ", ".  Empty if no name is near. */
void table_near(char *text, size_t size, struct table t, const char *name);

/* Write all names in the same form; write nothing if they do not fit `size` bytes. */
void table_names(char *text, size_t size, struct table t);

/* The hint that follows an unknown name: "; did you mean a, b?" if similar names exist,
   else "; choose one of a, b, c" if all names fit, else nothing. */
enum { TABLE_HINT_MAX = 200 };
void table_hint(char text[TABLE_HINT_MAX], struct table t, const char *name);

#endif
