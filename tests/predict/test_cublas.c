/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions of cuBLAS: the outputs that data/libraries/plans.cu recorded, to the bit,
   from the fields of the algorithm and from the sizes alone. */
#include "lib/number/fma.h"
#include "tests/predict/plan_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(recorded_shapes)
{
    static const struct recorded recorded[] = {
        { "h200-shapes", 2328, 49, 388 }, { "h200-later", 1164, 25, 186 },
        { "h200-layers", 702, 0, 0 },     { "h200-variants", 467, 29, 67 },
        { "h200-held", 2138, 39, 317 },   { "h200-fresh", 1122, 24, 166 },
    };
    for (int i = 0; i < (int)(sizeof recorded / sizeof *recorded); i++)
        compare_file(&recorded[i], "cublas-13.1", false, i);
}
END_TEST

/* Calls and the fields that were recorded for them, in the lines of a file, which also
   have the MiB of the workspace. */
static void compare_answers(const char *file, int lines, int predicted)
{
    const char *const data = getenv("BITCUT_DATA");
    char path[4096];
    struct line l;
    int mib, calls = 0, right = 0;
    snprintf(path, sizeof path, "%s/libraries/plans/%s", data ? data : "data", file);
    FILE *const f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (fscanf(f, "%31s %7s %15s %zu %zu %zu %d %d %99s", l.types, l.layout,
                  l.epilogue, &l.m, &l.n, &l.k, &l.batch, &mib, l.fields) == 9) {
        const enum answer answer = answer_of(&l, mib == 1);
        ck_assert_msg(answer != ANSWER_WRONG, "%s %s %s %zu %zu %zu %d %s", l.types,
                      l.layout, l.epilogue, l.m, l.n, l.k, l.batch, l.fields);
        right += answer == ANSWER_RIGHT;
        calls++;
    }
    fclose(f);
    printf("# %s: %d of %d predicted\n", file, right, calls);
    ck_assert_int_eq(calls, lines);
    ck_assert_int_eq(right, predicted);
}

/* Calls that earlier trees predicted otherwise than recorded. */
START_TEST(contradicted_calls) { compare_answers("h200-contradicted.txt", 3359, 93); }
END_TEST

/* Answers that were read after the trees were fixed. */
START_TEST(other_answers) { compare_answers("h200-answers.txt", 3312, 2643); }
END_TEST

/* --- fields ----------------------------------------------------------------------- */

START_TEST(fields_of_lines)
{
    static const struct cublas_fields named = { .id = 66, .stages = 35, .splits = 9 },
                                      all = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
                                      stream = { .id = 43, .splits = CUBLAS_STREAM_K };
    static const struct {
        const char *line;
        const struct cublas_fields *fields; /* NULL: refused */
    } lines[] = {
        { "id=66,stages=35,splits=9", &named },
        { "splits=9,id=66,stages=35,tile=0", &named },
        { "1,2,3,4,5,6,7,8,9", &all },
        { "id=43,splits=4294967295", &stream },
        { "", NULL },
        { "id", NULL },
        { "id=", NULL },
        { "id=-1", NULL },
        { "id=66 ", NULL },
        { "id=66,,splits=9", NULL },
        { "ids=66", NULL },
        { "id=4294967296", NULL },
        { "66,35", NULL },
        { "1,2,3,4,5,6,7,8,9,10", NULL },
        { "id=1,2,3,4,5,6,7,8,9", NULL },
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct cublas_fields x = all;
        struct fault f = { .about = NULL };
        const enum bitcut_status status = cublas_fields_read(&x, lines[i].line, &f);
        const struct cublas_fields *const want = lines[i].fields ? lines[i].fields : &all;
        ck_assert_msg(!memcmp(&x, want, sizeof x), "%s", lines[i].line);
        ck_assert_int_eq(status, lines[i].fields ? BITCUT_OK : BITCUT_BAD_ARGUMENT);
        if (!lines[i].fields) ck_assert_str_eq(f.about, "fields");
    }
}
END_TEST

/* --- calls ------------------------------------------------------------------------ */

