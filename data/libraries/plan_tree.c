/* SPDX-License-Identifier: BSD-3-Clause */
/* Learn a decision tree, for plan_learn.py: plan_tree POINTS LEAST [START] > tree

   POINTS has the number of points n, of features, of label numbers, and of labels a point has
   at most; all features of n values each, 32 bits; and for each point its labels, 16 bits, from
   1, ended by 0.  The tree is printed in preorder: "N feature below above" for a node, whose
   left branch has values up to `below`, and whose right branch has values from `above`; "L
   points labels" for a leaf.  A node with labels that all its points have is a leaf with these
   labels; one with fewer than LEAST points is a leaf without labels.  The nodes of START, a
   tree as it is printed, are taken over; its leaves are divided further. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 70, LABELS_MAX = 64, DIGITS = 1 << 11 };

struct item {
    uint32_t value, point;
};

static uint32_t points, features, labels, width, least;
static uint32_t **value;            /* value[features][points] */
static struct item **sorted, *room; /* sorted[features], by their values: of a part */
static uint16_t *label, *main_label;
static unsigned char *side;
static double *entropy; /* x log2 x */
static uint32_t *count, *left, *right, *seen;
static uint16_t *list; /* labels in a node */
static uint32_t *order; /* points of a node */

struct start {
    uint32_t feature, below, above;
    int right; /* number of the node of the right branch; -1: a leaf */
};
static struct start *start;

static void *allocate(size_t number, size_t size)
{
    void *const x = calloc(number, size);
    if (!x) exit(3);
    return x;
}

/* Sort n points by their values of a feature. */
static void sort(struct item *x, const uint32_t *point, uint32_t n, const uint32_t *values)
{
    static uint32_t first[DIGITS + 1];
    struct item *from = x, *to = room;
    for (uint32_t i = 0; i < n; i++) x[i] = (struct item){ values[point[i]], point[i] };
    for (int shift = 0; shift < 33; shift += 11) {
        memset(first, 0, sizeof first);
        for (uint32_t i = 0; i < n; i++)
            first[(from[i].value >> shift & (DIGITS - 1)) + 1]++;
        for (int i = 0; i < DIGITS; i++) first[i + 1] += first[i];
        for (uint32_t i = 0; i < n; i++)
            to[first[from[i].value >> shift & (DIGITS - 1)]++] = from[i];
        struct item *const t = from;
        from = to, to = t;
    }
    if (from != x) memcpy(x, from, n * sizeof *x);
}

/* The labels that all of n points have, and how many. */
static uint32_t find_common(uint16_t common[LABELS_MAX], const uint32_t *point, uint32_t n)
{
    uint32_t number = 0;
    const uint16_t *const first = label + (size_t)point[0] * width;
    for (uint32_t j = 0; j < width && first[j]; j++) common[number++] = first[j];
    for (uint32_t i = 1; i < n && number; i++) {
        const uint16_t *const own = label + (size_t)point[i] * width;
        uint32_t kept = 0;
        for (uint32_t a = 0; a < number; a++) {
            int has = 0;
            for (uint32_t j = 0; j < width; j++) has |= own[j] == common[a];
            if (has) common[kept++] = common[a];
        }
        number = kept;
    }
    return number;
}

/* Give each point the one of its labels that most points of the node have; returns the
   number of labels in the node. */
static int choose_labels(const struct item *x, uint32_t n)
{
    int number = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < width; j++) {
            const uint16_t y = label[(size_t)x[i].point * width + j];
            if (y && !seen[y]++) list[number++] = y;
        }
    for (int i = 0; i < number; i++) count[list[i]] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t best = 0;
        for (uint32_t j = 0; j < width; j++) {
            const uint16_t y = label[(size_t)x[i].point * width + j];
            if (y && (!best || seen[y] > seen[best])) best = y;
        }
        main_label[x[i].point] = best;
        count[best]++;
    }
    for (int i = 0; i < number; i++) seen[list[i]] = 0;
    return number;
}

struct cut {
    double gain;
    uint32_t feature, left, below, above;
};

/* The cut of n points with the least entropy of its two sides. */
static struct cut best_cut(uint32_t from, uint32_t n, int number)
{
    struct cut best = { .gain = -HUGE_VAL };
    double total = 0;
    for (int i = 0; i < number; i++) total += entropy[count[list[i]]];
    for (uint32_t f = 0; f < features; f++) {
        const struct item *const x = sorted[f] + from;
        double of_left = 0, of_right = total;
        if (x[0].value == x[n - 1].value) continue;
        for (int i = 0; i < number; i++) left[list[i]] = 0, right[list[i]] = count[list[i]];
        for (uint32_t i = 0; i + 1 < n; i++) {
            const uint32_t y = main_label[x[i].point];
            of_left += entropy[left[y] + 1] - entropy[left[y]];
            of_right += entropy[right[y] - 1] - entropy[right[y]];
            left[y]++, right[y]--;
            if (x[i].value == x[i + 1].value) continue;
            const double gain = of_left + of_right - entropy[i + 1] - entropy[n - i - 1];
            if (gain > best.gain + 1e-9)
                best = (struct cut){ gain, f, i + 1, x[i].value, x[i + 1].value };
        }
    }
    return best;
}

/* Move the points of the left side before the others, in the order of each feature. */
static void divide(const struct cut *c, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) side[sorted[c->feature][from + i].point] = i >= c->left;
    for (uint32_t f = 0; f < features; f++) {
        struct item *const x = sorted[f] + from;
        uint32_t a = 0, b = 0;
        if (f == c->feature) continue;
        for (uint32_t i = 0; i < n; i++) {
            const struct item p = x[i];
            x[a] = p, room[b] = p;
            a += !side[p.point], b += side[p.point];
        }
        memcpy(x + a, room, b * sizeof *x);
    }
}

