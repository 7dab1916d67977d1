/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded results: what is accepted and refused, derived keys, and the rows of figures,
   for results made by hand. */
#include "analysis/bench/benchmark_plan.h"
#include "analysis/cli/data_files.h"
#include "analysis/report/figure.h"
#include "analysis/study/distinct.h"
#include "analysis/study/results_derive.h"
#include "tests/study/sample_results.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* --- rows ------------------------------------------------------------------------- */

static const struct figure *figure(const char *name)
{
    const struct figure *g = figures;
    while (g->name && strcmp(g->name, name) != 0) g++;
    ck_assert_msg(g->name != NULL, "no figure %s", name);
    return g;
}

static double number(json_t *rows, size_t at, const char *key)
{
    const json_t *value = json_object_get(json_array_get(rows, at), key);
    ck_assert_msg(json_is_number(value), "row %zu has no number %s", at, key);
    return json_number_value(value);
}

static const char *text(json_t *rows, size_t at, const char *key)
{
    const char *value = json_string_value(json_object_get(json_array_get(rows, at), key));
    return value ? value : "(none)";
}

/* --- figures ---------------------------------------------------------------------- */

/* Sorted by n, squares of that study and part alone, none without a time. */
START_TEST(points)
{
    struct results r = sample_results_of(json_pack(
        "[o, o, o, o, o, o, o]", sample_bench_row("a", 64, 64, 64, 2, "{}"),
        sample_bench_row("a", 32, 32, 32, 1, "{}"),
        sample_bench_row("a", 32, 32, 32, 4, "{\"part\": \"product\"}"),
        sample_bench_row("a", 32, 128, 32, 1, "{}"),
        sample_bench_row("a", 32, 32, 32, 1, "{\"study\": \"tiles\"}"),
        sample_bench_row("b", 32, 32, 32, 1, "{\"ms\": null, \"tflops\": null}"),
        sample_bench_row("b", 16, 16, 16, 8, "{\"relres\": \"nan\"}")));
    json_t *rows = figure_rows(figure("speed"), &r);
    ck_assert_uint_eq(json_array_size(rows), 3);
    const double n[] = { 16, 32, 64 }, tflops[] = { 12.5, 100, 50 };
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq(number(rows, i, "n"), n[i]);
        ck_assert_double_eq(number(rows, i, "tflops"), tflops[i]);
        ck_assert_str_eq(text(rows, i, "series"), i ? "a" : "b");
    }
    json_decref(rows);
    rows = figure_rows(figure("relres"), &r);
    ck_assert_uint_eq(json_array_size(rows), 2);
    json_decref(rows);
    rows = figure_rows(figure("speed-product"), &r);
    ck_assert_uint_eq(json_array_size(rows), 1);
    ck_assert_str_eq(text(rows, 0, "series"), "a, product");
    ck_assert_double_eq(number(rows, 0, "tflops"), 25);
    json_decref(rows);
    rows = figure_rows(figure("shapes"), &r);
    ck_assert_uint_eq(json_array_size(rows), 1);
    ck_assert_str_eq(text(rows, 0, "shapes"), "wide");
    json_decref(rows);
    results_clear(&r);
}
END_TEST

/* What a figure has the file has no results for is not drawn, whatever papers print. */
START_TEST(nothing)
{
    struct results none = { { NULL } };
    struct results r = sample_results_of(json_pack(
        "[o]", sample_bench_row("a", 512, 512, 8192, 1, "{\"study\": \"splitk\"}")));
    for (const struct figure *g = figures; g->name; g++) {
        json_t *rows = figure_rows(g, &none);
        ck_assert_msg(!json_array_size(rows), "%s", g->name);
        json_decref(rows);
        rows = figure_rows(g, &r);
        const size_t count = strcmp(g->name, "splitk") == 0          ? 1 + 5
                             : strcmp(g->name, "splitk-energy") == 0 ? 1
                                                                     : 0;
        ck_assert_msg(json_array_size(rows) == count, "%s: %zu rows", g->name,
                      json_array_size(rows));
        json_decref(rows);
    }
    results_clear(&r);
}
END_TEST

