/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/sha256.h"

#include "lib/io/stream.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, LENGTH_BYTES = 8 };

/* FIPS 180-4, section 4.2.2. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2
};

static uint32_t turn(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

/* The words of a block, and the words computed from them (6.2.2, step 1). */
static void schedule(uint32_t w[ROUNDS], const unsigned char block[BLOCK])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < ROUNDS; i++) {
        const uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) +
               (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
}

static void add_block(uint32_t hash[8], const unsigned char block[BLOCK])
{
    uint32_t w[ROUNDS], v[8]; /* a to h */
    schedule(w, block);
    memcpy(v, hash, sizeof v);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t a = v[0], e = v[4];
        const uint32_t choose = (e & v[5]) ^ (~e & v[6]),
                       most = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        const uint32_t first = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choose +
                               constants[i] + w[i];
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most;
    }
    for (int i = 0; i < 8; i++) hash[i] += v[i];
}

void sha256_of(char text[SHA256_TEXT], const void *bytes, size_t size)
{
    uint32_t hash[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    unsigned char last[2 * BLOCK] = { 0 };
    const unsigned char *from = bytes;
    const size_t whole = size / BLOCK, rest = size % BLOCK;
    const size_t ends = rest < BLOCK - LENGTH_BYTES ? BLOCK : 2 * BLOCK;
    for (size_t i = 0; i < whole; i++) add_block(hash, from + BLOCK * i);
    if (rest) memcpy(last, from + BLOCK * whole, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        last[ends - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t at = 0; at < ends; at += BLOCK) add_block(hash, last + at);
    for (int i = 0; i < 8; i++) snprintf(text + 8 * i, 9, "%08x", (unsigned)hash[i]);
}

enum bitcut_status sha256_of_file(char text[SHA256_TEXT], const char *path,
                                  struct fault *f)
{
    char *bytes;
    size_t size;
    const enum bitcut_status status = stream_read_file(&bytes, &size, path, SIZE_MAX, f);
    if (status != BITCUT_OK) return status;
    sha256_of(text, bytes, size);
    free(bytes);
    return BITCUT_OK;
}
