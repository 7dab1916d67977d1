/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k that libraries choose are found on matrix units without a hint; of
   hypotheses with the same bits the likeliest is named; and what operands became is
   described. */
#include "analysis/identify/prior.h"
#include "lib/bitcut.h"
#include "lib/gemm/recipe.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 40, COLS = 40, K_MAX = 1500 };

struct drawn {
    uint32_t a[ROWS * K_MAX], b[K_MAX * COLS], d[ROWS * COLS];
    struct bitcut_gemm g;
};

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float normal(uint64_t *rng)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += ldexp((double)(test_bits(rng) >> 11), -53);
    return (float)(sum - 6);
}

/* The value with so many fraction bits at most, cut toward zero: exact in every format
   with as many, from 2^-6 up to 8. */
static uint32_t short_normal(uint64_t *rng, int bits)
{
    float x = normal(rng);
    if (fabsf(x) < 0x1p-6f) x = 0x1p-6f;
    return bits_of(x) & ~((1u << (23 - bits)) - 1);
}

static void draw(struct drawn *x, uint64_t *rng, size_t k, int bits)
{
    struct bitcut_gemm *const g = &x->g;
    bitcut_gemm_init(g, sizeof *g);
    g->m = ROWS, g->n = COLS, g->k = k;
    g->a.at = x->a, g->b.at = x->b, g->d.to = x->d;
    for (size_t i = 0; i < ROWS * k; i++) x->a[i] = short_normal(rng, bits);
    for (size_t i = 0; i < k * COLS; i++) x->b[i] = short_normal(rng, bits);
}

/* What explain answers for D of x, without recipe, unit and order. */
static struct bitcut_explanation explain(struct bitcut_gemm *found, const struct drawn *x,
                                         double effort)
{
    const struct bitcut_explain_options o = { .size = sizeof o, .effort = effort };
    struct bitcut_explanation r = { .size = sizeof r };
    struct bitcut_gemm asked;
    char why[BITCUT_TEXT_MAX] = "";
    bitcut_gemm_init(&asked, sizeof asked);
    bitcut_gemm_init(found, sizeof *found);
    asked.m = x->g.m, asked.n = x->g.n, asked.k = x->g.k;
    asked.a = x->g.a, asked.b = x->g.b, asked.d = x->g.d;
    ck_assert_msg(bitcut_explain(&r, found, &asked, &o, 0, why) == BITCUT_OK, "%s", why);
    return r;
}

static void compute(struct drawn *x)
{
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_msg(bitcut_gemm(NULL, &x->g, 0, why) == BITCUT_OK, "%s", why);
}

/* --- orders ----------------------------------------------------------------------- */

