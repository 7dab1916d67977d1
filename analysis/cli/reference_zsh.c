/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/reference.h"

#include <stdio.h>

/* Text in single quotes for the shell, without characters that are special to _arguments
   and _describe. */
static void put(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", stdout);
        else if (*text == ':' || *text == '[' || *text == ']' || *text == '\\')
            printf("\\%c", *text);
        else putchar(*text);
    }
}

/* ":MESSAGE:ACTION" */
static void put_argument(const char *name, const struct reference_argument *a)
{
    putchar(':');
    put(name);
    putchar(':');
    if (a->file) printf("_files");
    else if (a->named) printf("{_bitcut_names %s}", a->tables);
    else if (*a->words) printf("(%s)", a->words);
    else printf(" ");
}

/* A long option also takes its argument after '='. */
static void put_option(const struct option_row *rows, const struct option_row *o)
{
    const struct reference_argument a = reference_argument(rows, o);
    printf(" \\\n            '%s%s%s%s[", reference_repeats(o) ? "*" : "",
           reference_dashes(o), o->name, o->argument && o->name[1] ? "=" : "");
    put(o->what);
    putchar(']');
    if (o->argument) put_argument(o->argument, &a);
    putchar('\'');
}

static void put_options(const struct option_row *rows)
{
    for (const struct option_row *o = rows; o->name; o++) put_option(rows, o);
}

static void put_command(const struct reference *r, const struct command *c)
{
    const struct option_row output[] = { reference_output(c), { 0 } };
    const struct reference_argument operands = reference_operands(c);
    printf("    %s)\n        _arguments", c->name);
    put_options(c->own);
    put_options(output);
    put_options(r->shared);
    if (*c->operands) {
        printf(" \\\n            '*");
        put_argument("operand", &operands);
        putchar('\'');
    }
    printf(" ;;\n");
}

void reference_zsh(const struct reference *r)
{
    printf("#compdef bitcut\n"
           "# zsh completion for bitcut, made from its tables of options.\n"
           "_bitcut_names() {\n"
           "    local table\n"
           "    local -a names\n"
           "    for table in \"${@:-}\"; do\n"
           "        names+=(${(f)\"$(command \"$program\" list ${table:+\"$table\"} "
           "2> /dev/null |\n"
           "            awk '!NF { exit } NR > 1 { print $1 }')\"})\n"
           "    done\n"
           "    compadd -a names\n"
           "}\n"
           "_bitcut() {\n"
           "    local program=$words[1] command=$words[2]\n"
           "    local -a commands=(\n");
    for (const struct command *const *c = r->commands; *c; c++) {
        printf("        '%s:", (*c)->name);
        put((*c)->what);
        printf("'\n");
    }
    printf("    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        compadd -- --help --version\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n");
    for (const struct command *const *c = r->commands; *c; c++) put_command(r, *c);
    printf("    esac\n}\n_bitcut \"$@\"\n");
}
