/* SPDX-License-Identifier: BSD-3-Clause */
/* Random shapes for `plans answers`, where trees of earlier answers are unsure:

       cc -O2 -o plan_pick plan_pick.c
       plan_pick TREES SEED PART PARTS | plans answers ...

   TREES, written by plan_table.py, has for each kind a line "kind EIGHT BATCHES NODES WEIGHT
   CALLS" and its NODES lines "feature below above right calls".  Shapes are those of `plans
   ask`; of those in a leaf with at least CALLS calls every eighth is written.  A round has
   WEIGHT shapes of each kind; PART is one of PARTS that run beside each other.  A shape is
   six numbers of 32 bits: the number of its kind, m, n, k, batch, and its leaf or -1. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILES = 17, FEATURES = 31, KINDS = 256 };

struct node {
    int32_t feature;
    uint32_t below, above;
    int32_t right, calls;
};

struct kind {
    int is_8, has_batches, nodes, weight, calls;
    struct node *node;
};

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

/* As size_of() in plans.cu. */
static int size_of(uint32_t h, int octaves, int first, int grain)
{
    const int octave = first + (int)((h >> 16) % (uint32_t)octaves),
              size = (1 << octave) + (int)((h & 0xffff) << octave >> 16);
    return (size + grain - 1) / grain * grain;
}

/* As random_shape() there. */
static void shape_make(int32_t s[6], const struct kind *kind, int number, uint32_t seed,
                       uint32_t index)
{
    static const int grains[8] = { 64, 8, 8, 8, 64, 8, 8, 1 };
    const uint32_t h = mix(index + 0x9e3779b9U * seed);
    const int least = kind->is_8 ? 16 : 1, less = kind->has_batches ? 2 : 0,
              of_n = grains[h & 7], of_k = grains[h >> 3 & 7];
    s[0] = number;
    s[1] = size_of(mix(h + 1), 13 - less, 0, 1);
    s[2] = size_of(mix(h + 2), 13 - less, 0, of_n > least ? of_n : least);
    s[3] = size_of(mix(h + 3), 11 - less, 3, of_k > least ? of_k : least);
    s[4] = kind->has_batches ? size_of(mix(h + 4), 9, 1, 1) : 1;
}

static uint32_t limited(int64_t x) { return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x; }

static uint32_t divisor_of(int64_t x)
{
    x &= -x;
    return (uint32_t)(x < 128 ? x : 128);
}

/* Those of features_of() in plan_table.py. */
static void features_make(uint32_t v[FEATURES], const int32_t s[6])
{
    static const int tile[TILES][2] = { { 8, 64 },    { 16, 64 },   { 16, 16 },   { 32, 32 },
                                        { 64, 64 },   { 128, 32 },  { 32, 128 },  { 64, 128 },
                                        { 128, 64 },  { 128, 128 }, { 256, 64 },  { 64, 256 },
                                        { 256, 128 }, { 128, 256 }, { 64, 32 },   { 32, 64 },
                                        { 16, 128 } };
    const int64_t m = s[1], n = s[2], k = s[3], batch = s[4];
    *v++ = (uint32_t)m, *v++ = (uint32_t)n, *v++ = (uint32_t)k;
    *v++ = divisor_of(k), *v++ = divisor_of(n), *v++ = divisor_of(m);
    for (int i = 0; i < TILES; i++)
        *v++ = (uint32_t)((m + tile[i][0] - 1) / tile[i][0] *
                          ((n + tile[i][1] - 1) / tile[i][1]) * batch);
    *v++ = limited(m * n * batch), *v++ = limited(m * n * k * batch >> 10);
    *v++ = limited(n * k), *v++ = limited(m * k);
    *v++ = (uint32_t)(k % 64), *v++ = (uint32_t)(k % 128), *v++ = (uint32_t)batch, *v++ = 0;
}

/* The leaf of a shape; -1: between two branches. */
static int leaf_of(const struct kind *kind, const int32_t s[6])
{
    uint32_t v[FEATURES];
    int at = 0;
    features_make(v, s);
    while (kind->node[at].feature >= 0) {
        const struct node *const x = &kind->node[at];
        const uint32_t value = v[x->feature];
        if (value > x->below && value < x->above) return -1;
        at = value <= x->below ? at + 1 : x->right;
    }
    return at;
}

static int read_kinds(struct kind kinds[KINDS], FILE *f)
{
    int count = 0;
    for (struct kind *q = kinds;
         count < KINDS && fscanf(f, " kind %d %d %d %d %d", &q->is_8, &q->has_batches,
                                 &q->nodes, &q->weight, &q->calls) == 5;
         q++, count++) {
        q->node = calloc((size_t)q->nodes + 1, sizeof *q->node);
        if (!q->node) exit(3);
        for (struct node *x = q->node; x < q->node + q->nodes; x++)
            if (fscanf(f, "%d %u %u %d %d", &x->feature, &x->below, &x->above, &x->right,
                       &x->calls) != 5)
                exit(2);
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct kind kinds[KINDS];
    FILE *const f = argc == 5 ? fopen(argv[1], "r") : NULL;
    if (!f) return 2;
    const int count = read_kinds(kinds, f);
    const uint32_t seed = (uint32_t)strtoul(argv[2], NULL, 10),
                   part = (uint32_t)strtoul(argv[3], NULL, 10),
                   parts = (uint32_t)strtoul(argv[4], NULL, 10);
    for (uint32_t round = part;; round += parts)
        for (int c = 0; c < count; c++)
            for (uint32_t i = 0; i < (uint32_t)kinds[c].weight; i++) {
                const uint32_t index = round * (uint32_t)kinds[c].weight + i,
                               h = mix(index + 0x9e3779b9U * (seed + (uint32_t)c));
                int32_t s[6] = { 0 };
                shape_make(s, &kinds[c], c, seed + (uint32_t)c, index);
                s[5] = kinds[c].nodes ? leaf_of(&kinds[c], s) : -1;
                if (s[5] >= 0 && kinds[c].node[s[5]].calls >= kinds[c].calls && mix(h + 9) & 7)
                    continue;
                if (fwrite(s, sizeof s, 1, stdout) != 1) return 0;
            }
}
