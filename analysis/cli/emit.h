/* SPDX-License-Identifier: BSD-3-Clause */
/* Results on standard output: aligned text for people, or JSON Lines for programs. */
#ifndef BITCUT_ANALYSIS_CLI_EMIT_H
#define BITCUT_ANALYSIS_CLI_EMIT_H

#include "analysis/cli/emit_table.h"
#include "lib/base/record.h"

#include <jansson.h>
#include <stdbool.h>

/* The output of a command.

   With `json`, every row is printed at once as one JSON object on one line, with control
   characters escaped.  Otherwise rows are stored until emit_end(), and then printed as a
   table, or as one "key value" line each if there is a single row.  A table has every key
   of its first row as a column, or the keys that `columns` selects.  Values that are
   objects follow the table in such lines, with nested values indented: a list of texts
   has one line for each text, a list of flat objects is a table.  All texts are made safe
   to print (lib/base/text.h).

   A single row of an answer is printed as its lines, each with a label and a sentence.
   For a table, the RECORD_BELOW lines of each row are printed under the table, below the
   row's first field.  With `verbose` every row is printed by itself: all lines, then
   every key except those of RECORD_VERBOSE. */
struct emitter {
    bool json, verbose;
    bool failed; /* the command ends with status 1; sets the colour of its verdict */
    bool table;  /* a single row is printed as a table of `columns` as well, in place of
                    one line per key */
    const char *note;   /* a sentence below the table, or NULL                         */
    const char *schema; /* the command's name, or NULL: in JSON the last key of a row is
                           "schema", "bitcut-NAME/1"; the number grows when an existing
                           key changes its meaning or is removed */
    const struct emit_column *columns; /* ended by a NULL key, or NULL         */
    json_t *rows;                      /* text: the rows so far, NULL if none  */
    json_t *said;                      /* and the lines of each row */
    json_t *summary; /* text: lines about all rows, or NULL */
    json_t *ending; /* text: the object that ends the output, or NULL */
    bool answers;   /* some rows are answers with lines */
    bool broken;    /* a row could not be built */
};

/* Set the last key of a row, the schema of the command. */
void emit_schema(json_t *row, const char *command);

/* Take over `row`, an object, and print it now or at emit_end().  Calls from several
   threads are serialized.  NULL, a row that could not be built, makes emit_end() fail. */
void emit_row(struct emitter *e, json_t *row);

/* The same for the row of an answer, whose `lines` (lib/base/record.h) are printed as
   text. */
void emit_answer(struct emitter *e, json_t *row, const struct record_line *lines,
                 const void *answer);

/* Take over the row that ends a command, an object of flat values.  As text it follows
   all other rows, with one line per key, without the keys that are null. */
void emit_ending(struct emitter *e, json_t *row);

/* Take over the lines about all rows; they are printed below the rows. */
void emit_summary(struct emitter *e, const struct record_line *lines, const void *answer);

/* A sentence about an answer, safe to print, which the caller releases; NULL: the answer
   does not have it. */
json_t *emit_sentence(record_describe *describe, const void *answer);

/* The text form of an answer: an array of objects with the texts "what", the label of a
   line, and "says", its sentence. */
json_t *emit_lines(const struct record_line *lines, const void *answer);

/* Forget pending rows, which need memory to be printed. */
void emit_drop(struct emitter *e);

/* Print pending rows; call it once.  Returns 0, or the error (errno) if standard output
   could not be written (ENOMEM: a row could not be built). */
int emit_end(struct emitter *e);

#endif
