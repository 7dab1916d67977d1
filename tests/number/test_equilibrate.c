/* SPDX-License-Identifier: BSD-3-Clause */
/* Equilibration: exponents of rows and columns, scaling by powers of two, and the effect
   on GEMMs. */
#include "emu/gemm.h"
#include "lib/exact/exact.h"
#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>

#define HALF (&splits[SPLIT_HALF])

enum { INFINITE = 0x7f800000, LARGEST = 0x7f7fffff };

/* --- exponents -------------------------------------------------------------------- */

static const struct {
    int format, target;
} targets[] = {
    { FORMAT_F16, 14 }, { FORMAT_BF16, 14 }, { FORMAT_TF32, 14 },
    { FORMAT_F32, 14 }, { FORMAT_E4M3, 7 },  { FORMAT_E5M2, 14 },
};

START_TEST(targets_of_formats)
{
    for (const struct bitcut_split *s = splits; s->name; s++)
        ck_assert_int_eq(equilibrate_takes(s, NULL), BITCUT_OK);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct bitcut_split s = split_plain(&formats[targets[i].format]);
        ck_assert_int_eq(equilibrate_target(&s), targets[i].target);
    }
    ck_assert_int_eq(equilibrate_target(&splits[SPLIT_HALF_E4M3]), 7); /* of the copy */
    ck_assert_int_eq(equilibrate_target(&splits[SPLIT_HALF_E5M2]), 14);
    ck_assert_int_eq(equilibrate_target(&splits[SPLIT_HALF_S8]), 6); /* it saturates */
    struct bitcut_split s = splits[SPLIT_HALF_S8];
    s.scale = 13;
    ck_assert_int_eq(equilibrate_takes(&s, NULL), BITCUT_BAD_ARGUMENT);
    s.scale = 12;
    s.part[0].rounding = &roundings[ROUND_RZ]; /* leaves twice as much */
    ck_assert_int_eq(equilibrate_takes(&s, NULL), BITCUT_BAD_ARGUMENT);
    s.scale = 11;
    ck_assert_int_eq(equilibrate_takes(&s, NULL), BITCUT_OK);
}
END_TEST

/* The largest finite magnitude of four values, and the exponent for f16. */
static const struct {
    uint32_t x[4], largest;
    int exponent;
} lines[] = {
    { { 0, 0x80000000, 0, 0 }, 0, 0 },
    { { INFINITE, 0x7fc00000, 0xff800000, 0xffffffff }, 0, 0 },
    { { INFINITE, 0x80000001, 0x7f800001, 0 }, 1, 14 + 149 },
    { { 0x007fffff, 0x80000002, 1, 0 }, 0x007fffff, 14 + 127 },
    { { 0x00800000, 0x007fffff, 0, 0 }, 0x00800000, 14 + 126 },
    { { F32_ONE, 0xbfffffff, 0x3f7fffff, 0 }, 0x3fffffff, 14 },
    { { 0xff7fffff, F32_ONE, 0xff800000, 1 }, LARGEST, 14 - 127 },
};

START_TEST(exponents_of_lines)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        uint32_t largest = 0;
        for (int j = 0; j < 4; j++) largest = equilibrate_larger(largest, lines[i].x[j]);
        ck_assert_uint_eq(largest, lines[i].largest);
        ck_assert_int_eq(equilibrate_exponent(HALF, largest), lines[i].exponent);
    }
}
END_TEST

/* Every binade: its ends come to lie in [2^14, 2^15). */
START_TEST(ends_of_binades)
{
    for (int e = -149; e <= 127; e++) {
        const uint32_t first = f32_power_of_two(e);
        const uint32_t last = e < 127 ? f32_power_of_two(e + 1) - 1 : LARGEST;
        const int r = equilibrate_exponent(HALF, first);
        ck_assert_int_eq(r, 14 - e);
        ck_assert_int_eq(equilibrate_exponent(HALF, last), r);
        ck_assert_uint_eq(equilibrate_scale(first, r), f32_power_of_two(14));
        ck_assert_uint_lt(equilibrate_scale(last, r), f32_power_of_two(15));
    }
}
END_TEST

/* --- scaling ---------------------------------------------------------------------- */

