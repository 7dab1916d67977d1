/* SPDX-License-Identifier: BSD-3-Clause */
/* A and B of a program that draws them, and perhaps other tensors, from PyTorch's
   generator one after the other. */
#ifndef BITCUT_LIB_INPUT_TORCH_DRAWS_H
#define BITCUT_LIB_INPUT_TORCH_DRAWS_H

#include "lib/gemm/matrix.h"

/* Numbers of all draws together, at most. */
#define TORCH_DRAWS_MAX ((size_t)1 << 28)

/* Draw A and B (lib/input/torch_random.h) after torch.manual_seed(seed).  `text` lists
   the draws in their order, separated by commas.  A draw is

       [A | B] [randn | rand] SIZExSIZE... [T]

   such as "10x25, A 10x8, B rand 8x25".  Exactly one draw is A and one is B; others are
   not used.  randn is the default.  T: the operand is the transpose of the tensor.  The
   last two sizes of A and B are rows and columns; sizes before them count the matrices of
   a batch, and then A and B have the same number, unless one of them has two sizes.

   BITCUT_BAD_ARGUMENT, with a sentence: the text has another form, the draws have more
   than TORCH_DRAWS_MAX numbers, or the sizes of A and B do not fit together.
   BITCUT_NO_MEMORY.  *a and *b are set only on success; the caller clears them. */
enum bitcut_status torch_draws(struct matrix *a, struct matrix *b, const char *text,
                               uint64_t seed, struct fault *f);

#endif
