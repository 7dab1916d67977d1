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
    OPTION_TEXT,   /* const char *: the argument as it is */
    OPTION_TEXTS,  /* struct option_texts: one text for each time it is given */
    OPTION_COUNT,  /* size_t: a decimal integer, at least 0            */
    OPTION_COUNTS, /* struct option_counts: one count for each time it is given */
    OPTION_INT,    /* int: a decimal integer                           */
    OPTION_SEED,   /* uint64_t: decimal, or hexadecimal with 0x        */
    OPTION_F32,    /* uint32_t: a decimal number, rounded to FP32      */
    OPTION_NUMBER  /* struct option_number: a decimal number, rounded to FP32 and FP64 */
};

enum {
    OPTION_TEXTS_MAX = 64,
    OPTIONS_MAX = 96, /* of one command */
    OPTION_WIDTH = 22 /* columns of an option in the help */
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

/* A number as an FP32 encoding, which comes first, and as an FP64 value. */
struct option_number {
    uint32_t f32;
    double f64;
};

/* A row of a command's options; the table ends with a row whose name is NULL.  `name` has
   no dashes: a name of one letter is given as -x, a longer name as --name.  The argument
   is stored in a member of the command's struct of options; for an option shared by all
   commands it is stored in a variable.  The default stays if the option is absent. */
struct option_row {
    const char *name, *what;
    enum option_kind kind;
    void *value;          /* the variable; NULL: a member                   */
    const char *argument; /* its name in the help text; NULL: a flag */
    size_t at;            /* offset of the member in the struct: see OPTION */
    bool has_default;     /* the user can set a default: see default_options.h */
};

/* The end of a row, after name and text, if its argument goes to a member of struct
   COMMAND_options: that member, its kind (FLAG, TEXT, ..., which must match the member's
   type), and the name of the argument. */
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
#define OPTION_TYPE_NUMBER struct option_number

/* Allocate a command's struct of options of `size` bytes with its defaults (NULL: zeros),
   which the caller frees.  Returns NULL if memory runs out. */
void *options_init(size_t size, const void *defaults);

/* Read argv[1..argc) by the table into `own`, the command's struct of options, and into
   variables. given[i] is set to true if rows[i] was found; otherwise it is unchanged.
   Operands (words that are no option, and all words after "--") go to
   operands[0..*operand_count), at most `operands_most` of them.  Returns
   BITCUT_BAD_ARGUMENT with a sentence that names the wrong word and the nearest options.
 */
enum bitcut_status options_read(void *own, bool *given, const char **operands,
                                int *operand_count, int operands_most,
                                const struct option_row *rows, int argc,
                                const char *const *argv, struct fault *f);

/* The words argv[0] = `program`, more[0..more_count) and the other words of
   argv[0..argc), which options_read() accepted, separated by blanks, without the option
   `but` and its argument.  The caller frees the text; NULL if memory runs out. */
char *options_join(const char *program, const struct option_row *rows, const char *but,
                   const char *const *more, int more_count, int argc,
                   const char *const *argv);

/* Append the given options whose members begin at offsets [from, to) of the struct, as
   words of a command line, each after a blank; texts are quoted for a shell if they need
   it. Options that `but` names, ended by NULL, are left out. */
void options_write(char *text, size_t size, const void *own, const bool *given,
                   const struct option_row *rows, size_t from, size_t to,
                   const char *const *but);

/* Append a word of a command line after a blank, quoted for a shell if it needs it. */
void options_write_word(char *text, size_t size, const char *word);

/* Read a decimal integer that an int holds.  False: the text is something else. */
bool option_read_int(int *value, const char *text);

/* Set one option from that row, in the struct or variable.  Statuses as for
   options_read(). */
enum bitcut_status option_set(void *own, const struct option_row *row, const char *text,
                              struct fault *f);

/* A row of a table of options that have an effect only in some uses of a command; the
   table ends with a row whose name is NULL. */
struct option_use {
    const char *name;      /* of an option of the command           */
    unsigned uses;         /* a bit for each use in which it has an effect */
    const char *otherwise; /* the message in any other use */
};

/* The first given option of `uses` (`given` and `rows` as in options_read()) that has no
   effect in `use`, one bit.  NULL: there is none. */
const struct option_use *option_misused(const bool *given, const struct option_row *rows,
                                        const struct option_use *uses, unsigned use);

/* Read the sides m, n and k of a tile, such as "128x256x32"; with `sides` = 2 there are
   two sides, and k is 0.  Each side is `least` to `most`.  Returns false if the text is
   anything else. */
bool option_tile(int side[3], const char *text, int sides, int least, int most);

/* Print a name in a column of that width, followed by a text that wraps within its
   column. */
void options_print_line(const char *name, int width, const char *what);

/* Print the options to standard output, one such line for each. */
void options_print(const struct option_row *rows);

#endif