/* Table 3 of Huang et al. stands after the measured values. */
START_TEST(printed_values)
{
    static const double slices[] = { 1, 2, 4, 8, 10 },
                        gflops[] = { 5641.83, 10641.9, 17577.3, 20913.4, 19182.4 };
    struct results r = sample_results_of(
        json_pack("[o]", sample_bench_row("a", 512, 512, 8192, 1,
                                          "{\"study\": \"splitk\", \"split_k\": 16}")));
    json_t *rows = figure_rows(figure("splitk"), &r);
    ck_assert_double_eq(number(rows, 0, "split_k"), 16);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_double_eq(number(rows, 1 + i, "split_k"), slices[i]);
        ck_assert_double_eq_tol(number(rows, 1 + i, "tflops"), gflops[i] / 1e3, 1e-9);
        ck_assert_str_eq(text(rows, 1 + i, "series"), "Huang et al., Table 3 (A100)");
    }
    json_decref(rows);
    results_clear(&r);
}
END_TEST

#define STAGES(stages, tile)                                                             \
    "{\"study\": \"stages\", \"recipe\": \"ootomo\", \"tile\": \"" tile                  \
    "\", \"stages\": " stages "}"

#define EQUILIBRATED(stages, tile)                                                       \
    "{\"study\": \"stages\", \"recipe\": \"ootomo\", \"equilibrate\": true, \"tile\": "  \
    "\"" tile "\", \"stages\": " stages "}"

#define BATCH(count, stages)                                                             \
    "{\"study\": \"stages\", \"recipe\": \"ootomo\", \"tile\": \"8x8x8\", "              \
    "\"count\": " count ", \"stages\": " stages "}"

/* Over one stage of the same tile on the same shape, of as many GEMMs; none said is one.
 */
START_TEST(speedups)
{
    struct results r = sample_results_of(
        json_pack("[o, o, o, o, o, o, o]",
                  sample_bench_row("three", 64, 64, 64, 2, STAGES("3", "8x8x8")),
                  sample_bench_row("one", 64, 64, 64, 9, EQUILIBRATED("1", "8x8x8")),
                  sample_bench_row("one", 64, 64, 64, 8, BATCH("2", "1")),
                  sample_bench_row("one", 64, 64, 64, 5, STAGES("1", "8x8x8")),
                  sample_bench_row("four", 64, 64, 64, 1, BATCH("1", "4")),
                  sample_bench_row("one", 32, 32, 32, 7, STAGES("1", "8x8x8")),
                  sample_bench_row("other", 64, 64, 64, 1, STAGES("2", "8x8x16"))));
    json_t *rows = figure_rows(figure("stages"), &r);
    ck_assert_uint_eq(json_array_size(rows), 2 + 3);
    ck_assert_str_eq(text(rows, 0, "name"), "three");
    ck_assert_double_eq(number(rows, 0, "speedup"), 2.5);
    ck_assert_str_eq(text(rows, 1, "name"), "four");
    ck_assert_double_eq(number(rows, 1, "speedup"), 5);
    json_decref(rows);
    results_clear(&r);
}
END_TEST

