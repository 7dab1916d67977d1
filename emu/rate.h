/* SPDX-License-Identifier: BSD-3-Clause */
/* Peak rates of matrix units, as their makers publish them. */
#ifndef BITCUT_EMU_RATE_H
#define BITCUT_EMU_RATE_H

#include "emu/unit.h"

/* Format of the operands of a product, or a format of the same width; or integers. */
enum rate_format {
    RATE_F16,
    RATE_BF16,
    RATE_TF32,
    RATE_FP8,
    RATE_S8,
    RATE_F32,
    RATE_FORMATS
};

enum { RATE_DEVICES_MAX = 3 };

/* A row of the table of rates: dense peak rates with FP32 sums; for integers, with
   integer sums. */
struct rate_row {
    const char *name, *what; /* an architecture, or a chip that differs from it; owner of
                                the rates                                             */
    double peak[RATE_FORMATS]; /* 0: no unit; f32: the unit that unit_find() chooses      */
    bool clocked;            /* whether peaks are operations per clock of a CU; else
                                TFLOPS                                                */
    const char *source;      /* document, and its contents                            */
    const char *device[RATE_DEVICES_MAX]; /* names of devices with these TFLOPS, ended by
                                             NULL           */
};

extern const struct rate_row rates[]; /* ended by a row whose name is NULL */

/* The class of rates for parts of a format: f16 if they are wider than 8 bits and belong
   to no other class. */
enum rate_format rate_format_of(const struct bitcut_format *format);

/* The peak rate of f16 products divided by the peak rate of other products, rounded to
   the nearest of 0.5, 1, 2, 3, ...; 0 if there is no unit for them. */
double rate_cost(const struct rate_row *row, enum rate_format format);

/* TFLOPS of f16 products; 0: unknown. */
double rate_tflops(const struct rate_row *row);

/* The row of a chip, which may be another chip's row with the same ratios, or of a unit's
   architecture; or NULL. */
const struct rate_row *rate_find(const char *place);

/* TFLOPS of f16 products on a chip or unit; 0: unknown. */
double rate_tflops_of(const char *place);

/* The row with the TFLOPS of a device, found by the name that CUDA gives it; or NULL. */
const struct rate_row *rate_of_device(const char *device);

#endif
