/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "lib/io/json_value.h"

#include "lib/base/clock.h"
#include "lib/number/apart.h"

#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 1 << 14 };

json_t *json_number(double x)
{
    if (isfinite(x)) return json_real(x);
    return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

json_t *json_count(size_t n) { return json_integer((json_int_t)n); }

json_t *json_encoding(uint64_t encoding, int bits)
{
    return json_sprintf("0x%0*llx", (bits + 3) / 4, (unsigned long long)encoding);
}

json_t *json_text(const char *text)
{
    char copy[TEXT_MAX];
    json_t *value = json_string(text);
    if (value) return value;
    snprintf(copy, sizeof copy, "%s", text);
    text_clean(copy);
    return json_string(copy);
}

static json_t *told_list(enum bitcut_kind kind, const char *text)
{
    json_t *list = json_array();
    for (size_t n; *text; text += n + 1) {
        n = strcspn(text, "\n");
        json_array_append_new(list, kind == BITCUT_TEXTS
                                        ? json_stringn(text, n)
                                        : json_loadb(text, n, JSON_DECODE_ANY, NULL));
    }
    return list;
}

json_t *json_of_text(enum bitcut_kind kind, const char *text)
{
    if (kind == BITCUT_NULL) return json_null();
    if (kind == BITCUT_TEXT) return json_string(text);
    if (kind == BITCUT_TEXTS || kind == BITCUT_NUMBERS) return told_list(kind, text);
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

json_t *json_today(void)
{
    char text[DATE_MAX];
    date_today(text);
    return json_string(text);
}

json_t *json_whole(bool negative, bitcut_uint128 magnitude)
{
    const bitcut_uint128 most = (bitcut_uint128)1 << 53;
    const int64_t small = (int64_t)magnitude;
    if (magnitude <= most) return json_integer((json_int_t)(negative ? -small : small));
    char digits[48], *at = digits + sizeof digits;
    for (*--at = 0; magnitude; magnitude /= 10)
        *--at = (char)('0' + (int)(magnitude % 10));
    return json_sprintf("%s%s", negative ? "-" : "", at);
}

json_t *json_seed(uint64_t seed)
{
    if (seed <= INT64_MAX) return json_integer((json_int_t)seed);
    return json_sprintf("%llu", (unsigned long long)seed);
}

json_t *json_decoded(const struct bitcut_format *f, uint64_t encoding)
{
    char text[ENCODING_MAX];
    encoding_said(text, f, encoding);
    return json_string(text);
}

void json_set_distance(json_t *row, const struct bitcut_format *f, uint64_t x, uint64_t y)
{
    const struct apart a = apart_of(f, x, y);
    json_object_set_new(row, "ulps", a.finite ? json_whole(false, a.steps) : json_null());
    if (*a.differ) json_object_set_new(row, "differ", json_string(a.differ));
}

void json_put(FILE *to, const char *text)
{
    while (*text) {
        uint32_t code;
        int bytes;
        if (text_code(&code, &bytes, text) || *text == '\n')
            fwrite(text, 1, (size_t)bytes, to);
        else if (code < 0x10000) fprintf(to, "\\u%04X", (unsigned)code);
        else
            fprintf(to, "\\u%04X\\u%04X", 0xd7c0 + (unsigned)(code >> 10),
                    0xdc00 + (unsigned)(code & 0x3ff));
        text += bytes;
    }
}

void json_put_row(FILE *to, const json_t *row)
{
    char *text = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text) json_put(to, text);
    free(text);
}
