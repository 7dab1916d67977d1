/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of whole and of half-stored matrices compared with bitcut_gemm() on whole
   ones, bit for bit; nothing outside the product is read or written. */
#include "analysis/run/blas_product.h"
#include "emu/gemm.h"
#include "emu/gemm_text.h"
#include "lib/gemm/plan.h"
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_NUMBER = 0x7fc12345, UNTOUCHED = (int)0xdeadbeef };

static const char *const ways[] = {
    "fp32@fma/f32",
    "legemm@mi210",
    "ootomo@a100,promote=1,slices=2",
    "plain@v100,equilibrate",
    "bf16x6@h100,lanes=2,promote=2",
};

enum { WAYS = sizeof ways / sizeof ways[0] };

static struct bitcut_gemm way_of(int i)
{
    struct bitcut_gemm g;
    struct fault f;
    ck_assert_msg(configuration_line_read(&g, ways[i], &f) == BITCUT_OK, "%s: %s",
                  ways[i], f.text);
    return g;
}

/* --- matrices ---------------------------------------------------------------------- */

/* rows x cols elements with room between lines; what no product may read is NaN. */
struct held {
    uint32_t *at;
    size_t rows, cols, ld, all;
    enum bitcut_layout layout;
    enum half half;
};

static size_t index_of(const struct held *x, size_t i, size_t j)
{
    return x->layout == BITCUT_ROW_MAJOR ? i * x->ld + j : j * x->ld + i;
}

static uint32_t *at(const struct held *x, size_t i, size_t j)
{
    return &x->at[index_of(x, i, j)];
}

/* Element (i, j) of a symmetric matrix with one half. */
static uint32_t whole(const struct held *x, size_t i, size_t j)
{
    const bool there = x->half == HALF_BOTH || (x->half == HALF_UPPER ? i <= j : i >= j);
    return there ? *at(x, i, j) : *at(x, j, i);
}

static uint32_t value(uint64_t *rng)
{
    const uint32_t x = (uint32_t)test_bits(rng);
    return (x & 0x80ffffff) | (uint32_t)test_between(rng, 120, 131) << 23;
}

static struct held held_make(size_t rows, size_t cols, enum half half, uint32_t rest,
                             uint64_t *rng)
{
    struct held x = { .rows = rows, .cols = cols, .half = half };
    x.layout = test_bits(rng) & 1 ? BITCUT_ROW_MAJOR : BITCUT_COLUMN_MAJOR;
    const bool by_rows = x.layout == BITCUT_ROW_MAJOR;
    x.ld = (by_rows ? cols : rows) + (size_t)test_between(rng, 0, 3);
    x.all = x.ld * (by_rows ? rows : cols);
    x.at = malloc((x.all + 1) * sizeof *x.at);
    ck_assert(x.at != NULL);
    for (size_t i = 0; i < x.all; i++) x.at[i] = rest;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            if (half == HALF_BOTH || (half == HALF_UPPER ? i <= j : i >= j))
                *at(&x, i, j) = value(rng);
    return x;
}

/* Without room between lines, ld may be 0. */
static struct bitcut_matrix given(const struct held *x)
{
    const bool tight = x->ld == (x->layout == BITCUT_ROW_MAJOR ? x->cols : x->rows);
    return (struct bitcut_matrix){ .at = x->at,
                                   .ld = tight && x->at[0] & 1 ? 0 : x->ld,
                                   .layout = x->layout };
}

/* --- one product ------------------------------------------------------------------- */

