/* SPDX-License-Identifier: BSD-3-Clause */
/* Random calls for `plans answers`, in the leaves of trees of earlier answers:

       cc -O2 -o plan_pick plan_pick.c
       plan_pick TREES SEED PART PARTS | plans answers ...

   TREES, written by plan_learn.py, has for each kind a line "kind EIGHT BATCHES NODES" and its
   NODES lines "feature below above right quota": in preorder, with feature -1 for a leaf, from
   which QUOTA calls are drawn.  Sizes are drawn from the box that contains the leaf, with the
   octaves and multiples of `plans ask`, until one is in the leaf.  PART is one of PARTS that run
   beside each other: it has every PARTS-th call of each leaf.  A quarter of each quota is
   written in each of four rounds.  A call is six numbers of 32 bits: the number of its kind, m, n, k, batch, and
   its leaf. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILES = 17, FEATURES = 30, KINDS = 256, ROUNDS = 4, TRIES = 1024, SIZES = 4 };
/* Numbers of features; M, N and K come first. */
enum { M, N, K, BATCH, POWER_K = 3, POWER_N, POWER_M, TILE, OUTPUTS = TILE + TILES,
       PRODUCTS, OF_B, OF_A, K_64, K_128, COUNT };

struct node {
    int32_t feature;
    uint32_t below, above;
    int32_t right, quota;
};

struct kind {
    int is_8, has_batches, nodes;
    struct node *node;
};

/* The least and the largest sizes in a leaf, and powers of two that divide n, k and m. */
struct box {
    int64_t from[SIZES], to[SIZES], grain[3];
    int64_t least[FEATURES], most[FEATURES];
};

static const int tile[TILES][2] = { { 8, 64 },    { 16, 64 },   { 16, 16 },   { 32, 32 },
                                    { 64, 64 },   { 128, 32 },  { 32, 128 },  { 64, 128 },
                                    { 128, 64 },  { 128, 128 }, { 256, 64 },  { 64, 256 },
                                    { 256, 128 }, { 128, 256 }, { 64, 32 },   { 32, 64 },
                                    { 16, 128 } };

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

static int64_t up(int64_t x, int64_t to) { return (x + to - 1) / to; }

static uint32_t limited(int64_t x) { return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x; }

static uint32_t divisor_of(int64_t x)
{
    x &= -x;
    return (uint32_t)(x < 128 ? x : 128);
}

/* Those of features_of() in plan_learn.py. */
static void features_make(uint32_t v[FEATURES], const int64_t s[SIZES])
{
    const int64_t m = s[M], n = s[N], k = s[K], batch = s[BATCH];
    *v++ = (uint32_t)m, *v++ = (uint32_t)n, *v++ = (uint32_t)k;
    *v++ = divisor_of(k), *v++ = divisor_of(n), *v++ = divisor_of(m);
    for (int i = 0; i < TILES; i++)
        *v++ = (uint32_t)(up(m, tile[i][0]) * up(n, tile[i][1]) * batch);
    *v++ = limited(m * n * batch), *v++ = limited(m * n * k * batch >> 10);
    *v++ = limited(n * k), *v++ = limited(m * k);
    *v++ = (uint32_t)(k % 64), *v++ = (uint32_t)(k % 128), *v = (uint32_t)batch;
}

static int leaf_of(const struct kind *kind, const int64_t s[SIZES])
{
    uint32_t v[FEATURES];
    int at = 0;
    features_make(v, s);
    while (kind->node[at].feature >= 0) {
        const struct node *const x = &kind->node[at];
        at = v[x->feature] <= x->below ? at + 1 : x->right;
    }
    return at;
}

/* --- boxes ------------------------------------------------------------------------ */

static void raise(int64_t *x, int64_t to) { *x = *x < to ? to : *x; }
static void lower(int64_t *x, int64_t to) { *x = *x > to ? to : *x; }

/* Sizes a, and others with a product of at least `other_least` and at most `other_most`, whose
   product is from `least` to `most`. */
