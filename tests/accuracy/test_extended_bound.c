/* SPDX-License-Identifier: BSD-3-Clause */
/* Error bounds of GEMMs with biases, factors, starts and steps: no output of the emulator
   is beyond its limit.  The exact value is stated again from lib/bitcut.h, in MPFR numbers
   that hold every sum and product. */
#include "lib/bitcut.h"
#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/gemm_data.h"
#include "lib/gemm/epilogue.h"
#include "lib/gemm/recipe.h"
#include "emu/gemm.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M_MAX = 4, N_MAX = 4, K_MAX = 200, EXACT_BITS = 6000 };

/* A GEMM with its matrices. */
struct drawn {
    struct bitcut_gemm g;
    size_t m, n, k;
    uint32_t a[M_MAX * K_MAX], b[K_MAX * N_MAX], c[M_MAX * N_MAX], bias[N_MAX];
    uint32_t scale_a[M_MAX * K_MAX], scale_b[K_MAX * N_MAX];
    uint8_t unit_a[M_MAX * K_MAX], unit_b[K_MAX * N_MAX];
    uint16_t short_a[M_MAX * K_MAX], short_b[K_MAX * N_MAX];
    uint32_t d[M_MAX * N_MAX];
    double limit[M_MAX * N_MAX];
};

static double value(uint32_t x) { return value_of_float(x); }

/* --- drawing ----------------------------------------------------------------------- */

/* The exponents of a class of values. */
static const int classes[][2] = { { -3, 3 },   { 0, 0 },      { -3, 3 },   { -20, 10 },
                                  { -36, 16 }, { -126, -90 }, { -149, -120 } };

enum { CLASSES = sizeof classes / sizeof *classes };

static uint32_t number(uint64_t *rng, int class)
{
    const int exponent = test_between(rng, classes[class][0], classes[class][1]);
    const double x =
        ldexp(1 + ldexp((double)(test_bits(rng) >> 40), -24), exponent);
    if (test_between(rng, 0, 30) == 0) return 0;
    return bits_of_float((float)x) | (uint32_t)(test_bits(rng) >> 63 << 31);
}

static void fill(uint32_t *x, size_t count, int class, uint64_t *rng)
{
    const bool positive = test_between(rng, 0, 4) == 0;
    for (size_t i = 0; i < count; i++)
        x[i] = number(rng, class) & (positive ? 0x7fffffff : ~0u);
}

static bool is_valid(const struct bitcut_gemm *g)
{
    struct gemm_plan plan;
    return gemm_plan_on_unit(&plan, g, NULL) == BITCUT_OK;
}

/* A recipe on a unit that run together, one in four on a unit with block scales. */
static void draw_way(struct drawn *x, uint64_t *rng)
{
    int count = 0, recipe_count = 0;
    while (units[count].name) count++;
    while (recipes[recipe_count].name) recipe_count++;
    const bool scaled = test_between(rng, 0, 3) == 0;
    do {
        x->g = gemm_of(&recipes[scaled ? RECIPE_PLAIN
                                       : test_between(rng, 0, recipe_count - 1)],
                       &units[test_between(rng, 0, count - 1)]);
        if (scaled) x->g.scaling = BITCUT_SCALING_UNIT;
    } while ((x->g.unit->scale != NULL) != scaled || !is_valid(&x->g));
}

static void draw_order(struct drawn *x, uint64_t *rng)
{
    const struct bitcut_gemm before = x->g;
    if (x->g.unit->scale || test_between(rng, 0, 1)) return;
    x->g.order = (struct bitcut_order){ .slices = test_between(rng, 0, 4),
                                        .tile = test_between(rng, 0, 3) * 12,
                                        .lanes = test_between(rng, 0, 4),
                                        .reduction = test_between(rng, 0, 3) };
    if (test_between(rng, 0, 3) == 0)
        x->g.order.partial_format = &formats[test_between(rng, 0, 1) ? FORMAT_F16 : FORMAT_BF16];
    x->g.equilibrate = test_between(rng, 0, 5) == 0;
    if (test_between(rng, 0, 2) == 0) x->g.promote = test_between(rng, 0, 3);
    if (!is_valid(&x->g)) x->g = before;
}

