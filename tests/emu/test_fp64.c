/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by schemes against a second implementation by GMP and MPFR, which is written
   from the prose of the schemes and shares no code with emu/fp64 except the logarithm of
   the GPU. */
#include "emu/fp64/fp64_gemm.h"
#include "lib/number/bits.h"
#include "tests/emu/fp64_definition.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- data ------------------------------------------------------------------------- */

enum { UNIFORM, POSITIVE, WIDE, POWERS, ZEROS, SMALL, KINDS };

static double draw(uint64_t *state, int kind)
{
    const double x = (double)(test_bits(state) >> 11) * 0x1p-53,
                 sign = test_bits(state) & 1 ? -1 : 1;
    switch (kind) {
    case POSITIVE: return x;
    case WIDE: return sign * ldexp(1 + x, test_between(state, -40, 40));
    case POWERS: return sign * ldexp(1, test_between(state, -60, 3));
    case ZEROS: return test_bits(state) % 4 ? 0 * sign : sign * x;
    case SMALL: return sign * x * 0x1p-20;
    default: return 2 * x - 1;
    }
}

static struct data data_of(uint64_t *state, int kind, size_t k)
{
    struct data x = { .k = k, .alpha = 1 };
    for (size_t p = 0; p < k; p++) {
        for (int i = 0; i < M; i++) x.a[i][p] = draw(state, kind);
        for (int j = 0; j < N; j++) x.b[j][p] = draw(state, kind);
    }
    if (kind == ZEROS) memset(x.a[1], 0, sizeof x.a[1]);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) x.c[i][j] = draw(state, kind);
    if (test_bits(state) & 1)
        x.alpha = draw(state, UNIFORM), x.beta = draw(state, UNIFORM);
    return x;
}

/* --- running ---------------------------------------------------------------------- */

/* D of the library, from matrices of another layout and with gaps, in a mode of the
   processor. */
static void run(double d[M][N], const char *scheme, const char *unit,
                const struct data *x, int parts, int threads)
{
    static double b[K_MAX][N + 3];
    char line[BITCUT_GEMM_MAX], why[BITCUT_TEXT_MAX];
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    struct bitcut_gemm g, ran;
    bitcut_gemm_init(&g, sizeof g);
    bitcut_gemm_init(&ran, sizeof ran);
    snprintf(line, sizeof line, "%s@%s,parts=%d", scheme, unit, parts);
    ck_assert_msg(bitcut_gemm_read(&g, line, why) == BITCUT_OK, "%s: %s", line, why);
    for (size_t p = 0; p < x->k; p++)
        for (int j = 0; j < N; j++) b[p][j] = x->b[j][p];
    g.m = M, g.n = N, g.k = x->k;
    g.alpha_f64 = x->alpha, g.beta_f64 = x->beta;
    g.a = (struct bitcut_matrix){ .at = x->a, .format = f64, .ld = K_MAX };
    if (threads == 1) g.b = (struct bitcut_matrix){ .at = b, .format = f64, .ld = N + 3 };
    else
        g.b = (struct bitcut_matrix){
            .at = x->b, .format = f64, .ld = K_MAX, .layout = BITCUT_COLUMN_MAJOR
        };
    g.c = (struct bitcut_matrix){ .at = x->c, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    fenv_t saved;
    fegetenv(&saved);
    test_host_mode(threads == 1 ? 0 : 5);
    const enum bitcut_status status = bitcut_gemm(&ran, &g, threads, why);
    fesetenv(&saved);
    ck_assert_msg(status == BITCUT_OK, "%s: %s", line, why);
    ck_assert_int_eq(ran.parts, parts);
}

static void compare(double expected[M][N], const char *scheme, const char *unit,
                    const struct data *x, int parts, int kind)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        double d[M][N];
        run(d, scheme, unit, x, parts, threads);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                ck_assert_msg(bits_of_double(d[i][j]) == bits_of_double(expected[i][j]),
                              "%s on %s, %d parts, k = %zu, data %d, (%d, %d): %a, "
                              "expected %a",
                              scheme, unit, parts, x->k, kind, i, j, d[i][j],
                              expected[i][j]);
    }
}

