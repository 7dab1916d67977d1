/* SPDX-License-Identifier: BSD-3-Clause */
/* NumPy .npy files: reading and writing arrays of encodings. */
#ifndef BITCUT_LIB_IO_NPY_H
#define BITCUT_LIB_IO_NPY_H

#include "lib/io/tensor.h"

/* Read the file `path`.

   Accepted are format versions 1.0, 2.0 and 3.0; element types f2 f4 f8 u1 u2 u4 u8, and
   V1 and V2 as u1 and u2, in either byte order ('|V2': that of this machine); C or
   Fortran order (the array is always in C order); 0 to ARRAY_DIMS_MAX dimensions, any of
   which may be 0; and headers of at most 2^16 bytes.  Bits are unchanged, also of NaN.
   Memory is allocated only for elements that the file has.

   BITCUT_BAD_FILE: anything else, also if the data are too short or too long.
   BITCUT_UNSUPPORTED: the file does not exist or cannot be read.  BITCUT_NO_MEMORY.  *a
   is set only on success, and array_clear() frees it.

   Source: numpy/lib/format.py, "Format Version 1.0" to "Format Version 3.0". */
enum bitcut_status npy_read(struct array *a, const char *path, struct fault *f);

/* The same for the rest of an open file, or of a member of an archive.  Also accepted are
   i1 (s8), i2 (s16) and i4 (s32), f1 (e5m2), and the names that ml_dtypes has for bf16
   and for fp8. tensor_clear() frees *t. */
enum bitcut_status npy_read_tensor(struct tensor *t, struct stream *s, struct fault *f);

/* The same as npy_read() for the `size` bytes of such a file in memory. */
enum bitcut_status npy_read_memory(struct array *a, const void *bytes, size_t size,
                                   struct fault *f);

/* Write `a` to the file `path` as NumPy would: version 1.0 (ARRAY_DIMS_MAX dimensions
   always fit its header), C order, the byte order of this machine, data aligned to 64
   bytes.  The file is written completely or not at all.  BITCUT_BAD_ARGUMENT: the
   elements are floating-point numbers of one byte, for which NumPy has no type.
   Otherwise it fails as output_open() and output_commit() do. */
enum bitcut_status npy_write(const char *path, const struct array *a, struct fault *f);

#endif
