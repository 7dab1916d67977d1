/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/attention_report_part.h"

enum { ABOUT_RESULT, ABOUT_PLACES, ABOUT_ALGORITHMS, ABOUT_TEST };

const struct table_row attention_report_chapters[] = {
    { "result", "What is the result?" },
    { "places", "Where are its errors?" },
    { "algorithms", "Which algorithm should compute it?" },
    { "test", "What should a test accept?" },
    { 0 }
};

static const struct study_plot table = { .y = NULL };
static const struct study_plot distance_plot = {
    .x = "ulps",
    .y = "share",
    .series = "result",
    .x_label = "distance from the exact result (steps of the format of O, at most)",
    .y_label = "share of outputs",
    .x_log = true,
    .sees =
        "Outputs at 0 are the exact result, rounded to the format of O. Outputs far to "
        "the right are near zero or wrong: the errors of a correct kernel are as large "
        "as |V| allows, whatever the output."
};
static const struct study_plot places_plot = {
    .x = "index",
    .y = "error",
    .series = "result",
    .panels = "by",
    .x_label = "query, head or column of O",
    .y_label = "largest error, u |V|",
    .y_log = true,
    .sees =
        "Errors of some queries, heads or columns alone point to a fault of tiles or of "
        "the mask, or to values of another size."
};

