/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts made safe to print. */
#define _POSIX_C_SOURCE 200809L /* fmemopen() */

#include "lib/base/text.h"
#include "tests/test.h"

#include <string.h>

static const struct {
    const char *text, *shown;
} rows[] = {
    { "", "" },
    { "a b~", "a b~" },
    { "\x01\x1f\t\n\r\x1b[1m\x7f", "?????"
                                   "?[1m?" },
    { "\xc2\x80 \xc2\x9f \xc2\xa0", "? ? \xc2\xa0" }, /* C1, and the first behind it */
    { "\x80 \x9b \xbf \xa0", "? ? ? ?" },             /* no first byte */
    { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
    { "\xed\x9f\xbf \xed\xa0\x80 \xed\xbf\xbf \xee\x80\x80",
      "\xed\x9f\xbf ? ? \xee\x80\x80" }, /* surrogates */
    { "\xf4\x8f\xbf\xbf \xf4\x90\x80\x80 \xf5\x80", "\xf4\x8f\xbf\xbf ? ??" },
    { "\xc0\x80 \xc1\xbf \xe0\x9f\xbf \xf0\x8f\xbf\xbf", "?? ?? ? ?" }, /* too long */
    { "\xe0\xa0\x80 \xf0\x90\x80\x80", "\xe0\xa0\x80 \xf0\x90\x80\x80" },
    { "\xc3", "?" }, /* cut */
    { "\xe2\x82", "?" },
    { "\xf0\x9f\x98", "?" },
    { "\xe2\x82x\xf0\x9f\xc3\xa9", "?x?\xc3\xa9" },
    { "\xff\xfe", "??" },
};

START_TEST(cleaned)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        strcpy(text, rows[i].text);
        text_clean(text);
        ck_assert_str_eq(text, rows[i].shown);
        text_clean(text);
        ck_assert_str_eq(text, rows[i].shown);
    }
}
END_TEST

/* Every single byte, and every code point that two bytes can say. */
START_TEST(exhaustive)
{
    for (unsigned c = 1; c < 256; c++) {
        const char text[] = { (char)c, 0 };
        const char *at = text;
        char shown[TEXT_BYTES];
        ck_assert(text_next(shown, &at) && at == text + 1);
        ck_assert_str_eq(shown, c >= 0x20 && c < 0x7f ? text : "?");
        ck_assert(!text_next(shown, &at) && at == text + 1);
    }
    for (unsigned code = 0x80; code < 0x800; code++) {
        const char text[] = { (char)(0xc0 | code >> 6), (char)(0x80 | (code & 0x3f)), 0 };
        const char *at = text;
        char shown[TEXT_BYTES];
        ck_assert(text_next(shown, &at) && at == text + 2);
        ck_assert_str_eq(shown,
                         code < 0xa0 || code == 0xad || code == 0x61c ? "?" : text);
    }
}
END_TEST

/* Of three and four bytes: those that turn, break or have no width, and their
   neighbours. */
START_TEST(hidden_characters)
{
    static const struct {
        const char *text, *shown;
    } turned[] = {
        { "a\xe2\x80\xaetxt.exe", "a?txt.exe" }, /* U+202E */
        { "\xe2\x80\x8a\xe2\x80\x8b\xe2\x80\x8f\xe2\x80\x90",
          "\xe2\x80\x8a??\xe2\x80\x90" },
        { "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf",
          "\xe2\x80\xa7??\xe2\x80\xaf" },
        { "\xe2\x81\x9f\xe2\x81\xa0\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xb0",
          "\xe2\x81\x9f???\xe2\x81\xb0" },
        { "\xef\xbb\xbf\xef\xbf\xb9\xef\xbf\xbd", "??\xef\xbf\xbd" },
        { "\xf3\xa0\x80\x81\xf3\xa0\x81\xbf\xf3\xa0\x84\x80", "??\xf3\xa0\x84\x80" },
    };
    for (size_t i = 0; i < sizeof turned / sizeof turned[0]; i++) {
        char text[64];
        strcpy(text, turned[i].text);
        text_clean(text);
        ck_assert_str_eq(text, turned[i].shown);
    }
}
END_TEST

static void write_marked(FILE *to, const char *shown) { fprintf(to, "<%s>", shown); }

static void print_to(FILE *to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_print_list(to, write_marked, format, list);
    va_end(list);
}

/* The format is the language, arguments are texts. */
START_TEST(printed)
{
    char text[128] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    print_to(file, "a%s %% %d|%zu|%lld|%.3g|%s", "b\n", -7, (size_t)8, 9ll, 0.125, "%s");
    fclose(file);
    ck_assert_str_eq(text, "a<b><?> % -7|8|9|0.125|<%><s>");
    file = fmemopen(text, sizeof text, "w");
    text_print(file, "[%*s][%-*s]%s\n", 3, "a", 3, "b", "\x1b[1m");
    fclose(file);
    ck_assert_str_eq(text, "[  a][b  ]?[1m\n");
}
END_TEST

/* No length ends inside a character, and none is shorter than it must be. */
START_TEST(cut_between_characters)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
    static const int want[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
    for (int most = 0; most < (int)(sizeof want / sizeof want[0]); most++)
        ck_assert_int_eq(text_fit(text, most), want[most]);
    ck_assert_int_eq(text_fit("\x80\x80\x80\x80\x80\x80", 5), 5); /* of no character */
    ck_assert_int_eq(text_fit("", 0), 0);
}
END_TEST

START_TEST(names_listed)
{
    char names[8] = "";
    text_append(names, sizeof names, "a");
    ck_assert_str_eq(names, "a");
    text_append(names, sizeof names, "b");
    ck_assert_str_eq(names, "a, b");
    text_append(names, sizeof names, "cd");
    ck_assert_str_eq(names, "a, b, c");
    text_add(names, sizeof names, "%d", 7); /* there is no more room */
    ck_assert_str_eq(names, "a, b, c");
    names[1] = 0;
    text_add(names, sizeof names, "%d%s", 7, "b");
    ck_assert_str_eq(names, "a7b");
}
END_TEST

START_TEST(stems_measured)
{
    ck_assert_uint_eq(text_stem("h200.json", ".json"), 4);
    ck_assert_uint_eq(text_stem("h200.jsonl", ".json"), 0);
    ck_assert_uint_eq(text_stem(".json", ".json"), 0); /* no name is left */
    ck_assert_uint_eq(text_stem("n", ".json"), 0);
    ck_assert_uint_eq(text_stem("", ""), 0);
}
END_TEST

TEST_MAIN("text", cleaned, exhaustive, hidden_characters, printed, cut_between_characters,
          names_listed, stems_measured)
