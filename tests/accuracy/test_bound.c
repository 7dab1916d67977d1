/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bounds: constants computed by hand, and no error beyond them. */
#include "analysis/accuracy/bound_run.h"
#include "analysis/accuracy/judge.h"
#include "analysis/split/representation_error.h"
#include "emu/summation.h"
#include "lib/input/source.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define U 0x1p-24

/* --- what splits keep --------------------------------------------------------------- */

/* Of all x in the normal range: what parts leave, rho, and the low part, theta.  The
   counts of `bitcut split` agree where parts are rounded to nearest. */
static const struct {
    int split;
    double rest, low, from;
} kept[] = {
    { SPLIT_F32, 0, 0, 0 },
    { SPLIT_HALF, 0x1p-11, 0, 0x1p-14 },
    { SPLIT_MARKIDIS, 0x1p-23, 0x1p-11 + 0x1p-23, 0x1p-2 },
    { SPLIT_HALFHALF, 0x1p-23, 0x1p-11 + 0x1p-23, 0x1p-13 },
    { SPLIT_BITCUT, 3 * 0x1p-23, 0x1p-10 - 0x1p-23, 0x1p-13 },
    { SPLIT_TF32TF32, 0x1p-23, 0x1p-11 + 0x1p-23, 0x1p-114 },
    { SPLIT_BF16X2, 0x1p-17, 0x1p-8 + 0x1p-17, 0x1p-117 },
    { SPLIT_BF16X3, 0, 0x1p-8 + 0x1p-17, 0x1p-110 },
};

START_TEST(splits_by_hand)
{
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const struct gemm_plan plan = { .split_a = splits[kept[i].split] };
        const struct retained_reader r = retained_reader_of(&plan, BITCUT_A);
        const struct retained_max x = retained_max_of(&r);
        ck_assert_double_eq(x.times.at[RETAINED_REST], kept[i].rest);
        ck_assert_double_eq(x.times.at[RETAINED_PART + 1], kept[i].low);
        ck_assert_double_eq(x.from, kept[i].from);
    }
}
END_TEST

/* An FP32 encoding of any kind, 0 among them. */
static uint32_t any_number(uint64_t *rng)
{
    const int exponent = test_between(rng, -149, 127), bits = test_between(rng, 0, 23);
    const double x =
        ldexp(1 + ldexp((double)(test_bits(rng) >> (64 - 24)), -24), exponent);
    const uint32_t float_bits = bits_of_float((float)x) & ~(((uint32_t)1 << bits) - 1);
    return float_bits | (uint32_t)(test_bits(rng) >> 63 << 31);
}

/* No element keeps less, or has larger parts, whatever reads them. */
static void most_check(const struct gemm_plan *plan, enum bitcut_operand which,
                       uint64_t *rng)
{
    const struct retained_reader r = retained_reader_of(plan, which);
    const struct retained_max most = retained_max_of(&r);
    for (int n = 0; n < test_cases(400, 4000); n++) {
        struct retained plain;
        const uint32_t x = any_number(rng);
        const double size = fabs(value_of_float(x));
        const struct retained_event event = retained_of(&plain, &r, x, 0, 0);
        struct retained got = plain;
        retained_align(&got, &r);
        if (!(size <= most.most)) continue;
        ck_assert_msg(!event.large, "%s, %a: a part is infinite", r.split->name, size);
        for (int i = 0; i < RETAINED_FIELDS; i++) {
            const double beside = size >= most.from     ? 0
                                  : size >= most.normal ? most.low.at[i]
                                                        : most.beside.at[i];
            const bool part = i >= RETAINED_PART && i < RETAINED_PART + r.split->parts;
            if (i >= RETAINED_LEFT) continue;
            if (!part && i > RETAINED_REST) continue;
            ck_assert_msg(got.at[i] <= most.times.at[i] * size + beside,
                          "%s on %s, %a, field %d: %a of %a + %a", r.split->name,
                          plan->unit[0]->name, size, i, got.at[i], most.times.at[i],
                          beside);
        }
    }
}

