/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs as lines of text: every line that is written can be read back, for all
   variations; the error for an invalid line names the wrong item. */
#include "emu/gemm.h"
#include "emu/gemm_text.h"
#include "emu/unit.h"
#include "lib/base/table.h"
#include "lib/gemm/configuration.h"
#include "lib/gemm/order.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* Whether two GEMMs have the same values where a line says some; a slice or lane is none.
 */
static bool same_order(const struct bitcut_order *x, const struct bitcut_order *y)
{
    const int slices[] = { x->slices ? x->slices : 1, y->slices ? y->slices : 1 };
    const int lanes[] = { x->lanes ? x->lanes : 1, y->lanes ? y->lanes : 1 };
    return slices[0] == slices[1] && lanes[0] == lanes[1] && x->tile == y->tile &&
           x->partial_first == y->partial_first && x->cut == y->cut &&
           x->balance_tail == y->balance_tail && x->chunk == y->chunk &&
           x->reduction == y->reduction && x->partial_format == y->partial_format &&
           x->partial_store == y->partial_store && x->unroll == y->unroll &&
           x->narrow == y->narrow && x->remainder_in_lane == y->remainder_in_lane &&
           x->slices_ascending == y->slices_ascending &&
           x->narrow_apart == y->narrow_apart &&
           !memcmp(x->lane_order, y->lane_order, sizeof x->lane_order);
}

static bool same_configuration(const struct bitcut_gemm *x, const struct bitcut_gemm *y)
{
    return x->recipe == y->recipe && x->unit == y->unit && x->split_a == y->split_a &&
           x->split_b == y->split_b && x->high == y->high && x->low == y->low &&
           x->scale == y->scale && x->dropped_term == y->dropped_term &&
           x->promote == y->promote && x->tile_k == y->tile_k &&
           x->equilibrate == y->equilibrate && same_order(&x->order, &y->order);
}

static void check_round_trip(const struct bitcut_gemm *g)
{
    struct bitcut_gemm back;
    struct fault f;
    char line[CONFIGURATION_LINE_MAX], again[CONFIGURATION_LINE_MAX];
    configuration_line_write(line, g);
    ck_assert_msg(configuration_line_read(&back, line, &f) == BITCUT_OK, "%s: %s", line,
                  f.text);
    configuration_line_write(again, &back);
    ck_assert_str_eq(again, line);
    ck_assert_msg(same_configuration(&back, g), "%s: read back as another one", line);
    ck_assert_uint_eq(back.size, sizeof back);
    ck_assert(back.m == 0 && back.a.at == NULL && back.beta == 0 &&
              back.alpha == 0x3f800000 && back.count == 1);
}

/* What a plan says of each field makes the same plan again. */
static void check_planned(const struct bitcut_gemm *g, const struct gemm_plan *plan)
{
    struct bitcut_gemm back = gemm_of(g->recipe, g->unit);
    struct gemm_plan again;
    for (const struct configuration_field *x = configuration_fields; x->name; x++) {
        const struct configuration_value v = configuration_planned(plan, x);
        enum configuration_outcome set = CONFIGURATION_SET;
        if (x->kind == CONFIGURATION_SPLIT && !bitcut_split_find(v.text)) continue;
        if (x->kind == CONFIGURATION_LANES)
            set = *v.lanes ? configuration_set(&back, x, v.lanes) : CONFIGURATION_SET;
        else if (x->kind != CONFIGURATION_FLAG)
            set = v.text ? configuration_set(&back, x, v.text)
                         : configuration_set_number(&back, x, v.number);
        else if (v.number) set = configuration_set(&back, x, NULL);
        ck_assert_msg(set == CONFIGURATION_SET, "%s: %s %d", x->name, v.text, v.number);
    }
    ck_assert_int_eq(gemm_plan_on_unit(&again, &back, NULL), BITCUT_OK);
    for (const struct configuration_field *x = configuration_fields; x->name; x++) {
        const struct configuration_value v = configuration_planned(plan, x),
                                         w = configuration_planned(&again, x);
        ck_assert_msg(
            !v.text == !w.text && v.number == w.number && !strcmp(v.lanes, w.lanes) &&
                (!v.text || !strcmp(v.text, w.text)),
            "%s: %s %d, not %s %d", x->name, w.text, w.number, v.text, v.number);
    }
}

