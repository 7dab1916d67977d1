/* SPDX-License-Identifier: BSD-3-Clause */
/* Printed speed and energy of papers, compared with results of devices. */
#include "analysis/study/compare.h"
#include "analysis/study/results.h"
#include "analysis/study/study.h"

/* The keys of its rows: keys of `bench gpu` that claims use. */
static const char *const keys[] = { "study",
                                    "shapes",
                                    "name",
                                    "recipe",
                                    "tile",
                                    "stages",
                                    "split_k",
                                    "device",
                                    "input",
                                    "m",
                                    "n",
                                    "k",
                                    "count",
                                    "ms",
                                    "tflops",
                                    "gflops_per_watt",
                                    "speedup",
                                    "relres",
                                    "ratio_strided",
                                    "ratio_pointers" };

enum { KEYS = sizeof keys / sizeof keys[0] };

static size_t one_point(const struct study *study, enum study_scale scale)
{
    (void)study, (void)scale;
    return 1;
}

static void recorded_row(struct study_point *p, const json_t *result)
{
    json_t *row = json_object();
    for (int i = 0; i < KEYS; i++) {
        json_t *value = json_object_get(result, keys[i]);
        json_object_set_new(row, i ? keys[i] : "bench",
                            value ? json_incref(value) : json_null());
    }
    study_row(p, row);
}

/* Whether the result is a single GEMM, timed as a whole, from FP32 operands without
   equilibration, as in papers. */
static bool counts(const json_t *result)
{
    return result_matches(result, "part", "whole") && result_number(result, "ms") > 0 &&
           !result_is_equilibrated(result) && result_gemms(result) == 1;
}

static enum bitcut_status run_recorded(const struct study *study, struct study_point *p,
                                       struct fault *f)
{
    (void)study, (void)f;
    const struct results *from = p->sources->results;
    json_t *bench = from ? from->rows[RESULT_BENCH] : NULL,
           *mean = from ? from->rows[RESULT_MEAN] : NULL;
    for (size_t i = 0; i < json_array_size(bench); i++)
        if (counts(json_array_get(bench, i))) recorded_row(p, json_array_get(bench, i));
    for (size_t i = 0; i < json_array_size(mean); i++)
        recorded_row(p, json_array_get(mean, i));
    return BITCUT_OK;
}

/* --- claims ----------------------------------------------------------------------- */

#define LEGEMM_THERE                                                                     \
    "CUDA 12.0 and the authors' kernels there, cuBLAS and bitcut's kernels here, all "   \
    "tuned alike"
#define ROCM_THERE                                                                       \
    "rocBLAS, rocWMMA and the authors' kernels there, bitcut's and the device's BLAS "   \
    "here"
#define CUTLASS_THERE "CUTLASS kernels there, bitcut's here"

/* The speed of LE-GEMM relative to another method on these shapes; ROWS selects the
   other's rows. */
#define FASTER(NAME, DEVICE, PAPER, NUMBER, SHAPES, WHO, ROWS, BESIDE)                   \
    {                                                                                    \
        .name = NAME, .number = NUMBER, .tolerance = 1.1, .paper = PAPER,                \
        .device = DEVICE, .judge = claim_judge_ratios, .beside = BESIDE,                 \
        .what = "the speed of LE-GEMM is this multiple of the speed of " WHO             \
                " on " DEVICE ", shapes " SHAPES,                                        \
        .about = &(const struct claim_ratios)                                            \
        {                                                                                \
            .key = "ms", .top = "bench=recipes shapes=" SHAPES " " ROWS,                 \
            .bottom = "bench=recipes shapes=" SHAPES " recipe=legemm",                   \
            .cases = "device input m n k"                                                \
        }                                                                                \
    }

#define OVER_SGEMM(NAME, PAPER, NUMBER, SHAPES)                                          \
    FASTER(NAME, "A800", PAPER, NUMBER, SHAPES, "cuBLAS SGEMM", "name=sgemm",            \
           LEGEMM_THERE)
#define OVER_PARTS(NAME, NUMBER, SHAPES, WHO)                                            \
    FASTER(NAME, "A800", TABLE6, NUMBER, SHAPES, WHO, "recipe=" WHO, LEGEMM_THERE)
