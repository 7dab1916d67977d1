/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions of libraries: D of recorded shapes to the bit, the parts of a prediction, and
   refusals. */
#define _POSIX_C_SOURCE 200809L /* popen() */

#include "analysis/predict/row_sweep.h"
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
    bool update; /* whether D = alpha A B + beta C */
} recorded[] = {
    { "openblas-0.3.21-skylakex-1-update", "openblas-0.3.21", "skylakex", 1, 55, true },
    { "openblas-0.3.21-haswell-1-update", "openblas-0.3.21", "haswell", 1, 153, true },
    { "openblas-0.3.21-sandybridge-1-update", "openblas-0.3.21", "sandybridge", 1, 111,
      true },
    { "openblas-0.3.21-cooperlake-1", "openblas-0.3.21", "cooperlake", 1, 0, false },
    { "openblas-0.3.21-skylakex-1", "openblas-0.3.21", "skylakex", 1, 0, false },
    { "openblas-0.3.21-skylakex-4", "openblas-0.3.21", "skylakex", 4, 0, false },
    { "openblas-0.3.21-haswell-1", "openblas-0.3.21", "haswell", 1, 0, false },
    { "openblas-0.3.21-haswell-1", "openblas-0.3.21", "zen", 1, 0, false },
    { "openblas-0.3.21-haswell-4", "openblas-0.3.21", "haswell", 4, 0, false },
    { "openblas-0.3.21-sandybridge-1", "openblas-0.3.21", "sandybridge", 1, 0, false },
    { "openblas-0.3.21-sandybridge-4", "openblas-0.3.21", "sandybridge", 4, 0, false },
    { "blis-0.9.0-skx-1", "blis-0.9.0", "skx", 1, 61, false },
    { "blis-0.9.0-haswell-1", "blis-0.9.0", "haswell", 1, 55, false },
    { "blis-0.9.0-haswell-1", "blis-0.9.0", "zen", 2, 55, false },
    { "blis-0.9.0-zen2-1", "blis-0.9.0", "zen2", 1, 120, false },
    { "blis-0.9.0-zen3-1", "blis-0.9.0", "zen3", 2, 120, false },
    { "blis-0.9.0-sandybridge-1", "blis-0.9.0", "sandybridge", 2, 110, false },
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

static uint32_t draw_factor(uint64_t *state, const float value[4])
{
    uint32_t bits;
    memcpy(&bits, &value[test_bits(state) >> 62], sizeof bits);
    return bits;
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
    struct bitcut_gemm g = gemm_of_shape(s, a, b, d);
    if (r->update) g.alpha = draw_factor(&state, (const float[]){ 1, -1, 0.7f, 2.5f });
    if (r->update) g.beta = draw_factor(&state, (const float[]){ 1, -1, 0.3f, 0.5f });
    uint32_t *const c = draw_matrix(&state, s->m * s->n);
    g.c.at = c;
    const enum bitcut_status status = bitcut_predict_gemm(&g, &o, 0, why);
    ck_assert_msg(status == BITCUT_OK || status == BITCUT_UNSUPPORTED, "%s", why);
    if (status == BITCUT_OK)
        ck_assert_msg(digest(d, s->m * s->n) == s->digest, "%s by %d threads, line %d", r->file,
                      r->threads, s->number);
    free(a);
    free(b);
    free(c);
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

/* --- installed libraries ---------------------------------------------------------- */

/* A library of this machine, and the environment that selects a chip. */
static const struct installed {
    const char *file, *version, *environment, *library, *chip;
    int threads;
    bool wide; /* whether the chip has AVX-512 */
} installed[] = {
    { "libopenblas.so.0", "OpenBLAS 0.3.21 ", "OPENBLAS_CORETYPE=Haswell",
      "openblas-0.3.21", "haswell", 1, false },
    { "libopenblas.so.0", "OpenBLAS 0.3.21 ", "OPENBLAS_CORETYPE=Zen", "openblas-0.3.21",
      "zen", 3, false },
    { "libopenblas.so.0", "OpenBLAS 0.3.21 ", "OPENBLAS_CORETYPE=Sandybridge",
      "openblas-0.3.21", "sandybridge", 2, false },
    { "libopenblas.so.0", "OpenBLAS 0.3.21 ", "OPENBLAS_CORETYPE=SkylakeX",
      "openblas-0.3.21", "skylakex", 1, true },
    { "libopenblas.so.0", "OpenBLAS 0.3.21 ", "OPENBLAS_CORETYPE=Cooperlake",
      "openblas-0.3.21", "cooperlake", 2, true },
    { "libblis.so.4", "0.9.0", "BLIS_ARCH_TYPE=4", "blis-0.9.0", "sandybridge", 1,
      false },
    { "libblis.so.4", "0.9.0", "BLIS_ARCH_TYPE=3", "blis-0.9.0", "haswell", 1, false },
    { "libblis.so.4", "0.9.0", "BLIS_ARCH_TYPE=6 BLIS_NUM_THREADS=3", "blis-0.9.0",
      "zen3", 3, false },
    { "libblis.so.4", "0.9.0", "BLIS_ARCH_TYPE=7", "blis-0.9.0", "zen2", 1, false },
    { "libblis.so.4", "0.9.0", "BLIS_ARCH_TYPE=8 BLIS_NUM_THREADS=2", "blis-0.9.0", "zen",
      2, false },
    { "libblis.so.4", "0.9.0", "BLIS_ARCH_TYPE=0", "blis-0.9.0", "skx", 1, true },
};

/* Whether this processor runs code for a chip. */
static bool has_instructions(bool wide)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return wide ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq")
                : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return wide && !wide;
#endif
}

/* Start the recorder of data/libraries/shapes.c. */
static FILE *start(const struct installed *x, const char *words)
{
    char line[400];
    snprintf(line, sizeof line, "%s tests/libraries/shapes %s %s 2> /dev/null", x->environment,
             x->file, words);
    FILE *const f = popen(line, "r");
    ck_assert(f != NULL);
    return f;
}

static bool is_installed(const struct installed *x)
{
    char line[400] = "";
    if (!has_instructions(x->wide)) return false;
    FILE *const f = start(x, "version");
    if (!fgets(line, sizeof line, f)) line[0] = 0;
    pclose(f);
    return !strncmp(line, x->version, strlen(x->version));
}

/* Shapes that no file has, of the library that runs now. */
static void compare_installed(const struct installed *x, int number)
{
    const bool update = number % 2 && !strncmp(x->library, "openblas", 8);
    const struct recorded r = { x->chip, x->library, x->chip, x->threads, 0, update };
    const int first = 1000 * (1 + (int)(test_seed() % 1000)) + 100 * number,
              count = test_cases(40, 100);
    struct shape s;
    char words[80];
    int lines = 0, refused = 0;
    if (!is_installed(x)) {
        printf("# %s for %s is not installed here\n", x->library, x->chip);
        return;
    }
    snprintf(words, sizeof words, "%d %d %d %s", first, first + count - 1, x->threads,
             update ? "update" : "");
    FILE *const f = start(x, words);
    while (fscanf(f, "%d %2s %zu %zu %zu %" SCNx64, &s.number, s.layout, &s.m, &s.n, &s.k,
                  &s.digest) == 6)
        refused += is_refused(&r, &s), lines++;
    pclose(f);
    ck_assert_int_eq(lines, count);
    ck_assert_int_lt(refused, count);
    printf("# %s for %s, run now: %d of %d refused\n", x->library, x->chip, refused, lines);
}

START_TEST(installed_libraries)
{
    for (size_t i = 0; i < sizeof installed / sizeof *installed; i++)
        compare_installed(&installed[i], (int)i);
}
END_TEST

/* --- the answer ------------------------------------------------------------------- */

static const struct bitcut_predict_options haswell = { .size = sizeof haswell,
                                                       .library = "openblas-0.3.21",
                                                       .chip = "haswell" };

static struct bitcut_gemm gemm_of_sizes(size_t m, size_t n, size_t k)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.m = m, g.n = n, g.k = k;
    return g;
}

