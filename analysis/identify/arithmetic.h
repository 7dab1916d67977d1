/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to multiply FP32 matrices without a fault, up to the order of k: with whole
   operands, rounded or quantized operands, or the parts of a split. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_ARITHMETIC_H
#define BITCUT_ANALYSIS_IDENTIFY_ARITHMETIC_H

#include "analysis/identify/part_sums.h"

enum arithmetic_kind {
    ARITHMETIC_EXACT,     /* whole FP32 operands                                       */
    ARITHMETIC_ROUNDED,   /* both operands are rounded to one format                   */
    ARITHMETIC_SPLIT,     /* the products of parts of a recipe                         */
    ARITHMETIC_TERMS,     /* the same with the product of low parts, or without it      */
    ARITHMETIC_OTHER,     /* the products of a recipe with the parts of another split  */
    ARITHMETIC_PARTS,     /* the same with parts that are rounded by another rule      */
    ARITHMETIC_QUANTIZED, /* both operands are quantized: only the sums have the values */
    ARITHMETIC_ONE        /* one operand is rounded                                    */
};

struct arithmetic {
    enum arithmetic_kind kind;
    const struct bitcut_quantizer *quantizer; /* of ARITHMETIC_QUANTIZED */
    struct candidate x;
    struct part_sums sums; /* of all outputs of a block, for all pairs of parts */
};

enum { ARITHMETICS_MAX = 200 };

struct arithmetics {
    struct arithmetic at[ARITHMETICS_MAX];
    size_t count;
};

/* The rows for a block, the exact one first, then in the order of the kinds.  If the
   problem has a recipe or a unit, the parts are those of that recipe on that unit.
   BITCUT_NO_MEMORY leaves nothing to clear. */
enum bitcut_status arithmetics_make(struct arithmetics *to, const struct space *s,
                                    const struct block *b, struct fault *f);
void arithmetics_clear(struct arithmetics *a);

/* Append what became of the operands, such as "A and B are rounded to f16 toward zero".
   Append nothing for the exact arithmetic. */
void arithmetic_describe(char *text, size_t size, const struct arithmetic *a);

#endif