START_TEST(elements_keep_as_much)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_recipe *recipe = recipes; recipe->name; recipe++)
        for (const struct bitcut_unit *u = units; u->name; u++) {
            struct gemm_plan plan;
            struct bitcut_gemm g = gemm_of(recipe, u);
            if (test_between(&rng, 0, 3) == 0)
                g.high = &roundings[test_between(&rng, 0, ROUND_FENG22)];
            if (test_between(&rng, 0, 3) == 0)
                g.low = &roundings[test_between(&rng, 0, ROUND_FENG22)];
            if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
            most_check(&plan, BITCUT_A, &rng);
        }
}
END_TEST

/* --- before A and B are known ------------------------------------------------------- */

static struct bound_apriori apriori_of(const struct bitcut_gemm *g, size_t k, bool any)
{
    struct bound_apriori x;
    ck_assert_int_eq(bound_apriori(&x, g, k, any, NULL), BITCUT_OK);
    return x;
}

static struct bitcut_gemm gemm_on(int recipe, const char *unit)
{
    const struct bitcut_split *s = recipes[recipe].split;
    return gemm_of(&recipes[recipe],
                   unit_find(unit, s ? s->part[0].format : &formats[FORMAT_F16]));
}

static double growth_of(double x) { return expm1(x); }

static void check(const char *what, double got, double want)
{
    ck_assert_msg(got >= want && got <= want * (1 + 1e-11), "%s: got %.17g, want %.17g",
                  what, got, want);
}

START_TEST(constants_by_hand)
{
    struct bitcut_gemm g = gemm_on(RECIPE_FP32, "h100");
    check("fp32", apriori_of(&g, 1024, false).relative, growth_of(1024 * U) / U);
    /* one product in a lane and 1023 additions, or all in one of two k-steps more */
    const double any = apriori_of(&g, 1024, true).relative;
    ck_assert(any >= growth_of(1024 * U) / U && any <= 1.01 * growth_of(1024 * U) / U);
    /* 64 instructions of Hopper, each 2^-23 and 16 2^-25, on f16 parts */
    g = gemm_on(RECIPE_PLAIN, "h100");
    const double part = 1 + 0x1p-11, parts = 2 * 0x1p-11 + 0x1p-22;
    check("plain", apriori_of(&g, 1024, false).relative,
          (parts + part * part * growth_of(64 * 10 * U)) / U);
    check("from", apriori_of(&g, 1024, false).from, 0x1p-14);
    check("most", apriori_of(&g, 1024, false).most, 65504 / part);
    /* in any order an addition of FP32 for each product is worse */
    const double orders = apriori_of(&g, 1024, true).relative;
    ck_assert(orders > (parts + growth_of(1023 * U)) / U);
    ck_assert(orders < (parts + part * part * growth_of(1060 * U)) / U);
    /* 2048 steps of f16 sums err by more than their sum, 2^21 by what binary64 has not */
    g.unit = unit_find("hopper/mma.m16n8k16.f16.f16", NULL);
    ck_assert(isfinite(apriori_of(&g, 2048 * 16, false).relative));
    ck_assert(apriori_of(&g, 2048 * 16, false).relative > expm1(1) / U);
    ck_assert(isinf(apriori_of(&g, (size_t)1 << 25, false).relative));
}
END_TEST

/* Ootomo's recipe on Hopper: rho and theta of the parts, the product of the low parts,
   the main product promoted 64 times, corrections that are not, and the fold. */
START_TEST(two_parts_by_hand)
{
    const struct bitcut_gemm g = gemm_on(RECIPE_OOTOMO, "h100");
    const double rho = 0x1p-23, theta = 0x1p-11 + 0x1p-23, high = 1 + 0x1p-11;
    const double main = growth_of(10 * U + 63 * U + U),
                 corrections = growth_of(2 * 64 * 10 * U + U);
    const double want = 2 * rho + rho * rho + theta * theta + high * high * main +
                        2 * high * theta * corrections;
    const double got = apriori_of(&g, 1024, false).relative;
    ck_assert_msg(fabs(got - want / U) < 1e-9 * got, "got %.17g, want %.17g", got,
                  want / U);
}
END_TEST

