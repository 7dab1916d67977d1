/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/gendot.h"

#include "lib/number/bits.h"
#include "lib/number/elementary.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"
#include "lib/number/wide.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const struct bitcut_format *const f32 = &formats[FORMAT_F32];

/* +-[1/2, 1) with a significand of FP32. */
static double signed_half(uint32_t word)
{
    const double magnitude = (double)((word & 0x7fffff) | 0x800000) * 0x1p-24;
    return word >> 31 ? -magnitude : magnitude;
}

/* --- x ------------------------------------------------------------------------------ */

/* The smallest k for a condition number of 2^bits.  A cancelling step leaves 2^-24 of its
   term.  The calculation uses 2^-20, which leaves room for the growth of sums, and
   reserves 2^3 for the accuracy of the condition. */
static size_t shortest(double bits)
{
    const size_t steps = 1 + (size_t)((bits + 3) / 20);
    return steps < 2 ? 2 : 2 * steps - 1;
}

/* The paper's exponents, where `half` is log2(condition) / 2.  In the first half of the
   steps they are random, except that the first exponent is the largest and the last one
   is 0.  Then they fall evenly from `half` to 0. */
static int step_exponent(size_t step, size_t k, size_t pairs, int half, uint32_t word)
{
    if (step == 0) return half + 1;
    if (step + 1 == pairs) return 0;
    if (step < pairs) return (int)((uint64_t)word * (uint64_t)(half + 1) >> 32);
    const size_t last = k - pairs - 1, at = step - pairs;
    return last ? (int)(((size_t)half * (last - at) + last / 2) / last) : 0;
}

/* A random order of 0 to k - 1 (Fisher and Yates). */
static void order_draw(size_t *position, size_t k, uint64_t seed, uint64_t stream)
{
    for (size_t i = 0; i < k; i++) position[i] = i;
    for (size_t i = k - 1; i > 0; i--) {
        uint32_t word[4];
        rand_block(word, seed, stream, (uint64_t)1 << 32 | i);
        const size_t other = (size_t)rand_below(rand_bits(word[0], word[1]), i + 1);
        const size_t swap = position[i];
        position[i] = position[other];
        position[other] = swap;
    }
}

static void x_draw(struct gendot *g, int half, uint64_t seed, uint64_t stream)
{
    for (size_t step = 0; step < g->k; step++) {
        uint32_t word[4];
        rand_block(word, seed, stream, step);
        g->exponent[step] =
            step_exponent(step, g->k, g->pairs, half, word[1]) - g->centre;
        const double x = ldexp(signed_half(word[0]), g->exponent[step]);
        g->x[g->position[step]] = f32_of_double(x);
    }
}

enum bitcut_status gendot_init(struct gendot *g, size_t k, double condition,
                               uint64_t seed, uint64_t stream, struct fault *f)
{
    assert(hostfp_entered());
    assert(condition >= GENDOT_CONDITION_MIN && condition <= GENDOT_CONDITION_MAX);
    const double bits = elementary_log(condition) / elementary_log(2);
    if (k < shortest(bits))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "gendot: this condition number requires k of at least %zu, found %zu",
            shortest(bits), k);
    const int half = (int)(bits / 2 + 0.5);
    struct gendot new = { .k = k, .pairs = k / 2, .condition = condition,
                          .centre = half / 2 };
    new.position = memory_allocate(k, sizeof *new.position);
    new.exponent = memory_allocate(k, sizeof *new.exponent);
    new.x = memory_allocate(k, sizeof *new.x);
    if (!new.position || !new.exponent || !new.x) {
        gendot_clear(&new);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for vectors of %zu", k);
    }
    order_draw(new.position, k, seed, stream);
    x_draw(&new, half, seed, stream);
    *g = new;
    return BITCUT_OK;
}

void gendot_clear(struct gendot *g)
{
    free(g->x);
    free(g->exponent);
    free(g->position);
    *g = (struct gendot){ 0 };
}

/* --- y ------------------------------------------------------------------------------ */

/* The sum so far: the exact sum, and the sum of magnitudes. */
struct sum {
    struct wide dot;
    double size;
};

static double dot_value(const struct sum *s)
{
    return double_of_bits(
        round_pack(&formats[FORMAT_F64], &roundings[ROUND_RN], wide_value(&s->dot)));
}

/* Add x y, FP32 encodings of finite values; y may be zero. */
static void product_add(struct sum *s, uint32_t x, uint32_t y)
{
    const struct number a = format_decode(f32, x), b = format_decode(f32, y);
    if (b.kind == NUMBER_ZERO) return;
    wide_add(&s->dot, a.negative != b.negative, a.significand * b.significand,
             a.exponent + b.exponent - 2 * f32->fraction_bits);
    s->size += fabs(double_of_f32(x) * double_of_f32(y));
}

/* The last term v: (size + |v|) / (dot + v) = condition. */
static double last_term(const struct sum *s, double condition)
{
    const double missing = s->size / condition - dot_value(s);
    return missing / (missing < 0 ? 1 + 1 / condition : 1 - 1 / condition);
}

/* y of a step, before it is rounded to FP32. */
static double step_y(const struct gendot *g, size_t step, const struct sum *s,
                     uint32_t word)
{
    const double random = ldexp(signed_half(word), g->exponent[step]);
    if (step < g->pairs) return random;
    const double term = step + 1 < g->k ? ldexp(random, -g->centre) - dot_value(s)
                                        : last_term(s, g->condition);
    return term / double_of_f32(g->x[g->position[step]]);
}

void gendot_column(uint32_t *y, size_t stride, const struct gendot *g, uint64_t seed,
                   uint64_t stream, size_t j)
{
    assert(hostfp_entered());
    struct sum s = { .size = 0 };
    wide_clear(&s.dot, -298, 256); /* holds any sum of FP32 products */
    for (size_t step = 0; step < g->k; step++) {
        const size_t i = g->position[step];
        uint32_t word[4];
        rand_block(word, seed, stream, (uint64_t)i << 32 | j);
        y[i * stride] = f32_of_double(step_y(g, step, &s, word[0]));
        product_add(&s, g->x[i], y[i * stride]);
    }
}