/* D by bitcut_gemm() of whole row-major matrices without gaps. */
static uint32_t *expected(const struct held *a, const struct held *b,
                          const struct held *c, const struct bitcut_gemm *configuration)
{
    struct bitcut_gemm g = *configuration;
    char why[BITCUT_TEXT_MAX];
    const size_t m = c->rows, n = c->cols, k = a->cols;
    uint32_t *const x = malloc((m * k + 1) * 4), *const y = malloc((k * n + 1) * 4),
                    *const d = malloc((m * n + 1) * 4);
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++) x[i * k + l] = whole(a, i, l);
    for (size_t l = 0; l < k; l++)
        for (size_t j = 0; j < n; j++) y[l * n + j] = whole(b, l, j);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) d[i * n + j] = *at(c, i, j);
    g.m = m, g.n = n, g.k = k;
    g.a.at = x, g.b.at = y, g.c.at = d, g.d.to = d;
    ck_assert_msg(bitcut_gemm(NULL, &g, 1, why) == BITCUT_OK, "%s", why);
    free(x);
    free(y);
    return d;
}

/* What is computed is expected, and all else of D's memory is as it was. */
static void check(const struct held *d, const uint32_t *before, const uint32_t *want,
                  enum half half, const char *what)
{
    uint32_t *const all = malloc((d->all + 1) * 4);
    memcpy(all, before, d->all * 4);
    for (size_t i = 0; i < d->rows; i++)
        for (size_t j = 0; j < d->cols; j++)
            if (half == HALF_BOTH || (half == HALF_UPPER ? i <= j : i >= j))
                all[index_of(d, i, j)] = want[i * d->cols + j];
    for (size_t i = 0; i < d->all; i++)
        if (all[i] != d->at[i])
            ck_abort_msg("%s: %zu x %zu, half %d: element %zu of memory is 0x%08x, not "
                         "0x%08x",
                         what, d->rows, d->cols, half, i, d->at[i], all[i]);
    free(all);
}

static void try(struct held *a, struct held *b, struct held *d, enum half half,
                const struct bitcut_gemm *configuration, int threads, const char *what)
{
    struct product p = { .d = half, .a = a->half, .b = b->half };
    struct fault f;
    bitcut_gemm_init(&p.gemm, sizeof p.gemm);
    p.gemm.m = d->rows, p.gemm.n = d->cols, p.gemm.k = a->cols;
    p.gemm.alpha = configuration->alpha, p.gemm.beta = configuration->beta;
    p.gemm.a = given(a), p.gemm.b = given(b), p.gemm.c = p.gemm.d = given(d);
    uint32_t *const before = malloc((d->all + 1) * 4);
    memcpy(before, d->at, d->all * 4);
    uint32_t *const want = expected(a, b, d, configuration);
    const struct bitcut_gemm bare = gemm_of(configuration->recipe, configuration->unit);
    struct bitcut_gemm asked = *configuration;
    asked.alpha = bare.alpha, asked.beta = bare.beta; /* of no account */
    ck_assert_msg(product_compute(&p, &asked,
                                  &(struct gemm_options){ .threads = threads },
                                  &f) == BITCUT_OK,
                  "%s: %s", what, f.text);
    check(d, before, want, half, what);
    free(before);
    free(want);
}

static void scale(struct bitcut_gemm *configuration, uint64_t *rng)
{
    static const uint32_t alphas[] = { 0x3f800000, 0xbf800000, 0x3fa00001 },
                          betas[] = { 0, 0x80000000, 0x3f800000, 0xc0490fdb };
    configuration->alpha = alphas[test_between(rng, 0, 2)];
    configuration->beta = betas[test_between(rng, 0, 3)];
}

static void free_all(struct held *x, int count)
{
    for (int i = 0; i < count; i++) free(x[i].at);
}

START_TEST(whole_products)
{
    uint64_t rng = test_seed();
    for (int tries = 0; tries < test_cases(300, 5000); tries++) {
        struct bitcut_gemm configuration = way_of(tries % WAYS);
        const size_t m = (size_t)test_between(&rng, 1, 20),
                     n = (size_t)test_between(&rng, 1, 20),
                     k = (size_t)test_between(&rng, 1, 40);
        scale(&configuration, &rng);
        struct held x[3] = { held_make(m, k, HALF_BOTH, NO_NUMBER, &rng),
                             held_make(k, n, HALF_BOTH, NO_NUMBER, &rng),
                             held_make(m, n, HALF_BOTH, UNTOUCHED, &rng) };
        try(&x[0], &x[1], &x[2], HALF_BOTH, &configuration, 1 + tries % 2, ways[tries % WAYS]);
        free_all(x, 3);
    }
}
END_TEST