static struct bitcut_scales factors(const void *at, const struct bitcut_format *format,
                                    size_t lines, size_t depth)
{
    return (struct bitcut_scales){ { .at = at, .format = format }, lines, depth };
}

/* The values that a format has, as FP32 encodings. */
static void encode(uint32_t *values, uint8_t *to, size_t count,
                   const struct bitcut_format *format, uint64_t *rng)
{
    for (size_t i = 0; i < count; i++) {
        do {
            const int middle = format->special == SPECIAL_E8M0 ? 127 : 0x38;
            to[i] = (uint8_t)test_between(rng, middle - 12, middle + 12);
        } while (!format_is_finite(format, to[i]));
        values[i] = (uint32_t)bitcut_format_convert(
            &formats[FORMAT_F32], &roundings[ROUND_RN], format, to[i]);
    }
}

static void draw_factors(struct drawn *x, uint64_t *rng)
{
    struct bitcut_gemm *const g = &x->g;
    const struct bitcut_gemm before = *g;
    struct gemm_plan plan;
    if (g->unit->scale) {
        const size_t depth = (size_t)g->unit->scale_block;
        encode(x->scale_a, x->unit_a, M_MAX * K_MAX, g->unit->scale, rng);
        encode(x->scale_b, x->unit_b, K_MAX * N_MAX, g->unit->scale, rng);
        g->scale_a = factors(x->unit_a, g->unit->scale, 1, depth);
        g->scale_b = factors(x->unit_b, g->unit->scale, 1, depth);
        return;
    }
    if (test_between(rng, 0, 1)) return;
    ck_assert_int_eq(gemm_plan_on_unit(&plan, g, NULL), BITCUT_OK);
    const int class = test_between(rng, 0, 8) ? 0 : test_between(rng, 0, 4);
    fill(x->scale_a, M_MAX * K_MAX, class, rng);
    fill(x->scale_b, K_MAX * N_MAX, class, rng);
    do g->scaling = (enum bitcut_scaling)test_between(rng, 0, 6);
    while (g->scaling == BITCUT_SCALING_UNIT);
    const size_t step = (size_t)plan.k_step;
    for (int side = 0; side < 2; side++) {
        const size_t depth = g->scaling == BITCUT_SCALING_EPILOGUE ? 0
                             : g->scaling == BITCUT_SCALING_OPERAND
                                 ? (size_t)test_between(rng, 0, 9)
                                 : (size_t)test_between(rng, 0, 2) * step,
                     lines = (size_t)test_between(rng, 0, 2);
        if (test_between(rng, 0, 4) == 0) continue;
        if (side) g->scale_b = factors(x->scale_b, NULL, lines, depth);
        else g->scale_a = factors(x->scale_a, NULL, lines, depth);
    }
    if (g->scaling >= BITCUT_SCALING_PROMOTED) g->order = (struct bitcut_order){ 0 };
    if (!gemm_has_scales(g) || !is_valid(g)) *g = before;
}

/* Steps whose operands there are, and operands that they read. */
static void draw_steps(struct drawn *x, uint64_t *rng)
{
    struct bitcut_gemm *const g = &x->g;
    struct fault f;
    g->alpha = number(rng, 0);
    g->beta = number(rng, 0);
    g->scale_d = number(rng, 0);
    g->clamp_low = bits_of_float((float)-test_between(rng, 0, 3));
    g->clamp_high = bits_of_float((float)test_between(rng, 0, 6));
    g->bias_rows = test_between(rng, 0, 1);
    if (test_between(rng, 0, 1)) g->bias.at = x->bias;
    g->start = (enum bitcut_start)(test_between(rng, 0, 1) ? test_between(rng, 1, 4) : 0);
    for (int try = 0; try < 400; try++) {
        const int count = test_between(rng, 0, 2) ? test_between(rng, 1, 6) : 0;
        memset(g->epilogue, 0, sizeof g->epilogue);
        for (int s = 0; s < count; s++)
            g->epilogue[s] =
                (unsigned char)test_between(rng, BITCUT_STEP_FUSED, BITCUT_STEP_SATURATE);
        if (epilogue_check_operands(g, &f) == BITCUT_OK) return;
        /* fewer operands are easier to read */
        if (try % 8 == 1) g->clamp_low = 0xff800000, g->clamp_high = 0x7f800000;
        if (try % 8 == 2) g->scale_d = F32_ONE;
        if (try % 8 == 3) g->start = BITCUT_START_ZERO;
        if (try % 8 == 4) g->bias.at = NULL;
        if (try % 8 == 5) g->alpha = F32_ONE;
        if (try % 8 == 6) g->beta = 0;
    }
    memset(g->epilogue, 0, sizeof g->epilogue);
    g->scale_d = F32_ONE, g->start = BITCUT_START_ZERO;
    ck_assert_int_eq(epilogue_check_operands(g, &f), BITCUT_OK);
}

