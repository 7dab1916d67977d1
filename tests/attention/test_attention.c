/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulator of attention against an independent definition, for every row and for
   random variations of its fields; any number of threads, level of vector instructions
   and mode of the processor gives the same bits; bad arguments are refused. */
#include "emu/attention/attention_run.h"
#include "emu/fast/simd.h"
#include "lib/number/bits.h"
#include "tests/attention/attention_case.h"
#include "tests/attention/attention_statement.h"
#include "tests/test.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Random faults of a kernel. */
static struct attention_slips draw_slips(uint64_t *rng)
{
    return (struct attention_slips){ .diagonal = test_between(rng, -3, 3),
                                     .keeps_o = test_between(rng, 0, 2) == 0,
                                     .keeps_sum = test_between(rng, 0, 2) == 0,
                                     .whole_tiles = test_between(rng, 0, 3) == 0,
                                     .factor = test_between(rng, 0, 1) ? 0x43800000 : 0 };
}

/* --- against the statement ------------------------------------------------------------
 */

static uint32_t canonical(uint32_t x) { return f32_is_nan(x) ? 0x7fffffff : x; }

static void check_with(struct attention_case *c, const struct attention_slips *slips)
{
    static float o[ELEMENTS_MAX], lse[HEADS_MAX * ROWS_MAX];
    struct attention_plan plan;
    struct bitcut_attention a;
    struct fault f = { .text = "" };
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_int_eq(attention_take(&a, &c->a, &f), BITCUT_OK);
    ck_assert_msg(attention_plan_make(&plan, &a, &f) == BITCUT_OK, "%s: %s", f.text,
                  c->items);
    if (slips) {
        plan.slips = *slips;
        const struct attention_options options = { .threads = 1 };
        ck_assert_msg(attention_run(&plan, &options, &f) == BITCUT_OK, "%s", f.text);
    } else ck_assert_msg(bitcut_attention(&c->a, 1, why) == BITCUT_OK, "%s", why);
    attention_statement(o, lse, &plan);
    for (size_t i = 0; i < a.heads * a.queries * a.value_dim; i++) {
        const uint32_t got = c->o[i], want = canonical(bits_of_float(o[i]));
        if (got == want) continue;
        ck_abort_msg("%s %s (%s): head %zu query %zu of %zu column %zu, keys %zu dim %zu "
                     "windows %d %d: got %08x = %g, want %08x = %g",
                     a.row->name, matrix_format(&a.q)->name, c->items,
                     i / a.value_dim / a.queries, i / a.value_dim % a.queries, a.queries,
                     i % a.value_dim, a.keys, a.head_dim, (int)a.window_left,
                     (int)a.window_right, got, (double)float_of_bits(got), want,
                     (double)o[i]);
    }
    for (size_t i = 0; i < a.heads * a.queries; i++)
        ck_assert_msg(c->lse[i] == canonical(bits_of_float(lse[i])),
                      "%s (%s): lse %zu: got %08x, want %08x", a.row->name, c->items, i,
                      c->lse[i], bits_of_float(lse[i]));
}

static void check_case(struct attention_case *c) { check_with(c, NULL); }

START_TEST(rows_as_stated)
{
    static struct attention_case c;
    uint64_t rng = test_seed();
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (int i = test_cases(60, 400); i; i--) {
            attention_case_draw(&c, r, &rng);
            check_case(&c);
        }
}
END_TEST

START_TEST(variations_as_stated)
{
    static struct attention_case c;
    uint64_t rng = test_seed() + 1;
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (int i = test_cases(100, 1000); i && strcmp(r->name, "plain"); i--) {
            attention_case_draw(&c, r, &rng);
            attention_case_vary(&c, r, &rng);
            check_case(&c);
        }
}
END_TEST

START_TEST(faults_as_stated)
{
    static struct attention_case c;
    uint64_t rng = test_seed() + 5;
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (int i = test_cases(60, 400); i; i--) {
            attention_case_draw(&c, r, &rng);
            if (strcmp(r->name, "plain")) attention_case_vary(&c, r, &rng);
            const struct attention_slips slips = draw_slips(&rng);
            check_with(&c, &slips);
        }
}
END_TEST

/* A list of queries, in any order, on operands with more padding, gives their bits, and
   writes no other query. */