/* One half of A A^T; with beta 0, C may be NaN. */
static void try_rank(size_t n, size_t k, int way_at, enum half half, int threads,
                     uint64_t *rng)
{
    struct bitcut_gemm configuration = way_of(way_at);
    scale(&configuration, rng);
    struct held x[2] = { held_make(n, k, HALF_BOTH, NO_NUMBER, rng),
                         held_make(n, n, half, NO_NUMBER, rng) };
    struct held b = x[0];
    b.rows = k, b.cols = n;
    b.layout = x[0].layout == BITCUT_ROW_MAJOR ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
    if (!(configuration.beta & 0x7fffffff))
        for (size_t i = 0; i < x[1].all; i++) x[1].at[i] = NO_NUMBER + (uint32_t)i % 9;
    x[1].half = HALF_BOTH; /* expected() sees it all: the other half counts for nothing */
    try(&x[0], &b, &x[1], half, &configuration, threads, ways[way_at]);
    free_all(x, 2);
}

START_TEST(halves)
{
    uint64_t rng = test_seed() + 1;
    for (int tries = 0; tries < test_cases(300, 5000); tries++)
        try_rank((size_t)test_between(&rng, 1, 25), (size_t)test_between(&rng, 1, 40),
                 tries % WAYS, tries & 1 ? HALF_UPPER : HALF_LOWER, 1 + tries % 2, &rng);
    /* Several blocks of rows: one less than a block, one, one more, and more of them. */
    static const size_t sizes[] = { 255, 256, 257, 520 };
    for (int i = 0; i < 4; i++)
        for (int half = HALF_UPPER; half <= HALF_LOWER; half++)
            try_rank(sizes[i], 3, (i + half) % WAYS, (enum half)half, 1 + i % 2, &rng);
    /* Of all layouts, with room between lines and without. */
    for (int i = 0; i < 24; i++)
        try_rank(259, 2, 0, i & 1 ? HALF_UPPER : HALF_LOWER, 1, &rng);
}
END_TEST

/* A A^T in FP64 by a scheme whose results depend on all rows and columns: the half has the
   bits of the whole, at more rows than a block has, and the other half is untouched. */
START_TEST(half_of_scheme)
{
    enum { SIZE = 300, K = 64 };
    static double a[SIZE * K], d[SIZE * SIZE], want[SIZE * SIZE];
    uint64_t rng = test_seed() + 5;
    struct fault f;
    struct bitcut_gemm configuration;
    ck_assert(configuration_line_read(&configuration, "gemmul8@h100,parts=5", &f) ==
              BITCUT_OK);
    struct product p = { .d = HALF_BOTH };
    bitcut_gemm_init(&p.gemm, sizeof p.gemm);
    p.gemm.m = p.gemm.n = SIZE, p.gemm.k = K;
    p.gemm.a = p.gemm.b =
        (struct bitcut_matrix){ .at = a, .format = &formats[FORMAT_F64] };
    p.gemm.b.layout = BITCUT_COLUMN_MAJOR;
    p.gemm.d = (struct bitcut_matrix){ .to = want, .format = &formats[FORMAT_F64] };
    p.gemm.alpha_f64 = -0.75, p.gemm.beta_f64 = 2;
    for (int half = HALF_UPPER; half <= HALF_LOWER; half++) {
        /* Products of the others with this row are larger than with themselves; it is far
           from the half's other corner. */
        const int large = half == HALF_UPPER ? 0 : SIZE - 1;
        for (int i = 0; i < SIZE * K; i++)
            a[i] = (i % K && i / K != large ? 0.1 : 1) *
                   (1 + test_between(&rng, 0, 1000000) / 3e6);
        for (int i = 0; i < SIZE * SIZE; i++) d[i] = want[i] = i % 77;
        const struct gemm_options options = { .threads = 2 };
        struct bitcut_gemm whole = p.gemm;
        whole.scheme = configuration.scheme, whole.unit = configuration.unit;
        whole.parts = configuration.parts;
        whole.d.to = want, whole.c = whole.d;
        ck_assert_int_eq(bitcut_gemm(NULL, &whole, 1, NULL), BITCUT_OK);
        p.d = (enum half)half, p.gemm.d.to = d, p.gemm.c = p.gemm.d;
        ck_assert_int_eq(product_compute(&p, &configuration, &options, &f), BITCUT_OK);
        for (int i = 0; i < SIZE * SIZE; i++) {
            const bool has = half_has((enum half)half, (size_t)(i / SIZE), (size_t)(i % SIZE));
            const double wanted = has ? want[i] : i % 77;
            if (memcmp(&d[i], &wanted, sizeof wanted))
                ck_abort_msg("half %d: element %d is %a, not %a", half, i, d[i], wanted);
        }
    }
}
END_TEST

