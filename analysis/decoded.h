/* Encodings for people to read. */
#ifndef BITCUT_ANALYSIS_DECODED_H
#define BITCUT_ANALYSIS_DECODED_H

#include "lib/format.h"

#include <jansson.h>

/* "0x3e400000 = 0x1.8p-3 = 0.1875": the encoding, the value in hexadecimal and in
 * decimal. */
json_t *decoded_json(const struct bitcut_format *format, uint64_t encoding);

/* Set "ulps" of an object to the steps of a format from x to y, two encodings that
   differ, -0 and +0 being one; null if either is not finite.  Where that does not say how
   they differ, "differ" does in words: "a NaN against a number". */
void decoded_distance(json_t *object, const struct bitcut_format *format, uint64_t x,
                      uint64_t y);

#endif
