/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON values of numbers, texts and encodings.  In the program no value is NULL for lack
   of memory: analysis/cli/guard.h. */
#ifndef BITCUT_LIB_IO_JSON_VALUE_H
#define BITCUT_LIB_IO_JSON_VALUE_H

#include "lib/number/format.h"
#include "lib/number/wide.h"

#include <jansson.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>

/* A number that JSON cannot represent becomes the string "nan", "inf" or "-inf". */
json_t *json_number(double x);
json_t *json_count(size_t n);

/* Text from outside, such as a file name.  A text that is not UTF-8 is made fit to
   print. */
json_t *json_text(const char *text);

/* The text of a field of bitcut_row_field(), as a JSON value of its kind. */
json_t *json_of_text(enum bitcut_kind kind, const char *text);

/* date_today() (lib/base/clock.h). */
json_t *json_today(void);

/* A seed, exactly: an integer, or a string of digits if it is too large for JSON
   readers. */
json_t *json_seed(uint64_t seed);

/* An integer, exactly: a string of digits beyond 2^53, where JSON readers round. */
json_t *json_whole(bool negative, bitcut_uint128 magnitude);

/* An encoding as a string, "0x" and as many hexadecimal digits as `bits` need. */
json_t *json_encoding(uint64_t encoding, int bits);

/* The text of encoding_said() (lib/number/apart.h). */
json_t *json_decoded(const struct bitcut_format *format, uint64_t encoding);

/* Set "ulps" of an object to the number of steps of a format from x to y, two encodings
   that differ; -0 and +0 count as one value.  It is null if x or y is not finite.  Where
   a number of steps does not describe the difference, "differ" does in words: "a NaN
   against a number". */
void json_set_distance(json_t *object, const struct bitcut_format *format, uint64_t x,
                       uint64_t y);

/* Write JSON text.  Characters that JSON allows in a text but text_next() does not, such
   as DEL and U+202E, are escaped like control characters. */
void json_put(FILE *to, const char *text);

/* The same for a value, on one line and with all digits of numbers. */
void json_put_row(FILE *to, const json_t *row);

#endif
