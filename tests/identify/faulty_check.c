/* SPDX-License-Identifier: BSD-3-Clause */
/* The units of faulty_unit.c compared with their definition in exact rationals. */
#include "tests/identify/faulty.h"

#include "emu/unit.h"
#include "tests/emu/spec.h"

#include <math.h>
#include <string.h>

static uint32_t encoding(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fffffff : bits;
}

static float decoded(const struct bitcut_format *f, uint64_t bits)
{
    const int e = (int)(bits >> f->fraction_bits & ((1u << f->exponent_bits) - 1));
    const uint64_t m = bits & ((UINT64_C(1) << f->fraction_bits) - 1);
    const double value = ldexp((double)(m + ((uint64_t)(e > 0) << f->fraction_bits)),
                               (e ? e : 1) - f->bias - f->fraction_bits);
    return (float)(bits >> (f->fraction_bits + f->exponent_bits) & 1 ? -value : value);
}

/* An encoding of a finite value with its exponent in the middle of those there are. */
static uint64_t finite_at_random(const struct bitcut_format *f, uint64_t bits)
{
    const uint64_t e = (uint64_t)f->bias - 14 + (bits >> 32) % 25;
    return (bits & ((UINT64_C(1) << f->fraction_bits) - 1)) | e << f->fraction_bits |
           (bits >> 63) << (f->fraction_bits + f->exponent_bits);
}

static bool agrees(const struct unit *u, const struct bitcut_unit *row, uint64_t seed)
{
    uint64_t a[SPEC_K_MAX], b[SPEC_K_MAX];
    struct digits x[SPEC_K_MAX], y[SPEC_K_MAX];
    for (int i = 0; i < u->k; i++) {
        a[i] = finite_at_random(row->a, draw(seed, 1, (uint64_t)i));
        b[i] = finite_at_random(row->b, draw(seed, 2, (uint64_t)i));
        x[i] = digits_of(u->parts, decoded(row->a, a[i]));
        y[i] = digits_of(u->parts, decoded(row->b, b[i]));
        a[i] <<= row->a->pad;
        b[i] <<= row->b->pad;
    }
    const uint64_t c =
        draw(seed, 4, 0) % 4 ? finite_at_random(row->c, draw(seed, 3, 0)) : 0;
    return encoding(fragment_dot(u, x, y, decoded(row->c, c))) ==
           spec_dot(row, a, b, NULL, NULL, c);
}

int unit_mismatches(const struct unit *u, int count, uint64_t seed)
{
    int mismatches = 0;
    for (const struct bitcut_unit *row = units; row->name; row++)
        if (!strcmp(row->name, u->name))
            for (int i = 0; i < count; i++)
                mismatches += !agrees(u, row, draw(seed, 0, (uint64_t)i));
    return mismatches;
}
