/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market files: FP32 matrices as decimal text. */
#ifndef BITCUT_LIB_IO_MTX_H
#define BITCUT_LIB_IO_MTX_H

#include "lib/gemm/matrix.h"
#include "lib/io/stream.h"

/* Read the file `path` as a dense matrix of FP32 encodings.

   Formats: array and coordinate.  Fields: real, integer and, for coordinates, pattern,
   whose entries are 1.  Symmetries: general, symmetric and skew-symmetric; the file of a
   symmetric matrix has its lower triangle, without the diagonal if it is skew-symmetric.
   There is one entry on a line of at most 2^16 characters.  Blank lines and lines that
   start with '%' are skipped.

   Numbers are read by decimal_read(): rounded once, to nearest even; inf and nan are
   numbers.  Absent coordinates and a skew-symmetric diagonal are +0.  The mirror of a
   skew-symmetric entry has the opposite sign, also if the entry is a zero or NaN.

   BITCUT_BAD_FILE: anything else (complex and hermitian matrices, a repeated coordinate,
   too few or too many entries); or the dense matrix has more than 2^32 elements; or it
   has more than 2^28 elements and more than 16 for each entry, where a dimension of 0
   counts as 1.  The fault names the line.  BITCUT_UNSUPPORTED: the file does not exist or
   cannot be read.  BITCUT_NO_MEMORY: the dense matrix does not fit; memory for absent
   coordinates is allocated but not touched.  *m is set only on success; matrix_clear()
   frees it.

   Source: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935. */
enum bitcut_status mtx_read(struct matrix *m, const char *path, struct fault *f);

/* The same for an open file, from its first byte. */
enum bitcut_status mtx_read_stream(struct matrix *m, struct stream *s, struct fault *f);

/* The same for the `size` bytes of such a file in memory. */
enum bitcut_status mtx_read_memory(struct matrix *m, const void *bytes, size_t size,
                                   struct fault *f);

/* Write `m` as a general real array to the file `path`, with 9 significant digits for
   each element, so that reading gives the same bits (for a NaN, the sign).  The file is
   written completely or not at all.  Fails as output_open() and output_commit() do. */
enum bitcut_status mtx_write(const char *path, const struct matrix *m, struct fault *f);

#endif
