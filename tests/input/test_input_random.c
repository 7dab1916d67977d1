/* SPDX-License-Identifier: BSD-3-Clause */
/* Families of independent elements: their distributions, and families made for f16. */
#include "lib/number/rand.h"
#include "lib/number/split.h"
#include "tests/input/input_matrix.h"
#include "tests/test.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

static const struct bitcut_format *const f16 = &formats[FORMAT_F16];
static const struct bitcut_format *const f32 = &formats[FORMAT_F32];

/* Part n of element (i, j), by the layout that lib/input/input.h states. */
static uint32_t element_part(enum input_role role, uint64_t seed, size_t i, size_t j,
                             int n)
{
    const uint64_t block = (uint64_t)i << 32 | j;
    return rand_word(seed, role == INPUT_A ? 0 : 1, 4 * block + (uint64_t)n);
}

/* The number in (0, 1) that parts n and n + 1 make. */
static double element_uniform(enum input_role role, uint64_t seed, size_t i, size_t j,
                              int n)
{
    const uint64_t low = element_part(role, seed, i, j, n);
    const uint64_t high = element_part(role, seed, i, j, n + 1);
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
    struct matrix m = input_filled(text, INPUT_A, 3, SIDE, SIDE, 0);
    const size_t n = m.rows * m.cols;
    double *u = calloc(n, sizeof *u);
    for (size_t i = 0; i < n; i++) {
        const double x = f32_value(m.at[i]);
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
    check_range("urand(-1e30, 3e38)", f32_value(0xf149f2ca), f32_value(0x7f61b1e6));
    check_range("positive", 0x1p-53, 1);
    check_range("llm", 0.5, 2.5);
    struct matrix m = input_filled("urand(0.1,0.1)", INPUT_B, 3, 4, 4, 1);
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
        struct matrix m = input_filled("urand", (enum input_role)role, seed, 50, 60, 0);
        for (size_t i = 0; i < 50 * 60; i++) {
            const double u =
                element_uniform((enum input_role)role, seed, i / 60, i % 60, 0);
            mpfr_t x;
            mpfr_init2(x, 100);
            mpfr_set_d(x, u, MPFR_RNDN);
            mpfr_mul_ui(x, x, 2, MPFR_RNDN);
            mpfr_sub_ui(x, x, 1, MPFR_RNDN);
            check_element((float)f32_value(m.at[i]) == mpfr_get_flt(x, MPFR_RNDN),
                          "urand", &m, i);
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
    struct matrix m = input_filled("nrand", INPUT_A, seed, 40, 50, 0);
    struct matrix n = input_filled("nrand(100, 0.25)", INPUT_A, seed, 40, 50, 0);
    for (size_t i = 0; i < 40 * 50; i++) {
        const double x = f32_value(m.at[i]),
                     ulp = nextafterf((float)fabs(x), 1e9f) - fabs(x);
        const double z =
            quantile_near(x, element_uniform(INPUT_A, seed, i / 50, i % 50, 0));
        check_element(fabs(x - z) <= 0.500001 * ulp, "nrand", &m, i);
        check_element(fabs(f32_value(n.at[i]) - (100 + 0.25 * z)) <= 0x1.00001p-18,
                      "nrand(100,0.25)", &n, i);
    }
    matrix_clear(&m);
    matrix_clear(&n);
}
END_TEST

START_TEST(nrand_is_normal)
{
    struct matrix m = input_filled("nrand(2, 3)", INPUT_A, 3, SIDE, SIDE, 0);
    const size_t n = m.rows * m.cols;
    double *u = calloc(n, sizeof *u), mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        const double z = (f32_value(m.at[i]) - 2) / 3;
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
    struct matrix m = input_filled(text, INPUT_B, 3, SIDE, SIDE, 0);
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
    struct matrix m = input_filled("exp_rand", INPUT_A, 3, SIDE, SIDE, 0);
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
    struct matrix m = input_filled("anybits", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) count[m.at[i] >> 24]++;
    check_flat("the highest bytes of anybits", count, 256);
    check_bits("anybits", &m, 32, true);
    matrix_clear(&m);
}
END_TEST

START_TEST(integers_are_exact)
{
    size_t count[16] = { 0 };
    struct matrix m = input_filled("integers(-5,10)", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) {
        const double x = f32_value(m.at[i]);
        check_element(x >= -5 && x <= 10 && x == floor(x) && m.at[i] != 0x80000000,
                      "integers", &m, i);
        count[(int)x + 5]++;
    }
    check_flat("integers", count, 16);
    matrix_clear(&m);
    m = input_filled("integers(-16777216,16777216)", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++)
        check_element(f32_value(m.at[i]) == floor(f32_value(m.at[i])) &&
                          fabs(f32_value(m.at[i])) <= 0x1p24,
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
        struct matrix m = input_filled(constant[k].text, INPUT_A, 1, 3, 5, 1);
        for (size_t i = 0; i < 15; i++)
            check_element(m.at[i] == constant[k].encoding, constant[k].text, &m, i);
        matrix_clear(&m);
    }
}
END_TEST

START_TEST(alternating_alternates_along_k)
{
    struct matrix a = input_filled("alternating", INPUT_A, 3, 20, 30, 1);
    struct matrix b = input_filled("alternating", INPUT_B, 3, 30, 20, 1);
    for (size_t i = 0; i < 600; i++) {
        const double x = f32_value(a.at[i]) * (i % 30 % 2 ? -1 : 1);
        const double y = f32_value(b.at[i]) * (i / 20 % 2 ? -1 : 1);
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
        struct matrix m =
            input_filled("ties(-14,14)", (enum input_role)role, 3, SIDE, SIDE, 0);
        for (size_t i = 0; i < m.rows * m.cols; i++) {
            const double x = f32_value(m.at[i]), up = in_f16(m.at[i], ROUND_RU);
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
    struct matrix m = input_filled("ties", INPUT_A, 4, SIDE, SIDE, 0);
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
    struct matrix m = input_filled("rz_worst(-14,15)", INPUT_A, 3, SIDE, SIDE, 0);
    for (size_t i = 0; i < m.rows * m.cols; i++) {
        const double x = f32_value(m.at[i]), low = in_f16(m.at[i], ROUND_RZ);
        const double ulp = ldexp(1, (int)(m.at[i] >> 23) - 127 - 10);
        check_element(x > 0 && x - low == ulp - ulp / 8192, "rz_worst", &m, i);
    }
    matrix_clear(&m);
    check_exponents("rz_worst", -3, 3);
}
END_TEST

/* Which third of family subnormal x belongs to: 0 for FP32, 1 for f16, 2 for the low
   part; -1 if none. */
static int subnormal_kind(uint32_t x)
{
    const double magnitude = fabs(f32_value(x));
    uint64_t part[SPLIT_PARTS_MAX];
    split_apply(part, bitcut_split_find("markidis"), x);
    const double high = fabs(format_to_double(f16, part[0]));
    const double low = fabs(format_to_double(f16, part[1]));
    if (magnitude > 0 && magnitude < 0x1p-126) return 0;
    if (magnitude < 0x1p-14 && high > 0) return 1;
    if (magnitude < 0x1p-3 && high >= 0x1p-14 && low < 0x1p-14) return 2;
    return -1;
}

START_TEST(subnormals_of_three_kinds)
{
    size_t count[3 * 4] = { 0 }; /* by kind, sign and the first bit of the fraction */
    struct matrix m = input_filled("subnormal", INPUT_A, 3, SIDE, SIDE, 0);
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
    struct matrix m = input_filled("specials(4)", INPUT_A, 3, SIDE, SIDE, 0);
    struct matrix plain = input_filled("urand", INPUT_A, 3, SIDE, SIDE, 0);
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
    m = input_filled("specials(1)", INPUT_A, 3, 9, 9, 0);
    for (size_t i = 0; i < 81; i++)
        check_element(!(fabs(f32_value(m.at[i])) > 0 && fabs(f32_value(m.at[i])) < 2),
                      "specials(1)", &m, i);
    matrix_clear(&m);
}
END_TEST

TEST_MAIN("input random", uniform_families, urand_is_rounded_once,
          nrand_is_the_rounded_quantile, nrand_is_normal, exp_rand_is_equation_25,
          anybits_is_uniform, integers_are_exact, constants_are_the_rounded_number,
          alternating_alternates_along_k, ties_are_ties, rz_worst_loses_the_most,
          subnormals_of_three_kinds, specials_are_one_in_n)
