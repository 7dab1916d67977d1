/* SPDX-License-Identifier: BSD-3-Clause */
/* PyTorch's files: zip archives with a pickle and storages. */
#ifndef BITCUT_LIB_IO_TORCH_H
#define BITCUT_LIB_IO_TORCH_H

#include "lib/io/tensor.h"
#include "lib/io/zip.h"

/* Whether an archive is a file of torch.save(): it has a member PREFIX/data.pkl. */
bool torch_is(const struct zip *z);

/* Read the tensor `name` of such an archive (lib/io/pickle.h; NULL: its only tensor),
   with any strides: the elements are in C order of the tensor's shape.

   BITCUT_BAD_FILE: the causes of pickle_find(); the file is not little-endian; a storage
   is missing, has another size than the pickle says, or does not have all elements; or
   the tensor has more elements than its storage, as expand() makes.  Also the causes of
   zip_member_open() and stream_read(), and BITCUT_NO_MEMORY.  *t is set only on success;
   tensor_clear() frees it. */
enum bitcut_status torch_read(struct tensor *t, const struct zip *z, const char *name,
                              struct fault *f);

#endif