static const struct spec specs[] = {
    { "ozimmu", "h100", 7, 31, false, false, false },
    { "ozimmu-ef", "h100", 7, 31, false, false, true },
    { "ozimmu-ef", "ampere/mma.m16n8k32.s32.s8", 7, 31, false, false, true },
    { "ozimmu-rn", "h100", 7, 31, true, true, false },
    { "ozimmu-h", "h100", 7, 31, true, false, true },
    { "slices-f16", "a100", 11, 24, true, false, false },
    { "slices-bf16", "hopper/mma.m16n8k16.f32.bf16", 8, 24, true, false, false },
    { "slices-e4m3", "b200", 4, 24, true, false, false },
    { .scheme = NULL },
};

START_TEST(slices)
{
    uint64_t state = test_seed();
    static const size_t ks[] = { 1, 2, 17, 64, 300 };
    for (const struct spec *s = specs; s->scheme; s++)
        for (int turn = 0; turn < test_cases(60, 2000); turn++) {
            const int kind = turn % KINDS,
                      most = s->each || s->digit * 18 < 100 ? 12 : 100 / s->digit;
            const struct data x = data_of(&state, kind, ks[test_bits(&state) % 5]);
            const int parts = test_between(&state, 1, most);
            double d[M][N];
            expect_slices(d, s, &x, parts);
            compare(d, s->scheme, s->unit, &x, parts, kind);
        }
}
END_TEST

START_TEST(slices_of_two_s_complement)
{
    uint64_t state = test_seed() + 7;
    static const size_t ks[] = { 1, 2, 17, 64, 300 };
    for (int turn = 0; turn < test_cases(120, 3000); turn++) {
        const bool backward = turn / KINDS & 1;
        const int kind = turn % KINDS, parts = test_between(&state, 1, backward ? 8 : 12);
        struct data x = data_of(&state, kind, ks[test_bits(&state) % 5]);
        if (turn % 5 == 0) x.a[2][0] = 1 - 0x1p-9; /* needs room for a carry */
        double d[M][N];
        expect_bytes(d, &x, parts, backward);
        compare(d, backward ? "cublasdx" : "cublas-fixed", "h100", &x, parts, kind);
    }
}
END_TEST

START_TEST(residues)
{
    uint64_t state = test_seed() + 1;
    static const size_t ks[] = { 1, 2, 17, 64, 300 };
    for (int turn = 0; turn < test_cases(200, 5000); turn++) {
        const int kind = turn % KINDS, parts = test_between(&state, 2, PARTS_MAX);
        struct data x = data_of(&state, kind, ks[test_bits(&state) % 5]);
        double d[M][N];
        expect_residues(d, &x, parts, false);
        compare(d, "gemmul8", turn % 2 ? "h100" : "a100", &x, parts, kind);
        if (kind == WIDE || kind == POWERS) continue; /* integers beyond 64 bits wrap */
        expect_residues(d, &x, parts, true);
        compare(d, "gemmul8-fast", "h100", &x, parts, kind);
    }
}
END_TEST

/* The fast mode is right for lines whose largest element is near 1, and gives nothing for
   the same lines times 2^-20, although no bit of them is lost. */
START_TEST(fast_mode_needs_elements_near_one)
{
    uint64_t state = test_seed() + 2;
    struct data x = data_of(&state, POSITIVE, K_MAX);
    double at_one[M][N], exact[M][N], small[M][N], worst = 0;
    x.alpha = 1, x.beta = 0;
    run(at_one, "gemmul8-fast", "h100", &x, 14, 1);
    run(exact, "gemmul8", "h100", &x, 20, 1);
    for (size_t p = 0; p < x.k; p++) {
        for (int i = 0; i < M; i++) x.a[i][p] *= 0x1p-20;
        for (int j = 0; j < N; j++) x.b[j][p] *= 0x1p-20;
    }
    run(small, "gemmul8-fast", "h100", &x, 14, 1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            ck_assert_double_lt(fabs(at_one[i][j] - exact[i][j]), 1e-12 * exact[i][j]);
            worst = fmax(worst, fabs(small[i][j] * 0x1p40 - exact[i][j]) / exact[i][j]);
        }
    ck_assert_double_gt(worst, 0.5);
}
END_TEST

