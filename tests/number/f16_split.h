/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits into two f16 parts, and the values of their parts. */
#ifndef BITCUT_TESTS_NUMBER_F16_SPLIT_H
#define BITCUT_TESTS_NUMBER_F16_SPLIT_H

#include "lib/number/split.h"
#include "tests/number/number_oracle.h"

#include <stdlib.h>

#define F16 (&formats[FORMAT_F16])

enum { F16_INF = 0x7c00, F16_MAX = 0x7bff, MANTISSAS = 1 << 23 };

static inline struct bitcut_split f16_split(const struct bitcut_rounding *high,
                                            const struct bitcut_rounding *low, int scale)
{
    return (struct bitcut_split){ .name = "test",
                                  .what = "two parts",
                                  .scale = scale,
                                  .parts = 2,
                                  .part = { { F16, high, 0, false },
                                            { F16, low, 1, false } } };
}

/* 1.mantissa * 2^exponent as an f32. */
static inline uint32_t f32_with(int exponent, uint32_t mantissa)
{
    return (uint32_t)(exponent + 127) << 23 | mantissa;
}

static inline double signed_value(struct value x)
{
    return x.negative ? -x.magnitude : x.magnitude;
}

/* The values of all f16 encodings; 0 for Inf and NaN. */
static inline double *f16_values(void)
{
    double *value = calloc(1 << 16, sizeof value[0]);
    if (!value) abort();
    for (uint64_t x = 0; x < 1 << 16; x++) value[x] = signed_value(oracle_value(F16, x));
    return value;
}

#endif
