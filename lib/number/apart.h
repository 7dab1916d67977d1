/* SPDX-License-Identifier: BSD-3-Clause */
/* Two encodings of one format that differ. */
#ifndef BITCUT_LIB_NUMBER_APART_H
#define BITCUT_LIB_NUMBER_APART_H

#include "lib/number/format.h"

enum { ENCODING_MAX = 80 };

struct apart {
    char model[ENCODING_MAX], other[ENCODING_MAX]; /* encoding_said()                */
    bool finite;
    uint64_t steps;   /* from one to the other, -0 and +0 being one; of what is finite */
    char differ[40];  /* how they differ where steps do not say: "a NaN against a
                         number"; else ""                                              */
};

struct apart apart_of(const struct bitcut_format *format, uint64_t model, uint64_t other);

/* "0x3e400000 = 0x1.8p-3 = 0.1875": the encoding, the value in hexadecimal and in
   decimal. */
void encoding_said(char text[ENCODING_MAX], const struct bitcut_format *format,
                   uint64_t encoding);

/* Append who has what and how far it is: "the device has 0x..., the model 0x...: 1 ulp
   apart"; of words without the distance. */
void apart_describe(char *text, size_t size, const struct apart *a, const char *other,
                    const char *model, bool distance);

#endif
