/* SPDX-License-Identifier: BSD-3-Clause */
/* The bits of the host's floats and doubles, which are binary32 and binary64, and arrays
   of encodings. */
#ifndef BITCUT_LIB_NUMBER_BITS_H
#define BITCUT_LIB_NUMBER_BITS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The value of a binary32, exactly. */
static inline double value_of_float(uint32_t bits) { return (double)float_of_bits(bits); }

/* Predicates of a binary32 of either sign. */
static inline bool f32_is_zero(uint32_t x) { return (x & 0x7fffffff) == 0; }
static inline bool f32_is_finite(uint32_t x) { return (x & 0x7f800000) != 0x7f800000; }
static inline bool f32_is_nan(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; }

static inline uint64_t bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Element i of an array of encodings of 1, 2, 4 or 8 bytes. */
static inline uint64_t encoding_get(const void *array, int bytes, size_t i)
{
    switch (bytes) {
    case 1: return ((const uint8_t *)array)[i];
    case 2: return ((const uint16_t *)array)[i];
    case 4: return ((const uint32_t *)array)[i];
    default: return ((const uint64_t *)array)[i];
    }
}

static inline void encoding_put(void *array, int bytes, size_t i, uint64_t x)
{
    switch (bytes) {
    case 1: ((uint8_t *)array)[i] = (uint8_t)x; break;
    case 2: ((uint16_t *)array)[i] = (uint16_t)x; break;
    case 4: ((uint32_t *)array)[i] = (uint32_t)x; break;
    default: ((uint64_t *)array)[i] = x;
    }
}

/* x times 2^e, as ldexp(), which takes several times as long. */
static inline double double_scaled(double x, int e)
{
    enum { LEAST = -1022, MOST = 1023, BIAS = 1023, FRACTION_BITS = 52 };
    return e < LEAST || e > MOST
               ? ldexp(x, e)
               : x * double_of_bits((uint64_t)(e + BIAS) << FRACTION_BITS);
}

/* The position of the highest bit of x, which is not 0. */
static inline int highest_bit(uint64_t x) { return 63 - __builtin_clzll(x); }

#endif