/* An operand in a short format: its elements are rounded to it. */
static void shorten(struct bitcut_matrix *to, uint16_t *room, uint32_t *values,
                    size_t count, const struct bitcut_format *format)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    if (format_bytes(format) > 2) return;
    for (size_t i = 0; i < count; i++) {
        const uint64_t code =
            bitcut_format_convert(format, &roundings[ROUND_RN], f32, values[i]);
        if (format_bytes(format) == 1) ((uint8_t *)room)[i] = (uint8_t)code;
        else room[i] = (uint16_t)code;
        values[i] =
            (uint32_t)bitcut_format_convert(f32, &roundings[ROUND_RN], format, code);
    }
    *to = (struct bitcut_matrix){ .at = room, .format = format };
}

static void draw(struct drawn *x, uint64_t *rng)
{
    static const int results[] = { FORMAT_F32,  FORMAT_F32,  FORMAT_F16, FORMAT_BF16,
                                   FORMAT_E4M3, FORMAT_E5M2, FORMAT_E4M3FNUZ };
    draw_way(x, rng);
    draw_order(x, rng);
    draw_factors(x, rng);
    x->g.d.format = &formats[results[test_between(rng, 0, 6)]];
    draw_steps(x, rng);
    x->m = (size_t)test_between(rng, 1, M_MAX);
    x->n = (size_t)test_between(rng, 1, N_MAX);
    x->k = (size_t)test_between(rng, 0, 3) ? (size_t)test_between(rng, 1, 60)
                                           : (size_t)test_between(rng, 0, K_MAX);
    fill(x->a, x->m * x->k, test_between(rng, 0, CLASSES - 1), rng);
    fill(x->b, x->k * x->n, test_between(rng, 0, CLASSES - 1), rng);
    fill(x->c, x->m * x->n, test_between(rng, 0, CLASSES - 1), rng);
    fill(x->bias, N_MAX, test_between(rng, 0, CLASSES - 1), rng);
    x->g.m = x->m, x->g.n = x->n, x->g.k = x->k;
    x->g.a.at = x->a, x->g.b.at = x->b, x->g.c.at = x->c, x->g.d.to = x->d;
    if (test_between(rng, 0, 2)) return;
    shorten(&x->g.a, x->short_a, x->a, x->m * x->k, x->g.unit->a);
    shorten(&x->g.b, x->short_b, x->b, x->k * x->n, x->g.unit->b);
}

/* --- the exact value --------------------------------------------------------------- */

/* x += p q, exactly. */
static void add_product(mpfr_t x, mpfr_t term, double p, double q)
{
    mpfr_set_d(term, p, MPFR_RNDN);
    mpfr_mul_d(term, term, q, MPFR_RNDN);
    mpfr_add(x, x, term, MPFR_RNDN);
}

/* Without k there are no blocks of k and no factors of them. */
static double factor_of(const struct drawn *x, const struct bitcut_scales *s,
                        const uint32_t *at, size_t line, size_t k, size_t across,
                        size_t along)
{
    const size_t l = s->lines ? line / s->lines : 0, b = s->depth ? k / s->depth : 0;
    return s->at.at && (x->k || !s->depth) ? value(at[l * across + b * along]) : 1;
}

static size_t parts(size_t count, size_t size)
{
    return size ? (count + size - 1) / size : 1;
}

static double factor_a(const struct drawn *x, size_t i, size_t k)
{
    return factor_of(x, &x->g.scale_a, x->scale_a, i, k, parts(x->k, x->g.scale_a.depth), 1);
}

