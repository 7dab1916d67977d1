/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices for tests/libraries.sh.

       matrices numpy M N K SEED FORMAT    writes A.npy (M x K) and B.npy (K x N)
       matrices narrow FORMAT FILE         rounds a matrix to a format, to nearest

   The first are what NumPy gives of one generator, A first,
       Generator(PCG64(SEED)).random(shape, dtype=float32) * 2 - 1
   rounded to FORMAT: NumPy's seed_seq and its PCG64 (XSL RR 128/64), from their
   descriptions: M.E. O'Neill, "PCG", HMC-CS-2014-0905, and "Developing a seed_seq
   alternative" (pcg-random.org). */
#include "lib/input/source.h"
#include "lib/number/format.h"
#include "lib/number/round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- seeds ------------------------------------------------------------------------ */

enum { POOL = 4, STATE = 8 };

static uint32_t hash(uint32_t *constant, uint32_t multiplier, uint32_t x)
{
    x ^= *constant;
    *constant *= multiplier;
    x *= *constant;
    return x ^ x >> 16;
}

static uint32_t mix(uint32_t x, uint32_t y)
{
    const uint32_t z = UINT32_C(0xca01f9dd) * x - UINT32_C(0x4973f715) * y;
    return z ^ z >> 16;
}

/* The words that a seed of 64 bits stands for. */
static void spread_seed(uint32_t word[STATE], uint64_t seed)
{
    uint32_t pool[POOL] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    uint32_t in = UINT32_C(0x43b0d7e5), out = UINT32_C(0x8b51f9dd);
    for (int i = 0; i < POOL; i++) pool[i] = hash(&in, UINT32_C(0x931e8875), pool[i]);
    for (int i = 0; i < POOL; i++)
        for (int j = 0; j < POOL; j++)
            if (i != j) pool[j] = mix(pool[j], hash(&in, UINT32_C(0x931e8875), pool[i]));
    for (int i = 0; i < STATE; i++)
        word[i] = hash(&out, UINT32_C(0x58f38ded), pool[i % POOL]);
}

/* --- the generator ---------------------------------------------------------------- */

/* 128 bits. */
struct twice {
    uint64_t high, low;
};

/* State and increment; the upper half of a number whose lower half was used. */
struct pcg {
    struct twice state, step;
    uint32_t kept;
    bool has_kept;
};

static struct twice add(struct twice x, struct twice y)
{
    const uint64_t low = x.low + y.low;
    return (struct twice){ x.high + y.high + (low < x.low), low };
}

static uint64_t upper_half(uint64_t x, uint64_t y)
{
    const uint64_t a = x >> 32, b = x & UINT32_MAX, c = y >> 32, d = y & UINT32_MAX;
    const uint64_t middle = a * d + (b * d >> 32), other = b * c + (middle & UINT32_MAX);
    return a * c + (middle >> 32) + (other >> 32);
}

static struct twice multiply(struct twice x, struct twice y)
{
    return (struct twice){ upper_half(x.low, y.low) + x.high * y.low + x.low * y.high,
                           x.low * y.low };
}

static void advance(struct pcg *g)
{
    const struct twice by = { UINT64_C(0x2360ed051fc65da4),
                              UINT64_C(0x4385df649fccf645) };
    g->state = add(multiply(g->state, by), g->step);
}

static struct pcg pcg_start(uint64_t seed)
{
    uint32_t w[STATE];
    uint64_t x[STATE / 2];
    struct pcg g = { 0 };
    spread_seed(w, seed);
    for (int i = 0; i < STATE / 2; i++) x[i] = (uint64_t)w[2 * i + 1] << 32 | w[2 * i];
    g.step = (struct twice){ x[2] << 1 | x[3] >> 63, x[3] << 1 | 1 };
    advance(&g);
    g.state = add(g.state, (struct twice){ x[0], x[1] });
    advance(&g);
    return g;
}

static uint32_t pcg_next(struct pcg *g)
{
    if (g->has_kept) return g->has_kept = false, g->kept;
    advance(g);
    const unsigned by = (unsigned)(g->state.high >> 58);
    const uint64_t x = g->state.high ^ g->state.low,
                   turned = x >> by | x << (64 - by) % 64;
    g->kept = (uint32_t)(turned >> 32);
    g->has_kept = true;
    return (uint32_t)turned;
}

/* --- matrices --------------------------------------------------------------------- */

static void fail(const char *what)
{
    fprintf(stderr, "matrices: %s\n", what);
    exit(3);
}

static void write_matrix(const char *name, const struct matrix *m)
{
    struct fault f;
    if (source_write(name, m, &f) != BITCUT_OK) fail(f.text);
}

/* An FP32 encoding rounded to a format, as FP32. */
static uint32_t narrow(const struct bitcut_format *format, uint32_t x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const uint64_t less = bitcut_format_convert(format, &roundings[ROUND_RN], f32, x);
    return (uint32_t)bitcut_format_convert(f32, &roundings[ROUND_RN], format, less);
}

/* The numbers are whole multiples of 2^-23, which FP32 holds. */
static void draw(const char *name, size_t rows, size_t cols, struct pcg *g,
                 const struct bitcut_format *format)
{
    struct matrix m;
    struct fault f;
    if (matrix_init(&m, rows, cols, &f) != BITCUT_OK) fail(f.text);
    for (size_t i = 0; i < rows * cols; i++) {
        const float x = (float)(pcg_next(g) >> 8) * 0x1p-23f - 1;
        uint32_t encoding;
        memcpy(&encoding, &x, sizeof encoding);
        m.at[i] = narrow(format, encoding);
    }
    write_matrix(name, &m);
    matrix_clear(&m);
}

static const struct bitcut_format *find(const char *name)
{
    const struct bitcut_format *const format = bitcut_format_find(name);
    if (!format) fail("no such format");
    return format;
}

static size_t number(const char *text) { return strtoull(text, NULL, 10); }

static void narrow_file(const struct bitcut_format *format, const char *name)
{
    struct matrix m;
    struct fault f;
    if (source_read(&m, name, &f) != BITCUT_OK) fail(f.text);
    for (size_t i = 0; i < m.rows * m.cols; i++) m.at[i] = narrow(format, m.at[i]);
    write_matrix(name, &m);
    matrix_clear(&m);
}

int main(int count, char **word)
{
    if (count == 7 && !strcmp(word[1], "numpy")) {
        const size_t m = number(word[2]), n = number(word[3]), k = number(word[4]);
        struct pcg g = pcg_start(number(word[5]));
        draw("A.npy", m, k, &g, find(word[6]));
        draw("B.npy", k, n, &g, find(word[6]));
    } else if (count == 4 && !strcmp(word[1], "narrow"))
        narrow_file(find(word[2]), word[3]);
    else fail("numpy M N K SEED FORMAT, or narrow FORMAT FILE");
    return 0;
}