/* D by columns is computed as the transpose of D by rows, with B for A. */
START_TEST(layouts_of_d)
{
    uint64_t state = test_seed();
    for (int i = 0; i < test_cases(200, 2000); i++) {
        const size_t m = (size_t)test_between(&state, 1, 90),
                     n = (size_t)test_between(&state, 1, 90),
                     k = (size_t)test_between(&state, 1, 900);
        struct bitcut_gemm rows = gemm_of_sizes(m, n, k), cols = gemm_of_sizes(n, m, k);
        struct bitcut_prediction p = { .size = sizeof p }, q = { .size = sizeof q };
        rows.a.layout = (enum bitcut_layout)test_between(&state, 0, 1);
        rows.b.layout = (enum bitcut_layout)test_between(&state, 0, 1);
        cols.d.layout = BITCUT_COLUMN_MAJOR;
        cols.a.layout = (enum bitcut_layout)(1 - (int)rows.b.layout);
        cols.b.layout = (enum bitcut_layout)(1 - (int)rows.a.layout);
        struct bitcut_predict_options o = haswell;
        o.chip = i % 2 ? "haswell" : "skylakex";
        ck_assert_int_eq(bitcut_predict(&p, &rows, &o, NULL), BITCUT_OK);
        ck_assert_int_eq(bitcut_predict(&q, &cols, &o, NULL), BITCUT_OK);
        ck_assert_uint_eq(p.computations, q.computations);
        for (size_t c = 0; c < p.computations; c++) {
            ck_assert_str_eq(p.computation[c].gemm, q.computation[c].gemm);
            ck_assert_uint_eq(p.computation[c].outputs, q.computation[c].outputs);
        }
    }
}
END_TEST

