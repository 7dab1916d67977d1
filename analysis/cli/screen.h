/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output on a terminal: its width, lines that wrap at words, and the colours of
   verdicts. */
#ifndef BITCUT_ANALYSIS_CLI_SCREEN_H
#define BITCUT_ANALYSIS_CLI_SCREEN_H

#include <stdbool.h>

enum { SCREEN_TYPICAL = 80 };

/* The number of columns for lines on standard output: the environment variable COLUMNS if
   it is a number; otherwise the width of the terminal (SCREEN_TYPICAL if it is unknown),
   or `otherwise` if standard output is no terminal. 0 means no limit, also for COLUMNS=0.
 */
int screen_columns(int otherwise);

/* The colour of a text. */
enum screen_verdict { SCREEN_NEUTRAL, SCREEN_GOOD, SCREEN_BAD };

/* Print a text and end the line.  The line already has `at` columns.  It wraps at words
   before it exceeds `columns` (0: never), and continues after `at` blanks.  If fewer than
   24 columns remain, the text is printed below, after `indent` + 4 blanks.  A text that
   is a command line of bitcut gets a backslash where it wraps, so that it can be copied.
   The text is made safe to print (lib/base/text.h). */
void screen_wrap(int columns, int at, int indent, const char *text,
                 enum screen_verdict verdict);

/* Begin and end the colour of a verdict.  Nothing is printed for SCREEN_NEUTRAL, if
   standard output is no terminal, if TERM is dumb or unset, or if NO_COLOR is set and not
   empty. */
void screen_begin(enum screen_verdict verdict);
void screen_end(enum screen_verdict verdict);

#endif
