/* SPDX-License-Identifier: BSD-3-Clause */
/* The random FP32 tensors that PyTorch makes on a CPU, from a seed.

   The formulas are those of ATen, the library of PyTorch:
   aten/src/ATen/core/MT19937RNGEngine.h, TransformationHelper.h, DistributionsHelper.h
   and aten/src/ATen/native/cpu/DistributionTemplates.h.  torch_randn() is the code for
   x86 processors with AVX2, normal_fill_AVX2; PyTorch uses it also where there is
   AVX-512.  Its logarithm, sine and cosine are the single-precision polynomials of Cephes
   (S. Moshier, logf.c and sinf.c, as in avx_mathfun.h) in which the compiler contracts
   products and sums to fused multiply-adds.  Builds of PyTorch for other processors
   have other last bits in torch_randn() of 16 numbers or more.

   The results have the same bits on every host; callers run under hostfp_enter(). */
#ifndef BITCUT_LIB_INPUT_TORCH_RANDOM_H
#define BITCUT_LIB_INPUT_TORCH_RANDOM_H

#include "lib/number/mersenne.h"

#include <stdbool.h>
#include <stddef.h>

/* The default generator of PyTorch. */
struct torch_generator {
    struct mersenne words;
    bool has_next; /* whether torch_randn() of fewer than 16 numbers has left a number */
    double next;   /* that number */
};

/* torch.manual_seed(seed): the lower 32 bits of the seed count. */
void torch_seed(struct torch_generator *g, uint64_t seed);

/* Skip `count` words, as tensors do that are drawn and not used. */
void torch_skip(struct torch_generator *g, uint64_t count);

/* torch.rand(count): the low 24 bits of each word times 2^-24. */
void torch_rand(uint32_t *x, size_t count, struct torch_generator *g);

/* torch.randn(count).  count >= 16: `count` numbers as torch_rand(); each block of 16,
   u[0] to u[15], becomes r cos t in its first half and r sin t in its second half, with
   r = sqrt(-2 log(1 - u[i])) and t = 2 pi u[i + 8]; if count is no multiple of 16, the
   last 16 are drawn again.  count < 16: pairs r cos t, r sin t in binary64 from 53 bits
   each, rounded to FP32; the second number of the last pair may stay for the next call.
   Here the host functions of PyTorch are taken to be so exact that their error does not
   change the FP32 number. */
void torch_randn(uint32_t *x, size_t count, struct torch_generator *g);

/* torch.randint(low, low + range, (count,)) as FP32 values: low + word mod range;
   0 < range < 2^32, and |low|, |low + range| <= 2^24. */
void torch_randint(uint32_t *x, size_t count, int64_t low, uint32_t range,
                   struct torch_generator *g);

#endif
