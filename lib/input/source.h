/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices from files and families, and back to files. */
#ifndef BITCUT_LIB_INPUT_SOURCE_H
#define BITCUT_LIB_INPUT_SOURCE_H

#include "lib/input/input.h"

/* Read the FP32 matrix in `path`, by its ending: .npy with two dimensions and elements
   f4, f2 (widened exactly) or f8 (each must be an FP32 value); or .mtx.  Integers are
   refused, because a file does not say whether they are numbers or encodings.  *m is set
   only on success. */
enum bitcut_status source_read(struct matrix *m, const char *path, struct fault *f);

/* Check that source_write() knows the ending of `path`. */
enum bitcut_status source_check(const char *path, struct fault *f);

/* Write m to `path`, by its ending: .npy (f4) or .mtx. */
enum bitcut_status source_write(const char *path, const struct matrix *m,
                                struct fault *f);

/* Allocate rows x cols and fill them from `input`. */
enum bitcut_status source_generate(struct matrix *m, const struct input *input,
                                   enum input_role role, size_t rows, size_t cols,
                                   uint64_t seed, int threads, struct fault *f);

#endif
