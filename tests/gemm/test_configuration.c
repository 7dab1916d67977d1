/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of k as lines of text: every line that is written can be read back; errors name
   the wrong item. */
#include "lib/base/table.h"
#include "lib/gemm/configuration.h"
#include "lib/gemm/order.h"
#include "lib/number/format.h"
#include "tests/test.h"

#include <string.h>

static void check_same(const struct bitcut_order *x, const struct bitcut_order *y,
                       const char *line)
{
    ck_assert_msg(x->slices == y->slices && x->tile == y->tile &&
                      x->partial_first == y->partial_first && x->cut == y->cut &&
                      x->balance_tail == y->balance_tail && x->lanes == y->lanes &&
                      x->chunk == y->chunk && x->reduction == y->reduction &&
                      x->partial_format == y->partial_format &&
                      x->partial_store == y->partial_store && x->unroll == y->unroll &&
                      x->narrow == y->narrow &&
                      x->remainder_in_lane == y->remainder_in_lane &&
           x->slices_ascending == y->slices_ascending &&
           x->narrow_apart == y->narrow_apart &&
                      !memcmp(x->lane_order, y->lane_order, sizeof x->lane_order),
                  "%s: read as another order", line);
}

static int count(uint64_t *rng)
{
    const int most[] = { 0, 1, 9, 999999999 };
    return test_between(rng, 0, most[test_bits(rng) & 3]);
}

/* 0 and 1 slice or lane are the same. */
static int count_of_sums(uint64_t *rng)
{
    const int n = count(rng);
    return n == 1 ? 0 : n;
}

START_TEST(round_trip)
{
    uint64_t rng = test_seed();
    int all = 0;
    while (formats[all].name) all++;
    for (int i = 0; i < test_cases(20000, 1000000); i++) {
        const struct bitcut_format *const sums = &formats[test_between(&rng, 0, all)];
        struct bitcut_order o = {
            .slices = count_of_sums(&rng),
            .tile = count(&rng),
            .partial_first = test_bits(&rng) & 1,
            .cut = count(&rng),
            .balance_tail = count(&rng),
            .lanes = count_of_sums(&rng),
            .chunk = count(&rng),
            .unroll = count(&rng),
            .narrow = count(&rng),
            .remainder_in_lane = test_between(&rng, 0, 1),
            .slices_ascending = test_between(&rng, 0, 1),
            .narrow_apart = test_between(&rng, 0, 1),
            .reduction = (enum bitcut_reduction)test_between(&rng, 0, 3),
            .partial_format = sums->name ? sums : NULL,
            .partial_store = test_bits(&rng) & 1,
        };
        for (int n = test_between(&rng, 0, 1) * BITCUT_LANE_ORDER_MAX; n > 0; n--)
            o.lane_order[n - 1] =
                (unsigned char)(test_between(&rng, 0, 1) * test_between(&rng, 0, 15));
        struct bitcut_order back = { 0 };
        struct fault f;
        char text[ORDER_TEXT_MAX];
        order_write(text, &o);
        ck_assert_msg(strlen(text) < ORDER_TEXT_MAX - 1, "%s: cut short", text);
        ck_assert(!*text || *text == ',');
        ck_assert_msg(order_read(&back, *text ? text + 1 : text, &f) == BITCUT_OK,
                      "%s: %s", text, f.text);
        check_same(&back, &o, text);
    }
}
END_TEST

START_TEST(by_hand)
{
    struct bitcut_order o = { .slices = 7, .tile = 5 };
    char text[ORDER_TEXT_MAX];
    ck_assert_int_eq(order_read(&o, "", NULL), BITCUT_OK);
    ck_assert_int_eq(
        order_read(&o, "tile=32,partial-first,reduction=tree,partial-format=f16", NULL),
        BITCUT_OK);
    const struct bitcut_order want = { .slices = 7,
                                       .tile = 32,
                                       .partial_first = true,
                                       .reduction = BITCUT_TREE,
                                       .partial_format = &formats[FORMAT_F16] };
    check_same(&o, &want, "fields that are not named stay");
    order_write(text, &o);
    ck_assert_str_eq(text,
                     ",slices=7,tile=32,partial-first,reduction=tree,partial-format=f16");
    order_write(text, &(struct bitcut_order){ .slices = 1, .lanes = 1 });
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(order_read(&o, "chunk=8", NULL), BITCUT_OK);
    ck_assert_int_eq(o.chunk, 8);
    ck_assert_int_eq(order_read(&o, "lanes=2,unroll=9", NULL), BITCUT_OK);
    ck_assert_int_eq(o.unroll, 9);
    order_write(text, &(struct bitcut_order){ .lanes = 2, .chunk = 1, .unroll = 8 });
    ck_assert_str_eq(text, ",lanes=2,chunk=1,unroll=8");
    ck_assert_int_eq(order_read(&o, "lanes=3,lane-order=0.2.1,partial-store", NULL),
                     BITCUT_OK);
    ck_assert(!o.lane_order[0] && o.lane_order[1] == 2 && o.lane_order[2] == 1);
    order_write(text, &(struct bitcut_order){ .lanes = 3,
                                              .reduction = BITCUT_HALVES,
                                              .partial_store = true,
                                              .lane_order = { 1, 2 } });
    ck_assert_str_eq(text, ",lanes=3,lane-order=1.2.0,partial-store,reduction=halves");
}
END_TEST

