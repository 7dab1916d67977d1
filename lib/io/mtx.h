/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market files: FP32 matrices as decimal text. */
#ifndef BITCUT_LIB_IO_MTX_H
#define BITCUT_LIB_IO_MTX_H

#include "lib/gemm/matrix.h"

/* Read the file `path` as a dense matrix of FP32 encodings.  Formats array and
   coordinate; fields real, integer and (of coordinates) pattern, whose entries are 1;
   symmetries general, symmetric and skew-symmetric, of which the file holds the lower
   triangle, if skew-symmetric without the diagonal.  Numbers are read by decimal_read():
   rounded once, to nearest even; inf and nan are numbers.  Absent coordinates and a
   skew-symmetric diagonal are +0; the mirror of a skew-symmetric entry has the other
   sign, also if it is a zero or NaN.  One entry a line of at most 2^16 characters; blank
   lines and lines that start with '%' are skipped.
   BITCUT_BAD_FILE: anything else (complex and hermitian matrices, a coordinate twice, too
   few or too many entries), or more than 2^32 elements in the dense matrix, or more than
   2^28 and than 16 for each entry, a dimension of 0 counting as 1; the fault names the
   line.  BITCUT_UNSUPPORTED: no such file, or it
   cannot be read.  BITCUT_NO_MEMORY: the dense matrix does not fit; memory for absent
   coordinates is asked for but not touched.  *m is set only on success; matrix_clear()
   frees it.
   Source: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935. */
enum bitcut_status mtx_read(struct matrix *m, const char *path, struct fault *f);

/* The same for the `size` bytes of such a file in memory. */
enum bitcut_status mtx_read_memory(struct matrix *m, const void *bytes, size_t size,
                                   struct fault *f);

/* Write `m` as a general real array to the file `path`, 9 significant digits an element,
   so that reading gives the same bits (of a NaN, the sign).  The file is there whole or
   not at all.  Fails as output_open() and output_commit(). */
enum bitcut_status mtx_write(const char *path, const struct matrix *m, struct fault *f);

#endif
