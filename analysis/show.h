/* Encodings for people to read. */
#ifndef BITCUT_ANALYSIS_SHOW_H
#define BITCUT_ANALYSIS_SHOW_H

#include "lib/format.h"

#include <jansson.h>

/* "0x3e400000 = 0x1.8p-3 = 0.1875": the encoding, the value in hexadecimal and in
 * decimal. */
json_t *show_encoding(const struct bitcut_format *format, uint64_t encoding);

#endif
