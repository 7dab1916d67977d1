/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by products of slices: which products of which planes a kernel adds in s32,
   and in which order it adds these sums in FP64 (emu/fp64/slices.c has the definition).

   A plane is a matrix of s8 elements made from an operand: slice i of all elements, or
   the difference of slices i and j.  All slices of an element that was cut by truncation
   have one sign, so differences fit s8 as well, and

       A_i B_j + A_j B_i = A_i B_i + A_j B_j + (A_i - A_j) (B_j - B_i).

   So the products of one weight, whose i + j is l, have the sum

       A_0 B_0 + ... + A_l B_l + the sum over i < j of (A_i - A_j) (B_j - B_i),

   which takes half as many products of its own.  s32 wraps, and the sum itself fits s32,
   so it is exact.  8 slices need 24 products instead of 36.  C and C++. */
#ifndef BITCUT_GPU_MODULE_SLICE_PROGRAM_H
#define BITCUT_GPU_MODULE_SLICE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLICE_PARTS_MAX = 18, SLICE_PRODUCTS_MAX = 171 };

/* Instead of a slot: none; the start of accumulators from 0, or from the run before. */
enum { SLICE_NO_SLOT = 255, SLICE_ZERO = 254, SLICE_KEEP = 253 };

/* Largest number of shares of a program. */
enum { SLICE_SHARES_MAX = 3 };

struct slice_product {
    uint8_t a, b; /* planes */
};

/* Products that are added to accumulators. */
struct slice_run {
    uint8_t products; /* number of products, in the order of the program          */
    uint8_t start;    /* a slot with which they start, SLICE_ZERO, or SLICE_KEEP  */
    uint8_t slot;     /* a slot where they are stored at the end, or none         */
    uint8_t share;    /* share of the program to which the run belongs            */
};

/* A sum in s32, of one slot or two, that is added in FP64, in the order of the
   program. */
struct slice_sum {
    uint8_t slot, second; /* second: or SLICE_NO_SLOT                       */
    uint8_t level;        /* i + j of its products, counted from 0 */
};

struct slice_program {
    int parts, width; /* slices of an element, bits of a slice */
    bool differences; /* whether there are planes of differences */
    int planes;       /* of each operand */
    int slots;
    int products, runs, sums;
    struct slice_product product[SLICE_PRODUCTS_MAX];
    struct slice_run run[SLICE_PRODUCTS_MAX];
    struct slice_sum sum[SLICE_PRODUCTS_MAX];
};

/* The bits of a digit of both operands, for sums of k products in s32; at least 1 for k
   up to 2^29. */
int slice_width(size_t k);

/* Make the program for sums of k products, divided into so many shares, which are about
   equal in products.  groups: products of one weight are added in s32, as many as
   certainly fit.  one_sign: all slices of an element have one sign.  Runs of several
   shares start from no slot. */
void slice_program_make(struct slice_program *to, int parts, size_t k, bool groups,
                        bool one_sign, int shares);

/* The number of pairs i < j with i + j < parts.  In planes of differences, pairs are in
   the order of i, and then of j. */
static inline int slice_pairs(int parts) { return parts * parts / 4; }

#ifdef __cplusplus
}
#endif

#endif
