/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions of cuBLAS: the outputs that data/libraries/plans.cu recorded, to the bit, from
   the fields of the algorithm and from the sizes alone. */
#include "analysis/predict/cublas.h"
#include "analysis/predict/predict.h"
#include "emu/gemm.h"
#include "lib/gemm/plan.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of data/libraries/plans, its lines, and how many are refused, from the fields and
   from the sizes. */
static const struct recorded {
    const char *file;
    int lines, refused_fields, refused_sizes;
} recorded[] = {
    { "h200-shapes", 2328, 55, 1173 },
    { "h200-later", 1164, 29, 524 },
    { "h200-layers", 702, 0, 0 },
};

enum { FILES = sizeof recorded / sizeof *recorded, SAMPLE = 8 };

/* --- operands --------------------------------------------------------------------- */

/* A line: the call, the fields of the algorithm, and the digest of 64 outputs. */
struct line {
    char types[32], layout[8], epilogue[16], fields[100];
    size_t m, n, k;
    int batch;
    uint32_t digest;
};

/* lowbias32 of Chris Wellons, as plans.cu has it */
static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

/* An element as plans.cu makes it, from the fields of its format there. */
struct element {
    const char *name;
    int bytes, fraction, exponent;
};
static const struct element elements[] = {
    { "f16", 2, 10, 12 }, { "bf16", 2, 7, 124 }, { "f32", 4, 23, 124 },
    { "tf32", 4, 23, 124 }, { "e4m3fast", 1, 3, 4 }, { "e4m3", 1, 3, 4 },
};

static const struct element *element_of(const char *name)
{
    const struct element *e = elements;
    while (strncmp(e->name, name, strlen(e->name)) ||
           (name[strlen(e->name)] && name[strlen(e->name)] != '.'))
        e++;
    return e;
}

static void put(void *to, size_t at, const struct element *e, uint32_t index,
                uint32_t which)
{
    const uint32_t h = mix(index + 0x9e3779b9U * which),
                   x = h >> 31 << (8 * e->bytes - 1) |
                       ((uint32_t)e->exponent + (h >> 24) % 4) << e->fraction |
                       (h & ((1U << e->fraction) - 1));
    if (e->bytes == 1) ((uint8_t *)to)[at] = (uint8_t)x;
    else if (e->bytes == 2) ((uint16_t *)to)[at] = (uint16_t)x;
    else ((uint32_t *)to)[at] = x;
}

/* The sampled rows of A, or columns of B, of the last batch, each along k. */
static void *sample_make(const struct line *l, size_t rows, uint32_t which)
{
    const struct element *const e = element_of(l->types);
    const size_t first = (size_t)(l->batch - 1) * rows;
    void *const to = malloc(SAMPLE * l->k * (size_t)e->bytes);
    for (size_t i = 0; i < SAMPLE; i++)
        for (size_t p = 0; p < l->k; p++)
            put(to, i * l->k + p, e, (uint32_t)((first + i * (rows - 1) / 7) * l->k + p), which);
    return to;
}

static void bias_make(uint32_t to[SAMPLE], const struct line *l)
{
    const char *const dot = strchr(l->types, '.');
    for (size_t i = 0; i < SAMPLE; i++)
        put(to, i, element_of(dot ? dot + 1 : l->types), (uint32_t)(i * (l->n - 1) / 7), 3);
}

/* --- predictions ------------------------------------------------------------------ */

static struct bitcut_gemm call_of(const struct line *l, const struct library_types *t,
                                  const uint32_t *bias)
{
    struct bitcut_gemm g = gemm_of(NULL, NULL);
    g.m = l->m, g.n = l->n, g.k = l->k;
    g.a.format = g.b.format = &formats[t->operands];
    g.d.format = &formats[t->result];
    if (l->layout[0] == 'T') g.a.layout = BITCUT_COLUMN_MAJOR;
    if (l->layout[1] == 'T') g.b.layout = BITCUT_COLUMN_MAJOR;
    if (!strcmp(l->epilogue, "bias")) {
        g.bias.at = bias;
        g.bias.format = g.d.format;
    }
    return g;
}

