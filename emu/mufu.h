/* SPDX-License-Identifier: BSD-3-Clause */
/* The approximate functions of NVIDIA GPUs: PTX instructions that compile to MUFU, an
   instruction that computes 2^x, log2 x, 1/x, 1/sqrt(x), sqrt(x), sin, cos and tanh by a
   table and a quadratic polynomial. */
#ifndef BITCUT_EMU_MUFU_H
#define BITCUT_EMU_MUFU_H

#include "lib/number/format.h"

/* A row: one PTX instruction. */
struct bitcut_function {
    const char *name; /* as PTX spells the instruction */
    const char *what;
    const struct bitcut_format *format; /* of the argument and of the result */
    const char *sass;                   /* the instructions that compute it  */
    const char *evidence;
    const char *source;

    /* The result, an encoding of `format`, for any encoding x.  Exactly one of the two is
       set. */
    uint32_t (*f32)(uint32_t x);   /* of an f32                                  */
    uint32_t (*upper)(uint32_t x); /* of the upper half of an f64; the lower half of the
                                      argument is not read, that of the result is 0    */
};

extern const struct bitcut_function functions[]; /* ended by a row whose name is NULL */

/* The result of a function for one encoding of its format. */
uint64_t mufu(const struct bitcut_function *function, uint64_t x);

#endif