/* Kernels that the tile model chose for a recipe are one line, others not. */
START_TEST(chosen)
{
    static const char *const rows[][2] = {
        { "{\"tile\": \"8x4x2\", \"stages\": 3, \"rank\": 1}", "x.legemm.f16.promote4" },
        { "{\"tile\": \"8x4x2\", \"stages\": 3, \"rank\": 2}",
          "x.legemm.f16.8x4x2.3.promote4" },
        { "{\"tile\": \"8x4x2\", \"stages\": 3, \"rank\": null}",
          "x.legemm.f16.8x4x2.3.promote4" },
        { "{\"tile\": \"8x4x2\", \"stages\": 2, \"rank\": 1}",
          "x.legemm.f16.8x4x2.3.promote4" },
        { "{\"tile\": \"8x4x2\", \"stages\": 3, \"rank\": 1, \"study\": \"tiles\"}",
          "x.legemm.f16.8x4x2.3.promote4" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct results r = sample_results_of(
            json_pack("[o]", sample_bench_row("x.legemm.f16.8x4x2.3.promote4", 64, 64, 64,
                                              1, rows[i][0])));
        ck_assert_str_eq(text(r.rows[RESULT_BENCH], 0, "label"), rows[i][1]);
        results_clear(&r);
    }
}
END_TEST

/* Over one product of f16 parts, three: a third of the fastest hgemm, and of the data
   sheet's rate, which is that of another device's. */
START_TEST(roofs)
{
    static const char *const more[] = {
        "{\"device\": \"NVIDIA H200\", \"part\": \"product\", \"split\": null}",
        "{\"device\": \"NVIDIA H200\", \"tile\": \"8x4x2\"}",
    };
    struct results r = sample_results_of(
        json_pack("[o, o]", sample_bench_row("hgemm", 64, 64, 64, 0.5, more[0]),
                  sample_bench_row("x.ootomo.f16", 64, 64, 64, 2, more[1])));
    json_t *rows = figure_rows(figure("speed"), &r);
    json_t *origin = figure_origin(figure("speed"), &r);
    ck_assert_uint_eq(json_array_size(rows), 1 + 2 * 2);
    ck_assert_str_eq(text(rows, 1, "series"), "roof of 3 products");
    ck_assert_double_eq(number(rows, 1, "tflops"), 200.0 / 3);
    ck_assert_str_eq(text(rows, 1, "source"), "(none)");
    ck_assert_str_eq(text(rows, 3, "series"), "data sheet, 3 products");
    ck_assert_double_eq(number(rows, 3, "tflops"), 989.0 / 3);
    ck_assert_double_eq(number(rows, 3, "products"), 3);
    ck_assert(!strncmp(text(rows, 3, "source"), "NVIDIA H100 data sheet", 22));
    ck_assert_ptr_nonnull(
        strstr(json_string_value(origin), "data sheet roofs: NVIDIA H100 data sheet"));
    json_decref(origin);
    json_decref(rows);
    results_clear(&r);
}
END_TEST

/* The slowest and the fastest round are the ends of a bar; none without them. */
START_TEST(rounds)
{
    struct results r = sample_results_of(json_pack(
        "[o, o]", sample_bench_row("a", 32, 32, 32, 2, "{\"ms_min\": 1, \"ms_max\": 4}"),
        sample_bench_row("a", 64, 64, 64, 2, "{\"ms_min\": null}")));
    json_t *rows = figure_rows(figure("speed"), &r);
    ck_assert_double_eq(number(rows, 0, "tflops_low"), 25);
    ck_assert_double_eq(number(rows, 0, "tflops"), 50);
    ck_assert_double_eq(number(rows, 0, "tflops_high"), 100);
    ck_assert_str_eq(text(rows, 1, "tflops_low"), "(none)");
    ck_assert(json_is_null(json_object_get(json_array_get(rows, 1), "tflops_high")));
    json_decref(rows);
    results_clear(&r);
}
END_TEST

/* Work under load beside bursts, of rows that have both: the ends of a bar, in order, and
   the percentage; what limits a series, and from which n to which. */
START_TEST(loads)
{
#define LOAD(N, MS, LOAD, LIMIT)                                                         \
    sample_bench_row("a", N, N, N, MS,                                                   \
                     "{\"tflops_sustained\": " LOAD ", \"limit\": " LIMIT "}")
    static const double want[][4] = {
        { 16, 80, 100, 80 }, { 32, 50, 60, 120 }, { 64, 24, 25, 96 }, { 128, 10, 10, 100 }
    };
    struct results r = sample_results_of(json_pack(
        "[o, o, o, o, o, o, o]", LOAD(64, 4, "24", "\"power\""),
        LOAD(16, 1, "80", "\"thermal\""), LOAD(32, 2, "60", "\"power\""),
        LOAD(128, 10, "10", "\"none\""), LOAD(256, 10, "null", "null"),
        sample_bench_row("a", 512, 512, 512, 1, "{}"),
        sample_bench_row("b", 512, 512, 512, 1, "{\"tflops_sustained\": 100}")));
    json_t *rows = figure_rows(figure("sustained"), &r);
    ck_assert_uint_eq(json_array_size(rows), 5);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq(number(rows, i, "n"), want[i][0]);
        ck_assert_double_eq(number(rows, i, "load_low"), want[i][1]);
        ck_assert_double_eq(number(rows, i, "load_high"), want[i][2]);
        ck_assert_double_eq_tol(number(rows, i, "load_percent"), want[i][3], 1e-9);
        ck_assert_str_eq(text(rows, i, "loaded"),
                         "a (power at n = 32 to 64, thermal at n = 16)");
    }
    ck_assert_str_eq(text(rows, 0, "limit"), "thermal");
    ck_assert_str_eq(text(rows, 4, "loaded"), "b");
    json_decref(rows);
    results_clear(&r);
}
END_TEST

