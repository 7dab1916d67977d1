/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/reference.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

const char *reference_dashes(const struct option_row *o)
{
    return o->name[1] ? "--" : "-";
}

bool reference_repeats(const struct option_row *o)
{
    return o->kind == OPTION_TEXTS || o->kind == OPTION_COUNTS;
}

struct option_row reference_output(const struct command *c)
{
    return (struct option_row){ .name = c->output ? "o" : NULL,
                                .what = c->output,
                                .kind = OPTION_TEXT,
                                .argument = "PATH" };
}

/* The tables named in an option's text, "(bitcut list units, chips)", separated by
   blanks; empty: none. */
static void tables_of(char *text, size_t size, const struct option_row *o)
{
    static const char words[] = "bitcut list ";
    const char *at = strstr(o->what, words);
    text[0] = 0;
    if (!at) return;
    for (at += strlen(words);; at += 2) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        text_add(text, size, "%s%.*s", *text ? " " : "", (int)length, at);
        at += length;
        if (strncmp(at, ", ", 2) != 0) return;
    }
}

/* The tables of an option, or of an earlier option whose argument has the same name. */
static void find_tables(char *text, size_t size, const struct option_row *rows,
                        const struct option_row *o)
{
    const struct option_row *from = o;
    tables_of(text, size, o);
    while (!*text && from > rows && o->kind == OPTION_TEXT) {
        from--;
        if (from->argument && from->kind == OPTION_TEXT &&
            !strcmp(from->argument, o->argument))
            tables_of(text, size, from);
    }
}

struct reference_argument reference_argument(const struct option_row *rows,
                                             const struct option_row *o)
{
    struct reference_argument a = { .file = false };
    if (!o->argument) return a;
    find_tables(a.tables, sizeof a.tables, rows, o);
    a.file = !strcmp(o->argument, "FILE") || !strcmp(o->argument, "PATH") ||
             !strcmp(o->argument, "DIR");
    a.named = !a.file && *a.tables;
    return a;
}

struct reference_argument reference_operands(const struct command *c)
{
    const bool choice = strchr(c->operands, '|');
    struct reference_argument a = { .file = *c->operands && !c->operand_table && !choice,
                                    .named = c->operand_table };
    if (a.named) snprintf(a.tables, sizeof a.tables, "%s", c->operand_table);
    else if (choice) snprintf(a.words, sizeof a.words, "%s", c->operands);
    for (char *at = a.words; (at = strchr(at, '|'));) *at = ' ';
    return a;
}