/* --- multiply-adds ---------------------------------------------------------------- */

START_TEST(chains)
{
    uint64_t state = test_seed() + 3;
    mpfr_t sum, a, b;
    mpfr_inits2(53, sum, a, b, (mpfr_ptr)0);
    for (int turn = 0; turn < test_cases(60, 1000); turn++) {
        const struct data x =
            data_of(&state, turn % KINDS, 1 + test_bits(&state) % K_MAX);
        double d[M][N];
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                mpfr_set_zero(sum, 1);
                for (size_t p = 0; p < x.k; p++) {
                    mpfr_set_d(a, x.a[i][p], MPFR_RNDN);
                    mpfr_set_d(b, x.b[j][p], MPFR_RNDN);
                    mpfr_fma(sum, a, b, sum, MPFR_RNDN);
                }
                d[i][j] = end_of(sum, x.alpha, x.beta, x.c[i][j]);
            }
        compare(d, "fp64", turn % 2 ? "fma/f64" : "hopper/mma.m16n8k16.f64.f64", &x, 1,
                turn % KINDS);
    }
    mpfr_clears(sum, a, b, (mpfr_ptr)0);
}
END_TEST

/* NaN, infinities and signs of zeros as the instruction gives them. */
START_TEST(specials_of_the_instruction)
{
    enum { SIZE = 8, K = 4 };
    static const double values[] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, 0x1p-1074 };
    uint64_t state = test_seed() + 4, zero[SIZE * SIZE] = { 0 }, d[SIZE * SIZE];
    const char *const name = "hopper/mma.m8n8k4.f64.f64";
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    const struct bitcut_unit *const unit = bitcut_unit_find(name, f64);
    for (int turn = 0; turn < test_cases(100, 1000); turn++) {
        double a[SIZE * K], bt[SIZE * K], b[K * SIZE], to[SIZE * SIZE];
        char why[BITCUT_TEXT_MAX];
        for (int i = 0; i < SIZE * K; i++) {
            a[i] = values[test_bits(&state) % 7];
            bt[i] = values[test_bits(&state) % 7];
            if (test_bits(&state) % 16 == 0)
                a[i] = double_of_bits(0x7ff0000000000001u | (test_bits(&state) >> 13));
        }
        for (int p = 0; p < K; p++)
            for (int j = 0; j < SIZE; j++) b[p * SIZE + j] = bt[j * K + p];
        ck_assert_int_eq(
            bitcut_mma(d, unit, 1, SIZE, SIZE, K, (void *)a, (void *)b, zero, 1),
            BITCUT_OK);
        struct bitcut_gemm g;
        bitcut_gemm_init(&g, sizeof g);
        g.scheme = bitcut_scheme_find("fp64");
        g.unit = unit;
        g.m = g.n = SIZE, g.k = K;
        g.a = (struct bitcut_matrix){ .at = a, .format = f64 };
        g.b = (struct bitcut_matrix){ .at = b, .format = f64 };
        g.d = (struct bitcut_matrix){ .to = to, .format = f64 };
        ck_assert_msg(bitcut_gemm(NULL, &g, 1, why) == BITCUT_OK, "%s", why);
        for (int i = 0; i < SIZE * SIZE; i++)
            ck_assert_msg(bits_of_double(to[i]) == d[i], "output %d: %a, expected %a", i,
                          to[i], double_of_bits(d[i]));
    }
}
END_TEST

/* --- special values in slices, and refusals --------------------------------------- */

/* ozIMMU multiplies the sum by the scales of the row and of the column: a row with an
   infinite scale is infinite or NaN, a row of subnormals zero. */