/* --- no error beyond ---------------------------------------------------------------- */

/* A GEMM with its matrices and what is exact. */
struct trial {
    struct bitcut_gemm gemm;
    struct matrix a, b, c, d;
    struct judge judge;
};

static void draw(struct matrix *to, const char *family, enum input_role role, size_t rows,
                 size_t cols, uint64_t seed)
{
    struct input input;
    ck_assert_int_eq(input_parse(&input, family, NULL), BITCUT_OK);
    ck_assert_int_eq(source_generate(to, &input, role, rows, cols, seed, 1, NULL),
                     BITCUT_OK);
}

static void trial_init(struct trial *t, const struct bitcut_gemm *g, const char *family,
                       size_t m, size_t n, size_t k, uint64_t seed)
{
    const struct gemm_options options = { .threads = 1 };
    *t = (struct trial){ .gemm = *g };
    draw(&t->a, family, INPUT_A, m, k, seed);
    draw(&t->b, family, INPUT_B, k, n, seed);
    draw(&t->c, "urand(-1,1)", INPUT_A, m, n, seed + 1);
    ck_assert_int_eq(matrix_init(&t->d, m, n, NULL), BITCUT_OK);
    const struct exact_update update = { g->alpha, g->beta, t->c.at };
    gemm_set_dense(&t->gemm, t->d.at, m, n, k, t->a.at, t->b.at, t->c.at);
    ck_assert_int_eq(gemm_run(&t->gemm, &options, NULL), BITCUT_OK);
    ck_assert_int_eq(
        judge_init(&t->judge, &references[0], &t->a, &t->b, &update, &options, NULL),
        BITCUT_OK);
    t->judge.comparison.d = t->d.at;
}

static void trial_clear(struct trial *t)
{
    matrix_clear(&t->a);
    matrix_clear(&t->b);
    matrix_clear(&t->c);
    matrix_clear(&t->d);
    judge_clear(&t->judge);
}

/* The sum and the most of the magnitudes of a line. */
struct line {
    double sum, most;
};

static struct line line_of(const uint32_t *x, size_t k, size_t stride)
{
    struct line l = { 0, 0 };
    for (size_t p = 0; p < k; p++) {
        const double v = fabs(value_of_float(x[p * stride]));
        l.sum += v;
        if (v > l.most) l.most = v;
    }
    return l;
}

/* What is said to be the most of |D - C| at (i, j). */
static double apriori_limit(const struct bound_apriori *x, const struct trial *t,
                            size_t i, size_t j)
{
    const struct comparison *const c = &t->judge.comparison;
    const struct line a = line_of(c->a + i * c->k, c->k, 1),
                      b = line_of(c->b + j, c->k, c->n);
    const double alpha = fabs(value_of_float(c->alpha)), k = (double)c->k;
    const bool lines = gemm_equilibrates(&t->gemm);
    const double of_a = lines ? b.most : 1, of_b = lines ? a.most : 1;
    return x->relative * U * c->magnitude[i * c->n + j] + x->least +
           alpha * (x->of_a * of_a * a.sum + x->of_b * of_b * b.sum +
                    k * x->each * of_a * of_b) +
           x->lines * of_a * of_b;
}

/* Whether no operand is too large for the bound, and no sum can be. */
static bool in_range(const struct bound_apriori *x, const struct trial *t)
{
    const struct comparison *const c = &t->judge.comparison;
    const struct bitcut_format *sums =
        t->gemm.order.partial_format ? t->gemm.order.partial_format : t->gemm.unit->c;
    const int emax = format_emax(t->gemm.unit->c);
    const double largest =
                     ldexp(1, (format_emax(sums) < emax ? format_emax(sums) : emax) - 4),
                 alpha = fmin(1, fabs(value_of_float(c->alpha)));
    bool all = fmax(line_of(c->a, c->m * c->k, 1).most,
                    line_of(c->b, c->k * c->n, 1).most) <= x->most;
    for (size_t i = 0; i < c->m * c->n; i++) all &= c->magnitude[i] < alpha * largest;
    return all;
}