/* The digest of the sampled outputs, as plans.cu computes it. */
static uint32_t sample_digest(const struct prediction *x, const struct line *l,
                              const void *a, const void *b)
{
    struct bitcut_gemm g = x->call;
    uint32_t d[SAMPLE * SAMPLE], sum = 0x811c9dc5;
    char why[BITCUT_TEXT_MAX];
    g.m = g.n = SAMPLE;
    g.a.at = a, g.a.layout = BITCUT_ROW_MAJOR;
    g.b.at = b, g.b.layout = BITCUT_COLUMN_MAJOR;
    g.d.to = d;
    struct bitcut_gemm one = predict_gemm(x, 0, &g);
    ck_assert_msg(bitcut_gemm(NULL, &one, 1, why) == BITCUT_OK, "%s: %s", l->fields, why);
    for (int i = 0; i < 4 * SAMPLE * SAMPLE; i++) {
        const uint32_t word =
            g.d.format == &formats[FORMAT_F32] ? d[i / 4] : ((uint16_t *)d)[i / 4];
        sum = (sum ^ (word >> i % 4 * 8 & 255)) * 0x01000193U;
    }
    return sum;
}

/* Predict a line, from its fields or from its sizes.  Returns whether it is refused. */
static bool is_refused(const struct line *l, const char *fields)
{
    const struct bitcut_predict_options o = { .size = sizeof o,
                                              .library = "cublas-13.1",
                                              .chip = "h200",
                                              .types = l->types,
                                              .fields = fields };
    const struct library *const library = table_find(TABLE(libraries), o.library);
    const struct library_types *const t =
        table_find((struct table){ library->types, sizeof *library->types }, l->types);
    uint32_t bias[SAMPLE];
    struct prediction x = { .parts = 0 };
    struct fault f;
    bias_make(bias, l);
    const struct bitcut_gemm g = call_of(l, t, bias);
    ck_assert_msg(predict_choose(&x, &g, &o, &f) == BITCUT_OK, "%s", f.text);
    const enum bitcut_status status = predict_find(&x, &g, &f);
    ck_assert_msg(status == BITCUT_OK || status == BITCUT_UNSUPPORTED, "%s", f.text);
    if (status == BITCUT_OK) {
        void *const a = sample_make(l, l->m, 1), *const b = sample_make(l, l->n, 2);
        const uint32_t sum = sample_digest(&x, l, a, b);
        ck_assert_msg(sum == l->digest, "%s %s %s %zu %zu %zu %s%s: %08x, not %08x", l->types,
                      l->layout, l->epilogue, l->m, l->n, l->k, l->fields,
                      fields ? "" : ", from the sizes", sum, l->digest);
        free(a);
        free(b);
    }
    prediction_clear(&x);
    return status != BITCUT_OK;
}

static bool read_line(struct line *l, FILE *f)
{
    return fscanf(f, "%31s %7s %15s %zu %zu %zu %d %99s %x%*[^\n]", l->types, l->layout,
                  l->epilogue, &l->m, &l->n, &l->k, &l->batch, l->fields, &l->digest) == 9;
}

/* Every line with BITCUT_WHOLE; otherwise every 8th line, others in each file.  The numbers of
   refused lines are those of all. */
static void compare_file(const struct recorded *r, int offset)
{
    const char *const data = getenv("BITCUT_DATA");
    const int step = test_whole() ? 1 : 8;
    char path[4096];
    struct line l;
    int lines = 0, by_fields = 0, by_sizes = 0;
    snprintf(path, sizeof path, "%s/libraries/plans/%s.txt", data ? data : "data", r->file);
    FILE *const f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (read_line(&l, f))
        if (++lines % step == offset % step) {
            by_fields += is_refused(&l, l.fields);
            by_sizes += l.batch > 1 || is_refused(&l, NULL);
        }
    fclose(f);
    printf("# %s: %d lines, %d refused with the fields, %d without\n", r->file, lines,
           by_fields, by_sizes);
    ck_assert_int_eq(lines, r->lines);
    if (test_whole()) ck_assert_int_eq(by_fields, r->refused_fields);
    if (test_whole()) ck_assert_int_eq(by_sizes, r->refused_sizes);
}

