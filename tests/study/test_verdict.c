/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts for each kind of claim: on rows made by hand that agree, and on the same rows
   changed so that they do not; and points of studies. */
#include "analysis/study/bootstrap.h"
#include "analysis/study/compare.h"
#include "analysis/study/study.h"
#include "lib/io/json_value.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct claim *claim_of(const struct study *study, const char *name)
{
    for (const struct claim *c = study->claims; c->name; c++)
        if (!strcmp(c->name, name)) return c;
    ck_abort_msg("no claim %s", name);
}

static const char *said(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* What is wrong unless the claim has this verdict by these rows, which are released. */
static void check(const struct study *study, const char *name, const char *verdict,
                  json_t *rows)
{
    ck_assert_ptr_nonnull(rows);
    json_t *got = claim_verdict(study->name, claim_of(study, name), rows, 0, 1);
    ck_assert_msg(!strcmp(said(got, "verdict"), verdict), "%s: %s (%s), not %s", name,
                  said(got, "verdict"), said(got, "reason"), verdict);
    ck_assert(strlen(said(got, "reason")) > 0 && strlen(said(got, "claim")) > 0);
    json_decref(got);
    json_decref(rows);
}

/* JSON with ' in place of quotes. */
static json_t *quoted(const char *text)
{
    char json[200];
    snprintf(json, sizeof json, "%s", text);
    for (char *c = json; *c; c++)
        if (*c == '\'') *c = '"';
    json_t *const value = json_loads(json, 0, NULL);
    ck_assert_msg(value, "%s", json);
    return value;
}

/* --- kinds of claims -------------------------------------------------------------- */

static json_t *length_rows(double bits, bool agrees)
{
    return json_pack("[{s:s, s:s, s:f, s:b}, {s:s, s:s, s:f, s:b}]", "m12", "0", "m0",
                     "*", "bits", 5.75, "agrees", true, "m12", "*", "m0", "*", "bits",
                     bits, "agrees", agrees);
}

/* One number, and flags. */
START_TEST(numbers)
{
    check(&study_table1, "table1-expected", "differs", length_rows(22.75, true));
    check(&study_table1, "table1-expected", "agrees", length_rows(23.75, true));
    check(&study_table1, "table1-expected", "differs", length_rows(23.74, true));
    check(&study_table1, "table1-rows", "agrees", length_rows(23.75, true));
    check(&study_table1, "table1-rows", "differs", length_rows(23.75, false));
}
END_TEST

/* bits of halfhalf at an exponent. */
static json_t *range_rows(double at_0, double at_14)
{
    return json_pack("[{s:s, s:i, s:f}, {s:s, s:i, s:f}, {s:s, s:i, s:f}]", "split",
                     "halfhalf", "exponent", 0, "bits", at_0, "split", "halfhalf",
                     "exponent", 14, "bits", at_14, "split", "half", "exponent", 0,
                     "bits", 11.0);
}

/* A sentence about values: every one counts, and none of another split. */
START_TEST(limits)
{
    check(&study_figure9, "figure9-halfhalf", "agrees", range_rows(23.75, 23.5));
    check(&study_figure9, "figure9-halfhalf", "differs", range_rows(23.75, 21.9));
    check(&study_figure9, "figure9-halfhalf", "differs", range_rows(21.9, 23.75));
}
END_TEST

/* Rows of versions that did not count the implicit bit become those of this one, whose
   rows stay. */
START_TEST(renewed)
{
    static const struct {
        const char *old, *now;
    } rows[] = {
        { "{'split': 'half', 'bits': 11.5, 'p_overflow': 0.25}",
          "{'split': 'half', 'bits': 12.25, 'p_overflow': 0.25, 'bits_of': 24}" },
        { "{'split': 'half', 'bits': 0.0, 'p_overflow': 0.0}",
          "{'split': 'half', 'bits': 0.0, 'p_overflow': 0.0, 'bits_of': 24}" },
        { "{'bits': null}", "{'bits': null, 'bits_of': 24}" },
        { "{'len_printed': 23.0, 'len_least': 21, 'len_most': 23, 'prob': 0.25, 'bits': "
          "5.5}",
          "{'len_printed': 24.0, 'len_least': 22, 'len_most': 24, 'prob': 0.25, "
          "'bits': 5.75, 'bits_of': 24}" },
        { "{'bits': 5.75, 'bits_of': 24}", "{'bits': 5.75, 'bits_of': 24}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *const row = quoted(rows[i].old), *const want = quoted(rows[i].now);
        study_renew_bits(row);
        char *const text = json_dumps(row, JSON_COMPACT);
        ck_assert_msg(json_equal(row, want), "row %zu: %s", i, text);
        free(text);
        json_decref(row);
        json_decref(want);
    }
    ck_assert(study_table1.renew == study_renew_bits &&
              study_table2.renew == study_renew_bits &&
              study_figure9.renew == study_renew_bits &&
              study_underflow.renew == study_renew_bits);
}
END_TEST

static json_t *residual_row(const char *recipe, int k, int round, double relres)
{
    return json_pack("{s:s, s:i, s:i, s:f}", "recipe", recipe, "k", k, "round", round,
                     "relres", relres);
}

/* As studies write what may be infinite. */
static json_t *overflowing_row(const char *recipe, int k, double relres)
{
    json_t *row = residual_row(recipe, k, 0, 0);
    json_object_set_new(row, "relres", json_number(relres));
    return row;
}

/* A sentence about ratios of averages: those of 1 and 2 over 2 are 0.75. */
START_TEST(ratios)
{
    for (int i = 0; i < 2; i++)
        check(&study_figure5, "figure5-rn", i ? "differs" : "agrees",
              json_pack("[o, o, o]", residual_row("mma_rn", 16, 0, i ? 9 : 2),
                        residual_row("fp32", 16, 0, 2),
                        residual_row("mma_rn", 32, 0, 100)));
}
END_TEST

/* Seeds that agree with each other decide, those that do not do not. */
START_TEST(seeds_decide)
{
    static const struct {
        double even, odd; /* residuals over FP32's */
        const char *verdict;
    } cases[] = { { 1.0, 1.1, "agrees" },
                  { 2.4, 2.6, "differs" },
                  { 1.0, 3.4, "undecided" },
                  { 1.0, 2.6, "undecided" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = json_array();
        for (int round = 0; round < 8; round++) {
            json_array_append_new(rows,
                                  residual_row("mma_rn", 16, round,
                                               round % 2 ? cases[i].odd : cases[i].even));
            json_array_append_new(rows, residual_row("fp32", 16, round, 1));
        }
        json_t *verdict =
            claim_verdict("s", claim_of(&study_figure5, "figure5-rn"), rows, 0, 1);
        const json_t *interval = json_object_get(verdict, "interval");
        const double low = json_number_value(json_array_get(interval, 0)),
                     high = json_number_value(json_array_get(interval, 1));
        ck_assert(low < row_number(verdict, "ours") &&
                  high > row_number(verdict, "ours"));
        json_decref(verdict);
        check(&study_figure5, "figure5-rn", cases[i].verdict, rows);
    }
}
END_TEST

/* The interval is that of the normal distribution, or wider where runs are few: of n
   numbers 1 and 3, half of each, the mean is 2 and its standard error 1 / sqrt(n). */
START_TEST(intervals)
{
    static const struct {
        size_t n;
        double wide;
    } cases[] = { { 4, 1.875 }, { 10, 1.217 }, { 64, 1.03 } };
    for (size_t i = 0; i < 3; i++) {
        struct bootstrap_run runs[64];
        for (size_t k = 0; k < cases[i].n; k++)
            runs[k] = (struct bootstrap_run){ k % 2 ? 3 : 1, 1, 1, 1 };
        const struct bootstrap_ratio r = bootstrap_ratio_of(runs, cases[i].n, false);
        const double half = cases[i].wide * 1.96 / sqrt((double)cases[i].n) / 2;
        ck_assert_double_eq(r.value, 2);
        ck_assert_double_eq_tol(log(r.high / 2), half, half / 3);
        ck_assert_msg(r.low < 2 && log(2 / r.low) > half / 1.5, "%g", r.low);
        const struct bootstrap_ratio again = bootstrap_ratio_of(runs, cases[i].n, false);
        ck_assert(r.low == again.low && r.high == again.high);
    }
    const struct bootstrap_run one = { 3, 2, 1, 1 }, none = { 0, 1, 1, 1 };
    ck_assert_double_eq(bootstrap_ratio_of(&one, 1, false).high, 1.5);
    ck_assert_double_eq(bootstrap_ratio_of(&none, 1, false).high, 0);
}
END_TEST

/* Two methods that both overflow are not as accurate as each other; two without errors
 * are. */
START_TEST(no_ratios)
{
    static const double error[] = { 0, INFINITY };
    for (int i = 0; i < 2; i++)
        check(&study_figure5, "figure5-rn", i ? "differs" : "agrees",
              json_pack("[o, o, o, o]", residual_row("mma_rn", 16, 0, 1),
                        residual_row("fp32", 16, 0, 1),
                        overflowing_row("mma_rn", 32, error[i]),
                        overflowing_row("fp32", 32, error[i])));
}
END_TEST

/* Several sentences: the first one fails, or the second. */
START_TEST(sentences)
{
    for (int i = 0; i < 3; i++)
        check(&study_figure1, "figure1-markidis-large", i ? "differs" : "agrees",
              json_pack("[o, o, o, o]",
                        residual_row("markidis", 16, 0, i == 2 ? 0.6 : 0.1),
                        residual_row("plain", 16, 0, 1),
                        residual_row("markidis", 65536, 0, i == 1 ? 0.4 : 1),
                        residual_row("plain", 65536, 0, 1)));
}
END_TEST

/* A sentence that is also true of what it should be false of. */
START_TEST(others)
{
    for (int i = 0; i < 2; i++)
        check(&study_figure1, "figure1-ootomo", i ? "cannot" : "agrees",
              json_pack("[o, o, o]", residual_row("ootomo", 16, 0, 1),
                        residual_row("plain", 16, 0, i ? 1 : 100),
                        residual_row("fp32", 16, 0, 1)));
}
END_TEST

static json_t *square_row_of(int n, const char *recipe, const char *reference, int round,
                             double mred)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:f}", "unit", "mi210", "recipe", recipe,
                     "reference", reference, "n", n, "round", round, "mred", mred);
}

