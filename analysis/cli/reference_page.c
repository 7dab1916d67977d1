/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/reference.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- text ------------------------------------------------------------------------- */

/* Text for roff: lines are not broken at hyphens, and no line begins a request. */
static void put(const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '-') fputs("\\-", stdout);
        else if (*text == '\\') fputs("\\e", stdout);
        else putchar(*text);
    }
}

/* The same text with a capital first letter, or a small one. */
static void put_letter(const char *text, bool capital)
{
    const char first[2] = {
        (char)(capital ? toupper((unsigned char)*text) : tolower((unsigned char)*text)), 0
    };
    if (!*text) return;
    put(first);
    put(text + 1);
}

static void section(const char *name) { printf(".SH %s\n", name); }

/* --- options ---------------------------------------------------------------------- */

static void put_option(const struct option_row *o)
{
    fputs(".TP\n\\fB", stdout);
    put(o->name[1] ? "--" : "-");
    put(o->name);
    fputs("\\fR", stdout);
    if (o->argument) {
        fputs(" \\fI", stdout);
        put(o->argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put_letter(o->what, true);
    fputs(".\n", stdout);
}

static void put_options(const struct option_row *rows)
{
    for (; rows->name; rows++) put_option(rows);
}

/* --- parts of all pages ----------------------------------------------------------- */

static void put_title(const char *command)
{
    fputs(".TH BITCUT", stdout);
    for (const char *c = command ? command : ""; *c; c++)
        printf("%s%c", c == command ? "\\-" : "", toupper((unsigned char)*c));
    printf(" 1 \"\" \"bitcut %s\" \"bitcut\"\n", bitcut_version());
}

static void put_exit_status(void)
{
    section("EXIT STATUS");
    fputs("0 if the command succeeded, 1 if a comparison or a bound failed, 2 if the "
          "command line is\ninvalid, 3 if a file or a device cannot be used, 130 after "
          "Ctrl\\-C.\n",
          stdout);
}

static void put_see_also(const char *command)
{
    section("SEE ALSO");
    if (command) fputs(".BR bitcut (1)\n.PP\n", stdout);
    fputs("The manual has examples and the keys of \\fB\\-\\-json\\fR. This command opens it:\n"
          ".PP\n.RS\n.B info bitcut\n.RE\n",
          stdout);
}

/* A command in lines that a shell joins: none is filled or hyphenated. */
static void put_command(const char *line)
{
    enum { LINE_MAX_COLUMNS = 64 };
    fputs(".nf\n\\fB", stdout);
    for (size_t column = 0; *line;) {
        char word[256];
        const size_t length = strcspn(line, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, line);
        if (column && column + 1 + length > LINE_MAX_COLUMNS) {
            fputs(" \\e\\fR\n\\fB  ", stdout);
            column = 2;
        } else if (column) {
            putchar(' ');
            column++;
        }
        put(word);
        column += length;
        line += length + strspn(line + length, " ");
    }
    fputs("\\fR\n.fi\n", stdout);
}

static void put_example(const struct example *e)
{
    fputs(".PP\n", stdout);
    put(e->what);
    fputs(":\n.PP\n.RS 4\n", stdout);
    put_command(e->line);
    fputs(".RE\n", stdout);
}

/* --- pages ------------------------------------------------------------------------ */

static void command_page(const struct reference *r, const struct command *c)
{
    const struct option_row output[] = { reference_output(c), { 0 } };
    put_title(c->name);
    section("NAME");
    printf("bitcut\\-%s \\- ", c->name);
    put_letter(c->what, false);
    putchar('\n');
    section("SYNOPSIS");
    printf(".B bitcut %s\n[\\fIoptions\\fR]", c->name);
    if (*c->operands) {
        fputs(" \\fI", stdout);
        put(c->operands);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    section("OPTIONS");
    put_options(c->own);
    put_options(output);
    put_options(r->shared);
    if (c->notes) {
        section("RESULTS");
        put(c->notes);
        putchar('\n');
    }
    put_exit_status();
    section("EXAMPLES");
    for (int i = 0; i < EXAMPLES && c->examples[i].line; i++)
        put_example(&c->examples[i]);
    put_see_also(c->name);
}

static void program_page(const struct reference *r)
{
    put_title(NULL);
    section("NAME");
    fputs("bitcut \\- bit\\-exact models of GPU matrix units\n", stdout);
    section("SYNOPSIS");
    fputs(".B bitcut\n\\fIcommand\\fR [\\fIoptions\\fR]\n", stdout);
    section("DESCRIPTION");
    fputs("Bit\\-exact models of GPU matrix units, recipes of FP32 GEMM on them, exact "
          "references\nand error analysis.\n",
          stdout);
    section("COMMANDS");
    for (const struct command *const *c = r->commands; *c; c++) {
        printf(".TP\n.BR bitcut\\-%s (1)\n", (*c)->name);
        put((*c)->what);
        fputs(".\n", stdout);
    }
    section("OPTIONS");
    fputs("Of every command:\n", stdout);
    put_options(r->shared);
    put_exit_status();
    section("ENVIRONMENT");
    fputs(".TP\n.B BITCUT_SIMD\nThe vector instructions that emulate units: avx512, "
          "avx2, plain or none.\nThey change no bit of the results.\n.TP\n.B "
          "BITCUT_MODULES\nThe folder of the modules of devices.\n.TP\n.B "
          "BITCUT_DATA\nThe folder of recorded and published data.\n.TP\n.B "
          "BITCUT_DEFAULTS\nDefault options, such as \\-\\-recipe ootomo \\-\\-unit "
          "h100. The options can be\n\\-\\-recipe, \\-\\-unit, \\-\\-seed and "
          "\\-\\-threads; options on the command line win.\n",
          stdout);
    section("FILES");
    fputs(".TP\n.I ~/.config/bitcut/defaults\nThe same text, read if BITCUT_DEFAULTS is "
          "not set. A # begins a comment.\nXDG_CONFIG_HOME names another folder than "
          "~/.config.\n",
          stdout);
    /* Each example uses the matrices of the previous one. */
    section("EXAMPLES");
    for (const struct command *const *c = r->commands; *c; c++)
        if (!strcmp((*c)->name, "gemm") || !strcmp((*c)->name, "verify") ||
            !strcmp((*c)->name, "explain"))
            put_example(&(*c)->examples[0]);
    put_see_also(NULL);
}

void reference_page(const struct reference *r, const struct command *c)
{
    if (c) command_page(r, c);
    else program_page(r);
}
