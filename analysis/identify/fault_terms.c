/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults in the products of parts that are added, and in their accumulators. */
#include "analysis/identify/fault.h"

#include <stdio.h>
#include <string.h>

static size_t every_term(const struct space *s)
{
    (void)s;
    return RECIPE_TERMS_MAX;
}

static bool term_missing(struct candidate *x, const struct space *s, int t)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    if (!candidate_uniform(x) || t >= p->terms || p->terms == 1) return false;
    p->terms--;
    memmove(&p->term[t], &p->term[t + 1], (size_t)(p->terms - t) * sizeof *p->term);
    return true;
}

static bool term_twice(struct candidate *x, const struct space *s, int t)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    if (!candidate_uniform(x) || t >= p->terms || p->terms == RECIPE_TERMS_MAX)
        return false;
    memmove(&p->term[t + 1], &p->term[t], (size_t)(p->terms - t) * sizeof *p->term);
    p->unit[p->terms++] = p->unit[0];
    return true;
}

/* The parts of one term replace those of another. */
static size_t every_pair(const struct space *s)
{
    (void)s;
    return RECIPE_TERMS_MAX * RECIPE_TERMS_MAX;
}

static bool term_other(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    const int to = kind / RECIPE_TERMS_MAX, from = kind % RECIPE_TERMS_MAX;
    if (!candidate_uniform(x) || to >= p->terms || from >= p->terms || to == from)
        return false;
    p->term[to].a = p->term[from].a;
    p->term[to].b = p->term[from].b;
    return true;
}

static const char *const part_names[] = { "high", "low", "lowest" };

static void describe_product(char *text, size_t size, struct recipe_term t)
{
    snprintf(text, size, "%s(A) %s(B)", part_names[t.a], part_names[t.b]);
}

static const struct recipe_term *own_terms(struct gemm_plan *own,
                                           const struct candidate *x)
{
    return gemm_plan_on_unit(own, &x->gemm, NULL) == BITCUT_OK ? own->term : x->plan.term;
}

static void describe_missing(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int t)
{
    (void)s;
    struct gemm_plan own;
    char product[40];
    describe_product(product, sizeof product, own_terms(&own, x)[t]);
    snprintf(text, size, "the product %s is missing", product);
}

static void describe_twice(char *text, size_t size, const struct candidate *x,
                           const struct space *s, int t)
{
    (void)s;
    struct gemm_plan own;
    char product[40];
    describe_product(product, sizeof product, own_terms(&own, x)[t]);
    snprintf(text, size, "the product %s is added twice", product);
}

static void describe_other(char *text, size_t size, const struct candidate *x,
                           const struct space *s, int kind)
{
    (void)s;
    struct gemm_plan own;
    char product[40], instead[40];
    const struct recipe_term *term = own_terms(&own, x);
    describe_product(product, sizeof product, term[kind / RECIPE_TERMS_MAX]);
    describe_product(instead, sizeof instead, term[kind % RECIPE_TERMS_MAX]);
    snprintf(text, size, "the product %s is computed as %s", product, instead);
}

/* All products except the product of the high parts. */
static bool corrections_missing(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    struct gemm_plan *p = &x->plan;
    int kept = 0;
    if (!candidate_uniform(x)) return false;
    for (int t = 0; t < p->terms; t++)
        if (p->term[t].a + p->term[t].b == 0) p->term[kept++] = p->term[t];
    const bool fewer = kept > 0 && kept < p->terms;
    p->terms = kept;
    return fewer;
}

/* There is no accumulator for corrections, so none is scaled back. */
static bool one_accumulator(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    if (x->plan.accumulators == 1) return false;
    for (int t = 0; t < x->plan.terms; t++) x->plan.term[t].accumulator = 0;
    x->plan.accumulators = 1;
    return true;
}

/* A product is added to the accumulator of other products. */
static size_t every_place(const struct space *s)
{
    (void)s;
    return (RECIPE_TERMS_MAX + 1) * RECIPE_ACCUMULATORS_MAX;
}

