/* SPDX-License-Identifier: BSD-3-Clause */
/* A BLAS library for tests of bitcut run: every name in the library of a run, with the
   simplest loops, and a record of calls and callers. */
#ifndef BITCUT_TESTS_RUN_BLAS_STUB_H
#define BITCUT_TESTS_RUN_BLAS_STUB_H

#include <stdint.h>

/* Calls of a routine so far; of all with NULL. */
long stub_calls(const char *name);

/* How often an argument was none of the routine's, and which one it was last, from 1. */
long stub_complaints(void);
int stub_argument(void);

/* The arguments of the last call of a routine that computes nothing here, as numbers. */
enum { STUB_ARGUMENTS_MAX = 20 };
const double *stub_arguments(int *count);

/* If set, what sgemm_ and routines that compute nothing do before anything else. */
extern void (*stub_hook)(void);

#endif
