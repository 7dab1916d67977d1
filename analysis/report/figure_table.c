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

/* Add one result to its family. */
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
/* Bars of TFLOPS, from the slowest to the fastest round. */
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
      .text = "Every kernel ran GEMMs with all transposes, scalars and classes of "
              "inputs, on a grid of shapes unless one shape was requested. Outputs were "
              "compared with the emulator, including signs of zeros and bits of NaNs. A "
              "family is an instruction set: sm80 is mma.sync, sm90 wgmma, wmma the C++ "
              "interface; split is the split pass, part by part; batch means the kernels "
              "for batches of small GEMMs.",
      .command = "bitcut verify --kernel all",
      .kind = RESULT_VERIFY, .rows = verify_rows },
    { .name = "speed",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS of whole GEMMs against n",
      .title = "Speed of whole GEMMs",
      .text = "n x n x n, from FP32 matrices to FP32 D, the split included: 2 n^3 "
              "operations over the time, whatever the number of terms. Peers are cuBLAS: "
              "sgemm, sgemm-tf32 (FAST_TF32), bf16x9 (EMULATED_16BFX9), hgemm (f16 "
              "parts), ootomo3 (three hgemm products of halfhalf parts). If a peer gives "
              "the bits of another, it is marked as a fallback to it.",
      RECIPES, .part = "whole", .roofs = true,
      AGAINST_N("tflops", "TFLOPS", false, "group",
                "The gap to the roof for the same number of products is the cost of "
                "split, promotion and kernel. Points above sgemm are faster than the "
                "FP32 cores."), ROUNDS },
    { .name = "sustained",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS of whole GEMMs under load and in bursts, against n",
      .title = "Speed in bursts and under load",
      .text = "A burst is about 30 ms of the same GEMM. Under load the GEMM runs for "
              "longer, and the first three tenths only warm the board up. A name gives "
              "the n at which the board reduced its clock, and the reason: power (the "
              "power limit) or thermal (the temperature).",
      RECIPES, .part = "whole", .columns = load_columns,
      .plot = { .x = "n", .y = "tflops_sustained", .series = "loaded", .panels = "group",
                .x_label = "n", .y_label = "TFLOPS", .x_log = true,
                .low = "load_low", .high = "load_high",
                .bars = "Marks are under load; bars reach to bursts.",
                .sees = "A long bar is a GEMM that is faster in a burst than in long "
                        "work; its name should have a limit there." } },
    { .name = "sustained-percent",
      .chapter = CHAPTER_SPEED,
      .what = "speed of whole GEMMs under load in percent of the speed in bursts, "
              "against n",
      .title = "Under load, in percent of bursts",
      .text = "The same data: the speed of a GEMM under load in percent of its speed in "
              "bursts.",
      RECIPES, .part = "whole", .columns = load_columns,
      .plot = { .x = "n", .y = "load_percent", .series = "loaded", .panels = "group",
                .x_label = "n", .y_label = "percent of bursts", .x_log = true,
                .sees = "Where the curves of kernels lie as far below 100 as the curves "
                        "of cuBLAS, the board slows all of them equally, and ratios of "
                        "bursts hold under load." } },
    { .name = "speed-product",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS without the split pass against n",
      .title = "Speed of the product alone",
      .text = "The same GEMMs with parts that were computed before.",
      RECIPES, .part = "product", .roofs = true,
      AGAINST_N("tflops", "TFLOPS", false, "group",
                "Closer to its roof than the whole GEMM, especially at small n, where "
                "the split takes the largest share."), ROUNDS },
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
      .text = "A GEMM of three f16 products can reach a third of the rate of one "
              "product: 100 is a third of the sustained rate of hgemm's product on the "
              "same shape.",
      RECIPES, .part = "whole", 
      AGAINST_N("third", "percent", false, "group",
                "At 100, three products run as fast as the f16 rate allows; six products "
                "can reach 50, nine can reach 33.") },
    { .name = "relres",
      .chapter = CHAPTER_UNIT,
      .what = "relative residual of whole GEMMs against n",
      .title = "Relative residual on the device",
      .text = "||D - C||_F / ||C||_F against the exact product, over the outputs that "
              "were compared, next to the residual of cuBLAS SGEMM. A kernel gives the "
              "results of its model, bit for bit.",
      RECIPES, .part = "whole", 
      AGAINST_N("relres", "relative residual", true, "group",
                "Points below sgemm are more accurate than cuBLAS in FP32. Kernels with "
                "curves that rise steeply with n add on the unit, which truncates.") },
    { .name = "energy",
      .chapter = CHAPTER_SPEED,
      .what = "GFlop/s/W of whole GEMMs against n",
      .title = "Energy efficiency",
      .text = "2 n^3 operations over the energy that the board took (NVML), in a loop of "
              "the whole GEMM. Highest values of Ootomo and Yokota on their A100: 121 "
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
      .what = "TFLOPS against operations per byte",
      .title = "Roofline",
      .text = "Each GEMM of the study on any shape, whole and product: speed against "
              "operations per byte, for the fewest bytes that it must move (operands or "
              "parts, and D, once each).",
      .command = "bitcut bench gpu", .study = "recipes", .roofs = true,
      .plot = { .x = "flops_per_byte", .y = "tflops", .series = "label",
                .x_label = "operations per byte", .y_label = "TFLOPS", .x_log = true,
                .y_log = true, .points = true, .panels = "part group",
                .low = "tflops_low", .high = "tflops_high", .bars = OF_ROUNDS,
                .sees = "On its roof a GEMM is limited by the unit. Far below the roof "
                        "it is limited by the split or, with few operations per byte, by "
                        "memory." } },
    { .name = "formats",
      .chapter = CHAPTER_SPEED,
      .what = "recipes by the format of their parts",
      .title = "Data formats",
      .plot = { .sees = "Rows with the same n differ in the format of their parts." },
      .text = "The recipes by the format of their parts. Huang et al. compare formats in "
              "a figure (Fig. 7) without printed values; Table 2 has the peaks of an "
              "A100: 312 TFLOPS for fp16, 156 for tf32, 19.5 for fp32.",
      RECIPES, .part = "whole", .columns = format_columns },
    { .name = "splitk",
      .chapter = CHAPTER_SPEED,
      .what = "TFLOPS against slices of k",
      .title = "Slices of k",
      .text = "512 x 512 x 8192, where D is too small to fill the device: k is cut into "
              "slices, and the results of the slices are added at the end. For "
              "comparison: the figures of Huang et al. for an FP32 GEMM of CUTLASS on an "
              "A100, on the same shape.",
      .command = "bitcut bench gpu --study splitk", .study = "splitk",
      .shapes = { "splitk" }, .roofs = true,
      AXES("split_k", "tflops", "slices", "TFLOPS", false, false, "part group",
           "Speed rises with slices while the device is not yet full, and falls when the "
           "sum of the slices costs more than they gain."), ROUNDS,
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
      .text = "The speed of a kernel with several stages, filled by asynchronous copies, "
              "over the speed of the same kernel with a single stage and plain copies. "
              "For comparison: the figures of Huang et al. for a kernel with f16 parts "
              "on an A100.",
      .command = "bitcut bench gpu --study stages", .study = "stages",
      .shapes = { "square" },
      AGAINST_N("speedup", "speedup", false, NULL,
                "Above 1, asynchronous copies help."),
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
                "The gap between one stage and several is the gain by asynchronous "
                "copies."), ROUNDS },
    { .name = "pipeline",
      .chapter = CHAPTER_SPEED,
      .what = "LE-GEMM with its pipeline over without",
      .title = "LE-GEMM's pipeline",
      .text = "The speed of LE-GEMM's kernel with its pipeline over the speed with a "
              "single stage. The paper prints an average of 2.72 on an A800 and 3.02 on "
              "an MI210; its other values are only in a figure (Fig. 17).",
      .command = "bitcut bench gpu --study pipeline", .study = "pipeline",
      .shapes = { "square" },
      AGAINST_N("speedup", "speedup", false, NULL,
                "Above 1, the pipeline helps.") },
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
                "Small tiles fill the device at small n; large tiles read less data at "
                "large n."), ROUNDS,
      .printed = { { 8192, 36.9567, "Huang et al., 128x128x16 (A100)", "CUTLASS" },
                   { 8192, 115.962, "Huang et al., 256x128x16 (A100)", "CUTLASS" } } },
    { .name = "shapes",
      .chapter = CHAPTER_SPEED,
      .what = "shapes of applications, and rectangular shapes",
      .title = "Shapes of applications",
      .plot = { .sees = "The column third is comparable between shapes; tflops is not." },
      .text = "Whole GEMMs with rectangular A and B: wide (n x 4n x n) and deep (n x n x "
              "4n), and the layers and distances of three applications, for which "
              "LE-GEMM gives no sizes.",
      .command = "bitcut bench gpu --shapes kmeans --shapes bert --shapes llm",
      .study = "recipes", .part = "whole",
      .shapes = { "wide", "deep", "kmeans", "bert", "llm" }, .columns = shape_columns },
    { .name = "strided",
      .chapter = CHAPTER_SPEED,
      .what = "batches of GEMMs at strides",
      .title = "Batches of GEMMs at strides",
      .plot = { .sees = "If ratio_ootomo3 is above 1, the kernel is faster than cuBLAS "
                        "on the same parts." },
      .text = "Batches of whole GEMMs, as for attention heads. Peers are the same "
              "products by cublasGemmStridedBatchedEx. Times are for the whole batch.",
      .command = "bitcut bench gpu --study strided",
      .study = "strided", .part = "whole", .columns = strided_columns },
    { .name = "batches",
      .chapter = CHAPTER_SPEED,
      .what = "batches of small GEMMs, their speed over cublasGemmStridedBatchedEx",
      .title = "Batches of small GEMMs",
      .text = "n x n x n in f16 with FP32 sums, in batches, by strides or by pointers. "
              "For each n the figure has the first kernel that ran, which is the kernel "
              "that the C library selects if all of them ran. The ratio is the time of "
              "cublasGemmStridedBatchedEx over the time of the kernel, in the same run.",
      BATCHES,
      AGAINST_N("ratio_strided", "times cuBLAS at strides", true, NULL,
                "Above 1 the kernel is faster than cuBLAS.") },
    { .name = "batches-pointers",
      .chapter = CHAPTER_SPEED,
      .what = "the same over cublasGemmBatchedEx",
      .title = "Batches of small GEMMs by pointers",
      .text = "The same kernels compared with cublasGemmBatchedEx, which takes pointers.",
      BATCHES,
      AGAINST_N("ratio_pointers", "times cuBLAS by pointers", true, NULL,
                "Above 1 the kernel is faster than cuBLAS.") },
    { .name = "batches-mean",
      .chapter = CHAPTER_SPEED,
      .what = "the mean of these ratios over the shapes up to 32",
      .title = "Batches of small GEMMs on average",
      .plot = { .sees = "Ratios above 1 are faster than cuBLAS." },
      .text = "Speed relative to both functions of cuBLAS, with FP32 sums and with f16 "
              "sums: the mean over the shapes with m, n and k up to 32, whose number is "
              "in the table.",
      .command = "bitcut bench gpu --study batch", .kind = RESULT_MEAN,
      .columns = mean_columns },
    { 0 }
    /* clang-format on */
};