/* Every recipe on every unit that can execute it. */
START_TEST(all_rows)
{
    int pairs = 0;
    for (const struct bitcut_recipe *r = recipes; r->name; r++)
        for (const struct bitcut_unit *u = units; u->name; u++) {
            const struct bitcut_gemm g = gemm_of(r, u);
            struct gemm_plan plan;
            if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
            check_round_trip(&g);
            check_planned(&g, &plan);
            pairs++;
        }
    ck_assert_int_gt(pairs, 200);
}
END_TEST

/* A row of a table of `count` rows, or NULL as often as not. */
#define ROW_OR_NONE(rows, count, rng)                                                    \
    (test_bits(rng) & 1 ? NULL : &(rows)[test_between(rng, 0, (count)-1)])

static int rows_in(struct table t)
{
    int n = 0;
    for (const void *row = NULL; (row = table_next(t, row));) n++;
    return n;
}

static int number(uint64_t *rng, int low, int high)
{
    return test_bits(rng) & 1 ? low : test_between(rng, low, high);
}

static void vary_order(struct bitcut_order *o, uint64_t *rng)
{
    *o = (struct bitcut_order){ .slices = number(rng, 0, 5),
                                .tile = number(rng, 0, 999999999),
                                .partial_first = test_bits(rng) & 1,
                                .cut = number(rng, 0, 64),
                                .balance_tail = number(rng, 0, 64),
                                .lanes = number(rng, 0, 4),
                                .chunk = number(rng, 0, 64),
                                .unroll = number(rng, 0, 64),
                                .narrow = number(rng, 0, 8),
                                .remainder_in_lane = test_bits(rng) & 1,
                                .slices_ascending = test_bits(rng) & 1,
                                .narrow_apart = test_bits(rng) & 1,
                                .reduction = (enum bitcut_reduction)number(rng, 0, 3),
                                .partial_store = test_bits(rng) & 1 };
    const bool reversed = test_bits(rng) & 1;
    for (int i = 0; i < o->lanes && reversed; i++)
        o->lane_order[i] = (unsigned char)(o->lanes - 1 - i);
    o->partial_format = ROW_OR_NONE(formats, rows_in(TABLE(formats)), rng);
}

static void vary(struct bitcut_gemm *g, uint64_t *rng)
{
    const int all_splits = rows_in(TABLE(splits)), all = rows_in(TABLE(roundings));
    g->split_a = ROW_OR_NONE(splits, all_splits, rng);
    g->split_b = test_bits(rng) & 1 ? g->split_a : ROW_OR_NONE(splits, all_splits, rng);
    g->high = ROW_OR_NONE(roundings, all, rng);
    g->low = ROW_OR_NONE(roundings, all, rng);
    g->scale = number(rng, BITCUT_UNSET, 60);
    g->dropped_term = number(rng, BITCUT_UNSET, 1);
    g->promote = number(rng, BITCUT_UNSET, 9);
    g->tile_k = number(rng, BITCUT_UNSET, 4096);
    g->equilibrate = test_bits(rng) & 1;
    vary_order(&g->order, rng);
}

START_TEST(variations)
{
    const int all_recipes = rows_in(TABLE(recipes)), all_units = rows_in(TABLE(units));
    const int wanted = test_cases(3000, 100000);
    uint64_t rng = test_seed();
    int found = 0;
    for (long tries = 0; found < wanted && tries < 1000L * wanted; tries++) {
        struct bitcut_gemm g = gemm_of(&recipes[test_between(&rng, 0, all_recipes - 1)],
                                       &units[test_between(&rng, 0, all_units - 1)]);
        struct gemm_plan plan;
        vary(&g, &rng);
        if (gemm_plan_on_unit(&plan, &g, NULL) != BITCUT_OK) continue;
        check_round_trip(&g);
        if (g.split_a == g.split_b) check_planned(&g, &plan);
        found++;
    }
    ck_assert_int_eq(found, wanted);
}
END_TEST