static json_t *square_row(const char *recipe, const char *reference, int round,
                          double mred)
{
    return square_row_of(512, recipe, reference, round, mred);
}

/* A printed ratio, 178.93, against ratios of averages, each within a factor of 2; the
   choices are told, also of sizes and references that do not count. */
START_TEST(choices)
{
    static const struct {
        double markidis;
        const char *verdict;
    } cases[] = {
        { 200, "undecided" }, { 400, "agrees" }, { 3000, "differs" }, { 50, "differs" }
    };
    const struct claim *c = claim_of(&study_legemm, "mi210-mred-markidis");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = json_pack(
            "[o, o, o, o, o, o, o]", square_row("markidis", "fp32", 0, cases[i].markidis),
            square_row("legemm", "fp32", 0, 1),
            square_row("legemm-gradual", "fp32", 0, i == 1 ? 5 : 2),
            square_row("legemm", "exact", 0, 2), square_row("markidis", "exact", 0, 1e9),
            square_row_of(128, "markidis", "fp32", 0, 7e7),
            square_row_of(128, "legemm", "fp32", 0, 1e4));
        json_t *verdict = claim_verdict("legemm", c, rows, 0, 1);
        ck_assert_msg(!strcmp(said(verdict, "verdict"), cases[i].verdict), "%g: %s",
                      cases[i].markidis, said(verdict, "reason"));
        ck_assert_double_eq(row_number(verdict, "high"), cases[i].markidis);
        ck_assert_ptr_nonnull(strstr(said(verdict, "reason"), "exact reference 5e+08"));
        ck_assert_ptr_nonnull(strstr(said(verdict, "reason"), "n=128 7e+03"));
        ck_assert_ptr_nonnull(strstr(said(verdict, "reason"), "assumed: n of 512 and"));
        ck_assert_ptr_nonnull(strstr(said(verdict, "evidence"), "not run on AMD"));
        ck_assert_str_eq(said(verdict, "origin"), "paper");
        json_decref(verdict);
        json_decref(rows);
    }
}
END_TEST

