/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of the parts of a split relative to its operand, and of a recipe with these
   parts. */
#ifndef BITCUT_ANALYSIS_SPLIT_REPRESENTATION_ERROR_H
#define BITCUT_ANALYSIS_SPLIT_REPRESENTATION_ERROR_H

#include "emu/gemm.h"

/* Magnitudes of an operand x and of its parts: of one element, or of many in some norm.
   Parts are taken without their scale, as 2^-(s level) w. */
enum {
    RETAINED_WHOLE, /* |x|                                     */
    RETAINED_REST,  /* |x - the sum of parts that are no copies| */
    RETAINED_PART,  /* |w|, followed by the other parts */
    RETAINED_LEFT =
        RETAINED_PART +
        SPLIT_PARTS_MAX, /* |the sum - w| for copies, followed by the other parts */
    RETAINED_FIELDS = RETAINED_LEFT + SPLIT_PARTS_MAX
};

struct retained {
    double at[RETAINED_FIELDS];
};

/* A split with the properties of the units that read its parts. */
struct retained_reader {
    const struct bitcut_split *split;
    double unit[SPLIT_PARTS_MAX];  /* 2^-(s level) */
    double small[SPLIT_PARTS_MAX]; /* the same times the smallest normal number of the
                                      part's format */
    double least[SPLIT_PARTS_MAX]; /* the same for the format as which the part is read */
    bool flush[SPLIT_PARTS_MAX];   /* smaller values are read as zero */
    bool aligns[SPLIT_PARTS_MAX];  /* the unit aligns the part */
};

struct retained_reader retained_reader_of(const struct gemm_plan *plan,
                                          enum bitcut_operand operand);

/* Events in the split of one element. */
struct retained_event {
    bool small; /* a part other than a copy is below the normal range of its format, zero
                   included, and its exact value is not zero */
    bool large; /* a part is not finite */
};

/* The parts of an FP32 encoding x, element k of its row or column, times 2^exponent, the factor by which its row or column
   is equilibrated, as units read them.  Exact except for magnitudes with more than 53
   bits.  The calling thread is in the mode of hostfp_enter(). */
struct retained_event retained_of(struct retained *to, const struct retained_reader *r,
                                  uint32_t x, size_t k, int exponent);

/* The parts of elements of a line, made by vector instructions where possible: those of
   retained_of() in a fraction of the time. */
enum { RETAINED_BLOCK = 256 };

struct retained_block {
    size_t from, count; /* elements of the line; at most RETAINED_BLOCK */
    bool known;         /* otherwise parts are made one by one */
    double part[SPLIT_PARTS_MAX][RETAINED_BLOCK];
};

/* Element k of the line `at`, one element every `stride`, as retained_of() has it.  Make
   the parts of the elements that follow if the block does not have it: it begins with all
   bits zero, and belongs to one line of `length` elements. */
struct retained_event retained_next(struct retained *to, struct retained_block *block,
                                    const struct retained_reader *r, const uint32_t *at,
                                    size_t stride, size_t length, size_t k, int exponent);

/* Raise nonzero parts to at least the smallest normal number of the format as which they
   are read, where units align them: alignment depends on the exponent. */
void retained_align(struct retained *x, const struct retained_reader *r);

/* The exponent by which a row or column of k elements is equilibrated, or 0. */
int retained_exponent(const struct gemm_plan *plan, const struct retained_reader *r,
                      const uint32_t *line, size_t k, size_t stride);

/* Bounds over all operands x up to `most`, for which no part overflows, with aligned
   parts.  Each magnitude is at most its value in `times` times |x|, plus its value in
   `beside`, which is due to underflow, and is 0 for x = 0 and for |x| of at least `from`.
 */
struct retained_max {
    struct retained times, beside;
    double from, most;
    /* as `beside`, for x of at least `normal`, whose high part is normal */
    struct retained low;
    double normal;
    double full; /* from there on no part loses anything by underflow */
};

struct retained_max retained_max_of(const struct retained_reader *r);

/* A bound on the distance of the sum of the recipe's products from A B, for operands with
   these magnitudes: the residuals of the parts, products of parts that no term has or
   that several have, and the residuals of copies in a term.  It is bilinear, so it holds
   in norms as well:

     rest_a |b| + |a| rest_b + rest_a rest_b + sum of t_i t_j,

   where the sum is over the products i j that are dropped, or counted twice, since a copy
   in a term stands for all parts.  A term with a copy adds the copy's `left` times its
   other part.  A term of two copies adds left_a |B| + |A| left_b + left_a left_b, where
   |A| and |B| are at most whole + rest. */
double retained_lost(const struct gemm_plan *plan, const struct retained *a,
                     const struct retained *b);

#endif
