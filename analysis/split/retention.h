/* SPDX-License-Identifier: BSD-3-Clause */
/* What a split keeps of the values of one binade. */
#ifndef BITCUT_ANALYSIS_SPLIT_RETENTION_H
#define BITCUT_ANALYSIS_SPLIT_RETENTION_H

#include "lib/base/progress.h"
#include "lib/base/status.h"
#include "lib/number/split.h"

enum {
    SIGNIFICANDS = 1 << 23, /* of a binade                                         */
    SIGNIFICAND_BITS = 24   /* of an FP32 value, the implicit bit counted: the one scale
                               on which retained bits are counted                  */
};

/* Over the positive FP32 values of exponent e, with r = |x - (w0 + 2^-s w1 + ...)|, the
   sum of a split's words without copies, in ulps of x (2^(e-23)): bits is the mean of 24
   where r = 0, else of 23 - floor(log2 r), but not below 0 (23.75 for RN + RN, 23.25 for
   RZ + RZ; Ootomo and Yokota, section 3.1, leave the implicit bit out and have one less);
   underflow is of word 1 where its residual is not zero: below the normal range (zero included), or zero.  Where
   units flush, what is below the normal range of its format is made, but read as zero: no
   part of the sum then.  A value with an infinite or NaN word overflowed and keeps 0
   bits; the error figures leave it out. */
struct retention {
    size_t count;
    double exact; /* share with r = 0                             */
    double bits;  /* mean                                         */
    double max_ulp, mean_ulp;
    double max_relative; /* max r ulp / |x|: rho                         */
    double max_low;      /* max |2^-s w1| / |x|: theta                   */
    double p_subnormal, p_zero, p_overflow;
    double p_flushed; /* some word is not zero, but read as zero */
};

/* Values of one exponent, -126 to 127, or -127: zeros and subnormal ones, whose ulp is
   2^-149. */
struct retention_values {
    int e;
    size_t count;       /* 0: all 2^23 of the positive ones                      */
    uint64_t seed;      /* of so many of these otherwise, ...                    */
    const uint32_t *at; /* ... or NULL, and these they are: encodings, any signs */
};

/* What the split keeps of them, if units flush or not; a value's position is its index
   (split_words_at()).  Sums are taken in a fixed order,
   so neither the number of threads nor the caller's rounding mode matters.
   BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop; *r is set only on success. */
enum bitcut_status retention_measure(struct retention *r,
                                     const struct bitcut_split *split, bool flush,
                                     const struct retention_values *values, int threads,
                                     const struct progress *progress, struct fault *f);

/* The same of all 2^23 positive values of exponent e, or `samples` of them chosen by the
   seed if `samples` is not 0, read as they are. */
enum bitcut_status retention_count(struct retention *r, const struct bitcut_split *split,
                                   int e, size_t samples, uint64_t seed, int threads,
                                   const struct progress *progress, struct fault *f);

/* What is known of values, of any exponents, with more of them; begin with zeros.  The
   calling thread is in the mode of hostfp_enter(). */
void retention_add(struct retention *all, const struct retention *more);

/* The bits kept of one value of exponent e and its error in ulps; false if a word
   overflowed. */
bool retention_of(int *bits, double *ulps, const struct bitcut_split *split, uint32_t x);

/* The same between hostfp_enter() and hostfp_leave(), which take longer, for many. */
bool retention_entered(int *bits, double *ulps, const struct bitcut_split *split,
                       uint32_t x);

/* p_subnormal and p_zero in closed form, for a binade whose high words are normal
   numbers: the residual is uniform up to half a step of the high word (a whole step if it
   is truncated), and the low word leaves the normal range below 2^emin, is zero below
   half its smallest subnormal (all of it if truncated), all times 2^-s.  Splits of one
   word give 0.  Ootomo Eq. 15 and 17 are those of truncated words.  For high words of f16
   by rn, cut or rz and low ones by rn or rz counts are no higher, and lower by at most
   6 2^-13 (p_subnormal) and 2 2^-13 (p_zero). */
double retention_p_subnormal(const struct bitcut_split *split, int e);
double retention_p_zero(const struct bitcut_split *split, int e);

/* Whether they hold of the values of exponent e.  Splits of one word have no low word. */
bool retention_has_theory(const struct bitcut_split *split, int e);

/* The mean of the retained bits in closed form, of a split of one or two words: the
   residual of the high word, in ulps of x, is any integer up to half a step of that word
   (a whole one if it is truncated) with the same probability, and the low word rounds it
   at its own last bit or at its least subnormal, whichever is larger.  It extends Tables 1
   and 2 of Ootomo and Yokota to subnormal low words.  Counts differ by at most 2^-9.  NaN
   where it does not hold: where retention_has_theory() does not, where the first word may
   overflow, and of two words where units flush. */
double retention_bits(const struct bitcut_split *split, bool flush, int e);

#endif
