/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/kernel_grid.h"

#include "lib/number/fma.h"

struct trial_shape {
    struct kernel_shape size;
    size_t count, configurations; /* 0: varied in turn; grouped by size */
};

/* Sizes near those of tiles of blocks, warps, instructions and runs of parts.  Without
   outputs only the memory between matrices of D can be wrong, which does not depend on
   scalars; without k the layouts of A and B do not matter. */
static const struct trial_shape shapes_of_parts[] = {
    { { 0, 5, 7 }, 0, 32 },      { { 5, 0, 7 }, 0, 32 },     { { 5, 7, 0 }, 0, 40 },
    { { 1, 1, 1 }, 0, 0 },       { { 1, 3, 16 }, 0, 0 },     { { 17, 9, 15 }, 0, 0 },
    { { 32, 24, 40 }, 0, 0 },    { { 2, 3, 1000 }, 0, 0 },   { { 1, 515, 64 }, 0, 0 },
    { { 150, 2, 40 }, 0, 0 },    { { 33, 70, 130 }, 0, 0 },  { { 129, 65, 33 }, 0, 0 },
    { { 131, 140, 97 }, 0, 0 },  { { 260, 270, 24 }, 0, 0 }, { { 20, 30, 2049 }, 0, 0 },
    { { 0, 0, 0 }, SIZE_MAX, 0 }
};

/* Sizes near those of fragments, kernels and vectors.  Large counts make the kernels'
   loops run more than once. */
static const struct trial_shape small_shapes[] = {
    { { 0, 5, 7 }, 5, 7 },       { { 5, 0, 7 }, 5, 7 },        { { 5, 7, 0 }, 5, 56 },
    { { 1, 1, 1 }, 37, 56 },     { { 2, 2, 2 }, 37, 56 },      { { 3, 3, 3 }, 37, 56 },
    { { 4, 4, 4 }, 37, 56 },     { { 5, 5, 5 }, 37, 56 },      { { 8, 4, 2 }, 37, 56 },
    { { 7, 3, 6 }, 37, 56 },     { { 8, 8, 8 }, 37, 56 },      { { 4, 8, 16 }, 37, 56 },
    { { 9, 10, 11 }, 19, 56 },   { { 12, 12, 12 }, 19, 56 },   { { 16, 16, 16 }, 19, 56 },
    { { 16, 8, 24 }, 19, 56 },   { { 24, 24, 24 }, 19, 56 },   { { 17, 31, 32 }, 9, 56 },
    { { 32, 32, 32 }, 9, 56 },   { { 20, 36, 44 }, 9, 56 },    { { 48, 48, 48 }, 5, 56 },
    { { 63, 61, 33 }, 5, 56 },   { { 64, 64, 64 }, 5, 56 },    { { 1, 64, 64 }, 9, 56 },
    { { 64, 1, 64 }, 9, 56 },    { { 64, 64, 1 }, 9, 56 },     { { 4, 4, 4 }, 100003, 2 },
    { { 16, 12, 16 }, 5003, 2 }, { { 0, 0, 0 }, SIZE_MAX, 0 },
};

enum { ASKED_COUNT = 37 }; /* entries of a small shape that the command line names */

/* An element of f16 from 32 random bits. */
static uint32_t with_exponent(uint32_t w, uint32_t exponent)
{
    return (w & 0x83ff) | exponent << 10;
}

static uint32_t normal(uint32_t w) { return with_exponent(w, 11 + (w >> 16) % 8); }
static uint32_t like_one(uint32_t w) { return with_exponent(w, 15); }
static uint32_t wide(uint32_t w) { return with_exponent(w, (w >> 16) % 31); }
static uint32_t subnormal(uint32_t w) { return with_exponent(w, 0); }
static uint32_t large(uint32_t w) { return with_exponent(w, 24 + (w >> 16) % 7); }
static uint32_t zero(uint32_t w) { return w & 0x8000; }
static uint32_t any(uint32_t w) { return w & 0xffff; }