/* x 2^exponent by halves and doubles of encodings, with one rounding at the end. */
static uint32_t scaled(uint32_t x, int exponent)
{
    const uint32_t sign = x & 0x80000000, magnitude = x & 0x7fffffff;
    if (magnitude >= INFINITE || magnitude == 0) return x;
    uint64_t significand = (magnitude & 0x7fffff) | (uint64_t)(magnitude >> 23 > 0) << 23;
    int field = magnitude >> 23 ? (int)(magnitude >> 23) : 1;
    while (significand < 1 << 23) significand *= 2, field--;
    field += exponent;
    int drop = field < 1 ? 1 - field : 0;
    if (drop > 25) drop = 25;
    const uint64_t half = drop ? (uint64_t)1 << (drop - 1) : 0;
    const uint64_t rest = significand & (half ? 2 * half - 1 : 0);
    uint64_t kept = significand >> drop;
    kept += rest > half || (half && rest == half && (kept & 1));
    if (field >= 255) return sign | INFINITE;
    return sign | (uint32_t)(((uint64_t)(field < 1 ? 0 : field - 1) << 23) + kept);
}

START_TEST(scales_once_rounded)
{
    uint64_t rng = test_seed();
    fenv_t host;
    fegetenv(&host);
    for (int i = 0; i < test_cases(200000, 200000000); i++) {
        struct hostfp saved;
        const uint64_t bits = test_bits(&rng);
        uint32_t x = (uint32_t)bits;
        if (bits >> 62 == 0) x &= 0x80ffffff;       /* about subnormals */
        if (bits >> 62 == 1) x &= ~(uint32_t)0xfff; /* ties          */
        const int exponent = (int)(bits >> 32 & 0x3ff) - 512;
        test_host_mode(i % 8);
        hostfp_enter(&saved);
        const uint32_t got = equilibrate_scale(x, exponent);
        hostfp_leave(&saved);
        fesetenv(&host);
        if ((x & 0x7fffffff) > INFINITE) ck_assert_uint_gt(got & 0x7fffffff, INFINITE);
        else
            ck_assert_msg(got == scaled(x, exponent), "%08" PRIx32 " 2^%d: %08" PRIx32, x,
                          exponent, got);
    }
}
END_TEST

/* --- GEMMs ------------------------------------------------------------------------ */

enum { M = 20, N = 24, K = 70 };

static uint32_t uniform(uint64_t *rng) /* in [1, 2), with a sign */
{
    return ((uint32_t)test_bits(rng) & 0x807fffff) | F32_ONE;
}

static void multiply(uint32_t *d, const char *recipe, bool equilibrated,
                     const uint32_t *a, const uint32_t *b)
{
    const struct bitcut_recipe *r = bitcut_recipe_find(recipe);
    const struct bitcut_format *parts =
        r->split ? r->split->part[0].format : &formats[FORMAT_F16];
    struct bitcut_gemm g = gemm_of(r, bitcut_unit_find("h100", parts));
    gemm_set_dense(&g, d, M, N, K, a, b, NULL);
    g.equilibrate = equilibrated;
    ck_assert_int_eq(bitcut_gemm(NULL, &g, 1, NULL), BITCUT_OK);
}

static const char *const names[] = { "plain",  "markidis",    "feng",   "ootomo",
                                     "legemm", "ootomo-tf32", "bf16x9", "fp32" };

enum { NAMES = sizeof names / sizeof names[0] };

/* Rows of A and columns of B times powers of two: D times those, bit for bit. */
START_TEST(powers_of_two_pass)
{
    static uint32_t a[M * K], b[K * N], c[M * N], d[M * N];
    uint64_t rng = test_seed();
    for (int x = 0; x < NAMES; x++) {
        int row[M], column[N];
        for (int i = 0; i < M; i++) row[i] = (int)(test_bits(&rng) % 101) - 50;
        for (int j = 0; j < N; j++) column[j] = (int)(test_bits(&rng) % 101) - 50;
        for (int i = 0; i < M * K; i++) a[i] = uniform(&rng);
        for (int i = 0; i < K * N; i++) b[i] = uniform(&rng);
        multiply(c, names[x], true, a, b);
        for (int i = 0; i < M * K; i++) a[i] = equilibrate_scale(a[i], row[i / K]);
        for (int i = 0; i < K * N; i++) b[i] = equilibrate_scale(b[i], column[i % N]);
        multiply(d, names[x], true, a, b);
        for (int i = 0; i < M * N; i++)
            ck_assert_msg(d[i] == equilibrate_scale(c[i], row[i / N] + column[i % N]),
                          "%s: output %d is %08" PRIx32, names[x], i, d[i]);
    }
}
END_TEST

/* The Frobenius norm of the error over that of the product, NaN if D has any. */
static double relative_residual(const uint32_t *d, const uint64_t *exact)
{
    double error = 0, size = 0;
    for (int i = 0; i < M * N; i++) {
        const double want = double_of_bits(exact[i]);
        const double e = (double)float_of_bits(d[i]) - want;
        error += e * e;
        size += want * want;
    }
    return sqrt(error / size);
}

