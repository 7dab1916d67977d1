/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/reference.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <string.h>

/* --- what an argument can be ------------------------------------------------------ */

/* The tables that an option's text names, "(bitcut list units, chips)", with blanks
   between; empty: none. */
static void tables_of(char *text, size_t size, const struct option_row *o)
{
    static const char words[] = "bitcut list ";
    const char *at = strstr(o->what, words);
    text[0] = 0;
    if (!at) return;
    for (at += strlen(words);; at += 2) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        say_more(text, size, "%s%.*s", *text ? " " : "", (int)length, at);
        at += length;
        if (strncmp(at, ", ", 2) != 0) return;
    }
}

/* Those of an option, or of one before whose argument has the same name. */
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

static bool is_file(const struct option_row *o)
{
    return !strcmp(o->argument, "FILE") || !strcmp(o->argument, "PATH") ||
           !strcmp(o->argument, "DIR");
}

static const char *dashes(const struct option_row *o) { return o->name[1] ? "--" : "-"; }

static void put_argument(const struct command *c, const struct option_row *rows,
                         const struct option_row *o)
{
    char tables[80];
    if (!o->argument) return;
    find_tables(tables, sizeof tables, rows, o);
    printf("    %s,%s%s) ", c->name, dashes(o), o->name);
    if (is_file(o)) printf("_bitcut_files; ");
    else if (*tables) printf("_bitcut_words \"$(_bitcut_names %s)\"; ", tables);
    printf("return ;;\n");
}

static void put_arguments(const struct command *c, const struct option_row *rows)
{
    for (const struct option_row *o = rows; o->name; o++) put_argument(c, rows, o);
}

/* --- what stands without an option ------------------------------------------------ */

static void put_operands(const struct command *c)
{
    char words[80];
    snprintf(words, sizeof words, "%s", c->operands);
    for (char *at = words; (at = strchr(at, '|'));) *at = ' ';
    if (c->operand_table)
        printf("_bitcut_words \"$(_bitcut_names %s)\"", c->operand_table);
    else if (strchr(c->operands, '|')) printf("_bitcut_words '%s'", words);
    else if (*c->operands) printf("_bitcut_files");
    else printf("return");
}

static void put_names(const struct option_row *rows)
{
    for (; rows->name; rows++) printf(" %s%s", dashes(rows), rows->name);
}

/* --- the script ------------------------------------------------------------------- */

static void put_command(const struct reference *r, const struct command *c)
{
    printf("    %s) options='", c->name);
    put_names(c->own);
    if (c->output) printf(" -o");
    put_names(r->shared);
    printf("' ;;\n");
}

void reference_completion(const struct reference *r)
{
    printf("# bash completion for bitcut, made from its tables of options.\n"
           "_bitcut_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
           "_bitcut_files() { compopt -o filenames 2> /dev/null; "
           "COMPREPLY=($(compgen -f -- \"$cur\")); }\n"
           "_bitcut_names() {\n"
           "    local table\n"
           "    for table in \"${@:-}\"; do\n"
           "        command \"$program\" list ${table:+\"$table\"} 2> /dev/null |\n"
           "            awk '!NF { exit } NR > 1 { print $1 }'\n"
           "    done\n"
           "}\n"
           "_bitcut() {\n"
           "    local program=$1 cur=$2 previous=$3 command=${COMP_WORDS[1]} options=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        _bitcut_words '");
    for (const struct command *const *c = r->commands; *c; c++) printf("%s ", (*c)->name);
    printf("--help --version'\n        return\n    fi\n    case $command,$previous in\n");
    for (const struct command *const *c = r->commands; *c; c++) {
        put_arguments(*c, (*c)->own);
        if ((*c)->output) printf("    %s,-o) _bitcut_files; return ;;\n", (*c)->name);
    }
    printf("    *,--seed | *,--threads) return ;;\n    esac\n"
           "    case $command in\n");
    for (const struct command *const *c = r->commands; *c; c++) put_command(r, *c);
    printf("    esac\n    case $command,$cur in\n"
           "    *,-*) _bitcut_words \"$options\" ;;\n");
    for (const struct command *const *c = r->commands; *c; c++) {
        printf("    %s,*) ", (*c)->name);
        put_operands(*c);
        printf(" ;;\n");
    }
    printf("    esac\n}\ncomplete -F _bitcut bitcut\n");
}