/* The outputs of the computations are all outputs, and each has some. */
START_TEST(outputs_of_computations)
{
    for (size_t m = 1; m < 60; m++) {
        const struct bitcut_gemm g = gemm_of_sizes(m, 67, 40);
        struct bitcut_prediction p = { .size = sizeof p };
        size_t outputs = 0;
        ck_assert_int_eq(bitcut_predict(&p, &g, &haswell, NULL), BITCUT_OK);
        for (size_t i = 0; i < p.computations; i++) {
            struct bitcut_gemm read;
            ck_assert_uint_gt(p.computation[i].outputs, 0);
            outputs += p.computation[i].outputs;
            bitcut_gemm_init(&read, sizeof read);
            ck_assert_int_eq(bitcut_gemm_read(&read, p.computation[i].gemm, NULL), BITCUT_OK);
        }
        ck_assert_uint_eq(outputs, m * 67);
    }
}
END_TEST

/* Both sides of limits at which a library chooses another order; it gave the bits of
 * each. */
START_TEST(limits)
{
#define TWO  "fp32@fma/f32,lanes=2,chunk=1,unroll=8,remainder-in-lane"
#define TREE "fp32@fma/f32,lanes=16,chunk=1,reduction=tree"
    static const struct {
        const char *library, *chip;
        int threads;
        size_t m, n, k;
        bool transposed; /* B */
        const char *gemm[2];
        size_t outputs; /* of the first computation */
    } limit[] = {
        { "openblas-0.3.21",
          "haswell",
          1,
          24,
          1314,
          20,
          false,
          { "fp32@fma/f32", TWO },
          30576 },
        /* one thread for up to 2^18 products */
        { "openblas-0.3.21",
          "haswell",
          2,
          128,
          128,
          16,
          false,
          { "fp32@fma/f32", TWO },
          14400 },
        { "openblas-0.3.21",
          "haswell",
          2,
          128,
          128,
          17,
          false,
          { "fp32@fma/f32", TWO },
          12800 },
        /* small kernels */
        { "openblas-0.3.21", "skylakex", 1, 40, 30, 40, true, { TREE, NULL }, 1200 },
        { "openblas-0.3.21",
          "skylakex",
          1,
          40,
          31,
          40,
          true,
          { "fp32@fma/f32", NULL },
          1240 },
        { "openblas-0.3.21",
          "skylakex",
          1,
          40,
          30,
          31,
          true,
          { "fp32@fma/f32", NULL },
          1200 },
        { "openblas-0.3.21",
          "skylakex",
          1,
          200,
          10,
          500,
          false,
          { "fp32@fma/f32", NULL },
          2000 },
        { "openblas-0.3.21",
          "skylakex",
          1,
          201,
          10,
          500,
          false,
          { "fp32@fma/f32,slices=2,tile=448,balance-tail=16", NULL },
          2010 },
        { "openblas-0.3.21",
          "skylakex",
          1,
          20,
          24,
          40,
          false,
          { "fp32@fma/f32", TREE },
          320 },
        { "openblas-0.3.21",
          "skylakex",
          1,
          20,
          25,
          40,
          false,
          { "fp32@fma/f32", NULL },
          500 },
        { "openblas-0.3.21",
          "skylakex",
          1,
          20,
          24,
          31,
          false,
          { "fp32@fma/f32", NULL },
          480 },
        /* a longer last block of k */
        { "blis-0.9.0", "skx", 1, 5, 6, 480, false, { "fp32@fma/f32", NULL }, 30 },
        { "blis-0.9.0",
          "skx",
          1,
          5,
          6,
          481,
          false,
          { "fp32@fma/f32,slices=2,tile=384", NULL },
          30 },
        /* kernels for a short m, n or k */
        { "blis-0.9.0",
          "haswell",
          1,
          201,
          201,
          201,
          false,
          { "fp32@fma/f32", NULL },
          40401 },
        { "blis-0.9.0",
          "haswell",
          1,
          200,
          201,
          201,
          false,
          { "fp32@fma/f32", "fp32@mul-add/f32" },
          40000 },
        { "blis-0.9.0",
          "haswell",
          1,
          201,
          200,
          201,
          true,
          { "fp32@fma/f32,lanes=8,chunk=1,unroll=8,remainder-in-lane,reduction=tree",
            NULL },
          40200 },
        { "blis-0.9.0",
          "haswell",
          1,
          201,
          201,
          200,
          false,
          { "fp32@fma/f32", "fp32@mul-add/f32" },
          40200 },
        { "blis-0.9.0",
          "zen",
          1,
          512,
          513,
          440,
          false,
          { "fp32@fma/f32,slices=2,tile=256", NULL },
          262656 },
        { "blis-0.9.0",
          "zen",
          1,
          511,
          513,
          440,
          false,
          { "fp32@fma/f32,slices=2,tile=256", "fp32@mul-add/f32,slices=2,tile=256" },
          261632 },
        { "blis-0.9.0",
          "zen",
          1,
          512,
          511,
          440,
          true,
          { "fp32@fma/"
            "f32,slices=2,tile=256,lanes=8,chunk=1,unroll=8,remainder-in-lane,slices-"
            "ascending,reduction=tree",
            "fp32@fma/"
            "f32,slices=2,tile=256,lanes=8,chunk=1,unroll=8,slices-ascending,reduction="
            "tree" },
          261120 },
        { "blis-0.9.0",
          "zen",
          1,
          512,
          513,
          439,
          false,
          { "fp32@fma/f32,slices=2,tile=256", "fp32@mul-add/f32,slices=2,tile=256" },
          262144 },
        { "blis-0.9.0",
          "zen2",
          1,
          501,
          500,
          500,
          false,
          { "fp32@fma/f32,slices=2,tile=256", NULL },
          250500 },
        { "blis-0.9.0",
          "zen2",
          1,
          499,
          501,
          500,
          false,
          { "fp32@fma/f32,slices=2,tile=256", "fp32@mul-add/f32,slices=2,tile=256" },
          249500 },
        { "blis-0.9.0",
          "zen2",
          1,
          504,
          499,
          504,
          true,
          { "fp32@fma/"
            "f32,slices=2,tile=256,lanes=8,chunk=1,unroll=8,remainder-in-lane,slices-"
            "ascending,reduction=tree",
            "fp32@fma/"
            "f32,slices=2,tile=256,lanes=8,chunk=1,unroll=8,slices-ascending,reduction="
            "tree" },
          250992 },
        { "blis-0.9.0",
          "zen3",
          1,
          512,
          201,
          240,
          false,
          { "fp32@fma/f32", NULL },
          102912 },
        { "blis-0.9.0",
          "zen3",
          1,
          511,
          201,
          240,
          false,
          { "fp32@fma/f32", "fp32@mul-add/f32" },
          102200 },
        { "blis-0.9.0",
          "zen3",
          1,
          512,
          199,
          240,
          true,
          { "fp32@fma/f32,lanes=8,chunk=1,unroll=8,remainder-in-lane,reduction=tree",
            "fp32@fma/f32,lanes=8,chunk=1,unroll=8,reduction=tree" },
          101376 },
        { "blis-0.9.0",
          "zen3",
          1,
          512,
          201,
          239,
          false,
          { "fp32@fma/f32", "fp32@mul-add/f32" },
          102400 },
    };
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        const struct bitcut_predict_options o = { .size = sizeof o,
                                                  .library = limit[i].library,
                                                  .chip = limit[i].chip,
                                                  .library_threads = limit[i].threads };
        struct bitcut_gemm g = gemm_of_sizes(limit[i].m, limit[i].n, limit[i].k);
        struct bitcut_prediction p = { .size = sizeof p };
        if (limit[i].transposed) g.b.layout = BITCUT_COLUMN_MAJOR;
        ck_assert_int_eq(bitcut_predict(&p, &g, &o, NULL), BITCUT_OK);
        ck_assert_uint_eq(p.computations, limit[i].gemm[1] ? 2 : 1);
        for (size_t c = 0; c < p.computations; c++)
            ck_assert_str_eq(p.computation[c].gemm, limit[i].gemm[c]);
        ck_assert_uint_eq(p.computation[0].outputs, limit[i].outputs);
    }
}
END_TEST

