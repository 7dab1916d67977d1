/* SPDX-License-Identifier: BSD-3-Clause */
/* The probe of orders, on sums written out here: known orders computed by other code,
   unknown orders, and programs that fail. */
#include "analysis/order/probe.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

/* --- programs --------------------------------------------------------------------- */

/* The sum of `count` products of one output, every operation rounded to FP32. */
typedef float sum_of(const float *product, size_t count);

struct program {
    sum_of *sum;
    int runs, fails_at; /* 0: never */
};

static float value_of(uint32_t encoding)
{
    float value;
    memcpy(&value, &encoding, sizeof value);
    return value;
}

static enum bitcut_status multiply(struct matrix *d, void *context,
                                   const struct matrix *a, const struct matrix *b,
                                   struct fault *f)
{
    struct program *const x = context;
    if (++x->runs == x->fails_at) return fault_set(f, BITCUT_UNSUPPORTED, "it fails");
    const enum bitcut_status status = matrix_init(d, a->rows, b->cols, f);
    float *const product = malloc(a->cols * sizeof *product);
    ck_assert(status == BITCUT_OK && product);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < b->cols; j++) {
            for (size_t p = 0; p < a->cols; p++)
                product[p] =
                    value_of(a->at[i * a->cols + p]) * value_of(b->at[p * b->cols + j]);
            const float sum = x->sum(product, a->cols);
            memcpy(&d->at[i * b->cols + j], &sum, sizeof sum);
        }
    free(product);
    return BITCUT_OK;
}

static enum bitcut_status probe_program_of(struct probe_result *r, struct program *x,
                                           size_t sides, size_t k, struct fault *f)
{
    const struct probe_input *input = probe_inputs;
    while (input->format != &formats[FORMAT_F32]) input++;
    const struct probe p = { multiply, x, sides, sides, k, input, test_seed(), 1, NULL };
    return probe_run(r, &p, f);
}

static struct probe_result probed(sum_of *sum, size_t sides, size_t k)
{
    struct program x = { .sum = sum };
    struct probe_result r;
    struct fault f;
    ck_assert_msg(probe_program_of(&r, &x, sides, k, &f) == BITCUT_OK, "%s", f.text);
    ck_assert_uint_eq(r.calls, (size_t)x.runs);
    return r;
}

/* --- sums ------------------------------------------------------------------------- */

static float in_order(const float *product, size_t count)
{
    float sum = 0;
    for (size_t p = 0; p < count; p++) sum += product[p];
    return sum;
}

static float in_double(const float *product, size_t count)
{
    double sum = 0;
    for (size_t p = 0; p < count; p++) sum += (double)product[p];
    return (float)sum;
}

/* Eight sums that take turns, added as a tree: NumPy's for up to 128. */
static float in_eight(const float *product, size_t count)
{
    float r[8] = { 0 };
    for (size_t p = 0; p < count; p++) r[p % 8] += product[p];
    return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
}

/* 32 lanes of a warp, added by shuffles. */
static float in_warp(const float *product, size_t count)
{
    float r[32] = { 0 };
    for (size_t p = 0; p < count; p++) r[p % 32] += product[p];
    for (int distance = 16; distance; distance /= 2)
        for (int i = 0; i < distance; i++) r[i] += r[i + distance];
    return r[0];
}

/* Three sums in turn: the first and the last one are added first. */
static float in_three(const float *product, size_t count)
{
    float r[3] = { 0 };
    for (size_t p = 0; p < count; p++) r[p / 8 % 3] += product[p];
    return (r[0] + r[2]) + r[1];
}

static float backwards(const float *product, size_t count)
{
    float sum = 0;
    for (size_t p = count; p--;) sum += product[p];
    return sum;
}

static float in_halves(const float *product, size_t count)
{
    return in_order(product, 384) + in_order(product + 384, 320) +
           in_order(product + 704, count - 704);
}

static float in_unequal_slices(const float *product, size_t count)
{
    return in_order(product, 384) + in_order(product + 384, 256) +
           in_order(product + 640, count - 640);
}