/* A call, and the line or a part of the sentence of its prediction, or of its refusal. */
static const struct {
    const char *types, *layout, *fields;
    size_t m, n, k;
    enum bitcut_status status;
    const char *said;
    int batch; /* GEMMs; 0: one */
} calls[] = {
    /* The trees and the layers. */
    { "bf16", "NT", NULL, 1, 4096, 14336, BITCUT_OK, "slices=4,tile=3584" },
    { "bf16", "NT", NULL, 64, 64, 4096, BITCUT_OK, "slices=3,tile=1408" },
    { "f16.f32", "NT", NULL, 64, 64, 4096, BITCUT_OK, "slices=3,tile=1408" },
    { "e4m3.f32", "NT", NULL, 64, 64, 8192, BITCUT_OK, "promote=4,slices=3,tile=2816" },
    { "e4m3fast.bf16", "NT", NULL, 64, 64, 8192, BITCUT_OK, ".e4m3,slices=3,tile=2816" },
    { "tf32", "NT", NULL, 512, 512, 64, BITCUT_OK, "cublas-tf32@" },
    { "bf16", "TN", NULL, 64, 64, 4096, BITCUT_OK, "slices=3,tile=1408" },
    { "e4m3.f32", "TN", NULL, 64, 64, 4096, BITCUT_UNSUPPORTED, "--fields" },
    { "bf16", "NT", NULL, 64, 64, 16392, BITCUT_UNSUPPORTED, "--fields" },
    { "bf16", "NT", NULL, 8192, 64, 4096, BITCUT_UNSUPPORTED, "--fields" },
    { "bf16.f32", "NT", NULL, 64, 64, 4095, BITCUT_UNSUPPORTED, "--fields" },
    { "e4m3.f32", "NT", NULL, 64, 64, 4104, BITCUT_UNSUPPORTED, "no FP8 product" },
    { "f16", "NN", NULL, 1, 8, 11528, BITCUT_OK, "the last 8 k are in no slice" },
    /* Algorithms. */
    { "f16", "NT", "id=66,stages=35,splits=9", 1, 8, 11528, BITCUT_OK,
      "the last 8 k are in no slice" },
    { "f16", "NT", "id=66,stages=35,splits=8", 1, 8, 11528, BITCUT_OK,
      "slices of 1472, which are added in order" },
    { "f16", "NT", "id=66,stages=7", 1, 8, 11528, BITCUT_UNSUPPORTED, "not 64" },
    { "f16", "NT", "id=66,stages=36", 1, 8, 11528, BITCUT_UNSUPPORTED, "not 64" },
    { "e4m3.f32", "NT", "id=66,stages=35", 1, 16, 11536, BITCUT_UNSUPPORTED, "not 64" },
    { "f16", "NT", "id=24,splits=3", 9, 9, 4096, BITCUT_OK,
      "m16n8k8.f32.f16,slices=3,tile=32,cut=64,partial-first" },
    { "f16", "TN", "id=23,stages=13,splits=3,scheme=4", 9, 9, 4096, BITCUT_OK,
      "slices=3,tile=64,cut=8,partial-first,partial-store,partial-format=f16" },
    { "f16", "NT", "id=24,splits=3,scheme=1", 9, 9, 4096, BITCUT_UNSUPPORTED, "in D" },
    { "f32", "NT", "id=20,stages=28,splits=3", 9, 9, 513, BITCUT_OK, "slices=3,cut=4" },
    { "f32", "NT", "id=55,stages=31,splits=3", 9, 9, 513, BITCUT_OK, "lanes=3,chunk=8" },
    { "f32", "NT", "id=55,stages=31,splits=3,custom=1", 9, 9, 513, BITCUT_OK,
      "lanes=3,chunk=8,lane-order=0.2.1" },
    { "f32", "NT", "id=55,stages=31,splits=4,custom=1", 9, 9, 513, BITCUT_OK,
      "lane-order=0.2.3.1" },
    { "f32", "NT", "id=55,stages=31,splits=5,custom=1", 9, 9, 513, BITCUT_OK,
      "lane-order=0.3.4.1.2" },
    { "f32", "NT", "id=55,stages=31,splits=264,custom=1", 9, 9, 513, BITCUT_OK,
      "lanes=65,chunk=8" },
    { "f32", "NT", "id=55,stages=31,splits=128,custom=1", 9, 9, 513, BITCUT_UNSUPPORTED,
      "no order" },
    { "tf32", "NT", "id=63,stages=10,splits=3,custom=1", 9, 9, 513, BITCUT_UNSUPPORTED,
      "no order" },
    { "bf16", "TN", "id=16", 3, 8, 9, BITCUT_OK, "plain@fma/f32" },
    { "f32", "NT", "id=11,splits=4294967295", 9, 9, 513, BITCUT_OK, "lanes=16" },
    { "f32", "NN", "id=11", 9, 9, 513, BITCUT_OK, "promote=256,slices=2,cut=1" },
    { "f32", "NT", "id=11", 9, 9, 513, BITCUT_OK, "promote=16,lanes=16,chunk=1" },
    { "f32", "TN", "id=11", 9, 9, 513, BITCUT_UNSUPPORTED, "variant" },
    { "f32", "NT", "id=13,custom=100,splits=5", 1, 9, 5696, BITCUT_OK,
      "cut=1,lanes=16,chunk=64,slices-ascending,reduction=halves" },
    { "f32", "NT", "id=13,custom=100", 1, 9, 776, BITCUT_OK, "lanes=16,chunk=49" },
    { "f32", "NT", "id=13,custom=10", 1, 128, 776, BITCUT_OK, "lanes=32,chunk=4" },
    { "f32", "NT", "id=13,custom=10", 1, 154, 776, BITCUT_OK, "lanes=24,chunk=4" },
    { "f32", "NT", "id=13,custom=10", 1, 140, 776, BITCUT_UNSUPPORTED, "129 to 153" },
    { "f32", "NT", "id=13,custom=3", 1, 140, 776, BITCUT_UNSUPPORTED, "variant" },
    { "f32", "NT", "id=14", 1, 140, 776, BITCUT_UNSUPPORTED, "algorithm 14" },
    { "f32", "NT", "id=66,stages=35", 9, 9, 512, BITCUT_UNSUPPORTED, "algorithm 66" },
    { "tf32", "NT", "id=43,stages=34", 99, 99, 512, BITCUT_OK, "cublas-tf32@" },
    { "tf32", "NT", "id=43,stages=34,splits=2", 99, 99, 512, BITCUT_UNSUPPORTED,
      "slices" },
    { "tf32", "NT", "id=43,splits=4294967295", 99, 99, 512, BITCUT_UNSUPPORTED,
      "stream-K" },
    { "tf32", "NT", "id=63,stages=10,splits=5", 99, 9, 512, BITCUT_OK,
      "lanes=5,chunk=32" },
    { "tf32", "NT", "id=21,stages=40", 99, 9, 512, BITCUT_UNSUPPORTED, "stages" },
    { "tf32", "NT", "id=x", 99, 9, 512, BITCUT_BAD_ARGUMENT, "id=x" },
    { "f32", "TT", "id=10,tile=10", 2, 1424, 728, BITCUT_OK, "k is added in order" },
    { "f32", "TT", "id=10,tile=10", 2, 1424, 729, BITCUT_UNSUPPORTED,
      "multiples of 8 k" },
    { "f32", "TT", NULL, 2, 1424, 729, BITCUT_UNSUPPORTED, "--fields" },
    /* Batches, and the limits of their rule. */
    { "f32", "NT", NULL, 17, 2, 4000, BITCUT_OK, "fp32@fma/f32; k is added in order", 2 },
    { "f32", "TN", NULL, 2, 99, 999, BITCUT_OK, "fp32@fma/f32; k is added in order",
      128 },
    { "f32", "TT", NULL, 99, 99, 999, BITCUT_OK, "fp32@fma/f32; k is added in order", 3 },
    { "f32", "NN", NULL, 33, 576, 1984, BITCUT_UNSUPPORTED, "--fields", 350 },
    { "f32", "NT", NULL, 17, 1, 4000, BITCUT_OK, "lanes=32,chunk=1,reduction=halves", 3 },
    { "f32", "NT", NULL, 99, 99, 4097, BITCUT_UNSUPPORTED, "--fields", 3 },
    /* TF32 of short k is computed by multiply-adds, or refused. */
    { "tf32", "TN", NULL, 11, 2024, 552, BITCUT_UNSUPPORTED, "--fields", 9 },
};