/* A fallback, equilibration and, of several, the device are in the names of series; the
   origin has all devices. */
START_TEST(names)
{
    struct results r = sample_results_of(json_pack(
        "[o, o, o]", sample_bench_row("a", 64, 64, 64, 1, "{\"fallback\": \"sgemm\"}"),
        sample_bench_row("b", 64, 64, 64, 1,
                         "{\"device\": \"D2\", \"date\": \"2026-11-22\"}"),
        sample_bench_row("b", 64, 64, 64, 1, "{\"equilibrate\": true}")));
    json_t *rows = figure_rows(figure("speed"), &r);
    json_t *origin = figure_origin(figure("speed"), &r);
    ck_assert_str_eq(text(rows, 0, "series"), "a (fallback: sgemm), D1");
    ck_assert_str_eq(text(rows, 1, "series"), "b, D2");
    ck_assert_str_eq(text(rows, 2, "series"), "b (equilibrated), D1");
    ck_assert_str_eq(json_string_value(origin),
                     "D1, D2; driver 1.2; R; L; input urand(-1,1); rounds 5; seed 1; "
                     "2026-11-22");
    json_decref(rows);
    json_decref(origin);
    rows = figure_rows(figure("roofline"), &r);
    ck_assert_str_eq(text(rows, 0, figure("roofline")->plot.series),
                     "a (fallback: sgemm), D1");
    json_decref(rows);
    results_clear(&r);
}
END_TEST

static json_t *verify_row(const char *kernel, int configurations, int compared,
                          int mismatches)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:i}", "kernel", kernel,
                     "device", "D1", "driver", "1.2", "seed", 1, "split", "half",
                     "configurations", configurations, "compared", compared, "mismatches",
                     mismatches);
}

/* A line of verify of a kernel for batches of small GEMMs. */
static json_t *unsplit_row(const char *kernel)
{
    json_t *row = verify_row(kernel, 2, 50, 0);
    json_object_del(row, "split");
    return row;
}

START_TEST(families)
{
    struct results r = sample_results_of(json_pack(
        "[o, o, o, o, o, o]", unsplit_row("batch.mma.8"),
        verify_row("sm80.plain.f16", 3, 100, 0), unsplit_row("batch.fma.64"),
        verify_row("sm90.plain.f16", 4, 200, 7), verify_row("sm80.legemm.f16", 5, 300, 1),
        verify_row("split", 0, 400, 0)));
    json_t *rows = figure_rows(figure("verify"), &r);
    static const struct {
        const char *family;
        int kernels, configurations, outputs, mismatches;
    } want[] = { { "batch", 2, 4, 100, 0 },
                 { "sm80", 2, 8, 400, 1 },
                 { "sm90", 1, 4, 200, 7 },
                 { "split", 1, 0, 400, 0 } };
    ck_assert_uint_eq(json_array_size(rows), 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(text(rows, i, "family"), want[i].family);
        ck_assert_double_eq(number(rows, i, "kernels"), want[i].kernels);
        ck_assert_double_eq(number(rows, i, "configurations"), want[i].configurations);
        ck_assert_double_eq(number(rows, i, "outputs"), want[i].outputs);
        ck_assert_double_eq(number(rows, i, "mismatches"), want[i].mismatches);
    }
    json_decref(rows);
    results_clear(&r);
}
END_TEST

