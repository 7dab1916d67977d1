/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's default options: --recipe, --unit, --seed and --threads from the environment
   variable BITCUT_DEFAULTS, else from the file bitcut/defaults in the folder of
   configurations (XDG_CONFIG_HOME, else ~/.config). */
#ifndef BITCUT_ANALYSIS_CLI_DEFAULT_OPTIONS_H
#define BITCUT_ANALYSIS_CLI_DEFAULT_OPTIONS_H

#include "analysis/cli/option.h"

enum { DEFAULT_WORDS_MAX = 8 };

/* Set each option of `rows` that can have a default (has_default), has one and was not
   given, in `own` or its variable, as option_set() does. words[0..*count) receives those
   options with their values, in the form of a command line.  Returns BITCUT_BAD_ARGUMENT
   with a sentence that names the variable or the file. */
enum bitcut_status default_options_apply(void *own, const bool *given,
                                         const struct option_row *rows,
                                         const char *words[DEFAULT_WORDS_MAX], int *count,
                                         struct fault *f);

/* The variable or the file that set the option, such as "--unit"; NULL: neither did. */
const char *default_options_source(const char *option);

#endif