START_TEST(scales_of_special_rows)
{
    uint64_t state = test_seed() + 5;
    struct data x = data_of(&state, POSITIVE, 20);
    double d[M][N];
    x.alpha = 1, x.beta = 0;
    x.a[0][3] = INFINITY;
    x.a[1][4] = NAN;
    x.a[2][5] = 0x1p1023;
    for (size_t p = 0; p < x.k; p++) x.a[3][p] = 0x1p-1060;
    run(d, "ozimmu", "h100", &x, 8, 1);
    for (int j = 0; j < N; j++) {
        ck_assert(isinf(d[0][j]) && isinf(d[2][j]));
        ck_assert(!isfinite(d[1][j]));
        ck_assert(d[3][j] == 0);
        ck_assert(d[4][j] > 0 && isfinite(d[4][j]));
    }
}
END_TEST

/* Numbers of any bits, often at the ends of the range, and often NaN or infinite. */
static double draw_bits(uint64_t *state)
{
    static const double ends[] = { NAN,       INFINITY, -INFINITY, 0x1p1023,
                                   0x1p512,   0x1p128,  0x1p-512,  0x1p-1022,
                                   0x1p-1074, -0.0,     -0x1p1023, 0x1.fffffffffffffp1023,
                                   0x1p-1000, 1 };
    const uint64_t bits = test_bits(state);
    return bits % 4 ? ends[bits / 4 % (sizeof ends / sizeof *ends)]
                    : double_of_bits(test_bits(state));
}

/* Every scheme defines D for numbers of any bits: when the rows of A and C change places,
   so do those of D, with all their bits. */
START_TEST(any_bits)
{
    static const struct {
        const char *scheme, *unit;
        bool by_layout; /* D depends on the layout of B beside infinities */
    } cases[] = {
        { "fp64", "h100", false },         { "ozimmu", "h100", false },
        { "ozimmu-ef", "h100", false },    { "ozimmu-rn", "h100", false },
        { "ozimmu-h", "h100", false },     { "cublasdx", "h100", false },
        { "cublas-fixed", "h200", false }, { "gemmul8", "h100", true },
        { "gemmul8-fast", "h100", true },  { "slices-f16", "a100", false },
        { "slices-bf16", "h100", false },  { "slices-e4m3", "b200", false },
    };
    enum { CASES = sizeof cases / sizeof *cases };
    static struct data x, moved;
    uint64_t state = test_seed() + 7;
    for (int turn = 0; turn < test_cases(2000, 10000) * CASES; turn++) {
        const char *const scheme = cases[turn % CASES].scheme, *const unit =
                                                                   cases[turn % CASES]
                                                                       .unit;
        const int parts = strcmp(scheme, "fp64") ? test_between(&state, 2, 8) : 1;
        x = data_of(&state, turn % KINDS, 1 + test_bits(&state) % 40);
        const unsigned few = test_bits(&state) % 2 ? 1 : 8; /* one number in so many */
        for (size_t p = 0; p < x.k; p++) {
            for (int i = 0; i < M; i++)
                if (test_bits(&state) % few == 0) x.a[i][p] = draw_bits(&state);
            for (int j = 0; j < N; j++)
                if (test_bits(&state) % few == 0) x.b[j][p] = draw_bits(&state);
        }
        moved = x;
        for (int i = 0; i < M; i++) {
            memcpy(moved.a[i], x.a[(i + 2) % M], sizeof x.a[i]);
            memcpy(moved.c[i], x.c[(i + 2) % M], sizeof x.c[i]);
        }
        double d[M][N], of[M][N];
        run(d, scheme, unit, &x, parts, 1);
        run(of, scheme, unit, &moved, parts, cases[turn % CASES].by_layout ? 1 : 3);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                ck_assert_msg(
                    bits_of_double(of[i][j]) == bits_of_double(d[(i + 2) % M][j]),
                    "%s, %d parts, k = %zu, turn %d, (%d, %d): %a, and %a in "
                    "other rows",
                    scheme, parts, x.k, turn, i, j, of[i][j], d[(i + 2) % M][j]);
    }
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        { "ozimmu@h100,parts=19", "scheme ozimmu has 1 to 18 parts" },
        { "ozimmu@h100,parts=0", "scheme ozimmu has 1 to 18 parts" },
        { "ozimmu@h100,parts=3,tile=2",
          "unknown setting \"tile=2\"; a scheme has parts=N, and slices=N of k" },
        { "ozimmu@v100", "no unit \"v100\" multiplies s8" },
        { "ozimmu@hopper/mma.m16n8k16.f32.f16",
          "hopper/mma.m16n8k16.f32.f16 multiplies f16 by f16; scheme ozimmu has parts in "
          "s8" },
        { "gemmul8@h100,parts=1", "scheme gemmul8 has 2 to 20 parts" },
    };
    struct bitcut_gemm g;
    char why[BITCUT_TEXT_MAX], line[BITCUT_GEMM_MAX];
    bitcut_gemm_init(&g, sizeof g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(bitcut_gemm_read(&g, cases[i].line, why), BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(why, cases[i].why);
    }
    ck_assert_int_eq(bitcut_gemm_read(&g, "ozimmu-h@h100,parts=6", why), BITCUT_OK);
    ck_assert_int_eq(bitcut_gemm_write(line, &g), BITCUT_OK);
    ck_assert_str_eq(line, "ozimmu-h@hopper/mma.m16n8k32.s32.s8,parts=6");
    double x = 1;
    g.m = g.n = g.k = 1;
    g.a = g.b = (struct bitcut_matrix){ .at = &x, .format = bitcut_format_find("f64") };
    g.d = (struct bitcut_matrix){ .to = &x, .format = bitcut_format_find("f64") };
    g.promote = 1;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(
        why, "promote belongs to FP32 GEMMs and cannot be combined with scheme ozimmu-h");
    g.promote = BITCUT_UNSET;
    g.d.format = NULL;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "D cannot have the format f32");
    double limit;
    struct bitcut_prediction prediction = { .size = sizeof prediction };
    const struct bitcut_predict_options options = { .size = sizeof options };
    g.d.format = bitcut_format_find("f64");
    ck_assert_int_eq(bitcut_bound(&limit, &g, 0, "running", 1, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "a scheme has one bound, without a name");
    ck_assert_int_eq(bitcut_predict(&prediction, &g, &options, why), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "this call takes FP32 GEMMs; a scheme is taken by gemm, "
                          "verify, judge, budget, bound and tolerance");
}
END_TEST

