/* SPDX-License-Identifier: BSD-3-Clause */
/* What rows of several commands say to people: sayers for tables of lines (emit.h). */
#ifndef BITCUT_ANALYSIS_CLI_SAY_H
#define BITCUT_ANALYSIS_CLI_SAY_H

#include "analysis/cli/emit.h"
#include "analysis/cli/option.h"

/* A number of a row to so many digits, or what stands for one that JSON lacks. */
enum { SAY_NUMBER_MOST = 32 };
const char *say_number(char text[SAY_NUMBER_MOST], const json_t *row, const char *key,
                       int digits);

/* The value of a key of a row: a text, NULL if it is none; an integer, 0 if it is none; a
   number, infinite if it is none, as where JSON has none. */
const char *text_at(const json_t *row, const char *key);
long long whole_at(const json_t *row, const char *key);
double real_at(const json_t *row, const char *key);

/* The value of the line's key: a text as it stands, a number to 3 digits. */
emit_say say_value;

/* The option --verbose of a command, for emitter.verbose. */
#define VERBOSE_OPTION                                                                   \
    {                                                                                    \
        "verbose", "print every key after the lines for people", OPTION_FLAG,            \
            &say_verbose, NULL                                                           \
    }

extern bool say_verbose;

#endif