static void limit_factor(struct box *b, int size, int64_t part, int64_t least, int64_t most,
                         int64_t other_least, int64_t other_most)
{
    if (other_least < 1 || other_most < 1) return;
    if (most < UINT32_MAX) lower(&b->to[size], most / other_least * part);
    raise(&b->from[size], (up(least, other_most) - 1) * part + 1);
}

static void limit_tiles(struct box *b)
{
    for (int i = 0; i < TILES; i++) {
        const int64_t least = b->least[TILE + i], most = b->most[TILE + i];
        limit_factor(b, M, tile[i][0], least, most, up(b->from[N], tile[i][1]) * b->from[BATCH],
                     up(b->to[N], tile[i][1]) * b->to[BATCH]);
        limit_factor(b, N, tile[i][1], least, most, up(b->from[M], tile[i][0]) * b->from[BATCH],
                     up(b->to[M], tile[i][0]) * b->to[BATCH]);
    }
}

/* Limits by the product of the sizes in `of`, a bit each, over 2^shift. */
static void limit_product(struct box *b, int feature, unsigned of, int shift)
{
    const int64_t least = b->least[feature] << shift,
                  most = b->most[feature] < UINT32_MAX
                             ? ((b->most[feature] + 1) << shift) - 1
                             : UINT32_MAX;
    for (int i = 0; i < SIZES; i++) {
        int64_t from = 1, to = 1;
        if (!(of >> i & 1)) continue;
        for (int j = 0; j < SIZES; j++)
            if (j != i && of >> j & 1) from *= b->from[j], to *= b->to[j];
        if (from < 1 || to < 1) continue;
        if (b->most[feature] < UINT32_MAX) lower(&b->to[i], most / from);
        raise(&b->from[i], up(least, to));
    }
}

static void limit_box(struct box *b)
{
    static const int feature[SIZES] = { M, N, K, COUNT }, power[3] = { POWER_M, POWER_N, POWER_K };
    for (int i = 0; i < SIZES; i++) {
        lower(&b->to[i], b->most[feature[i]]);
        raise(&b->from[i], b->least[feature[i]]);
    }
    for (int i = 0; i < 3; i++) {
        b->grain[i] = 1;
        while (b->grain[i] < b->least[power[i]]) b->grain[i] *= 2;
    }
    for (int pass = 0; pass < 3; pass++) {
        limit_tiles(b);
        limit_product(b, OUTPUTS, 1 << M | 1 << N | 1 << BATCH, 0);
        limit_product(b, PRODUCTS, 1 << M | 1 << N | 1 << K | 1 << BATCH, 10);
        limit_product(b, OF_B, 1 << N | 1 << K, 0);
        limit_product(b, OF_A, 1 << M | 1 << K, 0);
    }
}

static void box_start(struct box *b, const struct kind *kind)
{
    const int less = kind->has_batches ? 2 : 0;
    *b = (struct box){ .from = { 1, 1, 8, kind->has_batches ? 2 : 1 },
                       .to = { (8192 >> less) - 1, 8192 >> less, 16384 >> less,
                               kind->has_batches ? 1023 : 1 } };
    for (int i = 0; i < FEATURES; i++) b->most[i] = UINT32_MAX;
}

/* --- calls ------------------------------------------------------------------------ */

/* Octaves and 2^-16 parts of them. */
static int64_t place_of(int64_t x)
{
    int octave = 0;
    while (x >> octave > 1) octave++;
    return ((int64_t)octave << 16) + (((x - ((int64_t)1 << octave)) << 16) >> octave);
}

