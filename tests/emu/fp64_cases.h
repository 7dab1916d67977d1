/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs whose results data/libraries/fp64.cu records, and their operands; C and C++.

   A line of a recording has a case, and what the library computed:

       scheme parts layout m n k kind seed alpha beta digest elements

   `layout` has N for a matrix that is stored by columns and T for one that is stored by
   rows, of A and of B.  Factors are encodings, `elements` the first four encodings of D,
   all in hex.  `digest` is FNV-1a with 64 bits of all encodings of D, row by row, each
   with its lowest byte first.

   Operands come from SplitMix64 with the seed as its state: A row by row, then B column
   by column, then C row by row.  An element is an integer times a power of two, or an
   encoding: no operation rounds. */
#ifndef FP64_CASES_H
#define FP64_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Kinds of data.  Ranges of integers are exponents. */
enum fp64_kind {
    FP64_uniform,    /* [-1, 1) */
    FP64_positive,   /* [0, 1) */
    FP64_tenth,      /* [0, 0.1) */
    FP64_million,    /* [0, 10^6) */
    FP64_small,      /* uniform times 2^-20 */
    FP64_large,      /* uniform times 2^20 */
    FP64_gram,       /* uniform; column j of B is row j mod m of A */
    FP64_graded,     /* uniform; line i is times 2^(3 i - 30) */
    FP64_wide,       /* exponents -40 to 40 */
    FP64_wider,      /* exponents -300 to 300 */
    FP64_powers,     /* powers of two, exponents -60 to 3 */
    FP64_ties,       /* odd multiples of 2^-7 below 1 */
    FP64_zeros,      /* three of four are +-0; row 1 of A is zero */
    FP64_subnormal,  /* half of A is subnormal, half below 2^-1002; B: 960 to 962 */
    FP64_subnormals, /* odd rows of A are subnormal; B: 960 to 962 */
    FP64_infinity,   /* positive, with infinities in row 0 and in column 0 */
    FP64_nan,        /* uniform, with NaN in row 0 and in column 0 */
    FP64_top,        /* even rows of A: 1021 to 1023; B: -1000 to -998 */
    FP64_high,       /* even rows of A: 968 to 971; B: -970 to -968 */
    FP64_low,        /* even rows of A: -1022 to -1015; B: 1000 to 1002 */
    FP64_norm,       /* uniform, except for one element, see FP64_NORM */
    FP64_binade,     /* exponent 0 */
    FP64_spans, /* exponents by line, by block of k and by element, see fp64_spans() */
    FP64_KIND_COUNT
};

static const char *const fp64_kinds[] = {
    "uniform", "positive",  "tenth",      "million",  "small",  "large",
    "gram",    "graded",    "wide",       "wider",    "powers", "ties",
    "zeros",   "subnormal", "subnormals", "infinity", "nan",    "top",
    "high",    "low",       "norm",       "binade",   "spans"
};

struct fp64_case {
    char scheme[32], layout[3];
    int parts, kind;
    size_t m, n, k;
    uint64_t seed, alpha, beta; /* encodings */
    char edits[96];             /* changes of A and B, see fp64_edit(); empty: none */
};

/* SplitMix64 (Steele, Lea, Flood 2014) */
static inline uint64_t fp64_next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline double fp64_of(uint64_t encoding)
{
    double x;
    memcpy(&x, &encoding, sizeof x);
    return x;
}

static inline uint64_t fp64_bits(double x)
{
    uint64_t encoding;
    memcpy(&encoding, &x, sizeof x);
    return encoding;
}

/* An integer of at most 53 bits times 2^exponent, for results that are normal numbers. */
static inline double fp64_scaled(int64_t integer, int exponent)
{
    return (double)integer * fp64_of((uint64_t)(1023 + exponent) << 52);
}

/* A number of either sign whose exponent is one of `count` from `least` on. */
static inline double fp64_between(uint64_t *state, int least, int count)
{
    const uint64_t x = fp64_next(state),
                   field = 1023 + least + (x >> 1) % (uint64_t)count;
    return fp64_of(x << 63 | field << 52 | fp64_next(state) >> 12);
}

static inline double fp64_uniform(uint64_t *state, int exponent)
{
    return fp64_scaled((int64_t)(fp64_next(state) >> 11) - ((int64_t)1 << 52),
                       exponent - 52);
}