/* A line of the study `batch` for n x n x n by strides; kernels compare. */
static json_t *batch_row(const char *name, size_t n, double ratio, const char *more)
{
    json_t *row = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:i, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:n, s:s, s:s,"
        " s:i, s:i, s:s, s:s, s:s, s:s}",
        "name", name, "addressing", "strides", "m", (json_int_t)n, "n", (json_int_t)n,
        "k", (json_int_t)n, "count", 100, "us", 8 / ratio, "gb_per_second", ratio,
        "ratio_strided", ratio, "ratio_pointers", ratio / 2, "relres", 1e-4, "compared",
        64, "mismatches", 0, "fault", "study", "batch", "input", "urand(-1,1)", "rounds",
        5, "seed", 1, "device", "D1", "driver", "1.2", "runtime", "R", "library", "L");
    json_t *changes = json_loads(more, 0, NULL);
    ck_assert(row && changes);
    json_object_update(row, changes);
    json_decref(changes);
    return row;
}

static json_t *mean_row(const char *addressing)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:f, s:n, s:s, s:s, s:i, s:i, s:s, s:s, s:s,"
                     " s:s}",
                     "name", "mean", "addressing", addressing, "shapes", 4, "count", 100,
                     "ratio_strided", 2.5, "ratio_pointers", "study", "batch", "input",
                     "urand(-1,1)", "rounds", 5, "seed", 1, "device", "D1", "driver",
                     "1.2", "runtime", "R", "library", "L");
}

/* Of each shape the first kernel, if it was timed; no peer, no second kernel. */
START_TEST(batches)
{
    static const char peer[] = "{\"compared\": null, \"mismatches\": null}",
                      wrong[] = "{\"us\": null, \"ratio_strided\": null, "
                                "\"ratio_pointers\": null, \"fault\": \"broke\"}";
    struct results r = sample_results_of(json_pack(
        "[o, o, o, o, o, o, o, o, o, o]", batch_row("strided", 8, 1, peer),
        batch_row("mma", 8, 4, "{}"), batch_row("fma", 8, 5, "{}"),
        batch_row("mma", 8, 3, "{\"addressing\": \"pointers\"}"),
        batch_row("mma", 8, 6, "{\"count\": 200}"), batch_row("fma", 4, 2, "{}"),
        batch_row("mma", 16, 1, wrong), batch_row("fma", 16, 7, "{}"),
        mean_row("strides"), mean_row("pointers")));
    static const struct {
        const char *series, *name;
        double ratio;
    } want[] = { { "100, strides", "fma", 2 },
                 { "100, strides", "mma", 4 },
                 { "100, pointers", "mma", 3 },
                 { "200, strides", "mma", 6 } };
    json_t *strided = figure_rows(figure("batches"), &r),
           *pointers = figure_rows(figure("batches-pointers"), &r),
           *means = figure_rows(figure("batches-mean"), &r);
    ck_assert_uint_eq(json_array_size(strided), 4);
    ck_assert_uint_eq(json_array_size(pointers), 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(text(strided, i, "series"), want[i].series);
        ck_assert_str_eq(text(strided, i, "name"), want[i].name);
        ck_assert_double_eq(number(strided, i, "ratio_strided"), want[i].ratio);
        ck_assert_double_eq(number(pointers, i, "ratio_pointers"), want[i].ratio / 2);
    }
    ck_assert_uint_eq(json_array_size(means), 2);
    ck_assert_str_eq(text(means, 1, "addressing"), "pointers");
    ck_assert_double_eq(number(means, 1, "ratio_strided"), 2.5);
    ck_assert_uint_eq(json_array_size(r.rows[RESULT_BENCH]), 0);
    json_decref(strided);
    json_decref(pointers);
    json_decref(means);
    results_clear(&r);
}
END_TEST

/* --- files ------------------------------------------------------------------------ */