static double factor_b(const struct drawn *x, size_t j, size_t k)
{
    return factor_of(x, &x->g.scale_b, x->scale_b, j, k, 1, parts(x->n, x->g.scale_b.lines));
}

static void between(mpfr_t v, double low, double high)
{
    if (mpfr_cmp_d(v, low) < 0) mpfr_set_d(v, low, MPFR_RNDN);
    if (mpfr_cmp_d(v, high) > 0) mpfr_set_d(v, high, MPFR_RNDN);
}

static void fused(mpfr_t v, mpfr_t t, const struct drawn *x, size_t i, size_t j);

static void step(mpfr_t v, mpfr_t t, const struct drawn *x, int which, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = &x->g;
    const double a = factor_a(x, i, 0), b = factor_b(x, j, 0),
                 most = format_to_double(g->d.format, format_largest(g->d.format, false));
    if (which == BITCUT_STEP_FUSED) fused(v, t, x, i, j);
    if (which == BITCUT_STEP_ALPHA || which == BITCUT_STEP_ALPHA_C ||
        which == BITCUT_STEP_SCALES_C)
        mpfr_mul_d(v, v, value(g->alpha), MPFR_RNDN);
    if (which == BITCUT_STEP_SCALES || which == BITCUT_STEP_SCALES_C ||
        which == BITCUT_STEP_SCALE_A)
        mpfr_mul_d(v, v, a, MPFR_RNDN);
    if (which == BITCUT_STEP_SCALES || which == BITCUT_STEP_SCALES_C ||
        which == BITCUT_STEP_SCALE_B)
        mpfr_mul_d(v, v, b, MPFR_RNDN);
    if (which == BITCUT_STEP_C || which == BITCUT_STEP_ALPHA_C ||
        which == BITCUT_STEP_SCALES_C || which == BITCUT_STEP_C_APART ||
        which == BITCUT_STEP_C_SHORT)
        add_product(v, t, value(g->beta), value(x->c[i * x->n + j]));
    if (which == BITCUT_STEP_BIAS) add_product(v, t, value(x->bias[g->bias_rows ? i : j]), 1);
    if (which == BITCUT_STEP_SCALE_D) mpfr_mul_d(v, v, value(g->scale_d), MPFR_RNDN);
    if (which == BITCUT_STEP_RELU) between(v, 0, INFINITY);
    if (which == BITCUT_STEP_CLAMP) between(v, value(g->clamp_low), value(g->clamp_high));
    if (which == BITCUT_STEP_SATURATE) between(v, -most, most);
}

static void fused(mpfr_t v, mpfr_t t, const struct drawn *x, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = &x->g;
    const bool from_c = g->start == BITCUT_START_C || g->start == BITCUT_START_SLICE_C,
               from_bias =
                   g->start == BITCUT_START_BIAS || g->start == BITCUT_START_SLICE_BIAS;
    if (g->scaling == BITCUT_SCALING_EPILOGUE) step(v, t, x, BITCUT_STEP_SCALES, i, j);
    step(v, t, x, BITCUT_STEP_ALPHA, i, j);
    if (!from_c) step(v, t, x, BITCUT_STEP_C, i, j);
    if (g->bias.at && !from_bias) step(v, t, x, BITCUT_STEP_BIAS, i, j);
}

static void exact(mpfr_t v, mpfr_t t, const struct drawn *x, size_t i, size_t j)
{
    const struct bitcut_gemm *const g = &x->g;
    mpfr_set_zero(v, 1);
    for (size_t p = 0; p < x->k; p++) {
        double a = value(x->a[i * x->k + p]), b = value(x->b[p * x->n + j]);
        if (g->scaling != BITCUT_SCALING_EPILOGUE)
            a *= factor_a(x, i, p), b *= factor_b(x, j, p); /* 48 bits */
        add_product(v, t, a, b);
    }
    if (g->start == BITCUT_START_C || g->start == BITCUT_START_SLICE_C)
        step(v, t, x, BITCUT_STEP_C, i, j);
    else if (g->start) step(v, t, x, BITCUT_STEP_BIAS, i, j);
    if (!*g->epilogue) fused(v, t, x, i, j);
    for (const unsigned char *s = g->epilogue; *s; s++) step(v, t, x, *s, i, j);
}

