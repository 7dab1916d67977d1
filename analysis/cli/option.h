/* SPDX-License-Identifier: BSD-3-Clause */
/* Command-line options: a table for each command, one parser and one help text for
   all. */
#ifndef BITCUT_ANALYSIS_CLI_OPTION_H
#define BITCUT_ANALYSIS_CLI_OPTION_H

#include "lib/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,   /* bool: present or not                             */
    OPTION_TEXT,   /* const char *: the argument as it stands          */
    OPTION_TEXTS,  /* struct option_texts: one each time it is given   */
    OPTION_COUNT,  /* size_t: a decimal integer, at least 0            */
    OPTION_COUNTS, /* struct option_counts: one each time it is given  */
    OPTION_INT,    /* int: a decimal integer                           */
    OPTION_SEED,   /* uint64_t: decimal, or hexadecimal with 0x        */
    OPTION_F32     /* uint32_t: a decimal number, rounded to FP32      */
};

enum {
    OPTION_TEXTS_MAX = 64,
    OPTIONS_MAX = 48, /* of a command                     */
    OPTION_WIDTH = 22  /* columns of an option in the help */
};

/* The arguments of an option that may be given more than once. */
struct option_texts {
    int count;
    const char *text[OPTION_TEXTS_MAX];
};

struct option_counts {
    int count;
    size_t at[OPTION_TEXTS_MAX];
};

/* A row of a command's options, ended by a row whose name is NULL.  `name` without
   dashes: a name of one letter is given as -x, a longer one as --name.  The argument goes
   to a member of the command's struct of options, or of an option that all commands have
   to a variable; that keeps its default when the option is absent. */
struct option_row {
    const char *name, *what;
    enum option_kind kind;
    void *value;          /* the variable; NULL: a member                   */
    const char *argument; /* its name in the help text; NULL for a flag     */
    size_t at;            /* bytes into the struct, of a member: see OPTION */
    bool has_default;     /* the user can set one: see default_options.h    */
};

/* What a row has behind its name and text if its argument goes to a member of struct
   COMMAND_options: that member, its kind, which is FLAG, TEXT, ... and has to be that of
   the member's type, and the name of the argument. */
#define OPTION(COMMAND, MEMBER, KIND, ARGUMENT)                                          \
    .kind = _Generic(((struct COMMAND##_options *)0)->MEMBER,                            \
                     OPTION_TYPE_##KIND: OPTION_##KIND),                                 \
    .at = offsetof(struct COMMAND##_options, MEMBER), .argument = ARGUMENT

#define OPTION_TYPE_FLAG   bool
#define OPTION_TYPE_TEXT   const char *
#define OPTION_TYPE_TEXTS  struct option_texts
#define OPTION_TYPE_COUNT  size_t
#define OPTION_TYPE_COUNTS struct option_counts
#define OPTION_TYPE_INT    int
#define OPTION_TYPE_SEED   uint64_t
#define OPTION_TYPE_F32    uint32_t

/* A command's struct of options, of so many bytes, with their defaults (NULL: zeros), to
   be freed; NULL: no memory. */
void *options_init(size_t size, const void *defaults);

/* Read argv[1..argc) by the table, into `own`, the command's struct of options, and the
   variables; given[i] is set to true if rows[i] was there, and else left.  Operands
   (words that are no option, and all after "--") go to operands[0..*operand_count), at
   most `operands_most` of them.  BITCUT_BAD_ARGUMENT with a sentence that names the word
   at fault and the options near it. */
enum bitcut_status options_read(void *own, bool *given, const char **operands,
                                int *operand_count, int operands_most,
                                const struct option_row *rows, int argc,
                                const char *const *argv, struct fault *f);

/* `program`, argv[0], more[0..more_count) and the other words of argv[0..argc), which
   options_read() could read, with blanks between, without the option `but` and its argument:
   to be freed; NULL: no memory. */
char *options_join(const char *program, const struct option_row *rows, const char *but,
                   const char *const *more, int more_count, int argc,
                   const char *const *argv);

/* Set one, of that row, in the struct or variable.  As options_read(). */
enum bitcut_status option_set(void *own, const struct option_row *row, const char *text,
                              struct fault *f);

/* A row of a table of the options that do something in some uses of a command only, ended
   by a row whose name is NULL. */
struct option_use {
    const char *name;      /* of an option of the command           */
    unsigned uses;         /* a bit for each use in which it counts */
    const char *otherwise; /* what is said of it in any other       */
};

/* The first option of `uses` that was given, as options_read() says of `rows`, although
   it does nothing in `use`, one bit; NULL: there is none. */
const struct option_use *option_misused(const bool *given, const struct option_row *rows,
                                        const struct option_use *uses, unsigned use);

/* The sides m, n and k of a tile, "128x256x32"; one of two sides has k = 0 if `sides`
   is 2. Each is 1 to `most`.  False: the text is something else. */
bool option_tile(int side[3], const char *text, int sides, int most);

/* Print a name, in a column of that width, and a text that wraps behind it. */
void options_print_line(const char *name, int width, const char *what);

/* Print the options to standard output, each as such a line. */
void options_print(const struct option_row *rows);

#endif