/* A D that differs in one bit is found; an equal one is not. */
START_TEST(verification)
{
    uint64_t state = test_seed() + 6;
    struct data x = data_of(&state, UNIFORM, 64);
    double d[M][N];
    char why[BITCUT_TEXT_MAX];
    const struct bitcut_format *const f64 = bitcut_format_find("f64");
    run(d, "ozimmu-h", "h100", &x, 7, 1);
    struct bitcut_gemm g, ran;
    struct bitcut_difference found = { .size = sizeof found };
    bitcut_gemm_init(&ran, sizeof ran);
    ck_assert_int_eq(bitcut_gemm_read(&ran, "ozimmu-h@h100,parts=7", why), BITCUT_OK);
    g = ran;
    g.m = M, g.n = N, g.k = x.k, g.alpha_f64 = x.alpha, g.beta_f64 = x.beta;
    g.a = (struct bitcut_matrix){ .at = x.a, .format = f64, .ld = K_MAX };
    g.b = (struct bitcut_matrix){
        .at = x.b, .format = f64, .ld = K_MAX, .layout = BITCUT_COLUMN_MAJOR
    };
    g.c = (struct bitcut_matrix){ .at = x.c, .format = f64 };
    g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
    ck_assert_msg(bitcut_gemm_verify(&found, &ran, &g, 2, why) == BITCUT_OK, "%s", why);
    ck_assert_uint_eq(found.compared, M * N);
    ck_assert_uint_eq(found.differ, 0);
    d[3][2] = nextafter(d[3][2], INFINITY);
    ck_assert_int_eq(bitcut_gemm_verify(&found, &ran, &g, 2, why), BITCUT_OK);
    ck_assert(found.differ == 1 && found.row == 3 && found.column == 2);
    ck_assert(found.given == bits_of_double(d[3][2]));
}
END_TEST

TEST_MAIN("fp64", slices, slices_of_two_s_complement, residues,
          fast_mode_needs_elements_near_one, chains, specials_of_the_instruction,
          scales_of_special_rows, any_bits, refusals, verification)