START_TEST(calls_by_hand)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct line l = { .epilogue = "none",
                          .m = calls[i].m,
                          .n = calls[i].n,
                          .k = calls[i].k,
                          .batch = calls[i].batch ? calls[i].batch : 1 };
        const struct bitcut_predict_options o = { .size = sizeof o,
                                                  .library = "cublas-13.1",
                                                  .chip = "h200",
                                                  .types = calls[i].types,
                                                  .fields = calls[i].fields };
        const struct library *const library = table_find(TABLE(libraries), o.library);
        const struct library_types *const t = table_find(
            (struct table){ library->types, sizeof *library->types }, o.types);
        struct bitcut_prediction p = { .size = sizeof p };
        char why[BITCUT_TEXT_MAX] = "", said[2000];
        strcpy(l.layout, calls[i].layout);
        const struct bitcut_gemm g = call_of(&l, t, NULL, NULL);
        const enum bitcut_status status = bitcut_predict(&p, &g, &o, why);
        snprintf(said, sizeof said, "%s; %s; %s", p.computation[0].gemm, p.computation[0].text,
                 why);
        ck_assert_msg(status == calls[i].status && strstr(said, calls[i].said),
                      "%s %s: %s: %d %s", calls[i].types,
                      calls[i].fields ? calls[i].fields : "sizes", calls[i].said, status, said);
    }
}
END_TEST

