/* Input families: what every family must do, what each one promises, and recorded
   digests. */
#include "tests/test.h"

#include "lib/input.h"
#include "lib/rand.h"
#include "lib/split.h"

#include <fenv.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static const struct bitcut_format *const f16 = &formats[FORMAT_F16];
static const struct bitcut_format *const f32 = &formats[FORMAT_F32];

static double value(uint32_t x) { return format_to_double(f32, x); }

static struct input parsed(const char *text)
{
    struct input in;
    struct fault f;
    if (input_parse(&in, text, &f)) ck_abort_msg("\"%s\": %s", text, f.text);
    return in;
}

/* The matrix of a text; the caller clears it. */
static struct matrix filled(const char *text, enum input_role role, uint64_t seed,
                            size_t rows, size_t cols, int threads)
{
    const struct input in = parsed(text);
    struct matrix m;
    struct fault f;
    ck_assert_int_eq(matrix_init(&m, rows, cols, &f), BITCUT_OK);
    memset(m.at, 0xa5, rows * cols * sizeof *m.at);
    if (input_fill(&m, &in, role, seed, threads, &f))
        ck_abort_msg("\"%s\": %s", text, f.text);
    return m;
}

/* The top left corner of `big` is `m`. */
static void check_corner(const char *text, const char *how, const struct matrix *m,
                         const struct matrix *big)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            const uint32_t want = m->at[i * m->cols + j];
            const uint32_t got = big->at[i * big->cols + j];
            if (got != want)
                ck_abort_msg("%s %s: (%zu, %zu): got 0x%08" PRIx32
                             " (%a), want 0x%08" PRIx32 " (%a)",
                             text, how, i, j, got, value(got), want, value(want));
        }
}

static bool same(const struct matrix *a, const struct matrix *b)
{
    return !memcmp(a->at, b->at, a->rows * a->cols * sizeof *a->at);
}

/* Fail at element i of m unless `good`. */
static void check_element(bool good, const char *text, const struct matrix *m, size_t i)
{
    if (!good)
        ck_abort_msg("%s: (%zu, %zu) is 0x%08" PRIx32 " (%a)", text, i / m->cols,
                     i % m->cols, m->at[i], value(m->at[i]));
}

/* --- what every family must do ------------------------------------------------------ */

enum { ROWS = 12, COLS = 13 };

typedef void family_check(const char *name, enum input_role role, const struct matrix *m);

/* Call `check` with a ROWS x COLS matrix of every family, as A and as B. */
static void every_family(family_check *check)
{
    for (const struct input_family *p = inputs; p->name; p++)
        for (int role = INPUT_A; role <= INPUT_B; role++) {
            struct matrix m = filled(p->name, (enum input_role)role, 5, ROWS, COLS, 1);
            check(p->name, (enum input_role)role, &m);
            matrix_clear(&m);
        }
}

static void threads_check(const char *name, enum input_role role, const struct matrix *m)
{
    for (int threads = 0; threads <= 7; threads++) {
        struct matrix other = filled(name, role, 5, ROWS, COLS, threads);
        check_corner(name, "with other threads", m, &other);
        matrix_clear(&other);
    }
}

START_TEST(threads_do_not_matter) { every_family(threads_check); }
END_TEST

/* 0x8040: flush results to zero and take subnormal operands as zero. */
static void flush_set(bool flush)
{
#if defined(__SSE2__)
    _mm_setcsr(flush ? _mm_getcsr() | 0x8040 : _mm_getcsr() & ~0x8040u);
#else
    (void)flush;
#endif
}

static bool flush_is_set(void)
{
#if defined(__SSE2__)
    return (_mm_getcsr() & 0x8040) == 0x8040;
#else
    return true;
#endif
}

/* Set the mode of the thread that OpenMP will use beside this one, and of this one: some
   runtimes put back the mode of the calling thread when a parallel region ends. */
static void mode_set(int rounding, bool flush)
{
#pragma omp parallel num_threads(2)
    {
        fesetround(rounding);
        flush_set(flush);
    }
    fesetround(rounding);
    flush_set(flush);
}