static void print_leaf(uint32_t n, const uint16_t *common, uint32_t number)
{
    printf("L %u", n);
    for (uint32_t i = 0; i < number; i++) printf(" %u", common[i]);
    putchar('\n');
}

static void build(uint32_t from, uint32_t n, int depth)
{
    uint16_t common[LABELS_MAX];
    const struct item *const x = sorted[0] + from;
    for (uint32_t i = 0; i < n; i++) order[i] = x[i].point;
    const uint32_t number = n < least ? 0 : find_common(common, order, n);
    struct cut c = { .gain = -HUGE_VAL };
    if (!number && n >= least && depth < DEPTH_MAX)
        c = best_cut(from, n, choose_labels(x, n));
    if (!(c.gain > -HUGE_VAL)) {
        print_leaf(n, common, number);
        return;
    }
    divide(&c, from, n);
    printf("N %u %u %u\n", c.feature, c.below, c.above);
    build(from, c.left, depth + 1);
    build(from + c.left, n - c.left, depth + 1);
}

/* --- the tree to start with ------------------------------------------------------- */

/* Move the points of the left branch before the others.  Points between the branches go to
   the nearer one. */
static struct cut start_cut(const struct start *s, uint32_t *point, uint32_t n)
{
    const uint32_t *const x = value[s->feature], middle = s->below + (s->above - s->below) / 2;
    struct cut c = { .feature = s->feature, .above = UINT32_MAX };
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t p = point[i];
        if (x[p] > middle) {
            c.above = x[p] < c.above ? x[p] : c.above;
            continue;
        }
        c.below = x[p] > c.below ? x[p] : c.below;
        point[i] = point[c.left], point[c.left++] = p;
    }
    return c;
}

/* Build from a node of the tree to start with, or anew if `at` is -1. */
static void resume(uint32_t *point, uint32_t n, int depth, int at)
{
    uint16_t common[LABELS_MAX];
    const uint32_t number = n < least ? 0 : find_common(common, point, n);
    if (number || n < least) {
        print_leaf(n, common, number);
        return;
    }
    while (at >= 0 && start[at].right >= 0) {
        const struct cut c = start_cut(&start[at], point, n);
        if (c.left && c.left < n) {
            printf("N %u %u %u\n", c.feature, c.below, c.above);
            resume(point, c.left, depth + 1, at + 1);
            resume(point + c.left, n - c.left, depth + 1, start[at].right);
            return;
        }
        at = c.left ? at + 1 : start[at].right;
    }
    for (uint32_t f = 0; f < features; f++) sort(sorted[f], point, n, value[f]);
    build(0, n, depth);
}

/* Read the tree to start with; returns the number after its last node. */
static int read_start(FILE *f, int at)
{
    static int room_for;
    char kind;
    struct start s = { .right = -1 };
    if (fscanf(f, " %c", &kind) != 1) exit(2);
    if (kind == 'N' && fscanf(f, "%u %u %u", &s.feature, &s.below, &s.above) != 3) exit(2);
    if (kind == 'L' && fscanf(f, "%*[^\n]") == EOF) exit(2);
    if (at == room_for) {
        room_for = 2 * room_for + 64;
        start = realloc(start, (size_t)room_for * sizeof *start);
        if (!start) exit(3);
    }
    start[at] = s;
    if (kind == 'L') return at + 1;
    const int right = read_start(f, at + 1);
    start[at].right = right;
    return read_start(f, right);
}

static int read_points(FILE *f)
{
    uint32_t head[4];
    if (!f || fread(head, sizeof *head, 4, f) != 4 || head[3] > LABELS_MAX) return 0;
    points = head[0], features = head[1], labels = head[2], width = head[3];
    label = allocate((size_t)points * width, sizeof *label);
    room = allocate((size_t)points + 1, sizeof *room);
    sorted = allocate(features, sizeof *sorted);
    value = allocate(features, sizeof *value);
    for (uint32_t k = 0; k < features; k++) {
        value[k] = allocate(points, sizeof **value);
        sorted[k] = allocate((size_t)points + 1, sizeof **sorted);
        if (fread(value[k], sizeof **value, points, f) != points) return 0;
    }
    return fread(label, sizeof *label, (size_t)points * width, f) == (size_t)points * width;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4 || !read_points(fopen(argv[1], "rb"))) return 2;
    FILE *const f = argc > 3 ? fopen(argv[3], "r") : NULL;
    if (argc > 3 && !f) return 2;
    if (f) read_start(f, 0);
    least = (uint32_t)strtoul(argv[2], NULL, 10);
    main_label = allocate(points, sizeof *main_label);
    side = allocate(points, 1);
    entropy = allocate((size_t)points + 2, sizeof *entropy);
    count = allocate(labels, sizeof *count);
    left = allocate(labels, sizeof *left);
    right = allocate(labels, sizeof *right);
    seen = allocate(labels, sizeof *seen);
    list = allocate(labels, sizeof *list);
    order = allocate(points, sizeof *order);
    for (uint32_t i = 1; i < points + 2; i++) entropy[i] = i * log2(i);
    uint32_t *const point = allocate(points, sizeof *point);
    for (uint32_t i = 0; i < points; i++) point[i] = i;
    resume(point, points, 0, f ? 0 : -1);
    return 0;
}
