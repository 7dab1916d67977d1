/* Text from outside (names, what a file says) made fit to print: whole characters of
   UTF-8, none that steers a terminal. */
#ifndef BITCUT_LIB_TEXT_H
#define BITCUT_LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_BYTES = 5 }; /* of one character, its 0 included */

/* Take the next character of *text: write it as a string, and "?" in place of a control
   character (C0, DEL, C1) and of bytes that are no UTF-8 (a broken sequence is one), and
   move *text behind it.  False, and nothing is written, at the end. */
bool text_next(char shown[TEXT_BYTES], const char **text);

/* The same for all of a text, in place. */
void text_clean(char *text);

/* The length in bytes of the start of a text that has at most `most` of them and does not
   end inside a character, for the precision of "%.*s". */
int text_fit(const char *text, int most);

/* Whether two texts are the same, a letter of ASCII being its capital, in any locale. */
bool text_same_word(const char *a, const char *b);

/* Append a name to a list of names, ", " between, as far as there is room in `size`
   bytes. */
void text_append(char *names, size_t size, const char *name);

/* The length of a text, such as a file's name, without `ending`; 0 if it ends otherwise,
   or is no more than that. */
size_t text_stem(const char *text, const char *ending);

#endif