/* What a line says, field by field, by hand. */
START_TEST(by_hand)
{
    struct bitcut_gemm g;
    struct fault f;
    ck_assert_int_eq(
        configuration_line_read(
            &g,
            "ootomo@a100,split-a=halfhalf,split-b=bitcut,high=rz,low=rn,scale=10,"
            "terms=4,promote=2,tile-k=64,equilibrate,slices=3,tile=32,partial-first,"
            "cut=8,balance-tail=16,lanes=2,chunk=4,reduction=tree,partial-format=f16",
            &f),
        BITCUT_OK);
    ck_assert_ptr_eq(g.recipe, &recipes[RECIPE_OOTOMO]);
    ck_assert_ptr_eq(g.unit, unit_find("a100", &formats[FORMAT_F16]));
    ck_assert_str_eq(g.split_a->name, "halfhalf");
    ck_assert_str_eq(g.split_b->name, "bitcut");
    ck_assert_str_eq(g.high->name, "rz");
    ck_assert_str_eq(g.low->name, "rn");
    ck_assert(g.scale == 10 && g.dropped_term == 1 && g.promote == 2 && g.tile_k == 64);
    ck_assert(g.equilibrate && g.order.slices == 3 && g.order.tile == 32);
    ck_assert(g.order.partial_first && g.order.cut == 8 && g.order.balance_tail == 16);
    ck_assert(g.order.lanes == 2 && g.order.chunk == 4);
    ck_assert_int_eq(g.order.reduction, BITCUT_TREE);
    ck_assert_ptr_eq(g.order.partial_format, &formats[FORMAT_F16]);

    ck_assert_int_eq(configuration_line_read(&g, "plain@mi210,split=half", &f),
                     BITCUT_OK);
    ck_assert_ptr_eq(g.split_a, g.split_b);
    ck_assert_str_eq(g.split_a->name, "half");
    ck_assert_int_eq(configuration_line_read(&g, "plain@v100,high=rz", &f), BITCUT_OK);
    ck_assert(!g.split_a && !g.split_b);
    ck_assert_ptr_eq(g.unit, unit_find("v100", &formats[FORMAT_F16]));
    ck_assert_int_eq(configuration_line_read(&g, "ootomo-tf32@a100", &f), BITCUT_OK);
    ck_assert_ptr_eq(g.unit, unit_find("a100", &formats[FORMAT_TF32]));
    ck_assert_int_eq(configuration_line_read(&g, "fp32@fma/f32,promote=0", &f),
                     BITCUT_OK);
    ck_assert_int_eq(g.promote, 0);
}
END_TEST

/* Parts of a recipe without splits keep the unit's format, whatever is varied of them. */
START_TEST(parts_of_units)
{
    static const char *const varied[] = { "high=rz", "high=rz,low=rna", "scale=10",
                                          "low=rz", "high=rz,low=rz,scale=10" };
    int units_tried = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
        struct gemm_plan plan, own;
        if (gemm_plan_on_unit(&own, &g, NULL) != BITCUT_OK) continue;
        units_tried++;
        for (size_t i = 0; i < sizeof varied / sizeof *varied; i++) {
            char line[CONFIGURATION_LINE_MAX];
            struct fault f = { .text = "" };
            snprintf(line, sizeof line, "plain@%s,%s", u->name, varied[i]);
            ck_assert_msg(configuration_line_read(&g, line, &f) == BITCUT_OK, "%s: %s",
                          line, f.text);
            ck_assert_int_eq(gemm_plan_on_unit(&plan, &g, NULL), BITCUT_OK);
            const struct split_part *const a = plan.split_a.part, *const b =
                                                                      plan.split_b.part;
            ck_assert_msg(a->format == own.split_a.part->format &&
                              b->format == own.split_b.part->format &&
                              plan.split_a.parts == 1 && plan.split_b.parts == 1,
                          "%s: parts of another format", line);
            const struct bitcut_rounding *const wanted = *varied[i] == 'h'
                                                             ? bitcut_rounding_find("rz")
                                                             : own.split_a.part->rounding;
            ck_assert_msg(a->rounding == wanted && b->rounding == wanted, "%s", line);
        }
    }
    ck_assert_int_gt(units_tried, 20);
}
END_TEST

