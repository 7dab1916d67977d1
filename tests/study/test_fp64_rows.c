/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the study of FP64 schemes: numbers that follow from the definitions, and what
   rows of wrong schemes do to verdicts. */
#include "analysis/study/compare.h"
#include "analysis/study/study.h"
#include "tests/study/sample_results.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *word_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static void append(void *context, size_t at, json_t *rows)
{
    (void)at;
    json_array_extend(context, rows);
    json_decref(rows);
}

/* The rows of one point at the scale `small`. */
static json_t *rows_of_point(size_t at)
{
    const struct study_run run = { .seed = test_seed(), .threads = 1 };
    bool wanted[1024] = { false };
    json_t *rows = json_array();
    ck_assert_uint_le(study_fp64.points(&study_fp64, STUDY_SMALL), 1024);
    wanted[at] = true;
    ck_assert_int_eq(study_compute(&study_fp64, &run, wanted, append, rows, NULL),
                     BITCUT_OK);
    return rows;
}

/* --- numbers ---------------------------------------------------------------------- */

/* Products of parts by counting: slices i and j with i + j up to S + 1, or one for each
   modulus and the first one of the accurate mode. */
static int products_of(const char *scheme, int parts)
{
    int count = 0;
    if (!strcmp(scheme, "fp64")) return 1;
    if (!strcmp(scheme, "gemmul8")) return parts + 1;
    if (!strcmp(scheme, "gemmul8-fast")) return parts;
    for (int i = 1; i <= parts; i++)
        for (int j = 1; j <= parts; j++) count += i + j <= parts + 1;
    return count;
}

/* FP64 additions of ozimmu-ef: products of one weight, sums of k products of 14 bits, are
   one number as long as s32 holds their sum. */
static int additions_of(int parts, double k)
{
    int count = 0;
    for (int level = 1; level <= parts; level++)
        for (int i = 0, held = 0; i < level; i++, held++) {
            if (held && log2(held + 1) + ceil(log2(k)) + 14 <= 31) continue;
            held = 0;
            count++;
        }
    return count;
}

static void check_row(const json_t *row, const json_t *first)
{
    const char *const scheme = word_of(row, "scheme");
    const int parts = (int)row_number(row, "parts");
    const double k = row_number(row, "k");
    ck_assert_double_eq(row_number(row, "products"), products_of(scheme, parts));
    ck_assert_double_eq(row_number(row, "dgemm"), row_number(first, "error"));
    ck_assert_msg(row_number(row, "error") <= row_number(row, "bound"), "%s %d", scheme,
                  parts);
    ck_assert_msg(row_number(row, "share") <= 1, "%s %d", scheme, parts);
    ck_assert_double_eq_tol(row_number(row, "error_per_k") * k, row_number(row, "error"),
                            1e-9 * row_number(row, "error"));
    if (!strcmp(scheme, "ozimmu")) {
        ck_assert_double_eq(row_number(row, "digit_bits"),
                            fmin(7, floor((31 - ceil(log2(k))) / 2)));
        ck_assert_double_eq(row_number(row, "additions"), parts * (parts + 1) / 2);
    }
    if (!strcmp(scheme, "ozimmu-ef"))
        ck_assert_double_eq(row_number(row, "additions"), additions_of(parts, k));
    if (!strcmp(scheme, "cublas-fixed"))
        ck_assert_double_eq(row_number(row, "additions"), parts);
}

/* Fewer parts than needed have a larger relative error than multiply-adds. */
static void check_needed(const json_t *row, const json_t *first)
{
    const double needed = row_number(row, "needed"), parts = row_number(row, "parts"),
                 plain = row_number(first, "max_error");
    if (isnan(needed) || parts < needed)
        ck_assert_double_gt(row_number(row, "max_error"), plain);
    if (parts == needed) ck_assert_double_le(row_number(row, "max_error"), plain);
}

