/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs on the tiles of Intel AMX (gpu/cpu/host_amx.c). */
#include "gpu/cpu/host_code.h"

#if HOST_HAS_CODE

#include "lib/base/size.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROW_BYTES = 64 };

#define AMX __attribute__((target("amx-tile,amx-bf16")))

/* Between loads and stores of tiles by these functions, no other code writes the memory
   that they load, so the compiler may keep values that it has read. */
#define ZERO(tile) __asm__ volatile("tilezero %%tmm" #tile : :)
#define READ(tile, at)                                                                   \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile                                  \
                     :                                                                   \
                     : "r"(at), "r"((intptr_t)ROW_BYTES))
#define MULTIPLY(d, a, b)                                                                \
    __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #d : :)

/* A tile that is soon no longer read: it need not stay in the L1 cache. */
#define READ_PAST(tile, at)                                                              \
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #tile                                \
                     :                                                                   \
                     : "r"(at), "r"((intptr_t)ROW_BYTES))

/* The sums of a block are tiles, one after the other.  If the low 12 bits of their
   addresses are equal, a processor mistakes a load for a load of a store before it that
   is not complete, and waits.  So the sums of a block and of the next block are one tile
   less or more than whole multiples of four tiles apart, and a tile of the next block is
   loaded when the same tile of this block is stored. */
#define TAKE(tile, sums, from_zero)                                                      \
    if (from_zero) ZERO(tile);                                                           \
    else READ(tile, (sums) + (tile)*HOST_TILE)
#define GIVE(tile, sums)                                                                 \
    __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)"                              \
                     :                                                                   \
                     : "r"((sums) + (tile)*HOST_TILE), "r"((intptr_t)ROW_BYTES)          \
                     : "memory")

/* Store the sums of a block, and load the sums of the next block. */
#define PASS(tile, sums, next, from_zero)                                                \
    GIVE(tile, sums);                                                                    \
    TAKE(tile, next, from_zero)

/* Prefetch data for later, some lines at a time: into the L2 cache, or the L1 cache. */
static inline const char *fetch(const char *at, size_t lines)
{
    for (size_t i = 0; i < lines; i++, at += ROW_BYTES) __builtin_prefetch(at, 0, 2);
    return at;
}

static inline const char *fetch_near(const char *at, size_t lines)
{
    for (size_t i = 0; i < lines; i++, at += ROW_BYTES) __builtin_prefetch(at, 0, 3);
    return at;
}

/* A block of an area, or a quarter of it, by panels or halves of panels. */
struct place {
    size_t i, j;
};

static inline struct place place_after(struct place x, size_t down, size_t across)
{
    if (++x.i == down) x.i = 0, x.j++;
    if (x.j == across) x.j = 0;
    return x;
}

/* Number of lines of a panel to prefetch with each of `shares` blocks and `parts` of a
   block. */
struct share {
    size_t block, part;
};

static inline struct share share_of(size_t lines, size_t shares, size_t parts)
{
    const size_t block = divide_up(lines, shares);
    return (struct share){ block, parts ? divide_up(block, parts) : 0 };
}

/* Where a quarter of a block begins to fetch its share of the panels at `next`: quarter
   number `n` of those with half panel `half`. */
static inline const char *share_start(const uint32_t *next, size_t panel,
                                      struct share share, size_t half, size_t n)
{
    return (const char *)(next + half / 2 * panel) +
           (2 * n + half % 2) * share.block * ROW_BYTES;
}

/* Distance in floats from the sums of a block of one accumulator to the sums of the next
   block; and of a quarter of five accumulators. */
enum { ONE_BLOCK = 5 * HOST_TILE, FIVE_QUARTER = 5 * HOST_TILE };

/* Tiles 0 to 3 hold the sums of a block, two by two; 4 and 5 hold A, 6 and 7 hold B.  The
   operands of the next term are loaded before this term ends, and the first operands of
   the next block before the sums of this block are stored.  A part of A that the next
   term multiplies, too, stays in its tiles.  The panel of B stays in the L1 cache. */
