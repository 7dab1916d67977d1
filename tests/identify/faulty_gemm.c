/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/identify/faulty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t draw(uint64_t seed, uint64_t x, uint64_t y)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15u + x * 0xd1b54a32d192ed03u + y + 1;
    for (int i = 0; i < 2; i++) {
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
    }
    return z;
}

double draw_unit(uint64_t seed, uint64_t x, uint64_t y)
{
    return ldexp((double)(draw(seed, x, y) >> 11), -53);
}

/* --- recipes ------------------------------------------------------------------------ */

struct recipe {
    const char *name;
    const struct floating *format; /* NULL: any */
    int parts, scale;
    enum rule high, low;
    int promote, terms;
    struct term term[TERMS_MAX];
};

#define HH(accumulator)                                                                  \
    {                                                                                    \
        0, 0, accumulator                                                                \
    }
#define HL(accumulator)                                                                  \
    {                                                                                    \
        0, 1, accumulator                                                                \
    }
#define LH(accumulator)                                                                  \
    {                                                                                    \
        1, 0, accumulator                                                                \
    }
#define LL(accumulator)                                                                  \
    {                                                                                    \
        1, 1, accumulator                                                                \
    }

static const struct recipe recipes[] = {
    { "plain", NULL, 1, 0, NEAREST_EVEN, NEAREST_EVEN, 0, 1, { HH(0) } },
    { "fp32", &f32, 1, 0, NEAREST_EVEN, NEAREST_EVEN, 0, 1, { HH(0) } },
    { "markidis",
      &f16,
      2,
      0,
      NEAREST_EVEN,
      NEAREST_EVEN,
      0,
      4,
      { LL(0), LH(0), HL(0), HH(0) } },
    { "ootomo", &f16, 2, 11, NEAREST_EVEN, NEAREST_EVEN, 1, 3, { LH(1), HL(1), HH(0) } },
    { "ootomo-tf32",
      &tf32,
      2,
      0,
      NEAREST_AWAY,
      NEAREST_AWAY,
      1,
      3,
      { LH(1), HL(1), HH(0) } },
    { "legemm", &f16, 2, 10, CUT, TOWARD_ZERO, 0, 3, { HH(0), HL(1), LH(1) } },
    { "tf32x3", &tf32, 2, 0, NEAREST_AWAY, NEAREST_AWAY, 0, 3, { LH(0), HL(0), HH(0) } },
    { 0 }
};

static void fill(struct kernel *q, const struct recipe *r, const struct unit *unit)
{
    *q = (struct kernel){
        .recipe = r->name,
        .unit = unit,
        .parts = r->parts,
        .scale = r->scale,
        .high = r->high,
        .low = r->low,
        .terms = r->terms,
        .fold = r->scale,
        .promote = r->promote,
        .slices = 1,
        .alpha = 1,
        .stage = { .at = { at_a, at_b },
                   .split = split_right,
                   .steps = steps_right,
                   .reduce = reduce_right,
                   .finish = finish_right },
    };
    memcpy(q->term, r->term, sizeof q->term);
    if (!r->format && unit->parts == &tf32) q->high = NEAREST_AWAY;
}

bool kernel_right(struct kernel *q, const char *recipe, const struct unit *unit)
{
    for (const struct recipe *r = recipes; r->name; r++) {
        if (strcmp(r->name, recipe) || (r->format && r->format != unit->parts)) continue;
        fill(q, r, unit);
        return true;
    }
    return false;
}

/* --- the right stages --------------------------------------------------------------- */

size_t at_a(const struct kernel *q, size_t line, size_t k)
{
    return k < q->k ? line * q->k + k : SIZE_MAX;
}

size_t at_b(const struct kernel *q, size_t line, size_t k)
{
    return k < q->k ? k * q->n + line : SIZE_MAX;
}

void split_right(float part[2], const struct kernel *q, float x)
{
    part[0] = round_to(q->unit->parts, q->high, x);
    part[1] = round_to(q->unit->parts, q->low, ldexpf(x - part[0], q->scale));
}

size_t steps_right(size_t *step, const struct place *p, size_t from, size_t to)
{
    (void)p;
    for (size_t s = from; s < to; s++) step[s - from] = s;
    return to - from;
}

float reduce_right(const struct place *p, const float *part, size_t count)
{
    (void)p;
    float sum = part[0];
    for (size_t i = 1; i < count; i++) sum += part[i];
    return sum;
}

float finish_right(const struct place *p, float v, float c)
{
    const struct kernel *q = p->q;
    const float t = q->alpha * v;
    return q->beta == 0 ? t : fmaf(q->beta, c, t);
}

static void promote_right(float *sum, float *accumulator)
{
    *sum += *accumulator;
    *accumulator = 0;
}

/* --- running ------------------------------------------------------------------------ */

size_t kernel_steps(const struct kernel *q)
{
    return (q->k + (size_t)q->unit->k - 1) / (size_t)q->unit->k;
}

static void *room(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (p) return p;
    fputs("faulty: no memory\n", stderr);
    exit(3);
}

static size_t width(const struct kernel *q)
{
    return kernel_steps(q) * (size_t)q->unit->k;
}

