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

/* A file of data/libraries/plans, its lines, and how many are refused. */
static const struct recorded {
    const char *file;
    int lines, refused_fields, refused_sizes;
} recorded[] = {
    { "h200-shapes", 2118, 0, 0 },
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
        put(to, i, element_of(dot ? dot + 1 : "f32"), (uint32_t)(i * (l->n - 1) / 7), 3);
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

TEST_MAIN("cublas", recorded_shapes)
