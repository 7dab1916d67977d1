/* SPDX-License-Identifier: BSD-3-Clause */
/* The recipes of libraries, shape by shape, as found from their results. */
#include "analysis/study/compare.h"
#include "analysis/study/results.h"
#include "analysis/study/study.h"

#include <string.h>

static const char *const keys[] = { "library", "version",  "device", "function",
                                    "compute", "operands", "result", "layout",
                                    "m",       "n",        "k",      "recipe",
                                    "unit",    "order",    "promote" };

enum { KEYS = sizeof keys / sizeof keys[0] };

static size_t library_points(const struct study *study, enum study_scale scale)
{
    (void)study, (void)scale;
    return 1;
}

/* Whether a unit multiplies f16 parts; whether it multiplies FP32 values. */
static bool is_of(const json_t *row, const char *recipe, const char *format)
{
    const char *unit = json_string_value(json_object_get(row, "unit"));
    const char *end = unit ? strrchr(unit, '.') : NULL;
    return result_matches(row, "recipe", recipe) && end && !strcmp(end + 1, format);
}

static enum bitcut_status run_libraries(const struct study *study, struct study_point *p,
                                        struct fault *f)
{
    (void)study, (void)f;
    for (size_t i = 0; i < json_array_size(p->sources->libraries); i++) {
        const json_t *from = json_array_get(p->sources->libraries, i);
        json_t *row = json_object();
        for (int key = 0; key < KEYS; key++) {
            json_t *value = json_object_get(from, keys[key]);
            json_object_set_new(row, keys[key], value ? json_incref(value) : json_null());
        }
        json_object_set_new(row, "one_f16_part",
                            json_boolean(is_of(from, "plain", "f16")));
        json_object_set_new(row, "fp32",
                            json_boolean(result_matches(from, "recipe", "fp32")));
        json_object_set_new(row, "bf16x9",
                            json_boolean(result_matches(from, "recipe", "bf16x9")));
        study_row(p, row);
    }
    return BITCUT_OK;
}

#define COMPUTES(FLAG, WHERE)                                                            \
    &(const struct claim_flags) { FLAG, "library=cuBLAS " WHERE, "recipe" }

/* For the version that ran all of them on the same inputs. */
#define FAST(PARTS) "version=13.1.0 compute=CUBLAS_COMPUTE_32F_FAST_" PARTS

static const struct claim library_claims[] = {
    /* clang-format off */
    { .name = "cublas-fast16f", .printed = "consistent with WMMA",
      .what = "CUBLAS_COMPUTE_32F_FAST_16F rounds FP32 values to one f16 part and "
              "corrects nothing, as WMMA kernels do",
      .paper = "LE-GEMM, section 5.7", .judge = claim_judge_flags,
      .about = COMPUTES("one_f16_part", FAST("16F")),
      .other = COMPUTES("one_f16_part", FAST("TF32")),
      .otherwise = "CUBLAS_COMPUTE_32F_FAST_TF32, because the recorded inputs are "
                   "multiples of 2^-23 below 1, which have the same parts in f16 as in "
                   "tf32",
      .beside = "cuBLAS 13.1 on an H100 here, CUDA 12.0 on an A800 there" },
    { .name = "cublas-simt", .printed = "Not used",
      .what = "cuBLAS SGEMM computes in FP32 multiply-adds, not by Tensor Cores",
      .paper = "Ootomo and Yokota, Table 4", .judge = claim_judge_flags,
      .about = COMPUTES("fp32", "compute=CUBLAS_COMPUTE_32F operands=f32"),
      .other = COMPUTES("fp32", "compute=CUBLAS_COMPUTE_32F_FAST_TF32"),
      .otherwise = "CUBLAS_COMPUTE_32F_FAST_TF32",
      .beside = "cuBLAS 13.1 on an H100 and H200 here, CUDA 11.3 on an A100 there; its "
                "order of k differs from shape to shape" },
    { .name = "cublas-bf16x9", .device = "B200",
      .printed = "FP32 emulation with Blackwell BF16 tensor cores",
      .what = "CUBLAS_COMPUTE_32F_EMULATED_16BFX9 computes with bf16 parts on Blackwell",
      .paper = "NVIDIA, Boosting Matrix Multiplication Speed and Flexibility with NVIDIA "
               "cuBLAS 12.9",
      .judge = claim_judge_flags,
      .about = COMPUTES("bf16x9", "compute=CUBLAS_COMPUTE_32F_EMULATED_16BFX9"),
      .other = COMPUTES("bf16x9", "compute=CUBLAS_COMPUTE_32F operands=f32"),
      .otherwise = "CUBLAS_COMPUTE_32F",
      .beside = "NVIDIA documents it for Blackwell only, and states that emulation is "
                "implemented on a subset of architectures; on an H100 cuBLAS 13.1 falls "
                "back to FP32" },
    { 0 }
    /* clang-format on */
};

const struct study study_libraries = {
    /* clang-format off */
    .name = "libraries",
    .chapter = CHAPTER_EVIDENCE,
    .what = "what cuBLAS and other libraries compute, shape by shape",
    .title = "What libraries compute",
    .text = "Results of libraries, each with the recipe, unit and order of k with which "
            "the emulator gives all of its bits, as found by bitcut explain "
            "(data/libraries). The test libraries.sh computes them anew.",
    .plot = { .sees = "A row is a call of a library and the configuration that gives its "
                      "bits." },
    .claims = library_claims, .reads = READS_LIBRARIES, .points = library_points,
    .run = run_libraries,
    /* clang-format on */
};