/* An element of line `line` of A (which = 0), of B (1) or of C (2). */
static inline double fp64_element(uint64_t *state, int kind, int which, size_t line)
{
    const bool even = line % 2 == 0;
    uint64_t x;
    if (which == 2) return fp64_uniform(state, 0);
    switch (kind) {
    case FP64_positive:
    case FP64_infinity: return fp64_scaled((int64_t)(fp64_next(state) >> 11), -53);
    case FP64_tenth:
        return fp64_scaled((int64_t)((fp64_next(state) >> 11) % 900719925474099u), -53);
    case FP64_million:
        x = fp64_next(state) >> 11;
        return fp64_scaled((int64_t)(x % ((uint64_t)1000000 << 33)), -33);
    case FP64_small: return fp64_uniform(state, -20);
    case FP64_large: return fp64_uniform(state, 20);
    case FP64_graded: return fp64_uniform(state, 3 * (int)line - 30);
    case FP64_wide: return fp64_between(state, -40, 81);
    case FP64_wider: return fp64_between(state, -300, 601);
    case FP64_powers:
        x = fp64_next(state);
        return fp64_of(x << 63 | (963 + (x >> 1) % 64) << 52);
    case FP64_ties:
        x = fp64_next(state);
        return fp64_scaled((x & 1 ? -1 : 1) * (int64_t)((x >> 1) % 64 * 2 + 1), -7);
    case FP64_zeros:
        x = fp64_next(state);
        return x % 4 || (which == 0 && line == 1) ? fp64_of(x & (uint64_t)1 << 63)
                                                  : fp64_uniform(state, 0);
    case FP64_subnormal:
        if (which) return fp64_between(state, 960, 3);
        x = fp64_next(state);
        return x & 1 ? fp64_of((x & (uint64_t)1 << 63) | fp64_next(state) >> 12)
                     : fp64_between(state, -1022, 20);
    case FP64_subnormals:
        if (which) return fp64_between(state, 960, 3);
        return even ? fp64_uniform(state, 0) : fp64_of(fp64_next(state) >> 12);
    case FP64_top:
        return which ? fp64_between(state, -1000, 3)
                     : fp64_between(state, even ? 1021 : 0, 3);
    case FP64_high:
        return which ? fp64_between(state, -970, 3)
                     : fp64_between(state, even ? 968 : 0, 4);
    case FP64_low:
        return which ? fp64_between(state, 1000, 3)
                     : fp64_between(state, even ? -1022 : 0, 8);
    case FP64_binade: return fp64_between(state, 0, 1);
    default: return fp64_uniform(state, 0);
    }
}

/* The first element of A of the kind "norm".  With seed 64, k = 300 and 14 moduli, the
   sum of the squares of row 0 gives another exponent in the fast mode of GEMMul8 when it
   is added by 256 threads than by 32. */
#define FP64_NORM 0x402b5ed80d3c1940u

/* A number from 0 to count - 1 for a place of the data. */
static inline int fp64_draw(uint64_t seed, uint64_t place, int count)
{
    uint64_t state = seed ^ place * 0xd1342543de82ef95u;
    return (int)((fp64_next(&state) >> 20) % (uint64_t)count);
}

/* Lines of the kind "spans": an element's exponent is the sum of three numbers, of its
   line, of its block of the line or of all lines, and of its own.  One of four seeds has
   zeros. */
static inline void fp64_spans(double *to, size_t lines, size_t k, int which,
                              uint64_t seed)
{
    static const int blocks[] = { 1, 8, 16, 32, 64, 64, 64, 128, 100, 1000 },
                     counts[] = { 1, 1, 4, 12, 30 };
    const uint64_t own = seed * 2 + (uint64_t)which;
    const int block = blocks[fp64_draw(own, 1, 10)],
              of_line = counts[fp64_draw(own, 2, 5)],
              of_block = counts[fp64_draw(own, 3, 5)],
              of_one = counts[fp64_draw(own, 4, 4)], shared = fp64_draw(own, 5, 2),
              zeros = fp64_draw(own, 6, 4);
    for (size_t line = 0; line < lines; line++)
        for (size_t p = 0; p < k; p++) {
            const uint64_t of = shared ? 0 : line + 1, at = p / (size_t)block;
            const int exponent =
                fp64_draw(own, 1000 + line, of_line) +
                fp64_draw(own, (of << 32) + 5000 + at, of_block) +
                fp64_draw(own, (line + 1) << 32 | (p + (1u << 24)), of_one);
            uint64_t state = own << 40 ^ line << 20 ^ p;
            const double x = fp64_between(&state, exponent, 1);
            to[line * k + p] =
                !zeros && fp64_draw(own, (line + 1) << 32 | (p + (1u << 25)), 50) == 0
                    ? 0
                    : x;
        }
}

