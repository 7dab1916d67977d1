/* SPDX-License-Identifier: BSD-3-Clause */
/* The tensors that a pickle of torch.save() describes.  Nothing is executed: a table has
   every global name that is understood, and all others are refused. */
#ifndef BITCUT_LIB_IO_PICKLE_H
#define BITCUT_LIB_IO_PICKLE_H

#include "lib/io/tensor.h"

enum { PICKLE_KEY_MAX = 64 };

/* A tensor, as elements of a storage. */
struct pickle_tensor {
    const struct tensor_type *type;
    char key[PICKLE_KEY_MAX]; /* name of the storage                              */
    uint64_t bytes;           /* of the storage                                   */
    uint64_t offset;          /* of the first element, in elements                */
    int dims;
    uint64_t dim[ARRAY_DIMS_MAX], stride[ARRAY_DIMS_MAX]; /* strides in elements */
};

/* Find a tensor in `size` bytes of a pickle: that with the name `name` in a dictionary,
   or in dictionaries in it, with '/' between names (NULL: the only tensor).

   Read are the opcodes of protocol 2 that torch.save() writes for tensors, parameters,
   numbers, texts, lists, tuples and dictionaries (dict and OrderedDict, as state_dict()
   has); memory and time are proportional to `size`.

   BITCUT_BAD_FILE: any other opcode or global name; a malformed pickle; a tensor with
   more than ARRAY_DIMS_MAX dimensions, with negative numbers, or that is a conjugate or
   negative view; an unsupported element type; or no tensor with this name.
   BITCUT_NO_MEMORY.  *t is set only on success.

   Sources: Python's Lib/pickletools.py; PyTorch's torch/_tensor.py (_reduce_ex_internal)
   and torch/serialization.py (persistent_id). */
enum bitcut_status pickle_find(struct pickle_tensor *t, const void *bytes, size_t size,
                               const char *name, struct fault *f);

#endif
