/* SPDX-License-Identifier: BSD-3-Clause */
/* Dot products by MPFR.  The code is slow and simple, and shares nothing with the library
   except the rows of the format table.  It is the last layer of lib/exact/exact.h, and
   the reference against which the other layers are tested.

   The exponent range and the flags of MPFR are unchanged afterwards.  Each thread needs
   its own oracle, and only one may run at a time unless mpfr_buildopt_tls_p().  MPFR ends
   the program if it runs out of memory. */
#ifndef BITCUT_LIB_EXACT_ORACLE_H
#define BITCUT_LIB_EXACT_ORACLE_H

#include "lib/base/status.h"
#include "lib/number/format.h"

#include <mpfr.h>

/* Number of terms summed at a time, and number of bits that hold any sum of up to 2^46
   products of FP32 values: multiples of 2^-298 below 2^256 (554 bits), and the
   carries. */
enum { ORACLE_TERMS = 1024, ORACLE_BITS = 600 };

struct oracle {
    mpfr_t x, y, carry, scaled, sum, term[ORACLE_TERMS];
    mpfr_ptr list[ORACLE_TERMS + 1];
};

void oracle_init(struct oracle *o);
void oracle_clear(struct oracle *o);

/* The sum of a[i] b[i] for i < k <= 2^46, FP32 encodings, exactly, then rounded once to
   nearest even of `format`, f32 or f64: mpfr_sum() of exact products.  NaN, infinities
   and the sign of a zero are as in bitcut_exact_gemm(); k = 0 gives +0. */
uint64_t oracle_dot(struct oracle *o, const struct bitcut_format *format, size_t k,
                    const uint32_t *a, const uint32_t *b);

/* alpha times this sum plus beta c, unless beta is +-0, exactly, then rounded once, as
   exact_gemm() (lib/exact/exact.h) describes for an update. */
uint64_t oracle_update(struct oracle *o, const struct bitcut_format *format, size_t k,
                       const uint32_t *a, const uint32_t *b, uint32_t alpha,
                       uint32_t beta, uint32_t c);

/* The same as oracle_dot(), by the loop that users of MPFR write: mpfr_fma() into
   ORACLE_BITS bits, so that no addition rounds.  Only the sign of a zero may differ: here
   it follows IEEE 754 for the order of the terms, starting from +0.  The function is for
   comparisons of speed. */
uint64_t oracle_fma_loop(struct oracle *o, const struct bitcut_format *format, size_t k,
                         const uint32_t *a, const uint32_t *b);

#endif
