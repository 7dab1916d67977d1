/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/order/probe_tree.h"

#include "lib/base/size.h"

#include <stdlib.h>

/* --- sequences -------------------------------------------------------------------- */

static void fill_places(struct probe_tree *t, size_t k)
{
    const struct k_parts *x = &t->parts;
    const size_t block = t->guess.block;
    t->real[0] = 0;
    for (size_t s = 0; s < x->steps; s++) {
        size_t in_step = 0;
        for (size_t at = s * block; at < (s + 1) * block; at++) {
            const size_t i = x->element ? x->element[at] : at;
            if (i >= k) continue;
            t->place[i] = at;
            in_step++;
        }
        t->real[s + 1] = t->real[s] + in_step;
    }
}

/* --- sums of sequences ------------------------------------------------------------ */

static void fill_sums(struct probe_tree *t)
{
    const struct k_parts *x = &t->parts;
    size_t kept[K_PARTS_KEPT_MAX + 1], count = 0, next = x->count;
    for (size_t p = 0; p < x->count; p++) {
        size_t node = p;
        for (size_t s = x->first[p]; s < x->first[p + 1]; s++) t->part[s] = p;
        t->size[p] = t->real[x->first[p + 1]] - t->real[x->first[p]];
        t->before[p] = k_parts_resumes(x, p) ? t->size[kept[count - 1]] : 0;
        for (int i = 0; i < x->adds[p] + k_parts_resumes(x, p); i++) {
            const size_t other = kept[--count];
            t->parent[node] = t->parent[other] = next;
            t->size[next] = t->size[node] + t->size[other];
            node = next++;
        }
        kept[count++] = node;
    }
}

/* A sum has a higher number than its terms. */
static size_t common_sum(const struct probe_tree *t, size_t x, size_t y)
{
    while (x != y) {
        if (x < y) x = t->parent[x];
        else y = t->parent[y];
    }
    return x;
}

/* --- the whole -------------------------------------------------------------------- */

enum bitcut_status probe_tree_make(struct probe_tree *t, const struct probe_guess *g,
                                   size_t k)
{
    *t = (struct probe_tree){ .guess = *g };
    if (k_parts_make(&t->parts, &g->order, k, g->block) != BITCUT_OK)
        return BITCUT_NO_MEMORY;
    const size_t steps = t->parts.steps, nodes = 2 * t->parts.count;
    t->place = memory_allocate(k, sizeof *t->place);
    t->real = memory_allocate(steps + 1, sizeof *t->real);
    t->part = memory_allocate(steps, sizeof *t->part);
    t->before = memory_allocate(t->parts.count, sizeof *t->before);
    t->parent = memory_allocate(nodes, sizeof *t->parent);
    t->size = memory_allocate(nodes, sizeof *t->size);
    if (!t->place || !t->real || !t->part || !t->before || !t->parent || !t->size) {
        probe_tree_clear(t);
        return BITCUT_NO_MEMORY;
    }
    fill_places(t, k);
    fill_sums(t);
    return BITCUT_OK;
}

void probe_tree_clear(struct probe_tree *t)
{
    k_parts_clear(&t->parts);
    free(t->place);
    free(t->real);
    free(t->part);
    free(t->before);
    free(t->parent);
    free(t->size);
    *t = (struct probe_tree){ 0 };
}

/* --- meeting of two products ------------------------------------------------------ */

/* The number of products of a block that are added in pairs when its products x and y
   meet. */
static size_t in_pairs(size_t x, size_t y, size_t products)
{
    size_t size = 2;
    while (x / size != y / size) size *= 2;
    return smaller(size, products - x / size * size);
}

/* Both in one block, of a sum that began with step `from` after `before` products. */
static size_t in_block(const struct probe_tree *t, size_t from, size_t before, size_t x,
                       size_t y)
{
    const size_t block = t->guess.block, step = x / block;
    switch (t->guess.join) {
    case PROBE_EXACT: return 2;
    case PROBE_PAIRS:
        return in_pairs(x % block, y % block, t->real[step + 1] - t->real[step]);
    case PROBE_CUT: break;
    }
    return before + t->real[step + 1] - t->real[from];
}

/* y in a sequence, and x before y in it or in the sum from which it starts. */
static size_t in_sequence(const struct probe_tree *t, size_t x, size_t y)
{
    const size_t block = t->guess.block, promote = t->guess.promote / block,
                 part = t->part[y / block], end = t->parts.first[part + 1];
    size_t from = t->parts.first[part], before = t->before[part];
    if (promote) {
        const size_t turn = (y / block - from) / promote, first = from + turn * promote;
        if (turn && x / block < first)
            return before + t->real[smaller(first + promote, end)] - t->real[from];
        if (turn) before = 0;
        from = first;
    }
    if (x / block == y / block) return in_block(t, from, before, x, y);
    if (t->guess.join == PROBE_EXACT)
        return before + t->real[y / block] - t->real[from] + 1;
    return before + t->real[y / block + 1] - t->real[from];
}

size_t probe_tree_below(const struct probe_tree *t, size_t i, size_t j)
{
    const size_t own[] = { t->place[i], t->place[j] };
    const size_t x = own[own[0] > own[1]], y = own[own[0] < own[1]],
                 part_x = t->part[x / t->guess.block],
                 part_y = t->part[y / t->guess.block];
    if (part_x == part_y) return in_sequence(t, x, y);
    const size_t sum = common_sum(t, part_x, part_y);
    return t->before[part_y] && sum == t->parent[part_y] ? in_sequence(t, x, y)
                                                         : t->size[sum];
}