/* Returns whether the bound applies. */
static bool apriori_check(const struct trial *t, bool any)
{
    const struct comparison *const c = &t->judge.comparison;
    const struct bound_apriori x = apriori_of(&t->gemm, c->k, any);
    if (!in_range(&x, t)) return false;
    for (size_t at = 0; at < c->m * c->n; at++) {
        const double error = fabs(metric_error(c, at)),
                     limit = apriori_limit(&x, t, at / c->n, at % c->n);
        ck_assert_msg(error <= limit + 0x1p-52 * fabs(double_of_bits(c->reference64[at])),
                      "%s on %s, k = %zu%s: %g beyond %g (%g u), D %a",
                      t->gemm.recipe->name, t->gemm.unit->name, c->k,
                      any ? ", any order" : "", error, limit, x.relative,
                      value_of_float(c->d[at]));
    }
    return true;
}

static const char *const families[] = { "urand(-1,1)",      "positive",
                                        "exp_rand(-15,14)", "subnormal",
                                        "rz_worst",         "const(0.1)",
                                        "exp_rand(-80,30)", "alternating" };
enum { FAMILIES = sizeof families / sizeof families[0] };

/* A recipe on a unit with something varied. */
static void vary(struct bitcut_gemm *g, uint64_t *rng)
{
    static const int sums[] = { FORMAT_F32, FORMAT_F32, FORMAT_F32, FORMAT_F16,
                                FORMAT_BF16 };
    struct gemm_plan plan;
    g->order = (struct bitcut_order){
        .slices = test_between(rng, 0, 4),
        .tile = test_between(rng, 0, 3) * 12,
        .partial_first = test_between(rng, 0, 1),
        .cut = test_between(rng, 0, 2) ? 0 : test_between(rng, 1, 40),
        .balance_tail = test_between(rng, 0, 3) ? 0 : test_between(rng, 1, 40),
        .lanes = test_between(rng, 0, 4),
        .chunk = test_between(rng, 0, 20),
        .reduction = (enum bitcut_reduction)test_between(rng, 0, 3),
        .partial_format = &formats[sums[test_between(rng, 0, 4)]],
        .partial_store = test_between(rng, 0, 1),
        .unroll = test_between(rng, 0, 1) * test_between(rng, 1, 40),
        .remainder_in_lane = test_between(rng, 0, 2) == 0,
        .slices_ascending = test_between(rng, 0, 1),
    };
    if (!g->order.remainder_in_lane && test_between(rng, 0, 2) == 0) {
        g->order.narrow = 1 << test_between(rng, 0, 1);
        g->order.narrow_apart = test_between(rng, 0, 1);
        g->order.lanes = 4, g->order.unroll = 80;
        g->order.partial_first = false;
    }
    g->equilibrate = test_between(rng, 0, 3) == 0;
    if (gemm_equilibrates(g) && g->order.partial_format == &formats[FORMAT_F16])
        g->order.partial_format = NULL; /* scaled sums are beyond f16 */
    if (test_between(rng, 0, 2) == 0) g->promote = test_between(rng, 0, 3);
    if (test_between(rng, 0, 3) == 0) g->dropped_term = test_between(rng, 0, 1);
    if (test_between(rng, 0, 3) == 0) g->tile_k = test_between(rng, 0, 64);
    if (gemm_plan_on_unit(&plan, g, NULL) != BITCUT_OK) g->order.narrow = 0;
    if (gemm_plan_on_unit(&plan, g, NULL) != BITCUT_OK) g->order.unroll = 0;
    if (test_between(rng, 0, 1)) return;
    g->alpha = (uint32_t)test_between(rng, 0x3e000000, 0x41800000);
    g->beta = (uint32_t)test_between(rng, 0x3e000000, 0x41800000) | 0x80000000;
}

