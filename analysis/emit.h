/* Results on standard output: aligned text for people, or JSON Lines for programs. */
#ifndef BITCUT_ANALYSIS_EMIT_H
#define BITCUT_ANALYSIS_EMIT_H

#include "lib/wide.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

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

/* JSON values.  In the program none is NULL for want of memory: analysis/guard.h.  A number
   that JSON lacks becomes the string "nan", "inf" or "-inf". */
json_t *json_number(double x);
json_t *json_count(size_t n);

/* Text from outside, such as a file name; one that is no UTF-8 becomes fit to print. */
json_t *json_text(const char *text);

/* Today in UTC, YYYY-MM-DD. */
json_t *json_today(void);

/* A seed, exactly: an integer, or a string of digits if it is too large for JSON readers. */
json_t *json_seed(uint64_t seed);

/* An integer, exactly: a string of digits beyond 2^53, where JSON readers round. */
json_t *json_whole(bool negative, bitcut_uint128 magnitude);

/* An encoding as a string, "0x" and as many hexadecimal digits as `bits` need. */
json_t *json_encoding(uint64_t encoding, int bits);

#endif
