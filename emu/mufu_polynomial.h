/* SPDX-License-Identifier: BSD-3-Clause */
/* The polynomials by which the MUFU instruction of NVIDIA GPUs computes functions. */
#ifndef BITCUT_EMU_MUFU_POLYNOMIAL_H
#define BITCUT_EMU_MUFU_POLYNOMIAL_H

#include <stdint.h>

/* The numbers of one segment of an argument. */
struct coefficients {
    int32_t c0, c1, c2;
};

/* A function on segments of 2^17 arguments.  With r, the position in the segment, it is
   2^c0_bits c0 + c1 r + 2^c2_bits c2 s(r) + bias
   where s(r) is about r^2 / 2^19: mufu_square(). */
struct polynomial {
    const struct coefficients *at;
    int c0_bits, c2_bits;
    int32_t bias;
};

extern const struct polynomial mufu_ex2, mufu_lg2, mufu_rcp, mufu_rsqrt, mufu_sin,
    mufu_sqrt, mufu_tanh;

/* The square of r < 2^17, truncated: the sum of the products r_i r_j 2^(i + j) of bits of r
   with i + j >= 18, over 2^19, rounded down. */
uint32_t mufu_square(uint32_t r);

/* The polynomial at x.  The low 17 bits of x are the position in a segment; the bits above
   are the index of the segment.  Exact. */
int64_t mufu_polynomial(const struct polynomial *p, uint32_t x);

#endif
