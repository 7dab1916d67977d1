/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter-based random numbers: any word of any stream, in any order, on any host.

   A stream is a sequence of 32-bit words fixed by a 64-bit seed and a 64-bit stream
   number.  Word i is output i % 4 of Philox 4x32-10 for block i / 4, with
       key     = { seed low, seed high }
       counter = { block low, block high, stream low, stream high }   (32-bit halves)
   That is cuRAND's Philox: after curand_init(seed, stream, i, &state) with a
   curandStatePhilox4_32_10_t, curand(&state) returns word i.  It is also Random123's
   philox4x32_R(10, counter, key). */
#ifndef BITCUT_LIB_NUMBER_RAND_H
#define BITCUT_LIB_NUMBER_RAND_H

#include "lib/bitcut.h"

/* Words 4 * block to 4 * block + 3 of a stream; block may be any 64-bit number. */
void rand_block(uint32_t output[4], uint64_t seed, uint64_t stream, uint64_t block);

/* Word `index` of a stream. */
uint32_t rand_word(uint64_t seed, uint64_t stream, uint64_t index);

/* Words first to first + count - 1 of a stream; first + count <= 2^64. */
void rand_fill(uint32_t *words, size_t count, uint64_t seed, uint64_t stream,
               uint64_t first);

/* 64 random bits, from two words. */
static inline uint64_t rand_bits(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* floor(bits * n / 2^64): an integer below n, n >= 1.  The probability of each integer
   differs from 1/n by less than 2^-64. */
uint64_t rand_below(uint64_t bits, uint64_t n);

/* (2 t + 1) 2^-53, where t is the top 52 bits: uniform in the open interval (0, 1),
   symmetric about 1/2, and exact; 1 minus it is exact too. */
double rand_open(uint64_t bits);

/* A stream of random bits: all words of a seed and a stream, block after block. */
struct rng {
    uint64_t seed, stream, block;
    uint32_t word[4];
    int left; /* words of the block not yet used  */
};

struct rng rng_start(uint64_t seed, uint64_t stream);
uint64_t rng_bits(struct rng *r); /* the next 64 */

#endif
