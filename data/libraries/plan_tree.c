/* SPDX-License-Identifier: BSD-3-Clause */
/* Learn a decision tree, for plan_table.py: plan_tree POINTS LEAST > tree

   POINTS has the number of points n, of features and of labels, all features of n values
   each, 32 bits, and n labels, 16 bits.  The tree is printed in preorder: "N feature below
   above" for a node, whose left branch has values up to `below`, and whose right branch has
   values from `above`; "L label" for a leaf.  A leaf has a label if at least LEAST points are
   in it and all have this label; otherwise 0, and so do points without an answer. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 60, SMALL = 48, DIGITS = 1 << 11 };

static uint32_t points, features, labels, least;
static uint32_t *value, *order, *work, *room; /* value[features][points] */
static uint16_t *label;
static double *entropy; /* x log2 x */

static void *allocate(size_t count, size_t size)
{
    void *const x = calloc(count, size);
    if (!x) exit(3);
    return x;
}

/* Sort n points by their values of a feature. */
static void sort(uint32_t *x, uint32_t n, const uint32_t *v)
{
    uint32_t first[DIGITS + 1], least_value = UINT32_MAX, most = 0, *from = x, *to = room;
    for (uint32_t i = 0; i < n; i++) {
        if (v[x[i]] < least_value) least_value = v[x[i]];
        if (v[x[i]] > most) most = v[x[i]];
    }
    if (n < SMALL) {
        for (uint32_t i = 1; i < n; i++)
            for (uint32_t j = i; j && v[x[j - 1]] > v[x[j]]; j--) {
                const uint32_t t = x[j];
                x[j] = x[j - 1], x[j - 1] = t;
            }
        return;
    }
    for (int shift = 0; shift < 32 && (most - least_value) >> shift; shift += 11) {
        memset(first, 0, sizeof first);
        for (uint32_t i = 0; i < n; i++)
            first[((v[from[i]] - least_value) >> shift & (DIGITS - 1)) + 1]++;
        for (int i = 0; i < DIGITS; i++) first[i + 1] += first[i];
        for (uint32_t i = 0; i < n; i++)
            to[first[(v[from[i]] - least_value) >> shift & (DIGITS - 1)]++] = from[i];
        uint32_t *const t = from;
        from = to, to = t;
    }
    if (from != x) memcpy(x, from, n * sizeof *x);
}

struct cut {
    double gain;
    uint32_t feature, left, below, above;
};

/* The cut of n points with the least entropy of its two sides. */
static struct cut best_cut(uint32_t from, uint32_t n)
{
    struct cut best = { .gain = -HUGE_VAL };
    uint32_t *const whole = allocate(labels, sizeof *whole), *const w = work + from,
                    *const left = allocate(labels, sizeof *left),
                    *const right = allocate(labels, sizeof *right);
    double total = 0;
    memcpy(w, order + from, n * sizeof *w);
    for (uint32_t i = 0; i < n; i++) whole[label[w[i]]]++;
    for (uint32_t i = 0; i < labels; i++) total += entropy[whole[i]];
    for (uint32_t f = 0; f < features; f++) {
        const uint32_t *const v = value + (size_t)f * points;
        double of_left = 0, of_right = total;
        sort(w, n, v);
        memset(left, 0, labels * sizeof *left);
        memcpy(right, whole, labels * sizeof *right);
        for (uint32_t i = 0; i + 1 < n; i++) {
            const uint32_t y = label[w[i]];
            of_left += entropy[left[y] + 1] - entropy[left[y]];
            of_right += entropy[right[y] - 1] - entropy[right[y]];
            left[y]++, right[y]--;
            if (v[w[i]] == v[w[i + 1]]) continue;
            const double gain = of_left + of_right - entropy[i + 1] - entropy[n - i - 1];
            if (gain > best.gain + 1e-9)
                best = (struct cut){ gain, f, i + 1, v[w[i]], v[w[i + 1]] };
        }
    }
    free(whole);
    free(left);
    free(right);
    return best;
}

static void build(uint32_t from, uint32_t n, int depth)
{
    const uint32_t *const x = order + from;
    uint32_t same = 1;
    while (same < n && label[x[same]] == label[x[0]]) same++;
    if (same == n || n < least || depth == DEPTH_MAX) {
        printf("L %u\n", same == n && n >= least ? label[x[0]] : 0);
        return;
    }
    const struct cut c = best_cut(from, n);
    if (!(c.gain > -HUGE_VAL)) {
        printf("L 0\n");
        return;
    }
    sort(order + from, n, value + (size_t)c.feature * points);
    printf("N %u %u %u\n", c.feature, c.below, c.above);
    build(from, c.left, depth + 1);
    build(from + c.left, n - c.left, depth + 1);
}

int main(int argc, char **argv)
{
    FILE *const f = argc == 3 ? fopen(argv[1], "rb") : NULL;
    uint32_t head[3];
    if (!f || fread(head, sizeof *head, 3, f) != 3) return 2;
    points = head[0], features = head[1], labels = head[2];
    least = (uint32_t)strtoul(argv[2], NULL, 10);
    value = allocate((size_t)points * features, sizeof *value);
    label = allocate(points, sizeof *label);
    if (fread(value, sizeof *value, (size_t)points * features, f) != (size_t)points * features ||
        fread(label, sizeof *label, points, f) != points)
        return 2;
    fclose(f);
    order = allocate(points, sizeof *order);
    work = allocate(points, sizeof *work);
    room = allocate(points, sizeof *room);
    entropy = allocate(points + 2, sizeof *entropy);
    for (uint32_t i = 0; i < points; i++) order[i] = i;
    for (uint32_t i = 1; i < points + 2; i++) entropy[i] = i * log2(i);
    build(0, points, 0);
    return 0;
}