START_TEST(no_error_beyond_apriori)
{
    uint64_t rng = test_seed();
    int applies = 0, count = 0;
    for (int round = 0; round < test_cases(1, 4); round++)
        for (const struct bitcut_recipe *r = recipes; r->name; r++)
            for (const struct bitcut_unit *u = units; u->name; u++) {
                struct bitcut_gemm g = gemm_of(r, u);
                struct gemm_plan plan;
                struct trial t;
                vary(&g, &rng);
                if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
                trial_init(&t, &g, families[count++ % FAMILIES], 3, 4,
                           (size_t)test_between(&rng, 0, 300), test_bits(&rng));
                applies += apriori_check(&t, false);
                apriori_check(&t, true);
                trial_clear(&t);
            }
    ck_assert_int_gt(count, 300);
    ck_assert_int_gt(applies, count / 2);
}
END_TEST

/* The longest lane and the longest remainder, by hand. */
START_TEST(remainders_are_counted)
{
    static const struct {
        struct bitcut_order order;
        size_t k, k_steps, remaining[2], lanes, additions;
    } rows[] = {
        { { .lanes = 2, .unroll = 8 }, 36, 16, { 4 }, 3, 1 },
        { { .lanes = 2, .unroll = 8 }, 32, 16, { 0 }, 2, 1 },
        { { .lanes = 2, .unroll = 8 }, 7, 7, { 0 }, 1, 0 },
        { { .lanes = 4, .unroll = 8, .slices = 2, .cut = 17 }, 30, 4, { 5 }, 10, 4 },
        { { .lanes = 2, .unroll = 8, .remainder_in_lane = true }, 36, 20, { 0 }, 2, 1 },
        { { .lanes = 8, .unroll = 8, .narrow = 2, .reduction = BITCUT_HALVES },
          31, 3, { 3, 1 }, 11, 3 },
        { { .lanes = 8, .unroll = 8, .narrow = 2, .reduction = BITCUT_TREE },
          24, 3, { 0 }, 8, 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bitcut_gemm g = gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", NULL));
        struct gemm_plan plan;
        struct accumulation path;
        g.order = rows[i].order;
        ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
        ck_assert_int_eq(accumulation_of(&path, &plan, rows[i].k), BITCUT_OK);
        ck_assert_uint_eq(path.k_steps, rows[i].k_steps);
        for (int r = 0; r < 2; r++)
            ck_assert_uint_eq(path.remaining[r], rows[i].remaining[r]);
        ck_assert_uint_eq(path.all, rows[i].k);
        ck_assert_uint_eq(path.lanes, rows[i].lanes);
        ck_assert_uint_eq(path.additions, rows[i].additions);
        struct hostfp mode;
        hostfp_enter(&mode);
        const struct accumulation_error e = accumulation_error_of(&plan, &path, F32_ONE, 0);
        hostfp_leave(&mode);
        /* a rounding for each step of both, and each addition */
        const double meets =
            (double)(rows[i].k_steps + rows[i].remaining[0] + rows[i].remaining[1] +
                     rows[i].additions);
        ck_assert_double_ge(e.term[0], meets * 0x1p-24);
        ck_assert_double_le(e.term[0], (meets + 2) * 0x1p-24);
    }
}
END_TEST

/* --- rows --------------------------------------------------------------------------- */

static void run_rows(struct bound_result results[BOUNDS], const struct trial *t,
                     const struct bitcut_gemm *g, bool given)
{
    struct gemm_plan plan;
    struct bound_problem x;
    ck_assert_int_eq(gemm_plan_on_unit(&plan, g, NULL), BITCUT_OK);
    ck_assert_int_eq(bound_problem_make(&x, g, &plan, &t->judge.comparison, given, NULL),
                     BITCUT_OK);
    ck_assert_int_eq(bound_run(results, &x, 0, 1, NULL, NULL), BITCUT_OK);
}

/* No D is beyond a rigorous bound. */
START_TEST(no_error_beyond_rows)
{
    uint64_t rng = test_seed();
    size_t outputs[BOUNDS] = { 0 }, beyond[BOUNDS] = { 0 };
    int count = 0, tried = 0;
    for (int round = 0; round < test_cases(1, 8); round++)
        for (const struct bitcut_recipe *r = recipes; r->name; r++)
            for (const struct bitcut_unit *u = units; u->name; u++) {
                struct bitcut_gemm g = gemm_of(r, u);
                struct gemm_plan plan;
                struct bound_result results[BOUNDS];
                struct trial t;
                if (tried++ % test_step(5)) continue;
                vary(&g, &rng);
                if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
                trial_init(&t, &g, families[count++ % FAMILIES], 2, 2,
                           (size_t)test_between(&rng, 1, 200), test_bits(&rng));
                run_rows(results, &t, &g, false);
                for (int i = 0; i < BOUNDS; i++) {
                    outputs[i] += results[i].outputs;
                    beyond[i] += results[i].violations;
                    ck_assert_msg(
                        bounds[i].kind != BOUND_RIGOROUS || results[i].violations == 0,
                        "%s, %s on %s, %s, k = %zu: %g of its limit", bounds[i].name,
                        r->name, u->name, families[(count - 1) % FAMILIES],
                        t.judge.comparison.k, results[i].ratio);
                }
                trial_clear(&t);
            }
    for (int i = 0; i < BOUNDS; i++)
        ck_assert_msg(outputs[i] > 10 && (double)beyond[i] <= 0.01 * (double)outputs[i],
                      "%s: %zu of %zu outputs", bounds[i].name, beyond[i], outputs[i]);
}
END_TEST

/* Limits of given A and B, 2 x 1 outputs of 2 products, by hand: 9 u |A||B| and 1; beside
   it 5 (column sum) where the row has an element below 4, 3 (row sum) where the column
   has, and 2 * 7 where both have; none if one is above 100. */
START_TEST(limits_of_constants)
{
    const struct bound_apriori b = { .relative = 9 / U,
                                     .least = 1,
                                     .from = 4,
                                     .normal = 4,
                                     .most = 100,
                                     .of_a = 3,
                                     .of_b = 5,
                                     .each = 7 };
    const double size[2] = { 208, 96 };
    uint32_t a[4] = { bits_of_float(4), bits_of_float(-5), 0, bits_of_float(6) },
             column[2] = { bits_of_float(16), bits_of_float(8) };
    const struct comparison x = { .m = 2,
                                  .n = 1,
                                  .k = 2,
                                  .a = a,
                                  .b = column,
                                  .magnitude = size,
                                  .alpha = bits_of_float(-2) };
    double to[2];
    ck_assert_int_eq(bound_apriori_limits(to, &b, false, &x, NULL), BITCUT_OK);
    for (int i = 0; i < 2; i++)
        ck_assert(to[i] >= 1 + 9 * size[i] && to[i] < (1 + 9 * size[i]) * (1 + 1e-9));
    a[0] = bits_of_float(3.5f);
    column[1] = bits_of_float(3);
    ck_assert_int_eq(bound_apriori_limits(to, &b, false, &x, NULL), BITCUT_OK);
    const double want[2] = { 1 + 9 * 208 + 2 * (3 * 8.5 + 5 * 19 + 14),
                             1 + 9 * 96 + 2 * (3 * 6) };
    for (int i = 0; i < 2; i++)
        ck_assert(to[i] >= want[i] && to[i] < want[i] * (1 + 1e-9));
    a[3] = bits_of_float(101);
    ck_assert_int_eq(bound_apriori_limits(to, &b, false, &x, NULL), BITCUT_OK);
    ck_assert(isfinite(to[0]) && isnan(to[1]));
    /* beside the largest of a line, 4 times it: all are below */
    ck_assert_int_eq(bound_apriori_limits(to, &b, true, &x, NULL), BITCUT_OK);
    ck_assert(to[0] >= 1 + 9 * 208 + 2 * (3 * 8.5 * 16 + 5 * 19 * 5 + 14 * 16 * 5));
}
END_TEST

/* Many elements are multiplied in several passes: the few that are not zeros count,
   wherever they are. */
START_TEST(passes_of_long_products)
{
    enum { K = 3000000, SOME = 1000 };
    const struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_OOTOMO], unit_find("hopper/mma.m16n8k16.f32.f16", NULL));
    uint64_t rng = test_seed();
    uint32_t *const a = calloc(2 * (size_t)K, sizeof *a), *const b = a + K, some[2][SOME];
    double limit[3];
    struct gemm_plan plan;
    struct bound_problem x;
    ck_assert(a);
    const struct comparison c = {
        .m = 1, .n = 1, .k = K, .a = a, .b = b, .alpha = F32_ONE
    };
    for (int i = 0; i < 2 * SOME; i++)
        some[i / SOME][i % SOME] =
            bits_of_float((float)test_between(&rng, 1, 1 << 24) * 0x1p-10f);
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(bound_problem_make(&x, &g, &plan, &c, true, NULL), BITCUT_OK);
    for (int i = 0; i < 3; i++) {
        const size_t at = (size_t)i * (K - SOME) / 2;
        memset(a, 0, 2 * (size_t)K * sizeof *a);
        memcpy(a + at, some[0], sizeof some[0]);
        memcpy(b + at, some[1], sizeof some[1]);
        ck_assert_int_eq(
            bound_limits(&limit[i], NULL, &bounds[BOUND_ALIGNED], &x, 0, NULL, NULL),
            BITCUT_OK);
        ck_assert(limit[i] > 0 && fabs(limit[i] / limit[0] - 1) < 1e-12);
    }
    free(a);
}
END_TEST

