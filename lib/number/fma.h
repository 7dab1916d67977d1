/* SPDX-License-Identifier: BSD-3-Clause */
/* Correctly rounded arithmetic on encodings, independent of the host's floating point. */
#ifndef BITCUT_LIB_NUMBER_FMA_H
#define BITCUT_LIB_NUMBER_FMA_H

#include "lib/number/round.h"

/* RN(a * b + c) on encodings of `format`: one rounding by `rounding`, subnormals
   preserved unless the rule flushes the result.  NaN operands, inf * 0, and infinities of
   both signs give `nan`.  An exact zero is -0 if the product and c both have negative
   signs, otherwise +0, for any rule: as IEEE 754 defines for rounding to nearest.  IEEE
   754-2019 section 5.4.1. */
uint64_t fma_round(const struct bitcut_format *format,
                   const struct bitcut_rounding *rounding, uint64_t nan, uint64_t a,
                   uint64_t b, uint64_t c);

/* The same in binary32, to nearest even, with the NaN of CUDA and HIP kernels
   (0x7fffffff, PTX ISA "fma"): the operation of a recipe's epilogue and promotion. */
uint32_t f32_fma(uint32_t a, uint32_t b, uint32_t c);
uint32_t f32_add(uint32_t a, uint32_t b);
uint32_t f32_multiply(uint32_t a, uint32_t b);

/* x + y, whose sum is finite, rounded once to nearest even in binary32, in the mode of
   hostfp_enter().  The sum is first rounded to odd in binary64.  This has enough bits
   that rounding it again equals rounding once: 53 >= 24 + 2 (Boldo and Melquiond
   2008). */
uint32_t f32_sum(double x, double y);

/* a b + c in binary32 to nearest even, with the NaN `nan`, in the mode of hostfp_enter().
   Faster than fma_round(). */
uint32_t f32_fused(uint32_t nan, uint32_t a, uint32_t b, uint32_t c);

/* 2^exponent as a binary32, -149 <= exponent <= 127. */
uint32_t f32_power_of_two(int exponent);

enum { F32_NAN = 0x7fffffff, F32_ONE = 0x3f800000 };

#endif
