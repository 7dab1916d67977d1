#define _POSIX_C_SOURCE 200809L /* strnlen() */

#include "lib/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CHARACTER_MOST = TEXT_BYTES - 1 };

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The bytes of a character that begins so; 0: none does. */
static int bytes_of(unsigned char first)
{
    static const unsigned char least[CHARACTER_MOST + 1] = { 0, 0, 0xc2, 0xe0, 0xf0 };
    if (first < 0x80) return 1;
    if (first > 0xf4) return 0;
    int n = CHARACTER_MOST;
    while (n > 1 && first < least[n]) n--;
    return n > 1 ? n : 0;
}

/* Whether it may be printed, being a code point that takes `bytes` bytes. */
static bool is_shown(uint32_t code, int bytes)
{
    static const uint32_t least[CHARACTER_MOST + 1] = { 0, 0x20, 0x80, 0x800, 0x10000 };
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code >= least[bytes] && code <= 0x10ffff && !surrogate &&
           !(code >= 0x7f && code < 0xa0);
}

bool text_next(char shown[TEXT_BYTES], const char **text)
{
    const char *at = *text;
    const int bytes = bytes_of((unsigned char)*at);
    uint32_t code = (unsigned char)*at & (bytes > 1 ? 0x7f >> bytes : 0x7f);
    int n = 1;
    if (!*at) return false;
    for (; n < bytes && is_continuation(at[n]); n++)
        code = code << 6 | ((unsigned char)at[n] & 0x3f);
    const bool good = n == bytes && is_shown(code, bytes);
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

int text_fit(const char *text, int most)
{
    const int length = (int)strnlen(text, (size_t)most);
    int cut = length;
    if (length < most) return length;
    while (cut > 0 && length - cut < CHARACTER_MOST - 1 && is_continuation(text[cut]))
        cut--;
    return is_continuation(text[cut]) ? length : cut;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool text_same_word(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) a++, b++;
    return lower(*a) == lower(*b);
}

void text_append(char *names, size_t size, const char *name)
{
    const size_t used = strlen(names);
    snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
}

size_t text_stem(const char *text, const char *ending)
{
    const size_t length = strlen(text), end = strlen(ending);
    return length > end && !strcmp(text + length - end, ending) ? length - end : 0;
}
