/* SPDX-License-Identifier: BSD-3-Clause */
/* Text from outside (names, what a file says) made fit to print: whole characters of
   UTF-8, none that steers a terminal or that nobody sees. */
#ifndef BITCUT_LIB_BASE_TEXT_H
#define BITCUT_LIB_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A function whose argument `at` is a format, and that has the format's behind it: the
   compiler holds them against one another. */
#if defined(__GNUC__)
#define TEXT_FORMAT(at) __attribute__((format(printf, at, at + 1)))
#else
#define TEXT_FORMAT(at)
#endif

enum { TEXT_BYTES = 5 }; /* of one character, its 0 included */

/* Take the next character of *text: write it as a string, and "?" in place of a control
   character (C0, DEL, C1), of one that turns or breaks what stands around it (U+202E) or
   that has no width, and of bytes that are no UTF-8 (a broken sequence is one), and move
   *text behind it.  False, and nothing is written, at the end. */
bool text_next(char shown[TEXT_BYTES], const char **text);

/* The code point at the beginning of a text, and in how many bytes it stands; false:
   text_next() writes "?" for it. */
bool text_code(uint32_t *code, int *bytes, const char *at);

/* The same for all of a text, in place. */
void text_clean(char *text);

/* What writes a character that text_next() gave, so that it stands for itself in some
   language; text_put() as it is. */
typedef void text_writer(FILE *to, const char *shown);
text_writer text_put;

/* Write as fprintf() does, but let `write` write what text arguments consist of: the
   format alone is in the language.  Conversions are %s, %*s, %-*s, %% and those of
   numbers by d, u, g and e. */
void text_print_list(FILE *to, text_writer *write, const char *format, va_list list);

/* The same for a terminal. */
void text_print(FILE *to, const char *format, ...) TEXT_FORMAT(2);

/* The length in bytes of the start of a text that has at most `most` of them and does not
   end inside a character, for the precision of "%.*s". */
int text_fit(const char *text, int most);

/* Whether two texts are the same, a letter of ASCII being its capital, in any locale. */
bool text_same_word(const char *a, const char *b);

/* Append to a text, printf-style, as far as there is room in `size` bytes. */
void text_add(char *text, size_t size, const char *format, ...) TEXT_FORMAT(3);
void text_add_list(char *text, size_t size, const char *format, va_list list);

/* The same of a name in a list of names, ", " between. */
void text_append(char *names, size_t size, const char *name);

/* Append "3: 17", how many there are of 2^(i-1) to 2^i - 1, bin i; "0: 17" of bin 0.
   Large ones are said by powers of two: "2^14-2^15" are below 2^15. */
void text_add_bin(char *text, size_t size, int i, size_t count);

/* The length of a text, such as a file's name, without `ending`; 0 if it ends otherwise,
   or is no more than that. */
size_t text_stem(const char *text, const char *ending);

#endif
