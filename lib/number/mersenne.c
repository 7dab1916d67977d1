/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/mersenne.h"

enum { SHIFT = 397 };

void mersenne_seed(struct mersenne *m, uint32_t seed)
{
    m->word[0] = seed;
    for (uint32_t i = 1; i < MERSENNE_WORDS; i++) {
        const uint32_t last = m->word[i - 1];
        m->word[i] = 1812433253u * (last ^ last >> 30) + i;
    }
    m->used = MERSENNE_WORDS;
}

/* The recurrence, in place: word i depends on words i, i + 1 and i + SHIFT. */
static void advance(struct mersenne *m)
{
    for (int i = 0; i < MERSENNE_WORDS; i++) {
        const uint32_t next = m->word[(i + 1) % MERSENNE_WORDS];
        const uint32_t y = (m->word[i] & 0x80000000u) | (next & 0x7fffffffu);
        m->word[i] =
            m->word[(i + SHIFT) % MERSENNE_WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    m->used = 0;
}

uint32_t mersenne_next(struct mersenne *m)
{
    if (m->used == MERSENNE_WORDS) advance(m);
    uint32_t y = m->word[m->used++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}
