/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions of libraries: D of recorded shapes to the bit, the parts of a prediction, and
   refusals. */
#include "analysis/predict/predict.h"
#include "lib/base/size.h"
#include "lib/gemm/plan.h"
#include "lib/number/fma.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- recorded shapes -------------------------------------------------------------- */

/* A file of data/libraries/shapes, the calls that gave it, and how many of its lines are
   refused. */
static const struct recorded {
    const char *file, *library, *chip;
    int threads, refused;
} recorded[] = {
    { "openblas-0.3.21-cooperlake-1", "openblas-0.3.21", "cooperlake", 1, 0 },
    { "openblas-0.3.21-skylakex-1", "openblas-0.3.21", "skylakex", 1, 0 },
    { "openblas-0.3.21-skylakex-4", "openblas-0.3.21", "skylakex", 4, 0 },
    { "openblas-0.3.21-haswell-1", "openblas-0.3.21", "haswell", 1, 0 },
    { "openblas-0.3.21-haswell-1", "openblas-0.3.21", "zen", 1, 0 },
    { "openblas-0.3.21-haswell-4", "openblas-0.3.21", "haswell", 4, 0 },
    { "openblas-0.3.21-sandybridge-1", "openblas-0.3.21", "sandybridge", 1, 0 },
    { "openblas-0.3.21-sandybridge-4", "openblas-0.3.21", "sandybridge", 4, 0 },
    { "blis-0.9.0-skx-1", "blis-0.9.0", "skx", 1, 61 },
    { "blis-0.9.0-sandybridge-1", "blis-0.9.0", "sandybridge", 2, 110 },
};

enum { FILES = sizeof recorded / sizeof *recorded, SHAPES = 500 };

/* A line: the shape, and what the library gave. */
struct shape {
    int number;
    char layout[3];
    size_t m, n, k;
    uint64_t digest;
};

/* As data/libraries/shapes.c draws it. */
static uint32_t *draw_matrix(uint64_t *state, size_t count)
{
    uint32_t *const at = malloc(count * sizeof *at);
    for (size_t i = 0; i < count; i++) {
        const float x = (float)((int64_t)(test_bits(state) >> 40) - (1 << 23)) * 0x1p-23f;
        memcpy(at + i, &x, sizeof x);
    }
    return at;
}

/* Skip what shapes.c draws for the sizes. */
static void skip_sizes(uint64_t *state, const struct shape *s)
{
    double product;
    test_bits(state);
    do {
        const double most[] = { 2048, 2048, 8192 };
        product = 1;
        for (int i = 0; i < 3; i++)
            product *= floor(exp(log(most[i] + 1) *
                                 ((double)(test_bits(state) >> 11) * 0x1p-53)));
    } while (product > 0x1p24);
    ck_assert_double_eq(product, (double)s->m * (double)s->n * (double)s->k);
}

static uint64_t digest(const uint32_t *d, size_t count)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < 4 * count; i++)
        sum = (sum ^ (d[i / 4] >> 8 * (i % 4) & 255)) * 0x100000001b3;
    return sum;
}

static struct bitcut_gemm gemm_of_shape(const struct shape *s, const uint32_t *a,
                                        const uint32_t *b, uint32_t *d)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.m = s->m, g.n = s->n, g.k = s->k;
    g.a.at = a;
    g.b.at = b;
    g.d.to = d;
    if (s->layout[0] == 'T') g.a.layout = BITCUT_COLUMN_MAJOR;
    if (s->layout[1] == 'T') g.b.layout = BITCUT_COLUMN_MAJOR;
    return g;
}

/* Predict D of a line.  Returns whether the call is refused. */
static bool is_refused(const struct recorded *r, const struct shape *s)
{
    const struct bitcut_predict_options o = { .size = sizeof o,
                                              .library = r->library,
                                              .chip = r->chip,
                                              .library_threads = r->threads };
    uint64_t state = (uint64_t)s->number;
    char why[BITCUT_TEXT_MAX];
    skip_sizes(&state, s);
    uint32_t *const a = draw_matrix(&state, s->m * s->k),
                   *const b = draw_matrix(&state, s->k * s->n),
                   *const d = malloc(s->m * s->n * sizeof *d);
    const struct bitcut_gemm g = gemm_of_shape(s, a, b, d);
    const enum bitcut_status status = bitcut_predict_gemm(&g, &o, 0, why);
    ck_assert_msg(status == BITCUT_OK || status == BITCUT_UNSUPPORTED, "%s", why);
    if (status == BITCUT_OK)
        ck_assert_msg(digest(d, s->m * s->n) == s->digest, "%s by %d threads, line %d", r->file,
                      r->threads, s->number);
    free(a);
    free(b);
    free(d);
    return status != BITCUT_OK;
}

static FILE *open_recorded(const char *file)
{
    const char *const data = getenv("BITCUT_DATA");
    char path[4096];
    snprintf(path, sizeof path, "%s/libraries/shapes/%s.txt", data ? data : "data", file);
    FILE *const f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    return f;
}

/* Every line with BITCUT_WHOLE; otherwise every 8th line, others in each file.  The number of
   refused lines is that of all. */
static void compare_file(const struct recorded *r, int offset)
{
    const int step = test_whole() ? 1 : 8;
    FILE *const f = open_recorded(r->file);
    struct shape s;
    int lines = 0, refused = 0;
    while (fscanf(f, "%d %2s %zu %zu %zu %" SCNx64, &s.number, s.layout, &s.m, &s.n, &s.k,
                  &s.digest) == 6)
        if (++lines % step == offset % step) refused += is_refused(r, &s);
    fclose(f);
    printf("# %s by %d threads: %d refused\n", r->file, r->threads, refused);
    if (test_whole()) ck_assert_int_eq(refused, r->refused);
    ck_assert_int_eq(lines, SHAPES);
}

START_TEST(recorded_shapes)
{
    for (int i = 0; i < FILES; i++) compare_file(&recorded[i], i);
}
END_TEST

TEST_MAIN("predict", recorded_shapes)
