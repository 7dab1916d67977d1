/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions of PyTorch: the outputs that data/libraries/torch_plans.py recorded, to the bit,
   from the fields of the algorithm and from the sizes alone; and which function a call makes. */
#include "tests/predict/plan_line.h"

START_TEST(recorded_calls)
{
    static const struct recorded recorded[] = {
        { "torch-shapes", 1442, 130, 300 },
        { "torch-later", 1009, 71, 217 },
    };
    for (int i = 0; i < (int)(sizeof recorded / sizeof *recorded); i++)
        compare_file(&recorded[i], "torch-2.11", true, i);
}
END_TEST

/* --- calls ------------------------------------------------------------------------ */

/* A call, and a part of its prediction, of the function it makes, or of its refusal. */
static const struct {
    struct line of;
    const char *fields;
    enum bitcut_status status;
    const char *said;
} calls[] = {
    /* Functions and their workspaces. */
    { { "mm", "bf16", "NT", "none", "", 64, 64, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "cublasGemmEx with a workspace of 32 MiB; "
      "plain@hopper/mma.m16n8k16.f32.bf16,slices=3" },
    { { "linear", "bf16", "NT", "none", "", 64, 64, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "GemmEx" },
    { { "linear", "bf16", "NT", "bias", "", 64, 4096, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "cublasLtMatmul with a workspace of 1 MiB" },
    { { "linear", "bf16", "NT", "bias", "", 64, 1, 4096, 1, 0 },
      "id=66,stages=35",
      BITCUT_OK,
      "GemmEx with a workspace of 32 MiB; plain@hopper/mma.m16n8k16.f32.bf16,"
      "epilogue=alpha+round+bias" },
    { { "linear", "bf16", "NT", "bias", "", 1, 64, 4096, 1, 0 },
      "id=66,stages=35",
      BITCUT_OK,
      "LtMatmul" },
    { { "linear", "f32", "NT", "bias", "", 64, 64, 1, 1, 0 },
      "id=55,stages=31",
      BITCUT_OK,
      "GemmEx" },
    { { "linear", "f32", "NT", "bias", "", 64, 64, 2, 1, 0 },
      "id=55,stages=31",
      BITCUT_OK,
      "LtMatmul" },
    { { "addmm", "bf16", "NT", "c", "", 64, 64, 4096, 1, 0 }, NULL, BITCUT_OK, "GemmEx" },
    { { "linear", "bf16", "NT", "none", "", 25, 4096, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "f32.bf16; " },
    { { "linear", "bf16", "NT", "bias", "", 40, 4096, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "f32.bf16; " },
    { { "linear", "bf16", "NT", "none", "", 40, 4096, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "slices=2" },
    { { "bmm", "bf16", "NT", "none", "", 64, 64, 4096, 3, 0 },
      NULL,
      BITCUT_OK,
      "StridedBatchedEx" },
    { { "bmm", "bf16", "NT", "none", "", 64, 64, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "GemmEx" },
    { { "_scaled_mm", "e4m3.bf16", "NT", "none", "", 64, 64, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "LtMatmul" },
    { { "_int_mm", "s8.s32", "NN", "none", "", 64, 64, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "wgmma-sat.m64n8k32.s32.s8" },
    /* Other algorithms with the smaller workspace. */
    { { "linear", "f32", "NT", "none", "", 24, 8, 48, 1, 0 },
      NULL,
      BITCUT_OK,
      "slices=12,cut=4" },
    { { "linear", "f32", "NT", "bias", "", 24, 8, 48, 1, 0 },
      NULL,
      BITCUT_OK,
      "slices=3,tile=16" },
    /* A matrix with one row or column is one by rows; a batch with n = 1 is transposed.
     */
    { { "mm", "f32", "NT", "none", "", 64, 1, 4096, 1, 0 },
      "id=20,stages=28,splits=3",
      BITCUT_OK,
      "cut=32" },
    { { "mm", "f32", "TN", "none", "", 64, 8, 4096, 1, 0 },
      "id=20,stages=28,splits=3",
      BITCUT_OK,
      "cut=4" },
    { { "mm", "f32", "TN", "none", "", 1, 8, 4096, 1, 0 },
      "id=20,stages=28,splits=3",
      BITCUT_OK,
      "cut=32" },
    { { "bmm", "f32", "TN", "none", "", 8, 1, 4096, 2, 0 },
      "id=20,stages=28,splits=3",
      BITCUT_OK,
      "cut=4" },
    { { "bmm", "f32", "NN", "none", "", 8, 1, 4096, 2, 0 },
      "id=20,stages=28,splits=3",
      BITCUT_OK,
      "cut=32" },
    /* C. */
    { { "addmm", "bf16", "NN", "c", "", 64, 64, 512, 1, 0 },
      "id=66,stages=35",
      BITCUT_OK,
      "epilogue=alpha+round+c" },
    { { "addmm", "bf16", "NN", "c-beta", "", 64, 64, 512, 1, 0 },
      "id=66,stages=35",
      BITCUT_OK,
      "epilogue=cublaslt" },
    { { "addmm", "bf16", "NN", "c", "", 64, 64, 512, 1, 0 },
      "id=66,stages=35,splits=2",
      BITCUT_OK,
      "epilogue=alpha+c" },
    { { "addmm", "bf16", "NN", "c", "", 64, 64, 511, 1, 0 },
      "id=23,stages=13",
      BITCUT_OK,
      "epilogue=cublaslt" },
    { { "addmm", "bf16", "NN", "update", "", 64, 64, 511, 1, 0 },
      "id=23,stages=13",
      BITCUT_UNSUPPORTED,
      "alpha and beta other than 1" },
    { { "addmm", "tf32", "NN", "update", "", 64, 64, 512, 1, 0 },
      "id=21,stages=12",
      BITCUT_OK,
      "epilogue=cublaslt" },
    { { "addmm", "tf32", "NN", "update", "", 64, 64, 512, 1, 0 },
      "id=21,stages=12,splits=2",
      BITCUT_OK,
      "epilogue=alpha+c" },
    { { "addmm", "tf32", "NN", "c", "", 64, 64, 512, 1, 0 },
      "id=23,stages=9,splits=2,scheme=1",
      BITCUT_UNSUPPORTED,
      "no rule for C" },
    { { "addmm", "f32", "NN", "c", "", 1, 64, 512, 1, 0 },
      "id=13,custom=83",
      BITCUT_UNSUPPORTED,
      "no rule for C" },
    { { "addmm", "bf16", "TN", "c", "", 64, 64, 512, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "fields" },
    { { "addmm", "f32", "NT", "update", "", 24, 8, 48, 1, 0 },
      NULL,
      BITCUT_OK,
      "epilogue=alpha+c,slices=12" },
    { { "addmm", "f32", "NT", "update", "", 3000, 3000, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "fields" },
    { { "addmm", "tf32", "NN", "update", "", 22, 16, 720, 1, 0 },
      NULL,
      BITCUT_OK,
      "epilogue=alpha+c,slices=23" },
    { { "addmm", "bf16", "NT", "bias-alpha", "", 64, 64, 512, 1, 0 },
      NULL,
      BITCUT_OK,
      "epilogue=cublaslt-bias" },
    { { "addmm", "f32", "NT", "bias-alpha", "", 64, 64, 512, 1, 0 },
      "id=55,stages=31",
      BITCUT_UNSUPPORTED,
      "nvjet alone" },
    { { "linear", "tf32", "NT", "bias", "", 64, 64, 512, 1, 0 },
      "id=21,stages=12,splits=2,scheme=1",
      BITCUT_OK,
      "start=slice-bias" },
    { { "linear", "f32", "NT", "bias", "", 64, 64, 11312, 1, 0 },
      "id=10,splits=9,scheme=1",
      BITCUT_OK,
      "slices=10,tile=1256" },
    /* Factors. */
    { { "_scaled_mm", "e4m3.bf16", "NT", "scales", "", 64, 64, 4096, 1, 0 },
      NULL,
      BITCUT_OK,
      "epilogue=cublaslt-tensors" },
    { { "mm", "bf16", "NN", "scales", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "no factors" },
    /* What a call does not have. */
    { { "mm", "bf16", "NN", "bias", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "no bias" },
    { { "linear", "bf16", "NT", "c", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "no C" },
    { { "mm", "bf16", "NN", "none", "", 64, 64, 64, 2, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "no batches" },
    { { "linear", "bf16", "NN", "none", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "layout NT" },
    { { "linear", "bf16.f32", "NT", "none", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "types" },
    { { "mm", "e4m3.bf16", "NT", "none", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "types" },
    { { "_scaled_mm", "e4m3.bf16", "NT", "none", "", 64, 64, 72, 1, 0 },
      "id=66,stages=36",
      BITCUT_UNSUPPORTED,
      "refused by PyTorch" },
    { { "_int_mm", "s8.s32", "NT", "none", "", 16, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "refused by PyTorch" },
    { { "_int_mm", "s8.s32", "NN", "none", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "by rows" },
    { { "_int_mm", "s8.s32", "NT", "none", "", 64, 64, 131072, 1, 0 },
      NULL,
      BITCUT_UNSUPPORTED,
      "limited" },
    { { "mul", "bf16", "NT", "none", "", 64, 64, 64, 1, 0 },
      NULL,
      BITCUT_BAD_ARGUMENT,
      "no such call" },
};

/* What is predicted for call i, or why it is not. */
static enum bitcut_status predict_call(char *said, size_t size, size_t i)
{
    static const uint32_t zeros[2];
    const struct line *const l = &calls[i].of;
    const struct bitcut_predict_options o = { .size = sizeof o,
                                              .library = "torch-2.11",
                                              .chip = "h200",
                                              .types = l->types,
                                              .fields = calls[i].fields,
                                              .call = l->call };
    const struct library *const library = table_find(TABLE(libraries), o.library);
    const struct bitcut_gemm g = call_of(
        l, table_find((struct table){ library->types, sizeof *library->types }, o.types),
        zeros, zeros);
    struct prediction x = { .parts = 0 };
    struct fault f = { .text = "" };
    enum bitcut_status status = predict_choose(&x, &g, &o, &f);
    if (status == BITCUT_OK) status = predict_find(&x, &g, &f);
    snprintf(said, size, "%s; %s; %s", x.function ? x.function : "",
             x.answer.computation[0].gemm, status == BITCUT_OK ? "" : f.text);
    prediction_clear(&x);
    return status;
}

START_TEST(calls_by_hand)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char said[2000];
        const enum bitcut_status status = predict_call(said, sizeof said, i);
        ck_assert_msg(status == calls[i].status && strstr(said, calls[i].said),
                      "%zu: %s %s %s: %d %s", i, calls[i].of.call, calls[i].of.types,
                      calls[i].said, status, said);
    }
}
END_TEST

TEST_MAIN("torch_calls", recorded_calls, calls_by_hand)