/* --- sizes ------------------------------------------------------------------------ */

static enum bitcut_status predict_line(struct bitcut_prediction *p, const struct line *l)
{
    const struct bitcut_predict_options o = {
        .size = sizeof o, .library = "cublas-13.1", .chip = "h200", .types = l->types
    };
    const struct library *const library = table_find(TABLE(libraries), o.library);
    const struct library_types *const t =
        table_find((struct table){ library->types, sizeof *library->types }, l->types);
    const struct bitcut_gemm g = call_of(l, t, NULL, NULL);
    *p = (struct bitcut_prediction){ .size = sizeof *p };
    return bitcut_predict(p, &g, &o, NULL);
}

/* A size of any magnitude below grain 2^octaves, a multiple of the grain. */
static size_t any_size(uint64_t *state, int grain, int octaves)
{
    const int octave = 1 << test_between(state, 0, octaves - 1);
    return (size_t)(test_between(state, octave, 2 * octave - 1) * grain);
}

/* Any sizes are predicted or refused, those out of the recorded range are refused, and of
   the others more than the given percentage is predicted. */
START_TEST(any_sizes)
{
    static const struct {
        const char *types;
        int batch, percent;
    } kinds[] = {
        { "f16", 1, 75 },  { "f16.f32", 1, 75 }, { "bf16", 1, 75 }, { "bf16.f32", 1, 75 },
        { "f32", 1, 70 },  { "tf32", 1, 65 },    { "f16", 7, 75 },  { "bf16.f32", 7, 75 },
        { "f32", 70, 80 }, { "tf32", 70, 70 },
    };
    static const char layouts[][3] = { "NN", "NT", "TN", "TT" };
    const int cases = test_cases(4000, 40000);
    uint64_t state = test_seed();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int less = kinds[i].batch > 1 ? 2 : 0;
        int predicted = 0;
        for (int c = 0; c < cases; c++) {
            struct line l = { .epilogue = "none",
                              .m = any_size(&state, 1, 13 - less),
                              .n = any_size(&state, 8, 10 - less),
                              .k = any_size(&state, 8, 11 - less),
                              .batch = kinds[i].batch };
            struct bitcut_prediction p;
            strcpy(l.types, kinds[i].types);
            memcpy(l.layout, layouts[c % 4], sizeof *layouts);
            predicted += predict_line(&p, &l) == BITCUT_OK;
            l.m += 8192;
            ck_assert_int_eq(predict_line(&p, &l), BITCUT_UNSUPPORTED);
        }
        printf("# %s, %d GEMMs: %d of %d predicted\n", kinds[i].types, kinds[i].batch,
               predicted, cases);
        ck_assert_int_gt(100 * predicted, kinds[i].percent * cases);
    }
}
END_TEST

