/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/module/slice_program.h"

enum { SUM_BITS = 31, DIGIT_BITS = 7, RUN_MAX = 255 };

static int ceil_log2_of(size_t k)
{
    int bits = 0;
    while (bits < 63 && (uint64_t)1 << bits < k) bits++;
    return bits;
}

int slice_width(size_t k)
{
    const int bits = (SUM_BITS - ceil_log2_of(k)) / 2;
    return bits < DIGIT_BITS ? bits : DIGIT_BITS;
}

/* The number of products of one weight whose sum certainly fits s32. */
static int group_of(size_t k, int width, bool groups)
{
    const int left = SUM_BITS - 2 * width - ceil_log2_of(k);
    if (!groups || left <= 0) return 1;
    return left < 5 ? 1 << left : SLICE_PARTS_MAX;
}

static void add_product(struct slice_program *to, int a, int b)
{
    to->product[to->products++] = (struct slice_product){ (uint8_t)a, (uint8_t)b };
    to->run[to->runs - 1].products++;
}

static void add_run(struct slice_program *to, int start, int slot)
{
    to->run[to->runs++] =
        (struct slice_run){ .start = (uint8_t)start, .slot = (uint8_t)slot };
}

static void add_sum(struct slice_program *to, int slot, int second, int level)
{
    to->sum[to->sums++] =
        (struct slice_sum){ (uint8_t)slot, (uint8_t)second, (uint8_t)level };
}

/* The products A_i B_j of each level, in groups. */
static void make_plain(struct slice_program *to, int group)
{
    to->planes = to->parts;
    for (int level = 0; level < to->parts; level++)
        for (int i = 0; i <= level; i++) {
            if (i % group == 0) {
                add_run(to, SLICE_ZERO, to->slots);
                add_sum(to, to->slots++, SLICE_NO_SLOT, level);
            }
            add_product(to, i, level - i);
        }
}

/* The plane of the difference of slices i < j. */
static int difference_of(int parts, int i, int j)
{
    int plane = parts;
    for (int before = 0; before < i; before++) plane += parts - 1 - 2 * before;
    return plane + j - i - 1;
}

/* First A_0 B_0 + ... + A_l B_l, in slot l.  Then the products of differences, from the
   last level down.  If there is one share, they are added to slot l; the first of them to
   the accumulators, which still have the last sum.  Else they have slots of their own. */
static void make_differences(struct slice_program *to, bool one_share)
{
    const int parts = to->parts, last = parts - 1;
    to->differences = true;
    to->planes = parts + slice_pairs(parts);
    to->slots = one_share ? parts : 2 * parts - 1;
    for (int level = 0; level < parts; level++) {
        const bool goes_on = one_share && level == last;
        add_run(to, level ? SLICE_KEEP : SLICE_ZERO, goes_on ? SLICE_NO_SLOT : level);
        add_product(to, level, level);
        add_sum(to, level, one_share || !level ? SLICE_NO_SLOT : last + level, level);
    }
    for (int level = last; level > 0; level--) {
        if (one_share) add_run(to, level == last ? SLICE_KEEP : level, level);
        else add_run(to, SLICE_ZERO, last + level);
        for (int i = 0; 2 * i < level; i++) {
            const int plane = difference_of(parts, i, level - i);
            add_product(to, plane, plane);
        }
    }
}

/* The number of products from a run on, up to the next run that starts from 0. */
static int chain_products(const struct slice_program *p, int run)
{
    int products = p->run[run].products;
    while (++run < p->runs && p->run[run].start != SLICE_ZERO)
        products += p->run[run].products;
    return products;
}

/* Each chain goes to the share that has the fewest products.  Chains are in descending
   order of their products, except in plain programs, whose chains differ little. */
static void divide(struct slice_program *program, int shares)
{
    int load[SLICE_SHARES_MAX] = { 0 };
    int share = 0;
    for (int run = 0; run < program->runs; run++) {
        if (program->run[run].start == SLICE_ZERO) {
            share = 0;
            for (int i = 1; i < shares; i++)
                if (load[i] < load[share]) share = i;
            load[share] += chain_products(program, run);
        }
        program->run[run].share = (uint8_t)share;
    }
}

void slice_program_make(struct slice_program *to, int parts, size_t k, bool groups,
                        bool one_sign, int shares)
{
    *to = (struct slice_program){ .parts = parts, .width = slice_width(k) };
    const int group = group_of(k, to->width, groups);
    if (one_sign && group >= parts && parts > 2) make_differences(to, shares == 1);
    else make_plain(to, group);
    divide(to, shares);
}
