/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of integers by exact arithmetic in 32 bits, in loops that compilers vectorise. */
#ifndef BITCUT_EMU_FAST_FAST_INTEGER_H
#define BITCUT_EMU_FAST_FAST_INTEGER_H

#include "emu/job.h"

/* Whether the sums of a job of integers can be computed in this way: the order of k does
   not matter, because they are taken modulo 2^32, or there is one sequence of k that
   starts from 0. */
bool fast_integer_takes(const struct job *job);

/* An operand as integers of 16 bits, line by line, each padded with zeros to a
   multiple of FAST_INTEGER_RUN; NULL: no memory.  The caller frees it. */
enum { FAST_INTEGER_RUN = 64 };
int16_t *fast_integer_lines(const struct parts *w);

/* Whether the sums of a unit are exact modulo 2^32, so that their order does not matter.
 */
bool fast_integer_sums(const struct bitcut_unit *u);

/* The sums of products of m rows of A and n columns of B, k integers each, on such a
   unit: exact modulo 2^32, at to[i n + j].  Without kernels, one output at a time.
   `progress` may stop it. */
void fast_integer_products(double *to, const struct fast_kernels *kernels,
                           const int16_t *a, size_t m, const int16_t *b, size_t n,
                           size_t k, int threads, const struct progress *progress);

/* Compute outputs (i, j) to (i, j + cols - 1) of D. */
void fast_integer_row(const struct job *job, size_t i, size_t j, size_t cols);

#endif
