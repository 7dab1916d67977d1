/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/report_finding.h"

#include "analysis/report/report.h"
#include "lib/base/text.h"
#include "lib/io/json_value.h"

#include <ctype.h>
#include <string.h>

#define BY_EXPONENT    .x = "exponent", .x_label = "exponent of the value"
#define WITHOUT_THEORY "by=counted split=markidis|halfhalf|bitcut"
#define RESIDUALS                                                                        \
    .y = "relres", .y_label = "relative residual", .y_log = true, .spread = "round"

const struct report_finding report_findings[FINDINGS] = {
    { .chapter = CHAPTER_KEEPS,
      .part = { { "table1-expected",
                  "two f16 parts, rounded to nearest, retain {} of 24 bits on average",
                  "two f16 parts, rounded to nearest, retain {} of 24 bits on average, which "
                  "is not the printed number" },
                { "table2-expected", "two truncated f16 parts retain {} of 24 bits",
                  "two truncated f16 parts retain {} of 24 bits, which is not the printed "
                  "number" },
                { "bitcut-bits",
                  "bit-cut parts retain at least as many bits as rounded parts",
                  "bit-cut parts retain fewer bits than rounded parts, {} times as many "
                  "in the median binade" },
                { 0 } },
      .study = "underflow",
      .plot = { BY_EXPONENT, .where = WITHOUT_THEORY, .y = "bits", .series = "split",
                .y_label = "bits retained, of 24" } },
    { .chapter = CHAPTER_UNDERFLOW,
      .part = { { "underflow-at-one",
                  "without a scale, the low part underflows for a share of {} of the "
                  "values around 1",
                  "without a scale, the low part underflows for a share of only {} of "
                  "the values around 1" },
                { "underflow-scaled",
                  "a scale of 2^11 makes underflow rarer: {} times as often in the "
                  "median binade",
                  "a scale of 2^11 does not make underflow rarer: {} times as often in "
                  "the median binade" },
                { "flush-rows",
                  "on MI210, which reads subnormal numbers as zero, scaled rows and "
                  "columns are enough: the error is {} times that on MI100",
                  "on MI210, which reads subnormal numbers as zero, scaled rows and "
                  "columns are not enough: the error is {} times that on MI100" },
                { 0 } },
      .study = "underflow",
      .plot = { BY_EXPONENT, .where = WITHOUT_THEORY, .y = "p_subnormal",
                .series = "split", .y_log = true, .y_label = "share of underflow" } },
    { .chapter = CHAPTER_UNIT,
      .part = { { "drift-nvidia",
                  "sums on NVIDIA's units truncate and lose {} u |A||B| on average at k "
                  "= 1024",
                  "sums on NVIDIA's units do not all truncate: they lose {} u |A||B| on "
                  "average at k = 1024" },
                { "drift-amd", "AMD's Matrix Cores round to nearest and lose {}",
                  "AMD's Matrix Cores do not all round to nearest: they lose {}" },
                { "promotion-nvidia",
                  "on Tensor Cores the method of Ootomo and Yokota needs its promotion "
                  "to FP32: without it the error is {} times as large",
                  "on Tensor Cores the method of Ootomo and Yokota does not need its "
                  "promotion to FP32: without it the error is {} times as large" },
                { 0 } },
      .study = "figure1",
      .plot = { RESIDUALS, .x = "k", .x_label = "k", .x_log = true, .series = "recipe",
                .where = "recipe=markidis|ootomo|legemm|fp32" } },
    { .chapter = CHAPTER_DROPPED,
      .part = { { "dropped-ootomo",
                  "the dropped product of the low parts costs the method of Ootomo and "
                  "Yokota a factor of {}, less than 2",
                  "the dropped product of the low parts costs the method of Ootomo and "
                  "Yokota a factor of {}, 2 or more" },
                { "dropped-legemm-a800",
                  "it costs LE-GEMM a factor of {} on A800, less than 2",
                  "it costs LE-GEMM a factor of {} on A800, 2 or more" },
                { "dropped-legemm-mi210",
                  "it costs LE-GEMM a factor of {} on MI210, less than 2",
                  "it costs LE-GEMM a factor of {} on MI210, 2 or more" },
                { 0 } },
      .study = "dropped",
      .plot = { RESIDUALS, .x = "n", .x_label = "n; -3 without the product, -4 with it",
                .x_log = true, .series = "recipe",
                .where = "pair=positive "
                         "recipe=ootomo-3|ootomo-4|legemm-mi210-3|legemm-mi210-4" } },
    { .chapter = CHAPTER_CHOICE,
      .part = { { "cut-beats-rn-a100",
                  "on A100 bit-cut with 2^10 is more accurate than rounding with 2^11: "
                  "its error is {} times as large",
                  "on A100 bit-cut with 2^10 is not more accurate than rounding with "
                  "2^11: its error is {} times as large" },
                { "cut-beats-rn-mi210", "on MI210 bit-cut is more accurate: {} times",
                  "on MI210 bit-cut is not more accurate: {} times" },
                { "mi210-positive",
                  "for positive elements bit-cut is more accurate on MI210, too: {} "
                  "times",
                  "for positive elements rounding is more accurate on MI210, too: {} "
                  "times" },
                { 0 } },
      .study = "flush",
      .plot = { RESIDUALS, .x = "exponent", .x_label = "largest exponent of A, on MI210",
                .series = "recipe",
                .where = "unit=mi210 recipe=ootomo|legemm|ootomo-scaled" } },
};

const json_t *report_finding_verdict(const struct report_finding_part *part, json_t *all)
{
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *const one = json_array_get(all, i);
        if (!strcmp(json_string_value(json_object_get(one, "name")), part->claim))
            return one;
    }
    return NULL;
}

/* The text of a part with the number in place of {}. */
static void fill(char to[REASON_MAX], const char *text, const char *number)
{
    const char *const place = strstr(text, "{}");
    text_add(to, REASON_MAX, "%.*s", place ? (int)(place - text) : (int)strlen(text),
             text);
    if (place) text_add(to, REASON_MAX, "%s%s", number, place + strlen("{}"));
}

static const char *name_of(const json_t *verdict)
{
    return json_string_value(json_object_get(verdict, "verdict"));
}

static bool is(const json_t *verdict, enum claim_outcome outcome)
{
    return !strcmp(name_of(verdict), verdicts[outcome].name);
}

json_t *report_finding_sentence(const struct report_finding_part *part,
                                const json_t *verdict)
{
    char text[REASON_MAX] = "", number[REPORT_CELL_MAX];
    const char *const ours = report_cell(number, json_object_get(verdict, "ours"), 4);
    if (is(verdict, VERDICT_AGREES)) fill(text, part->agrees, ours);
    else if (is(verdict, VERDICT_DIFFERS)) fill(text, part->differs, ours);
    else
        text_add(text, REASON_MAX, "%s whether %s",
                 is(verdict, VERDICT_UNDECIDED) ? "it is undecided" : "it is not known",
                 json_string_value(json_object_get(verdict, "claim")));
    if (report_changes(verdict))
        text_add(text, REASON_MAX, " (at the sizes of papers the verdict is: %s)",
                 verdict_label(name_of(json_object_get(verdict, "recorded"))));
    *text = (char)toupper((unsigned char)*text);
    text_add(text, REASON_MAX, ".");
    return json_text(text);
}
