/* SPDX-License-Identifier: BSD-3-Clause */
/* Assumptions about C beyond the standard.  configure compiles this file with the flags
   of the build, and lib/base/version.c includes it, so that the assumptions are checked
   at compile time. */
#ifndef BITCUT_LIB_BASE_ASSUME_H
#define BITCUT_LIB_BASE_ASSUME_H

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stdint.h>

/* Integers.  The code does not assume a byte order. */
static_assert(CHAR_BIT == 8, "bytes have 8 bits");
static_assert(INT_MAX >= 0x7fffffff, "int has at least 32 bits");
static_assert((-1 & 3) == 3, "signed integers are two's complement");
static_assert(-5 >> 1 == -3, ">> of a negative int rounds down");
static_assert(-(INT64_C(5) << 40) >> 41 == -3, ">> of a negative int64_t rounds down");
static_assert((int32_t)UINT32_MAX == -1, "conversion to int32_t wraps");
static_assert((int64_t)UINT64_MAX == -1, "conversion to int64_t wraps");
static_assert(SIZE_MAX >= UINT32_MAX, "size_t has at least 32 bits");
__extension__ static_assert(sizeof(__int128) == 16, "the compiler has 128-bit integers");
__extension__ static_assert((__int128)-5 >> 1 == -3, ">> of a negative __int128 rounds down");

/* Host floating point: IEEE 754 binary32 and binary64, each operation rounded to its type.
   Only exact operations and proven error bounds rely on it. */
static_assert(sizeof(float) == 4 && FLT_RADIX == 2 && FLT_MANT_DIG == 24 &&
                  FLT_MAX_EXP == 128 && FLT_MIN_EXP == -125,
              "float is binary32");
static_assert(sizeof(double) == 8 && DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024 &&
                  DBL_MIN_EXP == -1021,
              "double is binary64");
static_assert(FLT_EVAL_METHOD == 0, "operations are rounded to their own type");

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) ||                               \
    defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__) || __FINITE_MATH_ONLY__
#error "the compiler may change floating-point results: drop -ffast-math and the like"
#endif

#endif
