/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of a test of attention: how often correct results of new data exceed them, which
   faults they find, and verdicts. */
#include "analysis/sampling/attention_tolerance.h"
#include "lib/number/bits.h"
#include "lib/number/format.h"
#include "tests/attention/attention_case.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUERIES = 24, KEYS = 64, DIM = 16, VALUES = KEYS * DIM };

/* An attention and its matrices. */
struct problem {
    struct bitcut_attention a;
    uint32_t q[VALUES], k[VALUES], v[VALUES], o[VALUES];
};

static void draw(struct problem *p, const char *row, const char *vary, bool causal,
                 const struct bitcut_format *format, uint64_t *rng)
{
    struct bitcut_attention *const a = &p->a;
    bitcut_attention_init(a, sizeof *a);
    a->row = bitcut_attention_find(row);
    a->vary = vary;
    a->queries = QUERIES, a->keys = KEYS, a->head_dim = a->value_dim = DIM;
    a->window_right = causal ? 0 : BITCUT_UNSET;
    attention_case_fill(p->q, &a->q, 1, QUERIES, DIM, format, rng, 0, false);
    attention_case_fill(p->k, &a->k, 1, KEYS, DIM, format, rng, 0, false);
    attention_case_fill(p->v, &a->v, 1, KEYS, DIM, format, rng, 0, false);
    a->o = (struct bitcut_matrix){ .to = p->o, .format = &formats[FORMAT_F16] };
    ck_assert_int_eq(bitcut_attention(a, 1, NULL), BITCUT_OK);
}

/* Rows, and what they are compared with: the same row with other tiles and splits,
   another row, or exact attention. */
static const struct {
    const char *row, *vary, *other, *other_vary;
    bool causal, any_tiles;
} cases[] = {
    { "flash-attention-2", "", NULL, NULL, false, true },
    { "flash-attention-2", "", NULL, NULL, true, false },
    { "pytorch-flash", "splits=1", "pytorch-flash", "splits=4,block-n=16", true, false },
    { "cudnn-sm90", "", "flash-attention-2", "", false, false },
    { "plain", "", NULL, NULL, true, false },
};

/* With an alarm of 1 in 20, new data exceed a limit in about 1 of 20 results, or fewer.
 */
START_TEST(rate)
{
    static struct problem p, b;
    uint64_t rng = test_seed();
    size_t results = 0, component = 0, norm = 0;
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        const struct bitcut_format *const f16 = &formats[FORMAT_F16];
        struct bitcut_attention_tolerances limits = { .size = sizeof limits };
        struct bitcut_attention *const other = cases[t].other ? &b.a : NULL;
        const struct bitcut_attention_options o = { .size = sizeof o,
                                                    .runs = 60,
                                                    .false_alarm = 0.05,
                                                    .seed = test_seed(),
                                                    .any_tiles = cases[t].any_tiles };
        char why[BITCUT_TEXT_MAX];
        for (int i = 0; i <= test_cases(80, 2000); i++) {
            struct bitcut_attention_verdict v = { .size = sizeof v };
            draw(&p, cases[t].row, cases[t].vary, cases[t].causal, f16, &rng);
            if (other) {
                b = p;
                b.a.row = bitcut_attention_find(cases[t].other);
                b.a.vary = cases[t].other_vary;
                b.a.q.at = b.q, b.a.k.at = b.k, b.a.v.at = b.v, b.a.o.to = b.o;
                ck_assert_int_eq(bitcut_attention(&b.a, 1, why), BITCUT_OK);
            }
            if (!i) {
                ck_assert_msg(bitcut_attention_tolerance(&limits, &p.a, other, &o, 1,
                                                         why) == BITCUT_OK,
                              "%s", why);
                continue;
            }
            ck_assert_msg(bitcut_attention_tolerance_judge(&v, &limits, &p.a, other, 1,
                                                           why) == BITCUT_OK,
                          "%s", why);
            if (v.wrong) continue;
            results++;
            component += v.component > limits.limit;
            norm += v.norm > limits.norm_limit;
        }
    }
    printf("# of %zu correct results, %zu above the limit of outputs, %zu of the norm\n",
           results, component, norm);
    ck_assert_uint_le(component, results / 10);
    ck_assert_uint_le(norm, results / 10);
}
END_TEST

/* Attentions that can have all faults together, and the faults that change O by less than
   correct kernels differ. */
static const struct {
    const char *row, *vary;
    int format, window_left;
    const char *weak;
} faulty[] = {
    { "flash-attention-2", "block-n=16", FORMAT_F16, 20,
      " first-maximum f16-sums coarse-exp " },
    { "flash-attention-2", "", FORMAT_F16, BITCUT_UNSET, " f16-sums coarse-exp " },
    { "flash-attention-3-fp8", "block-n=16", FORMAT_E4M3, BITCUT_UNSET,
      " p-unscaled scale-1% coarse-exp zero-key one-query all-outputs " },
};