AMX static void multiply_one(const struct host_run *x)
{
    const struct host_terms terms = *x->terms;
    const size_t a_step = x->a_step, b_step = x->b_step;
    const size_t first = x->first / HOST_PAIRS, steps = x->end / HOST_PAIRS - first;
    const size_t items = steps * (size_t)terms.count, down = x->down, across = x->across;
    const uint32_t *const a0 = x->a + first * a_step, *const b0 = x->b + first * b_step;
    const struct share left = share_of(x->next_lines, across, items);
    const struct share right = share_of(x->next_lines, down, items);
    const bool from_zero = x->from_zero;
    float *sums = x->sums;
    struct place at = { 0, 0 };
    TAKE(0, sums, from_zero);
    TAKE(1, sums, from_zero);
    TAKE(2, sums, from_zero);
    TAKE(3, sums, from_zero);
    READ_PAST(4, a0 + terms.at[0].a);
    READ(6, b0 + terms.at[0].b);
    READ(7, b0 + terms.at[0].b + HOST_TILE);
    READ_PAST(5, a0 + terms.at[0].a + HOST_TILE);
    for (size_t n = down * across; n > 0; n--) {
        const struct place next = place_after(at, down, across);
        const uint32_t *a = a0 + at.i * x->a_panel, *b = b0 + at.j * x->b_panel;
        const char *a_near =
            (const char *)(x->a_next + at.i * x->a_panel) + at.j * left.block * ROW_BYTES;
        const char *b_near = (const char *)(x->b_next + at.j * x->b_panel) +
                             at.i * right.block * ROW_BYTES;
        int t = 0;
        for (size_t item = 1; item <= items; item++) {
            const size_t part = terms.at[t].a;
            if (++t == terms.count) t = 0, a += a_step, b += b_step;
            const bool stays = t && terms.at[t].a == part;
            if (item == items) {
                a = a0 + next.i * x->a_panel;
                b = b0 + next.j * x->b_panel;
            }
            MULTIPLY(0, 4, 6);
            MULTIPLY(1, 4, 7);
            if (!stays) READ_PAST(4, a + terms.at[t].a);
            a_near = fetch(a_near, left.part);
            MULTIPLY(2, 5, 6);
            READ(6, b + terms.at[t].b);
            b_near = fetch(b_near, right.part);
            MULTIPLY(3, 5, 7);
            if (!stays) READ_PAST(5, a + terms.at[t].a + HOST_TILE);
            READ(7, b + terms.at[t].b + HOST_TILE);
        }
        float *const next_sums = n > 1 ? sums + ONE_BLOCK : sums;
        PASS(0, sums, next_sums, from_zero);
        PASS(1, sums, next_sums, from_zero);
        PASS(2, sums, next_sums, from_zero);
        PASS(3, sums, next_sums, from_zero);
        sums = next_sums;
        at = next;
    }
}

static struct host_places places_of_one(size_t down, int accumulators)
{
    (void)accumulators;
    return (struct host_places){ .accumulator = 0,
                                 .right = HOST_TILE,
                                 .lower = 2 * HOST_TILE,
                                 .line = HOST_SIDE,
                                 .block = ONE_BLOCK,
                                 .column = down * ONE_BLOCK };
}

/* One half of a panel. */
static inline const uint32_t *half_at(const uint32_t *first, size_t panel, size_t half)
{
    return first + half / 2 * panel + half % 2 * HOST_TILE;
}

AMX static inline void take_five(const float *sums, bool from_zero)
{
    TAKE(0, sums, from_zero);
    TAKE(1, sums, from_zero);
    TAKE(2, sums, from_zero);
    TAKE(3, sums, from_zero);
    TAKE(4, sums, from_zero);
}

/* Tiles 0 to 4 hold the five sums of a quarter of a block, so that a loaded part is used
   up to three times; 5 holds A, 6 and 7 hold B.  Each part of A, which is in the L2
   cache, is loaded once, and the parts of B, in the L1 cache, in an order in which two of
   three stay for the next part of A.  The terms of an accumulator are in the order of the
   recipe.  The distance between two products in one accumulator matters little: on an
   Emerald Rapids products in one accumulator take no longer than products in four. */