/* Lines that say no way, and what is said of each. */
static const struct {
    const char *line, *why;
} bad[] = {
    { "", "expected RECIPE@UNIT" },
    { "legemm", "expected RECIPE@UNIT such as legemm@mi210, found \"legemm\"" },
    { "legemm,promote=2@mi210", "expected RECIPE@UNIT" },
    { "@mi210", "unknown recipe \"\"" },
    { "legem@mi210", "unknown recipe \"legem\"; did you mean legemm" },
    { "LEGEMM@mi210", "unknown recipe \"LEGEMM\"; did you mean legemm" },
    { " legemm@mi210", "unknown recipe" },
    { "legemm@", "unknown unit" },
    { "legemm@mi21", "unknown unit \"mi21\"; did you mean " },
    { "legemm@mi210 ", "unknown unit" },
    { "legemm@mi210@mi210", "unknown unit \"mi210@mi210\"" },
    { "ootomo-tf32@v100",
      "v100 has no instruction for tf32, the format of the parts of ootomo-tf32" },
    { "legemm@mi210,", "unknown setting \"\"" },
    { "legemm@mi210,,promote=2", "unknown setting \"\"" },
    { "legemm@mi210,speed=2",
      "unknown setting \"speed\"; use, for example, split=bitcut" },
    { "legemm@mi210,promote", "unknown setting \"promote\"" },
    { "legemm@mi210,promote=", "promote=: invalid value for promote" },
    { "legemm@mi210,promote=-1", "promote=-1: invalid value for promote" },
    { "legemm@mi210,promote=2x", "promote=2x: invalid value for promote" },
    { "legemm@mi210,promote=1234567890", "invalid value for promote" },
    { "legemm@mi210,promote=2=3", "promote=2=3: invalid value for promote" },
    { "legemm@mi210,scale=61", "scale must be 0 to 60" },
    { "legemm@mi210,split=halfalf",
      "unknown split \"halfalf\"; did you mean half, halfhalf" },
    { "legemm@mi210,split", "unknown setting \"split\"" },
    { "legemm@mi210,high=up", "unknown rounding \"up\"" },
    { "legemm@mi210,terms=7", "terms=7: invalid value for terms" },
    { "legemm@mi210,terms=2", "terms=2: invalid value for terms" },
    { "legemm@mi210,equilibrate=1", "equilibrate=1: invalid value for equilibrate" },
    { "legemm@mi210,partial-first=1", "unknown setting \"partial-first\"" },
    { "legemm@mi210,slices=two", "unknown setting \"slices\"" },
    { "legemm@mi210,reduction=bush", "unknown setting \"reduction\"" },
};

START_TEST(refused)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bitcut_gemm g = { .m = 77 };
        struct fault f = { .text = "" };
        ck_assert_msg(configuration_line_read(&g, bad[i].line, &f) == BITCUT_BAD_ARGUMENT,
                      "%s: taken", bad[i].line);
        ck_assert_int_eq(f.status, BITCUT_BAD_ARGUMENT);
        ck_assert_msg(strstr(f.text, bad[i].why) != NULL, "%s: says: %s", bad[i].line,
                      f.text);
        ck_assert(g.m == 77 && !g.recipe);
        ck_assert_int_eq(configuration_line_read(&g, bad[i].line, NULL),
                         BITCUT_BAD_ARGUMENT);
    }
}
END_TEST

