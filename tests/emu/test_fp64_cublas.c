/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuBLAS chooses and computes for FP64 GEMMs with fixed-point emulation, against
   what data/libraries/fp64_cublas.cu recorded on a GPU, to the bit. */
#include "emu/fp64/cublas_choice.h"
#include "emu/gemm.h"
#include "tests/emu/fp64_cases.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_recording(const char *name)
{
    char path[4096];
    ck_assert(getenv("BITCUT_DATA"));
    snprintf(path, sizeof path, "%s/libraries/fp64/%s.txt", getenv("BITCUT_DATA"), name);
    FILE *const f = fopen(path, "r");
    ck_assert_msg(f, "%s", path);
    return f;
}

/* --- the operands and D of a case ------------------------------------------------- */

struct problem {
    struct fp64_case x;
    double *a, *b, *c, *d;
};

static int kind_of(const char *name)
{
    int kind = 0;
    while (kind < FP64_KIND_COUNT && strcmp(fp64_kinds[kind], name)) kind++;
    ck_assert_msg(kind < FP64_KIND_COUNT, "%s", name);
    return kind;
}

static void make(struct problem *p)
{
    p->a = malloc(p->x.m * p->x.k * sizeof *p->a);
    p->b = malloc(p->x.n * p->x.k * sizeof *p->b);
    p->c = malloc(p->x.m * p->x.n * sizeof *p->c);
    p->d = malloc(p->x.m * p->x.n * sizeof *p->d);
    fp64_operands(p->a, p->b, p->c, &p->x);
}

static void clear(struct problem *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->d);
}

/* D by a line such as "cublas-dynamic@h200,parts=10", and the parts that were chosen. */
static enum bitcut_status run(int *parts, struct problem *p, const char *line, char *why)
{
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    struct bitcut_gemm g, ran;
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&ran, sizeof ran);
    ck_assert_msg(bitcut_gemm_read(&g, line, why) == BITCUT_OK, "%s: %s", line, why);
    g.m = p->x.m, g.n = p->x.n, g.k = p->x.k;
    g.alpha_f64 = fp64_of(p->x.alpha), g.beta_f64 = fp64_of(p->x.beta);
    g.a = (struct bitcut_matrix){ .at = p->a, .format = f64 };
    g.b = (struct bitcut_matrix){ .at = p->b,
                                  .format = f64,
                                  .layout = BITCUT_COLUMN_MAJOR };
    g.c = (struct bitcut_matrix){ .at = p->c, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = p->d, .format = f64 };
    const enum bitcut_status status = bitcut_gemm(&ran, &g, 1, why);
    *parts = status == BITCUT_OK ? ran.parts : 0;
    return status;
}

static void expect_d(const struct problem *p, uint64_t digest, const char *text)
{
    ck_assert_msg(fp64_digest(p->d, p->x.m * p->x.n) == digest, "another D: %s", text);
}

/* --- dynamic control -------------------------------------------------------------- */

static int exponent_of(double x)
{
    int e;
    if (x == 0) return -4195;
    frexp(x, &e);
    return e - 1;
}

/* The largest and the least exponent of some elements. */
static void find_range(int range[2], const double *x, size_t count)
{
    bool zeros = true;
    range[0] = -100000, range[1] = 100000;
    for (size_t p = 0; p < count; p++) {
        const int e = exponent_of(x[p]);
        zeros &= x[p] == 0;
        if (e > range[0]) range[0] = e;
        if (e < range[1]) range[1] = e;
    }
    if (zeros) range[0] = range[1] = -8191;
}

/* The span of an output, block after block. */
static int span_of(const double *a, const double *b, size_t k)
{
    int of_a[2], of_b[2], row = -100000, col = -100000, product = -100000;
    for (size_t from = 0; from < k; from += 64) {
        const size_t count = k - from < 64 ? k - from : 64;
        find_range(of_a, a + from, count);
        find_range(of_b, b + from, count);
        if (of_a[0] > row) row = of_a[0];
        if (of_b[0] > col) col = of_b[0];
        if (of_a[0] + of_b[1] > product) product = of_a[0] + of_b[1];
        if (of_a[1] + of_b[0] > product) product = of_a[1] + of_b[0];
    }
    return row + col - product;
}

static int bits_of(const struct problem *p)
{
    int span = 0;
    for (size_t i = 0; i < p->x.m; i++)
        for (size_t j = 0; j < p->x.n; j++) {
            const int one = span_of(p->a + i * p->x.k, p->b + j * p->x.k, p->x.k);
            if (one > span) span = one;
        }
    return 54 + span;
}

/* What cuBLAS reports: the bits, -1 for an infinity or NaN, UNWRITTEN if it did not ask.
 */
enum { UNWRITTEN = -77, BITS_MAX = 79, PARTS_MOST = 18 };

struct recorded {
    struct problem p;
    int reported, max, offset, native;
    uint64_t digest;
};

static void read_recorded(struct recorded *r, const char *text)
{
    char kind[32], edits[96];
    struct fp64_case *const x = &r->p.x;
    *r = (struct recorded){ .reported = 0 };
    const int count =
        sscanf(text,
               "%d %d %d %d %2s %zu %zu %zu %31s %" SCNu64 " %" SCNx64 " %" SCNx64
               " %95s %" SCNx64,
               &r->reported, &r->max, &r->offset, &r->native, x->layout, &x->m, &x->n,
               &x->k, kind, &x->seed, &x->alpha, &x->beta, edits, &r->digest);
    ck_assert_msg(count == 14, "%s", text);
    if (strcmp(edits, "-")) snprintf(x->edits, sizeof x->edits, "%s", edits);
    x->kind = kind_of(kind);
}

