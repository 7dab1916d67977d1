/* SPDX-License-Identifier: BSD-3-Clause */
/* Recipes as lists of terms, for code whose accumulators are registers, and for the rows
   of the kernels. */
#ifndef BITCUT_GPU_CPU_HOST_RECIPES_H
#define BITCUT_GPU_CPU_HOST_RECIPES_H

/* The terms in order, X(part of A, part of B, accumulator), as in lib/gemm/recipe.c. */
/* clang-format off */
#define HOST_TERMS_plain(X)  X(0, 0, 0)
#define HOST_TERMS_bf16x3(X) X(1, 0, 0) X(0, 1, 0) X(0, 0, 0)
#define HOST_TERMS_bf16x6(X) X(2, 0, 0) X(1, 1, 0) X(0, 2, 0) X(1, 0, 0) X(0, 1, 0) X(0, 0, 0)
#define HOST_TERMS_bf16x9(X) X(2, 2, 4) X(2, 1, 3) X(1, 2, 3) X(2, 0, 2) X(1, 1, 2) X(0, 2, 2) \
                             X(1, 0, 1) X(0, 1, 1) X(0, 0, 0)

/* X(recipe, parts, accumulators) */
#define HOST_RECIPES(X) \
    X(plain,  1, 1)     \
    X(bf16x3, 2, 1)     \
    X(bf16x6, 3, 1)     \
    X(bf16x9, 3, 5)
/* clang-format on */

#endif
