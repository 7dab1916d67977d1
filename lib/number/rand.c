/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/rand.h"

#include "lib/number/wide.h"

enum { ROUNDS = 10 };

/* Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11,
   section 3.3: the multipliers of Philox 4x32 and the Weyl constants of its key. */
static const uint32_t multiplier[2] = { 0xd2511f53, 0xcd9e8d57 };
static const uint32_t weyl[2] = { 0x9e3779b9, 0xbb67ae85 };

void bitcut_philox(uint32_t output[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c[4] = { counter[0], counter[1], counter[2], counter[3] };
    uint32_t k[2] = { key[0], key[1] };
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)multiplier[0] * c[0];
        const uint64_t p1 = (uint64_t)multiplier[1] * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k[0];
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k[1];
        c[3] = (uint32_t)p0;
        k[0] += weyl[0];
        k[1] += weyl[1];
    }
    for (int i = 0; i < 4; i++) output[i] = c[i];
}

void rand_block(uint32_t output[4], uint64_t seed, uint64_t stream, uint64_t block)
{
    const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32),
                                  (uint32_t)stream, (uint32_t)(stream >> 32) };
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    bitcut_philox(output, counter, key);
}

uint32_t rand_word(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t output[4];
    rand_block(output, seed, stream, index / 4);
    return output[index % 4];
}

void rand_fill(uint32_t *words, size_t count, uint64_t seed, uint64_t stream,
               uint64_t first)
{
    uint32_t output[4];
    for (size_t i = 0; i < count; i++) {
        const uint64_t index = first + i;
        if (i == 0 || index % 4 == 0) rand_block(output, seed, stream, index / 4);
        words[i] = output[index % 4];
    }
}

uint64_t rand_below(uint64_t bits, uint64_t n)
{
    return (uint64_t)((bitcut_uint128)bits * n >> 64);
}

double rand_open(uint64_t bits) { return (double)(2 * (bits >> 12) + 1) * 0x1p-53; }

struct rng rng_start(uint64_t seed, uint64_t stream)
{
    return (struct rng){ .seed = seed, .stream = stream };
}

uint64_t rng_bits(struct rng *r)
{
    if (r->left == 0) {
        rand_block(r->word, r->seed, r->stream, r->block++);
        r->left = 4;
    }
    r->left -= 2;
    return rand_bits(r->word[r->left], r->word[r->left + 1]);
}