/* Averages are over all runs: 100 and 300 over 1 and 1 are 200, not 173. */
START_TEST(averages)
{
    json_t *rows =
        json_pack("[o, o, o, o]", square_row("markidis", "fp32", 0, 100),
                  square_row("markidis", "fp32", 1, 300),
                  square_row("legemm", "fp32", 0, 1), square_row("legemm", "fp32", 1, 1));
    json_t *verdict = claim_verdict(
        "legemm", claim_of(&study_legemm, "mi210-mred-markidis"), rows, 0, 1);
    ck_assert_double_eq(row_number(verdict, "ours"), 200);
    json_decref(verdict);
    json_decref(rows);
}
END_TEST

static json_t *layer_row(int k, double mred)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:f}", "layer", "llm", "unit", "a800",
                     "recipe", "legemm", "k", k, "mred", mred);
}

START_TEST(growth)
{
    for (int i = 0; i < 2; i++)
        check(&study_layers, "layers-a800-llm", i ? "differs" : "agrees",
              json_pack("[o, o, o]", layer_row(4096, 2), layer_row(64, 1),
                        layer_row(11008, i ? 0.9 : 1.1)));
}
END_TEST

static json_t *speed_row(const char *device, double tflops)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:f}", "bench", "recipes", "shapes", "square",
                     "recipe", "ootomo", "device", device, "tflops", tflops);
}

