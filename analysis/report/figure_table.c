/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of figures. */
#include "analysis/report/figure.h"
#include "analysis/study/distinct.h"

#include <string.h>

/* --- verify ----------------------------------------------------------------------- */

static void add(json_t *row, const char *key, json_int_t more)
{
    json_object_set_new(
        row, key, json_integer(json_integer_value(json_object_get(row, key)) + more));
}

/* What one result adds to its family. */
static json_t *family_row(const json_t *result)
{
    const char *name = json_string_value(json_object_get(result, "kernel"));
    const json_t *configurations = json_object_get(result, "configurations");
    return json_pack("{s:o, s:O, s:O, s:O, s:i, s:I, s:O, s:O}", "family",
                     json_stringn(name, strcspn(name, ".")), "device",
                     json_object_get(result, "device"), "driver",
                     json_object_get(result, "driver"), "seed",
                     json_object_get(result, "seed"), "kernels", 1, "configurations",
                     json_integer_value(configurations), "outputs",
                     json_object_get(result, "compared"), "mismatches",
                     json_object_get(result, "mismatches"));
}

static json_t *verify_rows(json_t *taken_rows)
{
    static const char *const same[] = { "family", "device", "driver", "seed", NULL };
    static const char *const sums[] = { "kernels", "configurations", "outputs",
                                        "mismatches" };
    json_t *all = json_array(), *rows = json_array();
    struct distinct d;
    for (size_t i = 0; i < json_array_size(taken_rows); i++)
        json_array_append_new(all, family_row(json_array_get(taken_rows, i)));
    distinct_init(&d, all, same);
    for (size_t i = 0; i < d.rows; i++) {
        json_t *one = json_array_get(all, i), *row = json_array_get(rows, d.group[i]);
        if (!row) json_array_append(rows, one);
        for (size_t s = 0; row && s < sizeof sums / sizeof sums[0]; s++)
            add(row, sums[s], json_integer_value(json_object_get(one, sums[s])));
    }
    distinct_clear(&d);
    json_decref(all);
    return rows;
}

/* --- the table -------------------------------------------------------------------- */

static const char *const shape_columns[] = {
    "shapes", "m",           "n",     "k",      "series",          "ms",
    "tflops", "ratio_sgemm", "third", "relres", "gflops_per_watt", NULL
};

static const char *const load_columns[] = { "loaded",
                                            "group",
                                            "name",
                                            "device",
                                            "n",
                                            "ms",
                                            "tflops",
                                            "tflops_sustained",
                                            "load_low",
                                            "load_high",
                                            "load_percent",
                                            "third",
                                            "third_sustained",
                                            "mhz_sustained",
                                            "watts",
                                            "limit",
                                            NULL };

static const char *const strided_columns[] = {
    "m",  "n",      "k",           "count",         "series", "device",
    "ms", "tflops", "ratio_sgemm", "ratio_ootomo3", "relres", NULL
};

static const char *const format_columns[] = {
    "format", "recipe",          "series",         "n",
    "ms",     "tflops",          "ratio_sgemm",    "third",
    "relres", "gflops_per_watt", "pj_per_product", NULL
};

static const char *const batch_columns[] = { "series",
                                             "name",
                                             "addressing",
                                             "device",
                                             "m",
                                             "n",
                                             "k",
                                             "count",
                                             "us",
                                             "gb_per_second",
                                             "ratio_strided",
                                             "ratio_pointers",
                                             "ratio_strided-f16",
                                             "ratio_pointers-f16",
                                             "relres",
                                             "mhz",
                                             NULL };

static const char *const mean_columns[] = { "device",
                                            "addressing",
                                            "count",
                                            "shapes",
                                            "ratio_strided",
                                            "ratio_pointers",
                                            "ratio_strided-f16",
                                            "ratio_pointers-f16",
                                            NULL };

