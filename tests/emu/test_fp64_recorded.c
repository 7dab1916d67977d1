/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by schemes, against what the libraries computed on a GPU, to the bit
   (data/libraries/fp64). */
#include "tests/emu/fp64_cases.h"
#include "emu/gemm.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct recorded {
    const char *file;
    int lines, skipped;
} recorded[] = {
    { "ozimmu", 152, 0 },   { "ozimmu-ef", 152, 0 }, { "ozimmu-rn", 152, 0 },
    { "ozimmu-h", 152, 0 }, { "gemmul8", 328, 4 },   { "cublas-fixed", 152, 14 },
};

enum { FILES = sizeof recorded / sizeof *recorded };

struct line {
    struct fp64_case x;
    uint64_t digest;
};

static void read_line(struct line *to, const char *text)
{
    char kind[32];
    struct fp64_case *const x = &to->x;
    *to = (struct line){ .digest = 0 };
    const int count = sscanf(
        text, "%31s %d %2s %zu %zu %zu %31s %" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
        x->scheme, &x->parts, x->layout, &x->m, &x->n, &x->k, kind, &x->seed, &x->alpha,
        &x->beta, &to->digest);
    ck_assert_msg(count == 11, "%s", text);
    x->kind = 0;
    while (x->kind < FP64_KIND_COUNT && strcmp(fp64_kinds[x->kind], kind)) x->kind++;
    ck_assert_msg(x->kind < FP64_KIND_COUNT, "%s", text);
}

/* Whether the library reads beyond a table: from 16 moduli on, it has powers of two for
   scaled elements below 2^126.  In fast mode, lines whose squares overflow exceed it. */
static bool is_undefined(const struct fp64_case *x)
{
    return !strcmp(x->scheme, "gemmul8-fast") && x->parts >= 16 &&
           (x->kind == FP64_subnormals || x->kind == FP64_low);
}

/* Whether cuBLAS computes in FP64. */
static bool is_other_computation(const struct fp64_case *x)
{
    return !strcmp(x->scheme, "cublas-fixed") &&
           (x->kind == FP64_infinity || x->kind == FP64_nan);
}

/* Lines of k elements in the memory of a matrix: adjacent, or apart. */
static struct bitcut_matrix stored(double *to, const double *lines, size_t count,
                                   size_t k, bool apart, bool columns)
{
    for (size_t line = 0; line < count; line++)
        for (size_t p = 0; p < k; p++)
            to[apart ? p * count + line : line * k + p] = lines[line * k + p];
    return (struct bitcut_matrix){ .at = to,
                                   .format = bitcut_format_find("f64"),
                                   .layout = apart == columns ? BITCUT_ROW_MAJOR
                                                              : BITCUT_COLUMN_MAJOR };
}

static void compute(double *d, const struct fp64_case *x)
{
    const size_t of_a = x->m * x->k, of_b = x->n * x->k;
    double *const a = malloc(of_a * sizeof *a), *const b = malloc(of_b * sizeof *b),
                  *const c = malloc(x->m * x->n * sizeof *c),
                  *const in_a = malloc(of_a * sizeof *a),
                  *const in_b = malloc(of_b * sizeof *b);
    char text[BITCUT_GEMM_MAX], why[BITCUT_TEXT_MAX];
    struct bitcut_gemm g;
    fp64_operands(a, b, c, x);
    bitcut_gemm_init(&g, sizeof g);
    snprintf(text, sizeof text, "%s@h200,parts=%d", x->scheme, x->parts);
    ck_assert_msg(bitcut_gemm_read(&g, text, why) == BITCUT_OK, "%s: %s", text, why);
    g.m = x->m, g.n = x->n, g.k = x->k;
    g.alpha_f64 = fp64_of(x->alpha), g.beta_f64 = fp64_of(x->beta);
    g.a = stored(in_a, a, x->m, x->k, x->layout[0] == 'N', false);
    g.b = stored(in_b, b, x->n, x->k, x->layout[1] == 'T', true);
    g.c = (struct bitcut_matrix){ .at = c, .format = g.a.format };
    g.d = (struct bitcut_matrix){ .to = d, .format = g.a.format };
    const enum bitcut_status status = bitcut_gemm(NULL, &g, 1, why);
    ck_assert_msg(status == BITCUT_OK, "%s: %s", text, why);
    free(a);
    free(b);
    free(c);
    free(in_a);
    free(in_b);
}

/* The first four encodings of D, which follow the digest in a line. */
static void expect_elements(const char *text, const double *d, size_t count)
{
    const char *at = text;
    for (int field = 0; field < 11; field++) at = strchr(at, ' ') + 1;
    for (size_t i = 0; i < 4 && i < count; i++) {
        char *end;
        const uint64_t expected = strtoull(at, &end, 16);
        ck_assert_msg(fp64_bits(d[i]) == expected, "element %zu: %a, library %a\n%s", i,
                      d[i], fp64_of(expected), text);
        at = end;
    }
}

static void expect_line(const char *text, const struct line *line)
{
    const size_t count = line->x.m * line->x.n;
    double *const d = malloc(count * sizeof *d);
    compute(d, &line->x);
    expect_elements(text, d, count);
    ck_assert_msg(fp64_digest(d, count) == line->digest, "another digest\n%s", text);
    free(d);
}

static void expect_file(const struct recorded *r)
{
    const char *const data = getenv("BITCUT_DATA");
    const int step = test_whole() ? 1 : test_step(25) * 5;
    char path[4096], text[512];
    int lines = 0, skipped = 0;
    snprintf(path, sizeof path, "%s/libraries/fp64/%s.txt", data, r->file);
    FILE *const f = fopen(path, "r");
    ck_assert_msg(f, "%s", path);
    while (fgets(text, sizeof text, f)) {
        struct line line;
        read_line(&line, text);
        const bool is_norm = line.x.kind == FP64_norm, is_skipped = is_undefined(&line.x) ||
                                                                  is_other_computation(&line.x);
        skipped += is_skipped;
        if (!is_skipped && (is_norm || lines % step == 0)) expect_line(text, &line);
        lines++;
    }
    fclose(f);
    ck_assert_int_eq(lines, r->lines);
    ck_assert_int_eq(skipped, r->skipped);
}

START_TEST(recorded_results)
{
    ck_assert(getenv("BITCUT_DATA"));
    for (int i = 0; i < FILES; i++) expect_file(&recorded[i]);
}
END_TEST

TEST_MAIN("recorded FP64 GEMMs", recorded_results)
