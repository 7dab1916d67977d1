/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims about recorded speed and energy: verdicts on results made by hand and on stored
   results. */
#include "analysis/study/study.h"
#include "tests/study/sample_results.h"
#include "tests/test.h"

#include <string.h>

static json_t *rows_of_recorded(const struct results *r)
{
    const struct study_run run = { .seed = 1, .sources = { .results = r } };
    json_t *rows;
    ck_assert_int_eq(study_rows(&rows, &study_recorded, &run, NULL), BITCUT_OK);
    return rows;
}

/* The verdict on a claim by these results alone. */
static json_t *recorded_verdict(const char *name, const struct results *r)
{
    json_t *rows = rows_of_recorded(r);
    const struct claim *c = study_recorded.claims;
    while (strcmp(c->name, name) != 0) c++;
    json_t *verdict = claim_verdict("recorded", c, rows, 0, 1);
    json_decref(rows);
    return verdict;
}

static const char *said(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* Rows of a study of recipes, timed on a device but for one. */
static struct results timed_on(const char *device)
{
    static const char legemm[] = "{\"recipe\": \"legemm\"}",
                      other[] = "{\"recipe\": \"legemm\", \"equilibrate\": true}",
                      several[] = "{\"recipe\": \"legemm\", \"count\": 3}",
                      one[] = "{\"count\": 1, \"equilibrate\": false}",
                      peers[] = "{\"count\": 3, \"gflops_per_watt\": 70}";
    json_t *rows = json_pack("[o, o, o, o, o, o, o, o]",
                             sample_bench_row("x.legemm", 64, 64, 64, 3, other),
                             sample_bench_row("x.legemm", 32, 32, 32, 8, several),
                             sample_bench_row("sgemm", 64, 64, 64, 60, peers),
                             sample_bench_row("x.legemm", 64, 64, 64, 2, legemm),
                             sample_bench_row("x.legemm", 32, 32, 32, 1, legemm),
                             sample_bench_row("x.legemm", 16, 16, 16, 1, legemm),
                             sample_bench_row("sgemm", 64, 64, 64, 6, "{}"),
                             sample_bench_row("sgemm", 32, 32, 32, 4, one));
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_object_set_new(row, "device", json_string(device));
    }
    json_array_append_new(rows, sample_bench_row("sgemm", 16, 16, 16, 9, "{}"));
    return sample_results_of(rows);
}

/* Numbers of another device than the paper's are told, and nothing follows from them. */
START_TEST(claims_and_results)
{
    static const char *const device[] = { "NVIDIA A800 80GB PCIe", "NVIDIA H200" },
                             *const found[] = { "differs", "cannot" };
    for (int i = 0; i < 2; i++) {
        struct results r = timed_on(device[i]);
        json_t *verdict = recorded_verdict("square-sgemm", &r);
        ck_assert_str_eq(said(verdict, "paper"), "LE-GEMM, Table 6");
        ck_assert_str_eq(said(verdict, "verdict"), found[i]);
        ck_assert_double_eq(result_number(verdict, "printed"), 1.37);
        ck_assert_double_eq(result_number(verdict, "ours"), (3 + 4) / 2.0);
        ck_assert_double_eq(result_number(verdict, "low"), 3);
        ck_assert_double_eq(result_number(verdict, "high"), 4);
        json_decref(verdict);
        verdict = recorded_verdict("watts-sgemm", &r);
        ck_assert_str_eq(said(verdict, "verdict"), "cannot");
        ck_assert_double_eq(result_number(verdict, "ours"), 7);
        json_decref(verdict);
        verdict = recorded_verdict("wide-sgemm", &r);
        ck_assert_str_eq(said(verdict, "verdict"), "cannot");
        ck_assert(json_is_null(json_object_get(verdict, "ours")));
        json_decref(verdict);
        results_clear(&r);
    }
}
END_TEST

/* A claim that no recorded result stands beside has a name that is not there. */
START_TEST(every_claim_has_results)
{
    struct results r = { { NULL } };
    sample_read_kept(&r);
    for (const struct claim *c = study_recorded.claims; c->name; c++) {
        json_t *verdict = recorded_verdict(c->name, &r);
        ck_assert_msg(!c->judge || !json_is_null(json_object_get(verdict, "ours")), "%s",
                      c->name);
        json_decref(verdict);
    }
    results_clear(&r);
}
END_TEST

TEST_MAIN("recorded", claims_and_results, every_claim_has_results)