/* Units, and the fraction bits of operands that they use whole. */
static const struct {
    const char *recipe, *unit;
    int bits;
} kernels[] = {
    { "plain", "hopper/mma.m16n8k16.f32.f16", 10 },
    { "plain", "hopper/mma.m16n8k16.f32.bf16", 7 },
    { "plain", "hopper/mma.m16n8k8.f32.f16", 10 },
    { "cublas-tf32", "hopper/mma.m16n8k8.f32.tf32", 23 },
    { "plain", "hopper/mma.m16n8k8.f32.tf32", 23 },
    { "plain", "hopper/mma.m16n8k32.f32.e4m3", 3 },
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

/* An order of a library: slices whose length is a multiple of 16 bytes, the partial tile
   last or first in each; reduced in any way; or lanes. */
static struct bitcut_order draw_order(uint64_t *rng, int k, int step, bool is_short)
{
    struct bitcut_order o = { 0 };
    if (!test_between(rng, 0, 4) && 8 * step <= k) {
        o.lanes = test_between(rng, 2, k / step < 16 ? k / step : 16);
        o.chunk = step << test_between(rng, 0, 1);
        if (o.lanes * o.chunk > k) o.chunk = step;
        return o;
    }
    o.slices = test_between(rng, 1, k / 32 < 64 ? k / 32 : 64);
    o.cut = o.slices > 1 ? 4 << test_between(rng, 0, 1) : 0;
    if (o.slices == 1 || test_between(rng, 0, 1)) {
        o.tile = 16 << test_between(rng, 0, 3);
        o.partial_first = true;
        if (o.tile < step) o.tile = step;
    }
    if (o.slices > 2 && !test_between(rng, 0, 2))
        o.reduction = (enum bitcut_reduction)test_between(rng, 0, 3);
    if (is_short && o.slices > 1 && test_between(rng, 0, 1)) o.partial_store = true;
    return o;
}

START_TEST(finds_orders_of_libraries)
{
    static struct drawn x;
    uint64_t rng = test_seed();
    const int least = 6, cases = test_cases(24, 240), count = cases < least ? least : cases;
    int missed = 0, misnamed = 0;
    for (int i = 0; i < count; i++) {
        const int at = test_between(&rng, 0, KERNELS - 1), k = test_between(&rng, 100, K_MAX);
        const bool is_short = kernels[at].bits < 23 && kernels[at].bits > 3 &&
                              !test_between(&rng, 0, 2);
        const struct bitcut_format *const format =
            bitcut_format_find(kernels[at].bits == 7 ? "bf16" : "f16");
        static uint16_t d[ROWS * COLS];
        struct bitcut_gemm found;
        char line[BITCUT_ORDER_MAX];
        draw(&x, &rng, (size_t)k, kernels[at].bits);
        x.g.recipe = bitcut_recipe_find(kernels[at].recipe);
        x.g.unit = bitcut_unit_find(kernels[at].unit, NULL);
        x.g.order = draw_order(&rng, k, 8 << (at < 2) << 2 * (at == 5), is_short);
        if (is_short) x.g.d.format = format, x.g.d.to = d;
        if (x.g.order.partial_store) x.g.order.partial_format = format;
        compute(&x);
        const struct bitcut_explanation r = explain(&found, &x, 0.25);
        const bool named = r.found && r.runs && found.unit == x.g.unit &&
                           found.recipe == x.g.recipe;
        if (named) continue;
        bitcut_order_write(line, &x.g.order);
        printf("# case %d, %s on %s, k %d, D %s, %s: %s\n", i, kernels[at].recipe,
               kernels[at].unit, k, is_short ? bitcut_row_name(format) : "f32", line, r.text);
        missed += !r.found;
        misnamed += r.found;
    }
    printf("# %d of %d orders missed, %d with another name\n", missed, count, misnamed);
    fflush(stdout);
    ck_assert_msg(missed <= count / 12, "%d of %d orders missed", missed, count);
    ck_assert_msg(misnamed <= count / 6, "%d of %d orders misnamed", misnamed, count);
}
END_TEST

/* --- names ------------------------------------------------------------------------ */

/* FP32 sums, or those of a library's recipe; of integers its default. */
static bool is_likely(const struct bitcut_gemm *g, bool integers)
{
    static const char *const papers[] = { "markidis", "feng", "ootomo", "ootomo-tf32",
                                          "legemm" };
    const char *const unit = bitcut_unit_name(g->unit);
    const char *const recipe = bitcut_row_name(g->recipe);
    bool likely = !strncmp(unit, "fma/f32", 7) || !strcmp(unit, "mul-add/f32") ||
                  (!strncmp(unit, "hopper/", 7) && strstr(unit, ".f32."));
    if (!integers) likely = strncmp(unit, "ideal/", 6) != 0;
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++)
        likely &= strcmp(recipe, papers[i]) != 0;
    return likely;
}

/* Sums of small integers are the same by every recipe; a product of many recipes, rounded
   to f16, is nearly always the rounded exact result, which FP32 sums give in some order.  If
   none of the orders that are tried gives it, the recipe itself is right. */
START_TEST(names_the_likeliest)
{
    static const char *const accurate[] = { "ootomo", "bf16x9", "tf32x3", "bf16x6",
                                            "ootomo-tf32" };
    static const char *const on[] = {
        "hopper/mma.m16n8k8.f32.f16", "hopper/mma.m16n8k16.f32.bf16",
        "hopper/mma.m16n8k8.f32.tf32", "hopper/mma.m16n8k16.f32.bf16",
        "hopper/mma.m16n8k8.f32.tf32"
    };
    enum { ACCURATE = sizeof accurate / sizeof *accurate };
    static struct drawn x;
    static uint16_t d[ROWS * COLS];
    uint64_t rng = test_seed();
    for (int i = 0; i < test_cases(10, 100); i++) {
        const int at = test_between(&rng, 0, ACCURATE - 1);
        const bool integers = i % 2;
        struct bitcut_gemm found;
        draw(&x, &rng, (size_t)test_between(&rng, 8, 96), 23);
        for (size_t j = 0; j < ROWS * x.g.k && integers; j++)
            x.a[j] = bits_of((float)test_between(&rng, -3, 3));
        for (size_t j = 0; j < x.g.k * COLS && integers; j++)
            x.b[j] = bits_of((float)test_between(&rng, -3, 3));
        x.g.recipe = bitcut_recipe_find(accurate[at]);
        x.g.unit = bitcut_unit_find(on[at], NULL);
        if (!integers) x.g.d.format = bitcut_format_find("f16"), x.g.d.to = d;
        compute(&x);
        const struct bitcut_explanation r = explain(&found, &x, 0.25);
        ck_assert_msg(r.found && (is_likely(&found, integers) ||
                                  (!integers && found.recipe == x.g.recipe)),
                      "case %d, %s, k %zu: %s", i,
                      accurate[at], x.g.k, r.text);
    }
}
END_TEST

