/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/identify/faulty.h"

#include <math.h>
#include <string.h>

const struct floating f16 = { 10, -14, 15 }, bf16 = { 7, -126, 127 },
                      tf32 = { 10, -126, 127 }, f32 = { 23, -126, 127 };

/* name, parts, k, block, fraction, least */
static const struct unit table[] = {
    { "volta/mma.m8n8k4.f32.f16", &f16, 4, 4, 23, -131 },
    { "ampere/mma.m16n8k8.f32.f16", &f16, 8, 8, 24, -132 },
    { "ampere/mma.m16n8k16.f32.f16", &f16, 16, 8, 24, -132 },
    { "ampere/mma.m16n8k16.f32.bf16", &bf16, 16, 8, 24, -132 },
    { "ampere/mma.m16n8k8.f32.tf32", &tf32, 8, 4, 24, -132 },
    { "hopper/mma.m16n8k8.f32.f16", &f16, 8, 8, 25, -133 },
    { "hopper/mma.m16n8k16.f32.f16", &f16, 16, 16, 25, -133 },
    { "hopper/mma.m16n8k16.f32.bf16", &bf16, 16, 16, 25, -133 },
    { "hopper/mma.m16n8k8.f32.tf32", &tf32, 8, 8, 25, -133 },
    { "fma/f32", &f32, 1, 1, 0, 0 },
    { 0 }
};

const struct unit *unit_of(const char *name)
{
    for (const struct unit *u = table; u->name; u++)
        if (!strcmp(u->name, name)) return u;
    return NULL;
}

/* --- rounding ----------------------------------------------------------------------- */

static double whole(enum rule rule, double x)
{
    switch (rule) {
    case NEAREST_AWAY: return round(x);
    case TOWARD_ZERO:
    case CUT: return trunc(x);
    default: return rint(x);
    }
}

/* What has no room: the largest value if the rounding can end there. */
static float too_large(const struct floating *f, enum rule rule, float sign)
{
    const bool stays = rule == TOWARD_ZERO || rule == SATURATING;
    const double largest = ldexp(2 - ldexp(1, -f->fraction), f->most);
    return copysignf(stays ? (float)largest : INFINITY, sign);
}

float round_to(const struct floating *f, enum rule rule, float x)
{
    if (!isfinite(x) || x == 0) return x;
    int e = ilogbf(x);
    if (e < f->least && rule == CUT) return copysignf(0, x);
    if (e < f->least) e = f->least;
    const double y = ldexp(whole(rule, ldexp(x, f->fraction - e)), e - f->fraction);
    return fabs(y) >= ldexp(1, f->most + 1) ? too_large(f, rule, x) : (float)y;
}

float toward_zero(double x)
{
    const float y = (float)x;
    return fabs((double)y) > fabs(x) ? nextafterf(y, 0) : y;
}

/* --- one instruction ---------------------------------------------------------------- */

struct digits digits_of(const struct floating *f, float x)
{
    if (!isfinite(x)) return (struct digits){ 1, BEYOND, x };
    if (x == 0) return (struct digits){ 0, f->least, x };
    const int e = ilogbf(x) < f->least ? f->least : ilogbf(x);
    return (struct digits){ (int32_t)ldexp(x, f->fraction - e), e, x };
}

/* m 2^shift without what is below 1. */
static int64_t shifted(int64_t m, int shift)
{
    if (!m || shift < -62) return 0;
    if (shift >= 0) return m * ((int64_t)1 << shift);
    return m / ((int64_t)1 << -shift);
}

/* sum 2^e toward zero, but infinity if it is too large; never -0. */
static float packed(int64_t sum, int e)
{
    uint64_t m = (uint64_t)(sum < 0 ? -sum : sum);
    if (!m) return 0;
    const int length = 64 - __builtin_clzll(m);
    int drop = length - 24;
    if (drop < -149 - e) drop = -149 - e;
    if (drop >= length) return 0;
    if (drop > 0) m = m >> drop << drop;
    return copysignf(ldexpf((float)m, e), sum < 0 ? -1.0f : 1.0f);
}

static float not_finite(int count, const struct digits *a, const struct digits *b,
                        float c)
{
    double sum = c;
    for (int i = 0; i < count; i++) {
        const double x = (double)a[i].value * (double)b[i].value;
        if (!isfinite(x)) sum += x;
    }
    return (float)sum;
}

static float block_dot(const struct unit *u, const struct digits *a,
                       const struct digits *b, float c)
{
    const struct digits d = digits_of(&f32, c);
    int top = u->least;
    if (d.m && d.e > top) top = d.e;
    for (int i = 0; i < u->block; i++) {
        const int e = a[i].e + b[i].e;
        if (e > BEYOND / 2) top = BEYOND;
        if (e > top && a[i].m && b[i].m) top = e;
    }
    if (top >= BEYOND / 2) return not_finite(u->block, a, b, c);
    const int to = u->fraction - top, fraction = 2 * u->parts->fraction;
    int64_t sum = shifted(d.m, d.e - f32.fraction + to);
    for (int i = 0; i < u->block; i++)
        sum += shifted((int64_t)a[i].m * b[i].m, a[i].e + b[i].e - fraction + to);
    return packed(sum, -to);
}

float fragment_dot(const struct unit *u, const struct digits *a, const struct digits *b,
                   float c)
{
    if (u->block == 1) return fmaf(a->value, b->value, c);
    for (int i = 0; i < u->k; i += u->block) c = block_dot(u, a + i, b + i, c);
    return c;
}