/* Each change of a line makes it none, and says why; what was read before stays. */
START_TEST(refused)
{
    static const struct {
        const char *change, *fault;
    } rows[] = {
        { "{\"ms\": 0}", "\"ms\" is not a number above 0, or null" },
        { "{\"ms\": -1}", "\"ms\" is not" },
        { "{\"ms\": \"fast\"}", "\"ms\" is not" },
        { "{\"tflops\": [1]}", "\"tflops\" is not" },
        { "{\"relres\": -1e-6}", "\"relres\" is not a number of at least 0, or null" },
        { "{\"m\": 0}", "\"m\" is not an integer from 1 to 2^50" },
        { "{\"n\": 1.5}", "\"n\" is not" },
        { "{\"k\": 1125899906842625}", "\"k\" is not" },
        { "{\"split_k\": 0}", "\"split_k\" is not" },
        { "{\"count\": 0}", "\"count\" is not an integer from 1 to 2^50" },
        { "{\"name\": \"\"}", "\"name\" is not a text" },
        { "{\"name\": null}", "\"name\" is not a text" },
        { "{\"part\": 1}", "\"part\" is not a text" },
        { "{\"recipe\": 1}", "\"recipe\" is not a text or null" },
        { "{\"stages\": -1}", "\"stages\" is not an integer from 0 to 2^50, or null" },
        { "{\"tflops_sustained\": 0}",
          "\"tflops_sustained\" is not a number above 0, or null" },
        { "{\"limit\": 1}", "\"limit\" is not a text or null" },
        { "{\"mhz_sustained\": 0.5}", "\"mhz_sustained\" is not" },
        { "{\"seed\": 0.5}", "\"seed\" is not an integer, or its digits as a text" },
    };
    struct results r =
        sample_results_of(json_pack("[o]", sample_bench_row("a", 64, 64, 64, 1, "{}")));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fault f;
        size_t line = 99;
        ck_assert_int_eq(
            sample_read_rows(
                &r, &line,
                json_pack("[o, o]", sample_bench_row("b", 64, 64, 64, 1, "{}"),
                          sample_bench_row("b", 64, 64, 64, 1, rows[i].change)),
                &f),
            BITCUT_BAD_FILE);
        ck_assert_uint_eq(line, 2);
        ck_assert_msg(!strncmp(f.text, rows[i].fault, strlen(rows[i].fault)),
                      "%s: got '%s'", rows[i].change, f.text);
        ck_assert_uint_eq(json_array_size(r.rows[RESULT_BENCH]), 1);
    }
    results_clear(&r);
}
END_TEST