/* Two threads share 1314 rows of the transpose.  Each has a block of 320 of its 657 rows, and
   of the 337 that remain 176 and 161, as 337 / 2 is rounded up.  So the tiles at 488, the last
   of its block, and at 496, the first, are computed alone. */
START_TEST(halves_of_odd_rows)
{
    struct bitcut_predict_options o = haswell;
    struct prediction x = { .parts = 0 };
    struct fault f;
    unsigned char row[1314];
    const struct bitcut_gemm g = gemm_of_sizes(131, 1314, 20);
    o.library_threads = 2;
    ck_assert_int_eq(predict_choose(&x, &g, &o, &f), BITCUT_OK);
    ck_assert_int_eq(predict_find(&x, &g, &f), BITCUT_OK);
    prediction_row(row, &x, 0);
    for (int i = 0; i < 8; i++) ck_assert(row[488 + i] && row[496 + i] && !row[504 + i]);
    prediction_clear(&x);
}
END_TEST

/* Each with one thing that is not predicted, or not known. */
START_TEST(refusals)
{
    struct bitcut_prediction p = { .size = sizeof p };
    struct bitcut_gemm g = gemm_of_sizes(5, 6, 7);
    struct bitcut_predict_options o = haswell;
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_gemm good = g;
#define REFUSED(status, change)                                                          \
    do {                                                                                 \
        g = good, o = haswell;                                                           \
        change;                                                                          \
        ck_assert_int_eq(bitcut_predict(&p, &g, &o, why), status);                       \
        ck_assert_int_eq(bitcut_predict_gemm(&g, &o, 1, why), status);                   \
        ck_assert(*why);                                                                 \
    } while (0)
    ck_assert_int_eq(bitcut_predict(&p, &g, &o, why), BITCUT_OK);
    REFUSED(BITCUT_UNSUPPORTED, g.alpha = 0);
    REFUSED(BITCUT_UNSUPPORTED, g.alpha = 0x7f800000);
    REFUSED(BITCUT_UNSUPPORTED, g.beta = 0x7fc00000);
    REFUSED(BITCUT_UNSUPPORTED, (g.beta = F32_ONE, g.k = 1000));
    REFUSED(BITCUT_UNSUPPORTED,
            (g.beta = F32_ONE, o.library = "blis-0.9.0", o.chip = "skx"));
    REFUSED(BITCUT_UNSUPPORTED,
            (g.n = 1, g.b.ld = 2, o.library = "blis-0.9.0", o.chip = "skx"));
    REFUSED(BITCUT_UNSUPPORTED,
            (g.n = 1, g.d.ld = 2, o.library = "blis-0.9.0", o.chip = "skx"));
    REFUSED(BITCUT_UNSUPPORTED, g.count = 2);
    REFUSED(BITCUT_UNSUPPORTED, g.k = 0);
    REFUSED(BITCUT_UNSUPPORTED, g.zero_a = 1);
    REFUSED(BITCUT_UNSUPPORTED, g.sparsity = BITCUT_SPARSE_A);
    REFUSED(BITCUT_UNSUPPORTED, g.epilogue[0] = BITCUT_STEP_RELU);
    REFUSED(BITCUT_UNSUPPORTED, g.bias.at = why);
    REFUSED(BITCUT_UNSUPPORTED, o.library_threads = 1000);
    REFUSED(BITCUT_BAD_ARGUMENT, o.library_threads = -1);
    REFUSED(BITCUT_BAD_ARGUMENT, o.library = "openblas");
    REFUSED(BITCUT_BAD_ARGUMENT, o.library = NULL);
    REFUSED(BITCUT_BAD_ARGUMENT, o.chip = NULL);
    REFUSED(BITCUT_BAD_ARGUMENT, o.chip = "skx");
    REFUSED(BITCUT_BAD_ARGUMENT, o.types = "bf16");
    REFUSED(BITCUT_BAD_ARGUMENT, o.size--);
    REFUSED(BITCUT_BAD_ARGUMENT, g.a.format = bitcut_format_find("bf16"));
    REFUSED(BITCUT_BAD_ARGUMENT, g.d.format = bitcut_format_find("bf16"));
    REFUSED(BITCUT_BAD_ARGUMENT, g.size = 3);
#undef REFUSED
    ck_assert_int_eq(bitcut_predict(NULL, &good, &haswell, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_predict(&p, &good, NULL, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_predict(&p, NULL, &haswell, why), BITCUT_BAD_ARGUMENT);
    p.size--;
    ck_assert_int_eq(bitcut_predict(&p, &good, &haswell, why), BITCUT_BAD_ARGUMENT);
}
END_TEST

/* --- sweeps ----------------------------------------------------------------------- */

/* What the library computes for each m of a sweep, by bits: D of m rows begins with D of one
   row less exactly where no change is reported. */
START_TEST(changes_of_rows)
{
    enum { M = 40, N = 64, K = 90 };
    uint64_t state = test_seed();
    uint32_t *const a = draw_matrix(&state, M * K), *const b = draw_matrix(&state, K * N),
                   *d[2] = { malloc(M * N * 4), malloc(M * N * 4) };
    static const char *const chip[] = { "haswell", "skylakex", "sandybridge" };
    for (int c = 0; c < 3; c++) {
        struct bitcut_predict_options o = haswell;
        struct prediction chosen = { .parts = 0 };
        struct row_sweep s;
        struct fault f;
        size_t range = 0;
        o.chip = chip[c];
        struct bitcut_gemm g = gemm_of_sizes(0, N, K);
        g.b.layout = BITCUT_COLUMN_MAJOR;
        ck_assert_int_eq(predict_choose(&chosen, &g, &o, &f), BITCUT_OK);
        ck_assert_int_eq(row_sweep_find(&s, &chosen, &g, 1, M, 1, NULL, &f), BITCUT_OK);
        g.a.at = a, g.b.at = b;
        for (g.m = 1; g.m <= M; g.m++) {
            g.d.to = d[g.m % 2];
            ck_assert_int_eq(bitcut_predict_gemm(&g, &o, 1, NULL), BITCUT_OK);
            if (g.m > s.range[range].last) range++;
            const bool begins = g.m == s.range[range].first && g.m > 1;
            if (g.m > 1)
                ck_assert_int_eq(memcmp(d[0], d[1], 4 * N * (g.m - 1)) != 0, begins);
            if (begins) ck_assert_uint_gt(s.range[range].outputs, 0);
            if (begins) ck_assert(s.range[range].difference > 0.01);
        }
        ck_assert_uint_eq(range + 1, s.ranges);
        ck_assert_int_eq(s.ranges > 1, c < 2);
        row_sweep_clear(&s);
    }
    free(a);
    free(b);
    free(d[0]);
    free(d[1]);
}
END_TEST

TEST_MAIN("predict", recorded_shapes, installed_libraries, layouts_of_d,
          outputs_of_computations, limits, halves_of_odd_rows, refusals, changes_of_rows)
