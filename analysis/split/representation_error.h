/* SPDX-License-Identifier: BSD-3-Clause */
/* What the words of a split keep of its operand, and what a recipe makes of that. */
#ifndef BITCUT_ANALYSIS_SPLIT_REPRESENTATION_ERROR_H
#define BITCUT_ANALYSIS_SPLIT_REPRESENTATION_ERROR_H

#include "emu/gemm.h"

/* Magnitudes of an operand x and of what its words make of it: of one element, or of many
   in some norm.  Words count without their scale, that is as 2^-(s level) w. */
enum {
    KEPT_WHOLE, /* |x|                                     */
    KEPT_REST,  /* |x - the sum of words that are no copies| */
    KEPT_WORD,  /* |w|, and those of the others behind     */
    KEPT_LEFT = KEPT_WORD + SPLIT_WORDS_MAX, /* |the sum - w|, likewise; of copies */
    KEPT_FIELDS = KEPT_LEFT + SPLIT_WORDS_MAX
};

struct kept {
    double at[KEPT_FIELDS];
};

/* A split and what reads its words. */
struct kept_reader {
    const struct bitcut_split *split;
    double unit[SPLIT_WORDS_MAX];  /* 2^-(s level) ...                              */
    double small[SPLIT_WORDS_MAX]; /* ... times the least normal number of its format */
    double least[SPLIT_WORDS_MAX]; /* ... and of that as which it is read             */
    bool flush[SPLIT_WORDS_MAX];   /* what is below is read as zero                   */
    bool aligns[SPLIT_WORDS_MAX];  /* what reads it aligns it                         */
};

struct kept_reader kept_reader_of(const struct gemm_plan *plan,
                                  enum bitcut_operand operand);

/* What one element did. */
struct kept_event {
    bool small; /* a word that is no copy is below the normal range of its format, zero
                   included, and what it stands for is not zero                     */
    bool large; /* a word is not finite */
};

/* The words of an FP32 encoding x, element k of its line, times 2^exponent, by which its line is equilibrated,
   as units read them.  Exact but for magnitudes of more than 53 bits.  The calling thread
   is in the mode of hostfp_enter(). */
struct kept_event kept_of(struct kept *to, const struct kept_reader *r, uint32_t x,
                          size_t k, int exponent);

/* The same with words other than zero as the least normal number of what they are read as
   at least, where they are aligned: by its exponent. */
struct kept kept_aligned(const struct kept *x, const struct kept_reader *r);

/* The exponent by which a line of k elements is equilibrated, or 0. */
int kept_exponent(const struct gemm_plan *plan, const struct kept_reader *r,
                  const uint32_t *line, size_t k, size_t stride);

/* The most of all operands x up to `most`, of which no word overflows, with words
   aligned: each magnitude is at most that in `times` times |x|, and that in `beside`,
   which is of what underflows, and is 0 of x = 0 and from `from` on. */
struct kept_most {
    struct kept times, beside;
    double from, most;
    struct kept low; /* as `beside`, of x from `normal` on, whose first word is normal */
    double normal;
    double full; /* from there on no word loses anything by underflow */
};

struct kept_most kept_most_of(const struct kept_reader *r);

/* How far the sum of the products that the recipe has is from A B, of operands that keep
   that: what words leave, products of words that no term has, or several, and what copies
   in a term leave.  It is bilinear, so in norms as well:

     rest_a |b| + |a| rest_b + rest_a rest_b + sum of t_i t_j over the products i j that
     are dropped, or counted twice, as a copy in a term stands for all words; of a term
     with a copy the copy's `left` times its other word, of two copies left_a |B| + |A|
     left_b + left_a left_b, |A| and |B| at most whole + rest. */
double kept_lost(const struct gemm_plan *plan, const struct kept *a,
                 const struct kept *b);

#endif
