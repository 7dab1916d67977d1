/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of decision trees for sizes where the trees of cublas_choose.c refuse.

   data/libraries/plan_pairs.py learns them from what cuBLAS's heuristic answered there
   (data/README.md, "libraries/plans").  The trees of a pair are learned from the same
   calls with other features.  A leaf lists the rules that give the algorithm of every
   recorded call in it, up to what the order of k does not depend on.  An algorithm is
   predicted if all rules of both leaves give the same one.  Leaves with few calls, without
   such a rule, or that other recorded answers contradicted (plan_empty.py) are empty. */
#include "analysis/predict/cublas.h"

#include "lib/base/size.h"

#include <string.h>

enum { PROCESSORS = 132 };

/* How many slices a rule gives. */
enum count {
    FIXED,  /* .number                                                                  */
    FULL,   /* as many as have more than .number k                                      */
    MOST,   /* as many as there are blocks of .number k                                 */
    WAVES,  /* as many as let tiles of .rows x .columns fill all processors .number times
             */
    LENGTHS /* as many as have .number k                                                */
};

struct rule {
    unsigned char id, stages, scheme, custom, count;
    unsigned short number, rows, columns;
};

/* A tree in preorder, as bytes.  Numbers have seven bits a byte, the lowest first, and
   the highest bit says that another byte follows.  A node is its feature, the largest
   value of the left branch, how much larger the smallest value of the right branch is,
   less 1, and the bytes of the left branch, which follows.  A leaf is LEAF plus the
   number of its rules, and these, as indices into rules[]. */
enum { LEAF = 64 };

struct pair {
    const char *types, *layout;
    bool is_batch, is_small, has_bias;
    const unsigned char *one, *other;
};

#define PAIR(types, layout, is_batch, is_small, has_bias, name)                          \
    {                                                                                    \
        types, layout, is_batch, is_small, has_bias, name##_one, name##_other            \
    }
#include "analysis/predict/cublas_pairs.inc" /* rules[] and pairs[] */

/* --- features --------------------------------------------------------------------- */

enum { TILES = 17, FEATURES = 13 + TILES };

/* The largest power of two that divides x, at most 128. */
static uint32_t divisor_of(uint64_t x)
{
    const uint64_t power = x & (~x + 1);
    return (uint32_t)(power < 128 ? power : 128);
}

static uint32_t limited(uint64_t x) { return x < UINT32_MAX ? (uint32_t)x : UINT32_MAX; }

static void features_make(uint32_t v[FEATURES], const struct bitcut_gemm *g)
{
    static const unsigned short tile[TILES][2] = {
        { 8, 64 },    { 16, 64 },   { 16, 16 },  { 32, 32 },   { 64, 64 },  { 128, 32 },
        { 32, 128 },  { 64, 128 },  { 128, 64 }, { 128, 128 }, { 256, 64 }, { 64, 256 },
        { 256, 128 }, { 128, 256 }, { 64, 32 },  { 32, 64 },   { 16, 128 }
    };
    const uint64_t m = g->m, n = g->n, k = g->k, batch = g->count,
                   outputs = m * n * batch;
    const uint32_t sizes[] = { (uint32_t)m,   (uint32_t)n,   (uint32_t)k,
                               divisor_of(k), divisor_of(n), divisor_of(m) },
                   products[] = { limited(outputs), limited(outputs * k >> 10),
                                  limited(n * k),   limited(m * k),
                                  (uint32_t)k % 64, (uint32_t)k % 128,
                                  (uint32_t)batch };
    memcpy(v, sizes, sizeof sizes);
    v += sizeof sizes / sizeof *sizes;
    for (int i = 0; i < TILES; i++)
        *v++ = (uint32_t)(divide_up(m, tile[i][0]) * divide_up(n, tile[i][1]) * batch);
    memcpy(v, products, sizeof products);
}

/* --- leaves ----------------------------------------------------------------------- */

static uint32_t read_number(const unsigned char **at)
{
    uint32_t x = 0;
    for (int shift = 0;; shift += 7) {
        const unsigned char byte = *(*at)++;
        x |= (uint32_t)(byte & 127) << shift;
        if (byte < 128) return x;
    }
}

/* The leaf of features, or NULL if they are between the two branches of a node. */
static const unsigned char *walk(const unsigned char *at, const uint32_t v[FEATURES])
{
    while (*at < LEAF) {
        const uint32_t x = v[*at++], below = read_number(&at),
                       above = below + 1 + read_number(&at), length = read_number(&at);
        if (x > below && x < above) return NULL;
        if (x > below) at += length;
    }
    return at;
}

static uint32_t slices_of(const struct rule *r, const struct bitcut_gemm *g)
{
    const size_t k = g->k, number = r->number;
    size_t slices = number;
    if (r->count == FULL) slices = (k - 1) / number;
    if (r->count == MOST) slices = divide_up(k, number);
    if (r->count == LENGTHS) slices = k / number;
    if (r->count == WAVES)
        slices = PROCESSORS * number /
                 (divide_up(g->m, r->rows) * divide_up(g->n, r->columns) * g->count);
    return (uint32_t)(slices ? slices : 1);
}

/* Read the rules of a leaf into *to; false if there are none, or if they do not agree
   with each other and with the ones before.  `found`: whether there were any before. */
static bool take(struct cublas_fields *to, bool *found, const unsigned char *leaf,
                 const struct bitcut_gemm *g)
{
    const int count = leaf ? *leaf++ - LEAF : 0;
    for (int i = 0; i < count; i++) {
        const struct rule *const r = &rules[read_number(&leaf)];
        const uint32_t slices = slices_of(r, g);
        const struct cublas_fields x = { .id = r->id,
                                         .stages = r->stages,
                                         .splits = slices,
                                         .scheme = slices > 1 ? r->scheme : 0,
                                         .custom = r->custom };
        if (*found && memcmp(&x, to, sizeof x)) return false;
        *to = x, *found = true;
    }
    return count > 0;
}

bool cublas_pair_find(struct cublas_fields *to, const struct cublas_types *types,
                      const struct cublas_call *call, const char *layout)
{
    const struct bitcut_gemm *const g = &call->g;
    const bool has_bias = cublas_has_bias(call) && !call->bias_is_c;
    uint32_t v[FEATURES];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct pair *const t = &pairs[i];
        bool found = false;
        if (strcmp(t->types, types->name) || strcmp(t->layout, layout) ||
            t->is_batch != (g->count > 1) || t->is_small != call->is_small ||
            t->has_bias != has_bias)
            continue;
        features_make(v, g);
        return take(to, &found, walk(t->one, v), g) &&
               take(to, &found, walk(t->other, v), g);
    }
    return false;
}