/* --- the comparison ---------------------------------------------------------------- */

static double result_at(const struct drawn *x, size_t at)
{
    const struct bitcut_format *const f = x->g.d.format;
    return format_to_double(f, format_bytes(f) == 1   ? ((const uint8_t *)x->d)[at]
                               : format_bytes(f) == 2 ? ((const uint16_t *)x->d)[at]
                                                      : x->d[at]);
}

static void describe(const struct drawn *x)
{
    char line[BITCUT_GEMM_MAX];
    ck_assert_int_eq(bitcut_gemm_write(line, &x->g), BITCUT_OK);
    printf("# %s, %zu x %zu x %zu to %s, bias %d by rows %d, factors %d (%zu x %zu) %d (%zu x "
           "%zu), alpha %a, beta %a, scale_d %a\n",
           line, x->m, x->n, x->k, x->g.d.format->name, x->g.bias.at != NULL,
           x->g.bias_rows, x->g.scale_a.at.at != NULL, x->g.scale_a.lines,
           x->g.scale_a.depth, x->g.scale_b.at.at != NULL, x->g.scale_b.lines,
           x->g.scale_b.depth, value(x->g.alpha), value(x->g.beta), value(x->g.scale_d));
    fflush(stdout);
}

/* Outputs that were compared, and the largest error / limit. */
struct tally {
    size_t outputs, limits;
    double most;
};

static void check(struct tally *to, struct drawn *x, mpfr_t v, mpfr_t t, const char *bound)
{
    char why[BITCUT_TEXT_MAX] = "";
    const enum bitcut_status status = bitcut_bound(x->limit, &x->g, 0, bound, 1, why);
    const bool answers = status == BITCUT_OK || (status == BITCUT_UNSUPPORTED && bound);
    if (!answers) describe(x);
    ck_assert_msg(answers, "%s: %s", bound ? bound : "aligned", why);
    for (size_t at = 0; at < x->m * x->n && status == BITCUT_OK; at++) {
        const double d = result_at(x, at), limit = x->limit[at];
        to->outputs++;
        if (!isfinite(limit) || !isfinite(d)) { /* a step may hide an overflow */
            const bool hides = isfinite(limit) && gemm_is_extended(&x->g);
            if (hides) describe(x);
            ck_assert_msg(!hides, "output %zu: %a has the limit %a", at, d, limit);
            continue;
        }
        to->limits++;
        exact(v, t, x, at / x->n, at % x->n);
        mpfr_d_sub(v, d, v, MPFR_RNDN);
        const double error = fabs(mpfr_get_d(v, MPFR_RNDA));
        if (error > limit) describe(x);
        ck_assert_msg(error <= limit, "%s, output %zu: D is %a, error %g, limit %g",
                      bound ? bound : "aligned", at, d, error, limit);
        if (limit > 0) to->most = fmax(to->most, error / limit);
    }
}

/* --- budgets ----------------------------------------------------------------------- */

/* v -= "m*2^e". */
static void subtract_text(mpfr_t v, mpfr_t t, const char *text)
{
    char digits[3000];
    const char *const power = strstr(text, "*2^");
    ck_assert(power && (size_t)(power - text) < sizeof digits);
    memcpy(digits, text, (size_t)(power - text));
    digits[power - text] = 0;
    ck_assert_int_eq(mpfr_set_str(t, digits, 10, MPFR_RNDN), 0);
    mpfr_mul_2si(t, t, strtol(power + 3, NULL, 10), MPFR_RNDN);
    mpfr_sub(v, v, t, MPFR_RNDN);
}

/* Outputs with a budget, and how many have each part. */
struct parted {
    size_t outputs, budgets, has[BUDGET_PARTS];
};

