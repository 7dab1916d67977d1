/* SPDX-License-Identifier: BSD-3-Clause */
/* What the words of a split keep of its operand, and what a recipe makes of that. */
#ifndef BITCUT_ANALYSIS_SPLIT_REPRESENTATION_ERROR_H
#define BITCUT_ANALYSIS_SPLIT_REPRESENTATION_ERROR_H

#include "emu/gemm.h"

/* Magnitudes of an operand x and of what its words make of it: of one element, or of many
   in some norm.  Words count without their scale, that is as 2^-(s level) w. */
enum {
    RETAINED_WHOLE, /* |x|                                     */
    RETAINED_REST,  /* |x - the sum of words that are no copies| */
    RETAINED_WORD,  /* |w|, and those of the others behind     */
    RETAINED_LEFT =
        RETAINED_WORD + SPLIT_WORDS_MAX, /* |the sum - w|, likewise; of copies */
    RETAINED_FIELDS = RETAINED_LEFT + SPLIT_WORDS_MAX
};

struct retained {
    double at[RETAINED_FIELDS];
};

/* A split and what reads its words. */
struct retained_reader {
    const struct bitcut_split *split;
    double unit[SPLIT_WORDS_MAX];  /* 2^-(s level) ...                              */
    double small[SPLIT_WORDS_MAX]; /* ... times the least normal number of its format */
    double least[SPLIT_WORDS_MAX]; /* ... and of that as which it is read             */
    bool flush[SPLIT_WORDS_MAX];   /* what is below is read as zero                   */
    bool aligns[SPLIT_WORDS_MAX];  /* what reads it aligns it                         */
};

struct retained_reader retained_reader_of(const struct gemm_plan *plan,
                                          enum bitcut_operand operand);

/* What one element did. */
struct retained_event {
    bool small; /* a word that is no copy is below the normal range of its format, zero
                   included, and what it stands for is not zero                     */
    bool large; /* a word is not finite */
};

/* The words of an FP32 encoding x, element k of its line, times 2^exponent, by which its line is equilibrated,
   as units read them.  Exact but for magnitudes of more than 53 bits.  The calling thread
   is in the mode of hostfp_enter(). */
struct retained_event retained_of(struct retained *to, const struct retained_reader *r,
                                  uint32_t x, size_t k, int exponent);

/* The same with words other than zero as the least normal number of what they are read as
   at least, where they are aligned: by its exponent. */
struct retained retained_aligned(const struct retained *x,
                                 const struct retained_reader *r);

/* The exponent by which a line of k elements is equilibrated, or 0. */
int retained_exponent(const struct gemm_plan *plan, const struct retained_reader *r,
                      const uint32_t *line, size_t k, size_t stride);

/* The most of all operands x up to `most`, of which no word overflows, with words
   aligned: each magnitude is at most that in `times` times |x|, and that in `beside`,
   which is of what underflows, and is 0 of x = 0 and from `from` on. */
struct retained_max {
    struct retained times, beside;
    double from, most;
    struct retained
        low; /* as `beside`, of x from `normal` on, whose first word is normal */
    double normal;
    double full; /* from there on no word loses anything by underflow */
};

struct retained_max retained_max_of(const struct retained_reader *r);

/* How far the sum of the products that the recipe has is from A B, of operands that keep
   that: what words leave, products of words that no term has, or several, and what copies
   in a term leave.  It is bilinear, so in norms as well:

     rest_a |b| + |a| rest_b + rest_a rest_b + sum of t_i t_j over the products i j that
     are dropped, or counted twice, as a copy in a term stands for all words; of a term
     with a copy the copy's `left` times its other word, of two copies left_a |B| + |A|
     left_b + left_a left_b, |A| and |B| at most whole + rest. */
double retained_lost(const struct gemm_plan *plan, const struct retained *a,
                     const struct retained *b);

#endif
