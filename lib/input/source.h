/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices from files and families, and back to files. */
#ifndef BITCUT_LIB_INPUT_SOURCE_H
#define BITCUT_LIB_INPUT_SOURCE_H

#include "lib/input/input.h"

/* Read a matrix of FP32 values: matrix_file_read() (lib/input/matrix_file.h) without a
   format and without a shape, and encoded_f32().  *m is set only on success. */
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
