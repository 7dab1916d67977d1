/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of input families, for tests of their contents. */
#ifndef BITCUT_TESTS_INPUT_INPUT_MATRIX_H
#define BITCUT_TESTS_INPUT_INPUT_MATRIX_H

#include "lib/input/input.h"

/* The input of a text, which must be one. */
struct input input_parsed(const char *text);

/* The matrix of a text; the caller clears it. */
struct matrix input_filled(const char *text, enum input_role role, uint64_t seed,
                           size_t rows, size_t cols, int threads);

/* The value of an FP32 encoding. */
double f32_value(uint32_t x);

/* Fail at element i of m unless `good`. */
void check_element(bool good, const char *text, const struct matrix *m, size_t i);

#endif