static void check_speed(const char *verdict, const char *reason, json_t *rows)
{
    json_t *got = claim_verdict("recorded", claim_of(&study_recorded, "tflops-halfhalf"),
                                rows, 0, 1);
    ck_assert_str_eq(said(got, "verdict"), verdict);
    ck_assert_str_eq(said(got, "device"), "A100");
    ck_assert_msg(strstr(said(got, "reason"), reason) == said(got, "reason"), "%s",
                  said(got, "reason"));
    json_decref(got);
    json_decref(rows);
}

/* What was measured on a device is judged by its rows alone, and never by others, whose
   names may begin with its own. */
START_TEST(devices)
{
    check_speed("agrees", "51;",
                json_pack("[o]", speed_row("NVIDIA A100-PCIE-40GB", 51)));
    check_speed("differs", "40, 0.784 times",
                json_pack("[o, o]", speed_row("NVIDIA H200", 51),
                          speed_row("NVIDIA A100-PCIE-40GB", 40)));
    check_speed("cannot", "it takes A100 hardware; on NVIDIA A1000: 51;",
                json_pack("[o]", speed_row("NVIDIA A1000", 51)));
    check_speed(
        "cannot", "it takes A100 hardware; on NVIDIA H200, GA100: 2 cases give 50 to 52;",
        json_pack("[o, o]", speed_row("NVIDIA H200", 50), speed_row("GA100", 52)));
}
END_TEST

/* What is needed, whatever stands beside it, and of its own device, too. */
START_TEST(needs)
{
    json_t *rows = json_pack("[o]", speed_row("NVIDIA A800", 51));
    json_t *verdict =
        claim_verdict("recorded", claim_of(&study_recorded, "a800-model"), rows, 0, 1);
    ck_assert_str_eq(said(verdict, "verdict"), "cannot");
    ck_assert_str_eq(said(verdict, "reason"),
                     "it takes the manual parameters, which are not published");
    ck_assert(json_is_null(json_object_get(verdict, "ours")));
    json_decref(verdict);
    verdict =
        claim_verdict("recorded", claim_of(&study_recorded, "mi210-model"), rows, 0, 1);
    ck_assert_str_eq(said(verdict, "reason"), "it takes MI210 hardware and the manual "
                                              "parameters, which are not published");
    json_decref(verdict);
    json_decref(rows);
}
END_TEST

/* Every claim of speed or energy is one of a device. */
START_TEST(speed)
{
    for (const struct claim *c = study_recorded.claims; c->name; c++)
        ck_assert_msg(c->device && *c->device, "%s is of no device", c->name);
}
END_TEST

/* --- all claims ------------------------------------------------------------------- */

/* On no rows, or with points missing, nothing is claimed; names are unique. */
START_TEST(no_rows)
{
    json_t *names = json_object(), *none = json_array();
    size_t count = 0;
    for (const struct claim *c = NULL; (c = study_claim_next(c)); count++) {
        const struct study *of = study_of_claim(c);
        ck_assert_msg(!json_object_get(names, c->name), "%s twice", c->name);
        json_object_set_new(names, c->name, json_true());
        ck_assert_msg(c->judge || c->needs, "%s has no judge", c->name);
        ck_assert_msg(c->printed || c->number > 0, "%s: nothing is printed", c->name);
        for (size_t missing = 0; missing < 2; missing++) {
            json_t *verdict = claim_verdict(of->name, c, none, missing, 2);
            ck_assert_msg(!strcmp(said(verdict, "verdict"), "cannot"), "%s: %s", c->name,
                          said(verdict, "verdict"));
            ck_assert(json_is_null(json_object_get(verdict, "ours")) || !missing);
            json_decref(verdict);
        }
    }
    ck_assert_uint_ge(count, 100);
    json_decref(names);
    json_decref(none);
}
END_TEST