/* One in 64 is an infinity, a NaN, a zero or the largest value. */
static uint32_t special(uint32_t w)
{
    static const uint16_t some[4] = { 0x7c00, 0x7e01, 0, 0x7bff };
    return w >> 26 ? normal(w) : (w & 0x8000) | some[w & 3];
}

enum { CLASSES = 8 };

static const struct values classes_of_parts[CLASSES] = {
    { "nrand", NULL },     { "urand(-1,1)", NULL },
    { "positive", NULL },  { "exp_rand(-60,60)", NULL },
    { "subnormal", NULL }, { "specials(200)", NULL },
    { "zeros", NULL },     { "anybits", NULL },
};

static const struct values small_classes[CLASSES] = {
    { "normal", normal },       { "like_one", like_one },
    { "wide", wide },           { "large", large },
    { "subnormal", subnormal }, { "specials", special },
    { "zeros", zero },          { "any", any },
};

enum { ROOMS = 7 };

static const struct room rooms_of_parts[ROOMS] = {
    /* clang-format off */
    { "dense",       1, 0, 0, 0, false, 1, false, false, false, false },
    { "one-b",       2, 1, 1, 0, false, 1, false, true,  false, false },
    { "rows-by-2",   1, 2, 2, 3, false, 1, false, false, false, false },
    { "beside",      3, 3, 0, 1, false, 1, false, false, false, true  },
    { "rows-by-4",   1, 4, 4, 4, false, 1, false, false, false, false },
    { "one-c",       3, 1, 2, 0, false, 1, false, false, true,  false },
    { "one-a",       2, 2, 1, 2, false, 1, true,  false, false, false },
    /* clang-format on */
};

static const struct room small_rooms[ROOMS] = {
    /* clang-format off */
    { "dense",          0, 0, 0, 0, false, 1, false, false, false, false },
    { "dense-one-b",    0, 0, 0, 0, false, 1, false, true,  false, false },
    { "rows-by-8",      0, 8, 8, 8, false, 1, false, false, false, false },
    { "rows-by-4",      0, 4, 4, 4, false, 1, false, false, false, false },
    { "rows-by-1",      0, 1, 3, 5, false, 1, false, false, false, false },
    { "pointers",       0, 0, 8, 0, true,  1, false, false, false, false },
    { "pointers-moved", 0, 0, 8, 8, true,  8, false, true,  false, false },
    /* clang-format on */
};

static const struct scalars scalars[] = {
    { F32_ONE, 0 },             /* 1, 0       */
    { F32_ONE, F32_ONE },       /* 1, 1       */
    { 0xbf400000, 0x80000000 }, /* -0.75, -0  */
    { 0x40466666, 0xbf99999a }, /* 3.1, -1.2  */
    { 0, 0x00000001 },          /* 0, 2^-149  */
    { 0, 0x39800000 },          /* 0, 2^-12   */
};

enum {
    SCALARS = 5, /* GEMMs with parts use the first five; small GEMMs the last in place of
                    the fifth */
    LAYOUTS = 4, /* for two matrices */
    EACH_OF_PARTS = CLASSES * SCALARS * LAYOUTS,
    EACH_SMALL = CLASSES * ROOMS
};

static const size_t small_products = (size_t)1 << 18;

static size_t products_of(struct kernel_shape s) { return s.m * s.n * s.k; }

/* For a small shape all classes, layouts of A and B, and scalars, except those that make
   no difference for the shape; for a larger shape each class.  Other properties are
   varied in turn. */
static struct configuration of_parts(const struct trial_shape *s, size_t i, uint64_t seed)
{
    const bool small = products_of(s->size) <= small_products;
    const size_t turn = i / CLASSES, class = i % CLASSES;
    const size_t layout = small ? turn % LAYOUTS : class % LAYOUTS;
    const size_t down = (i + turn) / 3 % LAYOUTS;
    const size_t scalar = s->size.k ? turn / LAYOUTS : turn;
    const struct room *room = &rooms_of_parts[small ? i % ROOMS : 0];
    const bool in_place = (i & 1) && !room->one_c;
    return (struct configuration){
        .shape = s->size,
        .count = room->count,
        .values = &classes_of_parts[class],
        .room = room,
        .down_a = layout & 1,
        .down_b = layout >> 1,
        .down_c = in_place ? down & 1 : down >> 1,
        .down_d = down & 1,
        .in_place = in_place,
        .scalars = scalars[small ? scalar : class % SCALARS],
        .seed = seed + i,
    };
}

