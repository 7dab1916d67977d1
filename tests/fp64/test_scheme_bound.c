/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of FP64 schemes: no output exceeds its bound, on any data, also on those that a
   scheme does not represent, and for any number of parts; and some errors are near their bounds. */
#include "analysis/fp64/scheme_bound.h"
#include "lib/exact/exact64.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 6, N = 5, K_MAX = 400 };

enum { UNIFORM, POSITIVE, WIDE, POWERS, ZEROS, SMALL, SPREAD, CANCELLING, ONES_IN_B, ONES_IN_A,
       SUBNORMAL, LARGE, KINDS };

static double uniform(uint64_t *state) { return (double)(test_bits(state) >> 11) * 0x1p-53; }

static double draw(uint64_t *state, int kind, size_t p, bool of_b)
{
    const double x = uniform(state), sign = test_bits(state) & 1 ? -1 : 1;
    switch (kind) {
    case POSITIVE: return x;
    case WIDE: return sign * ldexp(1 + x, test_between(state, -40, 40));
    case POWERS: return sign * ldexp(1, test_between(state, -60, 3));
    case ZEROS: return test_bits(state) % 4 ? 0 : sign * x;
    case SMALL: return sign * x * 0x1p-20;
    case SPREAD: /* large elements of A meet small ones of B */
        return sign * ldexp(1 + x, (int)(p % 60) * (of_b ? -1 : 1));
    case CANCELLING: return p % 2 && !of_b ? -1 - 0x1p-50 * x : 1 + 0x1p-50 * x;
    case ONES_IN_B: return of_b ? 1 : x; /* all loss is of the slices of A */
    case ONES_IN_A: return of_b ? x : 1;
    case LARGE: return sign * ldexp(1 + x, of_b ? -1000 : test_between(state, 960, 1021));
    case SUBNORMAL: return sign * x * (of_b ? 0x1p900 : 0x1p-1022);
    default: return 2 * x - 1;
    }
}

struct found {
    double worst;   /* largest |D - E| / limit of all outputs with a bound */
    size_t bounded; /* outputs with a bound */
};

static void try(struct found *to, const char *line, uint64_t *state, int kind, size_t k)
{
    static double a[M * K_MAX], b[N * K_MAX], rows_of_b[K_MAX * N];
    double c[M * N], d[M * N], high[M * N], low[M * N], magnitude[M * N], limit[M * N];
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm g;
    struct fault f;
    for (size_t p = 0; p < k; p++) {
        for (size_t i = 0; i < M; i++) a[i * k + p] = draw(state, kind, p, false);
        for (size_t j = 0; j < N; j++)
            rows_of_b[p * N + j] = b[j * k + p] = draw(state, kind, p, true);
    }
    for (int i = 0; i < M * N; i++) c[i] = draw(state, kind, 0, false);
    bitcut_gemm_init(&g, sizeof g);
    ck_assert_msg(bitcut_gemm_read(&g, line, why) == BITCUT_OK, "%s: %s", line, why);
    g.m = M, g.n = N, g.k = k;
    g.alpha_f64 = test_bits(state) & 1 ? 1 : 2 * uniform(state) - 1;
    g.beta_f64 = test_bits(state) & 1 ? 0 : uniform(state);
    g.a = (struct bitcut_matrix){ .at = a, .format = f64 };
    g.b = (struct bitcut_matrix){ .at = rows_of_b, .format = f64 };
    g.c = (struct bitcut_matrix){ .at = c, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    ck_assert_msg(bitcut_gemm(&g, &g, 1, why) == BITCUT_OK, "%s: %s", line, why);
    const struct exact64_update update = { g.alpha_f64, g.beta_f64, c };
    ck_assert_int_eq(exact64_gemm(high, low, magnitude, NULL, NULL, &update, M, N, k, a,
                                  rows_of_b, &f),
                     BITCUT_OK);
    const struct fp64_job job = { .scheme = g.scheme, .unit = g.unit, .parts = g.parts,
                                  .m = M, .n = N, .k = k,
                                  .alpha = g.alpha_f64, .beta = g.beta_f64,
                                  .a = a, .b = b, .c = g.beta_f64 != 0 ? c : NULL,
                                  .options = &options };
    ck_assert_int_eq(scheme_bound(limit, &job, magnitude, &f), BITCUT_OK);
    for (int i = 0; i < M * N; i++) {
        const double error = fabs((d[i] - high[i]) - low[i]);
        ck_assert(limit[i] > 0);
        ck_assert_msg(error <= limit[i],
                      "%s, data %d, k = %zu, output %d: error %g above the bound %g", line,
                      kind, k, i, error, limit[i]);
        if (isinf(limit[i])) continue;
        to->bounded++;
        to->worst = fmax(to->worst, error / limit[i]);
    }
}

START_TEST(no_output_exceeds_its_bound)
{
    static const struct {
        const char *scheme, *unit;
        int least, most;
        double near; /* some error is at least this share of its bound */
    } cases[] = {
        { "fp64", "fma/f64", 1, 1, 0.1 },
        { "ozimmu", "h100", 1, 10, 0.1 },
        { "ozimmu-ef", "h100", 1, 10, 0.1 },
        { "ozimmu-rn", "h100", 1, 10, 0.1 },
        { "ozimmu-h", "h100", 1, 10, 0.1 },
        { "cublasdx", "h100", 1, 8, 0.1 },
        { "gemmul8", "h100", 2, 20, 0.1 },
        { "gemmul8-fast", "h100", 2, 20, 0.1 },
        { "cublas-fixed", "h100", 1, 8, 0.1 },
        { "slices-f16", "h100", 1, 9, 0.1 },
        { "slices-bf16", "mi300", 1, 9, 0.1 },
        { "slices-e4m3", "b200", 1, 15, 0.1 },
    };
    uint64_t state = test_seed();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct found found = { 0, 0 };
        const int turns = test_cases(240, 4000);
        for (int turn = 0; turn < turns; turn++) {
            char line[BITCUT_GEMM_MAX];
            snprintf(line, sizeof line, "%s@%s,parts=%d", cases[c].scheme, cases[c].unit,
                     test_between(&state, cases[c].least, cases[c].most));
            try(&found, line, &state, turn % KINDS, 1 + test_bits(&state) % K_MAX);
        }
        ck_assert_msg(found.bounded > (size_t)turns * M * N / 2, "%s: %zu with a bound",
                      cases[c].scheme, found.bounded);
        /* A few turns come near no bound. */
        ck_assert_msg(turns < 240 || found.worst > cases[c].near,
                      "%s: at most %g of the bound", cases[c].scheme, found.worst);
    }
}
END_TEST

/* Slices in e4m3 on a unit of Hopper whose sums have 14 bits are not exact: no bound. */
START_TEST(units_that_round_have_no_bound)
{
    struct found found = { 0, 0 };
    uint64_t state = test_seed();
    try(&found, "slices-e4m3@hopper/wgmma.m64n8k32.f32.e4m3,parts=14", &state, UNIFORM, 300);
    ck_assert_uint_eq(found.bounded, 0);
}
END_TEST

TEST_MAIN("scheme_bound", no_output_exceeds_its_bound, units_that_round_have_no_bound)
