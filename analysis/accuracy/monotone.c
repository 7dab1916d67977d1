/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/monotone.h"

#include "emu/engine.h"
#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdio.h>

/* --- by the row ------------------------------------------------------------------- */

/* Whether a term with `bits` fraction bits that grows to 2^e gains more than n others
   lose, which are then cut at a place of 2^(e - fraction), by more than what shows in a
   result: a place of truncated results that have no more bits, otherwise half a place. */
static bool gains(const struct bitcut_unit *u, int bits, int n, int fraction)
{
    const int own = smaller_int(bits, fraction); /* it is cut as well */
    const bool places =
        u->rounding.direction == TO_ZERO && u->result->fraction_bits <= fraction;
    return (n - 1 - places) * ldexp(1, -fraction - 1) < ldexp(1, -own - 1);
}

/* Products are not normalised: a product just below 2.25 2^(e - 1) becomes 1.125 2^e.
   The other terms are products and c. */
static bool step_in_products(const struct bitcut_unit *u)
{
    return !summation_aligns(u) ||
           gains(u, u->a->fraction_bits + u->b->fraction_bits, u->block, u->fraction);
}

/* c in its own format, or in that of results.  The other terms are products, groups of
   them, or their sum. */
static bool step_in_c(const struct bitcut_unit *u, const struct bitcut_format *c)
{
    const unsigned reads = summation_reads(u);
    if (!summation_aligns(u)) return true;
    if (reads & READS_SUM_FRACTION) return gains(u, c->fraction_bits, 1, u->sum_fraction);
    return gains(u, c->fraction_bits,
                 reads & READS_GROUP ? u->block / u->group : u->block, u->fraction);
}

bool monotone_in(const struct bitcut_unit *u, enum monotone_addend addend)
{
    const bool chain = u->k == u->block || step_in_c(u, u->result);
    if (addend == MONOTONE_PRODUCT) return step_in_products(u) && chain;
    return u->c_last || (step_in_c(u, u->c) && chain);
}

/* --- by example ------------------------------------------------------------------- */

/* One output, with products in the order in which they are added. */
struct trial {
    const struct bitcut_unit *unit;
    uint64_t a[UNIT_K_MAX], b[UNIT_K_MAX], c;
};

static uint64_t encode(const struct bitcut_format *f, double x)
{
    return bitcut_format_convert(f, &roundings[ROUND_RZ], &formats[FORMAT_F64],
                                 bits_of_double(x));
}

static double run(const struct trial *t)
{
    const struct bitcut_unit *const u = t->unit;
    struct number a[UNIT_K_MAX], b[UNIT_K_MAX], scale[UNIT_K_MAX];
    int at[UNIT_K_MAX];
    unit_order(at, u->k, u->order);
    for (int i = 0; i < u->k; i++) {
        a[at[i]] = unit_read(u, u->a, t->a[i]);
        b[at[i]] = unit_read(u, u->b, t->b[i]);
        if (u->scale)
            scale[i] = format_decode(u->scale,
                                     (uint64_t)u->scale->bias << u->scale->fraction_bits);
    }
    const struct number *const scales = u->scale ? scale : NULL;
    return format_to_double(
        u->c, unit_dot(u, (struct lane){ a, scales }, (struct lane){ b, scales }, t->c));
}

/* Set product i to the factor times 2^exponent.  Returns false if no normal operands give
   it. */
static bool set_product(struct trial *t, int i, int exponent, double times)
{
    const struct bitcut_format *const fa = t->unit->a, *const fb = t->unit->b;
    const int least = exponent - format_emax(fb), most = exponent - format_emin(fb);
    int of_a = exponent >> 1;
    of_a = smaller_int(larger_int(of_a, larger_int(least, format_emin(fa))),
                       smaller_int(most, format_emax(fa)));
    if (of_a < least || of_a < format_emin(fa)) return false;
    t->a[i] = encode(fa, ldexp(times, of_a));
    t->b[i] = encode(fb, ldexp(1, exponent - of_a));
    return format_to_double(fa, t->a[i]) == ldexp(times, of_a);
}

static struct trial trial_of(const struct bitcut_unit *u)
{
    struct trial t = { .unit = u, .c = encode(u->c, 0) };
    for (int i = 0; i < u->k; i++) t.a[i] = encode(u->a, 0), t.b[i] = encode(u->b, 0);
    return t;
}

/* The terms of a trial.  Sums are about 2^top.  `count` products are 2^(top - below); the
   first is multiplied by `factor`, and one more is `beside` times it, if that is not 0.
 */
struct place {
    int count, top, below, times, beside;
};

/* Set the products, from product `first` on. */
static bool set_products(struct trial *t, int first, struct place p)
{
    const int all = p.count + (p.beside != 0);
    bool can = first + all <= t->unit->k && all <= t->unit->block;
    for (int i = 0; i < p.count && can; i++)
        can = set_product(t, first + i, p.top - p.below, i ? 1 : p.times);
    if (can && p.beside) can = set_product(t, first + p.count, p.top - p.below, p.beside);
    return can;
}

