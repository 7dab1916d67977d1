/* SPDX-License-Identifier: BSD-3-Clause */
/* Error budgets on units of integers: the parts are those of sums that are computed here,
   in 64 bits and in fractions. */
#include "analysis/accuracy/budget.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "tests/accuracy/part_text.h"

#include <math.h>

enum { K_MAX = 96 };

/* How the sums of a unit leave the range: modulo 2^32 at the end, limited after each step
   of `k`, or pairs limited to 16 bits. */
static const struct {
    const char *unit;
    int low_a, high_a, low_b, high_b;
    enum { WRAPPED, LIMITED, PAIRS } how;
    size_t k;
} rows[] = {
    { "ampere/mma.m16n8k32.s32.s8", -128, 127, -128, 127, WRAPPED, 32 },
    { "ampere/mma.m16n8k32.s32.u8.s8", 0, 255, -128, 127, WRAPPED, 32 },
    { "avx512/vpdpwssd.m1n16k2.s32.s16", -32768, 32767, -32768, 32767, WRAPPED, 2 },
    { "avx512/vpdpwssds.m1n16k2.s32.s16", -32768, 32767, -32768, 32767, LIMITED, 2 },
    { "avx2/vpmaddubsw.m1n8k4.s32.u8.s8", 0, 255, -128, 127, PAIRS, 4 },
};

struct drawn {
    size_t row, k;
    struct bitcut_gemm g;
    struct gemm_plan plan;
    uint32_t a[K_MAX], b[K_MAX], c, bias, factor_a, factor_b;
    int64_t read_a[K_MAX], read_b[K_MAX]; /* as the unit reads them */
    uint8_t kept[K_MAX / 2];
    bool sparse;
};

