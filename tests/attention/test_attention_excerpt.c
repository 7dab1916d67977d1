/* SPDX-License-Identifier: BSD-3-Clause */
/* Excerpts of attention: exact attention, and the outputs of rows, are those of the whole
   attention, for all masks; an output that is no number is in the excerpt. */
#include "analysis/sampling/attention_excerpt.h"
#include "emu/attention/attention_plan.h"
#include "lib/number/bits.h"
#include "tests/attention/attention_case.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 20, QUERIES = 200, KEYS = 600, DIM = 6 };

static uint32_t q[HEADS * QUERIES * DIM], k[HEADS * KEYS * DIM], v[HEADS * KEYS * DIM];
static uint32_t o[HEADS * QUERIES * DIM], exact[HEADS * QUERIES * DIM];
static char items[ITEMS_MAX];

static void draw(struct bitcut_attention *a, const struct bitcut_attention_row *row,
                 uint64_t *rng)
{
    static const int windows[] = { BITCUT_UNSET, 0, 3, 70 };
    const struct bitcut_format *const format =
        row->operand == &formats[FORMAT_E4M3] ? row->operand : &formats[FORMAT_F16];
    bitcut_attention_init(a, sizeof *a);
    a->row = row;
    a->kv_heads = (size_t)test_between(rng, 1, 3);
    a->heads = a->kv_heads * (size_t)test_between(rng, 1, 6);
    a->queries = (size_t)test_between(rng, 1, QUERIES);
    a->keys = (size_t)test_between(rng, 1, test_between(rng, 0, 3) ? 90 : KEYS);
    a->head_dim = (size_t)test_between(rng, 1, DIM);
    a->value_dim = (size_t)test_between(rng, 1, DIM);
    a->window_left = windows[test_between(rng, 0, 3)];
    a->window_right = windows[test_between(rng, 0, 3)];
    attention_case_fill(q, &a->q, a->heads, a->queries, a->head_dim, format, rng, 1,
                        false);
    attention_case_fill(k, &a->k, a->kv_heads, a->keys, a->head_dim, format, rng, 1,
                        false);
    attention_case_fill(v, &a->v, a->kv_heads, a->keys, a->value_dim, format, rng, 1,
                        !test_between(rng, 0, 3));
    a->o = (struct bitcut_matrix){ .to = o,
                                   .format = &formats[FORMAT_F16],
                                   .stride = a->queries * a->value_dim };
}

/* The first output that is no number is in the excerpt. */
static void check_wild(const struct attention_excerpt *x)
{
    const struct bitcut_attention *const a = &x->whole;
    const size_t per = a->queries * a->value_dim;
    size_t at = 0, head = 0, query = 0;
    while (at < a->heads * per &&
           isfinite(format_to_double(a->o.format, encoding_get(o, 2, at))))
        at++;
    if (at == a->heads * per) return;
    while (head < x->heads && x->head[head] != at / per) head++;
    while (query < x->queries && x->query[query] != at % per / a->value_dim) query++;
    ck_assert_msg(head < x->heads && query < x->queries, "output %zu is not there", at);
}

/* Binary64 has errors below 2^-35 of the largest |V|, which is below 16. */
static void check_near(double x, double y)
{
    ck_assert_msg(!isfinite(y) ? isnan(x) == isnan(y) && (isnan(y) || x == y)
                               : fabs(x - y) <= 0x1p-30,
                  "%.17g is not %.17g", x, y);
}

/* Every output of the excerpt is that of the whole attention. */
static void check_outputs(const struct attention_excerpt *x,
                          const struct attention_excerpt *all, const void *run)
{
    const size_t dim = x->whole.value_dim, per = x->queries * dim;
    for (size_t i = 0; i < x->outputs; i++) {
        const size_t at =
            (x->head[i / per] * x->whole.queries + x->query[i % per / dim]) * dim +
            i % dim;
        ck_assert_msg(encoding_get(run, 2, i) == encoding_get(o, 2, at),
                      "%s: output %zu is %#llx, not %#llx", x->whole.row->name, at,
                      (unsigned long long)encoding_get(run, 2, i),
                      (unsigned long long)encoding_get(o, 2, at));
        ck_assert_uint_eq(encoding_get(x->rounded, 2, i), encoding_get(exact, 2, at));
        check_near(x->size[i], all->size[at]);
        check_near(x->exact[i], all->exact[at]);
    }
}

static void check(const struct bitcut_attention *a, double products, size_t *some)
{
    struct attention_excerpt x, all;
    struct bitcut_attention by, own = *a;
    char line[BITCUT_ATTENTION_MAX];
    void *run;
    struct fault f = { .text = "" };
    own.o.to = exact;
    ck_assert_int_eq(bitcut_attention(a, 1, NULL), BITCUT_OK);
    ck_assert_int_eq(bitcut_attention_exact(&own, 1, NULL), BITCUT_OK);
    ck_assert_msg(attention_excerpt_make(&all, a, true, INFINITY, 1, NULL, &f) ==
                      BITCUT_OK,
                  "%s", f.text);
    ck_assert_uint_eq(all.outputs, all.total);
    ck_assert_msg(attention_excerpt_make(&x, a, true, products, 1, NULL, &f) == BITCUT_OK,
                  "%s", f.text);
    ck_assert_msg(attention_excerpt_plan(&by, line, &x, a->row, a->vary, &f) == BITCUT_OK,
                  "%s", f.text);
    ck_assert_msg(attention_excerpt_run(&run, &x, &by, 1, NULL, &f) == BITCUT_OK, "%s",
                  f.text);
    ck_assert_uint_gt(x.outputs, 0);
    check_outputs(&x, &all, run);
    check_wild(&x);
    *some += x.outputs < x.total;
    free(run);
    attention_excerpt_clear(&x);
    attention_excerpt_clear(&all);
}

START_TEST(same)
{
    uint64_t rng = test_seed();
    size_t some = 0;
    for (const struct bitcut_attention_row *row = attention_rows; row->name; row++)
        for (int i = test_cases(160, 1600); i; i--) {
            struct bitcut_attention a, taken;
            draw(&a, row, &rng);
            const int count = test_between(&rng, 0, 3);
            if (count) snprintf(items, sizeof items, "splits=%d", count);
            else
                snprintf(items, sizeof items, "splits=0,processors=%d",
                         test_between(&rng, 1, 60));
            if (!row->p_divided && !row->q_block) a.vary = items;
            ck_assert_int_eq(attention_take(&taken, &a, NULL), BITCUT_OK);
            check(&taken, exp2(test_between(&rng, 0, 22)), &some);
        }
    ck_assert_uint_gt(some, 10);
}
END_TEST

TEST_MAIN("attention excerpt", same)
