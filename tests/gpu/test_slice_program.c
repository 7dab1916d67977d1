/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of products of slices, executed on one output, against sums of products of the
   definition (emu/fp64/slices.c): a level has products of slices i and j with i + j = the
   level, in groups whose sums certainly fit s32. */
#include "gpu/module/slice_program.h"
#include "tests/test.h"

#include <string.h>

enum { LENGTH = 24, PLANES_MAX = SLICE_PARTS_MAX * (SLICE_PARTS_MAX + 4) / 4 + 8 };

/* A row of A and a column of B: digits of slices, then planes. */
struct operands {
    int a[PLANES_MAX][LENGTH], b[PLANES_MAX][LENGTH];
};

/* Digits of one sign for each element, or of any sign. */
static void draw(int to[][LENGTH], int parts, int width, bool one_sign, uint64_t *rng)
{
    for (int p = 0; p < LENGTH; p++) {
        const bool negative = test_bits(rng) & 1;
        for (int s = 0; s < parts; s++) {
            const int digit = (int)(test_bits(rng) % (UINT64_C(1) << width));
            to[s][p] = (one_sign ? negative : test_bits(rng) & 1) ? -digit : digit;
        }
    }
}

/* Make the planes of differences: of A of slices i and j, of B of j and i. */
static int make_planes(struct operands *x, int parts)
{
    int plane = parts;
    for (int i = 0; i < parts; i++)
        for (int j = i + 1; i + j < parts; j++, plane++)
            for (int p = 0; p < LENGTH; p++) {
                x->a[plane][p] = x->a[i][p] - x->a[j][p];
                x->b[plane][p] = x->b[j][p] - x->b[i][p];
            }
    return plane;
}

static uint32_t product(const int *a, const int *b)
{
    uint32_t sum = 0;
    for (int p = 0; p < LENGTH; p++) {
        ck_assert(a[p] >= -128 && a[p] < 128 && b[p] >= -128 && b[p] < 128);
        sum += (uint32_t)(a[p] * b[p]);
    }
    return sum;
}

/* Execute the runs of one share.  Slots that were never stored are not loaded. */
static void execute(uint32_t slot[], bool stored[], const struct slice_program *g,
                    const struct operands *x, int share)
{
    uint32_t sum = 0;
    bool begun = false;
    int at = 0;
    for (int i = 0; i < g->runs; at += g->run[i++].products) {
        const struct slice_run *const r = &g->run[i];
        if (r->share != share) continue;
        ck_assert(r->start != SLICE_KEEP || begun);
        if (r->start == SLICE_ZERO) sum = 0;
        else if (r->start != SLICE_KEEP) {
            ck_assert(stored[r->start]);
            sum = slot[r->start];
        }
        for (int p = 0; p < r->products; p++) {
            const struct slice_product of = g->product[at + p];
            ck_assert_int_lt(of.a, g->planes);
            ck_assert_int_lt(of.b, g->planes);
            sum += product(x->a[of.a], x->b[of.b]);
        }
        if (r->slot != SLICE_NO_SLOT) {
            ck_assert_int_lt(r->slot, g->slots);
            slot[r->slot] = sum;
            stored[r->slot] = true;
        }
        begun = true;
    }
    ck_assert_int_eq(at, g->products);
}

/* The sums of the definition, in order. */
static void check_sums(const struct slice_program *g, const struct operands *x,
                       const uint32_t slot[], const bool stored[], int group)
{
    int n = 0;
    for (int level = 0; level < g->parts; level++)
        for (int first = 0; first <= level; first += group, n++) {
            const struct slice_sum *const s = &g->sum[n];
            uint32_t want = 0;
            for (int i = first; i < first + group && i <= level; i++)
                want += product(x->a[i], x->b[level - i]);
            ck_assert_int_lt(n, g->sums);
            ck_assert_int_eq(s->level, level);
            ck_assert(stored[s->slot]);
            uint32_t got = slot[s->slot];
            if (s->second != SLICE_NO_SLOT) {
                ck_assert(stored[s->second]);
                got += slot[s->second];
            }
            ck_assert_uint_eq(got, want);
        }
    ck_assert_int_eq(n, g->sums);
}

/* Bits of a digit and products of a group, by the formulas of the libraries. */
static int log2_above(size_t k)
{
    int bits = 0;
    while ((size_t)1 << bits < k) bits++;
    return bits;
}

static void check(int parts, size_t k, bool groups, bool one_sign, int shares,
                  uint64_t *rng)
{
    static struct operands x;
    struct slice_program g;
    uint32_t slot[SLICE_PRODUCTS_MAX] = { 0 };
    bool stored[SLICE_PRODUCTS_MAX] = { false };
    const int half = (31 - log2_above(k)) / 2, width = half < 7 ? half : 7;
    const int left = 31 - 2 * width - log2_above(k);
    const int group = groups && left > 0 ? 1 << left : 1;
    slice_program_make(&g, parts, k, groups, one_sign, shares);
    ck_assert_int_eq(g.parts, parts);
    ck_assert_int_eq(g.width, width);
    draw(x.a, parts, width, one_sign, rng);
    draw(x.b, parts, width, one_sign, rng);
    ck_assert_int_le(g.planes, make_planes(&x, parts));
    ck_assert_int_eq(g.planes, g.differences ? parts + slice_pairs(parts) : parts);
    if (!one_sign) ck_assert(!g.differences);
    for (int share = 0; share < shares; share++) execute(slot, stored, &g, &x, share);
    check_sums(&g, &x, slot, stored, group);
}

START_TEST(sums_of_the_definition)
{
    uint64_t rng = test_seed();
    static const size_t ks[] = { 0,     1,      2,      200,    4096,    8192,   16384,
                                 16385, 65536,  131072, 131073, 1 << 19, 1 << 22, 1 << 29 };
    for (int parts = 1; parts <= SLICE_PARTS_MAX; parts++)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++)
            for (int kind = 0; kind < 4; kind++)
                for (int shares = 1; shares <= SLICE_SHARES_MAX; shares++)
                    check(parts, ks[i], kind & 1, kind & 2, shares, &rng);
}
END_TEST

/* 8 slices: 24 products, 8 in each of three shares. */
START_TEST(fewer_products)
{
    struct slice_program g;
    int of[SLICE_SHARES_MAX] = { 0 };
    slice_program_make(&g, 8, 8192, true, true, 3);
    ck_assert_int_eq(g.products, 24);
    for (int i = 0; i < g.runs; i++) of[g.run[i].share] += g.run[i].products;
    for (int i = 0; i < 3; i++) ck_assert_int_eq(of[i], 8);
    slice_program_make(&g, 8, 8192, true, false, 1);
    ck_assert_int_eq(g.products, 36);
}
END_TEST

TEST_MAIN("programs of slices", sums_of_the_definition, fewer_products)