enum { PRODUCTS_TEXT = 80 };

static void describe_products(char text[PRODUCTS_TEXT], struct place p)
{
    const int exponent = p.top - p.below, alike = p.count - (p.times > 1);
    char first[24] = "", beside[24] = "";
    if (p.times > 1) snprintf(first, sizeof first, ", one %d 2^%d", p.times, exponent);
    if (p.beside) snprintf(beside, sizeof beside, ", one %d 2^%d", p.beside, exponent);
    snprintf(text, PRODUCTS_TEXT, "%d product%s 2^%d%s%s", alike, alike > 1 ? "s of" : "",
             exponent, first, beside);
}

/* c is just below 2^top, by one place of the format of steps or of c itself, and then
   2^top. */
static bool try_c(struct monotone_example *to, const struct bitcut_unit *u,
                  struct place p, const struct bitcut_format *places)
{
    struct trial t = trial_of(u);
    char products[PRODUCTS_TEXT];
    const double top = ldexp(1, p.top);
    if (p.top > format_emax(u->c) || !set_products(&t, 0, p)) return false;
    const double below = top - ldexp(1, p.top - 1 - places->fraction_bits);
    t.c = encode(u->c, below);
    to->before[0] = below;
    to->before[1] = run(&t);
    t.c = encode(u->c, top);
    to->after[0] = top;
    to->after[1] = run(&t);
    to->products = p.count + (p.beside != 0);
    describe_products(products, p);
    snprintf(to->text, sizeof to->text, "%s; c %.9g -> %.9g: d %.9g -> %.9g", products,
             to->before[0], to->after[0], to->before[1], to->after[1]);
    return to->after[1] < to->before[1];
}

/* The first step gives 2^top less one place, and then 2^top, when its first product is
   raised: from -2^x to 0 next to a product of 2^top; or, with `by_c`, from 2^x to 2^(x +
   1) next to c. */
static bool try_product(struct monotone_example *to, const struct bitcut_unit *u,
                        struct place p, bool by_c)
{
    struct trial t = trial_of(u);
    char products[PRODUCTS_TEXT], first[40] = "";
    const int place = p.top - 1 - u->result->fraction_bits;
    bool can = p.top <= format_emax(u->c) && set_products(&t, u->block, p);
    t.c = encode(u->c, by_c ? ldexp(1, p.top) - ldexp(2, place) : 0);
    if (!by_c) can = can && u->block > 1 && set_product(&t, 1, p.top, 1);
    if (!can || !set_product(&t, 0, place, by_c ? 1 : -1)) return false;
    to->before[0] = to->after[0] = format_to_double(u->c, t.c);
    to->before[1] = run(&t);
    if (by_c) can = set_product(&t, 0, place + 1, 1);
    else t.a[0] = encode(u->a, 0);
    to->after[1] = run(&t);
    to->products = p.count + (p.beside != 0) + 2 - by_c;
    describe_products(products, p);
    if (!by_c) snprintf(first, sizeof first, "1 product 2^%d, ", p.top);
    snprintf(
        to->text, sizeof to->text,
        "c %.9g, %sthe next step has %s; another product %s2^%d -> %s: d %.9g -> %.9g",
        to->before[0], first, products, by_c ? "" : "-", place, by_c ? "twice that" : "0",
        to->before[1], to->after[1]);
    return can && to->after[1] < to->before[1];
}

static bool try_place(struct monotone_example *to, const struct bitcut_unit *u,
                      enum monotone_addend addend, struct place p)
{
    if (addend == MONOTONE_PRODUCT)
        return u->block < u->k &&
               (try_product(to, u, p, true) || try_product(to, u, p, false));
    return try_c(to, u, p, u->result) || try_c(to, u, p, u->c);
}

/* With small products at the place that is cut in one case only. */
static bool try_places(struct monotone_example *to, const struct bitcut_unit *u,
                       enum monotone_addend addend, struct place p)
{
    static const int tops[] = { 0, 6, 12, 16, 24, 27, 30 };
    p.below = u->fraction + 1;
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
        p.top = tops[i];
        if (try_place(to, u, addend, p)) return true;
    }
    return false;
}

bool monotone_example_find(struct monotone_example *to, const struct bitcut_unit *u,
                           enum monotone_addend addend)
{
    static const struct place forms[] = {
        { .times = 1 },
        { .times = 3 },
        { .times = 7 },
        { .times = 9 },
        { .times = 1, .beside = 2 },
        { .times = 1, .beside = 6 },
        { .times = 1, .beside = 8 },
    };
    if (!summation_aligns(u)) return false;
    for (int count = 1; count <= u->block; count++)
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
            struct place p = forms[i];
            p.count = count - (p.beside != 0);
            if (p.count > 0 && try_places(to, u, addend, p)) return true;
        }
    return false;
}