START_TEST(no_results)
{
    static const struct {
        const char *text, *fault;
        size_t line;
    } rows[] = {
        { "", "the file has no results", 0 },
        { "\n\n", "the file has no results", 0 },
        { "{}", "expected a JSON line of bench gpu", 1 },
        { "\n[1]\n", "expected a JSON line of bench gpu", 2 },
        { "{\"part\": \"whole\"}\n", "missing key \"name\", a text", 1 },
        { "{\"kernel\": \"sm90\"}\n", "missing key \"device\", a text", 1 },
        { "{\"addressing\": \"strides\"}\n", "missing key \"name\", a text", 1 },
        { "{\"name\": \"mean\", \"addressing\": \"strides\", \"shapes\": 0}\n",
          "\"shapes\" is not an integer from 1", 1 },
        { "{\"kernel\":\"a\",\"device\":\"d\",\"driver\":\"1\",\"seed\":1,"
          "\"split\":null,\"compared\":1,\"mismatches\":0}",
          "\"split\" is not a text", 1 },
        { "{\"kernel\":\"a\",\"device\":\"d\",\"driver\":\"1\",\"seed\":1,"
          "\"split\":\"half\",\"configurations\":-1,\"compared\":1,\"mismatches\":0}",
          "\"configurations\" is not an integer", 1 },
        { "{\"kernel\": \"sm90\"", "", 1 },
        { "{\"kernel\": 1, \"kernel\": 2}", "duplicate", 1 },
        { " \n", "", 1 },
        { "nan\n", "", 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct results r = { { NULL } };
        struct fault f;
        size_t line = 99;
        ck_assert_int_eq(results_parse(&r, &line, rows[i].text, strlen(rows[i].text), &f),
                         BITCUT_BAD_FILE);
        ck_assert_uint_eq(line, rows[i].line);
        ck_assert_msg(!strncmp(f.text, rows[i].fault, strlen(rows[i].fault)),
                      "row %zu: got '%s'", i, f.text);
        ck_assert_ptr_null(r.rows[RESULT_BENCH]);
    }
}
END_TEST

/* As many as there may be, and one more. */
START_TEST(many)
{
    static char lines[(RESULTS_MAX + 1) * 128];
    struct results r = { { NULL } };
    struct fault f;
    size_t line, used = 0;
    for (int i = 0; i <= RESULTS_MAX; i++)
        used += (size_t)snprintf(lines + used, sizeof lines - used,
                                 "{\"kernel\":\"a\",\"device\":\"d\",\"driver\":\"1\","
                                 "\"seed\":1,\"split\":\"half\",\"compared\":1,"
                                 "\"mismatches\":0}\n");
    ck_assert_int_eq(results_parse(&r, &line, lines, used, &f), BITCUT_BAD_FILE);
    ck_assert_uint_eq(line, RESULTS_MAX + 1);
    used -= used / (RESULTS_MAX + 1);
    ck_assert_int_eq(results_parse(&r, &line, lines, used, &f), BITCUT_OK);
    ck_assert_uint_eq(json_array_size(r.rows[RESULT_VERIFY]), RESULTS_MAX);
    results_clear(&r);
}
END_TEST

/* Every file in data/results can be read, and something is drawn of it. */
START_TEST(recorded_results)
{
    static struct data_files files;
    int count = 0;
    ck_assert_int_eq(data_files_find(&files, "results", ".jsonl", NULL), BITCUT_OK);
    for (const struct table_row *row = files.rows; row->name; row++, count++) {
        char path[DATA_PATH_MAX + DATA_NAME_MAX + 8];
        struct results r = { { NULL } };
        struct fault f;
        size_t line, drawn = 0;
        snprintf(path, sizeof path, "%s/%s.jsonl", files.folder, row->name);
        ck_assert_msg(results_read(&r, &line, path, &f) == BITCUT_OK, "%s:%zu: %s", path,
                      line, f.text);
        results_derive(&r, shape_set_of);
        for (const struct figure *g = figures; g->name; g++) {
            json_t *rows = figure_rows(g, &r);
            drawn += json_array_size(rows);
            json_decref(rows);
        }
        ck_assert_msg(drawn > 0, "%s: nothing to draw", path);
        results_clear(&r);
    }
    ck_assert_int_ge(count, 3);
}
END_TEST

/* Groups are those of json_equal(), numbered in the order of their first rows. */
START_TEST(distinct_rows)
{
    static const size_t group[] = { 0, 1, 2, 0, 3, 4, 4, 1 }, first[] = { 0, 1, 2, 4, 5 };
    static const char *const keys[] = { "a", "b", NULL };
    json_t *rows = json_loads("[{\"a\":1,\"b\":\"x\"}, {\"a\":1.0,\"b\":\"x\"},"
                              "{\"b\":1,\"a\":\"x\"}, {\"b\":\"x\",\"c\":1,\"a\":1},"
                              "{\"a\":\"1\",\"b\":\"x\"}, {\"b\":2},"
                              "{\"a\":null,\"b\":2},"
                              "{\"a\":1.0,\"b\":\"x\"}]",
                              0, NULL);
    struct distinct d;
    ck_assert_ptr_nonnull(rows);
    distinct_init(&d, rows, keys);
    ck_assert(d.rows == 8 && d.groups == 5);
    ck_assert(!memcmp(d.group, group, sizeof group));
    ck_assert(!memcmp(d.first, first, sizeof first));
    distinct_clear(&d);
    distinct_of(&d, rows, "b");
    ck_assert(d.rows == 8 && d.groups == 3);
    distinct_clear(&d);
    distinct_of(&d, NULL, "b");
    ck_assert(d.rows == 0 && d.groups == 0);
    distinct_clear(&d);
    json_decref(rows);
}
END_TEST

TEST_MAIN("results", points, nothing, printed_values, speedups, roofs, rounds, loads,
          chosen, names, families, batches, refused, no_results, many, recorded_results,
          distinct_rows)