static void load(struct kernel *q, int operand)
{
    const float *from = operand ? q->b : q->a;
    const size_t lines = operand ? q->n : q->m;
    for (int w = 0; w < 2; w++)
        q->part[operand][w] = room(lines * width(q), sizeof(float));
    for (size_t line = 0; line < lines; line++)
        for (size_t k = 0; k < width(q); k++) {
            const size_t at = q->stage.at[operand](q, line, k), to = line * width(q) + k;
            float part[2] = { 0 };
            if (at != SIZE_MAX) q->stage.split(part, q, from[at]);
            for (int w = 0; w < q->parts; w++) q->part[operand][w][to] = part[w];
        }
}

static void take_apart(struct kernel *q, int operand)
{
    const size_t count = (operand ? q->n : q->m) * width(q);
    for (int w = 0; w < 2; w++) {
        q->digits[operand][w] = room(count, sizeof(struct digits));
        for (size_t i = 0; i < count; i++)
            q->digits[operand][w][i] = digits_of(q->unit->parts, q->part[operand][w][i]);
    }
}

/* Put `count` numbers in an order that depends on the seed and x. */
static void shuffle(size_t *at, size_t count, uint64_t seed, uint64_t x)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = draw(seed, 60 + x, i) % i, was = at[i - 1];
        at[i - 1] = at[other];
        at[other] = was;
    }
}

/* The same as fragment_dot(), but in FP32, in three lanes, and in an order of products
   that no unit has. */
static float shuffled_dot(const struct kernel *q, const struct digits *a,
                          const struct digits *b, float c)
{
    enum { LANES = 3, K_MAX = 16 };
    float sum[LANES] = { 0 };
    size_t at[K_MAX];
    const size_t k = (size_t)q->unit->k;
    if (k == 1) return fmaf(a->value, b->value, c);
    for (size_t i = 0; i < k; i++) at[i] = i;
    shuffle(at, k, q->seed, 1);
    for (size_t i = 0; i < k; i++)
        sum[i % LANES] = fmaf(a[at[i]].value, b[at[i]].value, sum[i % LANES]);
    return c + (sum[0] + (sum[2] + sum[1]));
}

/* Accumulator t.accumulator after the instruction of a step. */
static float execute(const struct place *p, struct term t, size_t step, float c)
{
    const struct kernel *q = p->q;
    const size_t at = step * (size_t)q->unit->k;
    const struct digits *const a = q->digits[0][t.a] + p->i * width(q) + at,
                        *const b = q->digits[1][t.b] + p->j * width(q) + at;
    const float v =
        q->any_order ? shuffled_dot(q, a, b, c) : fragment_dot(q->unit, a, b, c);
    return q->stage.keep ? q->stage.keep(p, v) : v;
}

static float chain(const struct place *p, size_t from, size_t to)
{
    const struct kernel *q = p->q;
    void (*const promote)(float *, float *) =
        q->stage.promote ? q->stage.promote : promote_right;
    float v[ACCUMULATORS] = { q->start }, sum = 0;
    const size_t steps = q->stage.steps(q->step, p, from, to);
    int count = 0;
    if (q->any_order && !q->keeps_steps) shuffle(q->step, steps, q->seed, 2 + from);
    for (size_t s = 0; s < steps; s++)
        for (const struct term *t = q->term; t < q->term + q->terms; t++) {
            v[t->accumulator] = execute(p, *t, q->step[s], v[t->accumulator]);
            if (!q->promote || t->accumulator || ++count < q->promote) continue;
            promote(&sum, &v[0]);
            count = 0;
        }
    if (q->promote && count && !q->forgets_rest) promote(&sum, &v[0]);
    if (q->promote) v[0] = sum;
    for (int i = ACCUMULATORS - 1; i > 0; i--)
        v[i - 1] = fmaf(v[i], ldexpf(1, -q->fold), v[i - 1]);
    return v[0];
}

float product_right(const struct place *p)
{
    enum { SLICES_MAX = 64 };
    const size_t steps = kernel_steps(p->q), slices = (size_t)p->q->slices;
    const size_t each = (steps + slices - 1) / slices;
    float part[SLICES_MAX];
    size_t count = 0;
    for (size_t from = 0; from < steps; from += each)
        part[count++] = chain(p, from, from + each < steps ? from + each : steps);
    return p->q->stage.reduce(p, part, count);
}

void kernel_run(float *d, struct kernel *q, void (*parts)(struct kernel *q))
{
    float (*const compute)(const struct place *) =
        q->stage.product ? q->stage.product : product_right;
    for (int operand = 0; operand < 2; operand++) load(q, operand);
    if (parts) parts(q);
    for (int operand = 0; operand < 2; operand++) take_apart(q, operand);
    q->step = room(2 * kernel_steps(q) + 2, sizeof *q->step);
    for (size_t i = 0; i < q->m; i++)
        for (size_t j = 0; j < q->n; j++) {
            const size_t at = i * q->n + j;
            const struct place p = { q, i, j };
            d[at] = q->stage.finish(&p, compute(&p), q->c ? q->c[at] : 0);
        }
    free(q->step);
    for (int i = 0; i < 4; i++) {
        free(q->part[i / 2][i % 2]);
        free(q->digits[i / 2][i % 2]);
    }
}