/* The sum of the magnitudes of all terms, as bitcut_gemm_judge() has it. */
static double magnitude(const struct drawn *x, size_t i, size_t j, mpfr_t v, mpfr_t t)
{
    static struct drawn all;
    all = *x;
    for (size_t p = 0; p < x->m * x->k; p++) all.a[p] &= 0x7fffffff;
    for (size_t p = 0; p < x->k * x->n; p++) all.b[p] &= 0x7fffffff;
    for (size_t p = 0; p < M_MAX * K_MAX; p++) all.scale_a[p] &= 0x7fffffff;
    for (size_t p = 0; p < K_MAX * N_MAX; p++) all.scale_b[p] &= 0x7fffffff;
    for (size_t p = 0; p < x->m * x->n; p++) all.c[p] &= 0x7fffffff;
    for (size_t p = 0; p < N_MAX; p++) all.bias[p] &= 0x7fffffff;
    all.g.alpha &= 0x7fffffff, all.g.beta &= 0x7fffffff, all.g.scale_d &= 0x7fffffff;
    for (unsigned char *s = all.g.epilogue; *s; s++) /* limits change no magnitude */
        if (*s == BITCUT_STEP_CLAMP || *s == BITCUT_STEP_SATURATE) *s = BITCUT_STEP_RELU;
    exact(v, t, &all, i, j);
    return mpfr_get_d(v, MPFR_RNDN);
}

/* Whether an output that has no budget may have none: a value on its way overflows, or is
   cleared. */
static bool explains(const struct budget_event *e)
{
    static const char *const reasons[] = {
        "an input is infinite or NaN",   "a part is infinite or NaN",
        "an accumulator overflows",      "a sum overflows",
        "the result overflows",          "a step of the epilogue overflows",
        "an accumulator is set to zero", "a factor overflows"
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!strcmp(e->what, reasons[i])) return true;
    return false;
}

/* The parts of every output add up to D less the exact value, exactly. */
static void check_budgets(struct parted *to, struct drawn *x, mpfr_t v, mpfr_t t)
{
    struct gemm_data data;
    struct gemm_plan plan;
    struct bitcut_gemm g;
    struct fault f;
    ck_assert_int_eq(gemm_take(&g, &x->g, &f), BITCUT_OK);
    ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, &f), BITCUT_OK);
    ck_assert_int_eq(gemm_data_take(&data, &g, 0, 1, &f), BITCUT_OK);
    const struct budget_matrices matrices = { data.a.at, data.b.at, data.c.at, x->m,
                                              x->n,      x->k,      &data };
    for (size_t at = 0; at < x->m * x->n; at++) {
        struct budget_output out;
        const double d = result_at(x, at);
        ck_assert_int_eq(
            budget_at(&out, &g, &plan, &matrices, at / x->n, at % x->n, &f), BITCUT_OK);
        to->outputs++;
        if (out.event.what) {
            ck_assert_msg(explains(&out.event), "%s", out.event.what);
            continue;
        }
        to->budgets++;
        const double got = value(out.d);
        if (!(got == d)) describe(x);
        ck_assert_msg(got == d, "output %zu: D is %a, that of the budget %a", at, d, got);
        exact(v, t, x, at / x->n, at % x->n);
        const double error = fabs(mpfr_get_d(v, MPFR_RNDZ) - out.value);
        if (error != 0) describe(x);
        ck_assert_msg(error == 0, "output %zu: value %a, not %a", at, out.value,
                      mpfr_get_d(v, MPFR_RNDZ));
        mpfr_d_sub(v, d, v, MPFR_RNDN);
        for (int p = 0; p < BUDGET_PARTS; p++) {
            subtract_text(v, t, out.exact[p]);
            to->has[p] += out.part[p] != 0;
            ck_assert(budget_has_part(&g, (enum budget_part)p) || out.part[p] == 0);
        }
        if (!mpfr_zero_p(v)) describe(x);
        ck_assert_msg(mpfr_zero_p(v), "output %zu: parts do not add up", at);
        const double size = magnitude(x, at / x->n, at % x->n, v, t);
        if (!(fabs(out.size - size) <= 1e-12 * size)) describe(x);
        ck_assert_msg(fabs(out.size - size) <= 1e-12 * size, "output %zu: size %a, not %a",
                      at, out.size, size);
        budget_clear(&out);
    }
    gemm_data_clear(&data);
}