#define AXES(X, Y, X_LABEL, Y_LABEL, X_LOG, Y_LOG, PANELS, SEES)                         \
    .plot = { .x = X,                                                                    \
              .y = Y,                                                                    \
              .series = "series",                                                        \
              .panels = PANELS,                                                          \
              .sees = SEES,                                                              \
              .x_label = X_LABEL,                                                        \
              .y_label = Y_LABEL,                                                        \
              .x_log = X_LOG,                                                            \
              .y_log = Y_LOG }
/* Bars of TFLOPS, by the slowest and the fastest round. */
#define OF_ROUNDS                                                                        \
    "Marks are medians of rounds; bars reach from the slowest to the fastest."
#define ROUNDS                                                                           \
    .plot.low = "tflops_low", .plot.high = "tflops_high", .plot.bars = OF_ROUNDS

#define AGAINST_N(Y, LABEL, LOG, PANELS, SEES)                                           \
    AXES("n", Y, "n", LABEL, true, LOG, PANELS, SEES)

#define RECIPES .command = "bitcut bench gpu", .study = "recipes", .shapes = { "square" }

#define BATCHES                                                                          \
    .command = "bitcut bench gpu --study batch", .kind = RESULT_BATCH, .part = "first",  \
    .shapes = { "square" }, .columns = batch_columns

/* Both are drawn with every group. */
#define HUANG3 "Huang et al., Table 3 (A100)", NULL
#define HUANG4 "Huang et al., Table 4 (A100)", NULL