/* --- sharpness ---------------------------------------------------------------------- */

/* Sums are about 2^16 if that can be, so that operands of 8 bits reach as far down. */
static int top_of(const struct bitcut_unit *u)
{
    return format_emax(u->c) > 20 ? 16 : format_emax(u->c) - 5;
}

/* One product of 2^top, and others just below `place`, as large as operands can have
   them: alignment at `place` cuts all of each. */
static void fill_worst(struct matrix *a, struct matrix *b, const struct bitcut_unit *u,
                       int top, int place)
{
    const double of_a = 2 - ldexp(1, -u->a->fraction_bits),
                 of_b = 2 - ldexp(1, -u->b->fraction_bits);
    const int half = (place - 2) / 2, rest = place - 2 - half;
    for (size_t p = 0; p < a->cols; p++) {
        a->at[p] = bits_of_float((float)(p ? ldexp(of_a, half) : ldexp(1, top / 2)));
        b->at[p] =
            bits_of_float((float)(p ? ldexp(of_b, rest) : ldexp(1, top - top / 2)));
    }
}

/* The same with what `on` makes of it, judged. */
static void worst_init(struct trial *t, const struct bitcut_unit *on,
                       const struct bitcut_unit *u, int top, int place, size_t k)
{
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], on);
    *t = (struct trial){ .gemm = g };
    ck_assert_int_eq(matrix_init(&t->a, 1, k, NULL), BITCUT_OK);
    ck_assert_int_eq(matrix_init(&t->b, k, 1, NULL), BITCUT_OK);
    ck_assert_int_eq(matrix_init(&t->d, 1, 1, NULL), BITCUT_OK);
    fill_worst(&t->a, &t->b, u, top, place);
    gemm_set_dense(&g, t->d.at, 1, 1, k, t->a.at, t->b.at, NULL);
    ck_assert_int_eq(gemm_run(&g, &options, NULL), BITCUT_OK);
    ck_assert_int_eq(
        judge_init(&t->judge, &references[0], &t->a, &t->b, NULL, &options, NULL),
        BITCUT_OK);
    t->judge.comparison.d = t->d.at;
}

