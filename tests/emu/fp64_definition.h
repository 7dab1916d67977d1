/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by schemes, a second implementation by GMP and MPFR, which is written from the
   prose of the schemes and shares no code with emu/fp64 except the logarithm of the GPU. */
#ifndef BITCUT_TESTS_EMU_FP64_DEFINITION_H
#define BITCUT_TESTS_EMU_FP64_DEFINITION_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

enum { M = 5, N = 7, K_MAX = 300, PARTS_MAX = 20 };

/* The operands of a GEMM: rows of A, columns of B. */
struct data {
    double a[M][K_MAX], b[N][K_MAX], c[M][N], alpha, beta; /* b: columns */
    size_t k;
};

/* A row of the table of schemes by slices. */
struct spec {
    const char *scheme, *unit;
    int digit, sum; /* largest bits of a digit and of a sum */
    bool nearest, each, groups;
};

/* D of a scheme by slices, of two's complement (added from the smallest weight on, or from
   the largest), and by residues, in accurate or in fast mode. */
void expect_slices(double d[M][N], const struct spec *s, const struct data *x, int parts);
void expect_bytes(double d[M][N], const struct data *x, int parts, bool backward);
void expect_residues(double d[M][N], const struct data *x, int count, bool fast);

/* fma(beta, c, alpha x), or alpha x if beta is 0; x is overwritten. */
double end_of(mpfr_t x, double alpha, double beta, double c);

#endif
