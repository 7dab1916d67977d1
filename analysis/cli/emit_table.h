/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of text: rows of JSON in aligned columns that fit the terminal. */
#ifndef BITCUT_ANALYSIS_CLI_EMIT_TABLE_H
#define BITCUT_ANALYSIS_CLI_EMIT_TABLE_H

#include <jansson.h>

/* The size of a cell's text with its NUL, and the blanks between two columns. */
enum { EMIT_CELL_MAX = 1 << 14, EMIT_GAP = 2 };

/* A column of a table that can hide uninformative columns: the key of its values, its
   heading, and the number of digits to which reals are rounded.  The column is left out
   if all rows have the value `usual`, as the table would print it (NULL: it is never left
   out). */
struct emit_column {
    const char *key, *heading;
    int digits;
    const char *usual;
};

/* The text of one value, without quotes and safe to print; "-" for null, and "below" for
   an object, which has no text of one line. */
void emit_cell(char text[EMIT_CELL_MAX], const json_t *value);

/* Print an array of objects as a table after `indent` blanks: the keys of the first
   object are the columns.  A text in the last column wraps.  A table that is still wider
   than the screen is printed in blocks of columns, one below the other, each with the
   first column; columns in which all rows are equal become one line above the blocks. */
void emit_table(json_t *rows, int indent);

/* New rows with the values of `columns`, which a NULL key ends, under their headings; the
   caller releases them. */
json_t *emit_chosen(json_t *rows, const struct emit_column *columns);

#endif