/* What of its limit D of a unit takes, by the bounds of another. */
static double part_of_limit(const struct trial *t, const struct bitcut_unit *u,
                            struct bound_watched *watched)
{
    const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
    struct gemm_plan plan;
    struct bound_problem x;
    struct bound_result r;
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
    ck_assert_int_eq(bound_problem_make(&x, &g, &plan, &t->judge.comparison, false, NULL),
                     BITCUT_OK);
    ck_assert_int_eq(bound_run_row(&r, &bounds[BOUND_ALIGNED], &x, 1, NULL, NULL),
                     BITCUT_OK);
    ck_assert_int_eq(bound_watch(watched, &x, 0, NULL), BITCUT_OK);
    ck_assert_uint_eq(r.outputs, 1);
    ck_assert_int_eq(r.violations, r.ratio > 1);
    return r.ratio;
}

/* A unit that keeps a bit less is not within the bounds of one that aligns: where what is
   cut outweighs the rounding of a step. */
static void sharp_check(const struct bitcut_unit *u)
{
    struct bitcut_unit weaker = *u;
    struct bound_watched watched;
    struct trial own, less;
    weaker.fraction = u->fraction - 1;
    const int top = top_of(u), place = top - weaker.fraction;
    worst_init(&own, u, u, top, top - u->fraction, 8 * (size_t)u->k);
    const double part = part_of_limit(&own, u, &watched);
    ck_assert_msg(part <= 1 && part > 0.35, "%s: its worst is %g of its limit", u->name,
                  part);
    worst_init(&less, &weaker, u, top, place, 8 * (size_t)u->k);
    const double beyond = part_of_limit(&less, u, &watched);
    ck_assert_msg(beyond > 1, "%s: %d bits are within the bound of %d: %g", u->name,
                  weaker.fraction, u->fraction, beyond);
    ck_assert_msg(fabs(metric_error(&less.judge.comparison, 0)) >
                      bounds[BOUND_RUNNING].watched(&watched),
                  "%s: %d bits are within the running bound of %d", u->name,
                  weaker.fraction, u->fraction);
    trial_clear(&own);
    trial_clear(&less);
}