#define OVER_PLAIN(NAME, NUMBER, SHAPES)                                                 \
    FASTER(NAME, "A800", TABLE6, NUMBER, SHAPES, "WMMA", "recipe=plain",                 \
           "three products cannot be faster than one if both are tuned; " LEGEMM_THERE)

#define MI210_FASTER(NAME, NUMBER, SHAPES, WHO, ROWS)                                    \
    FASTER("mi210-" NAME, "MI210", TABLE6, NUMBER, SHAPES, WHO, ROWS, ROCM_THERE)
#define OVER_ROCBLAS(NAME, NUMBER, SHAPES)                                               \
    FASTER("mi210-" NAME, "MI210", LEGEMM55, NUMBER, SHAPES, "rocBLAS", "name=sgemm",    \
           ROCM_THERE)

/* The speed of LE-GEMM with its pipeline relative to the speed without. */
#define PIPELINE(NAME, DEVICE, NUMBER, BESIDE)                                           \
    {                                                                                    \
        .name = NAME, .number = NUMBER, .tolerance = 1.1,                                \
        .paper = "LE-GEMM, section 5.6", .device = DEVICE, .judge = claim_judge_values,  \
        .beside = BESIDE,                                                                \
        .what = "LE-GEMM's pipeline makes it this many times as fast, on " DEVICE,       \
        .about = &(const struct claim_values)                                            \
        {                                                                                \
            .key = "speedup", .where = "bench=pipeline recipe=legemm"                    \
        }                                                                                \
    }

/* The speed of tiles of LE-GEMM's model relative to other tiles. */
#define MODEL(NAME, DEVICE, NUMBER)                                                      \
    {                                                                                    \
        .name = NAME, .number = NUMBER, .paper = "LE-GEMM, section 5.6",                 \
        .device = DEVICE, .needs = "the manual parameters, which are not published",     \
        .what =                                                                          \
            "tiles of the model are this many times as fast as manual tiles on " DEVICE  \
    }

/* The largest value of a column, on an A100. */
#define HIGHEST(NAME, PAPER, NUMBER, WHO, KEY, WHAT)                                     \
    {                                                                                    \
        .name = NAME, .number = NUMBER, .paper = PAPER, .what = WHAT, .device = "A100",  \
        .judge = claim_judge_values, .beside = CUTLASS_THERE,                            \
        .about = &(const struct claim_values)                                            \
        {                                                                                \
            .key = KEY, .where = "bench=recipes shapes=square " WHO                      \
        }                                                                                \
    }

/* Batches of small GEMMs on an MI210 relative to a function of rocBLAS.  There are no
   rows for sizes below 16. */
#define BATCHED(NAME, NUMBER, WHO, KEY, PEER)                                            \
    {                                                                                    \
        .name = NAME, .number = NUMBER, .paper = "Lu et al., abstract",                  \
        .what = "batches of small f16 GEMMs are this many times as fast as " WHO,        \
        .device = "MI210", .judge = claim_judge_values,                                  \
        .beside = WHO " there, " PEER " here", .about = &(const struct claim_values)     \
        {                                                                                \
            .key = KEY                                                                   \
        }                                                                                \
    }
#define TINY(NAME, NUMBER, WHO)                                                          \
    {                                                                                    \
        .name = NAME, .number = NUMBER, .paper = "Lu et al., abstract",                  \
        .device = "MI210", .needs = "results of GEMMs below 16",                         \
        .what = "for sizes below 16 they are this many times as fast as " WHO            \
    }

/* A sentence about all sizes: one row relative to another. */
#define AT_MIN(KEY, TOP, BOTTOM)                                                       \
    &(const struct claim_ratios)                                                         \
    {                                                                                    \
        .key = KEY, .top = "bench=recipes shapes=square " TOP,                           \
        .bottom = "bench=recipes shapes=square " BOTTOM, .cases = "device input m n k",  \
        .least = 1                                                                       \
    }

#define TABLE6   "LE-GEMM, Table 6"
#define LEGEMM55 "LE-GEMM, section 5.5"
#define OOTOMO14 "Ootomo and Yokota, section 4.2"
#define OOTOMO16 "Ootomo and Yokota, section 4.3"