/* The row of a table with the longest name. */
static const void *longest(struct table t)
{
    const struct table_row *found = NULL;
    for (const struct table_row *row = NULL; (row = table_next(t, row));)
        if (!found || strlen(row->name) > strlen(found->name)) found = row;
    return found;
}

START_TEST(lengths)
{
    struct bitcut_gemm g = gemm_of(longest(TABLE(recipes)), longest(TABLE(units)));
    char line[CONFIGURATION_LINE_MAX], order[ORDER_TEXT_MAX];
    g.split_a = g.split_b = longest(TABLE(splits));
    g.high = g.low = longest(TABLE(roundings));
    g.scale = g.promote = g.tile_k = 999999999;
    g.dropped_term = 1;
    g.equilibrate = true;
    g.order = (struct bitcut_order){ 999999999,
                                     999999999,
                                     true,
                                     999999999,
                                     999999999,
                                     999999999,
                                     999999999,
                                     BITCUT_DESCENDING,
                                     longest(TABLE(formats)),
                                     true,
                                     { 15, 14, 13, 12, 11, 10, 15, 14, 13, 12, 11, 10, 15,
                                       14, 13, 12 },
                                     999999999,
                                     999999999,
                                     true,
                                     true,
                                     true };
    configuration_line_write(line, &g);
    ck_assert_uint_lt(strlen(line), CONFIGURATION_LINE_MAX - 1);
    ck_assert_str_eq(line + strlen(line) - strlen(g.order.partial_format->name),
                     g.order.partial_format->name);
    order_write(order, &g.order);
    ck_assert_uint_lt(strlen(order), ORDER_TEXT_MAX - 1);
    ck_assert_str_eq(order + strlen(order) - strlen(g.order.partial_format->name),
                     g.order.partial_format->name);

    /* As long as a line can be, and one more. */
    for (int more = 0; more < 2; more++) {
        char text[CONFIGURATION_LINE_MAX + 1];
        struct fault f;
        memset(text, 'x', sizeof text);
        memcpy(text, "legemm@", 7);
        text[CONFIGURATION_LINE_MAX - 1 + more] = 0;
        ck_assert_int_eq(configuration_line_read(&g, text, &f), BITCUT_BAD_ARGUMENT);
        ck_assert_msg(!strstr(f.text, "too long") == !more, "%s", f.text);
    }
}
END_TEST

START_TEST(public_calls)
{
    static const char line[] = "ootomo@ampere/mma.m16n8k16.f32.f16,scale=10,slices=2";
    struct bitcut_gemm g;
    char text[BITCUT_GEMM_MAX] = "as it was", why[BITCUT_TEXT_MAX] = "";
    bitcut_gemm_init(&g, sizeof g);
    g.m = 77;
    ck_assert_int_eq(bitcut_gemm_write(text, &g), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_write(text, NULL), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_write(NULL, &g), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(text, "as it was");
    ck_assert_int_eq(bitcut_gemm_read(&g, "ootomo@a101", why), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(why, "did you mean a100") != NULL, "%s", why);
    ck_assert_int_eq(bitcut_gemm_read(NULL, line, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_read(&g, NULL, NULL), BITCUT_BAD_ARGUMENT);
    ck_assert(g.m == 77 && !g.recipe);
    ck_assert_int_eq(bitcut_gemm_read(&g, line, NULL), BITCUT_OK);
    ck_assert(g.size == sizeof g && g.m == 0 && g.scale == 10 && g.order.slices == 2);
    ck_assert_int_eq(bitcut_gemm_write(text, &g), BITCUT_OK);
    ck_assert_str_eq(text, line);
}
END_TEST

TEST_MAIN("way", all_rows, variations, by_hand, parts_of_units, refused, lengths,
          public_calls)