START_TEST(recorded_shapes)
{
    for (int i = 0; i < FILES; i++) compare_file(&recorded[i], i);
}
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
} calls[] = {
    /* The trees and the layers. */
    { "bf16", "NT", NULL, 1, 4096, 14336, BITCUT_OK, "slices=4,tile=3584" },
    { "bf16", "NT", NULL, 64, 64, 4096, BITCUT_OK, "slices=3,tile=1408" },
    { "f16.f32", "NT", NULL, 64, 64, 4096, BITCUT_OK, "slices=3,tile=1408" },
    { "e4m3.f32", "NT", NULL, 64, 64, 8192, BITCUT_OK, "promote=4,slices=3,tile=2816" },
    { "e4m3fast.bf16", "NT", NULL, 64, 64, 8192, BITCUT_OK, ".e4m3,slices=3,tile=2816" },
    { "tf32", "NT", NULL, 512, 512, 64, BITCUT_OK, "cublas-tf32@" },
    { "bf16", "TN", NULL, 64, 64, 4096, BITCUT_UNSUPPORTED, "--fields" },
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
    { "f32", "NT", "id=55,stages=31,splits=3,custom=1", 9, 9, 513, BITCUT_UNSUPPORTED,
      "no order" },
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
    { "tf32", "NT", "id=43,stages=34,splits=2", 99, 99, 512, BITCUT_UNSUPPORTED, "slices" },
    { "tf32", "NT", "id=43,splits=4294967295", 99, 99, 512, BITCUT_UNSUPPORTED, "stream-K" },
    { "tf32", "NT", "id=63,stages=10,splits=5", 99, 9, 512, BITCUT_OK, "lanes=5,chunk=32" },
    { "tf32", "NT", "id=21,stages=40", 99, 9, 512, BITCUT_UNSUPPORTED, "stages" },
    { "tf32", "NT", "id=x", 99, 9, 512, BITCUT_BAD_ARGUMENT, "id=x" },
};

START_TEST(calls_by_hand)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct line l = { .m = calls[i].m, .n = calls[i].n, .k = calls[i].k };
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
        const struct bitcut_gemm g = call_of(&l, t, NULL);
        const enum bitcut_status status = bitcut_predict(&p, &g, &o, why);
        snprintf(said, sizeof said, "%s; %s; %s", p.computation[0].gemm, p.computation[0].text,
                 why);
        ck_assert_msg(status == calls[i].status && strstr(said, calls[i].said),
                      "%s %s: %s: %d %s", calls[i].types,
                      calls[i].fields ? calls[i].fields : "sizes", calls[i].said, status, said);
    }
}
END_TEST

/* Parts of a call that the rules do not cover. */
START_TEST(other_calls)
{
    struct line l = { .m = 64, .n = 64, .k = 4096, .layout = "NT" };
    static const uint32_t one = 0x3f800000;
    struct bitcut_predict_options o = { .size = sizeof o,
                                        .library = "cublas-13.1",
                                        .chip = "h200" };
    struct bitcut_prediction p = { .size = sizeof p };
    const struct library *const library = table_find(TABLE(libraries), o.library);
    const struct library_types *const t =
        table_find((struct table){ library->types, sizeof *library->types }, "bf16");
    const struct bitcut_gemm good = call_of(&l, t, NULL);
    struct bitcut_gemm g = good;
    ck_assert_int_eq(bitcut_predict(&p, &g, &o, NULL), BITCUT_OK);
#define REFUSED(change)                                                                      \
    g = good;                                                                                \
    change;                                                                                  \
    ck_assert_int_eq(bitcut_predict(&p, &g, &o, NULL), BITCUT_UNSUPPORTED)
    REFUSED(g.alpha = 0x40000000);
    REFUSED((g.beta = one, g.c.at = &one));
    REFUSED(g.epilogue[0] = BITCUT_STEP_RELU);
    REFUSED(g.d.layout = BITCUT_COLUMN_MAJOR);
    REFUSED((g.bias.at = &one, g.bias_rows = true));
    REFUSED(g.count = 2);
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

TEST_MAIN("cublas", recorded_shapes, fields_of_lines, calls_by_hand, other_calls,
          lost_products)
