/* SPDX-License-Identifier: BSD-3-Clause */
/* The random generator of PyTorch's CPU tensors and of NumPy's legacy functions: MT19937.
   Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), with the
   initialisation of 2002 (init_genrand). */
#ifndef BITCUT_LIB_NUMBER_MERSENNE_H
#define BITCUT_LIB_NUMBER_MERSENNE_H

#include <stdint.h>

enum { MERSENNE_WORDS = 624 };

struct mersenne {
    uint32_t word[MERSENNE_WORDS];
    int used; /* words of the state that were returned */
};

/* Start at a seed, as std::mt19937(seed) of C++ does. */
void mersenne_seed(struct mersenne *m, uint32_t seed);

/* The next 32 random bits. */
uint32_t mersenne_next(struct mersenne *m);

#endif
