/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits: how one FP32 value becomes two or three words of shorter formats. */
#ifndef BITCUT_LIB_NUMBER_SPLIT_H
#define BITCUT_LIB_NUMBER_SPLIT_H

#include "lib/number/round.h"

enum { SPLIT_WORDS_MAX = 3 };

/* One word of a split.  It carries 2^(level s), s the split's scale. */
struct split_word {
    const struct bitcut_format *format;
    const struct bitcut_rounding *rounding;
    int level;
    bool copy; /* of x itself, for products with low words of its format: no part of the
                  sum that stands for x                                             */
};

/* A row of the split table: x ~ the sum of 2^(-level scale) w over the words that are not
   copies.  The first, the high word, is x rounded; each further one is the residual of
   those before it, times 2^(level scale), rounded.  The residual is what a kernel
   computes: an FP32 subtraction to nearest (exact unless a word overflowed) and, from the
   level of one word to that of the next, an FP32 multiplication by a power of two (exact
   unless it overflows).  A copy is x times 2^(level scale), rounded. */
struct bitcut_split {
    const char *name, *what;
    int scale; /* s */
    int words; /* 1 to SPLIT_WORDS_MAX */
    struct split_word word[SPLIT_WORDS_MAX]; /* the high word first, of level 0; levels
                                                 rise from each that is no copy to the
                                                 next                                 */
    const char *source;
    uint64_t seed; /* of words that are rounded STOCHASTIC */
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
    SPLIT_BF16_DAZ,
    SPLIT_BF16X2,
    SPLIT_BF16X3,
    SPLIT_BF16X3_SCALED,
    SPLIT_TF32_RN,
    SPLIT_CUTLASS_TF32X2,
    SPLIT_CUTLASS_BF16X3,
    SPLIT_TRITON_TF32X2,
    SPLIT_HALF_E4M3,
    SPLIT_HALF_E5M2,
    SPLIT_HALF_S8
};

extern const struct bitcut_split splits[]; /* ended by a row whose name is NULL */

/* Whether two splits make the same words of every x, as their rows say. */
bool split_same(const struct bitcut_split *x, const struct bitcut_split *y);

/* What a split is called, cut to `size`: the row that makes the same words, its own first;
   or its own and what is changed in it, such as "halfhalf with high rz, scale 2^9". */
void split_label(char *text, size_t size, const struct bitcut_split *split);


/* The words of x, an FP32 encoding; word[0] is the high one.  NaN gives NaN words; Inf
   gives an infinite high word (or the format's overflow) and NaN in the low ones, as Inf
   - Inf does.  A finite x whose high word overflowed to Inf has a low word of Inf with
   the other sign; one whose high word saturated may have an infinite low word.  In
   place of infinity a word may have what its rounding and format make of it, and in place
   of NaN an integer is 0.  Words
   beyond split->words are left alone. */
void split_words(uint64_t word[SPLIT_WORDS_MAX], const struct bitcut_split *split,
                 uint32_t x);

/* The same of x at a position, such as its index along k.  Word w that is rounded STOCHASTIC
   has the random bits of the split's seed and position 4 position + w (round_random());
   split_words() is position 0.  Other words do not depend on it. */
void split_words_at(uint64_t word[SPLIT_WORDS_MAX], const struct bitcut_split *split,
                    uint32_t x, uint64_t position);

/* Whether a word is rounded STOCHASTIC. */
bool split_is_stochastic(const struct bitcut_split *split);

/* Whether a word is an integer, which has bits for x of one range only. */
bool split_is_fixed(const struct bitcut_split *split);

/* How many words are not copies. */
int split_parts(const struct bitcut_split *split);

/* Whether all words are of one format, none is a copy, each is one level above the one
   before, and all but the first are rounded alike: what vector instructions and the
   kernels of devices make. */
bool split_is_uniform(const struct bitcut_split *split);

/* The rounding of the second word; of a split of one word, that of the first. */
static inline const struct bitcut_rounding *split_low(const struct bitcut_split *split)
{
    return split->word[split->words > 1].rounding;
}

/* The plain one-word conversion to `format`, to nearest even: a split with no low word.
   tf32 rounds to nearest away, as cvt.rna.tf32.f32 does: the only nearest rounding that
   PTX has for it before compute capability 9.0. */
struct bitcut_split split_plain(const struct bitcut_format *format);

#endif