START_TEST(symmetric)
{
    uint64_t rng = test_seed() + 2;
    for (int tries = 0; tries < test_cases(300, 5000); tries++) {
        struct bitcut_gemm configuration = way_of(tries % WAYS);
        const size_t m = (size_t)test_between(&rng, 1, 25),
                     n = (size_t)test_between(&rng, 1, 25);
        const bool left = tries & 1;
        const enum half half = tries & 2 ? HALF_UPPER : HALF_LOWER;
        scale(&configuration, &rng);
        struct held x[3] = {
            held_make(m, left ? m : n, left ? half : HALF_BOTH, NO_NUMBER, &rng),
            held_make(left ? m : n, n, left ? HALF_BOTH : half, NO_NUMBER, &rng),
            held_make(m, n, HALF_BOTH, UNTOUCHED, &rng)
        };
        try(&x[0], &x[1], &x[2], HALF_BOTH, &configuration, 1 + tries % 2, ways[tries % WAYS]);
        free_all(x, 3);
    }
}
END_TEST

/* --- batches ----------------------------------------------------------------------- */

START_TEST(batches)
{
    enum { COUNT = 4, M = 3, N = 5, K = 7, ROOM = 64 };
    uint64_t rng = test_seed() + 3;
    static uint32_t a[COUNT * ROOM], b[COUNT * ROOM], d[COUNT * ROOM], want[COUNT * ROOM];
    for (int pointers = 0; pointers < 2; pointers++) {
        const void *each_a[COUNT], *each_b[COUNT];
        void *each_d[COUNT];
        struct product p = { .d = HALF_BOTH };
        struct fault f;
        bitcut_gemm_init(&p.gemm, sizeof p.gemm);
        for (int i = 0; i < COUNT * ROOM; i++)
            a[i] = value(&rng), b[i] = value(&rng), d[i] = want[i] = value(&rng);
        for (int i = 0; i < COUNT; i++) /* in another order */
            each_a[i] = a + (COUNT - 1 - i) * ROOM, each_b[i] = b + (i ^ 1) * ROOM,
            each_d[i] = d + i * ROOM;
        p.gemm.count = COUNT;
        p.gemm.m = M, p.gemm.n = N, p.gemm.k = K;
        p.gemm.beta = p.gemm.alpha;
        p.gemm.a = (struct bitcut_matrix){ .at = a, .stride = ROOM, .ld = K + 1 };
        p.gemm.b = (struct bitcut_matrix){ .at = b, .stride = ROOM, .ld = N + 2 };
        p.gemm.d = (struct bitcut_matrix){ .to = d, .stride = ROOM, .ld = N };
        if (pointers) {
            p.gemm.a.each = each_a, p.gemm.b.each = each_b, p.gemm.d.each_to = each_d;
            p.gemm.a.at = p.gemm.b.at = p.gemm.d.at = NULL;
        }
        p.gemm.c = p.gemm.d;
        const struct bitcut_gemm configuration = way_of(1);
        ck_assert(product_count(&p) == COUNT * M * N * K);
        for (int i = 0; i < COUNT; i++) {
            struct bitcut_gemm g = configuration;
            g.m = M, g.n = N, g.k = K, g.beta = g.alpha;
            g.a = (struct bitcut_matrix){ .at = pointers ? each_a[i] : a + i * ROOM,
                                          .ld = K + 1 };
            g.b = (struct bitcut_matrix){ .at = pointers ? each_b[i] : b + i * ROOM,
                                          .ld = N + 2 };
            g.c = g.d = (struct bitcut_matrix){ .to = want + i * ROOM };
            ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
            const struct product one = product_nth(&p, (size_t)i);
            ck_assert(one.gemm.count == 1 && one.gemm.a.at == g.a.at &&
                      one.gemm.b.at == g.b.at && one.gemm.d.at == d + i * ROOM &&
                      one.gemm.c.at == one.gemm.d.at && !one.gemm.a.each);
        }
        ck_assert_int_eq(
            product_compute(&p, &configuration, &(struct gemm_options){ .threads = 2 }, &f),
            BITCUT_OK);
        ck_assert(!memcmp(d, want, sizeof d));
    }
}
END_TEST

