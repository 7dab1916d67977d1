/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of data/libraries/plans: calls, their fields, and digests of outputs that a library
   gave; and the digest of a prediction. */
#ifndef BITCUT_TESTS_PREDICT_PLAN_LINE_H
#define BITCUT_TESTS_PREDICT_PLAN_LINE_H

#include "analysis/predict/predict.h"
#include "emu/gemm.h"
#include "lib/gemm/plan.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 8 };

/* A line: the call, the fields of the algorithm, and the digest of 64 outputs. */
struct line {
    char call[16], types[32], layout[8], epilogue[16], fields[100];
    size_t m, n, k;
    int batch;
    uint32_t digest;
};

/* Read a line, which begins with the call of a program if `has_call`. */
static inline bool read_line(struct line *l, bool has_call, FILE *f)
{
    *l->call = 0;
    return (!has_call || fscanf(f, "%15s", l->call) == 1) &&
           fscanf(f, "%31s %7s %15s %zu %zu %zu %d %99s %x%*[^\n]", l->types, l->layout,
                  l->epilogue, &l->m, &l->n, &l->k, &l->batch, l->fields,
                  &l->digest) == 9;
}

/* Also outside of a test of Check. */
static inline void must(bool holds, const char *what, const char *why)
{
    if (holds) return;
    printf("%s: %s\n", what, why);
    abort();
}

/* --- operands --------------------------------------------------------------------- */

/* lowbias32 of Chris Wellons, as plans.cu has it */
static inline uint32_t mix(uint32_t x)
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
    int bytes, fraction, exponent, binades;
};

static inline const struct element *element_of(const char *name)
{
    static const struct element elements[] = {
        { "f16", 2, 10, 12, 4 },     { "bf16", 2, 7, 124, 4 }, { "f32", 4, 23, 124, 4 },
        { "tf32", 4, 23, 124, 4 },   { "e4m3fast", 1, 3, 4, 4 }, { "e4m3", 1, 3, 4, 4 },
        { "s8", 1, 7, 0, 1 },        { "s32", 4, 31, 0, 1 },
    };
    const struct element *e = elements;
    while (strncmp(e->name, name, strlen(e->name)) ||
           (name[strlen(e->name)] && name[strlen(e->name)] != '.'))
        e++;
    return e;
}

static inline void put(void *to, size_t at, const struct element *e, uint32_t index,
                       uint32_t which)
{
    const uint32_t h = mix(index + 0x9e3779b9U * which),
                   x = h >> 31 << (8 * e->bytes - 1) |
                       ((uint32_t)e->exponent + (h >> 24) % (uint32_t)e->binades)
                           << e->fraction |
                       (h & ((1U << e->fraction) - 1));
    if (e->bytes == 1) ((uint8_t *)to)[at] = (uint8_t)x;
    else if (e->bytes == 2) ((uint16_t *)to)[at] = (uint16_t)x;
    else ((uint32_t *)to)[at] = x;
}

/* The sampled rows of A, or columns of B, of the last batch, each along k. */
static inline void *sample_make(const struct line *l, size_t rows, uint32_t which)
{
    const struct element *const e = element_of(l->types);
    const size_t first = (size_t)(l->batch - 1) * rows;
    void *const to = malloc(SAMPLE * l->k * (size_t)e->bytes);
    for (size_t i = 0; i < SAMPLE; i++)
        for (size_t p = 0; p < l->k; p++)
            put(to, i * l->k + p, e, (uint32_t)((first + i * (rows - 1) / 7) * l->k + p),
                which);
    return to;
}

/* The format of D. */
static inline const struct element *result_of(const struct line *l)
{
    const char *const dot = strchr(l->types, '.');
    return element_of(dot ? dot + 1 : l->types);
}

static inline void bias_make(uint32_t to[SAMPLE], const struct line *l)
{
    for (size_t i = 0; i < SAMPLE; i++)
        put(to, i, result_of(l), (uint32_t)(i * (l->n - 1) / 7), 3);
}

/* The sampled elements of C. */
static inline void c_make(uint32_t to[SAMPLE * SAMPLE], const struct line *l)
{
    for (size_t i = 0; i < SAMPLE * SAMPLE; i++)
        put(to, i, result_of(l),
            (uint32_t)(i / SAMPLE * (l->m - 1) / 7 * l->n + i % SAMPLE * (l->n - 1) / 7), 4);
}

/* --- the call --------------------------------------------------------------------- */

/* Epilogues of lines: alpha and beta, and what is added. */
struct addend {
    const char *name;
    uint32_t alpha, beta;
    bool bias, c, scales;
};

enum { ONE = 0x3f800000, ALPHA = 0x3f333333, BETA = 0x3e99999a };

static inline const struct addend *addend_of(const struct line *l)
{
    static const struct addend addends[] = {
        { "none", ONE, 0, false, false, false },
        { "bias", ONE, 0, true, false, false },
        { "bias-alpha", ALPHA, 0, true, false, false },
        { "c", ONE, ONE, false, true, false },
        { "c-alpha", ALPHA, ONE, false, true, false },
        { "c-beta", ONE, BETA, false, true, false },
        { "update", ALPHA, BETA, false, true, false },
        { "scales", ONE, 0, false, false, true },
    };
    const struct addend *a = addends;
    while (strcmp(a->name, l->epilogue)) a++;
    return a;
}

