/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/order/probe_sizes.h"

#include "lib/base/size.h"
#include "lib/number/fma.h"
#include "lib/number/rand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */

/* f16 from its smallest subnormal number on: a sum of 2^15 units is half of the last
   place of M. */
const struct probe_input probe_inputs[] = {
    { &formats[FORMAT_F16],  15, -24, 1 << 15 },
    { &formats[FORMAT_BF16], 60, -40, 1 << 24 },
    { &formats[FORMAT_TF32], 60, -40, 1 << 24 },
    { &formats[FORMAT_F32],  60, -40, 1 << 24 },
    { 0 }
};

/* clang-format on */

/* The FP32 encoding of 2^exponent, a normal number. */
static uint32_t power(int exponent) { return (uint32_t)(exponent + 127) << 23; }

/* --- positions -------------------------------------------------------------------- */

enum { POSITIONS_MIN = 64, POSITIONS_MAX = 512, STREAM_POSITIONS = 40 };

/* The number of outputs in sixteen blocks. */
static size_t positions_wanted(const struct probe *p)
{
    size_t count = 4 * smaller(p->m, p->n);
    if (count < POSITIONS_MIN) count = POSITIONS_MIN;
    return smaller(smaller(count, POSITIONS_MAX), p->k);
}

/* Select `count` of k: many at the start, some at the end, and others with neighbours,
   two from each part of k. */
static void positions_mark(bool *is_at, size_t k, size_t count, uint64_t seed)
{
    struct rng rng = rng_start(seed, STREAM_POSITIONS);
    const size_t dense =
                     count / 4 < POSITIONS_MIN / 2 ? POSITIONS_MIN / 2 : count / 4,
                 pairs = (count - dense) / 3, part = k / pairs;
    for (size_t i = 0; i < dense; i++) is_at[i] = true;
    for (size_t i = 0; i < count / 8; i++) is_at[k - 1 - i] = true;
    for (size_t i = 0; i < pairs; i++) {
        const size_t j = i * part + rand_below(rng_bits(&rng), part > 1 ? part - 1 : 1);
        is_at[j] = is_at[j + 1] = true;
    }
    size_t marked = 0;
    for (size_t i = 0; i < k; i++) marked += is_at[i];
    while (marked < count) {
        bool *const one = &is_at[rand_below(rng_bits(&rng), k)];
        marked += !*one;
        *one = true;
    }
}

static enum bitcut_status positions_choose(struct probe_sizes *s, const struct probe *p,
                                           struct fault *f)
{
    const size_t wanted = positions_wanted(p);
    bool *const is_at = calloc(p->k, sizeof *is_at);
    s->at = memory_allocate(wanted, sizeof *s->at);
    if (is_at && s->at) {
        if (wanted == p->k) memset(is_at, 1, p->k);
        else positions_mark(is_at, p->k, wanted, p->seed);
        for (size_t i = 0; i < p->k && s->count < wanted; i++)
            if (is_at[i]) s->at[s->count++] = i;
    }
    free(is_at);
    return s->count ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
}

/* --- runs ------------------------------------------------------------------------- */

/* Matrices of units.  Each run changes some elements, and restores them. */
struct units {
    struct matrix a, b;
};

static enum bitcut_status units_make(struct units *u, const struct probe *p,
                                     struct fault *f)
{
    const uint32_t unit = power(p->input->unit);
    enum bitcut_status status = matrix_init(&u->a, p->m, p->k, f);
    if (status == BITCUT_OK) status = matrix_init(&u->b, p->k, p->n, f);
    if (status != BITCUT_OK) return status;
    for (size_t i = 0; i < p->m * p->k; i++) u->a.at[i] = unit;
    for (size_t i = 0; i < p->k * p->n; i++) u->b.at[i] = unit;
    return BITCUT_OK;
}

/* The position of a block of D among pairs of positions. */
struct corner {
    size_t row, col, rows, cols;
};

static void place(struct units *u, const struct probe_sizes *s, struct corner c,
                  uint32_t in_a, uint32_t in_b)
{
    for (size_t i = 0; i < c.rows; i++) u->a.at[i * s->k + s->at[c.row + i]] = in_a;
    for (size_t j = 0; j < c.cols; j++) u->b.at[s->at[c.col + j] * u->b.cols + j] = in_b;
}