const struct figure figures[] = {
    /* clang-format off */
    { .name = "verify",
      .chapter = CHAPTER_EVIDENCE,
      .what = "GEMM kernels on devices against their models, bit for bit",
      .title = "Kernels and their models",
      .plot = { .sees = "mismatches is 0 where kernels give the bits of their models." },
      .text = "Every kernel ran GEMMs with all transposes, scalars and classes of inputs, "
              "on a grid of shapes unless one was asked for, and outputs were compared "
              "with the emulator, signs of zeros and bits of NaNs included. A family is "
              "an instruction set: sm80 is mma.sync, sm90 wgmma, wmma the C++ interface; "
              "split is the split pass, word by word; batch the kernels for batches of "
              "small GEMMs.",
      .command = "bitcut verify --kernel all",
      .kind = RESULT_VERIFY, .rows = verify_rows },
    { .name = "speed",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS of whole GEMMs against n",
      .title = "Speed of whole GEMMs",
      .text = "n x n x n, from FP32 matrices to FP32 D, the split included: 2 n^3 "
              "operations over the time, whatever the number of terms. Peers are cuBLAS: "
              "sgemm, sgemm-tf32 (FAST_TF32), bf16x9 (EMULATED_16BFX9), hgemm (f16 "
              "words), ootomo3 (three of those on halfhalf words). A peer that gives the "
              "bits of another is named as its fallback.",
      RECIPES, .part = "whole", .roofs = true,
      AGAINST_N("tflops", "TFLOPS", false, "group",
                "The gap to the roof of as many products is what split, promotion "
                "and kernel cost; what lies above sgemm beats the FP32 cores."), ROUNDS },
    { .name = "sustained",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS of whole GEMMs under load beside those of bursts, against n",
      .title = "Speed in bursts and under load",
      .text = "A burst is about 30 ms of the same GEMM; under load it runs for longer, of "
              "which the first three tenths only warm the board up. A name says at which n "
              "the board held its clock down, and why: power, at the limit of its power, or "
              "thermal, of its heat.",
      RECIPES, .part = "whole", .columns = load_columns,
      .plot = { .x = "n", .y = "tflops_sustained", .series = "loaded", .panels = "group",
                .x_label = "n", .y_label = "TFLOPS", .x_log = true,
                .low = "load_low", .high = "load_high",
                .bars = "Marks are under load; bars reach to bursts.",
                .sees = "A long bar is a GEMM that is faster now and then than in long "
                        "work; its name should have a limit there." } },
    { .name = "sustained-percent",
      .chapter = CHAPTER_SPEED,
      .what = "speed of whole GEMMs under load in percent of that in bursts, against n",
      .title = "Under load, in percent of bursts",
      .text = "The same: what a GEMM does under load in percent of what it does in "
              "bursts.",
      RECIPES, .part = "whole", .columns = load_columns,
      .plot = { .x = "n", .y = "load_percent", .series = "loaded", .panels = "group",
                .x_label = "n", .y_label = "percent of bursts", .x_log = true,
                .sees = "Where lines of kernels lie as far below 100 as those of cuBLAS, "
                        "the board slows all alike, and ratios of bursts hold under load." } },
    { .name = "speed-product",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS without the split pass against n",
      .title = "Speed of the product alone",
      .text = "The same where the words are there already.",
      RECIPES, .part = "product", .roofs = true,
      AGAINST_N("tflops", "TFLOPS", false, "group",
                "Nearer to its roof than the whole GEMM, above all at small n, where "
                "the split weighs most."), ROUNDS },
    { .name = "ratio-sgemm",
      .chapter = CHAPTER_SPEED,
      .what = "speed of whole GEMMs over SGEMM against n",
      .title = "Speed over SGEMM",
      .text = "The time of cuBLAS SGEMM on the FP32 cores over the time of the whole "
              "GEMM, in the same run.",
      RECIPES, .part = "whole", 
      AGAINST_N("ratio_sgemm", "times SGEMM", false, "group",
                "Above 1 an emulated GEMM is faster than SGEMM.") },
    { .name = "third",
      .chapter = CHAPTER_SPEED,
      .what = "whole GEMMs in percent of a third of the f16 rate",
      .title = "Percent of a third of the f16 rate",
      .text = "A GEMM of three f16 products can reach a third of the rate of one: 100 is "
              "a third of what hgemm's product sustained on the same shape.",
      RECIPES, .part = "whole", 
      AGAINST_N("third", "percent", false, "group",
                "At 100 three products are as fast as the f16 rate lets them be; six "
                "can reach 50, nine 33.") },
    { .name = "relres",
      .chapter = CHAPTER_UNIT,
      .what = "relative residual of whole GEMMs against n",
      .title = "Relative residual on the device",
      .text = "||D - C||_F / ||C||_F against the exact product, of the outputs that were "
              "looked at, beside cuBLAS SGEMM's. What a kernel gives is what its model "
              "gives, bit for bit.",
      RECIPES, .part = "whole", 
      AGAINST_N("relres", "relative residual", true, "group",
                "What lies below sgemm is more accurate than cuBLAS in FP32; kernels "
                "whose lines rise steeply with n add on the unit, which truncates.") },
    { .name = "energy",
      .chapter = CHAPTER_SPEED,
      .what = "GFlop/s/W of whole GEMMs against n",
      .title = "Energy efficiency",
      .text = "2 n^3 operations over the energy that the board took (NVML), in a loop of "
              "the whole GEMM. Ootomo and Yokota give the highest of their A100: 121 "
              "GFlops/W for halfhalf, 80.9 for tf32tf32, 67.0 for cuBLAS SGEMM (with "
              "Fig. 16).",
      RECIPES, .part = "whole",
      AGAINST_N("gflops_per_watt", "GFlop/s/W", false, "group",
                "Above sgemm a kernel takes less energy for the same GEMM.") },
    { .name = "energy-product",
      .chapter = CHAPTER_SPEED,
      .what = "pJ for each of the m n k products against n",
      .title = "Energy of a product",
      .text = "The energy of the whole GEMM over its n^3 products of FP32 values.",
      RECIPES, .part = "whole",
      AGAINST_N("pj_per_product", "pJ", true, "group",
                "Below sgemm a kernel takes less energy for the same GEMM.") },
    { .name = "roofline",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS against operations a byte",
      .title = "Roofline",
      .text = "Each GEMM of the study on any shape, whole and product: operations over "
              "the fewest bytes that it must move (operands or words, and D, once each) "
              "against its speed.",
      .command = "bitcut bench gpu", .study = "recipes", .roofs = true,
      .plot = { .x = "flops_per_byte", .y = "tflops", .series = "label",
                .x_label = "operations a byte", .y_label = "TFLOPS", .x_log = true,
                .y_log = true, .points = true, .panels = "part group",
                .low = "tflops_low", .high = "tflops_high", .bars = OF_ROUNDS,
                .sees = "On its roof a GEMM is limited by the unit, far below it by "
                        "the split or, of few operations a byte, by memory." } },
    { .name = "formats",
      .chapter = CHAPTER_SPEED,
      .what = "recipes by the format of their words",
      .title = "Data formats",
      .plot = { .sees = "Rows of one n differ in the format of their words." },
      .text = "The recipes by the format of their words. Huang et al. compare formats in "
              "a figure (Fig. 7) and print no values of it; Table 2 has the peaks of an "
              "A100: 312 TFLOPS for fp16, 156 for tf32, 19.5 for fp32.",
      RECIPES, .part = "whole", .columns = format_columns },
    { .name = "splitk",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS against slices of k",
      .title = "Slices of k",
      .text = "512 x 512 x 8192, where D is too small to fill the device: k is cut into "
              "slices whose results are added at the end. Beside it what Huang et al. "
              "print for an FP32 GEMM of CUTLASS on an A100, on the same shape.",
      .command = "bitcut bench gpu --study splitk", .study = "splitk",
      .shapes = { "splitk" }, .roofs = true,
      AXES("split_k", "tflops", "slices", "TFLOPS", false, false, "part group",
           "Speed rises with slices while the device has room for them, and falls "
           "when their sum costs more than they gain."), ROUNDS,
      .printed = { { 1, 5.64183, HUANG3 }, { 2, 10.6419, HUANG3 }, { 4, 17.5773, HUANG3 },
                   { 8, 20.9134, HUANG3 }, { 10, 19.1824, HUANG3 } } },
    { .name = "splitk-energy",
      .chapter = CHAPTER_SPEED,
      .what = "GFlop/s/W against slices of k",
      .title = "Slices of k and energy",
      .text = "The energy efficiency of the same whole GEMMs. Huang et al. do not "
              "measure energy.",
      .command = "bitcut bench gpu --study splitk", .study = "splitk", .part = "whole",
      .shapes = { "splitk" },
      AXES("split_k", "gflops_per_watt", "slices", "GFlop/s/W", false, false, "group",
           "The best number of slices for energy need not be the best for speed.") },
    { .name = "stages",
      .chapter = CHAPTER_SPEED,
      .what = "speed with asynchronous copies over speed without",
      .title = "Asynchronous copies",
      .text = "The same kernel with several stages, filled by asynchronous copies, over "
              "the one with a single stage and plain copies. Beside it what Huang et al. "
              "print for a kernel of f16 words on an A100.",
      .command = "bitcut bench gpu --study stages", .study = "stages",
      .shapes = { "square" },
      AGAINST_N("speedup", "times as fast", false, NULL,
                "Above 1 asynchronous copies pay."),
      .printed = { { 4096, 1.228, HUANG4 }, { 8192, 1.244, HUANG4 },
                   { 16384, 1.113, HUANG4 } } },
    { .name = "stages-speed",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS with and without asynchronous copies",
      .title = "Speed with and without asynchronous copies",
      .text = "The same kernels in TFLOPS.",
      .command = "bitcut bench gpu --study stages", .study = "stages",
      .shapes = { "square" }, .roofs = true,
      AGAINST_N("tflops", "TFLOPS", false, "part group",
                "The gap between one stage and several is what asynchronous copies "
                "gain."), ROUNDS },
    { .name = "pipeline",
      .chapter = CHAPTER_SPEED,
      .what = "LE-GEMM with its pipeline over without",
      .title = "LE-GEMM's pipeline",
      .text = "The kernel of LE-GEMM with its pipeline over the one with a single stage. "
              "The paper prints an average of 2.72 on an A800 and 3.02 on an MI210, and "
              "draws the rest (Fig. 17).",
      .command = "bitcut bench gpu --study pipeline", .study = "pipeline",
      .shapes = { "square" },
      AGAINST_N("speedup", "times as fast", false, NULL,
                "Above 1 the pipeline pays.") },
    { .name = "tiles",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS of tile shapes against n",
      .title = "Tile shapes",
      .text = "Whole GEMMs by kernels that differ in their tile. Huang et al. print two "
              "tiles of a CUTLASS kernel with FP32 inputs on an A100, at n = 8192 "
              "(section 3.4).",
      .command = "bitcut bench gpu --study tiles", .study = "tiles", .part = "whole",
      .shapes = { "square" }, .roofs = true,
      AGAINST_N("tflops", "TFLOPS", false, "tile group",
                "Small tiles fill the device at small n; large ones read less at "
                "large n."), ROUNDS,
      .printed = { { 8192, 36.9567, "Huang et al., 128x128x16 (A100)", "CUTLASS" },
                   { 8192, 115.962, "Huang et al., 256x128x16 (A100)", "CUTLASS" } } },
    { .name = "shapes",
      .chapter = CHAPTER_SPEED,
      .what = "shapes of applications, and oblong ones",
      .title = "Shapes of applications",
      .plot = { .sees = "third is comparable between shapes, tflops is not." },
      .text = "Whole GEMMs where A and B are no squares: wide (n x 4n x n) and deep (n x "
              "n x 4n), and layers and distances of three applications, for which "
              "LE-GEMM gives no sizes.",
      .command = "bitcut bench gpu --shapes kmeans --shapes bert --shapes llm",
      .study = "recipes", .part = "whole",
      .shapes = { "wide", "deep", "kmeans", "bert", "llm" }, .columns = shape_columns },
    { .name = "strided",
      .chapter = CHAPTER_SPEED,
      .what = "batches of GEMMs at strides",
      .title = "Batches of GEMMs at strides",
      .plot = { .sees = "ratio_ootomo3 above 1 is faster than cuBLAS on the same "
                        "words." },
      .text = "So many whole GEMMs at a time, as heads of attention are. Peers are the "
              "same calls as cublasGemmStridedBatchedEx; times are of the whole batch.",
      .command = "bitcut bench gpu --study strided",
      .study = "strided", .part = "whole", .columns = strided_columns },
    { .name = "batches",
      .chapter = CHAPTER_SPEED,
      .what = "batches of small GEMMs, their speed over cublasGemmStridedBatchedEx",
      .title = "Batches of small GEMMs",
      .text = "n x n x n in f16 with FP32 sums, so many at a time, at strides or by "
              "pointers: of each n the first of the kernels that ran, which is the one "
              "that the C library takes if all did. The time of "
              "cublasGemmStridedBatchedEx over its time, in the same run.",
      BATCHES,
      AGAINST_N("ratio_strided", "times cuBLAS at strides", true, NULL,
                "Above 1 the kernel is faster than cuBLAS.") },
    { .name = "batches-pointers",
      .chapter = CHAPTER_SPEED,
      .what = "the same over cublasGemmBatchedEx",
      .title = "Batches of small GEMMs by pointers",
      .text = "The same kernels beside cublasGemmBatchedEx, which takes pointers.",
      BATCHES,
      AGAINST_N("ratio_pointers", "times cuBLAS by pointers", true, NULL,
                "Above 1 the kernel is faster than cuBLAS.") },
    { .name = "batches-mean",
      .chapter = CHAPTER_SPEED,
      .what = "the mean of these over the shapes up to 32",
      .title = "Batches of small GEMMs on average",
      .plot = { .sees = "Ratios above 1 are faster than cuBLAS." },
      .text = "Speed over both functions of cuBLAS, with FP32 sums and with f16 sums, the "
              "mean over so many shapes with m, n and k up to 32.",
      .command = "bitcut bench gpu --study batch", .kind = RESULT_MEAN,
      .columns = mean_columns },
    { 0 }
    /* clang-format on */
};