/* A of a magnitude that f16 does not hold, B such that D is moderate. */
static const struct {
    const char *recipe;
    int exponent;
    double least, most; /* relres without and with: NaN counts as large */
} ranges[] = {
    { "ootomo", 40, 1, 4e-7 },    { "ootomo", -40, 0.9, 4e-7 },
    { "legemm", 40, 1, 2e-6 },    { "legemm", -40, 0.9, 2e-6 },
    { "markidis", 100, 1, 2e-6 }, { "markidis", -100, 0.9, 2e-6 },
    { "plain", 30, 1, 1e-3 },     { "plain", -30, 0.9, 1e-3 },
};

START_TEST(ranges_served)
{
    static uint32_t a[M * K], b[K * N], d[M * N];
    static uint64_t exact[M * N];
    uint64_t rng = test_seed();
    for (size_t x = 0; x < sizeof ranges / sizeof ranges[0]; x++) {
        for (int i = 0; i < M * K; i++)
            a[i] = equilibrate_scale(uniform(&rng), ranges[x].exponent);
        for (int i = 0; i < K * N; i++)
            b[i] = equilibrate_scale(uniform(&rng), -ranges[x].exponent);
        ck_assert_int_eq(bitcut_exact_gemm(NULL, exact, M, N, K, a, b, 1), BITCUT_OK);
        multiply(d, ranges[x].recipe, false, a, b);
        const double without = relative_residual(d, exact);
        ck_assert_msg(!(without < ranges[x].least), "%s: %g", ranges[x].recipe, without);
        multiply(d, ranges[x].recipe, true, a, b);
        const double with = relative_residual(d, exact);
        ck_assert_msg(with <= ranges[x].most, "%s: %g", ranges[x].recipe, with);
    }
}
END_TEST

/* Whether a word of x is neither a finite number nor, of an integer, within its range. */
static bool overflows(const struct bitcut_split *s, uint32_t x)
{
    uint64_t part[SPLIT_PARTS_MAX];
    split_apply(part, s, x);
    for (int i = 0; i < s->parts; i++)
        if (format_decode(s->part[i].format, part[i]).kind >= NUMBER_INF) return true;
    return false;
}

/* What is said of a magnitude against the parts of values up to it: of its binade, and of
   the others below by turns. */
static void check_spared(const struct bitcut_split *s, uint32_t largest, uint64_t *rng)
{
    enum { TRIES = 40 };
    const bool spared = equilibrate_spares(s, largest);
    if (s->parts == 1 && !split_is_fixed(s))
        ck_assert_msg(spared != overflows(s, largest), "%s: %08" PRIx32, s->name,
                      largest);
    for (int i = 0; i < TRIES && spared; i++) {
        const uint32_t first = i % 2 ? 0 : largest & 0x7f800000;
        *rng = *rng * 6364136223846793005u + 1442695040888963407u;
        const uint32_t x = first + (uint32_t)((*rng >> 33) % (largest - first + 1));
        ck_assert_msg(!overflows(s, x),
                      "%s at 2^%d: %08" PRIx32 " overflows, though %08" PRIx32 " will do",
                      s->name, s->scale, x, largest);
    }
    /* What serves more serves less. */
    ck_assert(!spared || equilibrate_spares(s, largest / 2));
}

START_TEST(magnitudes_spared)
{
    uint64_t rng = test_seed();
    const struct bitcut_split f16 = split_plain(&formats[FORMAT_F16]);
    ck_assert(equilibrate_spares(&f16, 0) && equilibrate_spares(&f16, 0x477fefff) &&
              !equilibrate_spares(&f16, 0x477ff000)); /* 65520 rounds to infinity */
    ck_assert(!equilibrate_spares(&splits[SPLIT_HALF_S8], 0x43800000)); /* 2^8 saturates */
    for (const struct bitcut_split *row = splits; row->name; row++)
        for (int scale = 0; scale <= (row->parts > 1 ? 14 : 0); scale++)
            for (int e = -127; e <= 127; e += test_step(14)) {
                struct bitcut_split s = *row;
                if (s.parts > 1) s.scale = scale;
                rng = rng * 6364136223846793005u + 1442695040888963407u;
                const uint32_t first = (uint32_t)(e + 127) << 23;
                check_spared(&s, first | (uint32_t)(rng >> 41), &rng);
                check_spared(&s, first | 0x7fffff, &rng);
            }
}
END_TEST

TEST_MAIN("equilibrate", targets_of_formats, exponents_of_lines, ends_of_binades,
          scales_once_rounded, powers_of_two_pass, ranges_served, magnitudes_spared)