static enum bitcut_status run(struct matrix *d, struct probe_sizes *s,
                              const struct probe *p, const struct units *u,
                              struct fault *f)
{
    if (progress_stopped(p->progress)) return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    s->calls++;
    return p->run(d, p->context, &u->a, &u->b, f);
}

/* The number of units in an output. */
static double units_of(const struct probe *p, uint32_t d)
{
    return ldexp(format_to_double(&formats[FORMAT_F32], d), -2 * p->input->unit);
}

/* With units only, D is k of them. */
static enum bitcut_status check_units(struct probe_sizes *s, const struct probe *p,
                                      const struct units *u, struct fault *f)
{
    struct matrix d = { 0 };
    enum bitcut_status status = run(&d, s, p, u, f);
    for (size_t i = 0; i < p->m * p->n && status == BITCUT_OK; i++)
        if (units_of(p, d.at[i]) != (double)p->k)
            status = fault_set(
                f, BITCUT_UNSUPPORTED,
                "for A = B = 2^%d, D is %g times 2^%d instead of %zu: D is not this "
                "product, inputs in %s lose this value, or sums are not FP32",
                p->input->unit, units_of(p, d.at[i]), 2 * p->input->unit, p->k,
                p->input->format->name);
    matrix_clear(&d);
    return status;
}

static enum bitcut_status take_pair(struct probe_sizes *s, const struct probe *p,
                                    size_t x, size_t y, uint32_t d, struct fault *f)
{
    const double left = units_of(p, d);
    if (x == y) return BITCUT_OK;
    if (!(left >= 0 && left <= (double)p->k - 2 && left == floor(left)))
        return fault_set(
            f, BITCUT_UNSUPPORTED,
            "with product %zu large and product %zu its negative, %g units remain, which "
            "is impossible for a sum in FP32; try another --format",
            s->at[x], s->at[y], left);
    const uint32_t below = (uint32_t)(p->k - (size_t)left);
    s->below[x * s->count + y] = s->below[y * s->count + x] = below;
    return BITCUT_OK;
}

static enum bitcut_status take_block(struct probe_sizes *s, const struct probe *p,
                                     struct units *u, struct corner c, struct fault *f)
{
    const struct probe_input *in = p->input;
    struct matrix d = { 0 };
    place(u, s, c, power(in->big), power(in->big) | 0x80000000);
    enum bitcut_status status = run(&d, s, p, u, f);
    place(u, s, c, power(in->unit), power(in->unit));
    for (size_t i = 0; i < c.rows; i++)
        for (size_t j = 0; j < c.cols && status == BITCUT_OK; j++)
            status = take_pair(s, p, c.row + i, c.col + j, d.at[i * p->n + j], f);
    matrix_clear(&d);
    return status;
}

/* Pairs are symmetric, so blocks below the diagonal are not needed. */
static enum bitcut_status take_all(struct probe_sizes *s, const struct probe *p,
                                   struct units *u, struct fault *f)
{
    enum bitcut_status status = check_units(s, p, u, f);
    for (size_t row = 0; row < s->count; row += p->m)
        for (size_t col = 0; col < s->count && status == BITCUT_OK; col += p->n) {
            const struct corner c = { row, col, smaller(p->m, s->count - row),
                                      smaller(p->n, s->count - col) };
            progress_report(p->progress, row * s->count + col * c.rows,
                            s->count * s->count);
            if (row < col + c.cols) status = take_block(s, p, u, c, f);
        }
    return status;
}

enum bitcut_status probe_sizes_make(struct probe_sizes *s, const struct probe *p,
                                    struct fault *f)
{
    struct units u = { 0 };
    *s = (struct probe_sizes){ .k = p->k };
    enum bitcut_status status = positions_choose(s, p, f);
    if (status == BITCUT_OK) {
        s->below = calloc(s->count * s->count, sizeof *s->below);
        if (!s->below) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    }
    if (status == BITCUT_OK) status = units_make(&u, p, f);
    if (status == BITCUT_OK) status = take_all(s, p, &u, f);
    matrix_clear(&u.a);
    matrix_clear(&u.b);
    if (status != BITCUT_OK) probe_sizes_clear(s);
    return status;
}

void probe_sizes_clear(struct probe_sizes *s)
{
    free(s->at);
    free(s->below);
    *s = (struct probe_sizes){ 0 };
}