/* The last term is replaced by a product of low parts that the recipe drops. */
static bool term_elsewhere(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    struct gemm_plan *p = &x->plan;
    const int to = kind % RECIPE_ACCUMULATORS_MAX;
    int t = kind / RECIPE_ACCUMULATORS_MAX;
    if (!candidate_uniform(x) || to >= p->accumulators) return false;
    if (t == RECIPE_TERMS_MAX) {
        if (p->dropped_term || p->terms == RECIPE_TERMS_MAX || p->split_a.parts < 2 ||
            p->split_b.parts < 2)
            return false;
        t = p->terms++;
        p->unit[t] = p->unit[0];
        p->term[t] = (struct recipe_term){ 1, 1, to, false };
        return p->accumulators > 1;
    }
    if (t >= p->terms || p->term[t].accumulator == to) return false;
    p->term[t].accumulator = to;
    return true;
}

static void describe_elsewhere(char *text, size_t size, const struct candidate *x,
                               const struct space *s, int kind)
{
    (void)s;
    const int t = kind / RECIPE_ACCUMULATORS_MAX;
    char product[40];
    describe_product(product, sizeof product,
                     x->plan.term[t == RECIPE_TERMS_MAX ? x->plan.terms - 1 : t]);
    snprintf(text, size, "the product %s is added in accumulator %d", product,
             kind % RECIPE_ACCUMULATORS_MAX);
}

/* A product, all products with low parts, or the low parts, times 2^1 to 2^SCALED_MAX or
   2^-1 to 2^-SCALED_MAX. */
enum {
    SCALED_MAX = 24,
    SCALED = 2 * SCALED_MAX,
    OF_LOW_PARTS = RECIPE_TERMS_MAX,
    LOW_PARTS
};

static size_t every_scaled(const struct space *s)
{
    (void)s;
    return (LOW_PARTS + 1) * SCALED;
}

static int scaled_by(int kind)
{
    const int step = kind % SCALED;
    return step < SCALED_MAX ? step + 1 : SCALED_MAX - 1 - step;
}

static bool term_scaled(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    const int only = kind / SCALED;
    int changed = 0, low_low = 0;
    for (int t = 0; t < x->plan.terms; t++) {
        const int low = x->plan.term[t].a + x->plan.term[t].b;
        if (only < RECIPE_TERMS_MAX ? t != only : !low) continue;
        x->power[t] += scaled_by(kind) * (only == LOW_PARTS ? low : 1);
        changed++;
        low_low += low > 1;
    }
    return x->plan.terms > 1 && changed > (only >= OF_LOW_PARTS) &&
           (only != LOW_PARTS || low_low);
}

static void describe_scaled(char *text, size_t size, const struct candidate *x,
                            const struct space *s, int kind)
{
    (void)s;
    const int only = kind / SCALED;
    char product[40];
    if (only < RECIPE_TERMS_MAX) {
        describe_product(product, sizeof product, x->plan.term[only]);
        snprintf(text, size, "the product %s is multiplied by 2^%d", product,
                 scaled_by(kind));
    } else
        snprintf(text, size, "the %s are multiplied by 2^%d",
                 only == LOW_PARTS ? "low parts of A and B" : "products of low parts",
                 scaled_by(kind));
}

const struct kernel_fault kernel_faults_terms[] = {
    { .name = "term missing",
      .what = "a product of parts is not added",
      .kinds = every_term,
      .alter = term_missing,
      .describe = describe_missing },
    { .name = "corrections missing",
      .what = "only the high parts are multiplied",
      .alter = corrections_missing },
    { .name = "term twice",
      .what = "a product of parts is added twice",
      .kinds = every_term,
      .alter = term_twice,
      .describe = describe_twice },
    { .name = "wrong parts",
      .what = "a product uses the parts of another product",
      .kinds = every_pair,
      .alter = term_other,
      .describe = describe_other },
    { .name = "one accumulator",
      .what = "all products are added in one accumulator",
      .alter = one_accumulator },
    { .name = "wrong accumulator",
      .what = "a product is added to the accumulator of other products",
      .kinds = every_place,
      .alter = term_elsewhere,
      .describe = describe_elsewhere },
    { .name = "term scaled",
      .what = "a product of parts is multiplied by a wrong power of two",
      .of_residual = true,
      .kinds = every_scaled,
      .alter = term_scaled,
      .describe = describe_scaled },
    { 0 }
};
