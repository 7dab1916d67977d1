/* Command-line options: a table for each command, one parser and one help text for
   all. */
#ifndef BITCUT_ANALYSIS_OPTION_H
#define BITCUT_ANALYSIS_OPTION_H

#include "lib/status.h"

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

enum { OPTION_TEXTS_MOST = 64 };

/* The arguments of an option that may be given more than once. */
struct option_texts {
    int count;
    const char *text[OPTION_TEXTS_MOST];
};

struct option_counts {
    int count;
    size_t at[OPTION_TEXTS_MOST];
};

/* A row of a command's options, ended by a row whose name is NULL.  `name` without
   dashes: a name of one letter is given as -x, a longer one as --name.  `value` is where
   the argument goes; it keeps its default when the option is absent. */
struct option_row {
    const char *name, *what;
    enum option_kind kind;
    void *value;
    const char *argument; /* its name in the help text; NULL for a flag */
};

/* Read argv[1..argc) by the table.  Operands (words that are no option, and all after
   "--") go to operands[0..*operand_count), at most `operands_most` of them.
   BITCUT_BAD_ARGUMENT with a sentence that names the word at fault and the options near
   it. */
enum bitcut_status options_read(const char **operands, int *operand_count,
                                int operands_most, const struct option_row *rows,
                                int argc, char **argv, struct fault *f);

/* The sides m, n and k of a tile, "128x256x32"; one of two sides has k = 0 if `sides`
   is 2. Each is 1 to `most`.  False: the text is something else. */
bool option_tile(int side[3], const char *text, int sides, int most);

/* Print one line an option to standard output. */
void options_print(const struct option_row *rows);

#endif