START_TEST(some_queries)
{
    static struct attention_case c;
    static uint32_t want[ELEMENTS_MAX];
    uint64_t rng = test_seed() + 6;
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (int i = test_cases(100, 400); i; i--) {
            struct attention_plan plan;
            struct attention_operands x;
            struct attention_place place[2];
            struct bitcut_attention a;
            struct fault f;
            char why[BITCUT_TEXT_MAX];
            attention_case_draw(&c, r, &rng);
            const size_t n = c.a.value_dim;
            if (strcmp(r->name, "plain"))
                snprintf(c.items, sizeof c.items, "block-m=4,block-n=4");
            ck_assert_int_eq(bitcut_attention(&c.a, 1, why), BITCUT_OK);
            memcpy(want, c.o, c.a.heads * c.a.o.stride * sizeof *want);
            memset(c.o, 0x55, c.a.heads * c.a.o.stride * sizeof *want);
            ck_assert_int_eq(attention_take(&a, &c.a, &f), BITCUT_OK);
            ck_assert_int_eq(attention_plan_make(&plan, &a, &f), BITCUT_OK);
            for (int j = 0; j < 2; j++) {
                place[j] = (struct attention_place){
                    (size_t)test_between(&rng, 0, (int)a.heads - 1),
                    (size_t)test_between(&rng, 0, (int)a.queries - 1), 1
                };
                place[j].count =
                    (size_t)test_between(&rng, 1, (int)(a.queries - place[j].query));
            }
            ck_assert_int_eq(attention_operands_make(&x, &plan, ROWS_MAX + 100, 1),
                             BITCUT_OK);
            const struct attention_options o = {
                .threads = 2, .only = place, .only_count = 2, .operands = &x
            };
            ck_assert_int_eq(attention_run(&plan, &o, &f), BITCUT_OK);
            for (size_t at = 0; at < a.heads * a.queries * n; at++) {
                bool listed = false;
                for (int j = 0; j < 2; j++) {
                    const size_t first = place[j].head * a.queries + place[j].query;
                    listed |= at / n >= first && at / n < first + place[j].count;
                }
                ck_assert_uint_eq(c.o[at], listed ? want[at] : 0x55555555);
            }
            attention_operands_clear(&x);
        }
}
END_TEST

/* More splits than threads that merge them. */
START_TEST(many_splits)
{
    static struct attention_case c;
    uint64_t rng = test_seed() + 4;
    for (int i = test_cases(20, 100); i; i--) {
        attention_case_draw(&c, &attention_rows[2 * (i & 1)], &rng);
        c.a.keys = ROWS_MAX;
        c.a.value_dim = 4;
        attention_case_fill(c.k, &c.a.k, 1, ROWS_MAX, c.a.head_dim, c.a.q.format, &rng, 0,
                            false);
        attention_case_fill(c.v, &c.a.v, 1, ROWS_MAX, 4, c.a.q.format, &rng, 1, false);
        c.a.o.stride = c.a.queries * 4;
        snprintf(c.items, sizeof c.items, "block-n=1,splits=%d",
                 test_between(&rng, 17, 40));
        check_case(&c);
    }
}
END_TEST

/* --- the same bits --------------------------------------------------------------------
 */

/* Larger sizes, so that there are several blocks and tiles. */
static void large_draw(struct attention_case *c, const struct bitcut_attention_row *row,
                       uint64_t *rng)
{
    attention_case_draw(c, row, rng);
    c->a.queries = 37;
    c->a.keys = ROWS_MAX;
    c->a.value_dim = 17;
    c->a.head_dim = 33;
    attention_case_vary(c, row, rng);
    const struct bitcut_format *const format = c->a.q.format;
    attention_case_fill(c->q, &c->a.q, c->a.heads, 37, 33, format, rng, 1, false);
    attention_case_fill(c->k, &c->a.k, 1, ROWS_MAX, 33, format, rng, 1, false);
    attention_case_fill(c->v, &c->a.v, 1, ROWS_MAX, 17, format, rng, 1, false);
    c->a.o.stride = 37 * 17;
}

START_TEST(same_bits)
{
    static struct attention_case c;
    static uint32_t want[ELEMENTS_MAX];
    uint64_t rng = test_seed() + 2;
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++) {
        if (!strcmp(r->name, "plain")) continue;
        for (int i = test_cases(8, 40); i; i--) {
            large_draw(&c, r, &rng);
            fenv_t saved;
            char why[BITCUT_TEXT_MAX];
            const size_t bytes = c.a.heads * c.a.o.stride * sizeof *want;
            ck_assert_int_eq(bitcut_attention(&c.a, 1, why), BITCUT_OK);
            memcpy(want, c.o, bytes);
            for (const struct simd_level *l = simd_levels; l->name; l++) {
                const struct attention_options o = { .threads = test_between(&rng, 1, 4),
                                                     .simd = l };
                if (!l->supported()) continue;
                fegetenv(&saved);
                test_host_mode(test_between(&rng, 0, 7));
                memset(c.o, 0, bytes);
                const enum bitcut_status status = attention_call(&c.a, &o, why);
                fesetenv(&saved);
                ck_assert_msg(status == BITCUT_OK, "%s", why);
                for (size_t at = 0; at < bytes / sizeof *want; at++)
                    ck_assert_msg(
                        want[at] == c.o[at],
                        "%s %s (%s): level %s, %d threads: output %zu: %08x, with "
                        "one thread %08x",
                        r->name, c.a.q.format->name, c.items, l->name, o.threads, at,
                        c.o[at], want[at]);
            }
        }
    }
}
END_TEST

