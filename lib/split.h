/* Splits: how one FP32 value becomes two or three words of a shorter format. */
#ifndef BITCUT_LIB_SPLIT_H
#define BITCUT_LIB_SPLIT_H

#include "lib/round.h"

enum { SPLIT_WORDS_MOST = 3 };

/* A row of the split table: x ~ w0 + 2^-scale w1 + 2^-2scale w2.  The high word w0 is x
   rounded to `format` by `high`; each further word is the residual of the words before
   it, times 2^scale for each step, rounded by `low`.  The residual is what a kernel
   computes: an FP32 subtraction to nearest (exact unless a word overflowed) and an FP32
   multiplication by 2^scale (exact unless it overflows). */
struct bitcut_split {
    const char *name, *what;
    const struct bitcut_format *format;
    const struct bitcut_rounding *high, *low;
    int words; /* 1 to SPLIT_WORDS_MOST */
    int scale; /* s: low words carry 2^s */
    const char *source;
};

/* The rows, by position: `&splits[SPLIT_BITCUT]`. */
enum {
    SPLIT_F32,
    SPLIT_HALF,
    SPLIT_MARKIDIS,
    SPLIT_FENG,
    SPLIT_FENG22,
    SPLIT_HALFHALF,
    SPLIT_BITCUT,
    SPLIT_BITCUT_GRADUAL,
    SPLIT_TF32,
    SPLIT_TF32TF32,
    SPLIT_BF16,
    SPLIT_BF16X2,
    SPLIT_BF16X3,
    SPLIT_BF16X3_SCALED,
    SPLIT_TF32_RN,
    SPLIT_CUTLASS_TF32X2,
    SPLIT_CUTLASS_BF16X3,
    SPLIT_TRITON_TF32X2
};

extern const struct bitcut_split splits[]; /* ended by a row whose name is NULL */

/* The words of x, an FP32 encoding; word[0] is the high one.  NaN gives NaN words; Inf
   gives an infinite high word (or the format's overflow) and NaN in the low ones, as Inf
   - Inf does.  A finite x whose high word overflowed to Inf has a low word of Inf with
   the other sign; one whose high word saturated may have an infinite low word.  Words
   beyond split->words are left alone. */
void split_words(uint64_t word[SPLIT_WORDS_MOST], const struct bitcut_split *split,
                 uint32_t x);

/* The plain one-word conversion to `format`, to nearest even: a split with no low word.
   tf32 rounds to nearest away, as cvt.rna.tf32.f32 does: the only nearest rounding that
   PTX has for it before compute capability 9.0. */
struct bitcut_split split_plain(const struct bitcut_format *format);

#endif
