/* SPDX-License-Identifier: BSD-3-Clause */
/* Text from outside (names, contents of files) made fit to print: complete characters of
   UTF-8, without control characters and without invisible characters. */
#ifndef BITCUT_LIB_BASE_TEXT_H
#define BITCUT_LIB_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A function whose argument `at` is a format, followed by the arguments of the format:
   the compiler checks the arguments against the format. */
#if defined(__GNUC__)
#define TEXT_FORMAT(at) __attribute__((format(printf, at, at + 1)))
#else
#define TEXT_FORMAT(at)
#endif

enum { TEXT_BYTES = 5 }; /* of one character, including its 0 */

/* Take the next character of *text: write it as a string and move *text behind it.  "?"
   replaces a control character (C0, DEL, C1), a character that changes or breaks the
   surrounding text (U+202E), a character without width, and bytes that are not UTF-8 (one
   "?" for a broken sequence).  At the end, return false and write nothing. */
bool text_next(char shown[TEXT_BYTES], const char **text);

/* The code point at the start of a text, and the number of its bytes.  False: text_next()
   writes "?" for it. */
bool text_code(uint32_t *code, int *bytes, const char *at);

/* The same for a whole text, in place. */
void text_clean(char *text);

/* Writes a character that text_next() returned, escaped so that it stands for itself in
   some language.  text_put() writes it unchanged. */
typedef void text_writer(FILE *to, const char *shown);
text_writer text_put;

/* Write as fprintf() does, but write the characters of text arguments by `write`, because
   only the format itself is in the language of `write`.  Conversions are %s, %*s, %-*s,
   %%, and the conversions of numbers by d, u, g and e. */
void text_print_list(FILE *to, text_writer *write, const char *format, va_list list);

/* The same for a terminal. */
void text_print(FILE *to, const char *format, ...) TEXT_FORMAT(2);

/* The length in bytes of the longest start of a text that has at most `most` bytes and
   does not end inside a character.  It serves as the precision of "%.*s". */
int text_fit(const char *text, int most);

/* Whether two texts are equal, ignoring the case of ASCII letters, in any locale. */
bool text_same_word(const char *a, const char *b);

/* Append to a text, printf-style, as far as it fits in `size` bytes. */
void text_add(char *text, size_t size, const char *format, ...) TEXT_FORMAT(3);
void text_add_list(char *text, size_t size, const char *format, va_list list);

/* Append a name to a list of names, with ", " between names. */
void text_append(char *names, size_t size, const char *name);

/* Append the ranges of positions whose entry of `set` is `value`, such as " 1 to 15, 17";
   the first `most` of them, followed by ", ..." if there are more. */
void text_add_ranges(char *text, size_t size, const bool *set, size_t count, bool value,
                     size_t most);

/* Append the count of bin i, such as "3: 17": 17 values from 2^(i-1) to 2^i - 1; "0: 17"
   for bin 0.  Large bins are named by powers of two: "2^14-2^15" has values below
   2^15. */
void text_add_bin(char *text, size_t size, int i, size_t count);

/* The length of a text, such as the name of a file, without `ending`; 0 if the text does
   not end with it, or is not longer than it. */
size_t text_stem(const char *text, const char *ending);

#endif