/* For each shape all classes in all layouts; other properties are varied in turn. */
static struct configuration of_small(const struct trial_shape *s, size_t shape, size_t i,
                                     uint64_t seed)
{
    const size_t turn = i + shape, layout = turn % LAYOUTS, scalar = turn % SCALARS;
    const bool down = turn / 8 % 2, in_place = turn / LAYOUTS % 2;
    return (struct configuration){
        .shape = s->size,
        .count = s->count,
        .values = &small_classes[i / ROOMS % CLASSES],
        .room = &small_rooms[i % ROOMS],
        .down_a = layout & 1,
        .down_b = layout >> 1,
        .down_c = in_place ? down : turn / 16 % 2,
        .down_d = down,
        .in_place = in_place,
        .scalars = scalars[scalar + 1 == SCALARS ? SCALARS : scalar],
        .seed = seed + EACH_SMALL * shape + i,
    };
}

/* --- the whole grid --------------------------------------------------------------- */

static struct trial_shape shape_of(const struct kernel_trial *t, size_t i)
{
    static const struct trial_shape end = { { 0, 0, 0 }, SIZE_MAX, 0 };
    const bool parts = !gpu_kernel_takes_pointers(t->kernel);
    if (!t->shape) return parts ? shapes_of_parts[i] : small_shapes[i];
    return i ? end
             : (struct trial_shape){ *t->shape, parts ? 0 : ASKED_COUNT,
                                     parts ? 0 : EACH_SMALL };
}

/* Whether the kernel supports it, or it was requested. */
static bool has_shape(const struct kernel_trial *t, struct kernel_shape s)
{
    return t->shape || gpu_kernel_takes_sizes(t->kernel, s.m, s.n, s.k);
}

bool kernel_grid_has(const struct kernel_trial *t, const struct configuration *one)
{
    return has_shape(t, one->shape);
}

static size_t configurations_of(const struct trial_shape *s)
{
    if (s->configurations) return s->configurations;
    return products_of(s->size) <= small_products ? EACH_OF_PARTS : CLASSES;
}

/* A shape of the grid, and the number of entries of earlier shapes.  Shapes that the
   kernel does not support count too, so that an entry belongs to the same shard for every
   kernel. */
struct grid_place {
    struct trial_shape s;
    size_t shape, before;
};

static struct grid_place place_next(const struct kernel_trial *t,
                                    const struct grid_place *p)
{
    return (struct grid_place){ shape_of(t, p->shape + 1), p->shape + 1,
                                p->before + configurations_of(&p->s) };
}

/* The number of its entries in the trial's shard. */
static size_t entries_of(const struct kernel_trial *t, const struct grid_place *p)
{
    if (!has_shape(t, p->s.size)) return 0;
    return shard_size(t->shard, p->before, configurations_of(&p->s));
}

size_t kernel_grid_size(const struct kernel_trial *t)
{
    size_t all = 0;
    for (struct grid_place p = { shape_of(t, 0), 0, 0 }; p.s.count != SIZE_MAX;
         p = place_next(t, &p))
        all += entries_of(t, &p);
    return all;
}

struct configuration kernel_grid_at(const struct kernel_trial *t, size_t i)
{
    struct grid_place p = { shape_of(t, 0), 0, 0 };
    size_t count;
    while (i >= (count = entries_of(t, &p))) {
        i -= count;
        p = place_next(t, &p);
    }
    i = shard_offset(t->shard, p.before) + i * t->shard.count;
    return gpu_kernel_takes_pointers(t->kernel) ? of_small(&p.s, p.shape, i, t->seed)
                                                : of_parts(&p.s, i, t->seed);
}
