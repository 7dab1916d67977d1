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
   carries.  The same for binary64 values: multiples of 2^-2148 below 2^2048 (4196 bits);
   and for such a sum times a third factor plus a product: multiples of 2^-3222 below
   2^3072 (6294 bits). */
enum {
    ORACLE_TERMS = 1024,
    ORACLE_BITS = 600,
    ORACLE64_BITS = 4260,
    ORACLE64_ALL = 6360
};

struct oracle {
    mpfr_t x, y, carry, scaled, sum, term[ORACLE_TERMS];
    mpfr_ptr list[ORACLE_TERMS + 1];
};

/* For FP32 operands, and for binary64 operands. */
void oracle_init(struct oracle *o);
void oracle64_init(struct oracle *o);
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

/* alpha times the sum of a[i] b[i] for i < k <= 2^46 plus beta c, unless beta is +-0, for
   binary64: `high` is this value rounded to nearest even, and `low` is the exact value
   minus `high`, rounded too; +0 if it rounds to a zero or if `high` is not finite.  With
   alpha = 1 and beta = 0, the rules are those of oracle_dot(). */
struct oracle_parts {
    uint64_t high, low;
};

struct oracle_parts oracle64_update(struct oracle *o, size_t k, const double *a,
                                    const double *b, double alpha, double beta, double c);

#endif