static float middle_first(const float *product, size_t count)
{
    const size_t half = count / 2;
    float sum = 0;
    for (size_t p = 0; p < half; p++)
        sum = (sum + product[half + p]) + product[half - 1 - p];
    return sum;
}

static float nothing(const float *product, size_t count)
{
    return (void)product, (void)count, 0;
}

/* --- tests ------------------------------------------------------------------------ */

START_TEST(test_order_found)
{
    struct probe_result r = probed(in_order, 16, 100);
    ck_assert(r.found && r.fit.units && !r.fit.mismatches);
    ck_assert_int_eq(r.guess.order.slices, 1);
    ck_assert_int_eq(r.guess.order.lanes, 1);
    ck_assert_uint_eq(r.guess.block, 1);
    r = probed(in_eight, 16, 96);
    ck_assert(r.found && r.fit.units && !r.fit.mismatches);
    ck_assert_int_eq(r.guess.order.lanes, 8);
    ck_assert_int_eq(r.guess.order.chunk, 1);
    ck_assert_int_eq(r.guess.order.reduction, BITCUT_TREE);
    r = probed(in_warp, 16, 256);
    ck_assert(r.found && r.fit.units && !r.fit.mismatches);
    ck_assert_int_eq(r.guess.order.lanes, 32);
    ck_assert_int_eq(r.guess.order.chunk, 1);
    ck_assert_int_eq(r.guess.order.reduction, BITCUT_HALVES);
    r = probed(in_three, 16, 100);
    ck_assert(r.found && r.fit.units && !r.fit.mismatches);
    ck_assert_int_eq(r.guess.order.lanes, 3);
    ck_assert_int_eq(r.guess.order.chunk, 8);
    ck_assert_int_eq(r.guess.order.reduction, BITCUT_HALVES);
    r = probed(in_halves, 16, 1024);
    ck_assert(r.found && r.fit.units && !r.fit.mismatches);
    ck_assert_int_eq(r.guess.order.slices, 3);
    ck_assert_int_eq(r.guess.order.tile, 384);
    ck_assert_int_eq(r.guess.order.balance_tail, 16);
}
END_TEST

/* The tree is that of an order, but no unit adds so. */
START_TEST(test_order_without_unit)
{
    const struct probe_result r = probed(in_double, 16, 100);
    ck_assert(r.found && !r.fit.units && r.fit.mismatches);
    ck_assert_ptr_nonnull(strstr(r.text, "k is added in order, in one sum"));
    ck_assert_ptr_nonnull(strstr(r.text, "comes nearest: "));
}
END_TEST

START_TEST(test_order_unknown)
{
    struct probe_result r = probed(in_unequal_slices, 32, 1024);
    ck_assert(!r.found);
    ck_assert_uint_eq(r.sums, 3);
    ck_assert_ptr_nonnull(strstr(r.text, "sums of 384, 256, 384 k."));
    ck_assert_int_eq(probed(backwards, 16, 60).guess.order.reduction, BITCUT_DESCENDING);
    ck_assert(!probed(middle_first, 16, 60).found);
}
END_TEST

START_TEST(test_failures)
{
    struct program empty = { .sum = nothing }, broken = { .sum = in_order };
    struct probe_result r = { .k = 7 };
    struct fault f;
    ck_assert_int_eq(probe_program_of(&r, &empty, 16, 64, &f), BITCUT_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(f.text, "is 0 times 2^-80 instead of 64: "));
    for (broken.fails_at = 1; broken.fails_at < 12; broken.fails_at++) {
        broken.runs = 0;
        ck_assert_int_eq(probe_program_of(&r, &broken, 16, 64, &f), BITCUT_UNSUPPORTED);
        ck_assert_str_eq(f.text, "it fails");
        ck_assert_int_eq(broken.runs, broken.fails_at);
    }
    ck_assert_uint_eq(r.k, 7);
    ck_assert_int_eq(probe_program_of(&r, &broken, 16, 0, &f), BITCUT_BAD_ARGUMENT);
}
END_TEST

TEST_MAIN("probe", test_order_found, test_order_without_unit, test_order_unknown,
          test_failures)
