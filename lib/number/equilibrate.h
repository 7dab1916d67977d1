/* SPDX-License-Identifier: BSD-3-Clause */
/* Equilibration: the lines of a GEMM, rows of A and columns of B, are scaled by powers of
   two, so that parts with a short range serve all of FP32.

   A line's exponent r puts its largest finite magnitude x into the binade of the split's
   target t: 2^t <= 2^r |x| < 2^(t+1).  r = 0 for a line that has no finite values except
   zeros.  Parts are made of RN(2^r x) in FP32, with subnormals, for every element x.
   This is exact unless the result is below 2^-126, which is 2^-(126+t) of the line's
   largest.  Zeros, infinities and NaN are unchanged.  After all slices of an output are
   added and before alpha, v becomes RN(2^-(r + r') v) with the exponents of its row and
   its column: rounded once, with subnormals, and infinite where FP32 overflows.

   t is 14; or emax - 1 of the high part's format, if this is less; or emax - 1 of a
   copy's format minus its level times s (lib/number/split.h), if this is less.  For a
   copy that is an integer, which saturates by less than a unit, emax replaces emax - 1.
   A higher t is not safe: 2^15 is the largest power of two in f16, and a part that is
   rounded up can reach 2^(t+1).  So high parts and copies never overflow, with any
   rounding rule.  The residual of a part is less than its last bit, so a low part in f16
   is at most 2^(t-10+s).  s <= 11 is therefore safe as well, and equilibrate_takes()
   refuses scales that are not.  A lower t is not better: two parts in f16 retain
   everything they can of a value down to 2^(-1-s), which is t + 1 + s binades below the
   largest.  Sums are safe: products are at most 2^30, so sums of 9 terms of 2^31 products
   stay below 2^65.

   Row i of A times 2^e gives row i of D times 2^e bit for bit, as long as no element or
   output leaves FP32's normal range.

   Sources: van der Sluis 1969 (scaling by lines); Higham, Pranesh and Zounon 2019 (before
   rounding to f16). */
#ifndef BITCUT_LIB_NUMBER_EQUILIBRATE_H
#define BITCUT_LIB_NUMBER_EQUILIBRATE_H

#include "lib/base/status.h"
#include "lib/number/split.h"

/* t for the parts of this split. */
int equilibrate_target(const struct bitcut_split *split);

/* Check that no part of an equilibrated value can overflow.  For each low part, t plus s
   times its level minus the fraction bits of the parts before must be at most emax of its
   format; an integer may saturate by one unit.  BITCUT_BAD_ARGUMENT otherwise. */
enum bitcut_status equilibrate_takes(const struct bitcut_split *split, struct fault *f);

/* Whether no part of a value up to this magnitude, an FP32 encoding, overflows without
   equilibration.  A high part or a copy is checked by rounding, which is monotone; a low
   part by the fraction bits of the parts before it. */
bool equilibrate_spares(const struct bitcut_split *split, uint32_t largest);

/* The larger of a magnitude and the magnitude of x; the magnitude itself if x is infinite
   or NaN.  Both are FP32 encodings.  A line begins with 0. */
uint32_t equilibrate_larger(uint32_t magnitude, uint32_t x);

/* r of a line with this largest finite magnitude. */
int equilibrate_exponent(const struct bitcut_split *split, uint32_t largest);

/* RN(2^exponent x) for FP32 encodings, -512 <= exponent <= 512.  A NaN gives some NaN.
   The calling thread is in the mode of hostfp_enter(). */
uint32_t equilibrate_scale(uint32_t x, int exponent);

#endif