/* Parts of a call that the rules do not cover. */
START_TEST(other_calls)
{
    struct line l = {
        .epilogue = "none", .m = 64, .n = 64, .k = 4096, .batch = 1, .layout = "NT"
    };
    static const uint32_t one = 0x3f800000;
    struct bitcut_predict_options o = { .size = sizeof o,
                                        .library = "cublas-13.1",
                                        .chip = "h200" };
    struct bitcut_prediction p = { .size = sizeof p };
    const struct library *const library = table_find(TABLE(libraries), o.library);
    const struct library_types *const t =
        table_find((struct table){ library->types, sizeof *library->types }, "bf16");
    const struct bitcut_gemm good = call_of(&l, t, NULL, NULL);
    struct bitcut_gemm g = good;
    ck_assert_int_eq(bitcut_predict(&p, &g, &o, NULL), BITCUT_OK);
    g.count = 2;
    ck_assert_int_eq(bitcut_predict(&p, &g, &o, NULL), BITCUT_OK);
    ck_assert_uint_eq(p.computation[0].outputs, 2 * 64 * 64);
#define REFUSED(change)                                                                      \
    g = good;                                                                                \
    change;                                                                                  \
    ck_assert_int_eq(bitcut_predict(&p, &g, &o, NULL), BITCUT_UNSUPPORTED)
    REFUSED(g.alpha = 0x40000000);
    REFUSED((g.beta = one, g.c.at = &one));
    REFUSED(g.epilogue[0] = BITCUT_STEP_RELU);
    REFUSED(g.d.layout = BITCUT_COLUMN_MAJOR);
    REFUSED((g.bias.at = &one, g.bias_rows = true));
    REFUSED((g.count = 2, g.a.stride = 0));
    REFUSED(g.scale_a.at.at = &one);
    REFUSED(g.a.ld = 4104);
    REFUSED(g.b.ld = 4104);
    REFUSED(g.d.ld = 72);
#undef REFUSED
    o.library = "openblas-0.3.21", o.chip = "haswell", o.fields = "id=66";
    g = good;
    g.a.format = g.b.format = g.d.format = NULL;
    ck_assert_int_eq(bitcut_predict(&p, &g, &o, NULL), BITCUT_BAD_ARGUMENT);
}
END_TEST

/* Products of the last 8 k are lost: D is that of the other k. */
START_TEST(lost_products)
{
    enum { M = 3, N = 8, K = 11528 };
    const struct bitcut_predict_options o = { .size = sizeof o,
                                              .library = "cublas-13.1",
                                              .chip = "h200",
                                              .types = "f16.f32",
                                              .fields = "id=66,stages=35,splits=9" };
    uint16_t *const ones = malloc(2 * N * K);
    uint32_t d[M * N];
    struct bitcut_gemm g = gemm_of(NULL, NULL);
    for (int i = 0; i < N * K; i++) ones[i] = 0x3c00;
    g.m = M, g.n = N, g.k = K;
    g.a.format = g.b.format = &formats[FORMAT_F16];
    g.b.layout = BITCUT_COLUMN_MAJOR;
    g.a.at = g.b.at = ones;
    g.d.to = d;
    for (int turn = 0; turn < 4; turn++) {
        g.a.layout = turn & 1 ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
        g.b.layout = turn & 2 ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
        ck_assert_int_eq(bitcut_predict_gemm(&g, &o, 1, NULL), BITCUT_OK);
        for (int i = 0; i < M * N; i++) ck_assert_uint_eq(d[i], 0x46340000); /* 11520 */
    }
    free(ones);
}
END_TEST

TEST_MAIN("cublas", recorded_shapes, contradicted_calls, other_answers, fields_of_lines,
          calls_by_hand, any_sizes, other_calls, lost_products)
