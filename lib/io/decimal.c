/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/io/decimal.h"

#include "lib/base/text.h"
#include "lib/number/mpfr_value.h"

#include <stdio.h>
#include <string.h>

enum { PRECISION = 24, DIGITS_WRITTEN = 9, DIGITS_MAX = DIGITS_WRITTEN + 2 };

/* --- text to encoding ------------------------------------------------------------- */

/* The number of digits at the start of a text. */
static size_t digits(const char *s) { return strspn(s, "0123456789"); }

/* Whether a text is digits with an optional '.' and an optional exponent.  MPFR reads
   such a text, but also other texts. */
static bool is_decimal(const char *s)
{
    const size_t before = digits(s), point = s[before] == '.';
    const size_t after = point ? digits(s + before + 1) : 0;
    s += before + point + after;
    if (before + after == 0) return false;
    if (*s != 'e' && *s != 'E') return *s == 0;
    s += s[1] == '-' || s[1] == '+' ? 2 : 1;
    return *s && s[digits(s)] == 0;
}

static uint64_t rounded(const struct bitcut_format *format, const char *text)
{
    const struct mpfr_state found = mpfr_state_enter();
    mpfr_t value;
    mpfr_init2(value, format->fraction_bits + 1);
    const int ternary = mpfr_strtofr(value, text, NULL, 10, MPFR_RNDN);
    const uint64_t x = mpfr_value_encode(value, ternary, format);
    mpfr_clear(value);
    mpfr_state_leave(found);
    return x;
}

bool decimal_read_format(uint64_t *x, const struct bitcut_format *format,
                         const char *text)
{
    const bool negative = *text == '-';
    const char *s = text + (*text == '-' || *text == '+');
    if (text_same_word(s, "nan"))
        *x = (uint64_t)negative << (format->bits - 1) | format_nan(format);
    else if (text_same_word(s, "inf") || text_same_word(s, "infinity"))
        *x = format_infinity(format, negative);
    else if (is_decimal(s)) *x = rounded(format, text);
    else return false;
    return true;
}

bool decimal_read(uint32_t *x, const char *text)
{
    uint64_t to;
    if (!decimal_read_format(&to, &formats[FORMAT_F32], text)) return false;
    *x = (uint32_t)to;
    return true;
}

/* --- encoding to text ------------------------------------------------------------- */

/* The DIGITS_WRITTEN digits of a finite number above zero.  Returns the exponent of the
   first digit. */
static int digits_find(char digit[DIGITS_MAX], uint32_t x)
{
    const struct mpfr_state found = mpfr_state_enter();
    mpfr_exp_t after;
    mpfr_t value;
    mpfr_init2(value, PRECISION);
    mpfr_value_of(value, x);
    mpfr_get_str(digit, &after, 10, DIGITS_WRITTEN, value, MPFR_RNDN);
    mpfr_clear(value);
    mpfr_state_leave(found);
    return (int)after - 1;
}

/* Write digits in the form of printf("%g"): without trailing zeros, with an exponent
   unless -4 <= top < DIGITS_WRITTEN. */
static void digits_lay(char *text, char digit[DIGITS_MAX], int top)
{
    int n = DIGITS_WRITTEN;
    while (n > 1 && digit[n - 1] == '0') n--;
    digit[n] = 0;
    if (top < -4 || top >= DIGITS_WRITTEN)
        sprintf(text, "%c%s%se%+03d", digit[0], n > 1 ? "." : "", digit + 1, top);
    else if (top < 0) sprintf(text, "0.%.*s%s", -1 - top, "000", digit);
    else if (n <= top + 1) sprintf(text, "%s%.*s", digit, top + 1 - n, "00000000");
    else sprintf(text, "%.*s.%s", top + 1, digit, digit + top + 1);
}

void decimal_write(char text[DECIMAL_MAX], uint32_t x)
{
    const uint32_t magnitude = x & 0x7fffffff, inf = 0x7f800000;
    char digit[DIGITS_MAX];
    if (x >> 31) *text++ = '-';
    if (magnitude >= inf) {
        strcpy(text, magnitude > inf ? "nan" : "inf");
    } else if (magnitude == 0) {
        strcpy(text, "0");
    } else {
        const int top = digits_find(digit, magnitude);
        digits_lay(text, digit, top);
    }
}
