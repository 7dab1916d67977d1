/* SPDX-License-Identifier: BSD-3-Clause */
/* Dot products by MPFR: slow, simple, and sharing nothing with the rest of the library
   but the rows of the format table.  The last layer of lib/exact/exact.h and the judge of the
   others.

   The exponent range and the flags of MPFR are left as found.  Each thread needs an
   oracle of its own, and only one may run at a time unless mpfr_buildopt_tls_p().  MPFR
   ends the program if it runs out of memory. */
#ifndef BITCUT_LIB_EXACT_ORACLE_H
#define BITCUT_LIB_EXACT_ORACLE_H

#include "lib/base/status.h"
#include "lib/number/format.h"

#include <mpfr.h>

/* Terms summed at a time; and bits that hold any sum of up to 2^46 products of FP32
   values: multiples of 2^-298 below 2^256 (554 bits) and the carries. */
enum { ORACLE_TERMS = 1024, ORACLE_BITS = 600 };

struct oracle {
    mpfr_t x, y, carry, scaled, sum, term[ORACLE_TERMS];
    mpfr_ptr list[ORACLE_TERMS + 1];
};

void oracle_init(struct oracle *o);
void oracle_clear(struct oracle *o);

/* The sum of a[i] b[i] for i < k <= 2^46, FP32 encodings, exactly, then rounded once to
   the nearest even encoding of `format`, f32 or f64: mpfr_sum() of exact products.  NaN,
   infinities and the sign of a zero as bitcut_exact_gemm() says; k = 0 gives +0. */
uint64_t oracle_dot(struct oracle *o, const struct bitcut_format *format, size_t k,
                    const uint32_t *a, const uint32_t *b);

/* alpha times that sum plus beta c, unless beta is +-0, exactly, then rounded once, as
   exact_gemm() (lib/exact/exact.h) says of an update. */
uint64_t oracle_update(struct oracle *o, const struct bitcut_format *format, size_t k,
                       const uint32_t *a, const uint32_t *b, uint32_t alpha,
                       uint32_t beta, uint32_t c);

/* The same as oracle_dot() by the loop that MPFR's users write: mpfr_fma() into
   ORACLE_BITS bits, so that no addition rounds.  Only the sign of a zero may differ: that
   of the order of the terms in IEEE 754, starting from +0.  For comparison of speed. */
uint64_t oracle_fma_loop(struct oracle *o, const struct bitcut_format *format, size_t k,
                         const uint32_t *a, const uint32_t *b);

#endif