/* Whether there are normal operands of that size. */
static bool reaches(const struct bitcut_unit *u)
{
    const int top = top_of(u), least = (top - u->fraction - 2) / 2 - 1;
    return least >= format_emin(u->a) && least >= format_emin(u->b) &&
           top / 2 <= format_emax(u->a) && top / 2 <= format_emax(u->b);
}

START_TEST(sharp_bounds)
{
    int count = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
        struct gemm_plan plan;
        const struct step_error e = u->summation->error(u);
        if (u->summation != &sum_fused || !summation_aligns(u) || u->c_last ||
            !reaches(u) || gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK)
            continue;
        if (e.sum < 1.5 * round_error(u->result, u->rounding.direction)) continue;
        sharp_check(u);
        count++;
    }
    ck_assert_int_gt(count, 20);
}
END_TEST

/* Volta's sums are not Hopper's. */
START_TEST(other_generations)
{
    const struct bitcut_unit *volta = bitcut_unit_find("volta/mma.m8n8k4.f32.f16", NULL),
                             *hopper =
                                 bitcut_unit_find("hopper/mma.m16n8k16.f32.f16", NULL);
    struct bound_watched watched;
    struct trial t;
    worst_init(&t, volta, hopper, 6, 6 - volta->fraction, 256);
    ck_assert(part_of_limit(&t, volta, &watched) <= 1);
    ck_assert(part_of_limit(&t, hopper, &watched) > 1);
    trial_clear(&t);
    worst_init(&t, hopper, hopper, 6, 6 - volta->fraction, 256);
    ck_assert(part_of_limit(&t, hopper, &watched) <= 1);
    trial_clear(&t);
}
END_TEST

TEST_MAIN("bound", limits_of_constants, splits_by_hand, elements_keep_as_much,
          constants_by_hand, two_parts_by_hand, no_error_beyond_apriori,
          remainders_are_counted, no_error_beyond_rows, passes_of_long_products,
          sharp_bounds, other_generations)