static inline struct bitcut_gemm call_of(const struct line *l, const struct library_types *t,
                                         const uint32_t *bias, const uint32_t *c)
{
    static const uint32_t scale_a = 0x3f333333, scale_b = 0x3fa66666; /* 0.7, 1.3 */
    const struct addend *const a = addend_of(l);
    struct bitcut_gemm g = gemm_of(NULL, NULL);
    g.count = (size_t)l->batch, g.m = l->m, g.n = l->n, g.k = l->k;
    g.a.format = g.b.format = &formats[t->operands];
    g.d.format = &formats[t->result];
    g.a.stride = l->m * l->k, g.b.stride = l->k * l->n, g.d.stride = l->m * l->n;
    if (l->layout[0] == 'T') g.a.layout = BITCUT_COLUMN_MAJOR;
    if (l->layout[1] == 'T') g.b.layout = BITCUT_COLUMN_MAJOR;
    g.alpha = a->alpha, g.beta = a->beta;
    if (a->bias) g.bias.at = bias, g.bias.format = g.d.format;
    if (a->c) g.c.at = c, g.c.format = g.d.format;
    if (a->scales) g.scale_a.at.at = &scale_a, g.scale_b.at.at = &scale_b;
    return g;
}

/* --- the digest ------------------------------------------------------------------- */

/* The digest of the sampled outputs, as plans.cu computes it. */
static inline uint32_t sample_digest(const struct prediction *x, const struct line *l,
                                     const void *a, const void *b)
{
    struct bitcut_gemm g = x->call;
    uint32_t d[SAMPLE * SAMPLE], sum = 0x811c9dc5;
    char why[BITCUT_TEXT_MAX];
    g.count = 1, g.m = g.n = SAMPLE;
    g.a.at = a, g.a.layout = BITCUT_ROW_MAJOR;
    g.b.at = b, g.b.layout = BITCUT_COLUMN_MAJOR;
    g.d.to = d;
    struct bitcut_gemm one = predict_gemm(x, 0, &g);
    must(bitcut_gemm(NULL, &one, 1, why) == BITCUT_OK, l->fields, why);
    for (int i = 0; i < 4 * SAMPLE * SAMPLE; i++) {
        const uint32_t word =
            format_bytes(g.d.format) == 4 ? d[i / 4] : ((uint16_t *)d)[i / 4];
        sum = (sum ^ (word >> i % 4 * 8 & 255)) * 0x01000193U;
    }
    return sum;
}

/* Predict a line, from its fields or from its sizes.  Returns whether it is refused. */
static inline bool is_refused(const struct line *l, const char *library, const char *fields)
{
    const struct bitcut_predict_options o = { .size = sizeof o,
                                              .library = library,
                                              .chip = "h200",
                                              .types = l->types,
                                              .fields = fields,
                                              .call = *l->call ? l->call : NULL };
    const struct library *const row = table_find(TABLE(libraries), o.library);
    const struct library_types *const t =
        table_find((struct table){ row->types, sizeof *row->types }, l->types);
    uint32_t bias[SAMPLE], c[SAMPLE * SAMPLE];
    struct prediction x = { .parts = 0 };
    struct fault f;
    bias_make(bias, l);
    c_make(c, l);
    const struct bitcut_gemm g = call_of(l, t, bias, c);
    ck_assert_msg(predict_choose(&x, &g, &o, &f) == BITCUT_OK, "%s", f.text);
    const enum bitcut_status status = predict_find(&x, &g, &f);
    ck_assert_msg(status == BITCUT_OK || status == BITCUT_UNSUPPORTED, "%s", f.text);
    if (status == BITCUT_OK) {
        void *const a = sample_make(l, l->m, 1), *const b = sample_make(l, l->n, 2);
        const uint32_t sum = sample_digest(&x, l, a, b);
        ck_assert_msg(sum == l->digest, "%s %s %s %s %zu %zu %zu %d %s%s: %08x, not %08x",
                      l->call, l->types, l->layout, l->epilogue, l->m, l->n, l->k, l->batch,
                      l->fields, fields ? "" : ", from the sizes", sum, l->digest);
        free(a);
        free(b);
    }
    prediction_clear(&x);
    return status != BITCUT_OK;
}

/* A file of data/libraries/plans, its lines, and how many are refused, from the fields and
   from the sizes. */
struct recorded {
    const char *file;
    int lines, refused_fields, refused_sizes;
};

/* Every line with BITCUT_WHOLE; otherwise every 8th line, others in each file.  The numbers of
   refused lines are those of all. */
static inline void compare_file(const struct recorded *r, const char *library, bool has_call,
                                int offset)
{
    const char *const data = getenv("BITCUT_DATA");
    const int step = test_whole() ? 1 : 8;
    char path[4096];
    struct line l;
    int lines = 0, by_fields = 0, by_sizes = 0;
    snprintf(path, sizeof path, "%s/libraries/plans/%s.txt", data ? data : "data", r->file);
    FILE *const f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (read_line(&l, has_call, f))
        if (++lines % step == offset % step) {
            by_fields += is_refused(&l, library, l.fields);
            by_sizes += is_refused(&l, library, NULL);
        }
    fclose(f);
    printf("# %s: %d lines, %d refused with the fields, %d without\n", r->file, lines,
           by_fields, by_sizes);
    ck_assert_int_eq(lines, r->lines);
    if (test_whole()) ck_assert_int_eq(by_fields, r->refused_fields);
    if (test_whole()) ck_assert_int_eq(by_sizes, r->refused_sizes);
}

#endif
