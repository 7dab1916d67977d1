/* SPDX-License-Identifier: BSD-3-Clause */
/* The moduli of GEMMul8, and the constants of its Chinese remainder theorem. */
#ifndef BITCUT_EMU_FP64_MODULI_H
#define BITCUT_EMU_FP64_MODULI_H

enum { MODULI_MIN = 2, MODULI_MAX = 20 };

extern const int moduli[MODULI_MAX];

/* The largest number of moduli for which w_i and P are single FP64 numbers. */
enum { MODULI_SINGLE_MAX = 6 };

/* The constants of the first `count` moduli p_1, p_2, ...  P is their product.  w_i is the
   multiple of P / p_i that is 1 modulo p_i, in a high and a low FP64 number, so that sums
   of the high numbers times residues are exact. */
struct moduli_constants {
    int count;
    double high[MODULI_MAX], low[MODULI_MAX]; /* w_i                                   */
    double minus_high, minus_low;             /* -P                                    */
    double inverse;                           /* 1 / P                                 */
    double half_bits;                         /* log2(P - 1) / 2 - 0.5, rounded down to
                                                 FP32; the library has a larger number
                                                 for 2 moduli                          */
};

void moduli_constants_make(struct moduli_constants *c, int count);

#endif
