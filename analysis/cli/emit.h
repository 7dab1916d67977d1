/* SPDX-License-Identifier: BSD-3-Clause */
/* Results on standard output: aligned text for people, or JSON Lines for programs. */
#ifndef BITCUT_ANALYSIS_CLI_EMIT_H
#define BITCUT_ANALYSIS_CLI_EMIT_H

#include "lib/base/record.h"

#include <jansson.h>
#include <stdbool.h>

/* A column of a table that has more than people can read: the key of its values, its
   heading, and to how many digits reals are rounded.  It is left out if no row has more
   to say than `usual`, a value as the table would print it (NULL: never). */
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
   (lib/base/text.h).

   A single row of an answer is its lines, a label and a sentence each.  Under a table
   stand the lines of RECORD_BELOW of each row, below its first field.  With `verbose` every row is
   printed by itself, with all lines, and then every key but those of RECORD_VERBOSE. */
struct emitter {
    bool json, verbose;
    bool failed; /* the command ends with status 1: the colour of its verdict           */
    bool table; /* a single row is a table of `columns` as well, not a line a key      */
    const char *note;   /* a sentence below the table, or NULL                         */
    const char *schema; /* the command's name, or NULL: in JSON the last key of a row is
                           "schema", "bitcut-NAME/1"; the number grows when a key that was
                           there means something else or is gone                      */
    const struct emit_column *columns; /* ended by a NULL key, or NULL         */
    json_t *rows;                      /* text: the rows so far, NULL if none  */
    json_t *said;                      /* and the lines of each                */
    json_t *summary;                   /* text: lines on all rows, or NULL     */
    json_t *ending;                    /* text: the object that ends it, or NULL */
    bool answers;                      /* some rows are of answers with lines  */
    bool broken;                       /* a row could not be made              */
};

/* Set the schema of a row of a command, its last key. */
void emit_schema(json_t *row, const char *command);

/* Take over `row`, an object, and print it now or at emit_end().  Both are whole for all
   threads: who begins second waits.  NULL, a row that could not be made, is a failure of
   emit_end(). */
void emit_row(struct emitter *e, json_t *row);

/* The same of an answer's row; people read its `lines` (lib/base/record.h). */
void emit_answer(struct emitter *e, json_t *row, const struct record_line *lines,
                 const void *answer);

/* Take over the row that ends a command, an object of flat values.  People read it under all
   other rows, a line a key, without the keys that are null. */
void emit_ending(struct emitter *e, json_t *row);

/* Take over the lines on all rows; people read them under the rows. */
void emit_summary(struct emitter *e, const struct record_line *lines, const void *answer);

/* A sentence on an answer, fit to print, to be released; NULL: it does not have it. */
json_t *emit_sentence(record_describe *describe, const void *answer);

/* What people read of an answer: an array of objects of texts "what", the label of a line,
   and "says". */
json_t *emit_lines(const struct record_line *lines, const void *answer);

/* Print what is pending, once: 0, or the error (errno) if standard output could not be
   written (ENOMEM: a row could not be made). */
int emit_end(struct emitter *e);

#endif