static int64_t size_in(int64_t from, int64_t to, uint32_t h, int64_t grain)
{
    const int64_t first = place_of(from), last = place_of(to) + 1,
                  place = first + (int64_t)((uint64_t)h * (uint64_t)(last - first) >> 32);
    const int octave = (int)(place >> 16);
    const int64_t x = ((int64_t)1 << octave) + ((place & 0xffff) << octave >> 16);
    return up(x, grain) * grain;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* A call in the leaf; false if none was found. */
static int call_make(int64_t s[SIZES], const struct box *b, const struct kind *kind, int leaf,
                     uint32_t h)
{
    static const int grains[8] = { 64, 8, 8, 8, 64, 8, 8, 1 };
    const int least = kind->is_8 ? 16 : 1, less = kind->has_batches ? 2 : 0;
    for (int i = 0; i < TRIES; i++) {
        h = mix(h + 0x9e3779b9U);
        s[M] = size_in(b->from[M], b->to[M], mix(h + 1), b->grain[M]);
        s[N] = size_in(b->from[N], b->to[N], mix(h + 2),
                       larger(larger(grains[h & 7], least), b->grain[N]));
        s[K] = size_in(b->from[K], b->to[K], mix(h + 3),
                       larger(larger(grains[h >> 3 & 7], least), b->grain[K]));
        s[BATCH] = size_in(b->from[BATCH], b->to[BATCH], mix(h + 4), 1);
        if (s[M] < 8192 >> less && s[N] <= 8192 >> less && s[K] <= 16384 >> less &&
            leaf_of(kind, s) == leaf)
            return 1;
    }
    return 0;
}

struct job {
    const struct kind *kind;
    int number;
    uint32_t seed, part, parts, round;
};

static void write_leaf(const struct job *j, const struct box *limits, int leaf)
{
    const int64_t quota = j->kind->node[leaf].quota;
    struct box b = *limits;
    limit_box(&b);
    for (int i = 0; i < SIZES; i++)
        if (b.from[i] > b.to[i]) return;
    for (int64_t i = quota * j->round / ROUNDS; i < quota * (j->round + 1) / ROUNDS; i++) {
        int64_t s[SIZES];
        if ((uint32_t)i % j->parts != j->part) continue;
        const uint32_t h = mix((uint32_t)i + mix((uint32_t)leaf + mix(j->seed + (uint32_t)j->number)));
        if (!call_make(s, &b, j->kind, leaf, h)) return;
        const int32_t x[6] = { j->number,    (int32_t)s[M],     (int32_t)s[N],
                               (int32_t)s[K], (int32_t)s[BATCH], leaf };
        if (fwrite(x, sizeof x, 1, stdout) != 1) exit(0);
    }
}

/* Write the leaves below a node; the sizes of its calls are within `limits`. */
static void write_leaves(const struct job *j, const struct box *limits, int at)
{
    const struct node *const x = &j->kind->node[at];
    if (x->feature < 0) {
        write_leaf(j, limits, at);
        return;
    }
    struct box left = *limits, right = *limits;
    lower(&left.most[x->feature], x->below);
    raise(&right.least[x->feature], (int64_t)x->below + 1);
    write_leaves(j, &left, at + 1);
    write_leaves(j, &right, x->right);
}

static int read_kinds(struct kind kinds[KINDS], FILE *f)
{
    int count = 0;
    for (struct kind *q = kinds; count < KINDS && fscanf(f, " kind %d %d %d", &q->is_8,
                                                         &q->has_batches, &q->nodes) == 3;
         q++, count++) {
        q->node = calloc((size_t)q->nodes + 1, sizeof *q->node);
        if (!q->node) exit(3);
        for (struct node *x = q->node; x < q->node + q->nodes; x++)
            if (fscanf(f, "%d %u %u %d %d", &x->feature, &x->below, &x->above, &x->right,
                       &x->quota) != 5)
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
    struct job j = { .seed = (uint32_t)strtoul(argv[2], NULL, 10),
                     .part = (uint32_t)strtoul(argv[3], NULL, 10),
                     .parts = (uint32_t)strtoul(argv[4], NULL, 10) };
    for (j.round = 0; j.round < ROUNDS; j.round++)
        for (j.number = 0; j.number < count; j.number++) {
            struct box limits;
            j.kind = &kinds[j.number];
            box_start(&limits, j.kind);
            write_leaves(&j, &limits, 0);
        }
    return 0;
}
