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
    to->run[to->runs++] = (struct slice_run){ 0, (uint8_t)start, (uint8_t)slot };
}

static void add_sum(struct slice_program *to, int slot, int level)
{
    to->sum[to->sums++] = (struct slice_sum){ (uint8_t)slot, (uint8_t)level };
}

/* The products A_i B_j of each level, in groups. */
static void make_plain(struct slice_program *to, int group)
{
    to->planes = to->parts;
    for (int level = 0; level < to->parts; level++)
        for (int i = 0; i <= level; i++) {
            if (i % group == 0) {
                add_run(to, SLICE_ZERO, to->slots);
                add_sum(to, to->slots++, level);
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

/* First A_0 B_0 + ... + A_l B_l for each l, which are needed again, and then the
   differences, from the last level down, whose accumulators are still there. */
static void make_differences(struct slice_program *to)
{
    const int last = to->parts - 1;
    to->differences = true;
    to->planes = to->parts + slice_pairs(to->parts);
    to->slots = to->parts;
    for (int i = 0; i <= last; i++) {
        add_run(to, i ? SLICE_KEEP : SLICE_ZERO, i < last ? i : SLICE_NO_SLOT);
        add_product(to, i, i);
        add_sum(to, i, i);
    }
    for (int level = last; level > 0; level--) {
        add_run(to, level < last ? level : SLICE_KEEP, level);
        for (int i = 0; 2 * i < level; i++) {
            const int plane = difference_of(to->parts, i, level - i);
            add_product(to, plane, plane);
        }
    }
}

void slice_program_make(struct slice_program *to, int parts, size_t k, bool groups,
                        bool one_sign)
{
    *to = (struct slice_program){ .parts = parts, .width = slice_width(k) };
    const int group = group_of(k, to->width, groups);
    if (one_sign && group >= parts && parts > 2) make_differences(to);
    else make_plain(to, group);
}