/* Every part occurs, and most outputs have a budget. */
START_TEST(parts_add_up)
{
    static struct drawn x;
    uint64_t rng = test_seed() + 2;
    struct parted all = { 0 };
    mpfr_t v, t;
    mpfr_inits2(2 * EXACT_BITS, v, t, (mpfr_ptr)0);
    for (int i = test_cases(1500, 40000); i; i--) {
        x = (struct drawn){ .m = 0 };
        draw(&x, &rng);
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
        check_budgets(&all, &x, v, t);
    }
    mpfr_clears(v, t, (mpfr_ptr)0);
    mpfr_free_cache();
    printf("# %zu outputs, %zu with budgets; with each part:", all.outputs, all.budgets);
    for (int p = 0; p < BUDGET_PARTS; p++)
        printf(" %s %zu", budget_rows[p].name, all.has[p]);
    printf("\n");
    ck_assert(all.budgets * 2 > all.outputs);
    for (int p = 0; p < BUDGET_PARTS; p++)
        ck_assert_msg(all.budgets < 500 || all.has[p] > 0 ||
                          budget_rows[p].kinds == BUDGET_OF_SCHEMES,
                      "no output has a part %s", budget_rows[p].name);
}
END_TEST

/* Sums and products of at most 48 bits from 2^-600 to 2^600 are exact. */
START_TEST(no_error_beyond)
{
    static const char *const others[] = { "parts", "promoted", "any-order", "block-fma" };
    static struct drawn x;
    uint64_t rng = test_seed();
    struct tally aligned = { 0 }, other = { 0 };
    mpfr_t v, t;
    mpfr_inits2(EXACT_BITS, v, t, (mpfr_ptr)0);
    for (int i = test_cases(4000, 160000); i; i--) {
        char why[BITCUT_TEXT_MAX];
        x = (struct drawn){ .m = 0 };
        draw(&x, &rng);
        const enum bitcut_status status = bitcut_gemm(NULL, &x.g, 1, why);
        if (status != BITCUT_OK) describe(&x);
        ck_assert_msg(status == BITCUT_OK, "%s", why);
        mpfr_clear_inexflag();
        check(&aligned, &x, v, t, NULL);
        if (i % 4 == 0) check(&other, &x, v, t, others[test_between(&rng, 0, 3)]);
    }
    mpfr_clears(v, t, (mpfr_ptr)0);
    mpfr_free_cache();
    printf("# aligned: %zu outputs, %zu with limits, at most %.3g of its limit; other bounds: "
           "%zu, %zu, %.3g\n",
           aligned.outputs, aligned.limits, aligned.most, other.outputs, other.limits,
           other.most);
    ck_assert(aligned.limits * 2 > aligned.outputs);
    ck_assert(aligned.most > 0.5); /* some error comes near */
    ck_assert(other.limits > 0);
}
END_TEST

/* One product and one promotion: every rounding counts. */
START_TEST(one_promotion)
{
    static struct drawn x;
    uint64_t rng = test_seed() + 1;
    struct tally tally = { 0 };
    mpfr_t v, t;
    mpfr_inits2(EXACT_BITS, v, t, (mpfr_ptr)0);
    for (int i = test_cases(4000, 40000); i; i--) {
        x = (struct drawn){ .m = 1, .n = 1, .k = 1 };
        x.g = gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", NULL));
        fill(x.a, 1, 0, &rng);
        fill(x.b, 1, 0, &rng);
        fill(x.scale_a, 1, 0, &rng);
        fill(x.scale_b, 1, 0, &rng);
        x.g.m = x.g.n = x.g.k = 1;
        x.g.a.at = x.a, x.g.b.at = x.b, x.g.d.to = x.d;
        x.g.d.format = &formats[FORMAT_F32];
        x.g.scaling = (enum bitcut_scaling)test_between(
            &rng, BITCUT_SCALING_PROMOTED, BITCUT_SCALING_PROMOTED_TURNS_B);
        x.g.promote = 1;
        x.g.scale_a = factors(x.scale_a, NULL, 0, 0);
        x.g.scale_b = factors(x.scale_b, NULL, 0, 0);
        ck_assert_int_eq(bitcut_gemm(NULL, &x.g, 1, NULL), BITCUT_OK);
        check(&tally, &x, v, t, NULL);
    }
    mpfr_clears(v, t, (mpfr_ptr)0);
    ck_assert(tally.limits == tally.outputs && tally.most > 0.6);
}
END_TEST

TEST_MAIN("extended bound", no_error_beyond, one_promotion, parts_add_up)
