/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the scheme of a D: every scheme is found in every layout, also where the
   layout changes the bits. */
#include "analysis/fp64/scheme_search.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>

enum { M = 2, N = 8, K = 300, SHORT = 40 };

static double uniform(uint64_t *state) { return (double)(test_bits(state) >> 11) * 0x1p-53; }

static struct bitcut_matrix matrix_of(const double *x, enum bitcut_layout layout)
{
    return (struct bitcut_matrix){ .at = x, .format = &formats[FORMAT_F64],
                                   .layout = layout };
}

/* Search for the scheme of D, computed by `own` from its A and B; *g has D. */
static struct scheme_match search(double *d, struct bitcut_gemm *own)
{
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm g = *own;
    struct scheme_match match;
    struct fault f;
    char why[BITCUT_TEXT_MAX];
    own->d = matrix_of(d, BITCUT_ROW_MAJOR);
    ck_assert_msg(bitcut_gemm(own, own, 1, why) == BITCUT_OK, "%s", why);
    g.scheme = NULL, g.unit = NULL, g.parts = BITCUT_UNSET;
    g.d = own->d;
    ck_assert_msg(scheme_search(&match, &g, &options, &f) == BITCUT_OK, "%s", f.text);
    return match;
}

static struct bitcut_gemm gemm_by(const char *scheme, const char *unit, int parts)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.m = M, g.n = N, g.k = K;
    g.scheme = bitcut_scheme_find(scheme);
    g.unit = fp64_unit_find(g.scheme, unit);
    g.parts = parts;
    return g;
}

START_TEST(every_scheme_in_every_layout)
{
    static double a[M * SHORT], b[SHORT * N], d[M * N];
    uint64_t state = test_seed();
    for (const struct bitcut_scheme *s = schemes; s->name; s++)
        for (int layout = 0; layout < 4; layout++) {
            const char *const unit = s->part == &formats[FORMAT_E4M3] ? "b200" : "h100";
            struct bitcut_gemm g = gemm_by(s->name, unit, s->parts);
            g.k = SHORT;
            for (int i = 0; i < M * SHORT; i++) a[i] = 2 * uniform(&state) - 1;
            for (int i = 0; i < SHORT * N; i++) b[i] = 2 * uniform(&state) - 1;
            g.a = matrix_of(a, layout & 1 ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR);
            g.b = matrix_of(b, layout & 2 ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR);
            const struct scheme_match match = search(d, &g);
            ck_assert_msg(scheme_match_is_whole(&match), "%s, layout %d: %zu of %zu",
                          s->name, layout, match.equal, match.compared);
            ck_assert_msg(match.scheme == s || match.same, "%s, layout %d: %s", s->name,
                          layout, match.scheme->name);
        }
}
END_TEST

/* A row with one element, a few ordinary ones, and others so small that each of them makes
   the sum of squares one ulp larger: sums are rounded upward. */
static void make_row(double *row, double element)
{
    for (int p = 0; p < K; p++) row[p] = !p ? element : p < 16 ? 1.0 / p : 0x1p-60;
}

/* The scale of such a row in the fast mode of GEMMul8. */
static int shift_of(double element, bool apart)
{
    static double a[K], b[K];
    const struct gemm_options options = { .threads = 1 };
    int row, col;
    double limit;
    struct fault f;
    const struct bitcut_gemm g = gemm_by("gemmul8-fast", "h100", 15);
    make_row(a, element);
    make_row(b, 1);
    const struct fp64_job job = { .scheme = g.scheme, .unit = g.unit, .parts = 15,
                                  .m = 1, .n = 1, .k = K, .alpha = 1,
                                  .a = a, .b = b, .a_apart = apart,
                                  .options = &options };
    ck_assert_int_eq(fp64_shifts(&row, &col, &limit, &job, &f), BITCUT_OK);
    return row;
}

/* An element whose sum of squares is so near a limit that the order of its additions
   decides the scale. */
static double element_at_limit(void)
{
    double low = 4, high = 8;
    while (nextafter(low, high) < high) {
        const double middle = low + (high - low) / 2;
        *(shift_of(middle, false) == shift_of(4, false) ? &low : &high) = middle;
    }
    low *= 1 - 0x1p-44, high = low * (1 + 0x1p-43);
    while (low < high && shift_of(low, false) == shift_of(low, true)) low = nextafter(low, high);
    return low;
}

START_TEST(layout_decides_the_scale)
{
    static double a[M * K], b[K * N], d[2][M * N];
    uint64_t state = test_seed();
    const double element = element_at_limit();
    ck_assert_int_ne(shift_of(element, false), shift_of(element, true));
    double row[K];
    make_row(row, element);
    for (int i = 0; i < K * N; i++) b[i] = 2 * uniform(&state) - 1;
    for (int columns = 0; columns < 2; columns++) {
        struct bitcut_gemm g = gemm_by("gemmul8-fast", "h100", 15);
        for (int i = 0; i < M * K; i++) a[i] = row[columns ? i / M : i % K];
        g.a = matrix_of(a, columns ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR);
        g.b = matrix_of(b, BITCUT_ROW_MAJOR);
        const struct scheme_match match = search(d[columns], &g);
        ck_assert(scheme_match_is_whole(&match));
        ck_assert_str_eq(match.scheme->name, "gemmul8-fast");
        ck_assert_int_eq(match.parts, 15);
    }
    int differ = 0;
    for (int i = 0; i < M * N; i++) differ += d[0][i] != d[1][i];
    ck_assert_int_gt(differ, 0);
}
END_TEST

TEST_MAIN("scheme_search", every_scheme_in_every_layout, layout_decides_the_scale)