static void modes_check(const char *name, enum input_role role, const struct matrix *m)
{
    static const int mode[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    for (int i = 0; i < 4; i++) {
        mode_set(mode[i], true);
        struct matrix other = filled(name, role, 5, ROWS, COLS, 2);
        const bool kept = fegetround() == mode[i] && flush_is_set();
        mode_set(FE_TONEAREST, false);
        check_corner(name, "in another mode", m, &other);
        ck_assert_msg(kept, "%s: the caller's mode was changed", name);
        matrix_clear(&other);
    }
}

START_TEST(the_callers_mode_does_not_matter) { every_family(modes_check); }
END_TEST

static void corner_check(const char *name, enum input_role role, const struct matrix *m)
{
    if (!strcmp(name, "spatial") || !strcmp(name, "gendot")) return; /* see their rows */
    struct matrix big = filled(name, role, 5, ROWS + 9, COLS + 30, 2);
    check_corner(name, "in a larger matrix", m, &big);
    matrix_clear(&big);
}

START_TEST(a_matrix_is_the_corner_of_a_larger_one) { every_family(corner_check); }
END_TEST

static bool is_random(const char *name)
{
    return strcmp(name, "const") && strcmp(name, "zeros") && strcmp(name, "cauchy");
}

static void differs_check(const char *name, enum input_role role, const struct matrix *m)
{
    struct matrix seed = filled(name, role, 6, ROWS, COLS, 1);
    struct matrix far = filled(name, role, 5 + (UINT64_C(1) << 40), ROWS, COLS, 1);
    struct matrix other =
        filled(name, role == INPUT_A ? INPUT_B : INPUT_A, 5, ROWS, COLS, 1);
    ck_assert_msg(same(m, &seed) != is_random(name), "%s: seed", name);
    ck_assert_msg(same(m, &far) != is_random(name), "%s: upper half of the seed", name);
    ck_assert_msg(same(m, &other) != is_random(name), "%s: role", name);
    matrix_clear(&seed);
    matrix_clear(&far);
    matrix_clear(&other);
}

START_TEST(seed_and_role_matter) { every_family(differs_check); }
END_TEST

START_TEST(empty_matrices_are_filled)
{
    for (const struct input_family *p = inputs; p->name; p++) {
        struct matrix tall = filled(p->name, INPUT_A, 1, 5, 0, 0);
        struct matrix wide = filled(p->name, INPUT_B, 1, 0, 5, 0);
        matrix_clear(&tall);
        matrix_clear(&wide);
    }
}
END_TEST

/* --- recorded digests --------------------------------------------------------------- */

/* FNV-1a of the encodings, lowest byte first. */
static uint64_t digest_of(uint64_t digest, const struct matrix *m)
{
    for (size_t i = 0; i < m->rows * m->cols; i++)
        for (int byte = 0; byte < 4; byte++)
            digest = (digest ^ (m->at[i] >> 8 * byte & 0xff)) * 0x100000001b3;
    return digest;
}

/* Digests of a 24 x 25 A and a 25 x 24 B for seed 20260101. */
/* clang-format off */
static const struct {
    const char *text;
    uint64_t digest;
} recorded[] = {
    { "urand", 0xee0ce3b125537b25 },
    { "urand(0.1,0.7)", 0x70c1cd29f7500fa0 },
    { "nrand", 0x863c2d0a5589a72c },
    { "nrand(3,0.25)", 0xce965170ccc8b151 },
    { "exp_rand", 0x694b934ea5c9fc4f },
    { "exp_rand(-100,-35)", 0x00056e736f9c93ed },
    { "positive", 0x655da61915b5536a },
    { "llm", 0xac2686a286765eab },
    { "alternating", 0xa5db0705a6dd1c6a },
    { "const", 0xc9e8e85c192f0aa5 },
    { "zeros", 0xd0549f149dd63a25 },
    { "integers", 0x8b9a0ace715d9d32 },
    { "ties", 0x19b9a009309bc68e },
    { "rz_worst", 0x66824bb3df91053e },
    { "subnormal", 0x054b091e325da606 },
    { "specials", 0x675da921524c4a8d },
    { "specials(3)", 0x187d79dab9cb2c1d },
    { "anybits", 0x18d856f30b72e4b4 },
    { "cauchy", 0xac7c5f7ad00e0ea9 },
    { "cauchy(0.5)", 0xa0e6f45fd6030498 },
    { "spatial", 0xbad450feefcbc674 },
    { "spatial(0.01)", 0xb87626bac8f2a3bd },
    { "randtlr", 0xa10f9eb595c4c15f },
    { "randtlr(7,0.7,2)", 0x9675573318fbc517 },
    { "gendot", 0x7138abff510b95e1 },
    { "gendot(1e30)", 0x961a70c02ab8e429 },
};
/* clang-format on */
enum { RECORDED = sizeof recorded / sizeof recorded[0] };

static uint64_t text_digest(const char *text)
{
    struct matrix a = filled(text, INPUT_A, 20260101, 24, 25, 0);
    struct matrix b = filled(text, INPUT_B, 20260101, 25, 24, 0);
    const uint64_t digest = digest_of(digest_of(0xcbf29ce484222325, &a), &b);
    matrix_clear(&a);
    matrix_clear(&b);
    return digest;
}

/* A changed bit on any host, compiler or library shows here. */
START_TEST(every_family_has_the_recorded_bits)
{
    for (int i = 0; i < RECORDED; i++) {
        const uint64_t digest = text_digest(recorded[i].text);
        if (digest != recorded[i].digest)
            ck_abort_msg("%s: digest 0x%016" PRIx64 ", recorded 0x%016" PRIx64,
                         recorded[i].text, digest, recorded[i].digest);
    }
    for (const struct input_family *p = inputs; p->name; p++) {
        bool found = false;
        for (int i = 0; i < RECORDED; i++) found |= !strcmp(recorded[i].text, p->name);
        if (!found)
            ck_abort_msg("record { \"%s\", 0x%016" PRIx64 " }", p->name,
                         text_digest(p->name));
    }
}
END_TEST

/* --- distributions ------------------------------------------------------------------ */

/* Word n of element (i, j), by the layout that lib/input.h states. */
static uint32_t element_word(enum input_role role, uint64_t seed, size_t i, size_t j,
                             int n)
{
    const uint64_t block = (uint64_t)i << 32 | j;
    return rand_word(seed, role == INPUT_A ? 0 : 1, 4 * block + (uint64_t)n);
}

/* The number in (0, 1) that words n and n + 1 make. */
static double element_uniform(enum input_role role, uint64_t seed, size_t i, size_t j,
                              int n)
{
    const uint64_t low = element_word(role, seed, i, j, n);
    const uint64_t high = element_word(role, seed, i, j, n + 1);
    return ldexp((double)((high << 20 | low >> 12) * 2 + 1), -53);
}

/* sum (observed - expected)^2 / expected over bins that are equally likely. */
static double chi_square(const size_t *count, int bins)
{
    double n = 0, sum = 0;
    for (int i = 0; i < bins; i++) n += (double)count[i];
    for (int i = 0; i < bins; i++) {
        const double d = (double)count[i] - n / bins;
        sum += d * d / (n / bins);
    }
    return sum;
}

/* Chi-square of bins - 1 degrees of freedom, 6 standard deviations above its mean. */
static void check_flat(const char *what, const size_t *count, int bins)
{
    const double x = chi_square(count, bins);
    const double most = bins - 1 + 6 * sqrt(2.0 * (bins - 1));
    if (!(x <= most)) ck_abort_msg("%s: chi-square %g over %d bins", what, x, bins);
}

/* `count` of `trials` of probability p, within 6 standard deviations. */
static void check_share(const char *what, size_t count, size_t trials, double p)
{
    const double expected = (double)trials * p, sigma = sqrt(expected * (1 - p));
    if (!(fabs((double)count - expected) <= 6 * sigma))
        ck_abort_msg("%s: %zu of %zu, expected %g", what, count, trials, expected);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: sqrt(n) times the largest distance of the distribution of
   u[0..n) from the uniform one; above 2.5 with probability 2 exp(-12.5). */
static void check_uniform(const char *what, double *u, size_t n)
{
    double distance = 0;
    qsort(u, n, sizeof *u, by_value);
    for (size_t i = 0; i < n; i++) {
        distance = fmax(distance, fabs(u[i] - (double)i / (double)n));
        distance = fmax(distance, fabs(u[i] - (double)(i + 1) / (double)n));
    }
    if (!(distance * sqrt((double)n) <= 2.5))
        ck_abort_msg("%s: Kolmogorov-Smirnov %g", what, distance * sqrt((double)n));
}

enum { SIDE = 150 }; /* of the matrices whose distribution is looked at */

/* The values of m between a and b, as a distribution on (0, 1). */
static void check_range(const char *text, double a, double b)
{
    struct matrix m = filled(text, INPUT_A, 3, SIDE, SIDE, 0);
    const size_t n = m.rows * m.cols;
    double *u = calloc(n, sizeof *u);
    for (size_t i = 0; i < n; i++) {
        const double x = value(m.at[i]);
        check_element(x >= a && x <= b, text, &m, i);
        u[i] = (x - a) / (b - a);
    }
    check_uniform(text, u, n);
    free(u);
    matrix_clear(&m);
}

START_TEST(uniform_families)
{
    check_range("urand", -1, 1);
    check_range("urand(3, 3.5)", 3, 3.5);
    check_range("urand(-1e30, 3e38)", value(0xf149f2ca), value(0x7f61b1e6));
    check_range("positive", 0x1p-53, 1);
    check_range("llm", 0.5, 2.5);
    struct matrix m = filled("urand(0.1,0.1)", INPUT_B, 3, 4, 4, 1);
    for (size_t i = 0; i < 16; i++)
        check_element(m.at[i] == 0x3dcccccd, "constant", &m, i);
    matrix_clear(&m);
}
END_TEST

/* -1 + 2u is exact in binary64: the element is it, rounded once. */
START_TEST(urand_is_rounded_once)
{
    const uint64_t seed = test_seed();
    for (int role = INPUT_A; role <= INPUT_B; role++) {
        struct matrix m = filled("urand", (enum input_role)role, seed, 50, 60, 0);
        for (size_t i = 0; i < 50 * 60; i++) {
            const double u =
                element_uniform((enum input_role)role, seed, i / 60, i % 60, 0);
            mpfr_t x;
            mpfr_init2(x, 100);
            mpfr_set_d(x, u, MPFR_RNDN);
            mpfr_mul_ui(x, x, 2, MPFR_RNDN);
            mpfr_sub_ui(x, x, 1, MPFR_RNDN);
            check_element((float)value(m.at[i]) == mpfr_get_flt(x, MPFR_RNDN), "urand",
                          &m, i);
            mpfr_clear(x);
        }
        matrix_clear(&m);
    }
}
END_TEST

/* z - (Phi(z) - p) / phi(z), a Newton step from the element to the exact quantile,
   which it misses by less than 2^-40 of it. */
static double quantile_near(double z, double p)
{
    mpfr_t phi, x;
    mpfr_inits2(200, phi, x, (mpfr_ptr)NULL);
    mpfr_set_d(x, -z, MPFR_RNDN);
    mpfr_sqrt_ui(phi, 2, MPFR_RNDN);
    mpfr_div(x, x, phi, MPFR_RNDN);
    mpfr_erfc(phi, x, MPFR_RNDN);
    mpfr_div_ui(phi, phi, 2, MPFR_RNDN);
    mpfr_sub_d(phi, phi, p, MPFR_RNDN);
    const double excess = mpfr_get_d(phi, MPFR_RNDN);
    mpfr_clears(phi, x, (mpfr_ptr)NULL);
    return z - excess / (exp(-z * z / 2) / sqrt(2 * acos(-1)));
}

START_TEST(nrand_is_the_rounded_quantile)
{
    const uint64_t seed = test_seed();
    struct matrix m = filled("nrand", INPUT_A, seed, 40, 50, 0);
    struct matrix n = filled("nrand(100, 0.25)", INPUT_A, seed, 40, 50, 0);
    for (size_t i = 0; i < 40 * 50; i++) {
        const double x = value(m.at[i]), ulp = nextafterf((float)fabs(x), 1e9f) - fabs(x);
        const double z =
            quantile_near(x, element_uniform(INPUT_A, seed, i / 50, i % 50, 0));
        check_element(fabs(x - z) <= 0.500001 * ulp, "nrand", &m, i);
        check_element(fabs(value(n.at[i]) - (100 + 0.25 * z)) <= 0x1.00001p-18,
                      "nrand(100,0.25)", &n, i);
    }
    matrix_clear(&m);
    matrix_clear(&n);
}
END_TEST

START_TEST(nrand_is_normal)
{
    struct matrix m = filled("nrand(2, 3)", INPUT_A, 3, SIDE, SIDE, 0);
    const size_t n = m.rows * m.cols;
    double *u = calloc(n, sizeof *u), mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        const double z = (value(m.at[i]) - 2) / 3;
        mean += z / (double)n;
        square += z * z / (double)n;
        u[i] = erfc(-z / sqrt(2)) / 2;
    }
    check_uniform("nrand", u, n);
    ck_assert_msg(fabs(mean) <= 6 / sqrt((double)n), "mean %g", mean);
    ck_assert_msg(fabs(square - 1) <= 6 * sqrt(2.0 / (double)n), "variance %g", square);
    free(u);
    matrix_clear(&m);
}
END_TEST

/* Each of the low `bits` bits of the encodings, and the sign, is set in half of them. */
static void check_bits(const char *text, const struct matrix *m, int bits, bool sign)
{
    const size_t n = m->rows * m->cols;
    for (int bit = 0; bit < 32; bit++) {
        if (bit >= bits && !(sign && bit == 31)) continue;
        size_t count = 0;
        for (size_t i = 0; i < n; i++) count += m->at[i] >> bit & 1;
        check_share(text, count, n, 0.5);
    }
}

static void check_exponents(const char *text, int a, int b)
{
    size_t count[256] = { 0 };
    struct matrix m = filled(text, INPUT_B, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) {
        const int e = (int)(m.at[i] >> 23 & 0xff) - 127;
        check_element(e >= a && e <= b, text, &m, i);
        count[e - a]++;
    }
    check_flat(text, count, b - a + 1);
    matrix_clear(&m);
}

START_TEST(exp_rand_is_equation_25)
{
    check_exponents("exp_rand", -15, 14);
    check_exponents("exp_rand(-35,-15)", -35, -15);
    check_exponents("exp_rand(-100,-35)", -100, -35);
    check_exponents("exp_rand(-126,127)", -126, 127);
    check_exponents("exp_rand(0,0)", 0, 0);
    size_t count[30 * 8] = { 0 }; /* by exponent, sign and two bits of the fraction */
    struct matrix m = filled("exp_rand", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++)
        count[((m.at[i] >> 21 & 0x3ff) - (112 << 2)) << 1 | m.at[i] >> 31]++;
    check_flat("exponent, sign and fraction of exp_rand", count, 30 * 8);
    check_bits("exp_rand", &m, 23, true);
    matrix_clear(&m);
}
END_TEST

START_TEST(anybits_is_uniform)
{
    size_t count[256] = { 0 };
    struct matrix m = filled("anybits", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) count[m.at[i] >> 24]++;
    check_flat("the highest bytes of anybits", count, 256);
    check_bits("anybits", &m, 32, true);
    matrix_clear(&m);
}
END_TEST

START_TEST(integers_are_exact)
{
    size_t count[16] = { 0 };
    struct matrix m = filled("integers(-5,10)", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) {
        const double x = value(m.at[i]);
        check_element(x >= -5 && x <= 10 && x == floor(x) && m.at[i] != 0x80000000,
                      "integers", &m, i);
        count[(int)x + 5]++;
    }
    check_flat("integers", count, 16);
    matrix_clear(&m);
    m = filled("integers(-16777216,16777216)", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++)
        check_element(value(m.at[i]) == floor(value(m.at[i])) &&
                          fabs(value(m.at[i])) <= 0x1p24,
                      "integers", &m, i);
    matrix_clear(&m);
}
END_TEST

START_TEST(constants_are_the_rounded_number)
{
    static const struct {
        const char *text;
        uint32_t encoding;
    } constant[] = {
        { "const", 0x3f800000 },           { "const(1.5)", 0x3fc00000 },
        { "const(0.1)", 0x3dcccccd },      { "const(-3.4028235e38)", 0xff7fffff },
        { "const(1.4e-45)", 0x00000001 },  { "const(-0)", 0x80000000 },
        { "const(16777217)", 0x4b800000 }, { "zeros", 0 },
    };
    for (size_t k = 0; k < sizeof constant / sizeof constant[0]; k++) {
        struct matrix m = filled(constant[k].text, INPUT_A, 1, 3, 5, 1);
        for (size_t i = 0; i < 15; i++)
            check_element(m.at[i] == constant[k].encoding, constant[k].text, &m, i);
        matrix_clear(&m);
    }
}
END_TEST

START_TEST(alternating_alternates_along_k)
{
    struct matrix a = filled("alternating", INPUT_A, 3, 20, 30, 1);
    struct matrix b = filled("alternating", INPUT_B, 3, 30, 20, 1);
    for (size_t i = 0; i < 600; i++) {
        const double x = value(a.at[i]) * (i % 30 % 2 ? -1 : 1);
        const double y = value(b.at[i]) * (i / 20 % 2 ? -1 : 1);
        check_element(x > 0 && x <= 1, "alternating A", &a, i);
        check_element(y > 0 && y <= 1, "alternating B", &b, i);
    }
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

/* --- families made for f16 ---------------------------------------------------------- */

static double in_f16(uint32_t x, int rule)
{
    return format_to_double(f16, bitcut_format_convert(f16, &roundings[rule], f32, x));
}

/* Rounding up and down are equally far, and to nearest even goes down (in magnitude) for
   even k, up for odd k. */
START_TEST(ties_are_ties)
{
    for (int role = INPUT_A; role <= INPUT_B; role++) {
        struct matrix m = filled("ties(-14,14)", (enum input_role)role, 3, SIDE, SIDE, 0);
        for (size_t i = 0; i < m.rows * m.cols; i++) {
            const double x = value(m.at[i]), up = in_f16(m.at[i], ROUND_RU);
            const double down = in_f16(m.at[i], ROUND_RD);
            const double near = in_f16(m.at[i], ROUND_RN);
            const size_t k = role == INPUT_A ? i % m.cols : i / m.cols;
            check_element(up - x == x - down && up > x, "ties", &m, i);
            const double larger = fmax(fabs(up), fabs(down));
            const double smaller = fmin(fabs(up), fabs(down));
            check_element(fabs(near) == (k % 2 ? larger : smaller), "ties", &m, i);
        }
        matrix_clear(&m);
    }
    check_exponents("ties", -3, 3);
    struct matrix m = filled("ties", INPUT_A, 4, SIDE, SIDE, 0);
    size_t negative = 0, high = 0;
    for (size_t i = 0; i < m.rows * m.cols; i++) {
        negative += m.at[i] >> 31;
        high += m.at[i] >> 22 & 1;
    }
    check_share("negative ties", negative, m.rows * m.cols, 0.5);
    check_share("high ties", high, m.rows * m.cols, 0.5);
    matrix_clear(&m);
}
END_TEST

/* Truncation loses all but one of the 2^13 parts of the last bit of f16. */
START_TEST(rz_worst_loses_the_most)
{
    struct matrix m = filled("rz_worst(-14,15)", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) {
        const double x = value(m.at[i]), low = in_f16(m.at[i], ROUND_RZ);
        const double ulp = ldexp(1, (int)(m.at[i] >> 23) - 127 - 10);
        check_element(x > 0 && x - low == ulp - ulp / 8192, "rz_worst", &m, i);
    }
    matrix_clear(&m);
    check_exponents("rz_worst", -3, 3);
}
END_TEST

/* Which third of family subnormal x belongs to: 0 for FP32, 1 for f16, 2 for the low
   word; -1 if none. */
static int subnormal_kind(uint32_t x)
{
    const double magnitude = fabs(value(x));
    uint64_t word[SPLIT_WORDS_MOST];
    split_words(word, bitcut_split_find("markidis"), x);
    const double high = fabs(format_to_double(f16, word[0]));
    const double low = fabs(format_to_double(f16, word[1]));
    if (magnitude > 0 && magnitude < 0x1p-126) return 0;
    if (magnitude < 0x1p-14 && high > 0) return 1;
    if (magnitude < 0x1p-3 && high >= 0x1p-14 && low < 0x1p-14) return 2;
    return -1;
}

START_TEST(subnormals_of_three_kinds)
{
    size_t count[3 * 4] = { 0 }; /* by kind, sign and the first bit of the fraction */
    struct matrix m = filled("subnormal", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) {
        const int kind = subnormal_kind(m.at[i]);
        check_element(kind >= 0, "subnormal", &m, i);
        count[4 * kind + (int)(m.at[i] >> 31 << 1 | (m.at[i] >> 22 & 1))]++;
    }
    check_flat("kinds of subnormal", count, 3 * 4);
    check_bits("subnormal", &m, 23, true);
    matrix_clear(&m);
}
END_TEST

START_TEST(specials_are_one_in_n)
{
    static const uint32_t special[] = { 0x7fc00000, 0x7f800000, 0xff800000, 0,
                                        0x80000000 };
    size_t count[6] = { 0 };
    struct matrix m = filled("specials(4)", INPUT_A, 3, SIDE, SIDE, 0);
    struct matrix plain = filled("urand", INPUT_A, 3, SIDE, SIDE, 0);
    const size_t n = m.rows * m.cols;
    for (size_t i = 0; i < n; i++) {
        int kind = 0;
        while (kind < 5 && m.at[i] != special[kind]) kind++;
        count[kind]++;
        if (kind == 5) check_element(m.at[i] == plain.at[i], "specials(4)", &m, i);
    }
    for (int kind = 0; kind < 5; kind++) check_share("a special", count[kind], n, 0.05);
    check_share("no special", count[5], n, 0.75);
    matrix_clear(&m);
    matrix_clear(&plain);
    m = filled("specials(1)", INPUT_A, 3, 9, 9, 0);
    for (size_t i = 0; i < 81; i++)
        check_element(!(fabs(value(m.at[i])) > 0 && fabs(value(m.at[i])) < 2),
                      "specials(1)", &m, i);
    matrix_clear(&m);
}
END_TEST

/* --- STARS-H ------------------------------------------------------------------------ */

/* Words n and n + 1 of block `block` of the stream that A shares among elements. */
static double shared_uniform(uint64_t seed, uint64_t block, int n)
{
    const uint64_t low = rand_word(seed, 2, 4 * block + (uint64_t)n);
    const uint64_t high = rand_word(seed, 2, 4 * block + (uint64_t)n + 1);
    return ldexp((double)((high << 20 | low >> 12) * 2 + 1), -53);
}

/* |x - y| in ulp of FP32 at x. */
static double ulp_between(double x, double y)
{
    int e;
    frexp(x, &e);
    return fabs(x - y) / ldexp(1, e - 24);
}

START_TEST(cauchy_is_1_over_the_difference)
{
    enum { N = 70 };
    struct matrix m = filled("cauchy", INPUT_A, 3, N, N - 9, 0);
    struct matrix moved = filled("cauchy(0.5)", INPUT_A, 3, N, N - 9, 0);
    const double jitter = 0.5;
    for (size_t e = 0; e < N * (N - 9); e++) {
        const size_t i = e / (N - 9), j = e % (N - 9);
        mpfr_t x;
        mpfr_init2(x, 120);
        mpfr_set_si(x, (long)i - (long)j, MPFR_RNDN);
        if (i != j)
            mpfr_ui_div(x, 1, x, MPFR_RNDN);
        else
            mpfr_set_ui(x, 1, MPFR_RNDN);
        check_element((float)value(m.at[e]) == mpfr_get_flt(x, MPFR_RNDN), "cauchy", &m,
                      e);

        mpfr_set_d(x, shared_uniform(3, i, 0), MPFR_RNDN);
        mpfr_sub_d(x, x, shared_uniform(3, j, 0), MPFR_RNDN);
        mpfr_mul_d(x, x, jitter, MPFR_RNDN);
        mpfr_add_si(x, x, (long)i - (long)j, MPFR_RNDN);
        mpfr_ui_div(x, 1, x, MPFR_RNDN);
        const double want = i == j ? 1 : mpfr_get_d(x, MPFR_RNDN);
        check_element(ulp_between(want, value(moved.at[e])) <= 0.5001, "cauchy(0.5)",
                      &moved, e);
        mpfr_clear(x);
    }
    matrix_clear(&m);
    matrix_clear(&moved);
}
END_TEST

/* The cells of a side x side grid in Morton order, by sorting their interleaved bits. */
struct cell {
    unsigned morton, x, y;
};

static int by_morton(const void *a, const void *b)
{
    const struct cell *p = a, *q = b;
    return (p->morton > q->morton) - (p->morton < q->morton);
}

static void cells_sort(struct cell *cell, unsigned side)
{
    for (unsigned i = 0; i < side * side; i++) {
        cell[i] = (struct cell){ .x = i % side, .y = i / side };
        for (int bit = 7; bit >= 0; bit--)
            cell[i].morton = cell[i].morton << 2 | (cell[i].y >> bit & 1) << 1 |
                             (cell[i].x >> bit & 1);
    }
    qsort(cell, side * side, sizeof *cell, by_morton);
}

/* exp(-distance / beta), correct to 100 bits for the points' exact coordinates. */
static double kernel_exactly(const struct cell *p, size_t i, size_t j, unsigned side,
                             double beta)
{
    mpfr_t d, square;
    mpfr_inits2(120, d, square, (mpfr_ptr)NULL);
    mpfr_set_ui(square, 0, MPFR_RNDN);
    for (int axis = 0; axis < 2; axis++) {
        mpfr_set_d(d, shared_uniform(3, i, 2 * axis), MPFR_RNDN);
        mpfr_sub_d(d, d, shared_uniform(3, j, 2 * axis), MPFR_RNDN);
        mpfr_mul_d(d, d, 0.8, MPFR_RNDN);
        mpfr_add_si(d, d,
                    axis ? (long)p[i].y - (long)p[j].y : (long)p[i].x - (long)p[j].x,
                    MPFR_RNDN);
        mpfr_div_ui(d, d, side, MPFR_RNDN);
        mpfr_fma(square, d, d, square, MPFR_RNDN);
    }
    mpfr_sqrt(d, square, MPFR_RNDN);
    mpfr_div_d(d, d, -beta, MPFR_RNDN);
    mpfr_exp(d, d, MPFR_RNDN);
    const double y = mpfr_get_d(d, MPFR_RNDN);
    mpfr_clears(d, square, (mpfr_ptr)NULL);
    return y;
}

START_TEST(spatial_is_the_exponential_kernel)
{
    enum { GRID = 10, FULL = GRID * GRID, LESS = GRID * GRID - 15, N = 60 };
    struct cell cell[GRID * GRID];
    cells_sort(cell, GRID);
    struct matrix m = filled("spatial", INPUT_A, 3, FULL, N, 0);
    struct matrix far = filled("spatial(0.02)", INPUT_A, 3, N, LESS, 0);
    for (size_t e = 0; e < FULL * N; e++) {
        const size_t i = e / N, j = e % N;
        const double want = kernel_exactly(cell, i, j, GRID, 0.1f);
        check_element(ulp_between(want, value(m.at[e])) <= 0.5001, "spatial", &m, e);
        check_element(i != j || m.at[e] == 0x3f800000, "spatial", &m, e);
    }
    for (size_t e = 0; e < N * LESS; e++) {
        const double want_far = kernel_exactly(cell, e / LESS, e % LESS, GRID, 0.02f);
        check_element(ulp_between(want_far, value(far.at[e])) <= 0.5001, "spatial(0.02)",
                      &far, e);
    }
    matrix_clear(&m);
    matrix_clear(&far);
}
END_TEST

/* Product of the n x n tiles at (i, j) and (k, l) of m, element (r, c). */
static double tile_product(const struct matrix *m, size_t n, const size_t tile[4],
                           size_t r, size_t c)
{
    double sum = 0;
    for (size_t q = 0; q < n; q++)
        sum += value(m->at[(tile[0] * n + r) * m->cols + tile[1] * n + q]) *
               value(m->at[(tile[2] * n + q) * m->cols + tile[3] * n + c]);
    return sum;
}

/* 1 + r + r^2 + ... + r^(n-1) */
static double geometric_sum(double r, int n)
{
    double sum = 0;
    while (n-- > 0) sum = 1 + r * sum;
    return sum;
}

/* With T_IJ = U_I S U_J^T and orthonormal U: T_IJ T_JI = T_II T_II for all I, J; the
   trace of T_II is that of S, the sum of squares of any tile that of S^2. */
static void check_tiles(const char *text, double decay)
{
    enum { TILE = 20, TILES = 3 };
    struct matrix m = filled(text, INPUT_A, 3, TILE * TILES, TILE * TILES, 0);
    for (size_t i = 0; i < TILES; i++)
        for (size_t j = 0; j < TILES; j++) {
            double trace = 0, squares = 0;
            for (size_t r = 0; r < TILE; r++)
                for (size_t c = 0; c < TILE; c++) {
                    const double one =
                        tile_product(&m, TILE, (size_t[]){ i, j, j, i }, r, c);
                    const double two =
                        tile_product(&m, TILE, (size_t[]){ i, i, i, i }, r, c);
                    ck_assert_msg(fabs(one - two) < 1e-6, "tiles %zu %zu: %g %g", i, j,
                                  one, two);
                    const double x = value(m.at[(i * TILE + r) * m.cols + j * TILE + c]);
                    squares += x * x;
                    trace += r == c ? x : 0;
                }
            const double want = geometric_sum(decay * decay, TILE);
            const double want_trace = geometric_sum(decay, TILE);
            ck_assert_msg(fabs(squares - want) < 1e-6, "%g", squares);
            if (i == j) ck_assert_msg(fabs(trace - want_trace) < 1e-6, "%g", trace);
        }
    matrix_clear(&m);
}

START_TEST(randtlr_has_tiles_of_given_singular_values)
{
    check_tiles("randtlr(20,0.7,0)", 0.7f);
    check_tiles("randtlr(20,0.25,0)", 0.25);
    check_tiles("randtlr(20,1,0)", 1);
}
END_TEST

START_TEST(randtlr_adds_its_diagonal)
{
    struct matrix m = filled("randtlr(8,0,0)", INPUT_B, 3, 21, 30, 0);
    struct matrix with = filled("randtlr(8,0,4)", INPUT_B, 3, 21, 30, 0);
    for (size_t i = 0; i < 21 * 30; i++) {
        const double x = value(m.at[i]), y = value(with.at[i]);
        check_element(i / 30 == i % 30 ? fabs(y - x - 4) < 1e-6 : x == y, "randtlr",
                      &with, i);
        /* decay 0: rank 1, so every 2 x 2 minor inside a tile is 0 */
        if (i / 30 % 8 < 4 && i / 30 + 4 < 21 && i % 30 % 8 < 4 && i % 30 + 4 < 30)
            check_element(fabs(x * value(m.at[i + 4 * 30 + 4]) -
                               value(m.at[i + 4]) * value(m.at[i + 4 * 30])) < 1e-7,
                          "randtlr", &m, i);
    }
    matrix_clear(&m);
    matrix_clear(&with);
}
END_TEST

/* --- gendot: the vectors themselves are in test_gendot.c ---------------------------- */

/* |a|^T |b| / |a^T b| of row i of A and column j of B; binary64 is enough for 1 %. */
static double condition_of(const struct matrix *a, const struct matrix *b, size_t i,
                           size_t j)
{
    double sum = 0, size = 0;
    for (size_t k = 0; k < a->cols; k++) {
        const double product =
            value(a->at[i * a->cols + k]) * value(b->at[k * b->cols + j]);
        sum += product;
        size += fabs(product);
    }
    return size / fabs(sum);
}

/* Every element has the condition; rows of A are one vector but for signs and powers
   of two, columns of B are vectors of their own. */
START_TEST(gendot_fills_pairs)
{
    enum { M = 8, K = 40, N = 9 };
    struct matrix a = filled("gendot(1e6)", INPUT_A, 3, M, K, 0);
    struct matrix b = filled("gendot(1e6)", INPUT_B, 3, K, N, 0);
    for (size_t e = 0; e < M * N; e++) {
        const double condition = condition_of(&a, &b, e / N, e % N);
        if (!(fabs(condition / 1e6 - 1) < 0.01))
            ck_abort_msg("(%zu, %zu) has condition %g", e / N, e % N, condition);
    }
    bool scaled[2] = { false, false };
    for (size_t e = K; e < M * K; e++) {
        const double ratio = value(a.at[e / K * K]) / value(a.at[0]);
        scaled[ratio < 0] = true;
        check_element(value(a.at[e]) == ratio * value(a.at[e % K]), "gendot", &a, e);
    }
    ck_assert(scaled[0] && scaled[1]);
    size_t alike = 0;
    for (size_t e = 0; e < K * N; e++)
        alike += e % N && (b.at[e] & 0x7fffff) == (b.at[e / N * N] & 0x7fffff);
    ck_assert_msg(alike < 5, "%zu significands of B are alike", alike);
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

START_TEST(gendot_says_when_k_is_too_small)
{
    const struct input in = parsed("gendot(1e30)");
    for (int role = INPUT_A; role <= INPUT_B; role++) {
        struct matrix m;
        struct fault f;
        matrix_init(&m, role == INPUT_A ? 50 : 10, role == INPUT_A ? 10 : 50, &f);
        ck_assert_int_eq(input_fill(&m, &in, (enum input_role)role, 1, 0, &f),
                         BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(f.text, "gendot: this condition number needs k of at least 11, "
                                 "not 10");
        matrix_clear(&m);
    }
}
END_TEST

START_TEST(dimensions_have_a_limit)
{
    const struct input in = parsed("urand");
    struct matrix m = { .rows = 0, .cols = (size_t)UINT32_MAX + 1 };
    struct fault f;
    if (m.cols == 0) return; /* size_t has 32 bits: no matrix is too large */
    ck_assert_int_eq(input_fill(&m, &in, INPUT_A, 1, 0, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text, "inputs have at most 4294967295 rows and columns, not 0 x "
                             "4294967296");
}
END_TEST

TEST_MAIN("input", threads_do_not_matter, the_callers_mode_does_not_matter,
          a_matrix_is_the_corner_of_a_larger_one, seed_and_role_matter,
          empty_matrices_are_filled, every_family_has_the_recorded_bits, uniform_families,
          urand_is_rounded_once, nrand_is_the_rounded_quantile, nrand_is_normal,
          exp_rand_is_equation_25, anybits_is_uniform, integers_are_exact,
          constants_are_the_rounded_number, alternating_alternates_along_k, ties_are_ties,
          rz_worst_loses_the_most, subnormals_of_three_kinds, specials_are_one_in_n,
          cauchy_is_1_over_the_difference, spatial_is_the_exponential_kernel,
          randtlr_has_tiles_of_given_singular_values, randtlr_adds_its_diagonal,
          gendot_fills_pairs, gendot_says_when_k_is_too_small, dimensions_have_a_limit)
