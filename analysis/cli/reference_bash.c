/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/reference.h"

#include <stdio.h>

static void put_argument(const struct command *c, const struct option_row *rows,
                         const struct option_row *o)
{
    const struct reference_argument a = reference_argument(rows, o);
    if (!o->argument) return;
    printf("    %s,%s%s) ", c->name, reference_dashes(o), o->name);
    if (a.file) printf("_bitcut_files; ");
    else if (a.named) printf("_bitcut_words \"$(_bitcut_names %s)\"; ", a.tables);
    printf("return ;;\n");
}

static void put_arguments(const struct command *c, const struct option_row *rows)
{
    for (const struct option_row *o = rows; o->name; o++) put_argument(c, rows, o);
}

static void put_operands(const struct command *c)
{
    const struct reference_argument a = reference_operands(c);
    if (a.named) printf("_bitcut_words \"$(_bitcut_names %s)\"", a.tables);
    else if (*a.words) printf("_bitcut_words '%s'", a.words);
    else printf(a.file ? "_bitcut_files" : "return");
}

static void put_names(const struct option_row *rows)
{
    for (; rows->name; rows++) printf(" %s%s", reference_dashes(rows), rows->name);
}

static void put_command(const struct reference *r, const struct command *c)
{
    printf("    %s) options='", c->name);
    put_names(c->own);
    if (c->output) printf(" -o");
    put_names(r->shared);
    printf("' ;;\n");
}

void reference_bash(const struct reference *r)
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
