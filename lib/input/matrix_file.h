/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of any format from files of any kind. */
#ifndef BITCUT_LIB_INPUT_MATRIX_FILE_H
#define BITCUT_LIB_INPUT_MATRIX_FILE_H

#include "lib/gemm/matrix.h"
#include "lib/number/format.h"

/* A row-major matrix of encodings without gaps, each of format_bytes(format) bytes, or a
   batch of them, as struct matrix says. */
struct encoded_matrix {
    size_t rows, cols;
    const struct bitcut_format *format;
    void *at;
    bool is_batch;
    size_t count;
};

/* What a user says about a matrix in a file. */
struct matrix_request {
    const struct bitcut_format *format; /* NULL: the format of the file             */
    const char *format_option, *shape_option; /* for messages: "--format-a"         */
    bool vector;       /* whether an array of one dimension is a row */
    bool batch;        /* whether an array of three dimensions is a batch */
    bool has_shape;    /* of a file that is only elements          */
    int dims;          /* 2, or 3 of a batch; like dim, read only with has_shape */
    size_t dim[3];     /* [count,] rows, columns */
};

/* Read a matrix from the file `path`, or from `path` = FILE:NAME: the member NAME of
   FILE, if there is no file `path`.

   The kind of file is recognised by its first bytes, and otherwise by the ending of its
   name: .npy, .npz, .mtx, .safetensors, .pt and .pth (zip files of torch.save()), and
   with has_shape any other file, such as .bin: the elements row by row, little-endian.

   The format of the elements:
   - Integers without a sign and elements without a type (NumPy's V1 and V2, as which
     ml_dtypes saves bf16 and fp8) are encodings of r->format, which must be given.
   - Other elements are numbers of the format that the file names.  With r->format, every
     one must be a value of that format, and is converted; NaN becomes its NaN.
   - Without r->format, f64 is converted to f32 in the same way.

   BITCUT_BAD_FILE: a malformed file (the readers of lib/io say more); another number of
   dimensions than 2, or 3 with r->batch; an element that is no value or encoding of the
   format (the first one is named); a format that is missing, or has another size than the
   elements; several members and no NAME.  BITCUT_BAD_ARGUMENT: the kind of file is
   unknown; it has no members but there is a NAME; it has a shape but r->has_shape, or the
   other way round. BITCUT_UNSUPPORTED: the file cannot be read.  BITCUT_NO_MEMORY.  *m is
   set only on success; encoded_clear() frees it. */
enum bitcut_status matrix_file_read(struct encoded_matrix *m, const char *path,
                                    const struct matrix_request *r, struct fault *f);

/* Allocate one matrix without setting its elements.  BITCUT_NO_MEMORY leaves *m
 * unchanged.
 */
enum bitcut_status encoded_init(struct encoded_matrix *m, size_t rows, size_t cols,
                                const struct bitcut_format *format, struct fault *f);
void encoded_clear(struct encoded_matrix *m);

/* The same for a batch of `count` matrices. */
enum bitcut_status encoded_init_batch(struct encoded_matrix *m, size_t count, size_t rows,
                                      size_t cols, const struct bitcut_format *format,
                                      struct fault *f);

/* Copy a matrix.  BITCUT_NO_MEMORY leaves *m unchanged. */
enum bitcut_status encoded_copy(struct encoded_matrix *m,
                                const struct encoded_matrix *from, struct fault *f);

/* The matrix as a matrix of a GEMM. */
struct bitcut_matrix encoded_view(const struct encoded_matrix *m);

/* Make the matrix of the same values in FP32, which keeps the format, and clear *from.
   BITCUT_BAD_FILE names the first element that is no FP32 value; BITCUT_NO_MEMORY.  *m is
   set only on success. */
enum bitcut_status encoded_f32(struct matrix *m, struct encoded_matrix *from,
                               struct fault *f);

/* Write the matrix to `path`, by its ending.  .npy: f16, f32 and f64 as f2, f4 and f8,
   tf32 and e8m13 as f4, s8, s16 and s32 as i1, i2 and i4, and other formats as
   encodings, u1, u2 or u4; u8 is u1.  .mtx: values of
   one matrix, which FP32 must be able to represent. */
#define MATRIX_FILE_NO_BATCH ".mtx stores one matrix; write a batch to .npy"
enum bitcut_status encoded_write(const char *path, const struct encoded_matrix *m,
                                 struct fault *f);

#endif
