/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output as people see it: how wide it is, lines that wrap at words, and the
   colours of verdicts. */
#ifndef BITCUT_ANALYSIS_CLI_SCREEN_H
#define BITCUT_ANALYSIS_CLI_SCREEN_H

#include <stdbool.h>

enum { SCREEN_TYPICAL = 80 };

/* The number of columns that lines on standard output may take: the environment's COLUMNS
   if it is a number, else the width of the terminal (SCREEN_TYPICAL if the terminal does
   not tell it), else `otherwise`, if standard output is no terminal.  0: there is no
   limit, as COLUMNS=0 says, too. */
int screen_columns(int otherwise);

/* The colour of a text. */
enum screen_verdict { SCREEN_NEUTRAL, SCREEN_GOOD, SCREEN_BAD };

/* Print a text and end the line.  The line has `at` columns already; it wraps at words
   before it has more than `columns` (0: never), and continues behind `at` blanks.  If fewer
   than 24 columns are there, the text stands below, behind `indent` + 4 blanks.  A text
   that is a command of bitcut gets a backslash where it wraps, so that it can be copied.
   It is made fit to print (lib/base/text.h). */
void screen_wrap(int columns, int at, int indent, const char *text,
                 enum screen_verdict verdict);

/* Begin and end the colour of a verdict.  Nothing is printed for SCREEN_NEUTRAL, if standard
   output is no terminal, if TERM is dumb or unset, or if NO_COLOR is in the environment and
   not empty. */
void screen_begin(enum screen_verdict verdict);
void screen_end(enum screen_verdict verdict);

#endif