const struct attention_part_row attention_report_parts[] = {
    { .section = { .name = "explanation",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "which algorithm computed O, and which fault",
                   .title = "What computed O",
                   .text =
                       "Every algorithm, with other tiles, splits, formats and orders "
                       "of sums, and with typical faults of kernels, until one gives O "
                       "to the bit." },
      .of_given = true,
      .ask = attention_ask_explanation,
      .rows = attention_rows_explanation,
      .subject = OF_EXPLANATION,
      .line = { "nearest", "computed", "evidence", "same bits" },
      .command = EXPLAINS,
      .more = "" },
    { .section = { .name = "errors",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "errors compared with exact attention",
                   .title = "Errors",
                   .text =
                       "error is the largest |O - exact| / |V| in u, u the unit roundoff "
                       "of "
                       "the format of O and |V| the mean of the magnitudes of V by the "
                       "exact "
                       "weights; norm is the norm of all errors relative to that of u "
                       "|V|; "
                       "relres is ||O - exact|| / ||exact||; correct outputs are the "
                       "exact "
                       "result, rounded; unlike outputs are infinite or NaN where it is "
                       "not, or the reverse. The row of an algorithm is its result where "
                       "O "
                       "has other bits." },
      .ask = attention_ask_verdict,
      .rows = attention_rows_errors,
      .subject = OF_ATTENTION,
      .line = { "attention", "evidence", "error", "largest" },
      .command = VERIFIES,
      .more = "" },
    { .section = { .name = "bits",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "O compared with the algorithm, bit for bit",
                   .title = "O and the algorithm, bit for bit",
                   .text =
                       "Outputs of O that differ from the algorithm on its units, and "
                       "the first of them." },
      .of_given = true,
      .ask = attention_ask_errors,
      .rows = attention_rows_bits,
      .subject = OF_PAGE,
      .command = VERIFIES,
      .more = " --reference none" },
    { .section = { .name = "distances",
                   .chapter = ABOUT_RESULT,
                   .plot = &distance_plot,
                   .what = "distance of outputs from the exact result",
                   .title = "Distances from the exact result",
                   .text =
                       "Share of outputs by distance from the exact result, rounded to "
                       "the format of O: 0, then intervals between powers of two." },
      .ask = attention_ask_errors,
      .rows = attention_rows_histogram,
      .subject = OF_ATTENTION,
      .command = VERIFIES,
      .more = "" },
    { .section = { .name = "bounds",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "rigorous bounds of the algorithm and the errors",
                   .title = "Bounds and the errors",
                   .text =
                       "For both bounds of the algorithm: outputs that exceed it, the "
                       "largest error divided by its limit, and the medians of limits "
                       "and errors. If a bound is exceeded, O was not computed by this "
                       "algorithm on its units. Bounds are for proofs, not for tests: "
                       "they are wide." },
      .ask = attention_ask_bounds,
      .rows = attention_rows_bounds,
      .subject = OF_ATTENTION,
      .command = VERIFIES,
      .more = " --reference none --bound" },
    { .section = { .name = "budget",
                   .chapter = ABOUT_RESULT,
                   .plot = &table,
                   .what = "where the algorithm's errors come from",
                   .title = "Error budget",
                   .text =
                       "The parts of the algorithm's error, which add up to it exactly "
                       "at "
                       "each output, in u |V|: the mean with its sign, the root of the "
                       "mean "
                       "square, and the largest magnitude. operands: Q, K and V as the "
                       "products read them; scores: sums of Q K^T; exponents, rescale, "
                       "exp: "
                       "the softmax; cast: P in its format; alignment and accumulation: "
                       "sums of P V; sum: the sum of P; division; merge: of splits; "
                       "output: "
                       "the format of O." },
      .ask = attention_ask_budget,
      .rows = attention_rows_budget,
      .subject = OF_ATTENTION,
      .line = { "error budget" },
      .command = VERIFIES,
      .more = " --reference none --budget" },
    { .section = { .name = "places",
                   .chapter = ABOUT_PLACES,
                   .plot = &places_plot,
                   .what = "largest error by query, head and column",
                   .title = "Errors by query, head and column",
                   .text = "The largest error, and the root of the mean square, of each "
                           "query, head and column; of more than 64 they are those of 64 "
                           "blocks, by the first of each block." },
      .ask = attention_ask_errors,
      .rows = attention_rows_places,
      .subject = OF_ATTENTION,
      .command = VERIFIES,
      .more = "" },
    { .section = { .name = "worst",
                   .chapter = ABOUT_PLACES,
                   .plot = &table,
                   .what = "the outputs with the largest errors, and their parts",
                   .title = "The worst outputs",
                   .text =
                       "The outputs with the largest error in u |V|: the exact result "
                       "and "
                       "O, the error, the limit of a test, the rigorous bound, and the "
                       "parts "
                       "of the algorithm's error at this output. \"unexplained\" is what "
                       "of "
                       "the error of O they leave: 0 where O has the algorithm's bits." },
      .ask = attention_ask_worst,
      .rows = attention_rows_worst,
      .subject = OF_ATTENTION,
      .command = VERIFIES,
      .more = " --reference none --at HEAD,QUERY,COLUMN" },
    { .section = { .name = "algorithms",
                   .chapter = ABOUT_ALGORITHMS,
                   .plot = &table,
                   .what = "errors of every algorithm on these Q, K and V",
                   .title = "Algorithms on these matrices",
                   .text =
                       "Every algorithm on the same Q, K and V, the most accurate one "
                       "first: formats of Q and of P in its products, the relative error "
                       "relres, the largest error and the norm of the errors in u |V|." },
      .ask = attention_ask_rows,
      .rows = attention_rows_algorithms,
      .subject = OF_PAGE,
      .command = COMPARES,
      .more = "" },
    { .section = { .name = "tolerance",
                   .chapter = ABOUT_TEST,
                   .plot = &table,
                   .what = "limits for a test, and which faults they find",
                   .title = "Limits and the faults that they detect",
                   .text =
                       "Limits that a correct kernel exceeds with the stated probability "
                       "only, from runs of the emulator with the keys in a random order. "
                       "They are tried on kernels with faults: in how many runs the test "
                       "rejects O." },
      .ask = attention_ask_power,
      .rows = attention_rows_power,
      .subject = OF_TEST,
      .line = { "test", "componentwise", "normwise" },
      .command = TESTS,
      .more = " --tolerance --power 4" },
    { .section = { .name = NULL } }
};