/* Faults that change O by more than correct kernels differ are found. */
START_TEST(faults)
{
    static struct problem p;
    static struct attention_power row[ATTENTION_POWER_MAX];
    bool seen[ATTENTION_POWER_MAX] = { false };
    uint64_t rng = test_seed();
    size_t count = 0;
    for (size_t t = 0; t < sizeof faulty / sizeof *faulty; t++) {
        struct bitcut_attention_tolerances limits = { .size = sizeof limits };
        struct fault f = { .text = "" };
        draw(&p, faulty[t].row, faulty[t].vary, t != 1, &formats[faulty[t].format], &rng);
        p.a.window_left = faulty[t].window_left;
        ck_assert_int_eq(bitcut_attention(&p.a, 1, NULL), BITCUT_OK);
        ck_assert_int_eq(bitcut_attention_tolerance(&limits, &p.a, NULL, NULL, 1, NULL),
                         BITCUT_OK);
        const enum bitcut_status status =
            attention_power(row, &count, &limits, &p.a, NULL, NULL, 10, 1, NULL, &f);
        ck_assert_msg(status == BITCUT_OK, "%s", f.text);
        for (size_t i = 0; i < count; i++) {
            char key[64];
            snprintf(key, sizeof key, " %s ", row[i].fault->key);
            printf("#%s%zu of %zu\n", key, row[i].either, row[i].runs);
            seen[i] |= row[i].runs > 0;
            if (i && !strstr(faulty[t].weak, key))
                ck_assert_uint_eq(row[i].either, row[i].runs);
        }
        ck_assert_str_eq(row[0].fault->key, "none");
        ck_assert_uint_eq(row[0].runs, 10);
        ck_assert_uint_eq(row[0].either, 0);
        ck_assert_uint_eq(limits.zeros, 0);
    }
    for (size_t i = 0; i < count; i++) ck_assert_msg(seen[i], "%s", row[i].fault->key);
}
END_TEST

/* Verdicts name the output; results do not depend on the number of threads. */
START_TEST(verdicts)
{
    static struct problem p;
    uint64_t rng = test_seed();
    struct bitcut_attention_tolerances limits = { .size = sizeof limits }, same = limits;
    struct bitcut_attention_verdict v = { .size = sizeof v };
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_attention_options o = { .size = sizeof o, .runs = 20 };
    draw(&p, "pytorch-flash", "", true, &formats[FORMAT_F16], &rng);
    ck_assert_int_eq(bitcut_attention_tolerance(&limits, &p.a, NULL, &o, 1, why),
                     BITCUT_OK);
    ck_assert_int_eq(bitcut_attention_tolerance(&same, &p.a, NULL, &o, 3, why),
                     BITCUT_OK);
    ck_assert(limits.limit == same.limit && limits.norm_limit == same.norm_limit);
    ck_assert_int_eq(bitcut_attention_tolerance_judge(&v, &limits, &p.a, NULL, 1, why),
                     BITCUT_OK);
    ck_assert(v.accepted && !v.zeros_accepted && v.above == 0);
    ck_assert_uint_eq(v.numbers, QUERIES * DIM);
    encoding_put(p.o, 2, 5 * DIM + 3, 0x4900); /* 10 */
    ck_assert_int_eq(bitcut_attention_tolerance_judge(&v, &limits, &p.a, NULL, 1, why),
                     BITCUT_OK);
    ck_assert(!v.accepted && v.above == 1 && v.row == 5 && v.column == 3);
    encoding_put(p.o, 2, 5 * DIM + 3, 0x7fff);
    ck_assert_int_eq(bitcut_attention_tolerance_judge(&v, &limits, &p.a, NULL, 1, why),
                     BITCUT_OK);
    ck_assert(!v.accepted && v.wrong == 1);
    /* Runs of half of the outputs, each with such an output: O may have two. */
    struct bitcut_attention_tolerances some = limits;
    some.wrong = 1, some.outputs = QUERIES * DIM / 2;
    for (int i = 1; i <= 3; i++) {
        encoding_put(p.o, 2, (size_t)i, 0x7e00);
        ck_assert_int_eq(bitcut_attention_tolerance_judge(&v, &some, &p.a, NULL, 1, why),
                         BITCUT_OK);
        ck_assert_uint_eq(v.wrong, (size_t)i + 1);
        ck_assert_int_eq(v.accepted, i < 2);
    }
    ck_assert_int_eq(bitcut_attention(&p.a, 1, why), BITCUT_OK);
    static struct problem twin; /* Inf is right for Inf alone */
    twin = p;
    struct bitcut_attention other = p.a;
    other.o.to = twin.o;
    for (int i = 0; i < 3; i++) {
        encoding_put(p.o, 2, 5 * DIM + 3, 0x7c00);
        encoding_put(twin.o, 2, 5 * DIM + 3, i == 0 ? 0x7c00 : i == 1 ? 0xfc00 : 0x7e00);
        ck_assert_int_eq(
            bitcut_attention_tolerance_judge(&v, &limits, &p.a, &other, 1, why),
            BITCUT_OK);
        ck_assert_uint_eq(v.wrong, i > 0);
    }
    other.keys--;
    ck_assert_int_eq(bitcut_attention_tolerance(&limits, &p.a, &other, &o, 1, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_attention_tolerance(&limits, &p.a, NULL, &o, -1, why),
                     BITCUT_BAD_ARGUMENT);
    limits.size = 4;
    ck_assert_int_eq(bitcut_attention_tolerance(&limits, &p.a, NULL, &o, 1, why),
                     BITCUT_BAD_ARGUMENT);
}
END_TEST

TEST_MAIN("attention tolerance", rate, faults, verdicts)
