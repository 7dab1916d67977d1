/* SPDX-License-Identifier: BSD-3-Clause */
/* Monotonicity of units: examples in which a larger addend lowers the output, including
   published ones, and no example where it cannot. */
#include "analysis/accuracy/monotone.h"
#include "emu/engine.h"
#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every row that is not monotone has its example, and no other has. */
START_TEST(rows_have_examples)
{
    int lowered = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (int i = 0; i < 2; i++) {
            const enum monotone_addend addend = (enum monotone_addend)i;
            struct monotone_example e;
            const bool found = monotone_example_find(&e, u, addend);
            ck_assert_msg(found != monotone_in(u, addend), "%s, %s: %s", u->name,
                          i ? "a product" : "c", found ? e.text : "no example was found");
            lowered += found;
            if (!found) continue;
            ck_assert_msg(e.after[1] < e.before[1] && e.products <= u->k && *e.text,
                          "%s: %s", u->name, e.text);
            ck_assert(addend == MONOTONE_PRODUCT || e.after[0] > e.before[0]);
        }
    ck_assert_int_gt(lowered, 40);
}
END_TEST

/* As published: by architecture, in c and in products of one instruction. */
static const struct {
    const char *unit;
    bool c, product;
    const char *example;
} published[] = {
    /* Fasi et al. 2021 have it of V100 and T4: c just below 1, and terms of 2^-24 */
    { "volta/mma.m8n8k4.f32.f16", false, true,
      "3 products of 2^-24; c 0.99999994 -> 1: d 1.00000012 -> 1" },
    { "ampere/mma.m16n8k8.f32.f16", false, true, NULL },
    { "ampere/mma.m16n8k4.f32.tf32", false, true, /* all four, and one just so */
      "3 products of 2^-25, one 3 2^-25; c 0.99999994 -> 1: d 1.00000012 -> 1" },
    { "ampere/mma.m16n8k16.f32.f16", false, false, NULL },
    { "hopper/mma.m16n8k16.f32.f16", false, true, NULL },
    { "hopper/mma.m16n8k16.f16.f16", true, true, NULL },
    /* exact sums; rounded operations; c beside a sum of products with 8 bits to spare */
    { "cdna1/mfma.16x16x16.f32.f16", true, true, NULL },
    { "cdna2/mfma.16x16x16.f32.f16", true, true, NULL },
    { "cdna3/mfma.16x16x16.f32.f16", true, true, NULL },
    { "fma/f32", true, true, NULL },
};

START_TEST(published_examples)
{
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const struct bitcut_unit *u = bitcut_unit_find(published[i].unit, NULL);
        struct monotone_example e;
        ck_assert_int_eq(monotone_in(u, MONOTONE_C), published[i].c);
        ck_assert_int_eq(monotone_in(u, MONOTONE_PRODUCT), published[i].product);
        if (!published[i].example) continue;
        ck_assert(monotone_example_find(&e, u, MONOTONE_C));
        ck_assert_str_eq(e.text, published[i].example);
    }
}
END_TEST

/* Units of other lengths than any has: what is lost grows with the terms, one by one. */
START_TEST(lengths_have_examples)
{
    int monotone = 0, all = 0;
    for (const struct bitcut_unit *row = units; row->name; row++) {
        if (!summation_aligns(row) || summation_reads(row) & READS_GROUP || row->order ||
            row->a->fraction_bits < 3) /* examples have a product of 9 */
            continue;
        for (int n = 1; n <= smaller_int(row->block, 9); n++) {
            struct bitcut_unit u = *row;
            struct monotone_example e;
            u.k = u.block = n;
            if (!unit_sound(&u)) continue;
            const bool found = monotone_example_find(&e, &u, MONOTONE_C);
            ck_assert_msg(found != monotone_in(&u, MONOTONE_C), "%s of %d: %s", u.name, n,
                          found ? e.text : "no example was found");
            monotone += !found;
            all++;
        }
    }
    ck_assert(monotone && monotone < all);
}
END_TEST

/* --- by chance ---------------------------------------------------------------------- */

struct trial {
    uint64_t a[UNIT_K_MAX], b[UNIT_K_MAX], c;
};

static double run(const struct bitcut_unit *u, const struct trial *t)
{
    struct number a[UNIT_K_MAX], b[UNIT_K_MAX], scale[UNIT_K_MAX];
    for (int i = 0; i < u->k; i++) {
        a[i] = unit_read(u, u->a, t->a[i]);
        b[i] = unit_read(u, u->b, t->b[i]);
        if (u->scale)
            scale[i] = format_decode(u->scale,
                                     (uint64_t)u->scale->bias << u->scale->fraction_bits);
    }
    const struct number *const scales = u->scale ? scale : NULL;
    return format_to_double(
        u->c, unit_dot(u, (struct lane){ a, scales }, (struct lane){ b, scales }, t->c));
}

static uint64_t near(const struct bitcut_format *f, double x, int direction)
{
    return bitcut_format_convert(f, &roundings[direction], &formats[FORMAT_F64],
                                 bits_of_double(x));
}

/* A value near a power of two, of that size about. */
static uint64_t draw(const struct bitcut_format *f, int exponent, uint64_t *rng)
{
    const int places = test_between(rng, 0, 3);
    const double x = ldexp(1 - ldexp(places, -f->fraction_bits - 1), exponent);
    return near(f, test_between(rng, 0, 3) ? x : -x, ROUND_RZ);
}

/* The next value above. */
static uint64_t above(const struct bitcut_format *f, uint64_t encoding)
{
    const double x = format_to_double(f, encoding);
    return near(f, x + fabs(x) * ldexp(1, -f->fraction_bits - 2) + 0x1p-60, ROUND_RU);
}

static void fill(struct trial *t, const struct bitcut_unit *u, uint64_t *rng)
{
    const int small = -test_between(rng, 0, 30);
    t->c = draw(u->c, test_between(rng, 0, 1), rng);
    for (int i = 0; i < u->k; i++) {
        const int e = test_between(rng, 0, 7) ? small : 0;
        t->a[i] = draw(u->a, e / 2, rng);
        t->b[i] = near(u->b, ldexp(1, e - e / 2), ROUND_RZ);
    }
}

START_TEST(others_are_monotone)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (int n = 0; n < test_cases(400, 20000); n++) {
            struct trial t, raised;
            const int i = test_between(&rng, 0, u->k - 1);
            const enum monotone_addend addend = (enum monotone_addend)(n % 2);
            if (!monotone_in(u, addend)) continue;
            fill(&t, u, &rng);
            raised = t;
            if (addend == MONOTONE_C) raised.c = above(u->c, t.c);
            else raised.a[i] = above(u->a, t.a[i]);
            const double before = run(u, &t), after = run(u, &raised);
            ck_assert_msg(!(after < before), "%s: %s raised, %.17g -> %.17g", u->name,
                          n % 2 ? "a product" : "c", before, after);
        }
}
END_TEST

TEST_MAIN("monotone", rows_have_examples, published_examples, lengths_have_examples,
          others_are_monotone)
