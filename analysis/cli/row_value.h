/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of rows by key, and the option --verbose. */
#ifndef BITCUT_ANALYSIS_CLI_ROW_VALUE_H
#define BITCUT_ANALYSIS_CLI_ROW_VALUE_H

#include "analysis/cli/emit.h"
#include "analysis/cli/option.h"

/* The value of a key of a row: a text, or NULL if it is no text; an integer, or 0 if it
   is no integer; a number, or infinity if it is no number (JSON has no infinity). */
const char *text_at(const json_t *row, const char *key);
long long whole_at(const json_t *row, const char *key);
double real_at(const json_t *row, const char *key);

/* The option --verbose of a command, for emitter.verbose: `verbose` in its struct. */
#define VERBOSE_OPTION(COMMAND)                                                          \
    {                                                                                    \
        "verbose", "print all keys after the summary",                                   \
            OPTION(COMMAND, verbose, FLAG, NULL)                                         \
    }

#endif
