/* SPDX-License-Identifier: BSD-3-Clause */
/* Peak rates of matrix units, as makers print them. */
#ifndef BITCUT_EMU_RATE_H
#define BITCUT_EMU_RATE_H

#include "emu/unit.h"

/* Whose products: of words of that format, or of one of its width; of integers. */
enum rate_words {
    RATE_F16,
    RATE_BF16,
    RATE_TF32,
    RATE_FP8,
    RATE_S8,
    RATE_F32,
    RATE_WORDS
};

enum { RATE_DEVICES_MAX = 3 };

/* A row of the table of rates: dense peak rates with FP32 sums, of integers with those of
   theirs. */
struct rate_row {
    const char *name, *what; /* an architecture, or a chip unlike it; whose rates     */
    double peak[RATE_WORDS]; /* 0: no unit here; f32: the unit that unit_find() chooses */
    bool clocked;            /* peaks are operations a clock of a CU; else TFLOPS     */
    const char *source;      /* document, and what it has                             */
    const char *device[RATE_DEVICES_MAX]; /* in the names of devices with these TFLOPS,
                                              ended by NULL */
};

extern const struct rate_row rates[]; /* ended by a row whose name is NULL */

/* Whose rate words of a format have: of f16 if they are wider than 8 bits and none of the
   others. */
enum rate_words rate_words_of(const struct bitcut_format *format);

/* The peak rate of f16 products over that of others, to the nearest of 0.5, 1, 2, 3, ...;
   0 if there is no unit for them. */
double rate_cost(const struct rate_row *row, enum rate_words words);

/* TFLOPS of f16 products; 0: not known. */
double rate_tflops(const struct rate_row *row);

/* The row of a chip, which may be another's of the same ratios, or of a unit's
   architecture; or NULL. */
const struct rate_row *rate_find(const char *place);

/* TFLOPS of f16 products there; 0: not known. */
double rate_tflops_of(const char *place);

/* The row whose TFLOPS are those of a device, by its name as CUDA has it; or NULL. */
const struct rate_row *rate_of_device(const char *device);

#endif