/* --- operands --------------------------------------------------------------------- */

START_TEST(describes_operands)
{
    static const struct {
        const char *unit, *format;
    } of[] = { { "fma/f32.f16", "f16" },
               { "fma/f32.bf16", "bf16" },
               { "hopper/mma.m16n8k8.f32.tf32", "tf32" } };
    static const struct {
        const char *rule, *what;
    } rules[] = { { "rn", "to nearest, ties to even" }, { "rz", "toward zero" } };
    static struct drawn x;
    uint64_t rng = test_seed();
    for (int i = 0; i < test_cases(18, 120); i++) {
        const int at = i % 3, rule = i / 3 % 2, whole = i / 6 % 3;
        const char *const which[] = { "; A and B are rounded to ", "; A is rounded to ",
                                      "; B is rounded to " };
        struct bitcut_gemm found;
        char said[100];
        draw(&x, &rng, (size_t)test_between(&rng, 20, 200), 23);
        for (size_t j = 0; j < ROWS * x.g.k && whole == 2; j++)
            x.a[j] = short_normal(&rng, 7);
        for (size_t j = 0; j < x.g.k * COLS && whole == 1; j++)
            x.b[j] = short_normal(&rng, 7);
        x.g.recipe = bitcut_recipe_find(at == 2 ? "cublas-tf32" : "plain");
        x.g.unit = bitcut_unit_find(of[at].unit, NULL);
        x.g.high = bitcut_rounding_find(rules[rule].rule);
        compute(&x);
        const struct bitcut_explanation r = explain(&found, &x, 0.25);
        snprintf(said, sizeof said, "%s%s, %s", which[whole], of[at].format,
                 rules[rule].what);
        ck_assert_msg(r.found && strstr(r.text, said), "case %d: expected \"%s\" in: %s",
                      i, said, r.text);
    }
    draw(&x, &rng, 64, 7);
    x.g.recipe = bitcut_recipe_find("plain");
    x.g.unit = bitcut_unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    compute(&x);
    struct bitcut_gemm found;
    const struct bitcut_explanation r = explain(&found, &x, 0.25);
    ck_assert_msg(r.found && !strstr(r.text, "rounded to"), "%s", r.text);
}
END_TEST

/* --- chips ------------------------------------------------------------------------ */

/* Units of a chip are found by its name: not only the first for the operands, and none of
   another chip that computes the same. */
/* Sums that are rounded once, to bf16, are those of many units, which the answer says,
   unless it is the usual one; no unit is named that few programs run on. */
START_TEST(says_that_results_are_exact)
{
    static struct drawn x;
    static uint16_t d[ROWS * COLS];
    uint64_t rng = test_seed();
    for (int i = 0; i < test_cases(8, 60); i += test_whole() ? 1 : 2) {
        struct bitcut_gemm found;
        draw(&x, &rng, (size_t)test_between(&rng, 700, K_MAX), 7);
        for (int at = 0; at < ROWS * COLS; at++) {
            double sum = 0;
            for (size_t p = 0; p < x.g.k; p++) {
                float a, b;
                memcpy(&a, &x.a[(size_t)(at / COLS) * x.g.k + p], sizeof a);
                memcpy(&b, &x.b[p * COLS + (size_t)(at % COLS)], sizeof b);
                sum += (double)a * b; /* exact: few bits */
            }
            const uint32_t bits = bits_of((float)sum), odd = bits >> 16 & 1;
            d[at] = (uint16_t)((bits + 0x7fff + odd) >> 16);
        }
        x.g.d = (struct bitcut_matrix){ .to = d, .format = &formats[FORMAT_BF16] };
        const struct bitcut_explanation r = explain(&found, &x, 0.25);
        ck_assert_msg(r.found && !strstr(r.text, "D is plain on cdna") &&
                          (strstr(r.text, "the exact result, rounded to bf16") ||
                           strstr(r.text, "mma.m16n8k16.f32.bf16, rounded to bf16: ")),
                      "case %d: %s", i, r.text);
    }
}
END_TEST

