/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* strnlen() */

#include "lib/base/text.h"

#include <assert.h>
#include <string.h>

enum { CHARACTER_MAX = TEXT_BYTES - 1 };

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The number of bytes of a character whose first byte is `first`; 0: no character begins
   with it. */
static int bytes_of(unsigned char first)
{
    static const unsigned char least[CHARACTER_MAX + 1] = { 0, 0, 0xc2, 0xe0, 0xf0 };
    if (first < 0x80) return 1;
    if (first > 0xf4) return 0;
    int n = CHARACTER_MAX;
    while (n > 1 && first < least[n]) n--;
    return n > 1 ? n : 0;
}

/* Hidden code points: control characters; code points that change the direction of the
   surrounding text (Unicode Standard Annex 9) or begin a line; and invisible code points,
   with which two different names look alike. */
static bool is_hidden(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = { { 0, 0x1f },        { 0x7f, 0x9f },      { 0xad, 0xad },
                   { 0x61c, 0x61c },   { 0x180e, 0x180e },  { 0x200b, 0x200f },
                   { 0x2028, 0x202e }, { 0x2060, 0x206f },  { 0xfeff, 0xfeff },
                   { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f } };
    size_t i = 0;
    const size_t count = sizeof hidden / sizeof hidden[0];
    while (i < count && code > hidden[i].last) i++;
    return i < count && code >= hidden[i].first;
}

/* Whether `code` is a code point whose encoding takes `bytes` bytes. */
static bool is_code(uint32_t code, int bytes)
{
    static const uint32_t least[CHARACTER_MAX + 1] = { 0, 0, 0x80, 0x800, 0x10000 };
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code >= least[bytes] && code <= 0x10ffff && !surrogate;
}

bool text_code(uint32_t *code, int *bytes, const char *at)
{
    const int wanted = bytes_of((unsigned char)*at);
    *code = (unsigned char)*at & (wanted > 1 ? 0x7f >> wanted : 0x7f);
    *bytes = 1;
    for (; *bytes < wanted && is_continuation(at[*bytes]); ++*bytes)
        *code = *code << 6 | ((unsigned char)at[*bytes] & 0x3f);
    return *bytes == wanted && is_code(*code, wanted) && !is_hidden(*code);
}

bool text_next(char shown[TEXT_BYTES], const char **text)
{
    const char *at = *text;
    uint32_t code;
    int n;
    if (!*at) return false;
    const bool good = text_code(&code, &n, at);
    memcpy(shown, good ? at : "?", good ? (size_t)n : 1);
    shown[good ? n : 1] = 0;
    *text += n;
    return true;
}

void text_clean(char *text)
{
    char shown[TEXT_BYTES], *to = text;
    for (const char *from = text; text_next(shown, &from); to += strlen(shown))
        memcpy(to, shown, strlen(shown));
    *to = 0;
}

/* --- formats ---------------------------------------------------------------------- */

void text_put(FILE *to, const char *shown) { fputs(shown, to); }

/* Write a text argument, NULL as an empty text, padded to at least `width` bytes if
   `width` is not 0: with spaces before it, or after it if `width` is negative. */
static void write_text(FILE *to, text_writer *write, const char *text, int width)
{
    const int length = width && text ? (int)strlen(text) : 0;
    for (int i = length; i < width; i++) fputc(' ', to);
    for (char shown[TEXT_BYTES]; text && text_next(shown, &text);) write(to, shown);
    for (int i = length; i < -width; i++) fputc(' ', to);
}

/* The arguments of a format, as a struct, so that functions can pass them on by
   pointer. */
struct arguments {
    va_list list;
};

/* Write a number, by the letter that ends its conversion and the letter before that. */
static void write_number(FILE *to, const char *conversion, struct arguments *a)
{
    const char *const end = conversion + strlen(conversion) - 1;
    if (strchr("eg", *end)) fprintf(to, conversion, va_arg(a->list, double));
    else if (end[-1] == 'z') fprintf(to, conversion, va_arg(a->list, size_t));
    else if (end[-1] == 'l') fprintf(to, conversion, va_arg(a->list, long long));
    else fprintf(to, conversion, va_arg(a->list, int));
}

/* Write the argument of a conversion, which reaches from "%" to its letter.  Returns the
   end of the conversion. */
static const char *write_argument(FILE *to, text_writer *write, const char *at,
                                  struct arguments *a)
{
    enum { CONVERSION_MAX = 16 };
    char conversion[CONVERSION_MAX];
    const size_t length = 2 + strcspn(at + 1, "%sdueg");
    assert(length < CONVERSION_MAX);
    memcpy(conversion, at, length);
    conversion[length] = 0;
    if (at[length - 1] == '%') fputc('%', to);
    else if (at[length - 1] == 's') {
        const int width = strchr(conversion, '*') ? va_arg(a->list, int) : 0;
        write_text(to, write, va_arg(a->list, const char *),
                   strchr(conversion, '-') ? -width : width);
    } else write_number(to, conversion, a);
    return at + length;
}

void text_print_list(FILE *to, text_writer *write, const char *format, va_list list)
{
    struct arguments a;
    va_copy(a.list, list);
    while (*format) {
        const size_t length = strcspn(format, "%");
        fwrite(format, 1, length, to);
        format += length;
        if (*format) format = write_argument(to, write, format, &a);
    }
    va_end(a.list);
}

void text_print(FILE *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_print_list(to, text_put, format, list);
    va_end(list);
}

/* --- lengths and names ------------------------------------------------------------ */

int text_fit(const char *text, int most)
{
    const int length = (int)strnlen(text, (size_t)most);
    int cut = length;
    if (length < most) return length;
    while (cut > 0 && length - cut < CHARACTER_MAX - 1 && is_continuation(text[cut]))
        cut--;
    return is_continuation(text[cut]) ? length : cut;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool text_same_word(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) a++, b++;
    return lower(*a) == lower(*b);
}

void text_add_list(char *text, size_t size, const char *format, va_list list)
{
    const size_t used = strlen(text);
    vsnprintf(text + used, size - used, format, list);
}

void text_add(char *text, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_add_list(text, size, format, list);
    va_end(list);
}

void text_append(char *names, size_t size, const char *name)
{
    text_add(names, size, "%s%s", *names ? ", " : "", name);
}

void text_add_ranges(char *text, size_t size, const bool *set, size_t count, bool value,
                     size_t most)
{
    size_t ranges = 0;
    for (size_t i = 0; i < count; i++) {
        size_t end = i;
        if (set[i] != value) continue;
        while (end + 1 < count && set[end + 1] == value) end++;
        if (ranges++ == most) {
            text_add(text, size, ", ...");
            return;
        }
        text_add(text, size, "%s %zu", ranges > 1 ? "," : "", i);
        if (end > i) text_add(text, size, " to %zu", end);
        i = end;
    }
}

void text_add_bin(char *text, size_t size, int i, size_t count)
{
    enum { SMALL = 10 }; /* bins whose numbers are easily read */
    const long long from = i ? 1ll << (i - 1) : 0, to = i ? 2 * from - 1 : 0;
    if (*text) text_add(text, size, ", ");
    if (i > SMALL) text_add(text, size, "2^%d-2^%d", i - 1, i);
    else text_add(text, size, from < to ? "%lld-%lld" : "%lld", from, to);
    text_add(text, size, ": %zu", count);
}

size_t text_stem(const char *text, const char *ending)
{
    const size_t length = strlen(text), end = strlen(ending);
    return length > end && !strcmp(text + length - end, ending) ? length - end : 0;
}
