/* SPDX-License-Identifier: BSD-3-Clause */
/* The probe of orders, on sums written out here: known orders computed by other code,
   unknown orders, and programs that fail. */
#include "analysis/order/probe.h"
#include "analysis/order/probe_sizes.h"
#include "analysis/order/probe_tree.h"
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

/* An order with an unrolled loop, in panels, and promotion to a second sum. */
static struct {
    size_t panel, lanes, chunk, round, promote;
} loop;

/* One sum from `start` on, of the products from, from + 1, ..., to - 1 of a panel that
   `lane` takes. */
static float sum_in_turn(const float *product, size_t from, size_t to, size_t lane,
                         size_t lanes, float start)
{
    float sum = start, held = 0;
    size_t done = 0;
    for (size_t p = from; p < to; p++) {
        if (p / loop.chunk % lanes != lane) continue;
        sum += product[p];
        if (++done != loop.promote) continue;
        held += sum;
        sum = 0;
        done = 0;
    }
    return held + sum;
}

static float panel_in_rounds(const float *product, size_t count)
{
    const size_t rounds = count / loop.round * loop.round;
    float sum = 0;
    for (size_t lane = 0; lane < loop.lanes; lane++) {
        const float own = sum_in_turn(product, 0, rounds, lane, loop.lanes, 0);
        sum = lane ? sum + own : own;
    }
    return sum_in_turn(product, rounds, count, 0, 1, sum);
}

static float in_rounds(const float *product, size_t count)
{
    float sum = 0;
    for (size_t p = 0; p < count; p += loop.panel) {
        const size_t left = count - p;
        const float own =
            panel_in_rounds(product + p, left < loop.panel ? left : loop.panel);
        sum = p ? sum + own : own;
    }
    return sum;
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

/* The tree of an order with an unrolled loop is what is measured of one. */
START_TEST(test_tree_of_rounds)
{
    uint64_t rng = test_seed();
    const struct probe_input *input = probe_inputs;
    while (input->format != &formats[FORMAT_F32]) input++;
    for (int i = test_cases(60, 1000); i; i--) {
        struct program x = { .sum = in_rounds };
        struct probe_sizes sizes;
        struct probe_tree t;
        const size_t k = (size_t)test_between(&rng, 2, 60);
        loop.panel = (size_t)test_between(&rng, 1, 60);
        if (loop.panel > k) loop.panel = k;
        loop.lanes = (size_t)test_between(&rng, 2, 4);
        loop.chunk = (size_t)test_between(&rng, 1, 4);
        loop.round = (size_t)test_between(&rng, 1, 20);
        loop.promote = test_between(&rng, 0, 1) ? 0 : (size_t)test_between(&rng, 1, 9);
        const struct probe_guess guess = {
            .order = { .slices = (int)((k + loop.panel - 1) / loop.panel),
                       .cut = (int)loop.panel,
                       .lanes = (int)loop.lanes,
                       .chunk = (int)loop.chunk,
                       .unroll = (int)loop.round },
            .promote = loop.promote,
            .block = 1
        };
        const struct probe p = { multiply, &x, 16, 16, k, input, test_seed(), 1, NULL };
        ck_assert_int_eq(probe_sizes_make(&sizes, &p, NULL), BITCUT_OK);
        ck_assert_int_eq(probe_tree_make(&t, &guess, k), BITCUT_OK);
        for (size_t a = 0; a < sizes.count; a++)
            for (size_t b = a + 1; b < sizes.count; b++)
                ck_assert_msg(probe_tree_below(&t, sizes.at[a], sizes.at[b]) ==
                                  probe_below(&sizes, a, b),
                              "k %zu, panels of %zu, %zu lanes, chunk %zu, round %zu, "
                              "promote %zu: %zu and %zu meet among %zu, not %zu",
                              k, loop.panel, loop.lanes, loop.chunk, loop.round,
                              loop.promote, sizes.at[a], sizes.at[b],
                              probe_tree_below(&t, sizes.at[a], sizes.at[b]),
                              (size_t)probe_below(&sizes, a, b));
        probe_tree_clear(&t);
        probe_sizes_clear(&sizes);
    }
}
END_TEST

TEST_MAIN("probe", test_tree_of_rounds, test_order_found, test_order_without_unit, test_order_unknown,
          test_failures)