static bool is_finite(const struct recorded *r)
{
    return r->p.x.kind != FP64_infinity && r->p.x.kind != FP64_nan;
}

/* D of a case that cuBLAS computed by slices, with the parts that its bits need. */
static void expect_slices_of(struct recorded *r, const char *text)
{
    const int parts = r->reported / 8 + 1, max = r->max ? r->max : BITS_MAX;
    const bool chosen = !r->offset && max % 8 == 7 && max < 8 * PARTS_MOST;
    char line[80], why[BITCUT_TEXT_MAX];
    int ran;
    if (parts > PARTS_MOST) return;
    snprintf(line, sizeof line, "cublas-%s@h200,parts=%d", chosen ? "dynamic" : "fixed",
             chosen ? max / 8 + 1 : parts);
    ck_assert_msg(run(&ran, &r->p, line, why) == BITCUT_OK, "%s: %s", why, text);
    ck_assert_int_eq(ran, parts);
    expect_d(&r->p, r->digest, text);
}

/* D of a case that cuBLAS computed in FP64, if it has the bits of cublasDgemm() without
   emulation: multiply-adds, k ascending, for short k. */
static void expect_fp64_of(struct recorded *r, const char *text)
{
    enum { ASCENDING_MAX = 150 };
    char why[BITCUT_TEXT_MAX];
    int ran;
    if (r->max || r->offset) return;
    ck_assert_msg(run(&ran, &r->p, "cublas-dynamic@h200", why) == BITCUT_OK, "%s", why);
    if (r->native && r->p.x.k <= ASCENDING_MAX && r->p.x.kind != FP64_nan)
        expect_d(&r->p, r->digest, text);
}

static void expect_recorded(struct recorded *r, const char *text)
{
    const int max = r->max ? r->max : BITS_MAX;
    int bits = -1, found;
    make(&r->p);
    if (is_finite(r)) {
        bits = bits_of(&r->p);
        ck_assert(cublas_bits(&found, r->p.a, r->p.x.m, r->p.b, r->p.x.n, r->p.x.k, 2));
        ck_assert_msg(found == bits, "%d bits, by the definition %d: %s", found, bits,
                      text);
        bits = bits + r->offset < 0 ? 0 : bits + r->offset;
    }
    if (r->reported != UNWRITTEN) {
        ck_assert_msg(r->reported == bits, "%d bits: %s", bits, text);
        if (bits >= 0 && bits <= max) expect_slices_of(r, text);
        else expect_fp64_of(r, text);
    }
    clear(&r->p);
}

START_TEST(dynamic_control)
{
    FILE *const f = open_recording("cublas-dynamic");
    const int step = test_whole() ? 1 : test_step(3);
    char text[512];
    int lines = 0;
    for (; fgets(text, sizeof text, f); lines++) {
        struct recorded r;
        read_recorded(&r, text);
        if (lines % step == 0) expect_recorded(&r, text);
    }
    fclose(f);
    ck_assert_int_eq(lines, 619);
}
END_TEST

/* --- slices of k ------------------------------------------------------------------ */

START_TEST(slices_of_k)
{
    FILE *const f = open_recording("cublas-slices");
    size_t m, n, k, slices;
    int lines = 0;
    for (; fscanf(f, "%zu %zu %zu %zu", &m, &n, &k, &slices) == 4; lines++)
        ck_assert_msg(cublas_slices(m, n, k) == slices, "%zu x %zu x %zu: %zu, not %zu",
                      m, n, k, cublas_slices(m, n, k), slices);
    fclose(f);
    ck_assert_int_eq(lines, 1120);
    ck_assert_uint_eq(cublas_slices(0, 5, 5000), 1);
    ck_assert_uint_eq(cublas_slices(5, 5, 0), 1);
}
END_TEST

/* D of long k, with factors: each slice is added to D by one fma. */
START_TEST(long_k)
{
    enum { WORK_MAX = 3000000 };
    FILE *const f = open_recording("cublas-long");
    char text[512], kind[32], line[80], why[BITCUT_TEXT_MAX];
    int lines = 0, ran;
    for (; fgets(text, sizeof text, f); lines++) {
        struct problem p = { .a = NULL };
        struct fp64_case *const x = &p.x;
        uint64_t digest;
        ck_assert_int_eq(sscanf(text,
                                "%31s %d %2s %zu %zu %zu %31s %" SCNu64 " %" SCNx64
                                " %" SCNx64 " %" SCNx64,
                                x->scheme, &x->parts, x->layout, &x->m, &x->n, &x->k,
                                kind, &x->seed, &x->alpha, &x->beta, &digest),
                         11);
        x->kind = kind_of(kind);
        if (!test_whole() && x->m * x->n * x->k > WORK_MAX) continue;
        snprintf(line, sizeof line, "cublas-fixed@h200,parts=%d", x->parts);
        make(&p);
        ck_assert_msg(run(&ran, &p, line, why) == BITCUT_OK, "%s: %s", why, text);
        expect_d(&p, digest, text);
        clear(&p);
    }
    fclose(f);
    ck_assert_int_eq(lines, 102);
}
END_TEST

TEST_MAIN("FP64 GEMMs of cuBLAS", dynamic_control, slices_of_k, long_k)