START_TEST(tries_all_units_of_a_chip)
{
    static const struct {
        const char *chip, *unit;
    } of[] = { { "h100", "hopper/mma.m16n8k8.f32.f16" },
               { "h100", "hopper/mma.m16n8k16.f16.f16" },
               { "a100", "ampere/mma.m16n8k8.f32.f16" },
               { "a100", "ampere/mma.m16n8k16.f32.f16" } };
    static struct drawn x;
    uint64_t rng = test_seed();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct bitcut_explain_options o = { .size = sizeof o, .chip = of[i].chip };
        struct bitcut_explanation r = { .size = sizeof r };
        struct bitcut_gemm found;
        char why[BITCUT_TEXT_MAX] = "";
        draw(&x, &rng, 200, 10);
        x.g.recipe = bitcut_recipe_find("plain");
        x.g.unit = bitcut_unit_find(of[i].unit, NULL);
        compute(&x);
        bitcut_gemm_init(&found, sizeof found);
        ck_assert(bitcut_explain(&r, &found, &x.g, &o, 0, why) == BITCUT_BAD_ARGUMENT);
        x.g.unit = NULL;
        ck_assert(bitcut_explain(&r, &found, &x.g, &o, 0, why) == BITCUT_OK);
        /* two steps of 8 products are the same as one of 16 on some chips */
        const size_t architecture = strcspn(of[i].unit, "/");
        ck_assert_msg(r.found && !strncmp(bitcut_unit_name(found.unit), of[i].unit,
                                          architecture + 1) &&
                          (i >= 2 || found.unit == bitcut_unit_find(of[i].unit, NULL)),
                      "%s: %s", of[i].unit, r.text);
    }
    const struct bitcut_explain_options o = { .size = sizeof o, .chip = "h101" };
    ck_assert(bitcut_explain(NULL, NULL, &x.g, &o, 0, NULL) == BITCUT_BAD_ARGUMENT);
}
END_TEST

/* --- criteria --------------------------------------------------------------------- */

struct ranked {
    struct candidate x;
    struct hypothesis h;
    bool stored;
};

/* A product of f16 by a library on the chip that most have. */
static struct ranked likeliest(void)
{
    struct ranked r = { .stored = false };
    r.x.gemm.unit = bitcut_unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    r.x.gemm.recipe = bitcut_recipe_find("plain");
    r.x.plan.split_a.part[0].format = bitcut_format_find("f16");
    r.x.plan.terms = 1;
    return r;
}

static void takes_unit(struct ranked *r, const char *name)
{
    r->x.gemm.unit = bitcut_unit_find(name, NULL);
    ck_assert_ptr_nonnull(r->x.gemm.unit);
}

/* What makes it less likely, by one criterion or more, the most important one first. */
static void has_fault(struct ranked *r) { r->h.at[AXIS_FAULT] = 1; }
static void is_stored(struct ranked *r) { r->stored = true; }
static void has_short_sums(struct ranked *r) { takes_unit(r, "hopper/mma.m16n8k16.f16.f16"); }
static void is_no_hardware(struct ranked *r) { takes_unit(r, "ideal/rn25"); }
static void is_of_paper(struct ranked *r) { r->x.gemm.recipe = bitcut_recipe_find("ootomo"); }
static void is_on_request(struct ranked *r) { r->x.gemm.recipe = bitcut_recipe_find("tf32x3"); }
static void has_lanes(struct ranked *r) { r->x.gemm.order.lanes = 2; }

static void is_long(struct ranked *r)
{
    r->x.plan.split_a.part[0].format = bitcut_format_find("tf32");
}

static void is_rounded(struct ranked *r)
{
    r->x.plan.split_a.part[0].format = bitcut_format_find("bf16");
}

