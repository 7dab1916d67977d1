/* Results on standard output: aligned text for people, or JSON Lines for programs. */
#ifndef BITCUT_ANALYSIS_CLI_EMIT_H
#define BITCUT_ANALYSIS_CLI_EMIT_H

#include <jansson.h>
#include <stdbool.h>

/* A column of a table that has more than people can read: the key of its values, its
   heading, and to how many digits reals are rounded.  It is left out if no row has more to
   say than `usual`, a value as the table would print it (NULL: never). */
struct emit_column {
    const char *key, *heading;
    int digits;
    const char *usual;
};

/* Where results go.  With `json`, every row is printed at once as one JSON object on one
   line, control characters escaped.  Without it, rows are kept until emit_end() and then
   printed as a table, or as one "key value" line each if there is a single row.  A table
   has every key of its first row as a column, or those that `columns` chooses.  Values
   that are objects follow the table in such lines, with what lies deeper indented: a list
   of texts as a line each, a list of flat objects as a table.  All of it is fit to print
   (lib/text.h). */
struct emitter {
    bool json;
    const struct emit_column *columns; /* ended by a NULL key, or NULL         */
    json_t *rows;                      /* text: the rows so far, NULL if none  */
    bool broken;                       /* a row could not be made              */
};

/* Take over `row`, an object, and print it now or at emit_end().  Both are whole for all
   threads: who begins second waits.  NULL, a row that could not be made, is a failure of
   emit_end(). */
void emit_row(struct emitter *e, json_t *row);

/* Print what is pending, once: 0, or the error (errno) if standard output could not be
   written (ENOMEM: a row could not be made). */
int emit_end(struct emitter *e);

#endif
