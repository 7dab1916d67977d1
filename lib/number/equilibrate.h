/* SPDX-License-Identifier: BSD-3-Clause */
/* Equilibration: the lines of a GEMM, rows of A and columns of B, scaled by powers of
   two, so that words of a short range serve all of FP32.

   A line's exponent r puts its largest finite magnitude x into the binade of the split's
   target t: 2^t <= 2^r |x| < 2^(t+1).  r = 0 for a line without finite values other than
   zeros.  Words are made of RN(2^r x) in FP32, subnormals kept, of every element x.  That
   is exact unless it is below 2^-126, so 2^-(126+t) of the line's largest; zeros,
   infinities and NaN stay what they are.  When all slices of an output are added and
   before alpha, v becomes RN(2^-(r + r') v) for the exponents of its row and its column:
   rounded once, subnormal or not, infinite where FP32 overflows.

   t = 14, or if that is less emax - 1 of the high word's format, or of a copy's less its
   level times s (lib/number/split.h); emax of a copy that is an integer, which saturates
   by less than a unit.
   Not higher: 2^15 is the largest power of two in f16, and a word that is rounded up can
   reach 2^(t+1).  So high words and copies never overflow, by any rule.  What a word
   leaves is less than its last bit, so a low word of f16 is at most 2^(t-10+s): s <= 11
   is safe as well, and equilibrate_takes() refuses what is not.
   Not lower: two words of f16 keep all that they can of a value down to 2^(-1-s), which
   is t + 1 + s binades below that of the largest.
   Sums are safe: products are at most 2^30, so 9 terms of 2^31 of them stay below 2^65.

   Row i of A times 2^e is then row i of D times 2^e to the bit, as long as no element or
   output leaves FP32's normal range.  Sources: van der Sluis 1969 (scaling by lines);
   Higham, Pranesh and Zounon 2019 (before rounding to f16). */
#ifndef BITCUT_LIB_NUMBER_EQUILIBRATE_H
#define BITCUT_LIB_NUMBER_EQUILIBRATE_H

#include "lib/base/status.h"
#include "lib/number/split.h"

/* t for these words. */
int equilibrate_target(const struct bitcut_split *split);

/* Whether no word of an equilibrated value can overflow: of each low word, t plus s times
   its level less the fraction bits of the words before is emax of its format at most; an
   integer may saturate by one unit.
   BITCUT_BAD_ARGUMENT. */
enum bitcut_status equilibrate_takes(const struct bitcut_split *split, struct fault *f);

/* Whether no word of a value up to that magnitude, an FP32 encoding, overflows without
   being equilibrated: a high word or a copy by its rounding, which is monotone; a low word
   as far as the fraction bits of the words before tell. */
bool equilibrate_spares(const struct bitcut_split *split, uint32_t largest);

/* The larger one of a magnitude and that of x, unless x is infinite or NaN: FP32
   encodings.  Begin a line with 0. */
uint32_t equilibrate_larger(uint32_t magnitude, uint32_t x);

/* r of a line whose largest finite magnitude is this. */
int equilibrate_exponent(const struct bitcut_split *split, uint32_t largest);

/* RN(2^exponent x) for FP32 encodings, -512 <= exponent <= 512; a NaN stays some NaN. The
   calling thread is in the mode of hostfp_enter(). */
uint32_t equilibrate_scale(uint32_t x, int exponent);

#endif
