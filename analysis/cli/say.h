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

/* An output that differs as an object, and the first of a list of them, from one on, in a
   line: "D[0, 3] is 0x3f800001 for 0x3f800000; ...", indices and FP32 encodings as Python
   takes them. */
json_t *differing_json(size_t row, size_t col, uint32_t given, uint32_t expected);
void say_outputs(char *text, size_t size, const json_t *list, size_t from);

/* Of rows that setup_describe() made, and of what ran them: recipe, unit, evidence,
   kernel and device; what words an element becomes; how the products are added; and the
   sizes, scalars and inputs. */
emit_say say_what_ran, say_words, say_sum, say_matrices;

/* The lines of the first three, with which the tables of commands begin. */
#define SAY_GEMM                                                                         \
    { "recipe", "recipe", NULL, say_what_ran, LINE_ALWAYS },                             \
        { "split", "words", NULL, say_words, LINE_ALWAYS },                              \
    {                                                                                    \
        "promote", "sum over k", NULL, say_sum, LINE_ALWAYS                              \
    }

/* The option --verbose of a command, for emitter.verbose. */
#define VERBOSE_OPTION                                                                   \
    {                                                                                    \
        "verbose", "print every key after the lines for people", OPTION_FLAG,            \
            &say_verbose, NULL                                                           \
    }

extern bool say_verbose;

#endif
