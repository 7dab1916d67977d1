/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts: how the FP64 elements of a line, a row of A or a column of B, become slices.
   Slice s of an element is an integer, the digit, times a power of two that all elements
   of the line share. */
#ifndef BITCUT_EMU_FP64_CUT_H
#define BITCUT_EMU_FP64_CUT_H

#include "lib/base/status.h"

enum { CUT_PARTS_MAX = 18 };

/* The slices of the lines of a matrix. */
struct slices {
    size_t lines, k;
    int parts, width; /* width: bits of a digit */
    int16_t *digit;   /* of element p of a line in slice s, at (s lines + line) k + p */
    double *scale;    /* of a line in slice s, at s lines + line; of a cut with one scale
                         for all slices, at line                                      */
};

/* A sum of weighted products of slices, and the product that is added to it next. */
struct weighing {
    double sum, product; /* product: of the digits of slice i of a row and slice j of a
                            column                                                */
    double a, b;         /* scales of these slices                              */
    double weight;       /* of products whose i + j is this one's               */
    double alpha;        /* factor of the product; 1 unless the scheme is `backward` */
};

/* A row of the table of cuts. */
struct cut {
    const char *name;
    bool each; /* whether every slice of a line has its own scale */

    /* The largest rest of an element that the cut represents, in units of the slice: after
       a slice, and after the last one.  Two's complement leaves at most 128/256 + 1/256 of
       a unit, and truncates after the last slice. */
    double rest[2];

    /* The bits of the digits of A and of B, for sums of k products in an accumulator that
       represents all integers up to 2^sum, if digits have at most `digit` bits.  0: even
       digits of one bit do not fit. */
    void (*widths)(int width[2], size_t k, int digit, int sum);

    /* Cut one line; `spare` has room for k elements. */
    void (*line)(struct slices *to, size_t line, const double *x, double *spare);

    /* The weight of products with a level i + j, i and j counted from 0. */
    double (*weight)(int level, int width);

    /* Add the product, in FP64.  The caller is under hostfp_enter(). */
    double (*add)(const struct weighing *w);

    /* The value of a complete sum, for scales of the row and of the column. */
    double (*end)(double sum, double a, double b);
};

/* ozIMMU: digits of |x|, without sign, from the binary exponent of the largest element of
   the line; the sign of x belongs to every digit.  Bits below the last slice are dropped.
   Elements of an infinite or NaN line, and of a line with an element from 2^1023 on, are
   multiples of infinity.  A subnormal element has half its value beside a normal one, and
   a line of subnormal elements is zero. */
extern const struct cut cut_truncated;

/* ozIMMU_RN: each slice is the residual of the slices before it, rounded to nearest even
   in steps that the largest residual of the line determines. */
extern const struct cut cut_nearest_each;

/* ozIMMU_H: the same in steps that the largest element of the line determines, 2^-width
   of the step before.  Both cuts ignore NaN when they look for the largest element, and
   their digits of NaN are 0; a line with an element from 2^970 on has wrong digits. */
extern const struct cut cut_nearest;

/* cuBLASDx: the integer part of the element times 2^(shift + 8 (slices - 1)),
   as a number of two's complement: digits of 8 bits from -128 to 127.  The shift brings
   the largest element of the line below 127/128 of 2^7.  Elements that are NaN or
   infinite have digits of 0. */
extern const struct cut cut_carried;

/* cuBLAS: the same digits.  The scales of the row and of the column multiply the complete
   sum, which is rounded once if it becomes subnormal. */
extern const struct cut cut_carried_once;

/* The smallest e with k <= 2^e. */
int ceil_log2(size_t k);

/* Cut all lines of x, `lines` lines of k elements each.  BITCUT_NO_MEMORY leaves *to
   cleared. */
enum bitcut_status slices_make(struct slices *to, const struct cut *cut, int parts,
                               int width, const double *x, size_t lines, size_t k,
                               int threads);
void slices_clear(struct slices *s);

/* The digits of a slice, and the scale of a line in it. */
static inline int16_t *slices_digits(const struct slices *s, int slice)
{
    return s->digit + (size_t)slice * s->lines * s->k;
}
static inline double slices_scale(const struct slices *s, const struct cut *cut,
                                  int slice, size_t line)
{
    return s->scale[(cut->each ? (size_t)slice * s->lines : 0) + line];
}

/* The value of a digit of 1 in a slice of a line is slices_scale() times 2 to this
   power. */
int slices_shift(const struct slices *s, const struct cut *cut, int slice);

#endif