/* Lists of conditions. */
START_TEST(conditions)
{
    json_t *row = json_pack("{s:s, s:i, s:f, s:b, s:s, s:n}", "a", "one", "n", 128, "x",
                            0.5, "is", 1, "far", "inf", "none");
    ck_assert(row_is(row, NULL) && row_is(row, "") && row_is(row, "a=one n=128 x=0.5"));
    ck_assert(row_is(row, "a=two|one is=true") && row_is(row, "none=|x"));
    ck_assert(!row_is(row, "a=on") && !row_is(row, "a=one|two n=64"));
    ck_assert(!row_is(row, "a=ones|onto") && !row_is(row, "b=one"));
    ck_assert(row_number(row, "far") > 1e300 && row_number(row, "n") == 128);
    ck_assert(row_number(row, "none") != row_number(row, "none"));
    json_decref(row);
}
END_TEST

/* --- points ----------------------------------------------------------------------- */

struct taken {
    size_t last, count;
    json_t *rows;
};

static void take(void *context, size_t at, json_t *rows)
{
    struct taken *t = context;
    ck_assert(!t->count || at > t->last);
    t->last = at;
    t->count++;
    json_array_extend(t->rows, rows);
    json_decref(rows);
}

static json_t *computed(const struct study *study, const bool *wanted, int threads,
                        uint64_t seed, size_t *count)
{
    const struct study_run run = { .seed = seed, .threads = threads };
    struct taken t = { .rows = json_array() };
    ck_assert_int_eq(study_compute(study, &run, wanted, take, &t, NULL), BITCUT_OK);
    *count = t.count;
    return t.rows;
}

/* The verdicts on all claims of a study, by their names. */
static json_t *verdicts_by(const struct study *study, uint64_t seed)
{
    size_t count;
    json_t *rows = computed(study, NULL, 2, seed, &count), *all = json_object();
    for (const struct claim *c = study->claims; c->name; c++) {
        json_t *verdict = claim_verdict(study->name, c, rows, 0, 1);
        json_object_set(all, c->name, json_object_get(verdict, "verdict"));
        json_decref(verdict);
    }
    json_decref(rows);
    return all;
}

/* Verdicts are the same for any seed, of the studies that take no more than a second. */
START_TEST(stable)
{
    static const struct study *const cheap[] = { &study_figure5, &study_figure9,
                                                 &study_xf32 };
    for (size_t i = 0; i < sizeof cheap / sizeof *cheap; i++) {
        json_t *first = verdicts_by(cheap[i], 1);
        for (uint64_t seed = 2; seed <= 3; seed++) {
            json_t *next = verdicts_by(cheap[i], seed);
            ck_assert_msg(json_equal(first, next), "%s, seed %u: %s, not %s",
                          cheap[i]->name, (unsigned)seed, json_dumps(next, 0),
                          json_dumps(first, 0));
            json_decref(next);
        }
        json_decref(first);
    }
}
END_TEST

/* Points are the same alone, in any company, and on any number of threads; seeds differ
   from point to point and from study to study. */
START_TEST(points)
{
    enum { MOST = 64 };
    const struct study *const study = &study_figure5;
    const size_t total = study->points(study, STUDY_SMALL);
    bool odd[MOST], even[MOST];
    size_t count;
    ck_assert_uint_le(total, MOST);
    for (size_t i = 0; i < total; i++) even[i] = !(odd[i] = i % 2);
    json_t *all = computed(study, NULL, 1, test_seed(), &count);
    ck_assert_uint_eq(count, total);
    json_t *again = computed(study, NULL, 3, test_seed(), &count);
    ck_assert(json_equal(all, again));
    json_decref(again);
    json_t *first = computed(study, odd, 2, test_seed(), &count);
    ck_assert_uint_eq(count, total / 2);
    json_t *second = computed(study, even, 2, test_seed(), &count);
    ck_assert_uint_eq(json_array_size(first) + json_array_size(second),
                      json_array_size(all));
    ck_assert(json_equal(json_array_get(second, 0), json_array_get(all, 0)));
    json_decref(first);
    json_decref(second);
    json_decref(all);
    ck_assert(study_seed(study, 0, 1) != study_seed(study, 1, 1));
    ck_assert(study_seed(study, 0, 1) != study_seed(study, 0, 2));
    ck_assert(study_seed(study, 0, 1) != study_seed(&study_figure4, 0, 1));
}
END_TEST

TEST_MAIN("verdict", numbers, limits, renewed, ratios, seeds_decide, intervals, no_ratios,
          sentences, others, choices, averages, growth, devices, needs, speed, no_rows,
          conditions, stable, points)
