/* SPDX-License-Identifier: BSD-3-Clause */
/* The bits that a split retains of the values of one binade. */
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

/* Statistics over the positive FP32 values of exponent e, with r = |x - (w0 + 2^-s w1 +
   ...)| for the sum of a split's parts without copies, in ulps of x (2^(e-23)).
   - bits is the mean of 24 where r = 0, and of 23 - floor(log2 r), but at least 0,
     elsewhere: 23.75 for RN + RN, 23.25 for RZ + RZ.  Ootomo and Yokota, section 3.1,
     leave the implicit bit out and have one less.
   - Underflow concerns part 1 where its residual is not zero: the part is below the
     normal range (zero included), or zero.
   - If units flush, a part below the normal range of its format is read as zero, and does
     not count in the sum.
   - A value with an infinite or NaN part overflows.  It retains 0 bits, and is left out
     of the error statistics. */
struct retention {
    size_t count;
    double exact; /* share with r = 0                             */
    double bits;  /* mean                                         */
    double max_ulp, mean_ulp;
    double max_relative; /* max r ulp / |x|: rho                         */
    double max_low;      /* max |2^-s w1| / |x|: theta                   */
    double p_subnormal, p_zero, p_overflow;
    double p_flushed; /* some part is not zero, but is read as zero */
};

/* Values of one exponent, -126 to 127, or -127: zeros and subnormal values, whose ulp is
   2^-149. */
struct retention_values {
    int e;
    size_t count;       /* 0: all 2^23 positive values */
    uint64_t seed;      /* the seed that chooses `count` values otherwise, */
    const uint32_t *at; /* or NULL; else the values: encodings of any sign */
};

/* What the split retains of these values, for units that flush or not.  The
   position of a value is its index (split_apply_at()).  Sums are taken in
   a fixed order, so neither the number of threads nor the caller's rounding mode matters.
   Returns BITCUT_NO_MEMORY, or BITCUT_UNSUPPORTED if asked to stop; *r is set only on
   success. */
enum bitcut_status retention_measure(struct retention *r,
                                     const struct bitcut_split *split, bool flush,
                                     const struct retention_values *values, int threads,
                                     const struct progress *progress, struct fault *f);

/* The same for all 2^23 positive values of exponent e, or, if `samples` is not 0, for
   that many values chosen by the seed, with parts read as they are. */
enum bitcut_status retention_count(struct retention *r, const struct bitcut_split *split,
                                   int e, size_t samples, uint64_t seed, int threads,
                                   const struct progress *progress, struct fault *f);

/* Merge the statistics of more values, of any exponents; begin with zeros.  The calling
   thread is in the mode of hostfp_enter(). */
void retention_add(struct retention *all, const struct retention *more);

/* The bits retained of one value of exponent e, and its error in ulps.  Returns false if
   a part overflows. */
bool retention_of(int *bits, double *ulps, const struct bitcut_split *split, uint32_t x);

/* The same for many values, to be called between hostfp_enter() and hostfp_leave(), which
   take longer than one value. */
bool retention_entered(int *bits, double *ulps, const struct bitcut_split *split,
                       uint32_t x);

/* p_subnormal and p_zero in closed form, for a binade with normal high parts.  The
   residual is uniform up to half a step of the high part (a whole step if it is
   truncated).  The low part leaves the normal range below 2^emin, and is zero below half
   its smallest subnormal number (below all of it if truncated), all times 2^-s.  Splits
   with one part give 0.  Ootomo Eq. 15 and 17 are the values for truncated parts.  For
   f16 high parts by rn, cut or rz and low parts by rn or rz, counts are not above these
   values, and below by at most 6 2^-13 (p_subnormal) and 2 2^-13 (p_zero). */
double retention_p_subnormal(const struct bitcut_split *split, int e);
double retention_p_zero(const struct bitcut_split *split, int e);

/* Whether these forms hold for the values of exponent e. */
bool retention_has_theory(const struct bitcut_split *split, int e);

/* The mean of the retained bits in closed form, of a split of one or two parts: the
   residual of the high part, in ulps of x, is any integer up to half a step of that part
   (a whole one if it is truncated) with the same probability, and the low part rounds it
   at its own last bit or at its least subnormal, whichever is larger.  It extends Tables 1
   and 2 of Ootomo and Yokota to subnormal low parts.  Counts differ by at most 2^-9.  NaN
   where it does not hold: where retention_has_theory() does not, where the first part may
   overflow, and of two parts where units flush. */
double retention_bits(const struct bitcut_split *split, bool flush, int e);

#endif
