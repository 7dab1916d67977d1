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

/* Compute outputs (i, j) to (i, j + cols - 1) of D. */
void fast_integer_row(const struct job *job, size_t i, size_t j, size_t cols);

#endif
