/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensors of files: an array of encodings, and what the file says about their format. */
#ifndef BITCUT_LIB_IO_TENSOR_H
#define BITCUT_LIB_IO_TENSOR_H

#include "lib/gemm/matrix.h"
#include "lib/io/stream.h"
#include "lib/number/format.h"

enum { TENSOR_TYPE_MAX = 24 };

/* A tensor as a file has it. */
struct tensor {
    struct array array;
    const struct bitcut_format *format; /* of the elements; NULL: the file does not say
                                           whether they are integers or encodings; bytes
                                           are u8 unless the user names a format        */
    char type[TENSOR_TYPE_MAX];         /* name of their type in the file               */
};

/* A row of a reader's table of element types, ended by a row whose name is NULL. */
struct tensor_type {
    const char *name;
    int bytes;
    const struct bitcut_format *format; /* as in struct tensor */
};

/* Find a row by its name, which has `length` characters; NULL if there is none. */
const struct tensor_type *tensor_type_find(const struct tensor_type *types,
                                           const char *name, size_t length);

/* Allocate a tensor of zeros.  BITCUT_NO_MEMORY leaves *t unchanged. */
enum bitcut_status tensor_init(struct tensor *t, int dims, const size_t *dim,
                               const struct tensor_type *type, struct fault *f);
void tensor_clear(struct tensor *t);

/* Set *bytes to the bytes of `dims` dimensions with elements of `size` bytes.  False if a
   size_t cannot count them, or could not after dropping the dimensions of 0. */
bool tensor_bytes(size_t *bytes, int dims, const size_t *dim, size_t size);

/* Read the elements of t, in C order and little-endian. */
enum bitcut_status tensor_read_elements(struct tensor *t, struct stream *s,
                                        struct fault *f);

/* Bring elements from little-endian order into the order of this machine. */
void tensor_from_little(struct tensor *t);

#endif