static const struct claim recorded_claims[] = {
    /* clang-format off */
    OVER_SGEMM("square-sgemm", TABLE6, 1.37, "square"),
    OVER_PLAIN("square-plain", 1.40, "square"),
    OVER_PARTS("square-markidis", 2.77, "square", "markidis"),
    OVER_PARTS("square-ootomo", 2.74, "square", "ootomo"),
    OVER_SGEMM("wide-sgemm", TABLE6, 1.40, "wide"),
    OVER_PLAIN("wide-plain", 1.43, "wide"),
    OVER_PARTS("wide-markidis", 2.84, "wide", "markidis"),
    OVER_PARTS("wide-ootomo", 2.80, "wide", "ootomo"),
    OVER_SGEMM("deep-sgemm", TABLE6, 1.36, "deep"),
    OVER_PLAIN("deep-plain", 1.81, "deep"),
    OVER_PARTS("deep-markidis", 4.67, "deep", "markidis"),
    OVER_PARTS("deep-ootomo", 3.76, "deep", "ootomo"),
    OVER_SGEMM("kmeans-sgemm", LEGEMM55, 1.33, "kmeans"),
    OVER_SGEMM("bert-sgemm", LEGEMM55, 1.18, "bert"),
    OVER_SGEMM("llm-sgemm", LEGEMM55, 1.34, "llm"),
    PIPELINE("pipeline", "A800", 2.72, LEGEMM_THERE),
    MI210_FASTER("square-rocblas",  1.31, "square", "rocBLAS", "name=sgemm"),
    MI210_FASTER("square-rocwmma",  1.26, "square", "rocWMMA", "recipe=plain"),
    MI210_FASTER("square-markidis", 2.81, "square", "markidis", "recipe=markidis"),
    MI210_FASTER("square-ootomo",   2.99, "square", "ootomo", "recipe=ootomo"),
    MI210_FASTER("wide-rocblas",    1.31, "wide", "rocBLAS", "name=sgemm"),
    MI210_FASTER("wide-rocwmma",    1.24, "wide", "rocWMMA", "recipe=plain"),
    MI210_FASTER("wide-markidis",   2.99, "wide", "markidis", "recipe=markidis"),
    MI210_FASTER("wide-ootomo",     3.10, "wide", "ootomo", "recipe=ootomo"),
    MI210_FASTER("deep-rocblas",    1.32, "deep", "rocBLAS", "name=sgemm"),
    MI210_FASTER("deep-rocwmma",    1.45, "deep", "rocWMMA", "recipe=plain"),
    MI210_FASTER("deep-markidis",   3.35, "deep", "markidis", "recipe=markidis"),
    MI210_FASTER("deep-ootomo",     3.45, "deep", "ootomo", "recipe=ootomo"),
    OVER_ROCBLAS("kmeans-rocblas", 1.16, "kmeans"),
    OVER_ROCBLAS("bert-rocblas", 1.16, "bert"),
    OVER_ROCBLAS("llm-rocblas", 1.23, "llm"),
    PIPELINE("mi210-pipeline", "MI210", 3.02, ROCM_THERE),
    MODEL("mi210-model", "MI210", 1.36),
    MODEL("a800-model", "A800", 1.78),
    HIGHEST("tflops-halfhalf", OOTOMO14, 51, "recipe=ootomo", "tflops",
            "the method with f16 parts reaches this many TFlop/s"),
    HIGHEST("tflops-tf32tf32", OOTOMO14, 33, "recipe=ootomo-tf32", "tflops",
            "the method with tf32 parts reaches this many TFlop/s"),
    HIGHEST("watts-halfhalf", OOTOMO16, 121, "recipe=ootomo", "gflops_per_watt",
            "the method with f16 parts reaches this many GFlop/s/W"),
    HIGHEST("watts-tf32tf32", OOTOMO16, 80.9, "recipe=ootomo-tf32", "gflops_per_watt",
            "the method with tf32 parts reaches this many GFlop/s/W"),
    HIGHEST("watts-sgemm", OOTOMO16, 67.0, "name=sgemm", "gflops_per_watt",
            "cuBLAS SGEMM reaches this many GFlop/s/W"),
    { .name = "halfhalf-faster", .printed = "faster than cublas_simt for all matrix sizes",
      .criterion = CRITERION_ORDER, .paper = OOTOMO14, .device = "A100",
      .what = "the method with f16 parts is faster than cuBLAS SGEMM at every size",
      .judge = claim_judge_ratios, .beside = CUTLASS_THERE,
      .about = AT_MIN("ms", "name=sgemm", "recipe=ootomo"),
      .other = AT_MIN("ms", "recipe=ootomo", "name=sgemm"),
      .otherwise = "cuBLAS SGEMM over this method" },
    { .name = "halfhalf-energy", .printed = "lower than cublas_simt for all matrices",
      .criterion = CRITERION_ORDER, .paper = OOTOMO16, .device = "A100",
      .what = "the method with f16 parts takes less energy than cuBLAS SGEMM",
      .judge = claim_judge_ratios, .beside = CUTLASS_THERE,
      .about = AT_MIN("gflops_per_watt", "recipe=ootomo", "name=sgemm"),
      .other = AT_MIN("gflops_per_watt", "name=sgemm", "recipe=ootomo"),
      .otherwise = "cuBLAS SGEMM over this method" },
    { .name = "huang-tensor-core", .number = 1.98, .tolerance = 1.1,
      .paper = "Huang et al., section 3.2",
      .what = "FP32 GEMMs on Tensor Cores are this many times as fast as on CUDA cores",
      .judge = claim_judge_ratios, .beside = CUTLASS_THERE, .device = "A100",
      .about = &(const struct claim_ratios){
          .key = "ms", .top = "bench=recipes shapes=square name=sgemm",
          .bottom = "bench=recipes shapes=square name=sgemm-tf32",
          .cases = "device input m n k" } },
    { .name = "huang-async", .number = 1.195, .tolerance = 1.1,
      .paper = "Huang et al., section 3.5",
      .what = "asynchronous copies make a kernel this many times as fast",
      .judge = claim_judge_values, .device = "A100",
      .beside = "one f16 product in CUTLASS there, bitcut's three products here",
      .about = &(const struct claim_values){ .key = "speedup",
                                             .where = "bench=stages recipe=ootomo" } },
    { .name = "huang-tiles", .number = 3.138, .described = true, .tolerance = 1.1,
      .paper = "Huang et al., section 3.4",
      .what = "a tile of 256x128x16 is this many times as fast as one of 128x128x16 at "
              "8192: 115,962 over 36,956.7 GFLOPS",
      .device = "A100", .needs = "these two CUTLASS kernels" },
    { .name = "huang-splitk", .number = 3.707, .described = true, .tolerance = 1.1,
      .paper = "Huang et al., Table 3",
      .what = "with 8 slices of k, 512 x 512 x 8192 is this many times as fast as with "
              "1: 20,913.4 over 5641.83",
      .judge = claim_judge_ratios, .device = "A100",
      .beside = "FP32 operands in CUTLASS there, bitcut's three products of f16 here",
      .about = &(const struct claim_ratios){
          .key = "tflops", .top = "bench=splitk recipe=ootomo split_k=8",
          .bottom = "bench=splitk recipe=ootomo split_k=1",
          .cases = "device tile name" } },
    BATCHED("lu-batched", 4.14, "rocblas_hgemm_batched", "ratio_pointers",
            "bitcut's kernels over cublasGemmBatchedEx"),
    BATCHED("lu-batched-ex", 4.96, "rocblas_gemm_batched_ex", "ratio_strided",
            "bitcut's kernels over cublasGemmStridedBatchedEx"),
    TINY("lu-tiny", 18.60, "rocblas_hgemm_batched"),
    TINY("lu-tiny-ex", 14.02, "rocblas_gemm_batched_ex"),
    { 0 }
    /* clang-format on */
};

const struct study study_recorded = {
    /* clang-format off */
    .name = "recorded",
    .chapter = CHAPTER_SPEED,
    .what = "recorded speed and energy, and the figures that papers print",
    .title = "Speed and energy that papers print",
    .text = "Single GEMMs, timed as a whole from FP32 operands, and batches of small "
            "GEMMs, as recorded by bench gpu on devices. Ratios are between rows of the "
            "same device, shape and input. A figure that a paper measured on a GPU is "
            "checked by rows of that GPU alone. Without such rows the verdict is cannot, "
            "and the results of other GPUs are given for comparison. Kernels, sizes and "
            "libraries of papers differ as well.",
    .plot = { .sees = "The printed figures of papers next to the figures of a device." },
    .claims = recorded_claims, .reads = READS_RESULTS, .points = one_point,
    .run = run_recorded,
    /* clang-format on */
};
