#include "lib/decimal.h"

#include "lib/round.h"

#include <gmp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- text to encoding ------------------------------------------------------------- */

/* Digits that matter.  A number halfway between two FP32 values has at most 113 digits,
   as 25 bits times 5^150 has; beyond that it matters only whether anything follows. */
enum { DIGITS_MOST = 128 };

/* Numbers of 10^TOP_HIGH and more overflow, those below 10^TOP_LOW underflow. */
enum { TOP_HIGH = 40, TOP_LOW = -50 };

/* (-1)^negative * (digits + t) * 10^exponent, with t = 0, or 0 < t < 1 if `sticky`. */
struct decimal {
    bool negative, sticky;
    int digits;
    char digit[DIGITS_MOST + 1]; /* without leading zeros, ended by 0 */
    int64_t exponent;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static void digit_append(struct decimal *d, char digit)
{
    if (d->digits == 0 && digit == '0') return;
    if (d->digits < DIGITS_MOST) {
        d->digit[d->digits++] = digit;
    } else {
        d->sticky |= digit != '0';
        d->exponent++;
    }
}

/* Read digits with an optional '.'; NULL if there is none. */
static const char *digits_scan(struct decimal *d, const char *s)
{
    bool point = false, any = false;
    for (; is_digit(*s) || (*s == '.' && !point); s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        any = true;
        digit_append(d, *s);
        d->exponent -= point;
    }
    d->digit[d->digits] = 0;
    return any ? s : NULL;
}

/* Read an optional exponent; NULL if it has no digits.  An exponent too large for any
   text to balance is held at a value with the same effect. */
static const char *exponent_scan(struct decimal *d, const char *s)
{
    const int64_t enough = INT64_C(1) << 58;
    if (lower(*s) != 'e') return s;
    const bool negative = *++s == '-';
    s += *s == '-' || *s == '+';
    if (!is_digit(*s)) return NULL;
    int64_t exponent = 0;
    for (; is_digit(*s); s++)
        if (exponent < enough) exponent = 10 * exponent + (*s - '0');
    d->exponent += negative ? -exponent : exponent;
    return s;
}

static unsigned long magnitude(int x) { return (unsigned long)(x < 0 ? -x : x); }

/* n * 2^exponent, n > 0, on its way to a format. */
static struct unrounded integer_unrounded(mpz_t n, bool negative, bool sticky,
                                          int exponent)
{
    const int drop = (int)mpz_sizeinbase(n, 2) - 64;
    if (drop > 0) {
        sticky |= mpz_scan1(n, 0) < (mp_bitcnt_t)drop;
        mpz_tdiv_q_2exp(n, n, (mp_bitcnt_t)drop);
    } else {
        mpz_mul_2exp(n, n, (mp_bitcnt_t)-drop);
    }
    struct unrounded x = { .exponent = exponent + drop, .negative = negative,
                           .sticky = sticky };
    mpz_export(&x.significand, NULL, -1, sizeof x.significand, 0, 0, n);
    return x;
}

/* 10^TOP_LOW <= |d| < 10^TOP_HIGH on its way to a format: the integer of its digits times
   or by a power of ten, 66 bits of the quotient or more. */
static struct unrounded finite_unrounded(const struct decimal *d)
{
    mpz_t n, power, rest;
    mpz_init_set_str(n, d->digit, 10);
    mpz_init(power);
    mpz_init(rest);
    int up = 0;
    mpz_ui_pow_ui(power, 10, magnitude((int)d->exponent));
    if (d->exponent >= 0) {
        mpz_mul(n, n, power);
    } else {
        up = (int)mpz_sizeinbase(power, 2) + 66 - (int)mpz_sizeinbase(n, 2);
        if (up < 0) up = 0;
        mpz_mul_2exp(n, n, (mp_bitcnt_t)up);
        mpz_tdiv_qr(n, rest, n, power);
    }
    const bool sticky = d->sticky || mpz_sgn(rest) != 0;
    const struct unrounded x = integer_unrounded(n, d->negative, sticky, -up);
    mpz_clears(n, power, rest, (mpz_ptr)NULL);
    return x;
}

static struct unrounded decimal_unrounded(const struct decimal *d)
{
    const int64_t top = d->digits + d->exponent; /* |d| < 10^top */
    const uint64_t one = (uint64_t)1 << 63;
    if (d->digits == 0) return (struct unrounded){ .negative = d->negative };
    if (top > TOP_HIGH)
        return (struct unrounded){ .significand = one, .exponent = 128,
                                   .negative = d->negative };
    if (top < TOP_LOW)
        return (struct unrounded){ .significand = one, .exponent = -300,
                                   .negative = d->negative };
    return finite_unrounded(d);
}

static bool same_word(const char *text, const char *word)
{
    while (*word && lower(*text) == *word) text++, word++;
    return *word == 0 && *text == 0;
}

bool decimal_read(uint32_t *x, const char *text)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    struct decimal d = { .negative = *text == '-' };
    const uint32_t sign = (uint32_t)d.negative << 31;
    const char *s = text + (*text == '-' || *text == '+');
    if (same_word(s, "nan")) {
        *x = sign | (uint32_t)format_nan(f32);
        return true;
    }
    if (same_word(s, "inf") || same_word(s, "infinity")) {
        *x = (uint32_t)format_infinity(f32, d.negative);
        return true;
    }
    s = digits_scan(&d, s);
    if (s) s = exponent_scan(&d, s);
    if (!s || *s) return false;
    *x = (uint32_t)round_pack(f32, &roundings[ROUND_RN], decimal_unrounded(&d));
    return true;
}