/* --- pieces ------------------------------------------------------------------------ */

START_TEST(copies)
{
    uint64_t rng = test_seed() + 4;
    for (int half = HALF_BOTH; half <= HALF_LOWER; half++)
        for (int tries = 0; tries < 20; tries++) {
            const size_t rows = (size_t)test_between(&rng, 1, 9),
                         cols = half ? rows : (size_t)test_between(&rng, 1, 9);
            struct held x = held_make(rows, cols, (enum half)half, NO_NUMBER, &rng);
            const struct bitcut_matrix m = given(&x);
            uint32_t *const copy = product_copy(&m, rows, cols, (enum half)half);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < cols; j++) {
                    ck_assert_uint_eq(copy[i * cols + j], whole(&x, i, j));
                    ck_assert_uint_eq(
                        product_element(&m, rows, cols, i, j, (enum half)half),
                        whole(&x, i, j));
                }
            free(copy);
            free(x.at);
        }
}
END_TEST

START_TEST(failures)
{
    uint32_t one = 0x3f800000, d = 5;
    struct product p = { .d = HALF_BOTH };
    const struct bitcut_gemm configuration = way_of(0);
    struct fault f;
    bitcut_gemm_init(&p.gemm, sizeof p.gemm);
    p.gemm.m = p.gemm.n = p.gemm.k = 1;
    p.gemm.a.at = p.gemm.b.at = &one;
    p.gemm.d.to = NULL;
    ck_assert_int_eq(
        product_compute(&p, &configuration, &(struct gemm_options){ .threads = 1 }, &f),
        BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text, "D must not be NULL");
    p.gemm.d.to = (char *)&d + 1;
    ck_assert_int_eq(
        product_compute(&p, &configuration, &(struct gemm_options){ .threads = 1 }, &f),
        BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text, "D is not aligned to 4 bytes");
    p.gemm.d.to = &d;
    p.gemm.n = p.gemm.m = SIZE_MAX / 8;
    p.d = HALF_UPPER;
    ck_assert_int_eq(
        product_compute(&p, &configuration, &(struct gemm_options){ .threads = 1 }, &f),
        BITCUT_NO_MEMORY);
    ck_assert_str_eq(f.text, "not enough memory");
    p.d = HALF_BOTH, p.a = HALF_LOWER;
    p.gemm.k = p.gemm.m;
    ck_assert_int_eq(
        product_compute(&p, &configuration, &(struct gemm_options){ .threads = 1 }, &f),
        BITCUT_NO_MEMORY);
    ck_assert_uint_eq(d, 5);
}
END_TEST

TEST_MAIN("blas_product", whole_products, halves, half_of_scheme, symmetric, batches, copies, failures)