static int64_t limited(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static int64_t wrapped(int64_t x)
{
    return (int64_t)(int32_t)(uint32_t)(uint64_t)x;
}

/* --- the sum ----------------------------------------------------------------------- */

/* The s32 sum before the steps, of kept elements alone if A is sparse. */
static int64_t sum_of(const struct drawn *x)
{
    int64_t a[K_MAX], b[K_MAX], sum = 0;
    size_t count = 0;
    for (size_t p = 0; p < (x->sparse ? x->k / 2 : x->k); p++, count++) {
        const size_t k = x->sparse ? p / 2 * 4 + x->kept[p] : p;
        a[p] = x->read_a[k], b[p] = x->read_b[k];
    }
    for (size_t at = 0; at < count; at += rows[x->row].k) {
        int64_t step = 0;
        for (size_t p = at; p < at + rows[x->row].k && p < count; p += 2) {
            int64_t pair = a[p] * b[p];
            if (p + 1 < count) pair += a[p + 1] * b[p + 1];
            step += rows[x->row].how == PAIRS ? limited(pair, -32768, 32767) : pair;
        }
        sum = rows[x->row].how == LIMITED ? limited(sum + step, INT32_MIN, INT32_MAX)
                                          : wrapped(sum + step);
    }
    return sum;
}

/* The same after the correction by zero points. */
static int64_t corrected(const struct drawn *x, int64_t sum)
{
    uint64_t v = (uint64_t)sum;
    for (size_t k = 0; k < x->k; k++)
        v -= (uint64_t)(x->read_a[k] * x->g.zero_b + x->read_b[k] * x->g.zero_a);
    v += (uint64_t)((int64_t)x->k * x->g.zero_a) * (uint64_t)(int64_t)x->g.zero_b;
    return wrapped((int64_t)v);
}

/* --- fractions --------------------------------------------------------------------- */

static void multiply_f32(mpq_t x, uint32_t y)
{
    mpq_t z;
    mpq_init(z);
    mpq_set_d(z, value_of_float(y));
    mpq_mul(x, x, z);
    mpq_clear(z);
}

static void add_f32(mpq_t to, uint32_t x, uint32_t y)
{
    mpq_t z;
    mpq_init(z);
    mpq_set_d(z, value_of_float(x));
    multiply_f32(z, y);
    mpq_add(to, to, z);
    mpq_clear(z);
}

/* The sum of products of the elements, or of the elements as they are read, less zero
   points. */
static void exact_sum(mpq_t to, const struct drawn *x, bool read)
{
    mpq_t a, b, zero;
    mpq_inits(a, b, zero, NULL);
    mpq_set_ui(to, 0, 1);
    for (size_t p = 0; p < (x->sparse ? x->k / 2 : x->k); p++) {
        const size_t k = x->sparse ? p / 2 * 4 + x->kept[p] : p;
        mpq_set_d(a, read ? (double)x->read_a[k] : value_of_float(x->a[k]));
        mpq_set_d(b, read ? (double)x->read_b[k] : value_of_float(x->b[k]));
        mpq_set_si(zero, x->g.zero_a, 1);
        mpq_sub(a, a, zero);
        mpq_set_si(zero, x->g.zero_b, 1);
        mpq_sub(b, b, zero);
        mpq_mul(a, a, b);
        mpq_add(to, to, a);
    }
    mpq_clears(a, b, zero, NULL);
}

/* What the steps multiply a sum by. */
static void by_steps(mpq_t x, const struct drawn *d)
{
    multiply_f32(x, d->g.alpha);
    if (d->factor_a) multiply_f32(x, d->factor_a);
    if (d->factor_b) multiply_f32(x, d->factor_b);
}

static void check_part(const struct budget_output *out, enum budget_part part,
                       const mpq_t want, const struct drawn *x)
{
    mpq_t got;
    mpq_init(got);
    add_text(got, out->exact[part]);
    ck_assert_msg(mpq_equal(got, want), "%s: the part %s is %s, not %g", rows[x->row].unit,
                  budget_rows[part].name, out->exact[part], mpq_get_d(want));
    mpq_clear(got);
}

/* --- drawing ----------------------------------------------------------------------- */

/* An element: an integer of the operand, or now and then another number. */
static uint32_t element_draw(int64_t *read, int low, int high, bool whole, uint64_t *rng)
{
    const double x = whole ? test_between(rng, low, high)
                           : test_between(rng, 2 * low - 9, 2 * high + 9) / 1.75;
    const uint32_t encoding = bits_of_float((float)x);
    *read = limited((int64_t)nearbyint(value_of_float(encoding)), low, high);
    return encoding;
}

static void sparse_draw(struct drawn *x, uint64_t *rng)
{
    x->sparse = x->k % 4 == 0 && test_between(rng, 0, 3) == 0;
    for (size_t four = 0; x->sparse && four < x->k / 4; four++) {
        const int first = test_between(rng, 0, 2), second = test_between(rng, first + 1, 3);
        x->kept[2 * four] = (uint8_t)first;
        x->kept[2 * four + 1] = (uint8_t)second;
        for (int p = 0; p < 4; p++)
            if (p != first && p != second)
                x->a[4 * four + (size_t)p] = 0, x->read_a[4 * four + (size_t)p] = 0;
    }
}

static void steps_draw(struct drawn *x, uint64_t *rng)
{
    struct bitcut_gemm *const g = &x->g;
    const int way = test_between(rng, 0, 3);
    g->alpha = bits_of_float((float)test_between(rng, -7, 9) / 8);
    if (f32_is_zero(g->alpha)) g->alpha = F32_ONE;
    x->c = bits_of_float((float)test_between(rng, -999, 999) / 7);
    x->bias = bits_of_float((float)test_between(rng, 1, 999) / 11);
    if (way == 1) g->beta = bits_of_float(0.3F);
    if (way >= 2) x->factor_a = bits_of_float((float)test_between(rng, 1, 999) / 1024);
    if (way == 3) x->factor_b = bits_of_float((float)test_between(rng, 1, 999) / 77);
    if (x->factor_a) g->scale_a = (struct bitcut_scales){ { .at = &x->factor_a }, 1, 0 };
    if (x->factor_b) g->scale_b = (struct bitcut_scales){ { .at = &x->factor_b }, 1, 0 };
    if (way == 2) g->bias.at = &x->bias;
    if (!x->sparse && test_between(rng, 0, 1)) {
        const int most = test_between(rng, 0, 2) ? 300 : 1 << 22;
        g->zero_a = test_between(rng, -most, most);
        g->zero_b = test_between(rng, -most, most);
    }
}

static void draw(struct drawn *x, bool whole, uint64_t *rng)
{
    struct fault f;
    *x = (struct drawn){ .row = (size_t)test_between(rng, 0, sizeof rows / sizeof *rows - 1),
                         .k = (size_t)test_between(rng, 1, K_MAX) };
    x->g = gemm_of(bitcut_recipe_find("plain"),
                   bitcut_unit_find(rows[x->row].unit, NULL));
    for (size_t k = 0; k < x->k; k++) {
        x->a[k] = element_draw(&x->read_a[k], rows[x->row].low_a, rows[x->row].high_a,
                               whole, rng);
        x->b[k] = element_draw(&x->read_b[k], rows[x->row].low_b, rows[x->row].high_b,
                               whole, rng);
    }
    sparse_draw(x, rng);
    steps_draw(x, rng);
    const enum bitcut_status status = gemm_plan_on_values(&x->plan, &x->g, &f);
    ck_assert_msg(status == BITCUT_OK, "%s: %s", rows[x->row].unit, f.text);
}

/* --- the tests --------------------------------------------------------------------- */

static void find(struct budget_output *out, const struct drawn *x)
{
    const struct line_factors factors_a = { x->factor_a ? &x->factor_a : NULL, 0, 0 },
                              factors_b = { x->factor_b ? &x->factor_b : NULL, 0, 0 };
    const struct budget_lines lines = { .a = x->a,
                                        .b = x->b,
                                        .k = x->k,
                                        .c = x->c,
                                        .bias = x->bias,
                                        .factors_a = factors_a,
                                        .factors_b = factors_b,
                                        .kept = x->sparse ? x->kept : NULL };
    struct fault f;
    ck_assert_int_eq(budget_one(out, &x->g, &x->plan, &lines, true, &f), BITCUT_OK);
    ck_assert_ptr_null(out->event.what);
}

/* What is exact of all steps, and the magnitude. */
static void value_check(const struct budget_output *out, const struct drawn *x,
                        const mpq_t exact)
{
    const double value = mpq_get_d(exact);
    ck_assert(fabs(out->value - value) <= 0x1p-50 * fabs(value));
    ck_assert(out->size >= fabs(value) * (1 - 0x1p-40));
    (void)x;
}

/* Whole elements: no sum is rounded; the sum may leave its range, and steps round. */
static void check_parts(const struct drawn *x, size_t *overflows)
{
    struct budget_output out;
    mpq_t exact, left, want, none;
    const int64_t v = corrected(x, sum_of(x));
    mpq_inits(exact, left, want, none, NULL);
    find(&out, x);
    exact_sum(exact, x, false);
    mpq_set_d(want, (double)v);
    mpq_sub(want, want, exact);
    *overflows += mpq_sgn(want) != 0;
    by_steps(want, x);
    check_part(&out, BUDGET_SATURATION, want, x);
    by_steps(exact, x);
    if (gemm_reads_c(&x->g)) add_f32(exact, x->g.beta, x->c);
    if (gemm_has_bias(&x->g)) add_f32(exact, x->bias, F32_ONE);
    value_check(&out, x, exact);
    mpq_set_d(left, value_of_float(out.d));
    mpq_sub(left, left, exact);
    mpq_sub(left, left, want);
    const bool extended = gemm_is_extended(&x->g), rounds = x->g.d.format != NULL;
    for (int p = 0; p < BUDGET_PARTS; p++)
        if (p == BUDGET_EPILOGUE && !(extended && rounds))
            check_part(&out, BUDGET_EPILOGUE, left, x);
        else if (p != BUDGET_SATURATION && p != BUDGET_EPILOGUE &&
                 !(p == BUDGET_RESULT && extended && rounds))
            check_part(&out, (enum budget_part)p, none, x);
    mpq_set_ui(want, 0, 1);
    for (int p = 0; p < BUDGET_PARTS; p++)
        if (p != BUDGET_SATURATION) add_text(want, out.exact[p]);
    ck_assert_msg(mpq_equal(want, left), "%s: parts do not add up", rows[x->row].unit);
    mpq_clears(exact, left, want, none, NULL);
    budget_clear(&out);
}

START_TEST(parts_of_integers)
{
    uint64_t rng = test_seed();
    const int cases = test_cases(400, 8000);
    size_t overflows = 0;
    for (int n = 0; n < cases; n++) {
        struct drawn x;
        draw(&x, true, &rng);
        if (test_between(&rng, 0, 2) == 0) x.g.d.format = &formats[FORMAT_BF16];
        check_parts(&x, &overflows);
    }
    ck_assert(cases < 100 || overflows * 20 > (size_t)cases);
}
END_TEST

/* Other elements are rounded to integers and limited to the range first. */
START_TEST(parts_of_other_elements)
{
    uint64_t rng = test_seed();
    const int cases = test_cases(200, 4000);
    bool has[BUDGET_PARTS] = { false };
    for (int n = 0; n < cases; n++) {
        struct drawn x;
        struct budget_output out;
        mpq_t exact, read, want, got;
        mpq_inits(exact, read, want, got, NULL);
        draw(&x, false, &rng);
        find(&out, &x);
        exact_sum(exact, &x, false);
        exact_sum(read, &x, true);
        mpq_set_d(want, (double)corrected(&x, sum_of(&x)));
        mpq_sub(want, want, exact);
        by_steps(want, &x);
        add_text(got, out.exact[BUDGET_REPRESENTATION]);
        add_text(got, out.exact[BUDGET_SATURATION]);
        ck_assert_msg(mpq_equal(got, want), "%s: %s and %s", rows[x.row].unit,
                      out.exact[BUDGET_REPRESENTATION], out.exact[BUDGET_SATURATION]);
        by_steps(exact, &x);
        if (gemm_reads_c(&x.g)) add_f32(exact, x.g.beta, x.c);
        if (gemm_has_bias(&x.g)) add_f32(exact, x.bias, F32_ONE);
        mpq_set_d(want, value_of_float(out.d));
        mpq_sub(want, want, exact);
        mpq_set_ui(got, 0, 1);
        for (int p = 0; p < BUDGET_PARTS; p++) {
            add_text(got, out.exact[p]);
            has[p] |= out.part[p] != 0;
        }
        ck_assert_msg(mpq_equal(got, want), "%s: parts do not add up", rows[x.row].unit);
        mpq_clears(exact, read, want, got, NULL);
        budget_clear(&out);
    }
    ck_assert(cases < 50 ||
              (has[BUDGET_REPRESENTATION] && has[BUDGET_SATURATION] && has[BUDGET_EPILOGUE]));
}
END_TEST

/* One element beyond the range, and one between two integers. */
START_TEST(parts_by_hand)
{
    static const struct {
        double a, b;
        const char *representation, *saturation;
    } known[] = { { 300, 2, "0*2^0", "-173*2^1" },
                  { -129.25, 1, "1*2^-2", "1*2^0" },
                  { 2.75, -3, "-3*2^-2", "0*2^0" },
                  { 0x1p30, 1, "0*2^0", "-1073741697*2^0" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct drawn x = { .k = 1 };
        struct budget_output out;
        x.g = gemm_of(bitcut_recipe_find("plain"), bitcut_unit_find(rows[0].unit, NULL));
        x.a[0] = bits_of_float((float)known[i].a);
        x.b[0] = bits_of_float((float)known[i].b);
        ck_assert_int_eq(gemm_plan_on_values(&x.plan, &x.g, NULL), BITCUT_OK);
        find(&out, &x);
        ck_assert_str_eq(out.exact[BUDGET_REPRESENTATION], known[i].representation);
        ck_assert_str_eq(out.exact[BUDGET_SATURATION], known[i].saturation);
        budget_clear(&out);
    }
}
END_TEST

TEST_MAIN("budgets of integers", parts_of_integers, parts_of_other_elements, parts_by_hand)