static const struct {
    const char *list, *why;
} bad[] = {
    { "tiles=2", "invalid item \"tiles\"; expected a list such as tile=32," },
    { "tile", "invalid item \"tile\"" },
    { "lane-order", "invalid item \"lane-order\"" },
    { "lane-order=", "invalid item \"lane-order\"" },
    { "lane-order=1.", "invalid item \"lane-order\"" },
    { "lane-order=.1", "invalid item \"lane-order\"" },
    { "lane-order=0,2,1", "invalid item \"2\"" },
    { "lane-order=16.0", "invalid item \"lane-order\"" },
    { "lane-order=001", "invalid item \"lane-order\"" },
    { "lane-order=0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0", "invalid item \"lane-order\"" },
    { "partial-store=1", "invalid item \"partial-store\"" },
    { "tile=", "invalid item \"tile\"" },
    { "tile=-1", "invalid item \"tile\"" },
    { "tile= 1", "invalid item \"tile\"" },
    { "tile=1234567890", "invalid item \"tile\"" },
    { "tile=0x10", "invalid item \"tile\"" },
    { "partial-first=1", "invalid item \"partial-first\"" },
    { "slices=2,reduction", "invalid item \"reduction\"" },
    { "slices=2,reduction=bush", "unknown name \"bush\"" },
    { "reduction=ascendin", "unknown name \"ascendin\"; did you mean ascending" },
    { "sums", "invalid item \"sums\"" },
    { "partial-format=f17", "unknown name \"f17\"; did you mean f16" },
    { ",tile=2", "invalid item \"\"" },
};

START_TEST(refused)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct bitcut_order before = { .slices = 3, .chunk = 2 };
        struct bitcut_order o = before;
        struct fault f = { .text = "" };
        ck_assert_msg(order_read(&o, bad[i].list, &f) == BITCUT_BAD_ARGUMENT, "%s: taken",
                      bad[i].list);
        ck_assert_msg(strstr(f.text, bad[i].why) != NULL, "%s: says: %s", bad[i].list,
                      f.text);
        check_same(&o, &before, bad[i].list);
        ck_assert_int_eq(order_read(&o, bad[i].list, NULL), BITCUT_BAD_ARGUMENT);
    }
}
END_TEST

START_TEST(too_long)
{
    struct bitcut_order o = { 0 };
    struct fault f;
    char text[ORDER_TEXT_MAX + 1] = "";
    while (strlen(text) + 6 < ORDER_TEXT_MAX) strcat(text, "cut=3,");
    ck_assert_int_eq(order_read(&o, text, &f), BITCUT_OK);
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ck_assert_int_eq(order_read(&o, text, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(f.text, "too long") != NULL, "%s", f.text);
}
END_TEST

START_TEST(public_calls)
{
    static const char line[] =
        "slices=2,tile=32,partial-first,reduction=tree,partial-format=f16";
    struct bitcut_order o = { 0 }, back = { 0 };
    char text[BITCUT_ORDER_MAX], why[BITCUT_TEXT_MAX] = "";
    ck_assert_int_eq(bitcut_order_read(&o, line, why), BITCUT_OK);
    ck_assert(o.slices == 2 && o.tile == 32 && o.partial_first);
    bitcut_order_write(text, &o);
    ck_assert_str_eq(text, line);
    bitcut_order_write(text, &back);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(bitcut_order_read(&back, text, NULL), BITCUT_OK);
    ck_assert_int_eq(bitcut_order_read(&o, "lanes=2,slice=3", why), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(why, "invalid item \"slice\"") != NULL, "%s", why);
    ck_assert(o.slices == 2 && o.lanes == 0);
    ck_assert_int_eq(bitcut_order_read(NULL, line, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_order_read(&o, NULL, NULL), BITCUT_BAD_ARGUMENT);
}
END_TEST

TEST_MAIN("configuration", round_trip, by_hand, refused, too_long, public_calls)
