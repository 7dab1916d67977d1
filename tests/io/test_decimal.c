/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal text compared with strtof(), printf() and numbers known to lie between two
   encodings. */
#include "lib/io/decimal.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <fenv.h>
#include <locale.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 512, F32_INF = 0x7f800000 };

static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };

static void read_check(const char *text, uint32_t want)
{
    uint32_t got = 0x12345678;
    ck_assert_msg(decimal_read(&got, text), "'%s' is refused", text);
    ck_assert_msg(got == want, "'%s': got %08" PRIx32 ", want %08" PRIx32, text, got,
                  want);
}

START_TEST(spellings)
{
    static const struct {
        const char *text;
        uint32_t want;
    } rows[] = {
        { "0", 0 },
        { "-0", 0x80000000 },
        { "+0.0", 0 },
        { "-.0e99", 0x80000000 },
        { "1", 0x3f800000 },
        { "+1", 0x3f800000 },
        { "-1.", 0xbf800000 },
        { ".5", 0x3f000000 },
        { "001.500", 0x3fc00000 },
        { "25E-1", 0x40200000 },
        { "0.25e+1", 0x40200000 },
        { "0.1", 0x3dcccccd },
        { "16777217", 0x4b800000 }, /* 2^24 + 1, a tie to even */
        { "16777219", 0x4b800002 },
        { "3.4028234663852886e38", 0x7f7fffff },
        { "3.4028235677973366e38", 0x7f7fffff }, /* just below the tie with 2^128 */
        { "340282356779733661637539395458142568448", F32_INF }, /* the tie */
        { "1e39", F32_INF },
        { "-1e999999999999999999999999", 0xff800000 },
        { "1e18446744073709551617", F32_INF }, /* 2^64 + 1 */
        { "1e-18446744073709551617", 0 },
        { "0e999999999999999999999999", 0 },
        { "1e-45", 1 },
        { "7.0064923216240853e-46", 0 }, /* just below half the smallest subnormal */
        { "7.0064923216240854e-46", 1 },
        { "-1e-60", 0x80000000 },
        { "-1e-999999999999999999999999", 0x80000000 },
        { "1.17549435e-38", 0x00800000 },
        { "inf", F32_INF },
        { "-Infinity", 0xff800000 },
        { "+INF", F32_INF },
        { "nan", 0x7fc00000 },
        { "-NaN", 0xffc00000 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        read_check(rows[i].text, rows[i].want);
}
END_TEST

START_TEST(no_numbers)
{
    static const char *const rows[] = {
        "",      "+",     "-",      ".",    "-.",   "e5",    "1e",       "1e+",
        "1e-x",  "1,5",   " 1",     "1 ",   "1x",   "--1",   "+-1",      "0x10",
        "1p3",   "in",    "infi",   "infx", "nan(", "nanx",  "nan()",    "1e5.",
        "1_000", "1.2.3", "0x1p-3", "1f",   "1d5",  "@inf@", "\xd9\xa1",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t x = 0x12345678;
        ck_assert_msg(!decimal_read(&x, rows[i]), "'%s' is read as %08" PRIx32, rows[i],
                      x);
        ck_assert_msg(x == 0x12345678, "'%s' sets its output", rows[i]);
    }
}
END_TEST

/* Numbers whose digits and exponent differ in size but cancel. */
START_TEST(long_texts)
{
    char text[3 * TEXT_MAX];
    for (int zeros = 0; zeros < 2 * TEXT_MAX; zeros += 7) {
        snprintf(text, sizeof text, "1%0*de-%d", zeros + 1, 0, zeros + 1);
        read_check(text, 0x3f800000);
        snprintf(text, sizeof text, "-0.%0*d25e%d", zeros + 1, 0, zeros + 2);
        read_check(text, 0xc0200000);
        snprintf(text, sizeof text, "%0*d7", zeros + 1, 0);
        read_check(text, 0x40e00000);
    }
}
END_TEST

/* The first 200 digits of the number halfway between x and the encoding after it, which
   are all it has and zeros; *exponent: of "0.digits". */
static void midpoint_digits(char digit[201], long *exponent, uint32_t x)
{
    mpfr_t middle;
    mpfr_init2(middle, 25);
    mpfr_set_flt(middle, float_of_bits(x), MPFR_RNDN);
    const int field = (int)(x >> 23);
    mpfr_t step;
    mpfr_init2(step, 25);
    mpfr_set_ui_2exp(step, 1, (field ? field : 1) - 151, MPFR_RNDN);
    ck_assert_int_eq(mpfr_add(middle, middle, step, MPFR_RNDN), 0);
    mpfr_exp_t e;
    mpfr_get_str(digit, &e, 10, 200, middle, MPFR_RNDN);
    *exponent = e;
    mpfr_clears(middle, step, (mpfr_ptr)NULL);
}

/* The digits of a number just below: the last digit one less. */
static void digits_decrease(char *digit)
{
    size_t i = strlen(digit) - 1;
    for (; digit[i] == '0'; i--) digit[i] = '9';
    digit[i]--;
}

/* The same for midpoints that are large integers, all their digits before the point. */
static void integer_midpoint_check(uint32_t x, char *digit, long exponent)
{
    digit[exponent] = 0;
    read_check(digit, x + (x & 1));
    digit[exponent - 1]++; /* it was even */
    read_check(digit, x + 1);
    digit[exponent - 1]--;
    digits_decrease(digit);
    read_check(digit, x);
}

/* Half way between two encodings ties to even; any digit beyond decides, however late. */
static void midpoint_check(uint32_t x, uint64_t *state)
{
    char digit[201], text[TEXT_MAX];
    long exponent;
    const uint32_t sign = (uint32_t)test_bits(state) << 31;
    const char *minus = sign ? "-" : "";
    const int late = test_bits(state) & 1 ? (int)(test_bits(state) % 100) : 0;
    midpoint_digits(digit, &exponent, x);
    digit[113 + test_bits(state) % 88] = 0; /* only zeros are lost */
    snprintf(text, sizeof text, "%s.%se%ld", minus, digit, exponent);
    read_check(text, sign | (x + (x & 1)));
    snprintf(text, sizeof text, "%s.%s%0*d1e%ld", minus, digit, late + 1, 0, exponent);
    read_check(text, sign | (x + 1));
    digits_decrease(digit);
    snprintf(text, sizeof text, "%s.%s%0*d1e%ld", minus, digit, late + 1, 0, exponent);
    read_check(text, sign | x);
    midpoint_digits(digit, &exponent, x);
    if (x >> 23 > 127 + 70) integer_midpoint_check(x, digit, exponent);
}

START_TEST(midpoints)
{
    static const uint32_t edges[] = { 0,          1,          2,
                                      0x007fffff, 0x00800000, 0x00ffffff,
                                      0x3f7fffff, 0x7f7ffffe, 0x7f7fffff };
    uint64_t state = test_seed();
    const int count = test_cases(5000, 500000);
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        midpoint_check(edges[i], &state);
    for (int i = 0; i < count; i++)
        midpoint_check((uint32_t)(test_bits(&state) % F32_INF), &state);
}
END_TEST

/* A number of 1 to 150 digits, most of them within or near the range of FP32. */
static void text_draw(char text[TEXT_MAX], uint64_t *state)
{
    const int before = (int)(test_bits(state) % 10);
    const int after = (int)(test_bits(state) % 140);
    char *s = text;
    if (test_bits(state) & 1) *s++ = '-';
    *s++ = (char)('0' + test_bits(state) % 10);
    for (int i = 0; i < before; i++) *s++ = (char)('0' + test_bits(state) % 10);
    *s++ = '.';
    for (int i = 0; i < after; i++) *s++ = (char)('0' + test_bits(state) % 10);
    sprintf(s, "e%d", (int)(test_bits(state) % 110) - 60);
}

START_TEST(as_strtof_reads)
{
    uint64_t state = test_seed();
    const int count = test_cases(20000, 2000000);
    for (int i = 0; i < count; i++) {
        char text[TEXT_MAX];
        text_draw(text, &state);
        read_check(text, bits_of_float(strtof(text, NULL)));
    }
}
END_TEST

/* What decimal_write() gives is what printf gives, and is read as x. */
static void write_check(uint32_t x)
{
    char got[DECIMAL_MAX], want[64];
    decimal_write(got, x);
    snprintf(want, sizeof want, "%.9g", (double)float_of_bits(x));
    ck_assert_msg(!strcmp(got, want), "%08" PRIx32 ": got %s, want %s", x, got, want);
    read_check(got, x);
}

START_TEST(as_printf_writes)
{
    uint64_t state = test_seed();
    const int count = test_cases(20000, 4000000);
    for (uint32_t exponent = 0; exponent < 255; exponent++)
        for (uint32_t end = 0; end < 4; end++) { /* the ends of each binade, both signs */
            const uint32_t x = exponent << 23 | (end & 1 ? 0x7fffff : 0);
            write_check(x | end >> 1 << 31);
        }
    for (int i = 0; i < count; i++) {
        const uint32_t x = (uint32_t)test_bits(&state);
        if ((x & F32_INF) != F32_INF) write_check(x);
    }
    for (uint32_t n = 0; n < 3000; n++) { /* few digits */
        const float f = (float)n, values[] = { f, f / 1024, f * 1e7f, f / 1e4f };
        for (int k = 0; k < 4; k++) {
            uint32_t x;
            memcpy(&x, &values[k], sizeof x);
            write_check(x);
        }
    }
}
END_TEST

START_TEST(special_values)
{
    static const struct {
        uint32_t x;
        const char *text;
    } rows[] = {
        { 0x7f800000, "inf" },  { 0xff800000, "-inf" }, { 0x7fc00000, "nan" },
        { 0x7fffffff, "nan" },  { 0x7f800001, "nan" },  { 0xffc00000, "-nan" },
        { 0xffffffff, "-nan" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[DECIMAL_MAX];
        decimal_write(text, rows[i].x);
        ck_assert_str_eq(text, rows[i].text);
    }
}
END_TEST

/* Read and write numbers, all of them known from the C locale and rounding to nearest. */
static void known_check(const char *const *text, const uint32_t *value, int count)
{
    for (int i = 0; i < count; i++) {
        char written[DECIMAL_MAX];
        read_check(text[i], value[i]);
        decimal_write(written, value[i]);
        ck_assert_msg(!strcmp(written, text[i]), "%08" PRIx32 ": got %s, want %s",
                      value[i], written, text[i]);
    }
}

/* A locale whose decimal point is a comma; NULL if there is none here. */
static const char *comma_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                         "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) && *localeconv()->decimal_point == ',')
            return names[i];
    setlocale(LC_ALL, "C");
    return NULL;
}

START_TEST(any_mode_and_locale)
{
    static const char *const text[] = {
        "0.100000001",    "-0.100000001",    "3.40282347e+38", "-3.40282347e+38",
        "1.40129846e-45", "-2.80259693e-45", "1.17549435e-38", "16777216",
        "0.333333343",    "-1234.56787",
    };
    static const uint32_t value[] = { 0x3dcccccd, 0xbdcccccd, 0x7f7fffff, 0xff7fffff,
                                      1,          0x80000002, 0x00800000, 0x4b800000,
                                      0x3eaaaaab, 0xc49a522c };
    const int count = sizeof text / sizeof text[0];
    known_check(text, value, count);
    for (int local = 0; local < 2; local++) {
        const char *name = local ? comma_locale() : "C";
        if (!name) puts("# no locale with a decimal comma here");
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(fesetround(modes[i]), 0);
            known_check(text, value, count);
        }
        fesetround(FE_TONEAREST);
        setlocale(LC_ALL, "C");
    }
}
END_TEST

TEST_MAIN("decimal", spellings, no_numbers, long_texts, midpoints, as_strtof_reads,
          as_printf_writes, special_values, any_mode_and_locale)
