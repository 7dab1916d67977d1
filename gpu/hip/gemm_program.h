/* SPDX-License-Identifier: BSD-3-Clause */
/* Recipes as tables of terms, for the device's code and for the host's rows.  A program
   has a list of terms in order, X(part of A, part of B, accumulator).  It also has the
   number of parts and accumulators, and the number of k-steps after which accumulator 0
   is promoted (lib/gemm/recipe.h). */
#ifndef BITCUT_GPU_HIP_GEMM_PROGRAM_H
#define BITCUT_GPU_HIP_GEMM_PROGRAM_H

/* clang-format off */
#define TERMS_one(X)        X(0, 0, 0)
#define TERMS_three(X)      X(1, 0, 0) X(0, 1, 0) X(0, 0, 0)
#define TERMS_four(X)       X(1, 1, 0) X(1, 0, 0) X(0, 1, 0) X(0, 0, 0)
#define TERMS_six(X)        X(2, 0, 0) X(1, 1, 0) X(0, 2, 0) X(1, 0, 0) X(0, 1, 0) X(0, 0, 0)
#define TERMS_nine(X)       X(2, 2, 4) X(2, 1, 3) X(1, 2, 3) X(2, 0, 2) X(1, 1, 2) X(0, 2, 2) \
                            X(1, 0, 1) X(0, 1, 1) X(0, 0, 0)
#define TERMS_main_last(X)  X(1, 0, 1) X(0, 1, 1) X(0, 0, 0)
#define TERMS_promoted(X)   X(1, 0, 1) X(0, 1, 1) X(0, 0, 0)
#define TERMS_main_first(X) X(0, 0, 0) X(0, 1, 1) X(1, 0, 1)

/* X(program, parts, accumulators, promote) */
#define GEMM_PROGRAMS(X)                                                                 \
    X(one,        1, 1, 0)                                                               \
    X(three,      2, 1, 0)                                                               \
    X(four,       2, 1, 0)                                                               \
    X(six,        3, 1, 0)                                                               \
    X(nine,       3, 5, 0)                                                               \
    X(main_last,  2, 2, 0)                                                               \
    X(promoted,   2, 2, 1)                                                               \
    X(main_first, 2, 2, 0)
/* clang-format on */

#endif
