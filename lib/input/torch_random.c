/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/torch_random.h"

#include "lib/number/elementary.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <math.h>

enum { BLOCK = 16, HALF = BLOCK / 2 };

void torch_seed(struct torch_generator *g, uint64_t seed)
{
    mersenne_seed(&g->words, (uint32_t)seed);
    g->has_next = false;
}

void torch_skip(struct torch_generator *g, uint64_t count)
{
    for (; count; count--) mersenne_next(&g->words);
}

/* --- FP32 arithmetic on binary64 numbers that hold FP32 values ---------------------- */

/* The result of + - * / and sqrt in binary64, rounded again, is the FP32 result: 53 >= 2
 * 24 + 2 (Figueroa 1995). */
static double f32(double x) { return double_of_f32(f32_of_double(x)); }

/* a b + c, rounded once; a b is exact in binary64. */
static double fused(double a, double b, double c)
{
    return double_of_f32(f32_sum(a * b, c));
}

/* (...(c[0] x + c[1]) x + ...) x + c[n - 1]. */
static double horner(const float *c, int n, double x)
{
    double y = (double)c[0];
    for (int i = 1; i < n; i++) y = fused(y, x, (double)c[i]);
    return y;
}

/* Cephes logf for FP32 numbers 2^-126 <= x < 2^128. */
static double cephes_log(double x)
{
    static const float p[] = { 7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                               -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                               2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f };
    int exponent;
    double m = frexp(x, &exponent); /* in [0.5, 1) */
    if (m < (double)0.707106781186547524f) {
        exponent--;
        m = 2 * m;
    }
    const double e = exponent, f = f32(m - 1), z = f32(f * f);
    double y = f32(horner(p, sizeof p / sizeof p[0], f) * f);
    y = fused(y, z, f32(e * (double)-2.12194440e-4f));
    y = fused(-0.5, z, y);
    return fused(e, 0.693359375, f32(f + y));
}

/* Cephes sinf and cosf for 0 <= x < 8192. */
static void cephes_sincos(double *sine, double *cosine, double x)
{
    static const float s[] = { -1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f };
    static const float c[] = { 2.443315711809948e-5f, -1.388731625493765e-3f,
                               4.166664568298827e-2f };
    const int octant = (int)f32(x * (double)1.27323954473516f), even = (octant + 1) & ~1;
    const double j = even;
    double r = fused(j, -0.78515625, x);
    r = fused(j, (double)-2.4187564849853515625e-4f, r);
    r = fused(j, (double)-3.77489497744594108e-8f, r);
    const double z = f32(r * r);
    const double u = f32(horner(c, 3, z) * z), v = f32(horner(s, 3, z) * z);
    const double near_cosine = f32(fused(u, z, -0.5 * z) + 1);
    const double near_sine = fused(v, r, r);
    const bool swapped = even & 2;
    *sine = swapped ? near_cosine : near_sine;
    *cosine = swapped ? near_sine : near_cosine;
    if (even & 4) *sine = -*sine;
    if ((even + 2) & 4) *cosine = -*cosine;
}

/* --- the tensors -------------------------------------------------------------------- */

static double uniform(struct torch_generator *g)
{
    return ldexp(mersenne_next(&g->words) & 0xffffff, -24);
}

void torch_rand(uint32_t *x, size_t count, struct torch_generator *g)
{
    assert(hostfp_entered());
    for (size_t i = 0; i < count; i++) x[i] = f32_of_double(uniform(g));
}

/* Box and Muller's transform of a block of uniform numbers.  The last addition, of the
   mean 0, makes a zero positive. */
static void block_transform(uint32_t *x)
{
    for (int i = 0; i < HALF; i++) {
        const double log = cephes_log(1 - double_of_f32(x[i]));
        const double radius = f32(sqrt(-2 * log));
        double sine, cosine;
        cephes_sincos(&sine, &cosine,
                      f32((double)6.283185307179586f * double_of_f32(x[i + HALF])));
        x[i] = f32_of_double(f32(radius * cosine) + 0);
        x[i + HALF] = f32_of_double(f32(radius * sine) + 0);
    }
}

/* 53 bits of the next two words, the first word above. */
static double uniform53(struct torch_generator *g)
{
    const uint64_t high = mersenne_next(&g->words);
    const uint64_t bits = high << 32 | mersenne_next(&g->words);
    return ldexp((double)(bits & (((uint64_t)1 << 53) - 1)), -53);
}

static double normal_next(struct torch_generator *g)
{
    if (g->has_next) {
        g->has_next = false;
        return g->next;
    }
    const double u1 = uniform53(g), u2 = uniform53(g);
    const double radius = sqrt(-2 * elementary_log(1 - u2));
    const double angle = 0x1.921fb54442d18p+2 * u1;
    g->next = radius * elementary_sin(angle);
    g->has_next = true;
    return radius * elementary_cos(angle);
}

void torch_randn(uint32_t *x, size_t count, struct torch_generator *g)
{
    assert(hostfp_entered());
    if (count < BLOCK) {
        for (size_t i = 0; i < count; i++) x[i] = f32_of_double(normal_next(g) + 0);
        return;
    }
    torch_rand(x, count, g);
    for (size_t i = 0; i + BLOCK <= count; i += BLOCK) block_transform(x + i);
    if (count % BLOCK == 0) return;
    torch_rand(x + count - BLOCK, BLOCK, g);
    block_transform(x + count - BLOCK);
}

void torch_randint(uint32_t *x, size_t count, int64_t low, uint32_t range,
                   struct torch_generator *g)
{
    assert(hostfp_entered());
    for (size_t i = 0; i < count; i++)
        x[i] = f32_of_double((double)(low + mersenne_next(&g->words) % range));
}
