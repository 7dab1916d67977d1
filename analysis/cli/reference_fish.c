/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/reference.h"

#include <stdio.h>

/* " -d TEXT", with the text in single quotes for the shell. */
static void put_text(const char *text)
{
    printf(" -d '");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void put_line(const struct command *c)
{
    printf("complete -c bitcut -n '__bitcut_is %s'", c->name);
}

/* " -a WORDS" or " -F", for the possible values. */
static void put_choice(const struct reference_argument *a)
{
    if (a->file) printf(" -F");
    else if (a->named) printf(" -f -a '(__bitcut_names %s)'", a->tables);
    else if (*a->words) printf(" -f -a '%s'", a->words);
    else printf(" -f");
}

static void put_options(const struct command *c, const struct option_row *rows)
{
    for (const struct option_row *o = rows; o->name; o++) {
        const struct reference_argument a = reference_argument(rows, o);
        put_line(c);
        printf(o->name[1] ? " -l %s" : " -s %s", o->name);
        if (o->argument) printf(" -r");
        if (o->argument) put_choice(&a);
        put_text(o->what);
        putchar('\n');
    }
}

static void put_command(const struct reference *r, const struct command *c)
{
    const struct option_row output[] = { reference_output(c), { 0 } };
    const struct reference_argument operands = reference_operands(c);
    printf("complete -c bitcut -n __bitcut_begins -a %s", c->name);
    put_text(c->what);
    putchar('\n');
    put_options(c, c->own);
    put_options(c, output);
    put_options(c, r->shared);
    put_line(c);
    put_choice(&operands);
    putchar('\n');
}

void reference_fish(const struct reference *r)
{
    printf("# fish completion for bitcut, made from its tables of options.\n"
           "function __bitcut_begins\n"
           "    test (count (commandline -opc)) -eq 1\n"
           "end\n"
           "function __bitcut_is\n"
           "    set -l words (commandline -opc)\n"
           "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
           "end\n"
           "function __bitcut_names\n"
           "    set -l words (commandline -opc)\n"
           "    test (count $argv) -gt 0; or set argv ''\n"
           "    for table in $argv\n"
           "        command $words[1] list (string split -n ' ' -- $table) 2> /dev/null |\n"
           "            awk '!NF { exit } NR > 1 { print $1 }'\n"
           "    end\n"
           "end\n"
           "complete -c bitcut -f\n"
           "complete -c bitcut -n __bitcut_begins -l help -d 'print the commands'\n"
           "complete -c bitcut -n __bitcut_begins -l version -d 'print the version'\n");
    for (const struct command *const *c = r->commands; *c; c++) put_command(r, *c);
}