static void is_rare(struct ranked *r) { takes_unit(r, "amx/tdpbf16ps.m16n16k32.f32.bf16"); }
static void has_other_parts(struct ranked *r) { r->h.at[AXIS_PARTS] = 1; }
static void has_order(struct ranked *r) { r->h.at[AXIS_ORDER] = 1; }
static void is_promoted(struct ranked *r) { r->h.at[AXIS_PROMOTE] = r->h.at[AXIS_ORDER] = 1; }
static void is_published(struct ranked *r) { takes_unit(r, "ada/mma.m16n8k8.f32.f16"); }
static void is_modelled(struct ranked *r) { takes_unit(r, "ampere/mma.m16n8k16.f32.f16"); }
static void has_terms(struct ranked *r) { r->x.plan.terms = 3; }
static void is_older(struct ranked *r) { takes_unit(r, "volta/mma.m8n8k4.f32.f16"); }

static void (*const worse[])(struct ranked *) = {
    has_fault, is_stored, has_short_sums, is_no_hardware, is_of_paper, is_on_request, has_lanes,
    is_rounded, is_long, is_rare, is_promoted, has_order, is_modelled, is_published,
    has_terms,
};

enum { WORSE = sizeof worse / sizeof *worse };

static int compare(const struct prior *p, const struct ranked *x, const struct ranked *y)
{
    return prior_compare(p, (struct contender){ &x->x, &x->h, x->stored },
                         (struct contender){ &y->x, &y->h, y->stored });
}

/* Each criterion decides before all that follow it. */
START_TEST(criteria_come_in_order)
{
    const struct bitcut_format *const f16 = bitcut_format_find("f16");
    const struct prior p = { .format = bitcut_format_find("f32"),
                             .fits = (uint64_t)1 << (f16 - formats) |
                                     (uint64_t)1 << (bitcut_format_find("tf32") - formats) };
    for (int i = 0; i < WORSE; i++)
        for (int j = i + 1; j <= WORSE; j++) {
            struct ranked first = likeliest(), second = likeliest();
            if (j < WORSE) worse[j](&first);
            worse[i](&second);
            ck_assert_msg(compare(&p, &first, &second) < 0 && compare(&p, &second, &first) > 0,
                          "%d comes before %d", i, j);
            ck_assert_int_eq(compare(&p, &first, &first), 0);
        }
    /* A library's order is likelier than another architecture; other parts are not. */
    struct ranked rare = likeliest(), other = likeliest(), older = likeliest();
    is_rare(&rare);
    has_other_parts(&other);
    ck_assert_int_lt(compare(&p, &rare, &other), 0);
    /* A common chip comes before an older one with the same evidence. */
    takes_unit(&other, "ampere/mma.m16n8k8.f32.f16");
    other.h.at[AXIS_PARTS] = 0;
    is_older(&older);
    ck_assert_int_lt(compare(&p, &other, &older), 0);
}
END_TEST

/* Products with a vector are those of scalars; products of matrices in a short format are
   not. */
START_TEST(shapes_choose_units)
{
    struct prior p = { .format = bitcut_format_find("f32") };
    struct ranked matrix = likeliest(), scalar = likeliest(), whole = likeliest();
    takes_unit(&scalar, "fma/f32.f16");
    takes_unit(&whole, "fma/f32");
    ck_assert_int_lt(compare(&p, &matrix, &scalar), 0);
    ck_assert_int_lt(compare(&p, &whole, &scalar), 0);
    p.vector = true;
    ck_assert_int_gt(compare(&p, &matrix, &scalar), 0);
}
END_TEST

/* Operands that A and B do not fit: named roundings first, then the longest format; and the
   format of a short D. */
START_TEST(operands_choose_formats)
{
    struct prior p = { .format = bitcut_format_find("f32") };
    struct ranked f16 = likeliest(), tf32 = likeliest(), named = likeliest();
    is_long(&tf32);
    is_long(&named);
    named.x.gemm.recipe = bitcut_recipe_find("cublas-tf32");
    ck_assert_int_lt(compare(&p, &named, &f16), 0);
    ck_assert_int_lt(compare(&p, &named, &tf32), 0);
    struct ranked bf16 = likeliest();
    is_rounded(&bf16);
    ck_assert_int_lt(compare(&p, &f16, &bf16), 0);
    p.format = bitcut_format_find("bf16");
    ck_assert_int_lt(compare(&p, &bf16, &f16), 0);
}
END_TEST

TEST_MAIN("prior", criteria_come_in_order, shapes_choose_units, operands_choose_formats, finds_orders_of_libraries, names_the_likeliest, describes_operands,
          says_that_results_are_exact, tries_all_units_of_a_chip)