AMX static void multiply_bf16x9(const struct host_run *x)
{
    enum { HIGH = 0, MIDDLE = HOST_PART, LOW = 2 * HOST_PART };
    const size_t a_step = x->a_step, b_step = x->b_step;
    const size_t first = x->first / HOST_PAIRS, steps = x->end / HOST_PAIRS - first;
    const size_t down = 2 * x->down, across = 2 * x->across;
    const uint32_t *const a0 = x->a + first * a_step, *const b0 = x->b + first * b_step;
    const struct share left = share_of(x->next_lines, 2 * across, steps);
    const struct share right = share_of(x->next_lines, 2 * down, steps);
    const struct share sums_next = share_of(5 * HOST_SIDE, 1, steps);
    const bool from_zero = x->from_zero;
    float *sums = x->sums;
    struct place at = { 0, 0 };
    take_five(sums, from_zero);
    READ_PAST(5, a0 + LOW);
    READ(6, b0 + HIGH);
    READ(7, b0 + MIDDLE);
    for (size_t n = down * across; n > 0; n--) {
        const struct place next = place_after(at, down, across);
        const uint32_t *a = half_at(a0, x->a_panel, at.i);
        const uint32_t *b = half_at(b0, x->b_panel, at.j);
        float *const next_sums = n > 1 ? sums + FIVE_QUARTER : sums;
        const char *sums_near = (const char *)next_sums;
        const char *a_near = share_start(x->a_next, x->a_panel, left, at.i, at.j);
        const char *b_near = share_start(x->b_next, x->b_panel, right, at.j, at.i);
        for (size_t step = 1; step <= steps; step++) {
            const uint32_t *a_then = a + a_step, *b_then = b + b_step;
            if (step == steps) {
                a_then = half_at(a0, x->a_panel, next.i);
                b_then = half_at(b0, x->b_panel, next.j);
            }
            MULTIPLY(2, 5, 6);
            sums_near = fetch_near(sums_near, sums_next.part);
            MULTIPLY(3, 5, 7);
            READ(6, b + LOW);
            MULTIPLY(4, 5, 6);
            READ_PAST(5, a + MIDDLE);
            MULTIPLY(2, 5, 7);
            a_near = fetch(a_near, left.part);
            MULTIPLY(3, 5, 6);
            READ(7, b + HIGH);
            MULTIPLY(1, 5, 7);
            READ_PAST(5, a + HIGH);
            MULTIPLY(2, 5, 6);
            b_near = fetch(b_near, right.part);
            MULTIPLY(0, 5, 7);
            READ(6, b + MIDDLE);
            READ(7, b_then + MIDDLE);
            MULTIPLY(1, 5, 6);
            READ_PAST(5, a_then + LOW);
            READ(6, b_then + HIGH);
            a = a_then, b = b_then;
        }
        PASS(3, sums, next_sums, from_zero);
        PASS(4, sums, next_sums, from_zero);
        PASS(2, sums, next_sums, from_zero);
        PASS(1, sums, next_sums, from_zero);
        PASS(0, sums, next_sums, from_zero);
        sums = next_sums;
        at = next;
    }
}

static struct host_places places_of_bf16x9(size_t down, int accumulators)
{
    (void)accumulators;
    return (struct host_places){ .accumulator = HOST_TILE,
                                 .lower = FIVE_QUARTER,
                                 .right = 2 * down * FIVE_QUARTER,
                                 .line = HOST_SIDE,
                                 .block = 2 * FIVE_QUARTER,
                                 .column = 4 * down * FIVE_QUARTER };
}

/* The run of a panel of B stays in the L1 cache.  This run and the next run of an area's
   panels, with the sums of the area, stay in the L2 cache.  Lengths as measured on an
   Emerald Rapids. */
const struct host_code host_amx_one = { .pairs = HOST_PAIRS,
                                        .run = 24 << 10,
                                        .down = 8,
                                        .across = 8,
                                        .places = places_of_one,
                                        .begin = host_amx_begin,
                                        .multiply = multiply_one,
                                        .end = host_amx_end };
const struct host_code host_amx_bf16x9 = { .pairs = HOST_PAIRS,
                                           .run = 36 << 10,
                                           .down = 4,
                                           .across = 6,
                                           .places = places_of_bf16x9,
                                           .begin = host_amx_begin,
                                           .multiply = multiply_bf16x9,
                                           .end = host_amx_end };

#endif