/* x with another exponent; below -1022 a subnormal number, cut. */
static inline double fp64_with_exponent(double x, int exponent)
{
    const uint64_t bits = fp64_bits(x), sign = bits & (uint64_t)1 << 63,
                   fraction = bits & (((uint64_t)1 << 52) - 1);
    if (exponent >= -1022)
        return fp64_of(sign | (uint64_t)(exponent + 1023) << 52 | fraction);
    return fp64_of(sign | (fraction | (uint64_t)1 << 52) >> (-1022 - exponent));
}

/* One change, MATRIX LINE : FIRST - LAST CHANGE: elements of A or B, of a line or (*) of
   all lines, with FIRST <= k <= LAST.  The changes are `^E`, another exponent, `z`, zero,
   `f`, a fraction of ones, and `p`, a fraction of zeros. */
static inline void fp64_edit(double *a, double *b, const struct fp64_case *x,
                             const char *text)
{
    const size_t lines = text[0] == 'A' ? x->m : x->n;
    double *const to = text[0] == 'A' ? a : b;
    const bool all = text[1] == '*';
    unsigned line = 0, first = 0, last = 0;
    int exponent = 0;
    char change = 0;
    if (all) sscanf(text + 2, ":%u-%u%c%d", &first, &last, &change, &exponent);
    else sscanf(text + 1, "%u:%u-%u%c%d", &line, &first, &last, &change, &exponent);
    for (size_t i = all ? 0 : line; i < (all ? lines : (size_t)line + 1) && i < lines;
         i++)
        for (size_t p = first; p <= last && p < x->k; p++) {
            double *const at = to + i * x->k + p;
            const uint64_t fraction = ((uint64_t)1 << 52) - 1, bits = fp64_bits(*at);
            *at = change == 'z'   ? 0
                  : change == 'f' ? fp64_of(bits | fraction)
                  : change == 'p' ? fp64_of(bits & ~fraction)
                                  : fp64_with_exponent(*at, exponent);
        }
}

/* Operands: the rows of A and the columns of B, k elements each, and the rows of C. */
static inline void fp64_operands(double *a, double *b, double *c,
                                 const struct fp64_case *x)
{
    uint64_t state = x->seed;
    for (size_t i = 0; i < x->m; i++)
        for (size_t p = 0; p < x->k; p++)
            a[i * x->k + p] = fp64_element(&state, x->kind, 0, i);
    for (size_t j = 0; j < x->n; j++)
        for (size_t p = 0; p < x->k; p++)
            b[j * x->k + p] = fp64_element(&state, x->kind, 1, j);
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++)
            c[i * x->n + j] = fp64_element(&state, x->kind, 2, i);
    const uint64_t special = (uint64_t)(x->kind == FP64_nan ? 0x7ff8 : 0x7ff0) << 48;
    if (x->kind == FP64_infinity || x->kind == FP64_nan) {
        a[x->k / 2] = fp64_of(special);
        b[0] = fp64_of(special | (uint64_t)1 << 63);
    }
    for (size_t j = 0; j < x->n && x->kind == FP64_gram; j++)
        memcpy(b + j * x->k, a + j % x->m * x->k, x->k * sizeof *b);
    if (x->kind == FP64_norm) a[0] = fp64_of(FP64_NORM);
    if (x->kind == FP64_spans) {
        fp64_spans(a, x->m, x->k, 0, x->seed);
        fp64_spans(b, x->n, x->k, 1, x->seed);
    }
    for (const char *edit = x->edits; *edit; edit += *edit == ',') {
        fp64_edit(a, b, x, edit);
        edit += strcspn(edit, ",");
    }
}

static inline uint64_t fp64_digest(const double *d, size_t count)
{
    uint64_t digest = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++)
        for (int shift = 0; shift < 64; shift += 8)
            digest = (digest ^ (fp64_bits(d[i]) >> shift & 255)) * 0x100000001b3u;
    return digest;
}

#endif