START_TEST(numbers)
{
    enum { PHI_1_K_64 = 3 * 8, POSITIVE_K_256 = 8 * 8, LONG = 17 * 8 };
    static const size_t points[] = { PHI_1_K_64, POSITIVE_K_256, LONG };
    static const char *const keys[] = { "input", "scheme", "unit",    "k",
                                        "round", "parts",  "products" };
    for (int i = 0; i < 3; i++) {
        json_t *rows = rows_of_point(points[i]);
        const json_t *const first = json_array_get(rows, 0);
        ck_assert_str_eq(word_of(first, "scheme"), "fp64");
        ck_assert_str_eq(word_of(first, "input"), i ? "urand(0,1)" : "phi(1)");
        ck_assert_double_eq(row_number(first, "k"), i == 2 ? 262144 : i ? 256 : 64);
        ck_assert_uint_eq(json_array_size(rows), i == 2 ? 6 : 42);
        for (size_t at = 0; at < json_array_size(rows); at++) {
            const json_t *const row = json_array_get(rows, at);
            ck_assert_uint_eq(json_object_size(row), json_object_size(first));
            for (size_t key = 0; key < sizeof keys / sizeof *keys; key++)
                ck_assert(json_object_get(row, keys[key]) &&
                          !json_is_null(json_object_get(row, keys[key])));
            check_row(row, first);
            check_needed(row, first);
        }
        json_decref(rows);
    }
}
END_TEST

/* --- wrong schemes ---------------------------------------------------------------- */

/* The verdict after a key of some rows was multiplied. */
static const char *verdict_with(const char *claim, const char *where, const char *key,
                                double factor, json_t *rows)
{
    static char found[32];
    const struct claim *c = study_fp64.claims;
    json_t *copy = json_deep_copy(rows);
    while (strcmp(c->name, claim) != 0) c++;
    for (size_t i = 0; i < json_array_size(copy); i++) {
        json_t *row = json_array_get(copy, i);
        if (!row_is(row, where)) continue;
        json_t *const old = json_object_get(row, key);
        if (json_is_boolean(old)) json_object_set_new(row, key, json_false());
        else if (json_is_number(old))
            json_object_set_new(row, key, json_real(json_number_value(old) * factor));
    }
    json_t *verdict = claim_verdict("fp64", c, copy, 0, 1);
    snprintf(found, sizeof found, "%s", word_of(verdict, "verdict"));
    json_decref(verdict);
    json_decref(copy);
    return found;
}

/* What wrong code would compute: digits of a bit less or more, a missing diagonal of
   products, sums that the unit rounds, no groups of sums, a modulus that is not used,
   scales that are too large. */
START_TEST(wrong_schemes)
{
    static const struct {
        const char *claim, *where, *key;
        double factor;
    } cases[] = {
        { "fp64-width", "scheme=ozimmu k=262144", "digit_bits", 7. / 6 },
        { "fp64-slice", "scheme=ozimmu-ef parts=7", "error", 2 },
        { "fp64-slice", "scheme=ozimmu-ef parts=7", "error", 0.5 },
        { "fp64-bound", "scheme=ozimmu-h", "share", 128 },
        { "fp64-unsigned", "scheme=cublas-fixed", "error", 256 },
        { "fp64-ozimmu", "scheme=ozimmu parts=9", "error", 128 },
        { "fp64-exact", "scheme=ozimmu k=1024", "exact", 0 },
        { "fp64-ef", "scheme=ozimmu-ef", "additions", 8 },
        { "fp64-ef-0.5", "scheme=ozimmu-ef", "needed", 10. / 9 },
        { "fp64-accurate-4", "scheme=gemmul8", "needed", 20. / 17 },
        { "fp64-modulus", "scheme=gemmul8 parts=14", "error", 14 },
        { "fp64-rn", "scheme=ozimmu-rn", "error", 128 },
        { "fp64-modes", "scheme=gemmul8", "error", 1e12 },
        { "fp64-wide", "scheme=gemmul8 parts=15", "error", 1e-12 },
        { "fp64-detected", "scheme=cublas-fixed", "error_per_k", 1e-6 },
        { "fp64-grade-a", "scheme=cublas-fixed k=16384|4096", "error_per_k", 1e6 },
    };
    json_t *rows = sample_study_rows(&study_fp64);
    ck_assert_uint_gt(json_array_size(rows), 1000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(
            !strcmp(verdict_with(cases[i].claim, "scheme=none", "", 1, rows), "agrees"),
            "%s does not agree", cases[i].claim);
        ck_assert_msg(!strcmp(verdict_with(cases[i].claim, cases[i].where, cases[i].key,
                                           cases[i].factor, rows),
                              "differs"),
                      "%s: %s %s times %g", cases[i].claim, cases[i].where, cases[i].key,
                      cases[i].factor);
    }
    json_decref(rows);
}
END_TEST

TEST_MAIN("fp64_rows", numbers, wrong_schemes)
