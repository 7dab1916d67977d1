/* SPDX-License-Identifier: BSD-3-Clause */
/* Safetensors files. */
#ifndef BITCUT_LIB_IO_SAFETENSORS_H
#define BITCUT_LIB_IO_SAFETENSORS_H

#include "lib/io/tensor.h"

/* Read the tensor `name` of the file; NULL: its only tensor.

   Types: F64 F32 F16 BF16 F8_E4M3 F8_E5M2 F8_E8M0 I8 I16 I32, and U8, whose format
   the file does not name.  0 to ARRAY_DIMS_MAX dimensions.  The header has at most 2^26
   bytes.

   BITCUT_BAD_FILE: anything else; no tensor has this name; `name` is NULL and there are
   several; its bytes lie outside the file, or are not those of its shape.  Nothing is
   allocated for elements that the file does not have.  Also the causes of stream_read(),
   and BITCUT_NO_MEMORY.  *t is set only on success; tensor_clear() frees it.

   Source: github.com/huggingface/safetensors, README.md, "Format". */
enum bitcut_status safetensors_read(struct tensor *t, struct stream *s, const char *name,
                                    struct fault *f);

/* Whether a file begins as a safetensors file does: the length of the header, and '{'.
   There are `size` of its first bytes, `whole` in all. */
bool safetensors_begins(const unsigned char *bytes, size_t size, uint64_t whole);

#endif
