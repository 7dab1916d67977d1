/* SPDX-License-Identifier: BSD-3-Clause */
/* The difference between two encodings of one format. */
#ifndef BITCUT_LIB_NUMBER_APART_H
#define BITCUT_LIB_NUMBER_APART_H

#include "lib/number/format.h"

enum { ENCODING_MAX = 80 };

struct apart {
    char model[ENCODING_MAX], other[ENCODING_MAX]; /* encoding_said()                */
    bool finite;
    uint64_t steps;  /* steps from one to the other, if both are finite; -0 and +0 count
                        as one value                                                  */
    char differ[40]; /* description of the difference where steps do not describe it: "a
                        NaN against a number"; else ""                                */
};

struct apart apart_of(const struct bitcut_format *format, uint64_t model, uint64_t other);

/* Write "0x3e400000 = 0x1.8p-3 = 0.1875": the encoding, and the value in hexadecimal and
   in decimal. */
void encoding_said(char text[ENCODING_MAX], const struct bitcut_format *format,
                   uint64_t encoding);

/* Append both encodings with their names, and their distance: "the device has 0x..., the
   model 0x...: 1 ulp apart".  The distance is omitted if the difference is described in
   words. */
void apart_describe(char *text, size_t size, const struct apart *a, const char *other,
                    const char *model, bool distance);

#endif