/* --- encoding to text ------------------------------------------------------------- */

enum { DIGITS_WRITTEN = 9 };

/* significand * 2^two * 10^ten, which must be below 2^63, rounded to an integer, to
   nearest even. */
static uint64_t scaled(uint64_t significand, int two, int ten)
{
    mpz_t n, d, power, rest;
    mpz_inits(n, power, rest, (mpz_ptr)NULL);
    mpz_init_set_ui(d, 1);
    mpz_import(n, 1, -1, sizeof significand, 0, 0, &significand);
    mpz_ui_pow_ui(power, 10, magnitude(ten));
    mpz_ptr by_two = two < 0 ? d : n, by_ten = ten < 0 ? d : n;
    mpz_mul_2exp(by_two, by_two, magnitude(two));
    mpz_mul(by_ten, by_ten, power);

    mpz_tdiv_qr(n, rest, n, d);
    mpz_mul_2exp(rest, rest, 1);
    const int half = mpz_cmp(rest, d);
    if (half > 0 || (half == 0 && mpz_odd_p(n))) mpz_add_ui(n, n, 1);
    uint64_t result = 0;
    mpz_export(&result, NULL, -1, sizeof result, 0, 0, n);
    mpz_clears(n, d, power, rest, (mpz_ptr)NULL);
    return result;
}

/* The DIGITS_WRITTEN digits of a finite number that is not zero; returns the exponent of
   the first. */
static int digits_find(char digit[DIGITS_WRITTEN + 1], struct number x)
{
    const int fraction = formats[FORMAT_F32].fraction_bits;
    const int highest = 63 - __builtin_clzll(x.significand) + x.exponent - fraction;
    int top = highest * 30103 / 100000 - (highest < 0); /* log10(2); never too high */
    uint64_t n;
    while (n = scaled(x.significand, x.exponent - fraction, DIGITS_WRITTEN - 1 - top),
           n >= 1000000000) /* a digit too many, or rounded up to 10^9 */
        top++;
    snprintf(digit, DIGITS_WRITTEN + 1, "%09" PRIu64, n);
    return top;
}

/* Lay digits out as printf("%g") does: without trailing zeros, with an exponent outside
   -4 <= top < DIGITS_WRITTEN. */
static void digits_lay(char *text, char digit[DIGITS_WRITTEN + 1], int top)
{
    int n = DIGITS_WRITTEN;
    while (n > 1 && digit[n - 1] == '0') n--;
    digit[n] = 0;
    if (top < -4 || top >= DIGITS_WRITTEN)
        sprintf(text, "%c%s%se%+03d", digit[0], n > 1 ? "." : "", digit + 1, top);
    else if (top < 0)
        sprintf(text, "0.%.*s%s", -1 - top, "000", digit);
    else if (n <= top + 1)
        sprintf(text, "%s%.*s", digit, top + 1 - n, "00000000");
    else
        sprintf(text, "%.*s.%s", top + 1, digit, digit + top + 1);
}

void decimal_write(char text[DECIMAL_MOST], uint32_t x)
{
    const struct number value = format_decode(&formats[FORMAT_F32], x);
    char digit[DIGITS_WRITTEN + 1];
    if (x >> 31) *text++ = '-';
    switch (value.kind) {
    case NUMBER_NAN: strcpy(text, "nan"); break;
    case NUMBER_INF: strcpy(text, "inf"); break;
    case NUMBER_ZERO: strcpy(text, "0"); break;
    default: {
        const int top = digits_find(digit, value);
        digits_lay(text, digit, top);
    }
    }
}