/* --- splits and refusals --------------------------------------------------------------
 */

/* num_splits_heuristic() for 132 multiprocessors: what kernels of PyTorch 2.11 on an H200
   did. */
START_TEST(numbers_of_splits)
{
    ck_assert_uint_eq(attention_splits(212, 264, 8), 1);
    ck_assert_uint_eq(attention_splits(2, 264, 1), 1);
    ck_assert_uint_eq(attention_splits(2, 264, 2), 2);
    ck_assert_uint_eq(attention_splits(1, 264, 40), 40);
    ck_assert_uint_eq(attention_splits(16, 264, 40), 14);
    ck_assert_uint_eq(attention_splits(211, 264, 40), 5);
    ck_assert_uint_eq(attention_splits(100, 264, 40), 5);
    ck_assert_uint_eq(attention_splits(5, 264, 7), 7);
    ck_assert_uint_eq(attention_splits(7, 264, 200), 29);
}
END_TEST

static void refused(struct bitcut_attention *a, const char *part)
{
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_int_eq(bitcut_attention(a, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_msg(strstr(why, part) != NULL, "%s: not \"%s\"", why, part);
}

START_TEST(refusals)
{
    static struct attention_case c;
    uint64_t rng = test_seed() + 3;
    const struct bitcut_attention_row *const r = attention_rows;
    char why[BITCUT_TEXT_MAX];
    attention_case_draw(&c, r, &rng);
    ck_assert_int_eq(bitcut_attention(NULL, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_attention(&c.a, -1, why), BITCUT_BAD_ARGUMENT);
#define REFUSED(member, value, part)                                                     \
    do {                                                                                 \
        struct bitcut_attention a = c.a;                                                 \
        a.member = value;                                                                \
        refused(&a, part);                                                               \
    } while (0)
    REFUSED(size, 8, "size");
    REFUSED(row, NULL, "row");
    REFUSED(kv_heads, 0, "multiple");
    REFUSED(kv_heads, 5, "multiple");
    REFUSED(head_dim, 0, "head_dim");
    REFUSED(window_left, -2, "window");
    REFUSED(scale, 0xbf800000, "scale");
    REFUSED(scale, 0x7f800000, "scale");
    REFUSED(q.at, NULL, "Q is missing");
    REFUSED(o.to, (char *)c.o + 1, "O is misaligned");
    REFUSED(v.ld, 0 * c.a.keys + (c.a.value_dim - 1 ? c.a.value_dim - 1 : SIZE_MAX), "V");
    REFUSED(k.format, &formats[FORMAT_F32], "one format");
    REFUSED(vary, "block=3", "unknown field");
    REFUSED(vary, "block-n", "requires a value");
    REFUSED(vary, "block-n=-3", "cannot be");
    REFUSED(vary, "exp=expf", "base 2");
    REFUSED(vary, "lanes=3", "power of two");
    REFUSED(vary, "chunk=0", "chunk");
    c.a.keys = 20;
    REFUSED(vary, "p-divided=yes,splits=1,block-n=16", "block-n=0");
    REFUSED(vary, "splits=5000", "splits");
    REFUSED(unit_qk, bitcut_unit_find("fma/f64", NULL), "does not multiply");
}
END_TEST

/* Every field is read and written as the same text. */
START_TEST(fields)
{
    const char *name, *what;
    char text[ATTENTION_TEXT_MAX], item[2 * ATTENTION_TEXT_MAX];
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++) {
        struct bitcut_attention_row copy = attention_rows[0];
        struct fault f;
        for (size_t i = 0; attention_field(&name, &what, text, r, i); i++) {
            snprintf(item, sizeof item, "%s=%s", name, text);
            ck_assert_msg(attention_vary(&copy, item, &f) == BITCUT_OK, "%s: %s", item,
                          f.text);
        }
        for (size_t i = 0; attention_field(&name, &what, text, r, i); i++) {
            char own[ATTENTION_TEXT_MAX];
            attention_field(&name, &what, own, &copy, i);
            ck_assert_str_eq(own, text);
        }
    }
}
END_TEST

TEST_MAIN("attention", rows_as_stated, variations_as_stated, faults_as_stated,
          some_queries, many_splits, same_bits, numbers_of_splits, refusals, fields)
